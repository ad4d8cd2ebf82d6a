/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a caller can do wrong, one thing at a time: what Xen answers is a result each. */
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "way.h"

static struct xenpmu_open plain(unsigned domid)
{
	return (struct xenpmu_open) {
		.version = XENPMU_VERSION,
		.domid = domid,
		.nevents = 1,
		.ring_frames = 2,
		.owner = 0x1234,
		.event = { { .config = 0x11,
			     .period = 100000,
			     .flags = domid == XENPMU_DOMID_XEN ? VPMU_EVENT_HYP
								: VPMU_EVENT_USER } },
	};
}

static uint32_t opened(unsigned domid)
{
	struct xenpmu_open open = plain(domid);
	long rc = WAY_PMU(XENPMU_OPEN, &open);

	if (rc)
		errx(1, "open: %ld", rc);
	return open.handle;
}

static long closed(uint32_t handle)
{
	struct xenpmu_close shut = { .version = XENPMU_VERSION, .handle = handle };

	return WAY_PMU(XENPMU_CLOSE, &shut);
}

static long read_of(uint32_t handle, uint32_t tally)
{
	struct xenpmu_read read = {
		.version = XENPMU_VERSION,
		.handle = handle,
		.tally = tally,
	};

	return WAY_PMU(XENPMU_READ, &read);
}

static long mapped(unsigned domid, uint32_t handle, unsigned frame, unsigned n)
{
	void *frames = way_map(domid, XENPMU_RESOURCE_RING, handle, frame, n);

	if (!frames)
		return -errno;
	way_unmap(frames, n);
	return 0;
}

static void handles(unsigned domid)
{
	uint32_t first = opened(domid), second;

	result("read", read_of(first, 0));
	result("read_of_no_tally", read_of(first, 1000));
	result("read_of_no_handle", read_of(0xffffffff, 0));
	result("map", mapped(XENPMU_DOMID_XEN, first, 0, 2));
	result("map_behind_the_end", mapped(XENPMU_DOMID_XEN, first, 1000, 1));
	result("map_of_another_domain", mapped(domid, first, 0, 1));
	result("close", closed(first));
	result("close_twice", closed(first));
	result("map_after_close", mapped(XENPMU_DOMID_XEN, first, 0, 1));
	second = opened(domid);
	result("same_slot", (first & 0xff) == (second & 0xff));
	result("stale_read", read_of(first, 0));
	result("stale_close", closed(first));
	closed(second);
}

/* A page that is mapped stays what it is, whatever is opened meanwhile. */
static void kept_pages(unsigned domid)
{
	uint32_t first = opened(domid), second;
	volatile unsigned char *mine, *other;
	unsigned changed = 0;

	mine = way_map(XENPMU_DOMID_XEN, XENPMU_RESOURCE_RING, first, 1, 1);
	if (!mine)
		err(1, "map");
	result("fresh_page_is_zero", mine[0] == 0 && mine[VPMU_RING_PAGE - 1] == 0);
	closed(first);
	memset((void *)mine, 0xa5, VPMU_RING_PAGE);
	second = opened(domid);
	result("slot_waits_for_the_mapping", (first & 0xff) != (second & 0xff));
	other = way_map(XENPMU_DOMID_XEN, XENPMU_RESOURCE_RING, second, 1, 1);
	if (!other)
		err(1, "map");
	memset((void *)other, 0x5a, VPMU_RING_PAGE);
	for (unsigned i = 0; i < VPMU_RING_PAGE; i++)
		changed += mine[i] != 0xa5;
	result("kept_page_changed", changed);
	way_unmap((void *)mine, 1);
	way_unmap((void *)other, 1);
	closed(second);
	second = opened(domid);
	result("slot_is_free_again", (first & 0xff) == (second & 0xff));
	closed(second);
}

static long open_with(unsigned domid, void (*change)(struct xenpmu_open *open),
		      uint32_t *bad)
{
	struct xenpmu_open open = plain(domid);
	long rc;

	change(&open);
	rc = WAY_PMU(XENPMU_OPEN, &open);
	*bad = open.bad;
	if (!rc)
		closed(open.handle);
	return rc;
}

static void other_version(struct xenpmu_open *o)
{
	o->version = 2;
}
static void not_zero(struct xenpmu_open *o)
{
	o->zero = 1;
}
static void no_events(struct xenpmu_open *o)
{
	o->nevents = 0;
}
static void many_events(struct xenpmu_open *o)
{
	o->nevents = 9;
}
static void no_flags(struct xenpmu_open *o)
{
	o->event[0].flags = 0;
}
static void of_the_hypervisor(struct xenpmu_open *o)
{
	o->event[0].flags = VPMU_EVENT_HYP;
}
static void short_period(struct xenpmu_open *o)
{
	o->event[0].period = 1;
}
static void no_ring(struct xenpmu_open *o)
{
	o->ring_frames = 0;
}
static void large_ring(struct xenpmu_open *o)
{
	o->ring_frames = 258;
}
static void no_such_event(struct xenpmu_open *o)
{
	o->event[0].config = 0x03;
}
static void no_such_domain(struct xenpmu_open *o)
{
	o->domid = 999;
}
static void io_domain(struct xenpmu_open *o)
{
	o->domid = 0x7ff1;
}
static void idle_domain(struct xenpmu_open *o)
{
	o->domid = 0x7fff;
}

static void fields(unsigned domid)
{
	static const struct {
		const char *name;
		void (*change)(struct xenpmu_open *open);
	} tries[] = {
		{ "other_version", other_version },
		{ "not_zero", not_zero },
		{ "no_events", no_events },
		{ "many_events", many_events },
		{ "no_flags", no_flags },
		{ "of_the_hypervisor", of_the_hypervisor },
		{ "short_period", short_period },
		{ "no_ring", no_ring },
		{ "large_ring", large_ring },
		{ "no_such_event", no_such_event },
		{ "no_such_domain", no_such_domain },
		{ "io_domain", io_domain },
		{ "idle_domain", idle_domain },
	};
	uint32_t bad;

	for (size_t i = 0; i < sizeof(tries) / sizeof(*tries); i++)
		result(tries[i].name, open_with(domid, tries[i].change, &bad));
	open_with(domid, short_period, &bad);
	result("event_at_fault", bad);
	open_with(domid, no_such_domain, &bad);
	result("no_event_at_fault", bad);
}

static void pointers(void)
{
	static const uint64_t nowhere[] = { 0, 0xffff000000000000, 0xffffffffffffffff, 1 };
	unsigned refused = 0;

	for (size_t i = 0; i < sizeof(nowhere) / sizeof(*nowhere); i++) {
		for (unsigned op = XENPMU_INFO; op <= XENPMU_NEXT; op++)
			refused += way_call(XENPMU_OP_HYPERCALL, op, nowhere[i]) == -EFAULT;
	}
	result("pointers_refused", refused);
	result("pointers_tried", sizeof(nowhere) / sizeof(*nowhere) * 6);
	result("sub_op_0", way_call(XENPMU_OP_HYPERCALL, 0, 0));
	result("sub_op_unknown", way_call(XENPMU_OP_HYPERCALL, 0x1ff, 0));
}

/* Closes all that NEXT tells of; how many there were. */
static unsigned close_all(void)
{
	struct xenpmu_next next = { .version = XENPMU_VERSION };
	unsigned n = 0;

	while (!WAY_PMU(XENPMU_NEXT, &next) && !closed(next.handle))
		n += next.owner == 0x1234;
	return n;
}

static void too_many(unsigned domid)
{
	struct xenpmu_open open;
	unsigned n = 0;
	long rc;

	do {
		open = plain(domid);
		open.event[0].period = open.ring_frames = 0;
		rc = WAY_PMU(XENPMU_OPEN, &open);
		n += !rc;
	} while (!rc && n < 100);
	result(domid == XENPMU_DOMID_XEN ? "too_many_on_xen" : "too_many", rc);
	result(domid == XENPMU_DOMID_XEN ? "unlisted_on_xen" : "unlisted", n - close_all());
}

int cmd_abuse(char **words)
{
	unsigned domid = atoi(words[0]);

	handles(domid);
	kept_pages(domid);
	fields(domid);
	pointers();
	too_many(domid);
	too_many(XENPMU_DOMID_XEN);
	result("left_open", close_all());
	return 0;
}
