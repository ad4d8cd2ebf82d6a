# SPDX-License-Identifier: GPL-2.0-or-later
"""The emulated KVM host, with the vmmprof of this tree; and what its files say."""
import os
import subprocess
import sys

from bed import Bed, TOP

sys.path.insert(0, os.path.join(TOP, "tests"))
from results import Results  # noqa: E402,F401


class Host(Bed):
    """Boots and runs @name.sh there; @options are testbed/kvm/run's."""

    def __init__(self, name, *options):
        super().__init__("kvm", name, options)


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
