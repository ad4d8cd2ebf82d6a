# SPDX-License-Identifier: GPL-2.0-or-later
"""The emulated KVM host, with the vmmprof of this tree; and what its files say."""
import os
import subprocess
import sys

from bed import Bed, TOP

sys.path.insert(0, os.path.join(TOP, "tests"))
from results import Results  # noqa: E402,F401


# What is true of one machine only. @counters fit at once, of which so many count
# instructions; the latter's own number, as a raw event; an event whose samples come in
# time; another event, and how many instructions of minivm's loop are one (the Arm machine
# has nothing but cycles, one an instruction); instructions of programs that take long; and
# models of processors: the usual one, and those with another number of counters. @pmu_off
# is what `list` tells of a guest without a PMU, and how many PMUs that guest finds: AMD's
# never goes away. @trapped are accesses of minivm's `counts` to its counter, in a lap, that
# the emulator counts although they trap. @by_order is the status of `list`, and VMs whose
# threads it tells by order: Arm's debugfs tells none. @linux is how Linux guests are run,
# sampled every so many events for so many seconds: nested paging is slow to emulate, least
# so without -icount.
MACHINES = {
    "arm64": {"counters": 7, "instructions": 6, "raw": "r8", "sampled": "cycles",
              "other": ("cycles", 1), "exact": (10 ** 7, 10 ** 8, 10 ** 9),
              "long": 2 * 10 ** 9, "cpus": [None],
              "pmu_off": ("none", 0), "trapped": 7, "by_order": (3, ["as-none"]),
              "linux": (("--smp", "1", "--icount"), 200000, 2)},
    "x86": {"counters": 6, "instructions": 6, "raw": "rc0", "sampled": "instructions",
            "other": ("branches", 2), "exact": (10 ** 7, 10 ** 8),
            "long": 5 * 10 ** 8, "cpus": [None, "Opteron_G3"],
            "pmu_off": ("unknown", 1), "trapped": 0, "by_order": (0, []),
            "linux": (("--smp", "2", "--no-icount"), 100000, 6)},
    "x86 Opteron_G3": {"counters": 4, "instructions": 4},
    "x86 EPYC-Rome": {"counters": 6, "instructions": 6},
    "x86 EPYC-Milan": {"counters": 6, "instructions": 6},
    "x86 Nehalem": {"counters": 4, "instructions": 5},
}
MACHINE = sys.argv[sys.argv.index("--machine") + 1] if "--machine" in sys.argv else "arm64"


class Host(Bed):
    """Boots the machine that the command line names (--machine arm64 or x86), of another
    model of processor with @cpu, and runs @name.sh there; @options are testbed/kvm/run's."""

    def __init__(self, name, *options, cpu=None, arguments=(), out=None):
        if MACHINE == "x86":
            skip_without_emulator(name)
        label = MACHINE + (" " + cpu if cpu else "")
        self.is_ = MACHINES[label]
        super().__init__("kvm", name, [*options, *(["--cpu", cpu] if cpu else [])],
                         machine=MACHINE, label=label, arguments=[str(a) for a in arguments],
                         out=out)

    def loses_user_mode(self):
        """Kernels of Arm before 6.6 do, of guests whose events take turns."""
        return self.machine == "arm64" and self.value("resync") == "0"


def skip_without_emulator(name):
    """The x86 machine is built from Debian's source of QEMU: status 3 where there is none."""
    made = subprocess.run([os.path.join(TOP, "testbed/x86/prepare")], text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if made.returncode == 3:
        print("skip %s: %s: %s" % (MACHINE, name, made.stderr.splitlines()[-1]), flush=True)
        sys.exit(0)


def results_of(name, cpu=None):
    """Where a test's figures go: by machine."""
    words = [MACHINE] + ([cpu] if cpu else [])
    return Results("kvm-%s-%s" % (name, "-".join(words)), TOP)


def perf_script(path, fields="ip,sym,tid,comm,event", *options):
    """What Debian's perf reads out of a perf.data file: a list of lines."""
    run = subprocess.run(["perf", "script", "-i", path, "-F", fields, *options], text=True,
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
