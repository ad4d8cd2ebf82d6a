/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "way.h"

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "source/xen/call.h"

static void *ctx;
static void *arguments;

void way_open(void)
{
	struct rootfs root;
	struct err why = { 0 };

	if (rootfs_open(&root, "/", &why) || xen_privcmd.open(&root, true, &ctx, &why))
		errx(1, "%s", why.text);
	arguments = way_buffer(XEN_PAGE_BYTES);
}

long way_call(unsigned hypercall, uint64_t a0, uint64_t a1)
{
	const uint64_t args[5] = { a0, a1 };

	return xen_privcmd.call(ctx, hypercall, args);
}

void *way_buffer(size_t size)
{
	void *buffer = xen_privcmd.buffer(ctx, size);

	if (!buffer)
		err(1, "memory for a hypercall");
	return buffer;
}

long way_pmu(unsigned op, void *arg, size_t size)
{
	long rc;

	memcpy(arguments, arg, size);
	rc = way_call(XENPMU_OP_HYPERCALL, op, (uintptr_t)arguments);
	memcpy(arg, arguments, size);
	return rc;
}

long way_domctl(struct xen_domctl *op)
{
	static const uint32_t versions[] = { 0x15, 0x16, 0x17 };
	long rc = -EACCES;

	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions) && rc == -EACCES; i++) {
		op->interface_version = versions[i];
		memcpy(arguments, op, sizeof(*op));
		rc = way_call(XEN_HYPERCALL_DOMCTL, (uintptr_t)arguments, 0);
	}
	memcpy(op, arguments, sizeof(*op));
	return rc;
}

void *way_map(unsigned domid, unsigned type, unsigned id, unsigned frame, unsigned n)
{
	return xen_privcmd.map(ctx, domid, type, id, frame, n);
}

void way_unmap(void *frames, unsigned n)
{
	xen_privcmd.unmap(ctx, frames, n);
}

bool way_woken(int ms)
{
	static struct pollfd channel = { .events = POLLIN };

	if (!channel.fd)
		channel.fd = xen_privcmd.bind(ctx, XENPMU_VIRQ);
	if (channel.fd < 0)
		errx(1, "the virtual interrupt: %s", strerror(-channel.fd));
	if (poll(&channel, 1, ms) <= 0)
		return false;
	xen_privcmd.rearm(ctx);
	return true;
}

void result(const char *name, long long value)
{
	printf("@@ %s %lld\n", name, value);
	fflush(stdout);
}

uint64_t draw(uint64_t *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * 0x2545f4914f6cdd1d;
}
