# SPDX-License-Identifier: GPL-2.0-or-later
"""A host's /proc and /sys as a directory: what hosts.py and *.tree describe, written down."""
import os
import shutil

TICKS = 100
UPTIME = 100000  # seconds; processes start at 99000 unless told otherwise
KVM_RUN = 0xae80


def plant(spec, root):
    """What a .tree file describes: "== PATH" begins a file, "== PATH = TEXT" is one of one
    line, "== PATH -> TARGET" a link, "== PATH/" a directory; "#" above all is a comment."""
    file = None
    for line in open(spec, encoding='utf-8'):
        if not line.startswith('== '):
            if file:
                file.write(line)
            continue
        if file:
            file.close()
            file = None
        path, link, target = line[3:].rstrip('\n').partition(' -> ')
        path, short, text = path.partition(' = ')
        path = os.path.join(root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if link:
            os.symlink(target, path)
        elif not path.endswith('/'):
            file = open(path, 'w', encoding='utf-8')
            file.write(text + '\n' if short else '')
    if file:
        file.close()


class Process:
    """One process below proc/, with its threads and descriptors."""

    def __init__(self, host, pid, comm, exe, args, start=99000, ppid=1):
        self.host, self.pid, self.start, self.ppid = host, pid, start, ppid
        self.base = f'proc/{pid}'
        if exe is not None:
            host.link(f'{self.base}/exe', exe)
        words = args if isinstance(args, list) else args.split()
        host.file(f'{self.base}/cmdline', ''.join(w + '\0' for w in words))
        os.makedirs(host.path(f'{self.base}/fd'), exist_ok=True)
        self._stat(f'{self.base}/stat', pid, comm, 'S', 0, 0)
        self.thread(pid, comm)
        for fd, what in enumerate(('/dev/null', 'pipe:[123]', 'socket:[456]')):
            self.fd(fd, what)

    def _stat(self, path, tid, comm, state, cpu, guest):
        fields = ['0'] * 52
        fields[0], fields[1], fields[2], fields[3] = str(tid), f'({comm})', state, str(self.ppid)
        fields[21], fields[38], fields[42] = str(self.start * TICKS), str(cpu), str(guest)
        self.host.file(path, ' '.join(fields) + '\n')

    def thread(self, tid, comm, state='S', cpu=0, guest=0, allowed='0-3', call=None):
        """@call: what the thread's file syscall holds."""
        base = f'{self.base}/task/{tid}'
        self._stat(f'{base}/stat', tid, comm, state, cpu, guest)
        self.host.file(f'{base}/comm', comm + '\n')
        self.host.file(f'{base}/status', f'Name:\t{comm}\nState:\t{state}\nTgid:\t{self.pid}\n'
                       f'Cpus_allowed:\tff\nCpus_allowed_list:\t{allowed}\nMems_allowed:\t1\n')
        if call:
            self.host.file(f'{base}/syscall', call + '\n')
        return self

    def runs(self, fd, number=16):
        """The text of syscall for a thread that stands in KVM_RUN."""
        return f'{number} {fd:#x} {KVM_RUN:#x} 0x0 0x0 0x0 0x0 0x7ffe0000 0x7f0012340000'

    def fd(self, number, what):
        self.host.link(f'{self.base}/fd/{number}', what)
        return self

    def vm(self, fd, vcpus):
        """A VM's descriptor and those of its vCPUs after it."""
        self.fd(fd, 'anon_inode:kvm-vm')
        for i, vcpu in enumerate(vcpus):
            self.fd(fd + 1 + i, f'anon_inode:kvm-vcpu:{vcpu}')
        return self

    def numa(self, *lines):
        self.host.file(f'{self.base}/numa_maps', ''.join(line + '\n' for line in lines))
        return self


class Host:
    def __init__(self, root, hostname, arch='x86_64', model='Test CPU 3000', cpus='0-3',
                 siblings='0', nodes=None, meminfo_kb=16777216, release='6.1.0-13-amd64'):
        """@nodes: list of (id, cpulist, kB); None: a kernel without NUMA."""
        self.root = root
        self.file('proc/uptime', f'{UPTIME}.00 {UPTIME * 3}.00\n')
        self.file('proc/sys/kernel/hostname', hostname + '\n')
        self.file('proc/sys/kernel/osrelease', release + '\n')
        if arch:
            self.file('proc/sys/kernel/arch', arch + '\n')
        self.file('proc/meminfo', f'MemTotal:       {meminfo_kb} kB\nMemFree:   1024 kB\n')
        self.file('proc/cpuinfo', f'processor\t: 0\n{model}\nflags\t\t: fpu vmx\n\nprocessor\t: 1\n')
        self.file('sys/devices/system/cpu/online', cpus + '\n')
        self.file('sys/devices/system/cpu/cpu0/topology/thread_siblings_list', siblings + '\n')
        if nodes:
            ids = [n[0] for n in nodes]
            self.file('sys/devices/system/node/online', ','.join(map(str, ids)) + '\n')
        for number, cpulist, kb in nodes or ():
            base = f'sys/devices/system/node/node{number}'
            self.file(f'{base}/cpulist', cpulist + '\n')
            self.file(f'{base}/meminfo', f'Node {number} MemTotal:       {kb} kB\n'
                      f'Node {number} MemFree:        1 kB\n')
        # What every host has: init, and a kernel thread, which has no program.
        self.process(1, 'systemd', '/usr/lib/systemd/systemd', '/sbin/init', start=1)
        self.process(2, 'kthreadd', None, '', start=1)

    def path(self, name):
        return os.path.join(self.root, name)

    def file(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as f:
            f.write(text if isinstance(text, bytes) else text.encode('utf-8', 'surrogateescape'))

    def link(self, name, target):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(target, path)

    def close(self, name):
        """Something is there but cannot be read, whoever asks: a loop of links, a folder."""
        path = self.path(name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.unlink(path)
        if name.endswith('/exe'):
            os.makedirs(path)  # to readlink() a loop would do no harm
        else:
            self.link(name, os.path.basename(name))

    def process(self, pid, comm, exe, args, **more):
        return Process(self, pid, comm, exe, args, **more)

    def debugfs(self, creator, fd, vcpus):
        """@vcpus: thread of each vCPU number; an empty dict is a kernel before 5.19."""
        base = f'sys/kernel/debug/kvm/{creator}-{fd}'
        self.file(f'{base}/halt_exits', '1\n')
        for index, tid in vcpus.items():
            self.file(f'{base}/vcpu{index}/pid', f'{tid}\n')

    def parameter(self, module, name, value):
        self.file(f'sys/module/{module}/parameters/{name}', value + '\n')
