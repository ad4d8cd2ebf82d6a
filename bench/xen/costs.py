# SPDX-License-Identifier: GPL-2.0-or-later
"""What virtual PMUs cost in Xen, in instructions at EL2.

Under -icount shift=0 one instruction is one nanosecond of the machine's own clock, so
that two Xens differ, around guests that execute the same instructions, by what they
execute themselves. The programs beside this file measure in blocks, whose medians keep
the scheduler's ticks out; ticks of a whole second make them few.
"""
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "tests/e2e"), os.path.join(TOP, "tests")]
from xen import XenHost, bare  # noqa: E402

TICK_NS = 16
SCHEDULER = "sched=credit sched_credit_tslice_ms=1000 "
SWITCHES = 2 * 64  # in a block of switch.c: STEPS times there and back
ACCESSES = 256     # STEPS of visit.c
INTERRUPTS = 32    # in a block of it


def program(name):
    return os.path.join(TOP, "bench/xen", name)


def number(host, name):
    return host.number(name + "@dom1")


class Switches:
    """Instructions of one yield and the switch that it causes, by phase of switch.c."""

    def __init__(self, xen, words, *options):
        self.host = XenHost(
            "xen_cost",
            [bare(name, program("switch.c"), "-DFIRST=%d" % first, *options)
             for name, first in (("first", 1), ("second", 0))],
            "--xen", xen, "--xen-args", SCHEDULER + words)

    def __getitem__(self, phase):
        """-1 and less: not measured."""
        return number(self.host, phase) * TICK_NS / SWITCHES


class Visits:
    """Instructions that Xen executes for one access, hypercall or interrupt of a guest."""

    def __init__(self, words):
        self.host = XenHost("xen_cost", [bare("only", program("visit.c"), "vpmu=1")],
                            "--xen", "graft", "--xen-args", SCHEDULER + words)

    def __getitem__(self, name):
        ticks = number(self.host, name) - number(self.host, "nothing")
        return ticks * TICK_NS / ACCESSES

    def interrupt(self):
        spent = number(self.host, "interrupts") - number(self.host, "no_interrupt")
        return spent / INTERRUPTS


class Sampled:
    """Instructions that Xen executes for one sample that dom0 takes of a domain."""

    def __init__(self, words):
        self.host = XenHost("xen_cost_sampled", [bare("only", program("sampled.c"))],
                            "--xen", "graft", "--xen-args", words)

    def sample(self):
        return number(self.host, "sample")
