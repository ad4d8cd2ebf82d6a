# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of a scenario on the emulated KVM host, and what came of it."""
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BED = os.path.join(TOP, "testbed", "kvm")


class Run:
    """values: each result line's name to the list of its values, in order.
    out: the directory with what the scenario left in /out. status: its exit status."""

    def __init__(self, scenario, *arguments, options=(), name=None):
        base = os.path.join(TOP, "build", "e2e")
        os.makedirs(base, exist_ok=True)
        self.out = tempfile.mkdtemp(prefix=(name or scenario) + ".", dir=base)
        self.values = {}
        command = [os.path.join(BED, "run"), "--quiet", "--timeout", "120", "--out", self.out, *options,
                   os.path.join(TOP, "tests", "e2e", "scenarios", scenario + ".sh"),
                   *map(str, arguments)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                   errors="replace")
        for line in process.stdout:
            mark, _, rest = line.rstrip("\n").partition(" ")
            key, _, value = rest.partition(" ")
            if mark == "@@" and key:
                self.values.setdefault(key, []).append(value)
        self.status = process.wait()

    def text(self, name):
        return self.values.get(name, [""])[-1]

    def number(self, name):
        """The value as an integer, or None where the scenario did not come so far."""
        try:
            return int(self.text(name))
        except ValueError:
            return None

    def console(self):
        with open(os.path.join(self.out, "console.log"), errors="replace") as f:
            return f.read()


class Report:
    """The lines that tests/run counts."""

    def __init__(self):
        self.failed = False

    def check(self, name, ok, why=""):
        if ok:
            print("ok " + name, flush=True)
        else:
            self.failed = True
            print("not ok %s: %s" % (name, why or "see the console's log"), flush=True)

    def ran(self, name, run):
        """A scenario that ended as it should; what it printed otherwise."""
        self.check(name + " ran", run.status == 0,
                   "status %d, files in %s" % (run.status, run.out))
        if run.status:
            sys.stderr.write(run.console()[-4000:])
        return run.status == 0
