# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of known accesses, and what caches and memories of two nodes do for them: from
what the programs are and from the sizes of the caches, by the rules that testbed/README.md
tells of the machine."""
from collections import Counter

LLC_WAYS = 16
LLC_SETS = 1024  # --llc 1M
NODE_OF = (0, 0, 1, 1)


class Cache:
    def __init__(self, sets, ways):
        self.sets, self.ways = sets, ways

    def holds(self, lines):
        """All of a walk's, lap after lap; its lines are in huge pages."""
        return lines <= self.sets * self.ways


class Program:
    """testbed/x86/pattern, each time it is asked. @done is what user mode executes and
    where its lines come from; @at what each node counts. A thing that is not known is
    None; one that is not there is 0."""

    def __init__(self, name, loop, lines, laps, node, *cpus):
        self.name, self.loop, self.lines, self.laps = name, loop, lines, laps
        self.home, self.cpus = node, cpus
        self.accesses = lines * laps * len(cpus)
        # no load is told apart by where it comes from
        self.loads = loop != "store"
        self.done, self.at = Counter(), (Counter(), Counter())

    def line(self):
        """For the scenario."""
        return " ".join(map(str, ("start", self.name, self.loop, self.lines, self.laps,
                                  self.home, *self.cpus)))

    def run_on(self, l1, l2):
        """What it does on a machine of such caches."""
        if self.loop == "pingpong":
            self.hand_over(self.laps)
        elif self.loop == "follow":
            self.follow()
        else:
            self.walk(l1, l2)
        return self

    def walk(self, l1, l2):
        me, n = NODE_OF[self.cpus[0]], self.accesses
        kind = "store" if self.loop == "store" else "load"
        llc = Cache(LLC_SETS, LLC_WAYS)
        self.done[kind + "s"] = n
        if self.loop == "random":
            # each set's lines are equally likely, and so many of them are there
            self.done["l1"] = self.done["l2"] = self.done["llc"] = None
            self.at[me]["hits"] = None
            n -= n * LLC_SETS * LLC_WAYS // self.lines
        elif l1.holds(self.lines):
            self.done["l1"] = n
            return
        elif l2.holds(self.lines):
            self.done["l2"] = n
            return
        elif llc.holds(self.lines):
            self.done["llc"] = self.at[me]["hits"] = n
            return
        self.fetch(me, kind, n)

    def fetch(self, me, kind, lines):
        """From memory, for a node whose LLC puts out as many of the same kind."""
        self.done["dram_near" if me == self.home else "dram_far"] += lines
        self.at[me][kind + "_misses"] += lines
        self.snoop(1 - me, "i", lines)
        self.memory(me, "read", lines)
        state = "e"
        if kind == "store":
            state = "m"
            self.at[me]["put_back"] += lines
            self.memory(me, "write", lines)
        self.at[me]["in_" + state] += lines
        self.at[me]["out_" + state] += lines

    def memory(self, node, way, lines):
        """The home's memory is read or written for a node."""
        own = node == self.home
        self.at[self.home][way + ("_own" if own else "_other")] += lines
        self.at[node]["asked_%d" % self.home] += lines
        if not own:
            self.at[self.home if way == "read" else node]["sent"] += lines

    def snoop(self, node, state, lines):
        """A node is asked for lines of its own memory, or of another's."""
        self.at[node]["snoop_%s_%s" % ("near" if node == self.home else "far", state)] += lines

    def hand_over(self, times):
        """A line goes to and fro: each load gets what the other has modified, each store has
        to take it away from the other."""
        self.done["loads"] = self.done["l1"] = None  # they wait for each other
        for to, of in (self.cpus, reversed(self.cpus)):
            me, other = NODE_OF[to], NODE_OF[of]
            self.done["stores"] += times
            self.done["upgrades"] += times
            self.at[me]["upgrades"] += times
            if me == other:
                self.done["llc_dirty"] += times
                self.at[me]["hits"] += times
                continue
            self.done["cache_near_dirty" if me == self.home else "cache_far_dirty"] += times
            self.at[me]["load_misses"] += times
            self.at[me]["in_s"] += times
            self.at[other]["sent"] += times
            self.snoop(other, "m", times)
            self.snoop(other, "s", times)
            self.memory(other, "write", times)

    def follow(self):
        """The first gets each line from its LLC or from memory, the second from what the
        first has of it; by a line that they hand over they wait for each other."""
        me, other = (NODE_OF[cpu] for cpu in self.cpus)
        n = self.lines * self.laps
        self.hand_over(n)
        if me == other:
            self.done["llc"] += n
            self.done["llc_clean"] += n
            self.at[me]["hits"] += 2 * n
            return
        self.fetch(me, "load", n)
        self.done["cache_near_clean" if other == self.home else "cache_far_clean"] += n
        self.at[other]["load_misses"] += n
        self.snoop(me, "s", n)  # it has it alone, but clean
        self.at[other]["in_s"] += n
        self.at[me]["sent"] += n
        for node in me, other:
            self.at[node]["out_s"] += n
        self.at[me]["out_e"] -= n

    def ready(self, line):
        """What the program itself says that it executes."""
        said = dict(word.split("=") for word in line.split()[2:])
        for what in "insns", "branches":
            self.done[what] = None if len(self.cpus) > 1 else int(said[what])


def total(counts, *names):
    """The sum of some; None if one of them is not known."""
    values = [counts[name] for name in names]
    return None if None in values else sum(values)
