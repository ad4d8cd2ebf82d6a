#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the commands that tests/golden/*.txt begin with and compares what comes out.

usage: run.py VMMPROF VMMPROF_ON_XEN TREES MAKE_RECORDINGS
       VMMPROF_REFRESH=1: write what came out instead

A case is one file: its first line is "$ vmmprof ...", the rest is what the
command printed (stderr after "--- stderr") and its exit status. A new case is a
file with its first line only, and a refresh. A word NAME.host stands for
TREES/NAME, one of the hosts of tests/trees; NAME.recording for a recording that
make_recordings.c makes. The command vmmprof@WHAT is vmmprof on the fake Xen that
on_xen.c makes of WHAT.
"""
import glob
import os
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def run(vmmprof, on_xen, trees, maker, command, top):
    """What the command prints, as a case file shows it."""
    program, *words = shlex.split(command)
    xen = program.partition('@')[2]
    for i, word in enumerate(words):
        if word.endswith('.recording'):
            words[i] = os.path.join(top, word)
            subprocess.run([maker, word[:-len('.recording')], words[i]], check=True)
        elif word.endswith('.host'):
            words[i] = os.path.join(top, word)
            os.symlink(os.path.join(trees, word[:-5]), words[i])
    done = subprocess.run([on_xen if xen else vmmprof, *words], cwd=HERE,
                          capture_output=True, text=True, errors='backslashreplace',
                          env={**os.environ, 'NO_COLOR': '1', 'VMMPROF_FAKE_XEN': xen,
                               'XDG_CONFIG_HOME': top})
    text = f'$ {command}\n{done.stdout}'
    if done.stderr:
        text += f'--- stderr\n{done.stderr}'
    return f'{text}--- exit {done.returncode}\n'.replace(top + '/', '')


def main(vmmprof, on_xen, trees, maker):
    failed = 0
    cases = sorted(glob.glob(os.path.join(HERE, '*.txt')))
    print(f'1..{len(cases)}')
    for number, case in enumerate(cases, 1):
        name = os.path.basename(case)[:-4]
        wanted = open(case, encoding='utf-8').read()
        with tempfile.TemporaryDirectory() as top:
            came = run(*map(os.path.abspath, (vmmprof, on_xen, trees, maker)), wanted.split('\n')[0][2:], top)
        if os.environ.get('VMMPROF_REFRESH'):
            open(case, 'w', encoding='utf-8').write(came)
            wanted = came
        print(('ok' if came == wanted else 'not ok'), number, name)
        if came != wanted:
            failed = 1
            print(f'# expected:\n{wanted}\n# came:\n{came}', file=sys.stderr)
    return failed or not cases


if len(sys.argv) != 5:
    sys.exit(__doc__)
sys.exit(main(*sys.argv[1:]))
