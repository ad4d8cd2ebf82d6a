# SPDX-License-Identifier: GPL-2.0-or-later
"""An emulated Xen with dom0 and domUs."""
import os
import shlex
import subprocess
import sys

from bed import BUILD, HERE, TOP, Bed


class XenHost(Bed):
    """Boots and runs @name.sh in dom0, or domUs only, where there is no such file.

    @domus are domain 1, 2 …: what linux() and bare() give. @options are
    testbed/xen/run's. A domU's result NAME is "NAME@domN", its status "status@domN".
    """

    def __init__(self, name, domus, *options, status=0, machine="arm64"):
        source = subprocess.run([os.path.join(TOP, "testbed/source"), "xen"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if source.returncode == 3:
            print("skip %s: %s" % (name, source.stderr.splitlines()[-1]), flush=True)
            sys.exit(0)
        alone = [] if os.path.exists(os.path.join(HERE, name + ".sh")) else ["--no-dom0"]
        words = [word for domu in domus for word in domu]
        super().__init__("xen", name, [*words, *alone, *options], status, machine)


def linux(name, script, *options, vcpus=1, memory=192):
    """A Linux domU that runs tests/e2e/@script; @options as "vpmu=1", "perf"."""
    return domu("--domu", name, script, options, vcpus, memory)


def told(script, **words):
    """A copy of tests/e2e/@script that begins with these variables: a domU's script has no
    arguments."""
    path = os.path.join(BUILD, "scripts", "-".join([*words.values(), script]).replace(" ", "-"))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(os.path.join(HERE, script)) as f, open(path, "w") as told_one:
        told_one.write("#!/bin/sh\n")
        for name, value in words.items():
            told_one.write("%s=%s\n" % (name, shlex.quote(value)))
        told_one.write(f.read())
    return path


def bare(name, program, *options, vcpus=1, memory=32):
    """A domU that is tests/e2e/@program, for testbed/xen/bare/bare.h."""
    return domu("--domu-bare", name, program, options, vcpus, memory)


def domu(kind, name, file, options, vcpus, memory):
    return kind, "%s:%d:%d:%s:%s" % (name, vcpus, memory, os.path.join(HERE, file),
                                     ",".join(options))
