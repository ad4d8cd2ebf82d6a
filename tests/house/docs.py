#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds README and CONTRIBUTING against the tree: paths, commands, make's targets.

usage: docs.py VMMPROF [ROOT]
"""
import os
import re
import subprocess
import sys

PAGES = ('README.md', 'CONTRIBUTING.md')
ROOMS = 'src|tests|tools|man|bench|testbed|docs|cli'


def problems(vmmprof, root):
    listed = subprocess.run([vmmprof, 'help'], capture_output=True, text=True, check=True)
    commands = re.findall(r'^  (\S+)', listed.stdout.partition('commands:\n')[2], re.M)
    targets = re.findall(r'^([a-z-]+):', open(os.path.join(root, 'Makefile')).read(), re.M)
    for page in PAGES:
        text = open(os.path.join(root, page)).read()
        for path in re.findall(rf'`((?:{ROOMS})/[^`\s]*)`', text):
            place = 'src/' + path if path.startswith('cli/') else path
            if 'NAME' not in path and not os.path.exists(os.path.join(root, place)):
                yield f'{page}: {path} is not in the tree'
        for command in re.findall(r'^(?:sudo )?vmmprof ([a-z]+)', text, re.M):
            if command not in commands:
                yield f'{page}: vmmprof has no command {command}'
        for target in re.findall(r'(?:^|`|&& |sudo )make ([a-z-]+)', text, re.M):
            if target not in targets:
                yield f'{page}: the Makefile has no target {target}'


if len(sys.argv) not in (2, 3):
    sys.exit(__doc__)
found = list(problems(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else
                      os.path.join(os.path.dirname(__file__), '../..')))
print('\n'.join(found + [f'{len(found)} problems']))
sys.exit(1 if found else 0)
