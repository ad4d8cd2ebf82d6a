#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What report shows and what it leaves out is all that there is: in samples, in
periods and in shares, by whatever it is told and however little of it is shown.

usage: sums.py VMMPROF MAKE_RECORDINGS
"""
import json
import os
import re
import subprocess
import sys
import tempfile

VMMPROF, MAKER = sys.argv[1:3]
LIMITS = ([], ['--limit', '0'], ['--limit', '1'], ['--limit', '2'],
          ['--percent-limit', '11'], ['--limit', '2', '--percent-limit', '20'],
          ['--percent-limit', '101'])


def report(*words):
    return subprocess.run([VMMPROF, 'report', *words], capture_output=True, text=True,
                          env={**os.environ, 'LC_ALL': 'C'}).stdout


def number(text):
    return int(text.replace(',', ''))


def sections_of_json(*words):
    """[(the heading, its rows)]"""
    found = []
    for line in report(*words, '--json').splitlines():
        item = json.loads(line)
        if item['type'] == 'profile':
            found.append((item, []))
        else:
            found[-1][1].append(item)
    return found


def sections_of_text(*words):
    """[(samples of the heading, [(samples, share)] of its rows and of the rest)]"""
    found = []
    for line in report(*words).splitlines():
        heading = re.search(r' (?:every|at) .*, ([\d,]+) samples?, ', line)
        row = re.search(r'([\d.]+) % +([\d,]+) ', line)
        rest = re.match(r'[\d,]+ more rows?, ([\d,]+) samples?, ([\d.]+) %', line)
        if heading:
            found.append((number(heading[1]), []))
        elif rest:
            found[-1][1].append((number(rest[1]), float(rest[2])))
        elif row:
            found[-1][1].append((number(row[2]), float(row[1])))
    return found


def check(recording, by):
    what = [recording, '--by', by]
    whole = sections_of_json(*what, '--limit', '0')
    assert whole, what
    for heading, rows in whole:
        for key in 'samples', 'period':
            assert sum(row[key] for row in rows) == heading[key], (what, key, heading)
        assert not rows or abs(sum(row['share'] for row in rows) - 1) < 1e-9, what
    for limit in LIMITS:
        few = sections_of_json(*what, *limit)
        assert [heading for heading, _ in few] == [heading for heading, _ in whole]
        for (_, some), (_, every) in zip(few, whole):
            assert some == every[:len(some)], (what, limit)
        text = sections_of_text(*what, *limit)
        assert [total for total, _ in text] == [h['samples'] for h, _ in whole], text
        for total, parts in text:
            assert sum(part[0] for part in parts) == total, (what, limit, total, parts)
            off = abs(sum(part[1] for part in parts) - 100)
            assert not parts or off <= 0.005 * len(parts) + 1e-9, (what, limit, parts)


def main():
    with tempfile.TemporaryDirectory() as top:
        for name in 'two-vms', 'silent', 'killed', 'rates':
            recording = os.path.join(top, name)
            subprocess.run([MAKER, name, recording], check=True)
            for by in 'symbol', 'vcpu', 'time':
                check(recording, by)


main()
