# SPDX-License-Identifier: GPL-2.0-or-later
"""Two programs on the same work in turn, A B A B …, so that a ratio holds when
the machine's speed drifts."""
import os
import statistics
import subprocess
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VMMPROF = os.path.join(TOP, "build/src/vmmprof")
THREADS = os.path.join(TOP, "build/bench/threads")


class Usage:
    """What the kernel accounts for one finished run: seconds and bytes. @window (from, to)
    also tells, as .steady, the CPU seconds between two moments of the run."""

    def __init__(self, command, ok=(0,), window=None):
        started = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        if window:
            marks = []
            for moment in window:
                time.sleep(max(0, started + moment - time.monotonic()))
                marks.append(cpu_so_far(process.pid))
            self.steady = marks[1] - marks[0]
        complaint = process.stderr.read()
        _, status, rusage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in ok:
            raise RuntimeError("%s: status %d: %s" % (
                " ".join(command), process.returncode, complaint.decode(errors="replace")))
        self.wall = time.monotonic() - started
        self.cpu = rusage.ru_utime + rusage.ru_stime
        self.rss = rusage.ru_maxrss * 1024


def cpu_so_far(pid):
    """CPU seconds of a process's living threads: /proc/PID/task/TID/schedstat, in ns."""
    total = 0
    for tid in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/schedstat" % (pid, tid)) as f:
            total += int(f.read().split()[0])
    return total / 1e9


class Target:
    """The many-threaded program, alive for the length of a `with`."""

    def __init__(self, threads, kind):
        self.command = [THREADS, str(threads), kind]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        if self.process.stdout.readline().strip() != b"ready":
            raise RuntimeError("the target did not start")
        return self.process.pid

    def __exit__(self, *unused):
        self.process.stdin.close()
        self.process.wait()


def median_ratio(ours, theirs):
    """Median of the ratios pair by pair."""
    return statistics.median(a / b for a, b in zip(ours, theirs))


class Sysctl:
    """A kernel setting for the length of a `with`."""

    def __init__(self, name, value):
        self.path, self.value = "/proc/sys/" + name.replace(".", "/"), value

    def __enter__(self):
        with open(self.path) as f:
            self.old = f.read()
        with open(self.path, "w") as f:
            f.write(str(self.value))

    def __exit__(self, *unused):
        with open(self.path, "w") as f:
            f.write(self.old)
