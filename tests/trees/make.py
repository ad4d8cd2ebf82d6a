#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes recorded hosts, /proc and /sys, for tests.

usage: make.py DIR [NAME...]   DIR/NAME for each host of hosts.py, or those named
"""
import os
import shutil
import sys

import hosts


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    out, names = sys.argv[1], sys.argv[2:] or sorted(hosts.HOSTS)
    for name in names:
        root = os.path.join(out, name)
        shutil.rmtree(root, ignore_errors=True)
        hosts.HOSTS[name](root)
    with open(os.path.join(out, 'stamp'), 'w', encoding='ascii') as f:
        f.write('\n'.join(names) + '\n')


main()
