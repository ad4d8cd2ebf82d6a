#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Looks at every tracked source file: licence line, tabs, blanks, length.

usage: style.py [ROOT]         check; exit 1 with one line per fault
       style.py --self-test    show each fault and see it found
"""
import os
import subprocess
import sys

ROOMS = ('core/', 'src/', 'xen/')  # where a file is about one thing
SOURCES = ('.c', '.h', '.py', '.sh')
COLUMNS = 92
LINES = 500


def faults(name, text):
    code = name.endswith(('.c', '.h'))
    lines = text.split('\n')
    if not any('SPDX-License-Identifier: ' in line for line in lines[:3]):
        yield f'{name}:1: no SPDX-License-Identifier line'
    if text and lines[-1]:
        yield f'{name}:{len(lines)}: no newline at the end'
    if name.startswith(ROOMS) and len(lines) > LINES + 1:
        yield f'{name}: {len(lines) - 1} lines; a file is about one thing, under {LINES}'
    for number, line in enumerate(lines, 1):
        where = f'{name}:{number}'
        if line != line.rstrip():
            yield f'{where}: blanks at the end'
        if code and line.startswith('        '):
            yield f'{where}: indented by blanks, not tabs'
        width = len(line.expandtabs(8))
        if code and width > COLUMNS:
            yield f'{where}: {width} columns, at most {COLUMNS}'


def is_source(root, name):
    """By its name, or, without a suffix, by how it begins."""
    path = os.path.join(root, name)
    if not os.path.isfile(path):
        return False
    if '.' in os.path.basename(name):
        return name.endswith(SOURCES)
    with open(path, 'rb') as file:
        return file.read(2) == b'#!'


def tracked(root):
    """What git tracks; in an unpacked archive, everything in the folders of sources."""
    run = subprocess.run(['git', '-C', root, 'ls-files', '-z'], capture_output=True, text=True)
    if run.returncode == 0 and run.stdout:
        return [n for n in run.stdout.split('\0') if n]
    return [os.path.relpath(os.path.join(folder, file), root)
            for top in ('core', 'src', 'xen', 'tests', 'bench', 'testbed')
            for folder, _, files in os.walk(os.path.join(root, top)) for file in files]


def check(root):
    names = [n for n in tracked(root) if is_source(root, n)]
    found = []
    for name in names:
        found += faults(name, open(os.path.join(root, name), encoding='utf-8').read())
    print('\n'.join(found + [f'{len(names)} files, {len(found)} faults']))
    return 1 if found or not names else 0


def self_test():
    good = '/* SPDX-License-Identifier: GPL-2.0-or-later */\nint x;\n'
    cases = [(good, 0), ('int x;\n', 1), (good + 'int y; \n', 1), (good + 'int y;', 1),
             (good + ' ' * 8 + 'int y;\n', 1), (good + '\t' * 11 + 'int y;\n', 1),
             (good + '\n' * LINES, 1)]
    for text, expected in cases:
        if len(list(faults('src/a.c', text))) != expected:
            sys.exit(f'self-test: expected {expected} faults in {text!r}')
    if list(faults('core/a.h', good + '\n' * LINES)) == []:
        sys.exit('self-test: expected core/ to be held to the length, too')
    print('self-test passed')


if sys.argv[1:] == ['--self-test']:
    self_test()
elif len(sys.argv) <= 2:
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
    sys.exit(check(sys.argv[1] if len(sys.argv) == 2 else here))
else:
    sys.exit(__doc__)
