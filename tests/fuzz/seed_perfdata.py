#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a seed for fuzz_perfdata of a file by perf record: a few records of each
type, the events with their ids and names, and nothing of the machine (paths,
names of programs, host name, build ids).

usage: seed_perfdata.py PERF.DATA SEED [RECORDS-PER-TYPE]
"""
import struct
import sys

HEADER = struct.Struct("<8s12Q")
ATTRS, DATA = 3, 5  # index of the sections' offsets in the header
EVENT_DESC = 12
COMM, MMAP, MMAP2, KSYMBOL, BPF, CGROUP, TEXT_POKE = 3, 1, 10, 17, 18, 19, 20
NAMED = {COMM: 16, MMAP: 40, MMAP2: 72}     # where the text starts
COMPRESSED = 81
DROPPED = {KSYMBOL, BPF, CGROUP, TEXT_POKE, 67, 74}  # build ids, auxtrace and the like


def records(data, pos, end):
    while pos + 8 <= end:
        kind, _, size = struct.unpack_from("<IHH", data, pos)
        if size < 8 or pos + size > end:
            return
        yield kind, bytearray(data[pos:pos + size])
        pos += size


def anonymous(kind, record):
    if kind in NAMED:
        at = NAMED[kind]
        end = record.index(0, at)
        record[at:end] = b"x" * (end - at)
    if kind == COMPRESSED:
        record[8:] = bytes(len(record) - 8)
    return bytes(record)


def event_desc(data, header):
    """The section's bytes, its position in the table known from the feature bits."""
    features = header[9]
    if not features >> EVENT_DESC & 1:
        return b""
    index = bin(features & ((1 << EVENT_DESC) - 1)).count("1")
    at = header[DATA] + header[DATA + 1] + 16 * index
    offset, size = struct.unpack_from("<QQ", data, at)
    return data[offset:offset + size]


def main(source, seed, keep=4):
    data = open(source, "rb").read()
    header = list(HEADER.unpack_from(data))
    entry = header[2]
    attrs = [bytearray(data[o:o + entry]) for o in
             range(header[ATTRS], header[ATTRS] + header[ATTRS + 1], entry)]
    pos, ids = HEADER.size + len(attrs) * entry, b""
    for attr in attrs:
        offset, size = struct.unpack_from("<QQ", attr, entry - 16)
        struct.pack_into("<QQ", attr, entry - 16, pos + len(ids), size)
        ids += data[offset:offset + size]
    body, seen = b"", {}
    for kind, record in records(data, header[DATA], header[DATA] + header[DATA + 1]):
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= keep and kind not in DROPPED:
            body += anonymous(kind, record)
    desc = event_desc(data, header)
    start = pos + len(ids)
    header[ATTRS:ATTRS + 2] = HEADER.size, len(attrs) * entry
    header[DATA:DATA + 2] = start, len(body)
    header[9:13] = (1 << EVENT_DESC if desc else 0), 0, 0, 0
    if desc:
        desc = struct.pack("<QQ", start + len(body) + 16, len(desc)) + desc
    with open(seed, "wb") as f:
        f.write(HEADER.pack(*header) + b"".join(attrs) + ids + body + desc)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
