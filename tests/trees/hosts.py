# SPDX-License-Identifier: GPL-2.0-or-later
"""The hosts: one function each, its name is the tree's."""
from tree import Host

INTEL = 'model name\t: Intel(R) Xeon(R) Platinum 8480+'
AMD = 'model name\t: AMD EPYC 7763 64-Core Processor'
ARM = 'CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c'
HOSTS = {}


def host(build):
    HOSTS[build.__name__.replace('_', '-')] = build
    return build


@host
def empty(root):
    """No VM; a process of five threads, one of them gone in between."""
    h = Host(root, 'idle', model=INTEL)
    p = h.process(500, 'worker', '/usr/bin/worker', 'worker --fast', start=99990)
    for tid in (501, 502, 510):
        p.thread(tid, f'w{tid}', 'R', cpu=tid % 4)
    h.file('proc/500/task/505/comm', 'gone\n')
    h.file('proc/500/statm', '9000 300 100 1 0 1 0\n')
    return h


@host
def bare(root):
    """Test programs with one vCPU and one thread; no NUMA, no debugfs."""
    h = Host(root, 'bench', arch='aarch64', model=ARM, cpus='0', meminfo_kb=2097152)
    h.process(812, 'minivm', '/opt/minivm', ['./minivm', 'loop', '1000']).vm(4, [0])
    h.process(813, 'vmm', '/opt/vmm', ['./vmm', '--name', 'named']).vm(4, [0])
    h.file('proc/812/statm', '9000 256 100 1 0 1 0\n')


@host
def libvirt(root):
    """QEMU under libvirt on two nodes, with debugfs."""
    h = Host(root, 'virt1', model=AMD, cpus='0-15', siblings='0,8',
             nodes=[(0, '0-3,8-11', 33554432), (1, '4-7,12-15', 33554432)])
    h.parameter('kvm', 'enable_pmu', 'Y')
    h.parameter('kvm_amd', 'npt', 'Y')
    web = h.process(2001, 'qemu-system-x86', '/usr/bin/qemu-system-x86_64', [
        '/usr/bin/qemu-system-x86_64', '-name', 'guest=web,debug-threads=on', '-S',
        '-machine', 'pc-q35-7.2,usb=off,dump-guest-core=off', '-accel', 'kvm',
        '-cpu', 'host,migratable=on', '-smp', '4,sockets=4,cores=1,threads=1'], start=10000)
    web.fd(9, '/dev/kvm').vm(10, range(4))
    for i in range(4):
        web.thread(2010 + i, f'CPU {i}/KVM', 'R' if i == 0 else 'S', cpu=i, guest=500,
                   allowed='0-3,8-11')
    web.thread(2005, 'IO mon_iothread').thread(2006, 'vnc_worker')
    web.numa('7f0000000000 default anon=262144 dirty=262144 N0=196608 N1=65536 kernelpagesize_kB=4',
             '7f8000000000 bind:0 file=/dev/hugepages/a\\040N1=99 huge anon=4 N0=4 '
             'kernelpagesize_kB=2048',
             '7fff00000000 default stack:2001 anon=2 N0=2 kernelpagesize_kB=4')
    h.debugfs(2001, 10, {i: 2010 + i for i in range(4)})
    h.file('proc/2001/cgroup',
           '0::/machine.slice/machine-qemu\\x2d1\\x2dweb.scope/libvirt/emulator\n')
    db = h.process(2002, 'qemu-system-x86', '/usr/bin/qemu-system-x86_64 (deleted)', [
        '/usr/bin/qemu-system-x86_64', '-name', 'guest=db,,main=2,debug-threads=on', '-accel',
        'kvm', '-cpu', 'EPYC,x2apic=on,pmu=off', '-smp', '2'], start=99940)
    db.vm(11, range(2)).numa('7f0000000000 default N1=512 kernelpagesize_kB=4')
    for i in range(2):
        db.thread(2020 + i, f'CPU {i}/KVM', cpu=4 + i, allowed='4')
    h.debugfs(2002, 11, {0: 2020, 1: 0})  # the second one has not run yet
    h.process(2100, 'libvirtd', '/usr/sbin/libvirtd', 'libvirtd').fd(20, '/dev/kvm')


@host
def firecracker(root):
    """Arm, jailed: the program lives elsewhere; one vCPU in KVM_RUN, one in the guest."""
    h = Host(root, 'fc1', arch='aarch64', model=ARM, nodes=[(0, '0-3', 8388608)])
    p = h.process(300, 'firecracker', '/srv/jailer/firecracker/vm1/jail/firecracker',
                  'firecracker --id=51a-web --start-time-us 1 --api-sock /run/fc.sock')
    p.vm(12, [0, 1])
    p.thread(301, 'fc_api', call='22 0x5 0x7f 0x20 0xffffffff 0x0 0x8 0x7ff 0x7f0')
    p.thread(302, 'fc_vcpu 0', call=p.runs(13, 29)).thread(303, 'fc_vcpu 1', 'R', call='running')
    p.numa('7f0000000000 default N0=1024 kernelpagesize_kB=4')


@host
def cloud_hypervisor(root):
    """Its VM's descriptor twice, a vCPU's as well: still one VM, two vCPUs."""
    h = Host(root, 'ch1', model=INTEL, nodes=[(0, '0-3', 8388608)])
    p = h.process(400, 'cloud-hyperviso', '/usr/bin/cloud-hypervisor',
                  'cloud-hypervisor --api-socket path=/run/ch/shop.front.sock --cpus boot=2')
    p.vm(7, [0, 1]).fd(30, 'anon_inode:kvm-vcpu:0').fd(31, 'anon_inode:kvm-vm')
    p.fd(32, 'anon_inode:kvm-device:6').fd(33, 'anon_inode:[eventfd]')
    p.thread(401, 'vmm').thread(402, 'vcpu0').thread(403, 'vcpu1').thread(404, '_disk0_q0')


@host
def crosvm(root):
    """Devices are forked processes which inherit descriptors: they are no VMs."""
    h = Host(root, 'cros', model=INTEL)
    p = h.process(600, 'crosvm', '/usr/bin/crosvm',
                  'crosvm run --name arcvm --no-pmu -c 2 vmlinux')
    p.vm(20, [0, 1]).thread(601, 'crosvm_vcpu0').thread(602, 'crosvm_vcpu1')
    h.process(610, 'pcivirtio-block', '/usr/bin/crosvm', 'crosvm', ppid=600) \
        .fd(20, 'anon_inode:kvm-vm')
    h.process(611, 'pcivirtio-net', '/usr/bin/crosvm', 'crosvm', ppid=600).vm(20, [0, 1])


@host
def kvmtool(root):
    """Two on Arm, with and without a PMU, one without a name."""
    h = Host(root, 'pi', arch='', model=ARM, release='5.10.0')
    for pid, words in ((700, 'lkvm run --name tiny --pmu -c 2'), (750, 'lkvm run -c 1')):
        p = h.process(pid, 'lkvm', '/usr/bin/lkvm', words).thread(pid + 1, 'ioeventfd-worke')
        p.vm(5, [0, 1] if pid == 700 else [0]).thread(pid + 2, 'kvm-vcpu-0')
        if pid == 700:
            p.thread(pid + 3, 'kvm-vcpu-1')


@host
def nodes8(root):
    """Eight nodes with SMT; APIC ids with gaps; KVM hands guests the whole PMU."""
    nodes = [(i, ','.join(str(c) for c in range(i, 512, 8)), 67108864) for i in range(8)]
    h = Host(root, 'big8', model=INTEL, cpus='0-511', siblings='0,256', nodes=nodes)
    h.parameter('kvm_intel', 'enable_mediated_pmu', 'Y')
    h.parameter('kvm', 'enable_pmu', 'Y')
    p = h.process(5000, 'qemu-kvm', '/usr/libexec/qemu-kvm',
                  ['qemu-kvm', '-name', 'analytics', '-cpu', 'host', '-smp', '6,cores=3'])
    p.vm(10, [0, 1, 2, 4, 5, 6])
    for i in range(6):
        p.thread(5010 + i, f'CPU {i}/KVM', 'S', cpu=i * 8,
                 allowed=','.join(str(c) for c in range(0, 512, 2)))
    p.numa(*(f'7f{i}000000000 bind:{i} huge N{i}={i + 1} kernelpagesize_kB=1048576'
             for i in range(8)))


@host
def tcg(root):
    """Emulated guests, and QEMUs that hold none."""
    h = Host(root, 'laptop', model=INTEL)
    exe = '/usr/bin/qemu-system-aarch64'
    p = h.process(900, 'qemu-system-aar', exe, [
        exe, '-name', 'named,debug-threads=on', '-machine', 'virt,accel=tcg', '-smp', '2'])
    p.thread(902, 'CPU 0/TCG', 'R', cpu=3).thread(903, 'CPU 1/TCG').thread(904, 'IO iothread1')
    h.process(910, 'qemu-system-aar', exe, [exe, '-M', 'virt', '-smp', 'cpus=3,sockets=3']) \
        .thread(911, 'qemu-system-aar')
    h.process(920, 'qemu-system-x86', '/usr/bin/qemu-system-x86_64',
              'qemu-system-x86_64 -S -machine none,accel=kvm:tcg -qmp stdio')
    h.process(930, 'qemu-system-i38', '/usr/bin/qemu-system-i386',
              'qemu-system-i386 -xen-domid 3 -name xenguest')
    h.process(940, 'qemu-system-x86', '/usr/bin/qemu-system-x86_64',
              'qemu-system-x86_64 -enable-kvm -name starting')
    h.process(950, 'qemu-img', '/usr/bin/qemu-img', 'qemu-img convert a b')
    h.process(960, 'qemu-x86_64', '/opt/bin/qemu', 'qemu -name renamed -M pc') \
        .thread(961, 'CPU 0/TCG')


@host
def dying(root):
    """VMs in the middle of their end."""
    h = Host(root, 'twilight', model=INTEL)
    h.process(100, 'firecracker', None, '')  # a zombie has no program any more
    gone = h.process(110, 'firecracker', '/usr/bin/firecracker', 'firecracker --id halfgone')
    gone.vm(5, [0, 1]).thread(111, 'fc_vcpu 0')
    h.file('proc/110/task/112/nothing', '')
    nostat = h.process(120, 'firecracker', '/usr/bin/firecracker', 'firecracker --id nostat')
    nostat.vm(5, [0])
    h.file('proc/120/stat', '120 (firecr')
    z = h.process(130, 'firecracker', '/usr/bin/firecracker', 'firecracker --id zombie')
    z.vm(5, [0])
    h.file('proc/130/stat', open(h.path('proc/130/stat')).read().replace(') S ', ') Z '))
    h.file('proc/140/cmdline', 'firecracker\0')


@host
def vcpus256(root):
    h = Host(root, 'huge', model=AMD, cpus='0-255', siblings='0-1',
             nodes=[(0, '0-255', 536870912)])
    p = h.process(3000, 'qemu-system-x86', '/usr/bin/qemu-system-x86_64',
                  'qemu-system-x86_64 -name guest=huge,debug-threads=on -cpu EPYC,pmu=on')
    p.vm(100, range(256))
    for i in range(256):
        p.thread(4000 + i, f'CPU {i}/KVM', cpu=i, allowed=str(i))
    h.debugfs(3000, 100, {i: 4000 + i for i in range(256)})


@host
def unreadable(root):
    """Other users' processes, and a VM of whose files some cannot be read."""
    h = Host(root, 'shared', model=INTEL, nodes=[(0, '0-1', 4194304), (2, '2-3', 4194304)])
    h.file('proc/200/cmdline', 'secret-vmm\0--vm\0')
    h.file('proc/201/cmdline', '')  # a kernel thread, as an ordinary user sees it
    p = h.process(210, 'firecracker', '/usr/bin/firecracker', 'firecracker --id open')
    p.vm(5, [0, 1]).thread(211, 'fc_vcpu 0').thread(212, 'fc_vcpu 1')
    h.close('proc/210/numa_maps')
    h.file('proc/210/task/211/syscall/x', '')
    q = h.process(220, 'qemu-system-x86', '/x', ['/usr/bin/qemu-system-x86_64', '-name', 'seen'])
    q.thread(221, 'CPU 0/TCG')
    for pid in (200, 201, 220):
        h.close(f'proc/{pid}/fd')
        h.close(f'proc/{pid}/exe')


def two(h, vms=((10, 2), (20, 2))):
    p = h.process(1234, 'selftest', '/usr/bin/selftest', 'selftest')
    tid = 1240
    for fd, n in vms:
        p.vm(fd, range(n))
        for _ in range(n):
            p.thread(tid, 'selftest', guest=7, call=p.runs(fd + 1 + (tid - 1240) % n))
            tid += 1
    return p


@host
def two_vms_debugfs(root):
    """Two VMs in one process; another thread than the first created the second."""
    h = Host(root, 'two', model=INTEL)
    two(h)
    h.debugfs(1234, 10, {0: 1242, 1: 1240})
    h.debugfs(1250, 20, {0: 1241, 1: 1243})  # created by a thread that has ended
    h.debugfs(9, 9, {0: 77})                 # somebody else's


@host
def two_vms(root):
    """The same without debugfs: only descriptors tell."""
    two(Host(root, 'two', model=INTEL))


@host
def hostile(root):
    """Names made to hurt whoever prints or parses them."""
    h = Host(root, 'evil\x1b[2J', model='model name\t: \x1b]0;owned\x07CPU')
    evil = 'a) R 1 (b\n\x1b[31m'
    p = h.process(66, evil, '/tmp/x\x1b[0m', ['x'])
    p.vm(4, [0]).thread(66, evil)
    q = h.process(67, 'fire', '/usr/bin/firecracker', ['firecracker', '--id', 'n' * 10240])
    q.vm(4, [0]).thread(68, 'fc_vcpu 0').thread(69, 'fc_vcpu 99999999999999999999')
    r = h.process(70, 'qemu-system-x86', '/usr/bin/qemu-system-x86_64',
                  ['qemu-system-x86_64', '-name', 'guest=a\nb\x1b[1m\udcff\xc2\x9b31m,,'])
    r.fd(8, 'anon_inode:kvm-vm').fd(9, 'anon_inode:kvm-vcpu:-1')
    r.fd(10, 'anon_inode:kvm-vcpu:99999999999').fd(11, 'anon_inode:kvm-vcpu:1x')
    r.fd(12, 'anon_inode:kvm-vcpu:').fd(13, '/tmp/anon_inode:kvm-vcpu:3')
    r.fd(14, 'anon_inode:kvm-vcpu:5')
    h.file('sys/kernel/debug/kvm/70-8/vcpu5/pid', 'ninety\n')
    h.file('sys/kernel/debug/kvm/70-8x/vcpu5/pid', '1\n')
    h.file('sys/kernel/debug/kvm/-1-8/vcpu5/pid', '1\n')


@host
def observed(root):
    """Programs that name no thread: the time in guest mode tells, if it can."""
    h = Host(root, 'lab', model=INTEL)
    p = h.process(50, 'mystery', '/opt/mystery', 'mystery').vm(5, [0, 1])
    p.thread(51, 'a', guest=3).thread(52, 'b').thread(53, 'c', guest=9)
    q = h.process(60, 'riddle', '/opt/riddle', 'riddle').vm(5, [0, 1])
    q.thread(61, 'a', guest=3).thread(62, 'b', guest=1).thread(63, 'c', guest=9)
    r = h.process(80, 'closed', '/opt/closed', 'closed')
    r.fd(6, 'anon_inode:kvm-vcpu:0').thread(81, 'x', guest=1)


@host
def unborn(root):
    """A VM whose second vCPU its guest has not started yet: the kernel says thread 0."""
    h = Host(root, 'early', model=INTEL)
    p = h.process(90, 'firecracker', '/usr/bin/firecracker', 'firecracker --id early')
    p.vm(5, [0, 1]).thread(91, 'worker')
    h.debugfs(90, 5, {0: 91, 1: 0})
