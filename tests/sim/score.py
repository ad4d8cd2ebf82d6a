#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Scores the diagnosis and the advice on generated scenarios of the built-in host.

usage: score.py SCORE [--some | --long] [--set NAME=FIRST-LAST]... [--jobs N]
                [diagnosis | advice]

SCORE is the program that tells of each scenario what the tool says and what is so.
Figures go to build/results/sim-score.json, of the advice alone to sim-advice.json. Seeds
are fixed: those of the first set were looked at while the diagnosis was made, those of
the second were not. --some takes the first quarter of each set for the diagnosis, and for
the advice a few, by their numbers, and the one that once lost much; else the advice is scored on one in 5, with
--long on all; the best of other placements is looked for on one in 5.

A case of the advice is a host to which moves were advised: they are made, memory arrives
and caches fill, then the work that the VMs' programs got done in a span of time is held
against what the same host gets done in the same span if it is left alone. A VM's gain is
the quotient of the two less one; the host's is that of their geometric mean, and it is
this that must come within 10 points of the predicted one in 90 % of the cases, and never
below -2 %. Where something bolder is known (`advise --bold`), it is made too, and must lose no
more. VMs' gains are held against the predicted ones beside it. Who is advised
nothing is no case: so there is also how many were, and the mean gain of all hosts,
advised or not, to the bold or not, beside that of the placements that the policies of Xen and Linux make of
the same VMs unpinned, and of the best of other placements: all of them where they are few,
else as many at random.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests"))
from results import Results  # noqa: E402

FACTORS = ["locality", "llc", "sharing", "memory", "trackers"]
SETS = {"seen": (1, 200), "held back": (10001, 10100)}
MUCH, LITTLE = 0.05, 0.02  # losses: a diagnosis has to find it, must not make one up
WANTED = 0.90
NEAR = 0.10                # measured gain may differ from the predicted one by so much
MOST_LOSS = 0.02           # of an applied move
PIECE = 5                  # scenarios of one run of the program
SOME = 4                   # so many times fewer scenarios
SOME_ADVICE = 11, 22, 33, 44, 195
ADVICE = 5                 # advice is made and measured for so many times fewer, …
SEARCH, LONG_SEARCH = 16, 64  # … and so many other placements are tried beside it


def run_piece(program, first, last, words):
    command = [program, str(first), str(last), *words]
    run = subprocess.run(command, cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True)
    if run.returncode:
        sys.exit("%s: status %d: %s" % (" ".join(command), run.returncode, run.stderr[-2000:]))
    return [json.loads(line) for line in run.stdout.splitlines()]


def run_all(pool, program, seeds, words):
    first, last = seeds
    pieces = [pool.submit(run_piece, program, at, min(at + PIECE - 1, last), words)
              for at in range(first, last + 1, PIECE)]
    return [row for piece in pieces for row in piece.result()]


def run_each(pool, program, seeds, words):
    pieces = [pool.submit(run_piece, program, seed, seed, words) for seed in seeds]
    return [row for piece in pieces for row in piece.result()]


class Count:
    """Of VMs: how many were told right, of those that lose much and of those that do not."""

    def __init__(self):
        self.matrix = collections.Counter()
        self.much = self.right = self.little = self.silent = 0
        self.errors = []

    def add(self, vm, truth, true):
        said = vm["said"] or ("unknown" if vm["unknown"] else "nothing")
        loss = max(truth)
        if loss > MUCH:
            self.matrix[true, said] += 1
            self.much += 1
            self.right += said == true
        elif loss < LITTLE:
            self.matrix["nothing", said] += 1
            self.little += 1
            self.silent += said == "nothing"
        self.errors.append(sum(vm["errors"]) / len(vm["errors"]))

    @property
    def accuracy(self):
        return self.right / self.much if self.much else math.nan

    @property
    def silence(self):
        return self.silent / self.little if self.little else math.nan

    @property
    def error(self):
        return sum(self.errors) / len(self.errors)

    def print(self, title):
        said = FACTORS + ["nothing", "unknown"]
        print("\n%s: rows are true, columns are said" % title)
        print("%-10s" % "" + "".join("%10s" % s for s in said))
        for true in FACTORS + ["nothing"]:
            print("%-10s" % true + "".join("%10d" % self.matrix[true, s] for s in said))


def score_diagnosis(results, name, rows, how):
    count = Count()
    for row in rows:
        for vm in row["vms"]:
            count.add(vm, vm["truth"], vm["true"])
    count.print("Diagnoses of the set %s" % name)
    results.add("diagnosis, %s: VMs with a loss above 5 %%" % name, count.much, "", how,
                at_least=1)
    results.add("diagnosis, %s: top factor right" % name, round(count.accuracy, 4), "of them",
                how, at_least=WANTED)
    results.add("diagnosis, %s: VMs with a loss below 2 %%" % name, count.little, "", how,
                at_least=1)
    results.add("diagnosis, %s: nothing wrong said" % name, round(count.silence, 4), "of them",
                how, at_least=WANTED)
    return count


def score_trouble(results, name, rows, troubled, undisturbed, how):
    """The truth is that of the undisturbed run: the same VMs, in the same order."""
    truth = {(row["seed"], i): (vm["truth"], vm["true"])
             for row in rows for i, vm in enumerate(row["vms"])}
    count = Count()
    for row in troubled:
        for i, vm in enumerate(row["vms"]):
            count.add(vm, *truth[row["seed"], i])
    count.print("The set %s with counters taken and readings lost" % name)
    results.add("diagnosis, %s, counters taken, readings lost: top factor right" % name,
                round(count.accuracy, 4), "of them", how,
                at_least=round(undisturbed.accuracy - 0.10, 4))
    results.add("diagnosis, %s, counters taken, readings lost: nothing wrong said" % name,
                round(count.silence, 4), "of them", how,
                at_least=round(undisturbed.silence - 0.10, 4))
    results.add("diagnosis, %s, counters taken, readings lost: mean bound shown" % name,
                round(count.error / undisturbed.error, 4), "of the undisturbed", how,
                at_least=1.001)


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def near(pairs):
    """Share of (predicted, measured) gains that are within NEAR of each other."""
    return round(mean(abs(m - p) <= NEAR for p, m in pairs), 4)


def score_advice(results, name, advice, bold, how):
    """@bold: of hosts that the bold are advised more, by their seeds."""
    made = [a for a in advice if a["moves"]]
    searched = [a for a in advice if "best" in a]
    pairs = [(a["predicted"], a["measured"]) for a in made]
    vms = [(predicted, measured) for a in made for predicted, _, measured in a["vms"]]

    def add(what, value, unit="", **bounds):
        results.add("advice, %s: %s" % (name, what), value, unit, how, **bounds)

    def add_mean(what, gains):
        add(what, round(mean(gains), 4), "of %d" % len(searched))

    add("hosts", len(advice))
    add("hosts to which moves are advised", len(made), at_least=1)
    if made:
        add("hosts' gains within 10 points of the predicted", near(pairs),
            "of %d" % len(pairs), at_least=WANTED)
        made_boldly = [bold.get(a["seed"], a) for a in advice if a["moves"] or a["bolder"]]
        add("hosts' gains within 10 points of the predicted, with the bolder advice",
            near((a["predicted"], a["measured"]) for a in made_boldly),
            "of %d" % len(made_boldly))
        add("VMs' gains within 10 points of the predicted", near(vms), "of %d" % len(vms))
        add("worst of the hosts' gains", round(min(m for _, m in pairs), 4),
            at_least=-MOST_LOSS)
        add("worst of the VMs' gains", round(min(m for _, m in vms), 4))
        add("mean gain where moves are advised", round(mean(m for _, m in pairs), 4),
            "of %d" % len(made))
    if searched:
        add_mean("mean gain of the advice", (a.get("measured", 0) for a in searched))
        bolder = [bold.get(a["seed"], a).get("measured", 0) for a in searched]
        add_mean("mean gain of the bolder advice, where there is one", bolder)
        for policy in "xen", "linux":
            add_mean("mean gain of the policy of %s" % policy,
                     (a[policy] for a in searched))
        add_mean("mean gain of the best found, by whatever",
                 (max(a["best"], a["xen"], a["linux"], a.get("measured", 0), b)
                  for a, b in zip(searched, bolder)))


def score_bold(results, name, bold, how):
    """Of gains that are sure, but known badly."""
    def add(what, value, **bounds):
        results.add("bolder advice, %s: %s" % (name, what), value, "of %d" % len(bold), how,
                    **bounds)

    if bold:
        add("hosts' gains no less than their bound reaches down to",
            round(mean(b["measured"] >= b["predicted"] - b["predicted_error"]
                       for b in bold), 4))
        add("worst of the hosts' gains", round(min(b["measured"] for b in bold), 4),
            at_least=-MOST_LOSS)
        add("mean gain", round(mean(b["measured"] for b in bold), 4))


def diagnosis_of(pool, options, results, name, seeds):
    first, last = seeds
    if options.some:
        last = first + (last + 1 - first) // SOME - 1
    how = "tests/sim/score.py, seeds %d to %d" % (first, last)
    rows = run_all(pool, options.program, (first, last), [])
    count = score_diagnosis(results, name, rows, how)
    troubled = run_all(pool, options.program, (first, last), ["trouble"])
    score_trouble(results, name, rows, troubled, count, how)


def advice_of(pool, options, results, name, seeds):
    first, last = seeds
    words = ["advice"]
    if options.some:
        some = [seed for seed in SOME_ADVICE if first <= seed <= last]
        if not some:
            return
        how = "tests/sim/score.py, seeds " + ", ".join(map(str, some))
        rows = run_each(pool, options.program, some, words)
    else:
        how = "tests/sim/score.py, %sseeds %d to %d" % (
            "" if options.long else "one in %d of the " % ADVICE, first, last)
        search = ["search", str(LONG_SEARCH if options.long else SEARCH)]
        seeds = range(first, last + 1)
        rows = run_each(pool, options.program, seeds[::ADVICE], words + search)
        if options.long:
            others = [seed for seed in seeds if seed not in seeds[::ADVICE]]
            rows += run_each(pool, options.program, others, words)
    bold = [row["seed"] for row in rows if row["bolder"]]
    bold = run_each(pool, options.program, bold, ["advice", "bold"])
    score_advice(results, name, rows, {row["seed"]: row for row in bold}, how)
    score_bold(results, name, bold, how)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--some", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("what", nargs="?", choices=["diagnosis", "advice"])
    options = parser.parse_args()
    sets = SETS
    if options.set:
        sets = {name: tuple(int(n) for n in seeds.split("-"))
                for name, seeds in (s.split("=") for s in options.set)}
    results = Results("sim-advice" if options.what == "advice" else "sim-score", TOP)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, seeds in sets.items():
            if options.what != "advice":
                diagnosis_of(pool, options, results, name, seeds)
            if options.what != "diagnosis":
                advice_of(pool, options, results, name, seeds)
    print()
    results.print()
    results.write()
    sys.exit(0 if results.ok else 1)


if __name__ == "__main__":
    main()
