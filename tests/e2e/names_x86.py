# SPDX-License-Identifier: GPL-2.0-or-later
"""What each event says that it counts, of a program (accesses_x86.py): by its name in
vmmprof's tables, data/events, and by perf's names for the kernel's own; perf's way to ask
for the same; and which of them count nothing on the emulated machine."""
import re

from accesses_x86 import Cache, total

MEMORY = "read_own", "read_other", "write_own", "write_other"


def done(*names):
    """By the program's user mode."""
    return lambda program: total(program.done, *names)


def at(*names, times=1):
    """By each node."""
    def counted(program):
        sums = [total(node, *names) for node in program.at]
        return [None if n is None else n * times for n in sums]
    return counted


def channel(which, of):
    """Of a node's memory: a walk's lines are spread evenly, a single one is in the first."""
    def counted(program):
        lines = [total(node, *MEMORY) for node in program.at]
        return [n // of if program.lines > 1 else n if which == 0 else 0 for n in lines]
    return counted


def elsewhere(program):
    """For nodes that this machine does not have."""
    return [0, 0]


class Event:
    """@counts is what a program does of it, for the nodes a list; @part is how much of a
    node's lines passes here: a channel's part, or halves of lines."""

    def __init__(self, perf, counts, part=1):
        mode = "" if re.match(r"(?!cpu)\w+/", perf) else "u" if perf.endswith("/") else ":u"
        self.perf = perf + mode
        self.counts, self.part = counts, part
        self.exact = counts in (INSNS, BRANCHES)
        self.never = counts is elsewhere
        self.loose = False


INSNS, BRANCHES = done("insns"), done("branches")


class Model:
    """A model of processors. @events are those of @table, @generic the kernel's. @nothing
    are those of both that are opened, and count what the machine does not have."""

    def __init__(self, table, cpu, l1, l2, events, generic, nothing):
        self.table, self.cpu, self.l1, self.l2 = table, cpu, l1, l2
        self.events, self.generic, self.nothing = events, generic, nothing

    def event(self, name):
        return self.events.get(name) or self.generic[name]


def generic_names():
    """All of hardware that perf has a name for: src/events/names.c has the same."""
    names = ["cycles", "instructions", "cache-references", "cache-misses", "branches",
             "branch-misses", "bus-cycles", "stalled-cycles-frontend",
             "stalled-cycles-backend", "ref-cycles"]
    for cache, ops in (("L1-dcache", "load store prefetch"), ("L1-icache", "load prefetch"),
                       ("LLC", "load store prefetch"), ("dTLB", "load store prefetch"),
                       ("iTLB", "load"), ("branch", "load"), ("node", "load store prefetch")):
        for op in ops.split():
            names += ["%s-%s%s" % (cache, op, "es" if op == "prefetch" else "s"),
                      "%s-%s-misses" % (cache, op)]
    return names


BEYOND_CCX = "cache_far_dirty", "dram_near", "dram_far"
BEYOND_L2 = "llc", "llc_dirty", "cache_near_dirty", *BEYOND_CCX
BEYOND_L1 = "l2", *BEYOND_L2
LLC_MISSES = "load_misses", "store_misses"
LLC_REQUESTS = "hits", "upgrades", *LLC_MISSES
REFILLS = "ls_refills_from_sys."

zen1 = Model(
    "zen1", None, Cache(64, 8), Cache(1024, 8),
    {
        "ex_ret_instr": Event("cpu/event=0xc0/", INSNS),
        # a cycle is an instruction here
        "ls_not_halted_cyc": Event("cpu/event=0x76/", INSNS),
        "ls_dispatch.ld_dispatch": Event("cpu/event=0x29,umask=0x1/", done("loads")),
        REFILLS + "local_l2": Event("cpu/event=0x43,umask=0x1/", done("l2")),
        REFILLS + "local_cache": Event("cpu/event=0x43,umask=0x2/",
                                       done("llc", "llc_dirty", "cache_near_dirty")),
        REFILLS + "local_dram": Event("cpu/event=0x43,umask=0x8/", done("dram_near")),
        REFILLS + "remote_cache": Event("cpu/event=0x43,umask=0x10/", done("cache_far_dirty")),
        REFILLS + "remote_dram": Event("cpu/event=0x43,umask=0x40/", done("dram_far")),
        REFILLS + "beyond_l2": Event("cpu/event=0x43,umask=0x5a/", done(*BEYOND_L2)),
        REFILLS + "beyond_ccx": Event("cpu/event=0x43,umask=0x58/", done(*BEYOND_CCX)),
        "l3_lookup_state.all_l3_req_typs": Event("amd_l3/event=0x4,umask=0xff/",
                                                 at(*LLC_REQUESTS)),
        "l3_comb_clstr_state.request_miss": Event("amd_l3/event=0x6,umask=0x1/",
                                                  at(*LLC_MISSES)),
        "l3_comb_clstr_state.other_hits": Event("amd_l3/event=0x6,umask=0xfe/",
                                                at("hits", "upgrades")),
        "xi_ccx_sdp_req1": Event("amd_l3/event=0x9a,umask=0x3f/", at(*LLC_MISSES)),
        **{"dram_channel_data_controller_%d" % i:
           Event("amd_df/event=%#x,umask=0x38/" % (0x7 + 0x40 * i), channel(i, 8), 1 / 8)
           for i in range(8)},
        "remote_outbound_data_controller_0": Event("amd_df/event=0x7c7,umask=0x2/",
                                                   at("sent", times=2), 2),
        **{"remote_outbound_data_controller_%d" % i:
           Event("amd_df/event=%#x,umask=0x2/" % (0x7c7 + 0x40 * i), elsewhere, 2)
           for i in range(1, 4)},
    },
    {   # Linux, arch/x86/events/amd/core.c: AMD's L1 accesses are loads and stores
        "instructions": Event("instructions", INSNS),
        "cycles": Event("cycles", INSNS),
        "branches": Event("branches", BRANCHES),
        "branch-loads": Event("branch-loads", BRANCHES),
        "cache-references": Event("cache-references", done("upgrades", *BEYOND_L1)),
        "cache-misses": Event("cache-misses", done(*BEYOND_L2)),
        "L1-dcache-loads": Event("L1-dcache-loads", done("loads", "stores")),
        "L1-dcache-load-misses": Event("L1-dcache-load-misses",
                                       done("upgrades", *BEYOND_L1)),
    },
    ("xi_sys_fill_latency", "branch-misses", "branch-load-misses", "stalled-cycles-frontend",
     "stalled-cycles-backend", "L1-dcache-prefetches", "L1-icache-loads",
     "L1-icache-load-misses", "dTLB-loads", "dTLB-load-misses", "iTLB-loads",
     "iTLB-load-misses"))
