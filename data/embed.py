#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the files of data/ as a C table, struct data_file data_files[].

usage: embed.py OUT FILE...
"""
import os
import sys

rows = []
with open(sys.argv[1], "w") as out:
    out.write('#include "base/data.h"\n')
    for i, path in enumerate(sorted(sys.argv[2:])):
        data = open(path, "rb").read() + b"\0"
        kind, name = os.path.split(path)
        out.write("static const char text%d[] = {%s};\n" % (i, ",".join(map(str, data))))
        rows.append('\t{"%s", "%s", text%d, sizeof(text%d) - 1},\n'
                    % (os.path.basename(kind), os.path.splitext(name)[0], i, i))
    out.write("const struct data_file data_files[] = {\n%s\t{0},\n};\n" % "".join(rows))
