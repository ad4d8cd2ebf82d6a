/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hostile caller: random arguments, most of them nearly right, so that they get past
 * the first check. A seed gives the same calls again. What is open or mapped at the end
 * is closed, and what Xen answered then is a result.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/xen/abi.h"
#include "way.h"

#define HANDLES 8
#define MAPS 4

static struct {
	uint64_t seed;
	unsigned domid;
	uint32_t handle[HANDLES];
	unsigned char *buffer; /* two pages: a struct may lie across them */
	struct {
		void *frames;
		unsigned n;
	} map[MAPS];
	unsigned long long done, opened, mapped, faults;
} st;

static uint64_t below(uint64_t n)
{
	return draw(&st.seed) % n;
}

/* One of these, or, once in a while, anything. */
#define ONE_OF(...)                                                                        \
	({                                                                                 \
		const uint64_t all_[] = { __VA_ARGS__ };                                   \
		below(16) ? all_[below(sizeof(all_) / sizeof(*all_))]                      \
			  : draw(&st.seed) >> below(64);                                   \
	})

static uint32_t some_handle(void)
{
	uint32_t handle = st.handle[below(HANDLES)];

	return below(8) ? handle : handle ^ 1u << below(32);
}

static unsigned some_domid(void)
{
	return ONE_OF(0, st.domid, st.domid, st.domid, XENPMU_DOMID_XEN, XENPMU_DOMID_SELF);
}

static void some_open(struct xenpmu_open *open)
{
	open->domid = some_domid();
	open->nevents = ONE_OF(1, 1, 2, 3, 8, 0, 9);
	open->ring_frames = ONE_OF(0, 2, 2, 3, 5, 257);
	open->owner = draw(&st.seed);
	for (unsigned i = 0; i < open->nevents % (VPMU_SET_EVENTS + 1); i++)
		open->event[i] = (struct vpmu_event) {
			.config = ONE_OF(0x11, 0x11, 0x08, 0x00, 0x23),
			.period = open->ring_frames ? ONE_OF(0, 1000, 20000, 1000000) : 0,
			.flags = open->domid == XENPMU_DOMID_XEN ? ONE_OF(4)
								 : ONE_OF(1, 2, 3),
			.zero = !below(64),
		};
}

/* What a caller fills in, right in most of its fields. */
static void some_struct(unsigned op, void *at)
{
	memset(at, 0, sizeof(struct xenpmu_read));
	if (!below(8)) {
		for (size_t i = 0; i < sizeof(struct xenpmu_read); i += 4)
			*(uint32_t *)(void *)((char *)at + i) = draw(&st.seed);
	}
	*(uint32_t *)at = ONE_OF(XENPMU_VERSION, XENPMU_VERSION, XENPMU_VERSION);
	if (op == XENPMU_DOMAIN)
		((struct xenpmu_domain *)at)->domid = some_domid();
	if (op == XENPMU_OPEN)
		some_open(at);
	if (op == XENPMU_READ) {
		((struct xenpmu_read *)at)->handle = some_handle();
		((struct xenpmu_read *)at)->tally = ONE_OF(0, 0, 0, 1);
	}
	if (op == XENPMU_CLOSE)
		((struct xenpmu_close *)at)->handle = some_handle();
	if (op == XENPMU_NEXT)
		((struct xenpmu_next *)at)->handle = below(2) ? some_handle() : 0;
}

static void call_one(void)
{
	unsigned op =
		ONE_OF(XENPMU_INFO, XENPMU_DOMAIN, XENPMU_OPEN, XENPMU_OPEN, XENPMU_OPEN,
		       XENPMU_READ, XENPMU_READ, XENPMU_CLOSE, XENPMU_CLOSE, XENPMU_NEXT);
	/* aligned by 8, as Xen's own are, at any place of two pages */
	unsigned char *at = st.buffer + below(2 * XEN_PAGE_BYTES / 8 - 64) * 8;
	long rc;

	if (!below(32)) {
		/* where nothing of this program is */
		rc = way_call(XENPMU_OP_HYPERCALL, op,
			      below(2) ? below(XEN_PAGE_BYTES)
				       : draw(&st.seed) | 1ull << 63);
		st.faults += rc == -EFAULT;
		return;
	}
	some_struct(op, at);
	rc = way_call(XENPMU_OP_HYPERCALL, op, (uintptr_t)at);
	if (op == XENPMU_OPEN && !rc) {
		st.handle[below(HANDLES)] = ((struct xenpmu_open *)(void *)at)->handle;
		st.opened++;
	}
	if (op == XENPMU_NEXT && !rc)
		st.handle[below(HANDLES)] = ((struct xenpmu_next *)(void *)at)->handle;
}

static void map_one(void)
{
	unsigned i = below(MAPS), n = ONE_OF(1, 2, 2, 3, 16) % 512;

	if (st.map[i].frames) {
		uint64_t *word = st.map[i].frames;

		for (unsigned k = 0; k < 32; k++)
			word[below((uint64_t)st.map[i].n * XEN_PAGE_BYTES / 8)] =
				draw(&st.seed) >> below(64);
		if (below(2))
			return;
		way_unmap(st.map[i].frames, st.map[i].n);
		st.map[i].frames = NULL;
	}
	if (!n)
		return;
	st.map[i].frames =
		way_map(below(8) ? XENPMU_DOMID_XEN : some_domid(),
			ONE_OF(XENPMU_RESOURCE_RING, XENPMU_RESOURCE_RING) & 0xffff,
			some_handle(), ONE_OF(0, 0, 1), n);
	st.map[i].n = n;
	st.mapped += !!st.map[i].frames;
}

static void close_all(void)
{
	struct xenpmu_next next = { .version = XENPMU_VERSION };
	long rc = 0;

	for (unsigned i = 0; i < MAPS; i++) {
		if (st.map[i].frames)
			way_unmap(st.map[i].frames, st.map[i].n);
	}
	while (!rc && !WAY_PMU(XENPMU_NEXT, &next)) {
		struct xenpmu_close shut = {
			.version = XENPMU_VERSION,
			.handle = next.handle,
		};

		rc = WAY_PMU(XENPMU_CLOSE, &shut);
	}
	result("random_close", rc);
}

int cmd_random(char **words)
{
	unsigned long long n = strtoull(words[1], NULL, 0);

	st.seed = strtoull(words[0], NULL, 0) | 1;
	st.domid = atoi(words[2]);
	st.buffer = way_buffer(2 * XEN_PAGE_BYTES);
	for (; st.done < n; st.done++) {
		if (below(16))
			call_one();
		else
			map_one();
	}
	close_all();
	result("random_done", st.done);
	result("random_opened", st.opened);
	result("random_mapped", st.mapped);
	result("random_faults", st.faults);
	return 0;
}
