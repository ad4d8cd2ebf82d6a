# SPDX-License-Identifier: GPL-2.0-or-later
"""One boot of the emulated KVM host: runs NAME.sh there with the vmmprof of this
tree, gives its results ("@@ NAME VALUE") and files, and says ok, not ok, skip.
"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, "tests"))
from results import Results  # noqa: E402,F401

BUILD = os.path.join(TOP, "build", "kvm")


class Host:
    """Boots once, in the constructor; @options are testbed/kvm/run's."""

    def __init__(self, name, *options):
        self.out = os.path.join(BUILD, "out", name)
        self.failed = 0
        self.results = {}
        subprocess.run(["rm", "-rf", self.out], check=True)
        os.makedirs(self.out)
        subprocess.run([os.path.join(TOP, "testbed/kvm/build"), BUILD], check=True,
                       stdout=sys.stderr)
        run = subprocess.run([os.path.join(TOP, "testbed/kvm/run"), "--quiet", "--out", self.out,
                              "--bin-dir", os.path.join(BUILD, "bin"), *options,
                              os.path.join(HERE, name + ".sh")], text=True, stdout=subprocess.PIPE)
        for key, value in re.findall(r"^@@ (\S+) ?(.*)$", run.stdout, re.MULTILINE):
            self.results.setdefault(key, []).append(value)
        self.check("%s: the scenario ran to its end" % name, run.returncode == 0,
                   "status %d; see %s" % (run.returncode, os.path.join(self.out, "console.log")))

    def value(self, key):
        """The last result of that name; "" if there is none."""
        return self.results.get(key, [""])[-1]

    def number(self, key):
        return int(self.value(key) or -1)

    def path(self, name):
        return os.path.join(self.out, name)

    def text(self, name):
        try:
            with open(self.path(name), errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def rows(self, name, kind=None):
        """JSON Lines that a vmmprof command left in /out/NAME."""
        rows = [json.loads(line) for line in self.text(name).splitlines() if line.strip()]
        return [row for row in rows if kind is None or row["type"] == kind]

    def check(self, name, ok, why=""):
        """One result line; @why shows what was found instead."""
        if ok:
            print("ok " + name, flush=True)
        else:
            self.failed += 1
            print("not ok %s: %s" % (name, str(why).replace("\n", " | ")[:600]), flush=True)
        return ok

    def status(self):
        return 1 if self.failed else 0


def perf_script(path, fields="ip,sym,tid,comm,event"):
    """What Debian's perf reads out of a perf.data file: a list of lines."""
    run = subprocess.run(["perf", "script", "-i", path, "-F", fields], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if run.returncode:
        raise RuntimeError("perf script: " + run.stderr)
    return [line for line in run.stdout.splitlines() if line.strip()]


def function_ranges(elf):
    """{name: (start, end)} of an ELF file's functions."""
    text = subprocess.run(["readelf", "-sW", elf], text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    found = {}
    for line in text.splitlines():
        word = line.split()
        if len(word) == 8 and word[3] == "FUNC":
            start, size = int(word[1], 16), int(word[2], 0)
            found[word[7]] = (start, start + size)
    return found
