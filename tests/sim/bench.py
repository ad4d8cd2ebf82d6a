#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every benchmark, on every preset of the built-in host: the factor it provokes is the one
that rises most. Prints the whole confusion matrix; figures go to build/results.

usage: bench.py VMMPROF [PRESET...]     (all of them)
"""
import concurrent.futures
import glob
import json
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests"))
from results import Results  # noqa: E402

VMMPROF = sys.argv[1]
FACTORS = ["locality", "llc", "sharing", "memory", "trackers"]
MACHINES = sys.argv[2:] or sorted(
    os.path.basename(path).rsplit(".", 1)[0]
    for path in glob.glob(os.path.join(TOP, "data/machines/*.machine")))


def run(*words):
    done = subprocess.run([VMMPROF, "bench", "--json", *words], capture_output=True, text=True)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


plan = {r["benchmark"]: [f for f in (r["provokes"], r["also"]) if f]
        for r in run("--list")[1]}
number = failed = 0


def check(name, ok, why=""):
    global number, failed
    number += 1
    failed += not ok
    print("%s %d - %s" % ("ok" if ok else "not ok", number, name))
    if not ok:
        print("# %s" % (why,))


def moved(row, factor):
    if row[factor] is None:
        return "-"
    return "%.1f ± %.1f %%" % (100 * row[factor], 100 * row[factor + "_error"])


results = Results("sim-bench", TOP)
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    runs = dict(zip(MACHINES, pool.map(lambda m: run("--machine", m), MACHINES)))
for machine in MACHINES:
    status, rows, err = runs[machine]
    rows = [r for r in rows if r["type"] == "bench"]
    print("# %s: rows are provoked, columns are how much the victim's loss rose" % machine)
    print("# %-16s" % "" + "".join("%15s" % f for f in FACTORS))
    for r in rows:
        print("# %-16s" % r["benchmark"] + "".join("%15s" % moved(r, f) for f in FACTORS))
    check("%s: every benchmark ran" % machine, [r["benchmark"] for r in rows] == list(plan),
          (status, err))
    for r in rows:
        wanted = plan[r["benchmark"]]
        check("%s: %s moves %s most" % (machine, r["benchmark"], " or ".join(wanted) or "nothing"),
              r["most"] in wanted if wanted else r["most"] is None, r)
        check("%s: %s: what it provokes rises by more than its bound" % (machine, r["benchmark"]),
              all(r[f] is not None and r[f] > r[f + "_error"] for f in wanted), r)
    named = sum(r["most"] in plan[r["benchmark"]] if plan[r["benchmark"]] else not r["most"]
                for r in rows)
    results.add("benchmarks named as provoked, %s" % machine, named, "of %d" % len(plan),
                "the factor whose loss rose most, calm to provoked", equals=len(plan))
print("1..%d" % number)
results.write()
sys.exit(1 if failed else 0)
