# SPDX-License-Identifier: GPL-2.0-or-later
"""An emulated Xen with dom0 and domUs."""
import os
import subprocess
import sys

from bed import HERE, TOP, Bed


class XenHost(Bed):
    """Boots and runs @name.sh in dom0, or domUs only, where there is no such file.

    @domus are domain 1, 2 …: what linux() and bare() give. @options are
    testbed/xen/run's. A domU's result NAME is "NAME@domN", its status "status@domN".
    """

    def __init__(self, name, domus, *options, status=0):
        source = subprocess.run([os.path.join(TOP, "testbed/xen/source")],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if source.returncode == 3:
            print("skip %s: %s" % (name, source.stderr.splitlines()[-1]), flush=True)
            sys.exit(0)
        alone = [] if os.path.exists(os.path.join(HERE, name + ".sh")) else ["--no-dom0"]
        words = [word for domu in domus for word in domu]
        super().__init__("xen", name, [*words, *alone, *options], status)


def linux(name, script, *options, vcpus=1, memory=192):
    """A Linux domU that runs tests/e2e/@script; @options as "vpmu=1", "perf"."""
    return domu("--domu", name, script, options, vcpus, memory)


def bare(name, program, *options, memory=32):
    """A domU that is tests/e2e/@program, for testbed/xen/bare/bare.h."""
    return domu("--domu-bare", name, program, options, 1, memory)


def domu(kind, name, file, options, vcpus, memory):
    return kind, "%s:%d:%d:%s:%s" % (name, vcpus, memory, os.path.join(HERE, file),
                                     ",".join(options))
