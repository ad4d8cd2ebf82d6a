# SPDX-License-Identifier: GPL-2.0-or-later
"""What one boot of each model of processors counts: programs, and events of each, so many
at once as there are counters for."""
import os

from accesses_x86 import Program
from kvm import TOP
from names_x86 import generic_names, zen1


def read_table(name):
    """{event: its PMU} of data/events/NAME.events"""
    found, pmu = {}, None
    with open(os.path.join(TOP, "data/events", name + ".events")) as f:
        for line in f:
            words = line.split()
            if words[:1] == ["pmu"]:
                pmu = words[1]
            elif words[:1] == ["event"]:
                found[words[1]] = pmu
    return found


class Window:
    """Events of a program that are counted at once. @perf: perf counts those of the program,
    too; @all: and, once more, those of the nodes with these of all CPUs. @judged: a program
    does a known number of them."""

    def __init__(self, file, program, events, perf=True, all=(), judged=True):
        self.file, self.program, self.events = file, program, events
        self.perf, self.all, self.judged = perf, all, judged


class Plan:
    def __init__(self, model):
        self.model, self.table = model, read_table(model.table)
        self.name = "events_x86_" + model.table
        self.programs, self.windows, self.lines, self.sums = [], [], [], []

    def of_node(self, name):
        return self.table.get(name, "cpu") != "cpu"

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
        """Windows of what no program does a known number of, each of so many that count;
        what the kernel does not have takes no counter."""
        silent = list(self.model.nothing)
        refused = sorted(set(generic_names()) - set(silent) - set(self.model.generic))
        for i in range(0, len(silent), counters):
            yield silent[i:i + counters] + (refused if i == 0 else []), {"judged": False}

    def write(self, path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write("\n".join(self.lines) + "\n")


class Sum:
    """All nodes' events @names of a program, where there are several in all its windows,
    against what all cores got: perf's @cores."""

    def __init__(self, program, names, cores):
        self.program, self.names, self.cores = program, names, cores


MISSES, DRAM = "cpu/event=0x43,umask=0x58/", "cpu/event=0x43,umask=0x48/"
LINES = 32768  # twice an LLC


def zen1_plan():
    plan, names = Plan(zen1), list(zen1.events)
    fills = [n for n in names if n.startswith(("ls_d", "ls_r"))]
    l3 = [n for n in names if plan.table[n] == "amd_l3"]
    df = [n for n in names if plan.table[n] == "amd_df"]
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
    plan.program("across", "pingpong", 1, 100000, 1, 3, 1, windows=[by_source, links])
    plan.program("chase-far", "chase", LINES, 48, 0, 3, windows=[cores])
    plan.program("walk-near", "walk", LINES, 48, 1, 3, windows=[by_source, the_rest])
    plan.program("walk-far", "walk", LINES, 48, 0, 3, windows=[by_source, the_rest, links])
    plan.program("chase-near", "chase", LINES, 48, 1, 3, windows=[cores])
    plan.program("random-near", "random", 4 * LINES, 12, 1, 3, windows=[cores])
    plan.program("random-far", "random", 4 * LINES, 12, 0, 3, windows=[by_source, the_rest])
    plan.program("store-far", "store", LINES, 48, 0, 3, windows=[by_source, links])
    for program in "walk-near", "walk-far", "random-far":
        plan.sums += [Sum(program, ["l3_comb_clstr_state.request_miss"], MISSES),
                      Sum(program, df[:8], DRAM)]
    return plan


PLANS = [zen1_plan()]
