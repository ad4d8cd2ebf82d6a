# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of a test bed: its results ("@@ NAME VALUE") and files; says ok, not ok."""
import json
import os
import re
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(TOP, "build", "arm64")


started_twice = []  # machines and guests of this test that had to be, and why
TIMED_OUT = 124  # of testbed/*/run
HOST_FAILED = 125  # not the scenario but the emulated machine ended


class Bed:
    """Runs once, in the constructor: testbed/@bed/run of @machine with @options, and
    @name.sh with @arguments if there is one. @status is what the run should end with; its
    files go where @out, or the name, says."""

    def __init__(self, bed, name, options, status=0, machine="arm64", label="",
                 arguments=(), out=None):
        self.machine = machine
        self.label = label or machine
        build = os.path.join(TOP, "build", machine)
        self.out = os.path.join(build, "out", out or name)
        self.failed = 0
        self.results = {}
        self.words = ""  # what run says besides
        subprocess.run(["rm", "-rf", self.out], check=True)
        os.makedirs(self.out)
        subprocess.run([os.path.join(TOP, "testbed/build"), "--machine", machine, build],
                       check=True, stdout=sys.stderr)
        scenario = os.path.join(HERE, name + ".sh")
        command = [os.path.join(TOP, "testbed", bed, "run"), "--machine", machine, "--quiet",
                   "--out", self.out, "--bin-dir", os.path.join(build, "bin"), *options,
                   *([scenario, *arguments] if os.path.exists(scenario) else [])]
        run, output = self.boot(command)
        why = {HOST_FAILED: "ended early", TIMED_OUT: "did not boot"}.get(run.returncode)
        if why and run.returncode != status and (
                run.returncode == HOST_FAILED or "@@ boot_ms" not in output):
            self.note("%s: the emulated host itself %s" % (name, why))
            run, output = self.boot(command)
        for key, value in re.findall(r"^@@ (\S+) ?(.*)$", output, re.MULTILINE):
            self.results.setdefault(key, []).append(value)
        for guest in self.results.get("started_twice", []):  # by lguest
            self.note("%s: the kernel of guest %s" % (name, guest))
        self.check("%s: the run ended %s" % (name, "well" if not status else "with %d" % status),
                   run.returncode == status,
                   "status %d; see %s" % (run.returncode, os.path.join(self.out, "console.log")))

    def note(self, why):
        """Something was started once more, which tests/run counts; not twice in a test."""
        started_twice.append(why)
        print("note %s: %s: started once more" % (self.label, why), flush=True)
        if len(started_twice) > 1:
            self.check("no more than one machine or guest of a test is started again", False,
                       "; ".join(started_twice))

    def boot(self, command):
        """The run, ended, and what it said."""
        run = subprocess.Popen(command, text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        words = threading.Thread(target=self.pass_on, args=(run.stderr,))
        words.start()
        output = run.stdout.read()
        run.wait()
        words.join()
        return run, output

    def pass_on(self, words):
        for line in words:
            sys.stderr.write(line)
            self.words += line

    def value(self, key):
        """The last result of that name; "" if there is none."""
        return self.results.get(key, [""])[-1]

    def number(self, key):
        return int(self.value(key) or "-1", 0)

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
        name = "%s: %s" % (self.label, name)
        if ok:
            print("ok " + name, flush=True)
        else:
            self.failed += 1
            print("not ok %s: %s" % (name, str(why).replace("\n", " | ")[:600]), flush=True)
        return ok

    def status(self):
        return 1 if self.failed else 0
