#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds the man pages against the program: a page per command, a line per option.

usage: manpages.py VMMPROF [ROOT]
"""
import os
import re
import subprocess
import sys


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def problems(vmmprof, man):
    listed = output(vmmprof, 'help').partition('commands:\n')[2]
    commands = re.findall(r'^  (\S+)', listed, re.M)
    if len(commands) < 2:
        yield 'vmmprof help lists no commands'
    main = open(os.path.join(man, 'vmmprof.1.scd')).read()
    built = open(os.path.join(man, 'meson.build')).read()
    for command in commands:
        if not re.search(rf'\*{command}\*|vmmprof-{command}\*?\(', main):
            yield f'man/vmmprof.1.scd: does not name the command {command}'
        if command == 'help':
            continue
        page = f'vmmprof-{command}.1'
        path = os.path.join(man, page + '.scd')
        if not os.path.exists(path):
            yield f'man/{page}.scd: missing; every command has a page'
            continue
        if f"'{page}'" not in built:
            yield f'man/{page}.scd: no row in man/meson.build'
        # scdoc escapes by a backslash: \_, \-
        text = open(path).read().replace('\\', '')
        for option in re.findall(r'^  (?:-\S,)? +--([a-z0-9-]+)',
                                 output(vmmprof, command, '--help'), re.M):
            if not re.search(rf'--{option}(?![a-z0-9-])', text):
                yield f'man/{page}.scd: does not tell about --{option}'


if len(sys.argv) not in (2, 3):
    sys.exit(__doc__)
root = sys.argv[2] if len(sys.argv) == 3 else os.path.join(os.path.dirname(__file__), '../..')
found = list(problems(sys.argv[1], os.path.join(root, 'man')))
print('\n'.join(found + [f'{len(found)} problems']))
sys.exit(1 if found else 0)
