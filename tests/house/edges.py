#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds house.edges against what the compiler says about every source file.

usage: edges.py BUILD [ROOT]   check; exit 1 with one line per forbidden include
       edges.py --self-test    plant a forbidden include and see it found
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile


def read_edges(path):
    """{room: (rooms, libraries)} in the file's order; exits on a malformed line."""
    rooms = {}
    for number, line in enumerate(open(path), 1):
        line = line.split('#')[0].strip()
        if not line:
            continue
        room, colon, words = line.partition(':')
        if not colon:
            sys.exit(f'{path}:{number}: expected "room: rooms <libraries>"')
        words = words.split()
        down = {w for w in words if not w.startswith('<')}
        for w in down - set(rooms):
            sys.exit(f'{path}:{number}: {w} is not a room above {room}')
        rooms[room] = (down, {w.strip('<>') for w in words if w.startswith('<')})
    return rooms


def includes(entry):
    """The path of every file that the compiler opened for this source file."""
    args = shlex.split(entry['command'])
    keep = [a for a in args if re.match(r'-[IDU]|-isystem|-std', a)]
    compiler = args[1] if args[0].endswith('ccache') else args[0]
    run = subprocess.run([compiler, *keep, '-M', entry['file']], cwd=entry['directory'],
                         capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    words = run.stdout.replace('\\\n', ' ').partition(':')[2].split()
    return [os.path.realpath(os.path.join(entry['directory'], w)) for w in words]


def room_of(path, rooms):
    return next((r for r in rooms if path.startswith(r + '/')), None)


def library_of(path, names):
    """The library header's name, if the path is one: the end of it, or a folder in it."""
    for name in names:
        if path.endswith('/' + name) or (name.endswith('/') and '/' + name in path):
            return name
    return None


def check(build, root):
    rooms = read_edges(os.path.join(root, 'house.edges'))
    libraries = set().union(*(libs for _, libs in rooms.values()))
    root = os.path.realpath(root)
    problems = set()
    seen = set()
    for entry in json.load(open(os.path.join(build, 'compile_commands.json'))):
        source = os.path.realpath(os.path.join(entry['directory'], entry['file']))
        name = os.path.relpath(source, root)
        room = room_of(name, rooms)
        if room is None or name in seen:
            continue
        seen.add(name)
        down, mine = rooms[room]
        for path in includes(entry):
            header = os.path.relpath(path, root)
            if not header.startswith('..'):
                other = room_of(header, rooms)
                if other != room and other not in down and path != source:
                    problems.add(f'{name}: {room} may not include {header}')
            else:
                library = library_of(path, libraries)
                if library and library not in mine:
                    problems.add(f'{name}: {room} may not use <{library}>')
    for folder, _, files in os.walk(os.path.join(root, 'src')):
        for file in files:
            name = os.path.relpath(os.path.join(folder, file), root)
            if room_of(name, rooms) is None and file.endswith(('.c', '.h')):
                problems.add(f'{name}: in no room of house.edges')
            elif file.endswith('.c') and name not in seen:
                problems.add(f'{name}: not in the build')
    for line in sorted(problems):
        print(line)
    print(f'{len(seen)} files, {len(rooms)} rooms, {len(problems)} problems')
    return 1 if problems or not seen else 0


def plant(top, include):
    """A house of two rooms, base below model, a library, one include in base/a.c."""
    files = {
        'house/house.edges': 'src/base:\nsrc/model: src/base <sqlite3.h>\n',
        'house/src/base/a.h': '',
        'house/src/base/a.c': f'#include {include}\n',
        'house/src/model/m.h': '#include "base/a.h"\n#include <sqlite3.h>\n',
        'house/src/model/m.c': '#include "model/m.h"\n',
        'usr/sqlite3.h': '',
    }
    for name, text in files.items():
        path = os.path.join(top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, 'w').write(text)
    commands = [{'directory': f'{top}/house', 'file': f'src/{f}',
                 'command': f'cc -Isrc -I{top}/usr -c src/{f}'}
                for f in ('base/a.c', 'model/m.c')]
    json.dump(commands, open(os.path.join(top, 'compile_commands.json'), 'w'))


def self_test():
    cases = [('"base/a.h"', 0), ('<stdio.h>', 0), ('"model/m.h"', 1), ('<sqlite3.h>', 1)]
    for include, expected in cases:
        with tempfile.TemporaryDirectory() as top:
            plant(top, include)
            if check(top, os.path.join(top, 'house')) != expected:
                sys.exit(f'self-test: base includes {include}: expected {expected}')
    print('self-test passed')


if sys.argv[1:] == ['--self-test']:
    self_test()
elif len(sys.argv) in (2, 3):
    here = os.path.join(os.path.dirname(__file__), '..', '..')
    sys.exit(check(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else here))
else:
    sys.exit(__doc__)
