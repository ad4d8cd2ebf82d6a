#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Types in every example of the help and of the man pages, on recorded hosts: each
must be a command line that the program understands: what it does not, it says at once,
so that nobody waits for the end of what takes long.

usage: examples.py VMMPROF TREES MAKE_RECORDINGS
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

VMMPROF, TREES, MAKER = map(os.path.abspath, sys.argv[1:4])
MAN = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../man')
HOSTS = 'check-server', 'pmu-x86', 'pmu-arm'
MISUSED = 2
PATIENCE = 5  # seconds


def output(*words):
    return subprocess.run([VMMPROF, *words], capture_output=True, text=True,
                          check=True).stdout


def examples():
    """(where it stands, its line)"""
    commands = re.findall(r'^  (\S+)', output('help').partition('commands:\n')[2], re.M)
    for command in commands:
        for line in output('help', command).partition('\nexamples:\n')[2].splitlines():
            yield f'vmmprof help {command}', line.strip()
    for page in sorted(os.listdir(MAN)):
        if not page.endswith('.scd'):
            continue
        text = open(os.path.join(MAN, page), encoding='utf-8').read()
        section = re.search(r'^# EXAMPLES\n(.*?)(?=^# |\Z)', text, re.M | re.S)
        literal = False
        for line in section[1].splitlines() if section else ():
            literal ^= line == '```'
            if line.startswith('\t') or literal and line != '```':
                line = line.strip().removesuffix('++')
                # the events' page shows what follows -e
                yield page, line if 'vmmprof' in line else f'vmmprof stat -e {line}'


def words_of(line):
    """What vmmprof gets of a shell's line: up to a pipe, out of $( )."""
    inner = re.search(r'\$\((.*)\)', line)
    lexer = shlex.shlex(inner[1] if inner else line, posix=True, punctuation_chars='|>')
    lexer.whitespace_split = True
    words = []
    for word in lexer:
        if word in ('|', '>'):
            break
        words.append(word)
    return words


def run(words, top):
    """The exit status, of the first host that understands it."""
    status = MISUSED
    for host in HOSTS:
        more = ['--root', os.path.join(TREES, host)] \
            if words[1] in ('check', 'list', 'record', 'stat') else []
        try:
            done = subprocess.run([VMMPROF, words[1], *more, *words[2:]], cwd=top,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return 0, ''
        status = done.returncode
        if status in (0, 1, 3):
            break
    return status, done.stderr


def main():
    found = failed = 0
    with tempfile.TemporaryDirectory() as top:
        for name in 'vmmprof.data', 'my.recording':
            subprocess.run([MAKER, 'two-vms', os.path.join(top, name)], check=True)
        for where, line in examples():
            words = words_of(line)
            assert words and words[0] == 'vmmprof', (where, line)
            for file in re.findall(r'--symbols \S+?=(\S+)', ' '.join(words)):
                with open(os.path.join(top, file), 'w', encoding='utf-8') as f:
                    f.write('ffffffff81000000 T _text\n')
            status, complaint = run(words, top)
            found += 1
            wanted = (0,) if words[1] in ('help', 'completion', 'report') else (0, 1, 3)
            if status not in wanted:
                failed += 1
                print(f'{where}: {line}\n  status {status}: {complaint}')
    print(f'{found} examples, {failed} of them wrong')
    return failed or found < 25


sys.exit(main())
