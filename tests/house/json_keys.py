#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds docs/json.md against the views: each has a table there, its keys in order.

usage: json_keys.py [ROOT]
"""
import glob
import os
import re
import sys

# What a FIELD becomes in JSON, as docs/json.md calls it; nulls are told apart there.
TYPES = {'STR': 'string', 'TEXT': 'string', 'LIST': 'array', 'INT': 'integer',
         'U64': 'integer', 'BYTES': 'integer', 'F64': 'number', 'DURATION': 'number',
         'PERCENT': 'number', 'READING': 'reading', 'METRIC': 'metric', 'BOOL': 'boolean'}
COLUMN = re.compile(r'COLUMN\(struct \w+, [\w.\[\]]+,\s*"(\w*)",\s*"[^"]*",\s*FIELD_(\w+),\s*([^)]*)\)')


def tables(text):
    """{name: [(key, type)]} of the column tables of a source file."""
    text = text.replace('\\\n', '')
    macros = dict(re.findall(r'^#define (\w*COLUMNS)\s+(.*)$', text, re.M))
    for name, body in re.findall(r'struct column (\w+)\[\] = \{(.*?)\n\};', text, re.S):
        for macro, value in list(macros.items()) * 2:  # one may stand in another
            body = re.sub(rf'\b{macro}\b', lambda _, value=value: value, body)
        yield name, [(key, TYPES[field]) for key, field, flags in COLUMN.findall(body)
                     if 'COL_TEXT_ONLY' not in flags]


def documented(text):
    """{name of a column table: [(key, type)]}, from the comment that stands before it."""
    for where, body in re.findall(r'<!-- (\S+) -->\n(.*?)(?=\n#|\Z)', text, re.S):
        yield where, re.findall(r'^\| `(\w+)` \| (\w+)', body, re.M)


def problems(root):
    page = dict(documented(open(os.path.join(root, 'docs/json.md')).read()))
    seen = set()
    for path in sorted(glob.glob(os.path.join(root, 'src/cli/*.c'))):
        for name, columns in tables(open(path).read()):
            where = f'{os.path.basename(path)}:{name}'
            seen.add(where)
            if page.get(where) != columns:
                yield f'docs/json.md: {where}: expected {columns}, has {page.get(where)}'
    for where in set(page) - seen:
        yield f'docs/json.md: {where} is not in the source'
    if len(seen) < 8:
        yield 'src/cli: the tables of columns are not found'


if __name__ == '__main__':
    found = list(problems(sys.argv[1] if len(sys.argv) == 2 else
                          os.path.join(os.path.dirname(__file__), '../..')))
    print('\n'.join(found + [f'{len(found)} problems']))
    sys.exit(1 if found else 0)
