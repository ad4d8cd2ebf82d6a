#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes recorded hosts, /proc and /sys, for tests.

usage: make.py DIR [NAME...]   DIR/NAME for each host of hosts.py and each NAME.tree, or
those named
"""
import glob
import os
import shutil
import sys

import hosts
import tree

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    trees = {os.path.basename(path)[:-len('.tree')]: path
             for path in glob.glob(os.path.join(HERE, '*.tree'))}
    out, names = sys.argv[1], sys.argv[2:] or sorted([*hosts.HOSTS, *trees])
    for name in names:
        root = os.path.join(out, name)
        shutil.rmtree(root, ignore_errors=True)
        if name in trees:
            tree.plant(trees[name], root)
        else:
            hosts.HOSTS[name](root)
    with open(os.path.join(out, 'stamp'), 'w', encoding='ascii') as f:
        f.write('\n'.join(names) + '\n')


main()
