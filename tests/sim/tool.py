#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The tool on the built-in host, as a user would: diagnose, its picture, advise.

usage: tool.py VMMPROF
"""
import json
import os
import subprocess
import sys
import tempfile
import xml.dom.minidom

VMMPROF = sys.argv[1]
failed = 0


def run(*words, env=None):
    done = subprocess.run([VMMPROF, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env=env)
    return done.returncode, done.stdout, done.stderr


def rows(text, kind):
    return [row for row in map(json.loads, text.splitlines()) if row["type"] == kind]


def check(what, ok, why=""):
    global failed
    failed += not ok
    print("%s %s%s" % ("ok" if ok else "not ok", what, "" if ok else ": %s" % why), flush=True)


def the_victim_of_each_scenario_is_told_what_holds_it_back():
    for scenario, factor in (("remote", "locality"), ("llc", "llc"), ("sharing", "sharing"),
                             ("memory", "memory"), ("trackers", "trackers")):
        status, out, err = run("diagnose", "--source", "sim:" + scenario, "-n", "2", "-w",
                               "0.01", "--json")
        first = rows(out, "diagnosis")[:1]
        check("scenario %s: the worst VM suffers from %s" % (scenario, factor),
              first and first[0]["factor"] == factor, first or err)


def a_quiet_host_has_nothing_wrong():
    _, out, _ = run("diagnose", "--source", "sim:quiet", "-n", "2", "-w", "0.01", "--json")
    said = [row["verdict"] for row in rows(out, "diagnosis")]
    check("quiet: nothing is wrong", said and set(said) == {"nothing wrong"}, said)


def the_picture_is_one():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bars.svg")
        status, out, err = run("diagnose", "--source", "sim:remote", "-n", "1", "-w", "0.005",
                               "--svg", path)
        check("diagnose ends well", status in (0, 3), err)
        check("text begins with the host that is simulated", out.startswith("Simulated host:"),
              out[:80])
        bars = xml.dom.minidom.parse(path).getElementsByTagName("rect")
        check("the picture has bars and a legend", len(bars) > 8, len(bars))


def what_was_applied_is_measured_and_undone():
    status, out, err = run("advise", "--source", "sim:remote", "-n", "2", "-w", "0.01",
                           "--apply", "--undo", "--json")
    check("advise ends well", status in (0, 3), err)
    moves = rows(out, "move")
    check("moves are told with their command", moves and all(m["command"] for m in moves), moves)
    check("there and back", {m["way"] for m in moves} == {"there", "back"}, moves)
    after = {row["vm"]: row for row in rows(out, "outcome") if row["after"] == "apply"}
    back = {row["vm"]: row for row in rows(out, "outcome") if row["after"] == "undo"}
    best = max(after.values(), key=lambda row: row["predicted"] or 0)
    check("who gains most gains what was predicted, within 10 points",
          best["measured"] > 0.05 and abs(best["measured"] - best["predicted"]) < 0.10, best)
    again = back[best["vm"]]["measured"]
    check("after going back it is as slow as before", abs(again) < 0.05, again)


def the_built_in_host_cannot_be_gone_back_to_later():
    status, _, err = run("advise", "--source", "sim:remote", "--undo")
    check("--undo alone is refused in words", status == 1 and "--apply --undo" in err, err)


def nobody_is_diagnosed_who_is_not_there():
    status, _, err = run("diagnose", "--source", "sim:quiet", "-n", "1", "-w", "0.001", "--vm",
                         "nobody")
    check("a VM that is not there is an error", status == 1 and "nobody" in err, err)


the_victim_of_each_scenario_is_told_what_holds_it_back()
a_quiet_host_has_nothing_wrong()
the_picture_is_one()
what_was_applied_is_measured_and_undone()
the_built_in_host_cannot_be_gone_back_to_later()
nobody_is_diagnosed_who_is_not_there()
sys.exit(1 if failed else 0)
