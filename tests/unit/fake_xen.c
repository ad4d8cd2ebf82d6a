/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fake_xen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fake_xen fake_xen;

static void *pointer(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

void fake_xen_reset(void)
{
	for (int i = 0; i < 2; i++)
		if (fake_xen.wake[i] > 0)
			close(fake_xen.wake[i]);
	fake_xen = (struct fake_xen) {
		.sysctl = 0x15,
		.domctl = 0x15,
		.version = 4 << 16 | 17,
		.extra = ".5",
		.phys = { .threads_per_core = 1,
			  .nr_cpus = 4,
			  .max_cpu_id = 3,
			  .nr_nodes = 1,
			  .total_pages = 1 << 20 },
		.graft = true,
		.info = { .flags = XENPMU_INFO_ON | XENPMU_INFO_PRIVILEGED |
				   XENPMU_INFO_KICK,
			  .guest_counters = 4,
			  .host_counters = 2,
			  .pcpus = 4,
			  .now_ns = 5000000000,
			  .events = { 1 << 0x08 | 1 << 0x11 },
			  .family = "armv8-pmuv3" },
	};
	fake_domain_add(0, 2);
}

struct fake_domain *fake_domain_add(uint16_t id, uint32_t nvcpus)
{
	struct fake_domain *d = fake_xen.domain;

	while (d->there)
		d++;
	*d = (struct fake_domain) {
		.there = true, .id = id, .nvcpus = nvcpus, .pages = 65536
	};
	for (unsigned i = 0; i < FAKE_XEN_VCPUS; i++) {
		d->vcpu[i] = (struct xen_vcpuinfo) { .vcpu = i, .online = 1, .cpu = i };
		d->affinity[i] = 0xf;
	}
	return d;
}

static struct fake_domain *find_domain(unsigned id)
{
	for (size_t i = 0; i < FAKE_DOMAINS; i++)
		if (fake_xen.domain[i].there && fake_xen.domain[i].id == id)
			return &fake_xen.domain[i];
	return NULL;
}

struct fake_set *fake_set_on(uint16_t domid)
{
	for (size_t i = 0; i < FAKE_SETS; i++)
		if (fake_xen.set[i].handle && fake_xen.set[i].open.domid == domid)
			return &fake_xen.set[i];
	return NULL;
}

static struct fake_set *find_set(uint32_t handle)
{
	for (size_t i = 0; i < FAKE_SETS; i++)
		if (handle && fake_xen.set[i].handle == handle)
			return &fake_xen.set[i];
	return NULL;
}

/* ---- domains */

static const struct fake_domain *domain_from(unsigned id)
{
	const struct fake_domain *best = NULL;

	for (size_t i = 0; i < FAKE_DOMAINS; i++) {
		const struct fake_domain *d = &fake_xen.domain[i];

		if (d->there && d->id >= id && (!best || d->id < best->id))
			best = d;
	}
	return best;
}

static void tell_domain(const struct fake_domain *d, struct xen_domain *out)
{
	*out = (struct xen_domain) {
		.domain = d->id,
		.flags = d->flags,
		.tot_pages = d->pages,
		.max_vcpu_id = d->nvcpus - 1,
		.nr_online_vcpus = d->nvcpus,
	};
	memcpy(out->handle, &d->handle, sizeof(d->handle));
}

static long do_sysctl(struct xen_sysctl *op)
{
	const struct fake_domain *d;

	if (op->interface_version != fake_xen.sysctl)
		return -EACCES;
	if (op->cmd == XEN_SYSCTL_PHYSINFO) {
		op->u.physinfo = fake_xen.phys;
		return 0;
	}
	if (op->cmd != XEN_SYSCTL_DOMAINS || op->u.domains.max_domains != 1)
		return -ENOSYS;
	d = domain_from(op->u.domains.first_domain);
	op->u.domains.num_domains = d != NULL;
	if (d)
		tell_domain(d, pointer(op->u.domains.buffer));
	return 0;
}

static long do_domctl(struct xen_domctl *op)
{
	struct fake_domain *d = find_domain(op->domain);
	unsigned vcpu = op->cmd == XEN_DOMCTL_GETVCPUINFO ? op->u.vcpuinfo.vcpu
							  : op->u.affinity.vcpu;

	if (op->interface_version != fake_xen.domctl)
		return -EACCES;
	if (!d || vcpu >= d->nvcpus || vcpu >= FAKE_XEN_VCPUS)
		return -ESRCH;
	if (op->cmd == XEN_DOMCTL_GETVCPUINFO)
		op->u.vcpuinfo = d->vcpu[vcpu];
	else if (op->cmd == XEN_DOMCTL_GETVCPUAFFINITY)
		memcpy(pointer(op->u.affinity.hard.bitmap), &d->affinity[vcpu],
		       (op->u.affinity.hard.nr_bits + 7) / 8);
	else
		return -ENOSYS;
	return 0;
}

/* ---- the graft */

static long do_open(struct xenpmu_open *open)
{
	struct fake_set *s = fake_xen.set;
	unsigned ntallies = open->domid == XENPMU_DOMID_XEN ? fake_xen.info.pcpus : 0;

	fake_xen.opens++;
	open->bad = open->nevents;
	if (fake_xen.open_fails) {
		open->bad = fake_xen.bad;
		return fake_xen.open_fails;
	}
	for (unsigned i = 0; i < open->nevents; i++)
		if (open->event[i].config >= 64 ||
		    !(fake_xen.info.events[0] >> open->event[i].config & 1)) {
			open->bad = i;
			return -EOPNOTSUPP;
		}
	if (!ntallies && find_domain(open->domid))
		ntallies = find_domain(open->domid)->nvcpus;
	if (!ntallies)
		return -ESRCH;
	if (open->ring_frames > FAKE_FRAMES || ntallies > FAKE_XEN_VCPUS)
		return -E2BIG;
	while (s->handle && s < fake_xen.set + FAKE_SETS - 1)
		s++;
	memset(s, 0, sizeof(*s));
	s->handle = 0x100 * fake_xen.opens + (unsigned)(s - fake_xen.set) + 1;
	for (unsigned i = 0; open->ring_frames && i < ntallies; i++)
		vpmu_ring_init(&s->ring[i], s->memory[i],
			       open->ring_frames * VPMU_RING_PAGE);
	open->handle = s->handle;
	open->tallies = ntallies;
	s->open = *open;
	return 0;
}

void fake_set_open(const struct xenpmu_open *open)
{
	struct xenpmu_open copy = *open;

	do_open(&copy);
}

static long do_read(struct xenpmu_read *read)
{
	const struct fake_set *s = find_set(read->handle);

	fake_xen.reads++;
	if (fake_xen.read_fails)
		return fake_xen.read_fails;
	if (!s)
		return -ENOENT;
	if (read->tally >= s->open.tallies)
		return -EINVAL;
	read->nevents = s->open.nevents;
	read->flags = s->read_flags;
	read->now_ns = fake_xen.info.now_ns;
	memcpy(read->count, s->count[read->tally], sizeof(read->count));
	return 0;
}

static long do_next(struct xenpmu_next *next)
{
	bool seen = !next->handle;

	for (size_t i = 0; i < FAKE_SETS; i++) {
		const struct fake_set *s = &fake_xen.set[i];

		if (s->handle && seen) {
			next->handle = s->handle;
			next->domid = s->open.domid;
			next->nevents = s->open.nevents;
			next->owner = s->open.owner;
			return 0;
		}
		seen = seen || s->handle == next->handle;
	}
	return -ENOENT;
}

static long do_domain(struct xenpmu_domain *d)
{
	const struct fake_domain *f = find_domain(d->domid);

	if (!f)
		return -ESRCH;
	d->flags = f->pmu;
	d->vcpus = f->nvcpus;
	return 0;
}

/* do_xenpmu_op() of Xen 4.17, arch/x86/cpu/vpmu.c */
static long do_own_pmu(uint64_t op, struct xen_pmu_params *params)
{
	if (fake_xen.own_fails)
		return fake_xen.own_fails;
	if (op != XEN_PMU_MODE_GET && op != XEN_PMU_FEATURE_GET)
		return -EINVAL;
	params->val = fake_xen.own_val[op];
	return 0;
}

static long do_pmu(uint64_t op, void *arg)
{
	struct xenpmu_close *close = arg;
	struct fake_set *s;

	if (fake_xen.x86)
		return do_own_pmu(op, arg);
	if (!fake_xen.graft)
		return -ENOSYS;
	switch (op) {
	case XENPMU_INFO:
		memcpy(arg, &fake_xen.info, sizeof(fake_xen.info));
		((struct xenpmu_info *)arg)->version = XENPMU_VERSION;
		return 0;
	case XENPMU_DOMAIN: return do_domain(arg);
	case XENPMU_OPEN: return do_open(arg);
	case XENPMU_READ: return do_read(arg);
	case XENPMU_NEXT: return do_next(arg);
	case XENPMU_CLOSE:
		s = find_set(close->handle);
		fake_xen.closes++;
		if (!s)
			return -ENOENT;
		s->handle = 0;
		return 0;
	}
	return -ENOSYS;
}

static long do_version(uint64_t cmd, char *out)
{
	if (cmd == XEN_VERSION_NUMBER)
		return fake_xen.version;
	strncpy(out, fake_xen.extra, XEN_VERSION_EXTRA_LEN);
	return 0;
}

/* ---- the way in */

static int fake_open(const struct rootfs *root, bool live, void **ctx, struct err *err)
{
	(void)root;
	(void)live;
	if (fake_xen.no_way_in)
		return err_set(err, fake_xen.no_way_in, "/dev/xen/privcmd: %s",
			       err_name(fake_xen.no_way_in));
	*ctx = &fake_xen;
	return 0;
}

static void fake_close(void *ctx)
{
	(void)ctx;
}

static long fake_call(void *ctx, unsigned hypercall, const uint64_t arg[5])
{
	void *what = pointer(hypercall == XENPMU_OP_HYPERCALL ? arg[1] : arg[0]);
	long ret = -ENOSYS;

	(void)ctx;
	if (hypercall == XEN_HYPERCALL_SYSCTL)
		ret = do_sysctl(what);
	else if (hypercall == XEN_HYPERCALL_DOMCTL)
		ret = do_domctl(what);
	else if (hypercall == XENPMU_OP_HYPERCALL)
		ret = do_pmu(arg[0], what);
	else if (hypercall == XEN_HYPERCALL_VERSION)
		return do_version(arg[0], pointer(arg[1]));
	if (fake_xen.spoil)
		fake_xen.spoil(hypercall,
			       hypercall == XENPMU_OP_HYPERCALL ? arg[0]
								: *(uint32_t *)what,
			       what, &ret);
	return ret;
}

static void *fake_buffer(void *ctx, size_t size)
{
	(void)ctx;
	return aligned_alloc(XEN_PAGE_BYTES, size);
}

static void fake_unbuffer(void *ctx, void *buffer, size_t size)
{
	(void)ctx;
	(void)size;
	free(buffer);
}

static void *fake_map(void *ctx, unsigned domid, unsigned type, unsigned id, unsigned frame,
		      unsigned n)
{
	struct fake_set *s = find_set(id);

	(void)ctx;
	errno = fake_xen.map_fails ? -fake_xen.map_fails : EINVAL;
	if (fake_xen.map_fails || !s || domid != XENPMU_DOMID_XEN ||
	    type != XENPMU_RESOURCE_RING || !n || n != s->open.ring_frames || frame % n ||
	    frame / n >= s->open.tallies)
		return NULL;
	fake_xen.maps++;
	if (fake_xen.wrong_ring)
		memset(s->memory[frame / n], 0, VPMU_RING_PAGE);
	return s->memory[frame / n];
}

static void fake_unmap(void *ctx, void *frames, unsigned n)
{
	(void)ctx;
	(void)frames;
	(void)n;
	fake_xen.maps--;
}

static int fake_bind(void *ctx, unsigned virq)
{
	(void)ctx;
	if (fake_xen.bind_fails || virq != XENPMU_VIRQ)
		return fake_xen.bind_fails ? fake_xen.bind_fails : -EINVAL;
	return pipe2(fake_xen.wake, O_CLOEXEC | O_NONBLOCK) ? -errno : fake_xen.wake[0];
}

static void fake_rearm(void *ctx)
{
	char bytes[16];

	(void)ctx;
	while (read(fake_xen.wake[0], bytes, sizeof(bytes)) > 0)
		;
	fake_xen.rearmed++;
}

const struct xen_ops fake_xen_ops = {
	.open = fake_open,
	.close = fake_close,
	.call = fake_call,
	.buffer = fake_buffer,
	.unbuffer = fake_unbuffer,
	.map = fake_map,
	.unmap = fake_unmap,
	.bind = fake_bind,
	.rearm = fake_rearm,
};
