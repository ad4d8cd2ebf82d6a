# SPDX-License-Identifier: GPL-2.0-or-later
"""What each event says that it counts, of a program (accesses_x86.py): by its name in
vmmprof's tables, data/events, and by perf's names for the kernel's own; perf's way to ask
for the same; and which of them count nothing on the emulated machine."""
import os
import re

from accesses_x86 import NODE_OF, Cache, total
from bed import TOP

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


def by_core(*names):
    """By the node of each CPU that the program runs on."""
    def counted(program):
        sums = [total(program.at[NODE_OF[cpu]], *names) for cpu in program.cpus]
        return None if None in sums else sum(sums)
    return counted


def loads(*names):
    """Of those, loads."""
    return lambda program: total(program.done, *names) if program.loads else 0


def stores(*names):
    return lambda program: 0 if program.loads else total(program.done, *names)


def clock(program):
    """As long as it is counted."""
    return [None, None]


def elsewhere(program):
    """For nodes that this machine does not have."""
    return [0, 0]


class Event:
    """@counts is what a program does of it, for the nodes a list; @part is how much of a
    node's lines passes here: a channel's part, or halves of lines. @loose: counted in the
    name of a program, but of all that its node does meanwhile."""

    def __init__(self, perf, counts, part=1, loose=False):
        mode = "" if re.match(r"(?!cpu)\w+/", perf) else "u" if perf.endswith("/") else ":u"
        self.perf = perf + mode
        self.counts, self.part = counts, part
        self.exact = counts in (INSNS, BRANCHES)
        self.never, self.clock = counts is elsewhere, counts is clock
        self.loose = loose


INSNS, BRANCHES = done("insns"), done("branches")


def read_table(name):
    """{event: its PMU}, {event: (event, umask)} of data/events/NAME.events"""
    pmus, encodings, pmu = {}, {}, None
    with open(os.path.join(TOP, "data/events", name + ".events")) as f:
        for line in f:
            words = line.split()
            if words[:1] == ["pmu"]:
                pmu = words[1]
            elif words[:1] == ["event"]:
                fields = dict(field.split("=") for field in words[2].split(","))
                pmus[words[1]] = pmu
                encodings[words[1]] = tuple(int(fields.get(f, "0"), 0)
                                            for f in ("event", "umask"))
    return pmus, encodings


UNITS = {"cpu": ("CORE", "NODE"), "amd_l3": ("L3",), "amd_df": ("DF",), "uncore": ("UNCORE",)}


def counted_by_machine(model):
    """Those of its table for which the emulator has a row: testbed/x86/qemu/pmu."""
    with open(os.path.join(TOP, "testbed/x86/qemu/pmu/memory/events.c")) as f:
        rows = re.findall(r"\{ (\w+), (\w+), (0x\w+), (\w+), (\w+), \d,", f.read())
    for name, (event, umask) in model.encodings.items():
        for cpus, unit, row, how, bits in rows:
            bits = int(bits, 0)
            if cpus in model.machine and unit in UNITS[model.pmus[name]] and \
                    int(row, 0) == event and \
                    (how == "ANY" or (umask & bits == bits if how == "ALL" else umask & bits)):
                yield name


class Model:
    """A model of processors. @events are those of @table, @generic the kernel's. @nothing
    are those of the kernel's, and all others of the table, that are opened and count what
    the machine, called @machine in its own table, does not have."""

    def __init__(self, table, cpu, machine, l1, l2, events, generic, nothing):
        self.table, self.cpu, self.l1, self.l2 = table, cpu, l1, l2
        self.events, self.generic = events, generic
        self.pmus, self.encodings = read_table(table)
        self.nothing = [n for n in self.pmus if n not in events] + nothing
        self.machine = machine

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


BEYOND_CCX = "cache_far_clean", "cache_far_dirty", "dram_near", "dram_far"
BEYOND_LLC = "cache_near_clean", "cache_near_dirty", *BEYOND_CCX
BEYOND_L2 = "llc", "llc_clean", "llc_dirty", *BEYOND_LLC
BEYOND_L1 = "l2", *BEYOND_L2
LLC_MISSES = "load_misses", "store_misses"
LLC_REQUESTS = "hits", "upgrades", *LLC_MISSES
DRAM = "dram_near", "dram_far"
OWN_CCX = "llc", "llc_clean", "llc_dirty"
NEAR_CACHES, FAR_CACHES = (("cache_%s_clean" % n, "cache_%s_dirty" % n) for n in ("near", "far"))
CACHES = *NEAR_CACHES, *FAR_CACHES


def zen_events(fills, l3_fills, channels, links):
    """A Zen's: @fills are {name: (event, umask, what)}, @links {name: event}."""
    return {
        "ex_ret_instr": Event("cpu/event=0xc0/", INSNS),
        # a cycle is an instruction here
        "ls_not_halted_cyc": Event("cpu/event=0x76/", INSNS),
        "ls_dispatch.ld_dispatch": Event("cpu/event=0x29,umask=0x1/", done("loads")),
        **{name: Event("cpu/event=%#x,umask=%#x/" % (event, umask), done(*what))
           for name, (event, umask, what) in fills.items()},
        "l3_lookup_state.all_l3_req_typs": Event("amd_l3/event=0x4,umask=0xff/",
                                                 at(*LLC_REQUESTS)),
        "l3_comb_clstr_state.request_miss": Event("amd_l3/event=0x6,umask=0x1/",
                                                  at(*LLC_MISSES)),
        "l3_comb_clstr_state.other_hits": Event("amd_l3/event=0x6,umask=0xfe/",
                                                at("hits", "upgrades")),
        "xi_ccx_sdp_req1": Event("amd_l3/event=0x9a,umask=%#x/" % l3_fills, at(*LLC_MISSES)),
        **{"dram_channel_data_controller_%d" % i:
           Event("amd_df/event=%#x,umask=0x38/" % (0x7 + 0x40 * i), channel(i, 8), 1 / 8)
           for i in range(channels)},
        # halves of lines; the first goes to the one other node that there is
        **{name: Event("amd_df/event=%#x,umask=0x2/" % event,
                       elsewhere if i else at("sent", times=2), 2)
           for i, (name, event) in enumerate(links.items())},
    }


# Linux, arch/x86/events/amd/core.c: AMD's L1 accesses are loads and stores
ZEN_GENERIC = {
    "instructions": Event("instructions", INSNS),
    "cycles": Event("cycles", INSNS),
    "branches": Event("branches", BRANCHES),
    "branch-loads": Event("branch-loads", BRANCHES),
    "cache-references": Event("cache-references", done("upgrades", *BEYOND_L1)),
    "cache-misses": Event("cache-misses", done(*BEYOND_L2)),
    "L1-dcache-loads": Event("L1-dcache-loads", done("loads", "stores")),
    "L1-dcache-load-misses": Event("L1-dcache-load-misses", done("upgrades", *BEYOND_L1)),
}
ZEN_NOTHING = ["branch-misses", "branch-load-misses", "stalled-cycles-frontend",
               "stalled-cycles-backend", "L1-dcache-prefetches", "L1-icache-loads",
               "L1-icache-load-misses", "dTLB-loads", "dTLB-load-misses", "iTLB-loads",
               "iTLB-load-misses"]

# a cache that is another die's is local where the line's home is here
ZEN12_FILLS = {"ls_refills_from_sys." + name: (0x43, umask, what) for name, umask, what in (
    ("local_l2", 0x1, ["l2"]), ("local_cache", 0x2, [*OWN_CCX, *NEAR_CACHES]),
    ("local_dram", 0x8, ["dram_near"]), ("remote_cache", 0x10, FAR_CACHES),
    ("remote_dram", 0x40, ["dram_far"]), ("beyond_l2", 0x5a, BEYOND_L2),
    ("beyond_ccx", 0x58, BEYOND_CCX))}
ZEN3_FILLS = {"ls_%s_fills_from_sys.%s" % (kind, name): (event, umask, what)
              for kind, event in (("dmnd", 0x43), ("any", 0x44)) for name, umask, what in (
    ("local_l2", 0x1, ["l2"]), ("local_ccx", 0x2, OWN_CCX),
    ("dram_io_near", 0x8, ["dram_near"]), ("far_cache", 0x10, CACHES),
    ("dram_io_far", 0x40, ["dram_far"]), ("remote_cache", 0x14, CACHES),
    ("dram_io_all", 0x48, DRAM), ("far_all", 0x50, [*CACHES, "dram_far"]),
    ("all", 0xff, BEYOND_L1))}
ZEN3_FILLS["ls_any_fills_from_sys.beyond_l2"] = 0x44, 0x5e, BEYOND_L2
ZEN3_FILLS["ls_any_fills_from_sys.beyond_ccx"] = 0x44, 0x5c, BEYOND_LLC
ZEN13_LINKS = {"remote_outbound_data_controller_%d" % i: 0x7c7 + 0x40 * i for i in range(4)}
ZEN2_LINKS = {"data_to_remote_%d" % i: event
              for i, event in enumerate((0x187, 0x1c7, 0x207, 0x287, 0x247, 0x2c7))}

zen1 = Model("zen1", None, ("ZEN", "ZEN12", "ZEN1"), Cache(64, 8), Cache(1024, 8),
             zen_events(ZEN12_FILLS, 0x3f, 8, ZEN13_LINKS), ZEN_GENERIC, ZEN_NOTHING)
zen2 = Model("zen2", "EPYC-Rome", ("ZEN", "ZEN12", "ZEN2"), Cache(64, 8), Cache(1024, 8),
             zen_events(ZEN12_FILLS, 0x3f, 2, ZEN2_LINKS), ZEN_GENERIC, ZEN_NOTHING)
zen3 = Model("zen3", "EPYC-Milan", ("ZEN", "ZEN3"), Cache(64, 8), Cache(1024, 8),
             zen_events(ZEN3_FILLS, 0xff, 8, ZEN13_LINKS), ZEN_GENERIC, ZEN_NOTHING)

k10 = Model(
    "k10", "Opteron_G3", ("K10",), Cache(512, 2), Cache(512, 16),
    {
        "retired_instructions": Event("cpu/event=0xc0/", INSNS),
        "cpu_clk_unhalted": Event("cpu/event=0x76/", INSNS),
        "data_cache_accesses": Event("cpu/event=0x40/", done("loads", "stores")),
        "data_cache_misses": Event("cpu/event=0x41/", done(*BEYOND_L1)),
        "data_cache_refills.system": Event("cpu/event=0x42,umask=0x1/", done(*BEYOND_L2)),
        "data_cache_refills.l2": Event("cpu/event=0x42,umask=0x1e/", done("l2")),
        "data_cache_refills.all": Event("cpu/event=0x42,umask=0x1f/", done(*BEYOND_L1)),
        "data_cache_refills_from_system.all": Event("cpu/event=0x43,umask=0x1f/",
                                                    done(*BEYOND_L2)),
        "retired_branch_instructions": Event("cpu/event=0xc2/", BRANCHES),
        # the northbridge's, whatever mode is asked for
        "dram_accesses_page.all": Event("cpu/event=0xe0,umask=0xff/", by_core(*MEMORY),
                                        loose=True),
        "cpu_to_dram_requests.node0": Event("cpu/event=0x1e0,umask=0x1/", by_core("asked_0"),
                                            loose=True),
        "cpu_to_dram_requests.node1": Event("cpu/event=0x1e0,umask=0x2/", by_core("asked_1"),
                                            loose=True),
        "read_request_to_l3_cache.all": Event("cpu/event=0x4e0,umask=0xf7/",
                                              by_core("hits", *LLC_MISSES), loose=True),
        "l3_cache_misses.all": Event("cpu/event=0x4e1,umask=0xf7/", by_core(*LLC_MISSES),
                                     loose=True),
    },
    {   # the kernel's last level here is the L2
        "instructions": Event("instructions", INSNS),
        "cycles": Event("cycles", INSNS),
        "branches": Event("branches", BRANCHES),
        "branch-loads": Event("branch-loads", BRANCHES),
        "cache-references": Event("cache-references", done(*BEYOND_L1)),
        "cache-misses": Event("cache-misses", done(*BEYOND_L2)),
        "L1-dcache-loads": Event("L1-dcache-loads", done("loads", "stores")),
        "L1-dcache-load-misses": Event("L1-dcache-load-misses", done(*BEYOND_L1)),
        "LLC-loads": Event("LLC-loads", done(*BEYOND_L1)),
        "LLC-load-misses": Event("LLC-load-misses", done(*BEYOND_L2)),
        "dTLB-loads": Event("dTLB-loads", done("loads", "stores")),
    },
    ["branch-misses", "branch-load-misses", "stalled-cycles-frontend",
     "stalled-cycles-backend", "L1-dcache-prefetches", "L1-dcache-prefetch-misses",
     "L1-icache-loads", "L1-icache-load-misses", "L1-icache-prefetches", "LLC-stores",
     "dTLB-load-misses", "iTLB-loads", "iTLB-load-misses", "node-loads", "node-load-misses"])


def uncore(event, umask, counts, part=1):
    return Event("uncore/event=%#x,umask=%#x/" % (event, umask), counts, part)


READS, WRITES = ("read_own", "read_other"), ("write_own", "write_other")


def channel_of_three(*names):
    """A channel's; where a single line goes is not known."""
    def counted(program):
        lines = [total(node, *names) for node in program.at]
        return [n // 3 if program.lines > 1 and len(program.cpus) == 1 else None if n else 0
                for n in lines]
    return counted


CLEAN_FAR = "dram_near", "dram_far", "cache_near_clean", "cache_far_clean"
OFFCORE = "cpu/event=0xb7,umask=0x1,offcore_rsp=%#x/"
nehalem = Model(
    "nehalem-ep", "Nehalem", ("NEHALEM",), Cache(64, 8), Cache(512, 8),
    {
        "INST_RETIRED.ANY_P": Event("cpu/event=0xc0/", INSNS),
        "CPU_CLK_UNHALTED.THREAD_P": Event("cpu/event=0x3c/", INSNS),
        "CPU_CLK_UNHALTED.REF": Event("cpu/event=0x0,umask=0x3/", INSNS),
        "MEM_INST_RETIRED.LOADS": Event("cpu/event=0xb,umask=0x1/", done("loads")),
        "LONGEST_LAT_CACHE.REFERENCE": Event("cpu/event=0x2e,umask=0x4f/", done(*BEYOND_L2)),
        "LONGEST_LAT_CACHE.MISS": Event("cpu/event=0x2e,umask=0x41/", done(*BEYOND_LLC)),
        "MEM_LOAD_RETIRED.L1D_HIT": Event("cpu/event=0xcb,umask=0x1/", loads("l1")),
        "MEM_LOAD_RETIRED.L2_HIT": Event("cpu/event=0xcb,umask=0x2/", loads("l2")),
        "MEM_LOAD_RETIRED.LLC_UNSHARED_HIT": Event("cpu/event=0xcb,umask=0x4/", loads("llc")),
        "MEM_LOAD_RETIRED.OTHER_CORE_L2_HIT_HITM": Event("cpu/event=0xcb,umask=0x8/",
                                                         loads("llc_clean", "llc_dirty")),
        "MEM_LOAD_RETIRED.LLC_MISS": Event("cpu/event=0xcb,umask=0x10/", loads(*BEYOND_LLC)),
        "MEM_UNCORE_RETIRED.OTHER_CORE_L2_HITM": Event("cpu/event=0xf,umask=0x2/",
                                                       loads("llc_dirty")),
        # with lines of others' homes that another socket had clean
        "MEM_UNCORE_RETIRED.REMOTE_CACHE_LOCAL_HOME_HIT": Event(
            "cpu/event=0xf,umask=0x8/",
            loads("cache_near_clean", "cache_near_dirty", "cache_far_clean")),
        # with those that it had dirty
        "MEM_UNCORE_RETIRED.REMOTE_DRAM": Event("cpu/event=0xf,umask=0x10/",
                                                loads("cache_far_dirty", "dram_far")),
        "MEM_UNCORE_RETIRED.LOCAL_DRAM": Event("cpu/event=0xf,umask=0x20/",
                                               loads("dram_near")),
        "OFFCORE_RESPONSE.ANY_DATA.LLC_HIT_OTHER_CORE_HIT": Event(OFFCORE % 0x211,
                                                                  loads("llc_clean")),
        "OFFCORE_RESPONSE.ANY_DATA.REMOTE_CACHE_HITM": Event(
            OFFCORE % 0x811, loads("cache_near_dirty", "cache_far_dirty")),
        "UNC_GQ_ALLOC.READ_TRACKER": uncore(0x3, 0x1, at(*LLC_REQUESTS)),
        "UNC_GQ_ALLOC.RT_LLC_MISS": uncore(0x3, 0x2, at(*LLC_MISSES)),
        "UNC_GQ_ALLOC.WRITE_TRACKER": uncore(0x3, 0x20, at("put_back")),
        "UNC_SNP_RESP_TO_LOCAL_HOME.I_STATE": uncore(0x6, 0x1, at("snoop_near_i")),
        "UNC_SNP_RESP_TO_LOCAL_HOME.S_STATE": uncore(0x6, 0x2, at("snoop_near_s")),
        "UNC_SNP_RESP_TO_LOCAL_HOME.WB": uncore(0x6, 0x20, at("snoop_near_m")),
        "UNC_SNP_RESP_TO_LOCAL_HOME.WB_OR_FWD_I": uncore(0x6, 0x28, at("snoop_near_m")),
        "UNC_SNP_RESP_TO_REMOTE_HOME.I_STATE": uncore(0x7, 0x1, at("snoop_far_i")),
        "UNC_SNP_RESP_TO_REMOTE_HOME.S_STATE": uncore(0x7, 0x2, at("snoop_far_s")),
        "UNC_SNP_RESP_TO_REMOTE_HOME.WB": uncore(0x7, 0x20, at("snoop_far_m")),
        "UNC_SNP_RESP_TO_REMOTE_HOME.HITM": uncore(0x7, 0x24, at("snoop_far_m")),
        "UNC_LLC_HITS.READ": uncore(0x8, 0x1, at("hits", "upgrades")),
        "UNC_LLC_HITS.WRITE": uncore(0x8, 0x2, at("put_back")),
        "UNC_LLC_HITS.ANY": uncore(0x8, 0x3, at("hits", "upgrades", "put_back")),
        "UNC_LLC_MISS.READ": uncore(0x9, 0x1, at(*LLC_MISSES)),
        "UNC_LLC_MISS.ANY": uncore(0x9, 0x3, at(*LLC_MISSES)),
        "UNC_LLC_LINES_IN.M_STATE": uncore(0xa, 0x1, at("in_m")),
        "UNC_LLC_LINES_IN.E_STATE": uncore(0xa, 0x2, at("in_e")),
        "UNC_LLC_LINES_IN.S_STATE": uncore(0xa, 0x4, at("in_s")),
        "UNC_LLC_LINES_IN.ANY": uncore(0xa, 0xf, at("in_m", "in_e", "in_s")),
        "UNC_LLC_LINES_OUT.M_STATE": uncore(0xb, 0x1, at("out_m")),
        "UNC_LLC_LINES_OUT.E_STATE": uncore(0xb, 0x2, at("out_e")),
        "UNC_LLC_LINES_OUT.S_STATE": uncore(0xb, 0x4, at("out_s")),
        "UNC_LLC_LINES_OUT.ANY": uncore(0xb, 0x1f, at("out_m", "out_e", "out_s")),
        "UNC_QHL_REQUESTS.LOCAL_READS": uncore(0x20, 0x10, at("read_own")),
        "UNC_QHL_REQUESTS.LOCAL_WRITES": uncore(0x20, 0x20, at("write_own")),
        "UNC_QHL_REQUESTS.REMOTE_READS": uncore(0x20, 0x4, at("read_other")),
        "UNC_QHL_REQUESTS.REMOTE_WRITES": uncore(0x20, 0x8, at("write_other")),
        "UNC_QMC_NORMAL_READS.ANY": uncore(0x2c, 0x7, at(*READS)),
        "UNC_QMC_WRITES.FULL_ANY": uncore(0x2f, 0x7, at(*WRITES)),
        **{name % i: uncore(event, umask << i * step, channel_of_three(*which), 1 / 3)
           for name, event, umask, step, which in (
               ("UNC_QMC_NORMAL_READS.CH%d", 0x2c, 1, 1, READS),
               ("UNC_QMC_WRITES.FULL_CH%d", 0x2f, 1, 1, WRITES),
               ("UNC_DRAM_READ_CAS.CH%d", 0x63, 1, 2, READS),
               ("UNC_DRAM_WRITE_CAS.CH%d", 0x64, 1, 2, WRITES)) for i in range(3)},
        "UNC_CLK_UNHALTED": Event("uncore/event=0xff/", clock),
    },
    {   # Linux, arch/x86/events/intel/core.c
        "instructions": Event("instructions", INSNS),
        "cycles": Event("cycles", INSNS),
        "ref-cycles": Event("ref-cycles", INSNS),
        "bus-cycles": Event("bus-cycles", INSNS),
        "iTLB-loads": Event("iTLB-loads", INSNS),
        "branches": Event("branches", BRANCHES),
        "branch-loads": Event("branch-loads", BRANCHES),
        "cache-references": Event("cache-references", done(*BEYOND_L2)),
        "cache-misses": Event("cache-misses", done(*BEYOND_LLC)),
        "L1-dcache-loads": Event("L1-dcache-loads", done("loads")),
        "L1-dcache-load-misses": Event("L1-dcache-load-misses", done(*BEYOND_L1)),
        "L1-dcache-stores": Event("L1-dcache-stores", done("stores")),
        # what another socket has modified is in none of these
        "LLC-loads": Event("LLC-loads", loads("llc", "llc_clean", "llc_dirty", *CLEAN_FAR)),
        "LLC-load-misses": Event("LLC-load-misses", loads(*CLEAN_FAR)),
        "LLC-stores": Event("LLC-stores", stores("llc", "dram_near", "dram_far")),
        "LLC-store-misses": Event("LLC-store-misses", stores("dram_near", "dram_far")),
        "node-loads": Event("node-loads", loads(*CLEAN_FAR)),
        "node-load-misses": Event("node-load-misses", loads("dram_far", "cache_near_clean",
                                                            "cache_far_clean")),
        "node-stores": Event("node-stores", stores("dram_near", "dram_far")),
        "node-store-misses": Event("node-store-misses", stores("dram_far")),
    },
    ["branch-misses", "branch-load-misses", "stalled-cycles-frontend",
     "stalled-cycles-backend", "L1-dcache-store-misses", "L1-dcache-prefetches",
     "L1-dcache-prefetch-misses", "L1-icache-loads", "L1-icache-load-misses", "dTLB-loads",
     "dTLB-load-misses", "dTLB-stores", "dTLB-store-misses", "iTLB-load-misses",
     "LLC-prefetches", "LLC-prefetch-misses", "node-prefetches", "node-prefetch-misses"])
