/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Linux' way into Xen: the devices of xen-privcmd and xen-evtchn. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "source/xen/call.h"

/* As <xen/privcmd.h> and <xen/evtchn.h> have them, which want Xen's own headers. */
struct privcmd_hypercall {
	uint64_t op;
	uint64_t arg[5];
};
struct privcmd_mmap_resource {
	uint16_t dom;
	uint32_t type;
	uint32_t id;
	uint32_t idx;
	uint64_t num;
	uint64_t addr;
};
#define IOCTL_PRIVCMD_HYPERCALL _IOC(_IOC_NONE, 'P', 0, sizeof(struct privcmd_hypercall))
#define IOCTL_PRIVCMD_MMAP_RESOURCE                                                        \
	_IOC(_IOC_NONE, 'P', 7, sizeof(struct privcmd_mmap_resource))

struct ioctl_evtchn_bind_virq {
	unsigned int virq;
};
#define IOCTL_EVTCHN_BIND_VIRQ                                                             \
	_IOC(_IOC_NONE, 'E', 0, sizeof(struct ioctl_evtchn_bind_virq))

struct privcmd {
	int fd;	      /* /dev/xen/privcmd */
	int buffers;  /* /dev/xen/hypercall; -1: Linux before 4.18 */
	int channels; /* /dev/xen/evtchn; -1 until something is bound */
};

static int privcmd_open(const struct rootfs *root, bool live, void **out, struct err *err)
{
	struct privcmd *p;
	int fd;

	if (!live)
		return err_set(
			err, EOPNOTSUPP,
			"a recorded tree has no hypervisor to ask: leave --root out");
	fd = openat(root->fd, "dev/xen/privcmd", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, errno, "/dev/xen/privcmd: %s: %s", err_name(errno),
			       errno == ENOENT ? "load its module (modprobe xen-privcmd); "
						 "without Xen there is none"
					       : "run as root, in dom0");
	p = malloc(sizeof(*p));
	if (!p) {
		close(fd);
		return err_set(err, ENOMEM, "out of memory");
	}
	p->fd = fd;
	p->buffers = openat(root->fd, "dev/xen/hypercall", O_RDWR | O_CLOEXEC);
	p->channels = -1;
	*out = p;
	return 0;
}

static void privcmd_close(void *ctx)
{
	struct privcmd *p = ctx;

	if (p->channels >= 0)
		close(p->channels);
	if (p->buffers >= 0)
		close(p->buffers);
	close(p->fd);
	free(p);
}

static long privcmd_call(void *ctx, unsigned hypercall, const uint64_t arg[5])
{
	const struct privcmd *p = ctx;
	struct privcmd_hypercall call = {
		.op = hypercall,
		.arg = { arg[0], arg[1], arg[2], arg[3], arg[4] },
	};
	long ret = ioctl(p->fd, IOCTL_PRIVCMD_HYPERCALL, &call);

	return ret < 0 ? -errno : ret;
}

/*
 * Xen writes to physical pages: they must be there and stay. The hypercall device's
 * never move; of other memory, locked pages may still be migrated for a moment.
 */
static void *privcmd_buffer(void *ctx, size_t size)
{
	const struct privcmd *p = ctx;
	void *buffer = MAP_FAILED;

	if (p->buffers >= 0)
		buffer =
			mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, p->buffers, 0);
	if (buffer == MAP_FAILED)
		buffer = mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED | MAP_POPULATE, -1,
			      0);
	if (buffer == MAP_FAILED)
		return NULL;
	madvise(buffer, size, MADV_DONTFORK);
	return buffer;
}

static void privcmd_unbuffer(void *ctx, void *buffer, size_t size)
{
	(void)ctx;
	munmap(buffer, size);
}

static void *privcmd_map(void *ctx, unsigned domid, unsigned type, unsigned id,
			 unsigned frame, unsigned n)
{
	const struct privcmd *p = ctx;
	size_t size = (size_t)n * XEN_PAGE_BYTES;
	void *addr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	struct privcmd_mmap_resource resource = {
		.dom = domid,
		.type = type,
		.id = id,
		.idx = frame,
		.num = n,
		.addr = (uintptr_t)addr,
	};
	int code;

	if (addr == MAP_FAILED)
		return NULL;
	if (!ioctl(p->fd, IOCTL_PRIVCMD_MMAP_RESOURCE, &resource))
		return addr;
	code = errno;
	munmap(addr, size);
	errno = code;
	return NULL;
}

static void privcmd_unmap(void *ctx, void *frames, unsigned n)
{
	(void)ctx;
	munmap(frames, (size_t)n * XEN_PAGE_BYTES);
}

static int privcmd_bind(void *ctx, unsigned virq)
{
	struct privcmd *p = ctx;
	struct ioctl_evtchn_bind_virq bind = { .virq = virq };
	int fd = open("/dev/xen/evtchn", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	/* one process at a time may have it: -EEXIST */
	if (ioctl(fd, IOCTL_EVTCHN_BIND_VIRQ, &bind) < 0) {
		int code = errno;

		close(fd);
		return -code;
	}
	p->channels = fd;
	return fd;
}

/* A channel is masked once it was read, until its number is written back. */
static void privcmd_rearm(void *ctx)
{
	const struct privcmd *p = ctx;
	uint32_t ports[16];
	ssize_t n;

	while ((n = read(p->channels, ports, sizeof(ports))) > 0)
		if (write(p->channels, ports, n) != n)
			return;
}

const struct xen_ops xen_privcmd = {
	.open = privcmd_open,
	.close = privcmd_close,
	.call = privcmd_call,
	.buffer = privcmd_buffer,
	.unbuffer = privcmd_unbuffer,
	.map = privcmd_map,
	.unmap = privcmd_unmap,
	.bind = privcmd_bind,
	.rearm = privcmd_rearm,
};
