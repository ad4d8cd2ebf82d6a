#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""numabench on this machine: what it says of what it provokes.

usage: numabench.py NUMABENCH
"""
import json
import subprocess
import sys

PROGRAM = sys.argv[1]
number = 0


def check(name, ok, why=""):
    global number
    number += 1
    print("%s %d - %s" % ("ok" if ok else "not ok", number, name))
    if not ok:
        print("# %s" % (why,))


def run(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def rows(*words):
    status, out, err = run("--json", *words)
    return status, [json.loads(line) for line in out.splitlines()], err


status, results, err = rows("--seconds", "0.1")
names = [r["benchmark"] for r in results]
check("every benchmark has its row", names == [
    "local", "remote", "llc", "sharing", "memory", "trackers", "remote+llc", "llc+memory",
    "sharing+memory", "remote+sharing", "remote+memory", "llc+sharing",
    "llc+trackers"], names)
check("one that cannot run here says why, the others have times", all(
    (r["calm_ns"] is None) == (r["reason"] is not None) for r in results), results)
check("what did not happen or cannot is told by the status",
      status == (0 if all(r["held"] for r in results) else 3), (status, results))
check("held means that it was at least so many times slower", all(
    r["held"] == (r["slower"] is not None and r["slower"] >= r["at_least"])
    for r in results if r["provokes"]), results)
check("what provokes nothing held if it was neither slower nor faster", all(
    r["held"] == (r["slower"] is not None and 1 / 1.4 < r["slower"] < 1.4)
    for r in results if not r["provokes"]), results)

status, results, err = rows("--seconds", "0.3", "sharing")
if results[0]["reason"]:
    check("two threads cannot share on one CPU, in words",
          status == 3 and "needs more CPUs" in results[0]["reason"], results)
else:
    check("two threads that write the same lines are slower than one",
          results[0]["slower"] > 1.3, results)

status, out, err = run("nothing")
check("an unknown benchmark is refused by name", status == 2 and '"nothing"' in err, err)
status, out, err = run("--seconds", "0")
check("no time is refused", status == 2 and "0.01 to 3600" in err, err)
status, out, err = run("--llc", "12X", "local")
check("what is no size is refused", status == 2 and "12X" in err, err)
status, out, err = run("--help")
check("help has an example", status == 0 and "example: numabench" in out, out)
print("1..%d" % number)
