# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts files and hooks into the source tree of another program, and takes them out again.

The hooks are a table, one line of that program's source each. Nothing is written unless
every hook has exactly one place. xen/graft and testbed/x86/graft are its users.
"""
import os
import re
import shutil
import sys

MARK = 'vmmprof graft'


class Graft:
    """What is put where.

    @here is the folder of the table `hooks` and of what @copies names: rows of (folder,
    suffixes of file names, folder in the tree). @home is a folder of the tree that is
    ours alone; @known_by is a file that such a tree has, @name what is said of it.
    """

    def __init__(self, here, copies, home, known_by, name):
        self.here, self.copies, self.home = here, copies, home
        self.known_by, self.name = known_by, name
        self.hooks = os.path.join(here, 'hooks')
        self.record = home + '/.graft'  # what was put where: "copied PATH" or "hooked PATH"


class Refused(Exception):
    pass


def read(path):
    try:
        with open(path, encoding='utf-8', newline='') as file:
            return file.read()
    except FileNotFoundError:
        return None


def read_hooks(path):
    """[{name, why, insert, at: [(file, scope, where, anchor)]}] in the table's order."""
    hooks = []
    for number, line in enumerate(read(path).splitlines(), 1):
        line = line.strip()
        key, equals, value = (part.strip() for part in line.partition('='))
        if not line or line.startswith('#'):
            continue
        if re.fullmatch(r'\[[\w-]+\]', line):
            hooks.append({'name': line[1:-1], 'at': []})
        elif not hooks or not equals or key not in ('why', 'insert', 'at'):
            raise Refused(f'{path}:{number}: expected [NAME], or why, insert or at = …')
        elif key == 'at':
            place = [part.strip() for part in value.split(' : ', 3)]
            if len(place) != 4 or place[2] not in ('before', 'after'):
                raise Refused(f'{path}:{number}: expected FILE : SCOPE : before|after : ANCHOR')
            hooks[-1]['at'].append(place)
        else:
            hooks[-1][key] = value
    for hook in hooks:
        if not hook['at'] or 'insert' not in hook or 'why' not in hook:
            raise Refused(f"{path}: [{hook['name']}] lacks at, insert or why")
    return hooks


def scope(lines, name):
    """The lines of a function's or struct's body as a range; None unless there is one."""
    if name == '-':
        return range(len(lines))
    found = []
    for first, line in enumerate(lines):
        if not re.match(r'[A-Za-z_]', line) or not re.search(rf'\b{re.escape(name)}\b', line):
            continue
        head = first
        while head < len(lines) and not re.search(r'[{;]\s*$', lines[head]):
            head += 1
        if head == len(lines) or lines[head].rstrip().endswith(';'):
            continue
        end = next((i for i in range(head, len(lines)) if lines[i].startswith('}')), None)
        if end is not None:
            found.append(range(head + 1, end))
    return found[0] if len(found) == 1 else None


def find(text, name, anchor):
    """Numbers of the lines of the scope that begin with the anchor."""
    lines = text.splitlines(keepends=True)
    body = scope(lines, name)
    return [i for i in body or () if lines[i].strip().startswith(anchor) and not ours(lines[i])]


def ours(line):
    return line.rstrip('\n').rstrip(' */').endswith(MARK)


def strip(text):
    return ''.join(line for line in text.splitlines(keepends=True) if not ours(line))


def insert(text, number, where, what, path):
    lines = text.splitlines(keepends=True)
    anchor = lines[number]
    if not anchor.endswith('\n'):
        raise Refused(f'{path}: its last line has no end')
    indent = anchor[:len(anchor) - len(anchor.lstrip())]
    comment = f'/* {MARK} */' if path.endswith(('.c', '.h', '.c.inc')) else f'# {MARK}'
    lines.insert(number + (where == 'after'), f'{indent}{what} {comment}\n')
    return ''.join(lines)


def place(tree, hooks):
    """{path: text with its hooks}, and [(hook, path, line)]; names all that have none."""
    texts, placed, missing = {}, [], []
    for hook in hooks:
        tried = []
        for path, name, where, anchor in hook['at']:
            text = texts.get(path)
            if text is None:
                text = read(os.path.join(tree, path))
                text = text if text is None else strip(text)
            hits = [] if text is None else find(text, name, anchor)
            if len(hits) == 1:
                texts[path] = insert(text, hits[0], where, hook['insert'], path)
                placed.append((hook, path, hits[0] + 1))
                break
            why = 'no such file' if text is None else f'{len(hits)} places'
            tried.append(f'    {path}, in {name}, {where} "{anchor}": {why}')
        else:
            missing.append(f"  [{hook['name']}] {hook['why']}\n" + '\n'.join(tried))
    if missing:
        raise Refused('hooks without exactly one place, nothing was written:\n' +
                      '\n'.join(missing))
    return texts, placed


def copies(what):
    """{path in the tree: our file}."""
    found = {}
    for source, suffixes, target in what.copies:
        top = os.path.join(what.here, source)
        for folder, _, files in os.walk(top):
            for name in files:
                if name.endswith(suffixes):
                    path = os.path.join(folder, name)
                    found[f'{target}/{os.path.relpath(path, top)}'] = path
    return found


def record(what, tree):
    """(copied, hooked) of the graft that is in the tree; two empty sets if none is."""
    rows = [line.split(' ', 1) for line in (read(os.path.join(tree, what.record)) or '').splitlines()]
    return ({path for kind, path in rows if kind == 'copied'},
            {path for kind, path in rows if kind == 'hooked'})


def write(tree, path, text):
    """Writes a file that would change, and says whether it did."""
    path = os.path.join(tree, path)
    if read(path) == text:
        return False
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8', newline='') as file:
        file.write(text)
    return True


def graft(what, tree):
    texts, _ = place(tree, read_hooks(what.hooks))
    files = copies(what)
    old_copied, old_hooked = record(what, tree)
    foreign = [p for p in files if p not in old_copied and os.path.exists(os.path.join(tree, p))]
    if foreign:
        raise Refused('the tree has files of its own there: ' + ' '.join(sorted(foreign)))
    for path in old_hooked - set(texts):
        texts[path] = strip(read(os.path.join(tree, path)) or '')
    for path in old_copied - set(files):
        os.unlink(os.path.join(tree, path))
    rows = [f'copied {p}' for p in sorted(files)] + [f'hooked {p}' for p in sorted(texts)]
    write(tree, what.record, '\n'.join(rows) + '\n')
    changed = sum(write(tree, p, text) for p, text in texts.items())
    changed += sum(write(tree, p, read(ours)) for p, ours in files.items())
    print(f'{tree}: {len(files)} files and hooks in {len(texts)}; {changed} written')


def check(what, tree):
    _, placed = place(tree, read_hooks(what.hooks))
    for hook, path, line in placed:
        print(f"{path}:{line}: [{hook['name']}] {hook['why']}")
    print(f'{len(placed)} hooks, each with one place')


def undo(what, tree):
    copied, hooked = record(what, tree)
    if not copied:
        raise Refused(f'{tree}: no graft is in it')
    for path in hooked:
        write(tree, path, strip(read(os.path.join(tree, path))))
    for path in copied:
        os.unlink(os.path.join(tree, path))
    shutil.rmtree(os.path.join(tree, what.home))
    print(f'{tree}: taken out of {len(hooked)} files')


def main(what, usage, words):
    actions = {'--check': check, '--undo': undo}
    action = actions.get(words[0]) if words else None
    rest = words[1:] if action else words
    if len(rest) != 1 or rest[0].startswith('-'):
        sys.exit(usage)
    try:
        if not os.path.isfile(os.path.join(rest[0], what.known_by)):
            raise Refused(f'{rest[0]}: no {what.name} source tree (it has no {what.known_by})')
        (action or graft)(what, rest[0])
    except Refused as error:
        sys.exit(f'graft: {error}')
