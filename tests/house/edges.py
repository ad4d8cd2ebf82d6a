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
from concurrent.futures import ThreadPoolExecutor

FREESTANDING = 'freestanding'
COMPILERS = ('stdint.h', 'stdint-gcc.h', 'stddef.h', 'stdbool.h')  # as gcc and clang have them

def read_edges(path):
    """{room: (rooms and headers, libraries)} in the file's order; exits on a bad line."""
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
            if not w.endswith('.h') or room_of(w, rooms) is None:
                sys.exit(f'{path}:{number}: {w} is no room above {room}, nor a header of one')
        rooms[room] = (down, {w.strip('<>') for w in words if w.startswith('<')})
    return rooms


def includes(entry, freestanding):
    """The path of every file that the compiler opened for this source file."""
    args = shlex.split(entry['command'])
    keep = [a for a in args if re.match(r'-[IDU]|-isystem|-std', a)]
    if freestanding:
        keep.append('-ffreestanding')
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


def strays(root, rooms, seen):
    """Source files in no room, or not in the build."""
    for top in 'core', 'src':
        for folder, _, files in os.walk(os.path.join(root, top)):
            for file in files:
                name = os.path.relpath(os.path.join(folder, file), root)
                if room_of(name, rooms) is None and file.endswith(('.c', '.h')):
                    yield f'{name}: in no room of house.edges'
                elif file.endswith('.c') and name not in seen:
                    yield f'{name}: not in the build'


def outside(name, path, mine, libraries):
    """What is wrong with a header that is not of this tree, or None."""
    if FREESTANDING in mine:
        if os.path.basename(path) not in COMPILERS or '/usr/include/' in path:
            return f'{name}: is freestanding, and may not use {path}'
        return None
    library = library_of(path, libraries)
    if library and library not in mine:
        return f'{name}: may not use <{library}>'
    return None


def file_problems(root, rooms, name, entry):
    """What one source file includes and may not."""
    room = room_of(name, rooms)
    down, mine = rooms[room]
    libraries = set().union(*(libs for _, libs in rooms.values()))
    problems = set()
    for path in includes(entry, FREESTANDING in mine):
        header = os.path.relpath(path, root)
        if header.startswith('..'):
            problems.add(outside(name, path, mine, libraries))
            continue
        other = room_of(header, rooms)
        if other != room and not {other, header} & down and header != name:
            problems.add(f'{name}: {room} may not include {header}')
    return problems


def check(build, root):
    rooms = read_edges(os.path.join(root, 'house.edges'))
    root = os.path.realpath(root)
    entries = {}
    for entry in json.load(open(os.path.join(build, 'compile_commands.json'))):
        source = os.path.realpath(os.path.join(entry['directory'], entry['file']))
        entries.setdefault(os.path.relpath(source, root), entry)
    seen = [name for name in entries if room_of(name, rooms) is not None]
    problems = set()
    with ThreadPoolExecutor() as pool:
        for found in pool.map(lambda name: file_problems(root, rooms, name, entries[name]), seen):
            problems.update(found)
    problems.update(strays(root, rooms, seen))
    problems.discard(None)
    for line in sorted(problems):
        print(line)
    print(f'{len(seen)} files, {len(rooms)} rooms, {len(problems)} problems')
    return 1 if problems or not seen else 0


def plant(top, include, core):
    """A core, base below model, a library, one include in base/a.c, one in core/c.c."""
    files = {
        'house/house.edges':
            'core: <freestanding>\nsim: core\nsrc/base: sim/open.h\n'
            'src/model: src/base <sqlite3.h>\n',
        'house/sim/open.h': '',
        'house/sim/truth.h': '',
        'house/sim/leak.h': '#include "sim/truth.h"\n',
        'house/core/c.h': '',
        'house/core/c.c': f'#include {core}\n',
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
    commands = [{'directory': f'{top}/house', 'file': f,
                 'command': f'cc -I. -Isrc -I{top}/usr -c {f}'}
                for f in ('core/c.c', 'src/base/a.c', 'src/model/m.c')]
    json.dump(commands, open(os.path.join(top, 'compile_commands.json'), 'w'))


def self_test():
    cases = [('"base/a.h"', '"c.h"', 0), ('<stdio.h>', '"c.h"', 0),
             ('"model/m.h"', '"c.h"', 1), ('<sqlite3.h>', '"c.h"', 1), ('<stdio.h>', '<stdint.h>', 0),
             ('"sim/open.h"', '"c.h"', 0), ('"sim/truth.h"', '"c.h"', 1), ('"sim/leak.h"', '"c.h"', 1),
             ('<stdio.h>', '<string.h>', 1), ('<stdio.h>', '"src/base/a.h"', 1)]
    for include, core, expected in cases:
        with tempfile.TemporaryDirectory() as top:
            plant(top, include, core)
            if check(top, os.path.join(top, 'house')) != expected:
                sys.exit(f'self-test: base includes {include}, core {core}: '
                         f'expected {expected}')
    print('self-test passed')


if sys.argv[1:] == ['--self-test']:
    self_test()
elif len(sys.argv) in (2, 3):
    here = os.path.join(os.path.dirname(__file__), '..', '..')
    sys.exit(check(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else here))
else:
    sys.exit(__doc__)
