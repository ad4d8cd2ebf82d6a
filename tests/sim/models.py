#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds the metrics of stat -m on the built-in host against what its scenario says.

usage: models.py VMMPROF

The scenario "default": web's memory is on the other node; those of db, batch and cache
are on their own; only cache has its on node 0.
"""
import json
import subprocess
import sys

failed = 0


def rows(vmmprof, models):
    words = [vmmprof, 'stat', '--source', 'sim', '-m', models, '--duration', '0.01', '--json']
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f'{" ".join(words)}: exit {done.returncode}: {done.stderr}')
    return [json.loads(line) for line in done.stdout.splitlines()]


def expect(what, ok):
    global failed
    print('ok' if ok else 'not ok', '-', what)
    failed += not ok


def main(vmmprof):
    found = rows(vmmprof, 'overview,locality')
    vm = {(r['vm'], r['metric']): r for r in found if r['type'] == 'metric_total'}
    node = {(r['node'], r['metric']): r for r in found if r['type'] == 'node_metric_total'}
    value = {key: r['value'] for key, r in {**vm, **node}.items()}

    expect('only web reads from another node, and that is bad',
           value['web', 'remote_share'] > 90 and vm['web', 'remote_share']['mark'] == 'bad'
           and value['db', 'remote_share'] < 5 and value['batch', 'remote_share'] < 5)
    expect('cache misses least and runs fastest',
           all(value['cache', 'llc_mpki'] < value[v, 'llc_mpki'] and
               value['cache', 'ipc'] > value[v, 'ipc'] for v in ('web', 'db', 'batch')))
    expect('others read of node 1, where the memory of web is',
           value[1, 'link'] > 10 * value[0, 'link'])
    expect('a number has a state that allows one, and no other has',
           all((r['value'] is not None) == (r['state'] in ('counted', 'scaled', 'suspect'))
               for r in {**vm, **node}.values()))
    expect('what has no value says why and for which input',
           all(r['reason'] and (r['input'] or r['state'] == 'undefined')
               for r in {**vm, **node}.values() if r['value'] is None))
    expect('a model\'s events are not shown besides',
           not any(r['type'] in ('total', 'node_total') for r in found))
    print(f'1..{6}')
    return 1 if failed else 0


if len(sys.argv) != 2:
    sys.exit(__doc__)
sys.exit(main(sys.argv[1]))
