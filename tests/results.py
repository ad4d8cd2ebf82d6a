# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures that an issue asks for: written by the run that measured them.

build/results/<target>.json is a list of {name, value, unit, bound, ok, how};
the same is printed as a table. A figure that was not measured is absent.
"""
import json
import os


class Results:
    def __init__(self, target, top):
        self.target = target
        self.path = os.path.join(top, "build", "results", target + ".json")
        self.rows = []

    def add(self, name, value, unit, how, at_least=None, at_most=None, equals=None):
        """One figure with at most one bound; returns whether it holds."""
        ok, bound = True, None
        if at_least is not None:
            ok, bound = value >= at_least, ">= %s" % at_least
        elif at_most is not None:
            ok, bound = value <= at_most, "<= %s" % at_most
        elif equals is not None:
            ok, bound = value == equals, "== %s" % equals
        self.rows.append({"name": name, "value": value, "unit": unit,
                          "bound": bound, "ok": ok, "how": how})
        return ok

    @property
    def ok(self):
        return all(row["ok"] for row in self.rows)

    def write(self):
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, "w") as f:
            json.dump(self.rows, f, indent=1)
            f.write("\n")

    def print(self):
        if not self.rows:
            return
        show = [(r["name"], "%.4g" % r["value"] if isinstance(r["value"], float)
                 else str(r["value"]), r["unit"], r["bound"] or "",
                 "ok" if r["ok"] else "NOT MET") for r in self.rows]
        width = [max(len(row[i]) for row in show) for i in range(5)]
        for name, value, unit, bound, ok in show:
            print("  %-*s  %*s %-*s  %-*s  %s" % (width[0], name, width[1], value,
                                                 width[2], unit, width[3], bound, ok))
