#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stands between an emulated Xen and `run`.

usage: console.py WORK OUT QUIET ID:NAME[:awaited]…

Xen's console is WORK/xen.out (typed into by WORK/xen.in), dom0's channel WORK/dom0.out
and .in; stdin is the emulator's own, and its end the end of all. Prints the scenario's
lines, and those of domUs as "domN: …", their results "@@ NAME VALUE" as "@@ NAME@domN
VALUE". Tells dom0 what domUs print; types into a domU's console what its scenario asks
for. Without dom0 (no WORK/dom0.out) it ends when all awaited domUs have ended; and it
ends when Xen panics, which would go on for seconds before the reboot. The exit status is
1 where a domU's end is missing.
"""
import os
import re
import selectors
import sys

DOMU_LINE = re.compile(r"^\(XEN\) DOM(\d+): (.*)$")
# Xen prints what a domU writes at a newline, or when so much has gathered.
FULL = 126
FOCUS_NEXT = "\x01\x01\x01"


class Console:
    STARS = "(XEN) " + "*" * 40

    def __init__(self, work, out, quiet, domus):
        self.quiet = quiet
        self.domus = domus  # {id: (name, awaited)}
        self.ended = set()
        self.panic = []  # Xen's last words
        self.partial = {}  # {id: what a full buffer cut off}
        self.kept = {}  # {stream: its last line, not complete yet}
        self.to_dom0 = b""
        self.alone = not os.path.exists(os.path.join(work, "dom0.out"))
        self.log = open(os.path.join(out, "console.log"), "w")
        self.xen_log = open(os.path.join(out, "xen.log"), "w")
        self.streams = {"qemu": (sys.stdin.fileno(), self.qemu_line),
                        "xen": (fifo(work, "xen.out"), self.xen_line)}
        self.xen_in = fifo(work, "xen.in")
        if not self.alone:
            self.streams["dom0"] = (fifo(work, "dom0.out"), self.dom0_line)
            self.dom0_in = fifo(work, "dom0.in")

    def show(self, line):
        print(line, file=self.log, flush=True)
        if not self.quiet or line.startswith("@@ "):
            print(line, flush=True)

    def qemu_line(self, line):
        self.show(line)

    def dom0_line(self, line):
        word = re.match(r"^testbed: (go (\d+)|dom(\d+): (.*))$", line)
        if not word:
            self.show(line)
        elif word[2]:
            self.go(int(word[2]))
        else:
            self.domu_line(int(word[3]), word[4].rstrip("\r"))

    def go(self, domain):
        """One burst, so that Xen's focus is back before the domU prints anything."""
        there, back = domain, max(self.domus) - domain + 2
        os.write(self.xen_in, (FOCUS_NEXT * there + "\n" + FOCUS_NEXT * back).encode())

    def xen_line(self, line):
        print(line, file=self.xen_log, flush=True)
        if self.panic or line.startswith("(XEN) Panic on CPU"):
            self.panic.append(line)
        found = DOMU_LINE.match(line)
        if not found:
            return
        domain, text = int(found[1]), found[2]
        if len(text) == FULL:
            self.partial[domain] = self.partial.get(domain, "") + text
        else:
            self.domu_line(domain, self.partial.pop(domain, "") + text.rstrip("\r"))

    def domu_line(self, domain, line):
        self.to_dom0 += ("dom%d: %s\n" % (domain, line)).encode()
        if line.startswith("testbed: ended "):
            self.ended.add(domain)
            line = "@@ status " + line.split()[-1]
        result = re.match(r"^@@ (\S+) ?(.*)$", line)
        if result:
            self.show("@@ %s@dom%d %s" % (result[1], domain, result[2]))
        else:
            self.show("dom%d: %s" % (domain, line))

    def missing(self):
        return [d for d, (_, awaited) in self.domus.items() if awaited and d not in self.ended]

    def over(self):
        # a panic's words end with a line of stars
        return self.STARS in self.panic or self.alone and not self.missing()

    def read(self, name):
        """Whether there was something."""
        number, take = self.streams[name]
        try:
            data = os.read(number, 65536)
        except BlockingIOError:
            return False
        lines = (self.kept.get(name, b"") + data).split(b"\n")
        self.kept[name] = lines.pop()
        for line in lines:
            take(line.decode(errors="replace").rstrip("\r"))
        return bool(data)

    def feed_dom0(self):
        if self.alone or not self.to_dom0:
            return
        try:
            self.to_dom0 = self.to_dom0[os.write(self.dom0_in, self.to_dom0[:4096]):]
        except BlockingIOError:
            pass

    def run(self):
        waiting = selectors.DefaultSelector()
        for name, (number, _) in self.streams.items():
            waiting.register(number, selectors.EVENT_READ, name)
        while not self.over():
            # a channel that dom0 does not empty is tried again
            for key, _ in waiting.select(0.05 if self.to_dom0 else None):
                if not self.read(key.data) and key.data == "qemu":
                    while any(self.read(name) for name in self.streams):
                        pass
                    return
            self.feed_dom0()


def fifo(work, name):
    """Opened for both directions: there is no end to wait for, and none is met."""
    return os.open(os.path.join(work, name), os.O_RDWR | os.O_NONBLOCK)


def main():
    work, out, quiet = sys.argv[1:4]
    domus = {}
    for word in sys.argv[4:]:
        domain, name, *awaited = word.split(":")
        domus[int(domain)] = (name, bool(awaited))
    console = Console(work, out, bool(quiet), domus)
    console.run()
    for line in console.panic:
        if line == console.STARS:
            break
        print("testbed: " + line, file=sys.stderr)
    for domain in console.missing():
        print("testbed: dom%d (%s) did not end its script" % (domain, domus[domain][0]),
              file=sys.stderr)
    return 1 if console.missing() else 0


if __name__ == "__main__":
    sys.exit(main())
