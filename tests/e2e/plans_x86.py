# SPDX-License-Identifier: GPL-2.0-or-later
"""What one boot of each model of processors counts: programs, and events of each, so many
at once as there are counters for."""
import os

from accesses_x86 import Program
from kvm import TOP
from names_x86 import (ZEN12_FILLS, ZEN3_FILLS, generic_names, k10, nehalem, zen1, zen2,
                       zen3)


class Window:
    """Events of a program that are counted at once. @perf: perf counts those of the program,
    too; @all: and, once more, those of the nodes with these of all CPUs. @judged: a program
    does a known number of them."""

    def __init__(self, file, program, events, perf=True, all=(), judged=True):
        self.file, self.program, self.events = file, program, events
        self.perf, self.all, self.judged = perf, all, judged


class Plan:
    def __init__(self, model):
        self.model = model
        self.name = "events_x86_" + model.table
        self.programs, self.windows, self.lines, self.sums = [], [], [], []

    def of_node(self, name):
        return self.model.pmus.get(name, "cpu") != "cpu"

    def word(self, name):
        return name if self.of_node(name) else name + ":u"

    def program(self, *words, windows, warm=None):
        """@warm: an event that has the caches filled first."""
        program = Program(*words)
        self.programs.append(program)
        self.lines.append(program.line())
        if warm:
            self.lines.append("mine warm %s %s" % (program.name, warm))
        for events, options in windows:
            done = sum(w.program is program for w in self.windows)
            self.count(Window("%s-%d" % (program.name, done + 1), program, events, **options))
        self.lines.append("stop " + program.name)

    def count(self, w):
        self.windows.append(w)
        where = "%s %s " % (w.file, w.program.name)
        self.lines.append("mine " + where + ",".join(map(self.word, w.events)))
        if not w.judged:
            return
        core = [self.model.event(e).perf for e in w.events if not self.of_node(e)]
        node = [self.model.event(e).perf for e in w.events if self.of_node(e)]
        if w.perf and core:
            self.lines.append("theirs " + where + ",".join(core))
        if w.all:
            self.lines.append("all " + where + ",".join([*node, *w.all]))

    def nothing(self, counters):
        """Windows of what no program does a known number of, each of no more than a core has
        counters for, and a node's eight; what the kernel does not have takes none."""
        core = [n for n in self.model.nothing if not self.of_node(n)]
        node = [n for n in self.model.nothing if self.of_node(n)]
        refused = sorted(set(generic_names()) - set(core) - set(self.model.generic))
        count = max(-(-len(core) // counters), -(-len(node) // NODE_COUNTERS))
        for i in range(count):
            yield core[i::count] + node[i::count] + refused[i::count], {"judged": False}

    def write(self, path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write("\n".join(self.lines) + "\n")


class Sum:
    """All nodes' events @names of a program, where there are several in all its windows,
    against what all cores got: perf's @cores, or an event's name, of the same window."""

    def __init__(self, program, names, cores):
        self.program, self.names, self.cores = program, names, cores


NODE_COUNTERS = 8  # of Nehalem's uncore; the Zens' nodes have nothing that counts nothing
MISSES, DRAM = "cpu/event=0x43,umask=0x58/", "cpu/event=0x43,umask=0x48/"
LINES = 32768  # twice an LLC


def zen1_plan():
    plan, names = Plan(zen1), list(zen1.events)
    fills = [n for n in names if n.startswith(("ls_d", "ls_r"))]
    l3 = [n for n in names if zen1.pmus[n] == "amd_l3"]
    df = [n for n in names if zen1.pmus[n] == "amd_df"]
    six, both = fills[:6], fills[6:] + ["ex_ret_instr", "ls_not_halted_cyc", "instructions"]
    generic = ["cycles", "branch-loads", "cache-references", "cache-misses", "L1-dcache-loads",
               "L1-dcache-load-misses"]
    by_source = (six + l3 + df[:4], {"all": [MISSES]})
    the_rest = (both + ["branches"] + l3 + df[4:8], {"all": [MISSES, DRAM]})
    links = (generic + df[8:], {"all": [DRAM]})
    cores = (six + l3 + df[:4], {})
    plan.program("l2", "walk", 3072, 300, 1, 3, warm=MISSES, windows=[
        (six, {}), *plan.nothing(6)])
    plan.program("llc", "walk", 10240, 100, 1, 3, warm=MISSES, windows=[(six, {})])
    plan.program("rest", "walk", 1, 1, 1, 3, windows=[by_source, the_rest, links])
    plan.program("pass", "pingpong", 1, 100000, 0, 3, 2, windows=[cores])
    plan.program("across", "pingpong", 1, 300000, 1, 3, 1, windows=[by_source, links])
    plan.program("chase-far", "chase", LINES, 24, 0, 3, windows=[cores])
    plan.program("walk-near", "walk", LINES, 48, 1, 3, windows=[by_source, the_rest])
    plan.program("walk-far", "walk", LINES, 48, 0, 3, windows=[by_source, the_rest, links])
    plan.program("chase-near", "chase", LINES, 24, 1, 3, windows=[cores])
    plan.program("random-near", "random", 4 * LINES, 6, 1, 3, windows=[cores])
    plan.program("random-far", "random", 4 * LINES, 6, 0, 3, windows=[by_source])
    plan.program("store-far", "store", LINES, 48, 0, 3, warm=MISSES, windows=[by_source, links])
    plan.sums += [Sum(program, ["l3_comb_clstr_state.request_miss"], MISSES)
                  for program in ("walk-near", "walk-far", "random-far")]
    plan.sums += [Sum(program, df[:8], DRAM) for program in ("walk-near", "walk-far")]
    return plan


def all_of(*windows, perf=True, cores=()):
    """perf counts the program's events of the first window only, and there those of the
    nodes, with @cores of all CPUs, if there are any."""
    return [(events, {"perf": perf and i == 0, "all": cores if i == 0 else ()})
            for i, events in enumerate(windows)]


def zen_plan(model, *batches):
    """The names only: @batches of fills, six at once, the first two with all sources."""
    plan, names = Plan(model), list(model.events)
    l3 = [n for n in names if model.pmus[n] == "amd_l3"]
    channels = [n for n in names if n.startswith("dram_channel")]
    links = [n for n in names if model.pmus[n] == "amd_df" and n not in channels]
    generic = ["instructions", "cycles", "branches", "branch-loads", "L1-dcache-loads",
               "cache-misses"]
    first, second = batches[:2]
    plan.program("l2", "walk", 3072, 300, 1, 3, warm=MISSES, windows=[
        *all_of(first, second, perf=False), *plan.nothing(6)])
    plan.program("llc", "walk", 10240, 50, 1, 3, warm=MISSES, windows=all_of(
        first + l3, second, perf=False))
    plan.program("across", "pingpong", 1, 300000, 1, 3, 1, windows=all_of(*batches[::2]))
    plan.program("walk-far", "walk", LINES, 48, 0, 3, windows=all_of(
        first + links[:4], generic + links[4:], *batches[1:]))
    plan.program("walk-near", "walk", LINES, 48, 1, 3, windows=all_of(
        first + channels[:4] + l3, second + channels[4:], perf=False))
    return plan


def zen2_plan():
    fills = list(ZEN12_FILLS)
    return zen_plan(zen2, ["ls_dispatch.ld_dispatch", *fills[:5]],
                    [*fills[5:], "ex_ret_instr", "ls_not_halted_cyc", "cache-references",
                     "L1-dcache-load-misses"])


def zen3_plan():
    fills = list(ZEN3_FILLS)
    return zen_plan(zen3, fills[:6], fills[6:12], fills[12:18],
                    [*fills[18:], "ls_dispatch.ld_dispatch", "ex_ret_instr",
                     "ls_not_halted_cyc", "cache-references"],
                    ["L1-dcache-load-misses"])


def k10_plan():
    plan, fills = Plan(k10), "data_cache_refills"
    asked = ["cpu_to_dram_requests.node0", "cpu_to_dram_requests.node1"]
    l3 = ["read_request_to_l3_cache.all", "l3_cache_misses.all"]
    warm = "cpu/event=0x40/"
    plan.program("l2", "walk", 3072, 300, 1, 3, warm=warm, windows=[
        ([fills + ".l2", fills + ".all", "data_cache_misses", "data_cache_accesses"], {}),
        *plan.nothing(4)])
    plan.program("walk-near", "walk", LINES, 24, 1, 3, warm=warm, windows=all_of(
        ["dram_accesses_page.all", asked[1], *l3],
        ["instructions", "cycles", "branches", "branch-loads"],
        ["L1-dcache-load-misses", "dTLB-loads", "data_cache_misses", fills + ".all"]))
    plan.program("walk-far", "walk", LINES, 24, 0, 3, windows=all_of(
        [fills + ".system", fills + "_from_system.all", *asked],
        ["retired_instructions", "cpu_clk_unhalted", "retired_branch_instructions",
         "L1-dcache-loads"],
        ["cache-references", "cache-misses", "LLC-loads", "LLC-load-misses"]))
    plan.program("across", "pingpong", 1, 300000, 1, 3, 1, windows=all_of(
        [fills + ".system", fills + ".l2", *asked]))
    plan.program("store-near", "store", LINES, 24, 1, 3, warm=warm, windows=all_of(
        ["dram_accesses_page.all", asked[1], *l3]))
    plan.program("store-far", "store", LINES, 24, 0, 3, warm=warm, windows=all_of(
        ["dram_accesses_page.all", asked[0], *l3]))
    plan.sums.append(Sum("walk-far", asked, fills + "_from_system.all"))
    return plan


def nehalem_plan():
    plan = Plan(nehalem)
    retired, hits, uncore = "MEM_LOAD_RETIRED.", "MEM_UNCORE_RETIRED.", "UNC_"
    offcore, cache = "OFFCORE_RESPONSE.ANY_DATA.", "LONGEST_LAT_CACHE."
    l1_misses = [retired + "L2_HIT", "L1-dcache-load-misses"]
    by_home = [hits + "LOCAL_DRAM", hits + "REMOTE_DRAM"]
    three = ["%sQMC_NORMAL_READS.CH%d" % (uncore, i) for i in range(3)]
    cas = ["%sDRAM_READ_CAS.CH%d" % (uncore, i) for i in range(3)]
    written = ["%sQMC_WRITES.FULL_CH%d" % (uncore, i) for i in range(3)]
    write_cas = ["%sDRAM_WRITE_CAS.CH%d" % (uncore, i) for i in range(3)]
    lines_in, lines_out = uncore + "LLC_LINES_IN.", uncore + "LLC_LINES_OUT."
    near, far = uncore + "SNP_RESP_TO_LOCAL_HOME.", uncore + "SNP_RESP_TO_REMOTE_HOME."
    home, queue = uncore + "QHL_REQUESTS.", uncore + "GQ_ALLOC."
    llc_hits, llc_misses = uncore + "LLC_HITS.", uncore + "LLC_MISS."
    warm = "cpu/event=0xb,umask=0x1/"
    plan.program("l1", "walk", 256, 4000, 1, 3, windows=all_of(
        [retired + "L1D_HIT", "L1-dcache-loads", "L1-dcache-load-misses", "instructions"]))
    plan.program("l2", "walk", 3072, 300, 1, 3, warm=warm, windows=[
        *all_of([*l1_misses, retired + "LLC_UNSHARED_HIT", cache + "REFERENCE"]),
        *plan.nothing(4)])
    plan.program("llc", "walk", 10240, 80, 1, 3, warm=warm, windows=all_of(
        [retired + "LLC_UNSHARED_HIT", cache + "REFERENCE", cache + "MISS", "LLC-loads",
         llc_hits + "READ", llc_hits + "ANY"]))
    plan.program("rest", "walk", 1, 1, 1, 3, windows=[
        ([near + "S_STATE", near + "WB", far + "S_STATE", far + "WB", far + "HITM",
          lines_in + "S_STATE", lines_out + "S_STATE", queue + "READ_TRACKER"], {})])
    plan.program("follow", "follow", 10240, 6, 1, 3, 2, warm=warm, windows=all_of(
        [retired + "OTHER_CORE_L2_HIT_HITM", hits + "OTHER_CORE_L2_HITM",
         retired + "LLC_UNSHARED_HIT", offcore + "LLC_HIT_OTHER_CORE_HIT"]))
    plan.program("across", "pingpong", 1, 300000, 1, 3, 1, windows=all_of(
        [hits + "REMOTE_CACHE_LOCAL_HOME_HIT", hits + "REMOTE_DRAM", retired + "LLC_MISS",
         offcore + "REMOTE_CACHE_HITM", near + "S_STATE", near + "WB", far + "S_STATE",
         far + "WB", far + "HITM", lines_in + "S_STATE", lines_out + "S_STATE",
         queue + "READ_TRACKER"]))
    plan.program("far-follow", "follow", LINES, 12, 1, 3, 1, warm=warm, windows=all_of(
        [hits + "REMOTE_CACHE_LOCAL_HOME_HIT", *by_home, "node-loads",
         lines_out + "S_STATE", near + "S_STATE", near + "WB", near + "WB_OR_FWD_I",
         far + "S_STATE",
         far + "HITM", lines_in + "S_STATE"]))
    misses = ["cpu/event=0x2e,umask=0x41/"]
    plan.program("walk-near", "walk", LINES, 24, 1, 3, windows=all_of(
        [*by_home, cache + "MISS", "LLC-load-misses", "cycles", lines_in + "ANY", *three,
         uncore + "QMC_NORMAL_READS.ANY", far + "I_STATE", queue + "RT_LLC_MISS",
         llc_misses + "READ"],
        ["cache-references", "cache-misses", "branches", "branch-loads",
         "CPU_CLK_UNHALTED.THREAD_P", lines_in + "E_STATE", lines_out + "E_STATE",
         lines_out + "ANY", home + "LOCAL_READS", *cas, llc_misses + "ANY",
         uncore + "CLK_UNHALTED"], cores=misses))
    plan.program("walk-far", "walk", LINES, 24, 0, 3, windows=all_of(
        [*by_home, retired + "LLC_MISS", "node-load-misses", "INST_RETIRED.ANY_P",
         near + "I_STATE", home + "REMOTE_READS", *three, uncore + "QMC_NORMAL_READS.ANY",
         llc_misses + "READ"],
        ["MEM_INST_RETIRED.LOADS", "bus-cycles", "iTLB-loads", "ref-cycles"],
        ["CPU_CLK_UNHALTED.REF"], cores=misses))
    plan.program("store-near", "store", LINES, 24, 1, 3, warm=warm, windows=all_of(
        ["L1-dcache-stores", cache + "REFERENCE", cache + "MISS", "LLC-stores",
         queue + "WRITE_TRACKER", llc_hits + "WRITE", llc_hits + "ANY", lines_in + "M_STATE",
         lines_out + "M_STATE", home + "LOCAL_WRITES", *written[:2]],
        ["LLC-store-misses", written[2], uncore + "QMC_WRITES.FULL_ANY", *write_cas,
         queue + "READ_TRACKER"]))
    plan.program("store-far", "store", LINES, 24, 0, 3, warm=warm, windows=all_of(
        ["node-stores", retired + "LLC_MISS", home + "REMOTE_WRITES"],
        ["node-store-misses"]))
    for program in "walk-near", "walk-far":
        plan.sums += [Sum(program, [llc_misses + "READ"], misses[0]),
                      Sum(program, three, misses[0])]
    return plan


PLANS = [zen1_plan(), k10_plan(), nehalem_plan(), zen2_plan(), zen3_plan()]
