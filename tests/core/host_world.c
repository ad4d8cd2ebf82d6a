/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tests/core/host_world.h"

struct world world;

static void wake(struct vpmu_set *set)
{
	assert_non_null(set->cookie);
	world.woken++;
}

static const struct vpmu_upcalls upcalls = { .wake = wake };

void world_begin_with(unsigned width)
{
	memset(&world, 0, sizeof(world));
	world.clock = 1000;
	world.m.family = &fake_family;
	world.m.upcalls = &upcalls;
	world.m.config.turn_ns = VPMU_TURN_NS;
	world.m.caps = (struct vpmu_caps) {
		.counters = 0xff,
		.guest = 0xff & ~FAKE_HOST,
		.host = FAKE_HOST,
		.width = (uint8_t)width,
	};
	for (unsigned i = 0; i < PCPUS; i++) {
		world.f[i] = (struct fake_pmu) { .width = width, .clock = &world.clock };
		/* a counter holds rubbish until it is set up */
		for (unsigned c = 0; c < FAKE_COUNTERS; c++)
			world.f[i].value[c] = vpmu_width_mask(width) - 17 * c;
		world.p[i].m = &world.m;
		world.p[i].index = i;
		world.p[i].hw = (struct vpmu_hw) { .ops = &fake_ops, .ctx = &world.f[i] };
	}
	for (unsigned i = 0; i < VMS; i++) {
		world.vm[i].m = &world.m;
		for (unsigned j = 0; j < VCPUS; j++) {
			world.v[i][j].vm = &world.vm[i];
			world.v[i][j].index = j;
		}
	}
}

int world_begin(void **state)
{
	(void)state;
	world_begin_with(32);
	return 0;
}

int world_open(struct opened *o, struct vpmu_vm *vm, unsigned n, const unsigned *events,
	       uint64_t period)
{
	unsigned bad;

	memset(o, 0, sizeof(*o));
	o->vm = vm;
	o->set = (struct vpmu_set) {
		.n = n,
		.tally = o->tally,
		.ntallies = VCPUS,
		.cookie = o,
	};
	for (unsigned i = 0; i < n; i++)
		o->set.event[i] = (struct vpmu_event) {
			.config = events[i],
			.period = period,
			.flags = vm ? VPMU_EVENT_USER : VPMU_EVENT_HYP,
		};
	assert_int_equal(vpmu_set_check(&world.m, &o->set, !vm, &bad), 0);
	for (unsigned i = 0; period && i < VCPUS; i++) {
		assert_int_equal(vpmu_ring_init(&o->tally[i].ring, o->pages[i], RING_BYTES),
				 0);
		assert_int_equal(vpmu_reader_init(&o->reader[i], o->pages[i], RING_BYTES),
				 0);
	}
	return vpmu_host_add(&world.m, vm, &o->set);
}

void world_refresh(void)
{
	for (unsigned i = 0; i < PCPUS; i++)
		vpmu_host_refresh(&world.p[i], world.p[i].runs);
}

void world_opened(struct opened *o, struct vpmu_vm *vm, unsigned n, const unsigned *events,
		  uint64_t period)
{
	assert_int_equal(world_open(o, vm, n, events, period), 0);
	world_refresh();
	/* what is counted from here on is this set's */
	memset(world.truth, 0, sizeof(world.truth));
	memset(world.hyp_truth, 0, sizeof(world.hyp_truth));
	memset(world.ran_ns, 0, sizeof(world.ran_ns));
}

void world_close(struct opened *o)
{
	vpmu_host_remove(&world.m, o->vm, &o->set);
	world_refresh();
}

void world_in(unsigned pcpu, unsigned vm, unsigned vcpu)
{
	struct vpmu_vcpu *v = &world.v[vm][vcpu];

	assert_null(v->on);
	assert_null(world.p[pcpu].runs);
	v->on = &world.p[pcpu];
	world.p[pcpu].runs = v;
	vpmu_host_in(&world.p[pcpu], v);
}

static uint64_t *truth_of(const struct vpmu_vcpu *v)
{
	return world.truth[v->vm - world.vm][v->index];
}

void world_out(unsigned pcpu, unsigned event)
{
	struct vpmu_vcpu *v = world.p[pcpu].runs;
	struct vpmu_where w = { .mode = VPMU_MODE_USER, .pc = truth_of(v)[event] };

	vpmu_host_out(&world.p[pcpu], v, &w);
	world.p[pcpu].runs = NULL;
	v->on = NULL;
}

static void time_passes(uint64_t ns)
{
	world.clock += ns;
	for (unsigned i = 0; i < PCPUS; i++) {
		struct vpmu_vcpu *v = world.p[i].runs;

		if (v)
			world.ran_ns[v->vm - world.vm][v->index] += ns;
	}
}

void world_sleep(uint64_t ns)
{
	time_passes(ns);
}

void world_run_deaf(unsigned pcpu, enum vpmu_mode mode, unsigned event, uint64_t n)
{
	fake_run(&world.f[pcpu], mode, event, n);
	if (mode == VPMU_MODE_HYP)
		world.hyp_truth[pcpu][event] += n;
	else if (mode == VPMU_MODE_USER && world.p[pcpu].runs)
		truth_of(world.p[pcpu].runs)[event] += n;
	time_passes(n);
}

bool world_interrupt(unsigned pcpu, enum vpmu_mode mode, uint64_t pc)
{
	struct vpmu_where w = { .mode = mode, .pc = pc };
	bool edge = world.m.caps.topbit && world.f[pcpu].flags;

	if (!fake_line(&world.f[pcpu]))
		return false;
	if (edge) /* nobody clears what there is no register for */
		world.f[pcpu].flags = 0;
	return vpmu_interrupt(&world.p[pcpu], &w);
}

void world_run(unsigned pcpu, unsigned event, uint64_t n)
{
	while (n) {
		uint64_t next = fake_next(&world.f[pcpu], VPMU_MODE_USER, event);
		uint64_t now = next && next < n ? next : n;

		world_run_deaf(pcpu, VPMU_MODE_USER, event, now);
		world_interrupt(pcpu, VPMU_MODE_USER, truth_of(world.p[pcpu].runs)[event]);
		n -= now;
	}
}

struct vpmu_count world_count(struct opened *o, unsigned tally, unsigned event_index)
{
	struct vpmu_count counts[VPMU_SET_EVENTS];

	for (unsigned i = 0; i < PCPUS; i++)
		vpmu_host_fold(&world.p[i]);
	assert_int_equal(vpmu_tally_read(&o->tally[tally], counts), 0);
	return counts[event_index];
}

void world_agrees(struct opened *o)
{
	for (unsigned t = 0; t < VCPUS; t++)
		for (unsigned i = 0; i < o->set.n; i++) {
			const struct vpmu_event *e = &o->set.event[i];
			const uint64_t *truth = o->vm ? world.truth[o->vm - world.vm][t]
						      : world.hyp_truth[t];
			struct vpmu_count c = world_count(o, t, i);

			assert_int_equal(c.offset.sum, truth[e->config]);
			assert_int_equal(c.running_ns, c.enabled_ns);
			if (o->vm)
				assert_int_equal(c.enabled_ns,
						 world.ran_ns[o->vm - world.vm][t]);
			if (e->period)
				assert_int_equal(c.left,
						 e->period - c.offset.sum % e->period);
		}
}

bool world_sample(struct opened *o, unsigned tally, struct vpmu_sample *sample)
{
	if (!vpmu_reader_waiting(&o->reader[tally]))
		return false;
	assert_true(vpmu_reader_copy(&o->reader[tally], 0, sample));
	vpmu_reader_done(&o->reader[tally], 1);
	return true;
}
