#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Scores the diagnosis and the advice on generated scenarios of the built-in host.

usage: score.py SCORE [--some | --long] [--set NAME=FIRST-LAST]... [--jobs N]

SCORE is the program that tells of each scenario what the tool says and what is so.
Figures go to build/results/sim-score.json. Seeds are fixed: those of the first set were
looked at while the diagnosis was made, those of the second were not. --some takes the
first third of each set, and no advice; --long makes the advised moves for all, and searches
for the best placement.
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
SOME = 3                   # so many times fewer scenarios
ADVICE = 5                 # advice is made and measured for so many times fewer, …
SEARCH, LONG_SEARCH = 8, 256  # … and so many other placements are tried beside it


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
    results.add("diagnosis, %s: mean bound shown" % name, round(undisturbed.error, 5), "", how)
    results.add("diagnosis, %s, counters taken, readings lost: mean bound shown" % name,
                round(count.error, 5), "", how, at_least=round(undisturbed.error, 5))


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def saved(gain):
    """A gain of speed as the share of its time that the same work saves: a loss undone."""
    return 1 - 1 / (1 + gain)


def near(pairs):
    """Share of (predicted, measured) that are within NEAR, of time and of speed."""
    return (mean(abs(saved(m) - saved(p)) <= NEAR for p, m in pairs),
            mean(abs(m - p) <= NEAR for p, m in pairs))


def score_advice(results, name, rows, how):
    advice = [row["advice"] for row in rows if "advice" in row]
    made = [a for a in advice if a["moves"]]
    gains = [gain for a in made for gain in a["gains"]]
    results.add("advice, %s: scenarios" % name, len(advice), "", how)
    results.add("advice, %s: moves advised" % name, len(made), "of them", how, at_least=1)
    if not made:
        return
    for whose, pairs in (("hosts'", [(a["predicted"], a["measured"]) for a in made]),
                         ("VMs'", [(p, m) for p, _, m in gains])):
        of_time, of_speed = near(pairs)
        results.add("advice, %s: %s gain of time within 10 points of the predicted"
                    % (name, whose), round(of_time, 4), "of %d" % len(pairs), how,
                    at_least=WANTED)
        results.add("advice, %s: %s gain of speed within 10 points" % (name, whose),
                    round(of_speed, 4), "of %d" % len(pairs), how)
    results.add("advice, %s: worst of the hosts' gains" % name,
                round(min(a["gained"] for a in made), 4), "", how, at_least=-MOST_LOSS)
    results.add("advice, %s: mean gain" % name,
                round(mean(a.get("gained", 0) for a in advice), 4), "", how)
    for policy in "xen", "linux":
        results.add("advice, %s: mean gain of the policy of %s" % (name, policy),
                    round(mean(a[policy] for a in advice), 4), "", how)
    searched = [a for a in advice if "best" in a]
    if searched:
        results.add("advice, %s: mean gain where the best was searched" % name,
                    round(mean(a.get("gained", 0) for a in searched), 4), "", how)
        results.add("advice, %s: mean gain of the best found, by whatever" % name,
                    round(mean(max(a["best"], a["xen"], a["linux"], a.get("gained", 0))
                               for a in searched), 4),
                    "of %d" % len(searched), how)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--some", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    sets = SETS
    if options.set:
        sets = {name: tuple(int(n) for n in seeds.split("-"))
                for name, seeds in (s.split("=") for s in options.set)}
    results = Results("sim-score", TOP)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, seeds in sets.items():
            if options.some:
                seeds = (seeds[0], seeds[0] + (seeds[1] + 1 - seeds[0]) // SOME - 1)
            how = "tests/sim/score.py, seeds %d to %d" % seeds
            parts = 1 if options.long else ADVICE
            few = (seeds[0], seeds[0] + max(1, (seeds[1] + 1 - seeds[0]) // parts) - 1)
            if options.some:
                rows = run_all(pool, options.program, seeds, [])
            else:
                words = ["advice", "search", str(LONG_SEARCH if options.long else SEARCH)]
                rows = run_all(pool, options.program, few, words)
                rows += run_all(pool, options.program, (few[1] + 1, seeds[1]), [])
            count = score_diagnosis(results, name, rows, how)
            troubled = run_all(pool, options.program, seeds, ["trouble"])
            score_trouble(results, name, rows, troubled, count, how)
            if not options.some:
                score_advice(results, name, rows, how)
    print()
    results.print()
    results.write()
    sys.exit(0 if results.ok else 1)


if __name__ == "__main__":
    main()
