#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""vmmprof record on this machine: plain processes and a software clock, every way
in which a recording can end, and Debian's perf as the judge of the files.

usage: record.py VMMPROF THREADS GUEST_FILE      prints TAP
"""
import contextlib
import glob
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback

VMMPROF, THREADS, GUEST_FILE = sys.argv[1:4]


class Skip(Exception):
    pass


@contextlib.contextmanager
def target(command, **kwargs):
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               **kwargs)
    assert process.stdout.readline() == b"ready\n"
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def busy():
    return target([THREADS, "4", "busy"])


def start(*args, **kwargs):
    return subprocess.Popen([VMMPROF, "record", *map(str, args)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **kwargs)


def end(process):
    out, complaint = process.communicate(timeout=120)
    return process.returncode, out, complaint


def record(*args, **kwargs):
    return end(start(*args, **kwargs))


def perf(*args):
    if not shutil.which("perf"):
        raise Skip("perf is not installed (linux-perf)")
    done = subprocess.run(["perf", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def samples(path):
    return len(perf("script", "-i", path, "-F", "tid,time,ip").splitlines())


def rows(recording, sql):
    db = sqlite3.connect(os.path.join(recording, "recording.db"))
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


def lane(recording):
    """(path of the file, samples, lost) of the only lane."""
    (file, count, lost), = rows(recording, "SELECT file, samples, lost FROM lane")
    return os.path.join(recording, file), count, lost


def ended(recording):
    found = rows(recording, "SELECT value FROM meta WHERE key='ended'")
    return found[0][0] if found else None


def wait_for(condition, what, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "waited in vain: " + what
        time.sleep(0.05)


def wait_for_samples(recording, size=20000):
    """Until the recording has grown by some rounds and a commit."""
    def grown():
        try:
            file, count, _ = lane(recording)
            return os.path.getsize(file) > size and count > 0
        except (ValueError, sqlite3.Error, OSError):
            return False
    wait_for(grown, "a recording that grows")


# ---- the tests


def perf_reads_as_many_samples_as_were_recorded(scratch):
    out = scratch + "/r"
    with busy() as process:
        status, text, complaint = record("-p", process.pid, "-e", "cpu-clock", "-F", 2000,
                                         "-o", out, "--duration", 1.5)
    assert status == 0, complaint
    file, count, lost = lane(out)
    assert count > 100 and lost == 0, (count, lost)
    assert samples(file) == count
    assert f"{count:,}" in text, text
    assert ended(out) == "normally"


def perf_names_the_functions_of_a_process(scratch):
    out = scratch + "/r"
    with busy() as process:
        record("-p", process.pid, "-e", "cpu-clock", "-F", 2000, "-o", out,
               "--duration", 1)
    report = perf("report", "-i", lane(out)[0], "--stdio", "--sort", "comm,sym")
    assert re.search(r"threads +\[\.\] mix", report), report


def two_events_are_told_apart(scratch):
    out = scratch + "/r"
    with busy() as process:
        status, _, complaint = record("-p", process.pid, "-e", "cpu-clock,task-clock",
                                      "-c", 1000000, "-o", out, "--duration", 1)
    assert status == 0, complaint
    file, count, _ = lane(out)
    events = perf("script", "-i", file, "-F", "event").split()
    assert {"cpu-clock:", "task-clock:"} == set(events) and len(events) == count


def report(recording):
    return subprocess.run([VMMPROF, "report", recording, "--limit", "0"],
                          stdout=subprocess.PIPE, text=True, check=True).stdout


def change(recording, sql):
    with contextlib.closing(sqlite3.connect(recording + "/recording.db")) as db, db:
        db.execute(sql)


def a_process_is_named_from_its_maps_and_this_boots_kernel(scratch):
    with busy() as process:
        record("-p", process.pid, "-e", "cpu-clock", "-o", scratch + "/r", "--duration", 1)
    said = report(scratch + "/r")
    assert "), process: cpu-clock" in said, said
    assert "guest" not in said, said
    # its program, and the kernel of this boot
    assert re.search(r"\[\.\]   mix \[threads\]", said), said
    assert re.search(r"\[k\]   [a-z_]", said), said
    change(scratch + "/r", "UPDATE meta SET value='another' WHERE key='boot_id'")
    said = report(scratch + "/r")
    assert "host's /proc/kallsyms" in said and "mix [threads]" in said, said
    assert re.search(r"\[k\]   0x", said), said
    change(scratch + "/r", "UPDATE meta SET value='another' WHERE key='hostname'")
    said = report(scratch + "/r")
    assert "mix" not in said and re.search(r"\[\.\]   0x\w+ \[threads\]", said), said


def any_signal_ends_it_normally(scratch):
    # this may itself be run by nohup, which a program inherits
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        out = "%s/%d" % (scratch, number)
        with busy() as process:
            run = start("-p", process.pid, "-e", "cpu-clock", "-F", 2000, "-o", out)
            wait_for_samples(out)
            run.send_signal(number)
            status, _, complaint = end(run)
        assert status == 0, complaint
        assert ended(out) == "normally"
        assert samples(lane(out)[0]) == lane(out)[1]


def a_reader_of_its_messages_that_leaves_does_not_end_it(scratch):
    out = scratch + "/r"
    with busy() as first, busy() as second:
        run = start("-p", "%d,%d" % (first.pid, second.pid), "-e", "cpu-clock", "-o", out)
        wait_for(lambda: len(glob.glob(out + "/*.perf.data")) == 2, "both files")
        run.stderr.close()
        second.kill()
        wait_for(lambda: rows(out, "SELECT * FROM note WHERE kind='vm-gone'"), "the note")
        run.send_signal(signal.SIGINT)
        run.stdout.read()
        assert run.wait(60) == 0
    assert ended(out) == "normally"


def hung_up(*args):
    """What a program does, started by nohup, when the terminal is gone."""
    return subprocess.Popen([VMMPROF, *map(str, args)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True,
                            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))


def nohup_keeps_it_running(scratch):
    out = scratch + "/r"
    with busy() as process:
        what = ("-p", process.pid, "-e", "cpu-clock")
        run = hung_up("record", "-o", out, *what)
        count = hung_up("stat", "-I", 100, *what)
        wait_for_samples(out)
        assert count.stdout.readline()
        run.send_signal(signal.SIGHUP)
        count.send_signal(signal.SIGHUP)
        wait_for_samples(out, os.path.getsize(lane(out)[0]) + 20000)
        assert run.poll() is None and count.poll() is None
        for process in (run, count):
            process.send_signal(signal.SIGINT)
            assert end(process)[0] == 0
    assert ended(out) == "normally"


def a_command_has_the_signals_that_it_would_have(scratch):
    with busy() as process:
        _, out, _ = record("-p", process.pid, "-e", "cpu-clock", "-o", scratch + "/r",
                           "--", "grep", "SigIgn", "/proc/self/status")
    # what we were started with: a shell's background jobs, for one, ignore SIGINT
    usual = subprocess.run(["grep", "SigIgn", "/proc/self/status"], text=True,
                           stdout=subprocess.PIPE).stdout
    assert usual in out, (usual, out)


def after_kill_9_all_but_the_last_buffer_is_readable(scratch):
    out = scratch + "/r"
    with busy() as process:
        run = start("-p", process.pid, "-e", "cpu-clock", "-F", 2000, "-o", out)
        wait_for_samples(out)
        run.kill()
        end(run)
    file, count, _ = lane(out)
    assert ended(out) is None
    # what was committed is in the file; the file may be up to a second ahead
    assert samples(file) >= count > 0
    assert "mix" in perf("report", "-i", file, "--stdio")


@contextlib.contextmanager
def small_disk(path, size):
    os.mkdir(path)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + size, "none", path],
                          stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Skip("cannot mount a tmpfs: " + done.stderr.strip())
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", path], check=True)


def a_full_disk_ends_it_with_words_and_nothing_lost(scratch):
    with small_disk(scratch + "/disk", "1m") as disk, busy() as process:
        out = disk + "/r"
        status, text, complaint = record("-p", process.pid, "-e", "cpu-clock", "-F", 10000,
                                         "-o", out, "--duration", 100)
        assert status == 1, (status, complaint)
        assert "No space left on device" in complaint, complaint
        assert "readable" in complaint, complaint
        assert ended(out) == "disk full"
        assert rows(out, "SELECT * FROM note WHERE text LIKE '%disk full%'")
        file, count, _ = lane(out)
        assert count > 5000 and samples(file) == count, count
        assert f"{count:,}" in text, text
        assert "mix" in perf("report", "-i", file, "--stdio")
        # finished, not just cut off: the features are there
        assert re.search(r"hostname : threads", perf("report", "-i", file, "--header-only"))


def a_process_that_dies_is_a_note(scratch):
    out = scratch + "/r"
    with busy() as process:
        run = start("-p", process.pid, "-e", "cpu-clock", "-F", 2000, "-o", out)
        wait_for_samples(out)
        process.kill()
        status, _, complaint = end(run)
    assert status == 0, complaint
    assert "ended" in complaint, complaint
    assert rows(out, "SELECT * FROM note WHERE kind='vm-gone'")
    assert samples(lane(out)[0]) == lane(out)[1] > 0


LATE = """
import sys, threading
def spin():
    while True: pass
print("ready", flush=True)
sys.stdin.readline()
threading.Thread(target=spin, daemon=True).start()
sys.stdin.readline()
"""


def a_thread_that_comes_later_joins(scratch):
    out = scratch + "/r"
    with target([sys.executable, "-c", LATE]) as process:
        run = start("-p", process.pid, "-e", "cpu-clock", "-F", 2000, "-o", out)
        wait_for(lambda: os.path.exists(out + "/recording.db"), "the recording")
        process.stdin.write(b"\n")
        process.stdin.flush()
        wait_for_samples(out)
        run.send_signal(signal.SIGINT)
        status, _, complaint = end(run)
    assert status == 0, complaint
    threads = set(perf("script", "-i", lane(out)[0], "-F", "tid").split())
    assert threads - {str(process.pid)}, threads
    assert len(rows(out, "SELECT * FROM vcpu")) == 2


def needs_no_pmu():
    if os.path.exists("/sys/bus/event_source/devices/cpu") and \
            subprocess.run([VMMPROF, "record", "-e", "cycles", "-o", "/dev/null/x", "-p",
                            str(os.getpid()), "--duration", "0.1"],
                           stderr=subprocess.DEVNULL).returncode != 1:
        raise Skip("this machine counts cycles")


def an_event_that_is_missing_is_said_and_never_replaced(scratch):
    needs_no_pmu()
    with busy() as process:
        status, _, complaint = record("-p", process.pid, "-o", scratch + "/r",
                                      "--duration", 1)
        assert status == 1 and "cycles" in complaint, complaint
        assert not os.path.exists(scratch + "/r")
        status, _, complaint = record("-p", process.pid, "-e", "cycles,cpu-clock",
                                      "-o", scratch + "/s", "--duration", 1)
    assert status == 3 and "cycles" in complaint, complaint
    assert lane(scratch + "/s")[1] > 0


def no_samples_come_with_a_reason(scratch):
    with target([THREADS, "2", "idle"]) as process:
        status, _, complaint = record("-p", process.pid, "-e", "cpu-clock", "-c",
                                      10**12, "-o", scratch + "/r", "--duration", 1)
    assert status == 0, complaint
    assert "no samples: fewer events happened than one period" in complaint, complaint


def an_ordinary_user_gets_smaller_rings_and_is_told(scratch):
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    os.chmod(scratch, 0o777)
    program, spinner = scratch + "/vmmprof", scratch + "/threads"
    shutil.copy(VMMPROF, program)
    shutil.copy(THREADS, spinner)
    with target([spinner, "16", "busy"], **nobody) as process:
        run = subprocess.Popen(["prlimit", "--memlock=0", program, "record", "-p",
                                str(process.pid), "-e", "cpu-clock:u", "-o",
                                scratch + "/r", "--duration", "2"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               **nobody)
        status, _, complaint = end(run)
    if "perf_event_paranoid" in complaint:
        raise Skip("kernel.perf_event_paranoid keeps ordinary users out")
    assert status == 0, complaint
    assert lane(scratch + "/r")[1] > 0
    assert "ring of" in complaint and "perf_event_mlock_kb" in complaint, complaint


def threads_that_get_no_ring_are_told_with_the_remedy(scratch):
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    lockable = int(open("/proc/sys/kernel/perf_event_mlock_kb").read()) * os.cpu_count()
    rings = lockable // 8  # a page of samples and one that describes them
    if rings > 1000:
        raise Skip("this machine lets an ordinary user have %d rings" % rings)
    os.chmod(scratch, 0o777)
    for program in (VMMPROF, THREADS):
        shutil.copy(program, scratch)
    with target([scratch + "/threads", str(rings + 50), "idle"], **nobody) as process:
        run = subprocess.Popen(["prlimit", "--memlock=0", scratch + "/vmmprof", "record",
                                "-p", str(process.pid), "-e", "cpu-clock:u", "-o",
                                scratch + "/r", "--duration", "0.5"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               **nobody)
        status, _, complaint = end(run)
    if "perf_event_paranoid" in complaint:
        raise Skip("kernel.perf_event_paranoid keeps ordinary users out")
    assert status == 3, (status, complaint)
    assert re.search(r"is not sampled: .*perf_event_mlock_kb", complaint), complaint
    assert "threads were not sampled at all" in complaint, complaint


def few_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12))


def too_few_descriptors_are_told_and_leave_nothing(scratch):
    with busy() as process:
        what = [str(process.pid), "-e", "cpu-clock", "--duration", "0.2"]
        for command in (["stat", "-p"], ["record", "-o", scratch + "/r", "-p"]):
            done = subprocess.run([VMMPROF, *command, *what], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True,
                                  preexec_fn=few_descriptors)
            if not done.returncode:
                raise Skip("the limit of open files does not bind this user")
            assert done.returncode == 1 and "ulimit -n" in done.stderr, done
    assert not os.path.exists(scratch + "/r")


def a_file_system_that_cannot_set_space_aside_will_do(scratch):
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    with busy() as process:
        done = subprocess.run(["strace", "-o", scratch + "/trace", "-e", "inject=fallocate:"
                               "error=EOPNOTSUPP", VMMPROF, "record", "-p",
                               str(process.pid), "-e", "cpu-clock", "-o", scratch + "/r",
                               "--duration", "0.5"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    assert "INJECTED" in open(scratch + "/trace").read()
    assert done.returncode == 0, done.stderr
    assert lane(scratch + "/r")[1] > 0


def a_full_standard_output_is_told_once(scratch):
    with busy() as process, open("/dev/full", "w") as full:
        done = subprocess.run([VMMPROF, "stat", "-p", str(process.pid), "-e", "cpu-clock",
                               "--duration", "0.2"], stdout=full, stderr=subprocess.PIPE,
                              text=True)
    assert done.returncode == 1 and done.stderr.count("standard output") == 1, done


def a_command_gives_the_length(scratch):
    with busy() as process:
        status, _, complaint = record("-p", process.pid, "-e", "cpu-clock", "-o",
                                      scratch + "/r", "--", "sleep", "1")
    assert status == 0, complaint
    assert 0 < lane(scratch + "/r")[1]


def a_command_that_fails_gives_the_status_and_leaves_the_recording(scratch):
    with busy() as process:
        args = "-p", process.pid, "-e", "cpu-clock", "-o", scratch + "/r"
        status, _, complaint = record(*args, "--", "sh", "-c", "sleep 0.5; exit 7")
        assert status == 7 and 0 < lane(scratch + "/r")[1], (status, complaint)
        status, _, complaint = record(*args, "--duration", 1, "--", "sleep", "60")
        assert status == 0, (status, complaint)


def a_command_that_ignores_sigterm_is_killed_and_the_recording_whole(scratch):
    stubborn = ["--", "sh", "-c", "trap '' TERM; while :; do sleep 1; done"]
    with busy() as process:
        what = "-p", process.pid, "-e", "cpu-clock"
        status, _, complaint = record(*what, "-o", scratch + "/r", "--duration", 0.5,
                                      *stubborn)
        count = subprocess.run([VMMPROF, "stat", *map(str, what), "--duration", "0.5",
                                *stubborn], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, timeout=60)
    assert status == 0 and "was killed" in complaint, (status, complaint)
    assert ended(scratch + "/r") == "normally" and lane(scratch + "/r")[1] > 0
    assert count.returncode == 0 and "was killed" in count.stderr, count
    assert "cpu-clock" in count.stdout, count.stdout


def what_is_no_recording_is_never_overwritten(scratch):
    os.mkdir(scratch + "/d")
    open(scratch + "/d/precious", "w").close()
    with busy() as process:
        status, _, complaint = record("-p", process.pid, "-e", "cpu-clock", "-o",
                                      scratch + "/d", "--duration", 1)
    assert status == 1 and "choose another name" in complaint, complaint
    assert os.listdir(scratch + "/d") == ["precious"]


def mistakes_are_told_with_the_remedy(scratch):
    for args, status, words in (
            (["-p", "x"], 2, "-p x"),
            (["-p", "999999999"], 1, "999999999"),
            (["-c", "1", "-F", "1"], 2, "choose one"),
            (["-F", "0"], 2, "-F 0"),
            (["-c", "0"], 2, "-c 0"),
            (["sleep", "1"], 2, "--"),
            (["--symbols", "web"], 2, "VM=PATH"),
            (["--symbols", "web=/nonexistent"], 1, "/nonexistent"),
            (["--vm", "nobody-has-this-name", "-e", "cpu-clock"], 1, "vmmprof list"),
            (["-e", "no-such-event"], 1, "no-such-event")):
        got, _, complaint = record(*args, "-o", scratch + "/r")
        assert got == status and words in complaint, (args, got, complaint)
        assert not os.path.exists(scratch + "/r"), args


def guest_report(scratch, text, *options):
    """perf's report of a guest kernel's samples in vmmprof_was_here()."""
    file = scratch + "/guest.perf.data"
    with open(scratch + "/kallsyms", "w") as f:
        f.write("ffffffff93200000 T _stext\n"
                "ffffffff93201000 T vmmprof_was_here\n"
                "ffffffff93202000 T other\n")
    subprocess.run([GUEST_FILE, file, text, "ffffffff93201040"], check=True)
    report = perf("report", "-i", file, "--stdio", "--sort", "comm,sym", *options)
    os.unlink(file)
    return report


def perf_names_a_guests_kernel_with_its_kallsyms_and_no_guest_options(scratch):
    for text in "ffffffff93200000", "0":
        report = guest_report(scratch, text, "--kallsyms", scratch + "/kallsyms")
        assert re.search(r"76.92% +web/vcpu0 +\[k\] vmmprof_was_here", report), report
        assert re.search(r"23.08% +web/vcpu0 +\[H\] ", report), report


def perf_never_names_a_guests_kernel_after_the_hosts(scratch):
    for text in "ffffffff93200000", "0":
        report = guest_report(scratch, text)
        assert re.search(r"\[k\] 0xffffffff93201040", report), report


TESTS = [
    perf_names_a_guests_kernel_with_its_kallsyms_and_no_guest_options,
    perf_never_names_a_guests_kernel_after_the_hosts,
    perf_reads_as_many_samples_as_were_recorded,
    perf_names_the_functions_of_a_process,
    two_events_are_told_apart,
    a_process_is_named_from_its_maps_and_this_boots_kernel,
    any_signal_ends_it_normally,
    a_reader_of_its_messages_that_leaves_does_not_end_it,
    nohup_keeps_it_running,
    a_command_has_the_signals_that_it_would_have,
    after_kill_9_all_but_the_last_buffer_is_readable,
    a_full_disk_ends_it_with_words_and_nothing_lost,
    a_process_that_dies_is_a_note,
    a_thread_that_comes_later_joins,
    an_event_that_is_missing_is_said_and_never_replaced,
    no_samples_come_with_a_reason,
    an_ordinary_user_gets_smaller_rings_and_is_told,
    threads_that_get_no_ring_are_told_with_the_remedy,
    too_few_descriptors_are_told_and_leave_nothing,
    a_file_system_that_cannot_set_space_aside_will_do,
    a_full_standard_output_is_told_once,
    a_command_gives_the_length,
    a_command_that_fails_gives_the_status_and_leaves_the_recording,
    a_command_that_ignores_sigterm_is_killed_and_the_recording_whole,
    what_is_no_recording_is_never_overwritten,
    mistakes_are_told_with_the_remedy,
]


def main():
    failed = False
    print("1..%d" % len(TESTS))
    for number, test in enumerate(TESTS, 1):
        with tempfile.TemporaryDirectory(prefix="vmmprof-") as scratch:
            try:
                if os.geteuid():
                    raise Skip("needs root")
                test(scratch)
                print("ok %d - %s" % (number, test.__name__), flush=True)
            except Skip as why:
                print("ok %d - %s # SKIP %s" % (number, test.__name__, why), flush=True)
            except Exception:  # a test may fail in any way, and the others still run
                failed = True
                for line in traceback.format_exc().splitlines():
                    print("# " + line)
                print("not ok %d - %s" % (number, test.__name__), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
