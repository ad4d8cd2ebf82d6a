/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A domU without any privilege that makes random calls of what is dom0's: the sub-ops of
 * HYPERVISOR_xenpmu_op, mostly well-formed, and the mapping of rings. Nothing of it may
 * succeed but XENPMU_INFO; by vpmu=self it may count itself, which is tried as well.
 */
#include "bare.h"
#include "core/abi/xenpmu.h"

#ifndef CALLS
#define CALLS 50000
#endif

/* xen/include/public: xen.h, memory.h, arch-arm.h */
#define HYPERCALL_MEMORY 12
#define MEMORY_ACQUIRE_RESOURCE 28
#define MY_DOMID 5 /* test_xen_hostile */
#define OPS (XENPMU_NEXT - XENPMU_INFO + 1)

struct acquire_resource {
	uint16_t domid, type;
	uint32_t id, nr_frames, pad;
	uint64_t frame, frame_list;
};

static uint64_t seed = 88172645463325252u;

static uint64_t draw(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * 0x2545f4914f6cdd1d;
}

/* By shifts: there is no library for a division. */
static uint64_t below(uint32_t n)
{
	return ((draw() >> 32) * n) >> 32;
}

static long hypercall(unsigned long number, uint64_t a0, uint64_t a1)
{
	register unsigned long x0 __asm__("x0") = a0;
	register unsigned long x1 __asm__("x1") = a1;
	register unsigned long x16 __asm__("x16") = number;

	__asm__ volatile("hvc #0xea1" : "+r"(x0), "+r"(x1), "+r"(x16) : : "memory");
	return x0;
}

static union {
	struct xenpmu_info info;
	struct xenpmu_domain domain;
	struct xenpmu_open open;
	struct xenpmu_read read;
	struct xenpmu_close close;
	struct xenpmu_next next;
	uint32_t word[128];
} arg __attribute__((aligned(8)));

static uint32_t mine; /* the handle of the set that it has open on itself */

static uint32_t some_domid(void)
{
	static const uint32_t all[] = {
		0, 1, 2, MY_DOMID, XENPMU_DOMID_XEN, XENPMU_DOMID_SELF
	};

	return below(8) ? all[below(6)] : draw() & 0xffff;
}

static uint32_t some_handle(void)
{
	if (below(4) == 0)
		return mine;
	return below(2) ? (below(8) << 8 | below(4)) : draw() >> below(32);
}

static void clear(void)
{
	for (unsigned int i = 0; i < sizeof(arg) / sizeof(uint32_t); i++)
		arg.word[i] = 0;
	arg.word[0] = XENPMU_VERSION;
}

/* What a caller fills in, right in most of its fields. */
static void fill(unsigned int op)
{
	clear();
	if (!below(8))
		for (unsigned int i = 0; i < sizeof(arg) / sizeof(uint32_t); i++)
			arg.word[i] = below(16) ? 0 : draw();
	arg.word[0] = below(16) ? XENPMU_VERSION : draw();
	if (op == XENPMU_DOMAIN)
		arg.domain.domid = some_domid();
	if (op == XENPMU_OPEN) {
		arg.open.domid = some_domid();
		arg.open.nevents = 1;
		arg.open.event[0].config = 0x11;
		arg.open.event[0].flags = arg.open.domid == XENPMU_DOMID_XEN ? 4 : 1;
		if (below(2)) {
			arg.open.event[0].period = 1000000;
			arg.open.ring_frames = 2;
		}
	}
	if (op == XENPMU_READ || op == XENPMU_CLOSE || op == XENPMU_NEXT)
		arg.read.handle = some_handle();
}

static unsigned long long refused, allowed, got;

/* Whether a call that was allowed was about this domain alone. */
static int about_me(unsigned int op, uint32_t domid, uint32_t handle)
{
	if (op == XENPMU_DOMAIN || op == XENPMU_OPEN)
		return domid == XENPMU_DOMID_SELF || domid == MY_DOMID;
	if (op == XENPMU_NEXT)
		return arg.next.handle == mine;
	return op == XENPMU_INFO || handle == mine;
}

static void call_one(void)
{
	unsigned int op = XENPMU_INFO + below(OPS);
	uint32_t domid, handle;
	uint64_t at = below(64) ? (uint64_t)&arg : draw() | 1ull << 63;

	fill(op);
	domid = arg.open.domid;
	handle = arg.read.handle;
	if (hypercall(40, op, at) < 0) {
		refused++;
		return;
	}
	allowed++;
	got += !about_me(op, domid, handle);
	if (op == XENPMU_OPEN)
		mine = arg.open.handle;
	if (op == XENPMU_CLOSE)
		mine = 0;
}

static unsigned long long unmapped, mapped;

static void map_one(void)
{
	static uint64_t gfn;
	struct acquire_resource map = {
		.domid = below(4) ? XENPMU_DOMID_XEN : some_domid(),
		.type = XENPMU_RESOURCE_RING,
		.id = some_handle(),
		.nr_frames = 1,
		.frame = below(4),
		.frame_list = (uint64_t)&gfn,
	};

	gfn = 0x50000 + below(16);
	if (!below(4))
		map.nr_frames = map.frame_list = 0;
	if (hypercall(HYPERCALL_MEMORY, MEMORY_ACQUIRE_RESOURCE, (uint64_t)&map))
		unmapped++;
	else
		mapped++;
}

static long open_myself(void)
{
	clear();
	arg.open.domid = XENPMU_DOMID_SELF;
	arg.open.nevents = 1;
	arg.open.event[0].config = 0x11;
	arg.open.event[0].flags = VPMU_EVENT_USER | VPMU_EVENT_KERNEL;
	return hypercall(40, XENPMU_OPEN, (uint64_t)&arg);
}

static long close_mine(void)
{
	clear();
	arg.close.handle = mine;
	mine = 0;
	return hypercall(40, XENPMU_CLOSE, (uint64_t)&arg);
}

/* A set on itself: what each step answers, and whether it counts. */
static void count_myself(void)
{
	result("self_open", -open_myself());
	mine = arg.open.handle;
	result("self_open_again", -open_myself());
	for (volatile unsigned int i = 0; i < 100000; i++)
		;
	clear();
	arg.read.handle = mine;
	result("self_read", -hypercall(40, XENPMU_READ, (uint64_t)&arg));
	result("self_counts", arg.read.count[0].value > 300000);
	result("self_close", -close_mine());
}

int bare_main(void)
{
	count_myself();
	for (unsigned int i = 0; i < CALLS; i++) {
		if (below(8))
			call_one();
		else
			map_one();
	}
	if (mine)
		close_mine();
	/* it is destroyed with a set open */
	result("self_left", -open_myself());
	result("got", got);
	result("allowed", allowed);
	result("refused", refused);
	result("mapped", mapped);
	result("unmapped", unmapped);
	return 0;
}
