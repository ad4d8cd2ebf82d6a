#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""xen/graft on small trees made from its own table of hooks.

usage: graft.py [XEN_TREE…]   also on copies of these: Xen's source. Without any, on those
                             that the bed has fetched (testbed/source).
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), '..', '..'))


def places(which):
    """The hooks' places: those of 4.17 are each row's first, those of 4.20 its last."""
    rows, at = [], []
    for line in open(os.path.join(TOP, 'xen/hooks')):
        key, _, value = line.strip().partition(' = ')
        if line.startswith('['):
            at = []
            rows.append(at)
        elif key == 'at':
            at.append(value.split(' : ', 3))
    return [row[which] for row in rows]


def make_tree(root, which):
    """Each anchor once in its scope, and once more outside, where it must not be found."""
    bodies = {}
    for path, scope, _, anchor in places(which):
        anchors = bodies.setdefault(path, {}).setdefault(scope, [])
        if anchor not in anchors:  # two hooks may share one
            anchors.append(anchor)
    for path, scopes in bodies.items():
        os.makedirs(os.path.dirname(f'{root}/{path}'), exist_ok=True)
        with open(f'{root}/{path}', 'w') as file:
            file.write('/* first line */\n')
            for scope, anchors in scopes.items():
                inside = ''.join(f'    {a} more;\n' for a in anchors)
                if scope == '-':
                    file.write(inside)
                    continue
                file.write(f'int {scope}(int declared);\n')
                file.write(f'static int {scope}(int a,\n    int b)\n{{\n{inside}}}\n\n')
                file.write('void other(void)\n{\n' + inside + '}\n')
    return root


def snapshot(root):
    return {os.path.relpath(os.path.join(folder, name), root):
            open(os.path.join(folder, name), 'rb').read()
            for folder, _, files in os.walk(root) for name in files}


def run(tool, *words):
    done = subprocess.run([tool, *words], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def expect(what, truth):
    if not truth:
        sys.exit(f'failed: {what}')


def edit(path, old, new):
    text = open(path).read()
    expect(f'{old!r} is in {path}', old in text)
    open(path, 'w').write(text.replace(old, new))


def comes_and_goes(tool, tree):
    before = snapshot(tree)
    expect('--check finds all', run(tool, '--check', tree)[0] == 0)
    expect('--check writes nothing', snapshot(tree) == before)
    expect('it grafts', run(tool, tree)[0] == 0)
    once = snapshot(tree)
    for path, text in before.items():
        kept = b''.join(line for line in once[path].splitlines(keepends=True)
                        if b'vmmprof graft' not in line)
        expect(f'{path} only gains marked lines', kept == text)
    expect('the core is there', b'vpmu' in once['xen/arch/arm/vpmu/core/vpmu.h'])
    expect('twice is like once', run(tool, tree)[0] == 0 and snapshot(tree) == once)
    open(f'{tree}/xen/arch/arm/vpmu/built.o', 'w').close()
    expect('--undo works', run(tool, '--undo', tree)[0] == 0)
    expect('--undo restores every byte', snapshot(tree) == before)
    expect('no --undo without a graft', run(tool, '--undo', tree)[0] != 0)


def hook_lines(tree, path):
    return [line for line in open(f'{tree}/{path}') if 'vmmprof graft' in line]


def refuses_what_it_cannot_place(tool, root):
    tree = make_tree(f'{root}/missing', 0)
    edit(f'{tree}/xen/arch/arm/vpsci.c', 'domain_lock(d);', 'domain_look(d);')
    edit(f'{tree}/xen/arch/arm/traps.c', 'enter_hypervisor_from_guest', 'enter_elsewhere')
    edit(f'{tree}/xen/arch/arm/setup.c', 'vpmu_is_available', 'x;\n    vpmu_is_available')
    text = open(f'{tree}/xen/arch/arm/setup.c').read()
    open(f'{tree}/xen/arch/arm/setup.c', 'a').write(text)
    before = snapshot(tree)
    for words in ((tree,), ('--check', tree)):
        status, output = run(tool, *words)
        expect('it refuses', status != 0)
        for name in ('[psci-on]', '[interrupt-line]', '[available]', '2 places'):
            expect(f'it names {name}', name in output)
        expect('it names no other', '[trap-sysreg]' not in output)
        expect('it writes nothing', snapshot(tree) == before)


def refuses_files_of_others(tool, root):
    tree = make_tree(f'{root}/foreign', 0)
    os.makedirs(f'{tree}/xen/arch/arm/vpmu')
    open(f'{tree}/xen/arch/arm/vpmu/init.c', 'w').write('theirs\n')
    before = snapshot(tree)
    status, output = run(tool, tree)
    expect('it keeps off', status != 0 and 'vpmu/init.c' in output and snapshot(tree) == before)
    expect('not any folder will do', 'no Xen source' in run(tool, f'{root}')[1])


def follows_the_repository(root):
    """A changed, a new and a removed file of core/, and hooks that moved."""
    for part in ('core', 'xen', 'tools'):
        shutil.copytree(f'{TOP}/{part}', f'{root}/house/{part}')
    tool, tree = f'{root}/house/xen/graft', make_tree(f'{root}/follows', 0)
    before = snapshot(tree)
    run(tool, tree)
    edit(f'{root}/house/core/vpmu.h', 'CORE_VPMU_H', 'CORE_VPMU_2_H')
    open(f'{root}/house/core/new.c', 'w').write('int new;\n')
    os.unlink(f'{root}/house/core/offset.c')
    edit(f'{root}/house/xen/hooks', '[psci-on]', '[psci-on-2]')
    edit(f'{root}/house/xen/hooks', 'vpmu_hook_line(', 'vpmu_hook_lines(')
    text = open(f'{root}/house/xen/hooks').read()
    head, _, tail = text.partition('[psci-on-2]')
    open(f'{root}/house/xen/hooks', 'w').write(head + tail[tail.index('\n['):])
    expect('it grafts again', run(tool, tree)[0] == 0)
    now = snapshot(tree)
    expect('a changed file is brought', b'CORE_VPMU_2_H' in now['xen/arch/arm/vpmu/core/vpmu.h'])
    expect('a new file is brought', 'xen/arch/arm/vpmu/core/new.c' in now)
    expect('a removed file goes', 'xen/arch/arm/vpmu/core/offset.c' not in now)
    expect('a changed hook is changed',
           'vpmu_hook_lines' in ''.join(hook_lines(tree, 'xen/arch/arm/traps.c')))
    expect('a removed hook goes', not hook_lines(tree, 'xen/arch/arm/vpsci.c'))
    expect('--undo restores', run(tool, '--undo', tree)[0] == 0 and snapshot(tree) == before)


def copy_hooked(source, root):
    """Of that source, the files that hooks may be in."""
    for which in (0, -1):
        for path, _, _, _ in places(which):
            if os.path.exists(f'{source}/{path}'):
                os.makedirs(os.path.dirname(f'{root}/{path}'), exist_ok=True)
                shutil.copyfile(f'{source}/{path}', f'{root}/{path}')
    return root


def fetched():
    cache = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    cache = os.environ.get('VMMPROF_CACHE') or f'{cache}/vmmprof'
    return [path for path in glob.glob(f'{cache}/xen/source/*') if os.path.isdir(f'{path}/xen')]


def main():
    tool = f'{TOP}/xen/graft'
    with tempfile.TemporaryDirectory() as root:
        for which, name in ((0, '4.17'), (-1, '4.20')):
            comes_and_goes(tool, make_tree(f'{root}/{name}', which))
        refuses_what_it_cannot_place(tool, root)
        refuses_files_of_others(tool, root)
        follows_the_repository(root)
        for source in sys.argv[1:] or fetched():
            comes_and_goes(tool, copy_hooked(source, f'{root}/xen'))
            shutil.rmtree(f'{root}/xen')
            print(f'passed: {source}')
    print('passed: trees made from the table of hooks')


main()
