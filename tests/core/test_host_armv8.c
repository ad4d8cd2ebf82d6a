/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's sets on PMUv3, while guests use counters of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/core/machine.h"

#define RECORDS 64
#define RING_BYTES (VPMU_RING_PAGE + RECORDS * sizeof(struct vpmu_sample))
#define INSTRUCTIONS 0x8
#define CYCLES 0x11

static const struct hw_armv8_config v3p5 = { .counters = 6, .version = 6 };
static const struct hw_armv8_config v3 = { .counters = 6, .version = 1 };

struct opened {
	struct vpmu_set set;
	struct vpmu_tally tally[MACHINE_PCPUS];
	struct vpmu_reader reader;
	unsigned char pages[RING_BYTES] __attribute__((aligned(VPMU_RING_PAGE)));
};
static struct opened a, b, hyp;

static void refresh(struct machine *m)
{
	for (unsigned i = 0; i < MACHINE_PCPUS; i++)
		vpmu_host_refresh(&m->pcpu[i].p,
				  m->pcpu[i].runs ? &m->pcpu[i].runs->v : NULL);
}

/* One event on VM @vm, -1: on the hypervisor. */
static void opened(struct machine *m, struct opened *o, int vm, uint64_t event,
		   uint64_t period)
{
	struct vpmu_event e = {
		.config = event,
		.period = period,
		.flags = vm < 0 ? VPMU_EVENT_HYP : VPMU_EVENT_USER | VPMU_EVENT_KERNEL,
	};
	unsigned bad;

	*o = (struct opened) { .set = { .n = 1, .event = { e }, .tally = o->tally } };
	o->set.ntallies = vm < 0 ? MACHINE_PCPUS : 1;
	assert_int_equal(vpmu_ring_init(&o->tally[0].ring, o->pages, RING_BYTES), 0);
	assert_int_equal(vpmu_reader_init(&o->reader, o->pages, RING_BYTES), 0);
	assert_int_equal(vpmu_set_check(&m->m, &o->set, vm < 0, &bad), 0);
	assert_int_equal(vpmu_host_add(&m->m, vm < 0 ? NULL : &m->vcpu[vm].vm, &o->set), 0);
	refresh(m);
}

static uint64_t count(struct machine *m, const struct opened *o, unsigned tally)
{
	struct vpmu_count counts[VPMU_SET_EVENTS];

	for (unsigned i = 0; i < MACHINE_PCPUS; i++)
		vpmu_host_fold(&m->pcpu[i].p);
	assert_int_equal(vpmu_tally_read(&o->tally[tally], counts), 0);
	return counts[0].offset.sum;
}

/* The guest counts its own instructions on its first counter, and is told of nothing. */
static void guest_counts(struct machine *m, unsigned pcpu)
{
	machine_write(m, pcpu, ARMV8_PMEVTYPER(0), INSTRUCTIONS);
	machine_write(m, pcpu, ARMV8_PMCNTENSET, 1);
	machine_write(m, pcpu, ARMV8_PMCR, ARMV8_PMCR_E);
}

static void run(struct machine *m, unsigned pcpu, uint64_t event, uint64_t n)
{
	machine_run(m, pcpu, VPMU_MODE_USER, event, n - n / 3);
	machine_run(m, pcpu, VPMU_MODE_KERNEL, event, n / 3);
	/* of no VM, and in nobody's count but the hypervisor's */
	machine_run(m, pcpu, VPMU_MODE_HYP, event, 77);
}

static void host_and_guests_count_different_events_side_by_side(void **state)
{
	static const struct vpmu_config configs[] = {
		{ .host_counters = 2 }, { .host_counters = 2, .direct = true }
	};

	(void)state;
	for (unsigned c = 0; c < 2; c++) {
		struct machine *m = machine_new(&v3p5, &configs[c]);

		opened(m, &a, 0, CYCLES, 0);
		opened(m, &b, 1, INSTRUCTIONS, 0);
		for (unsigned i = 0; i < 50; i++) {
			machine_switch(m, i % 3 / 2, (int)(i % 2));
			if (i < 2)
				guest_counts(m, 0);
			run(m, i % 3 / 2, CYCLES, 1000 + i);
			run(m, i % 3 / 2, INSTRUCTIONS, 100 + i);
			machine_switch(m, i % 3 / 2, -1);
		}
		assert_int_equal(count(m, &a, 0), 25 * 1000 + 24 * 25);
		assert_int_equal(count(m, &b, 0), 25 * 100 + 25 * 25);
		machine_switch(m, 0, 0);
		assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(0)), 25 * 100 + 24 * 25);
		machine_switch(m, 0, 1);
		assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(0)), 25 * 100 + 25 * 25);
		machine_free(m);
	}
}

static void equal_sets_cost_one_read_in_and_one_out_and_no_write(void **state)
{
	static const struct vpmu_config config = { .host_counters = 2 };
	struct machine *m = machine_new(&v3p5, &config);

	(void)state;
	opened(m, &a, 0, CYCLES, 0);
	opened(m, &b, 1, CYCLES, 0);
	machine_switch(m, 0, 0);
	machine_writes(m, 0);
	machine_reads(m, 0);
	for (int i = 1; i <= 10; i++)
		machine_switch(m, 0, i % 2);
	assert_int_equal(machine_writes(m, 0), 0);
	assert_int_equal(machine_reads(m, 0), 10 * 2);
	machine_free(m);
}

static void samples_come_at_every_period_with_and_without_a_kick(void **state)
{
	static const struct hw_armv8_config *hw[] = { &v3, &v3p5 };

	(void)state;
	for (unsigned c = 0; c < 4; c++) {
		struct vpmu_config config = { .host_counters = 2, .kick = c / 2 };
		struct machine *m = machine_new(hw[c % 2], &config);
		struct vpmu_sample s;
		unsigned n = 0;

		opened(m, &a, 0, INSTRUCTIONS, 1000);
		opened(m, &b, 1, CYCLES, 1000);
		for (unsigned i = 0; i < 30; i++) {
			for (unsigned pc = 0; pc < 777; pc++) {
				machine_switch(m, i % 2, 0);
				m->where.pc = i * 777 + pc + 1;
				machine_run(m, i % 2, VPMU_MODE_USER, INSTRUCTIONS, 1);
				if (pc % 50 == 0)
					machine_switch(m, i % 2, 1);
			}
			machine_switch(m, i % 2, -1);
		}
		for (; vpmu_reader_waiting(&a.reader); n++) {
			assert_true(vpmu_reader_copy(&a.reader, 0, &s));
			vpmu_reader_done(&a.reader, 1);
			assert_int_equal(s.pc, (n + 1) * 1000);
			assert_int_equal(s.period, 1000);
			assert_int_equal(s.flags, 0);
		}
		assert_int_equal(n, 30 * 777 / 1000);
		assert_int_equal(m->spurious, 0);
		machine_free(m);
	}
}

static void a_count_of_32_bits_is_exact_across_wraps(void **state)
{
	static const struct vpmu_config config = { .host_counters = 2 };
	struct machine *m = machine_new(&v3, &config);

	(void)state;
	opened(m, &a, 0, CYCLES, 0);
	opened(m, &b, 1, CYCLES, 0);
	for (int i = 0; i < 20; i++) {
		machine_switch(m, 0, i % 2);
		machine_run(m, 0, VPMU_MODE_USER, CYCLES, 3000000007);
	}
	machine_switch(m, 0, -1);
	assert_int_equal(count(m, &a, 0), 10 * 3000000007);
	assert_int_equal(count(m, &b, 0), 10 * 3000000007);
	assert_int_equal(m->spurious, 0);
	machine_free(m);
}

static void the_hypervisor_s_own_events_are_counted_on_each_pcpu(void **state)
{
	static const struct vpmu_config config = { .host_counters = 2 };
	struct machine *m = machine_new(&v3p5, &config);
	struct vpmu_pcpu *p = &m->pcpu[1].p;
	const char *why;

	(void)state;
	opened(m, &a, 0, CYCLES, 0);
	opened(m, &hyp, -1, CYCLES, 0);
	machine_switch(m, 0, 0);
	run(m, 0, CYCLES, 1000);
	assert_int_equal(count(m, &hyp, 0), 77);
	assert_int_equal(count(m, &a, 0), 1000);
	machine_run(m, 1, VPMU_MODE_HYP, CYCLES, 5);
	assert_int_equal(count(m, &hyp, 1), 5);
	/* one that goes down and comes up again counts as well */
	vpmu_pcpu_down(p);
	machine_run(m, 1, VPMU_MODE_HYP, CYCLES, 1000);
	assert_int_equal(vpmu_pcpu_up(p, &m->m, 1, &m->pcpu[1].hw->hw, &why), 0);
	machine_run(m, 1, VPMU_MODE_HYP, CYCLES, 6);
	assert_int_equal(count(m, &hyp, 1), 11);
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_and_guests_count_different_events_side_by_side),
		cmocka_unit_test(equal_sets_cost_one_read_in_and_one_out_and_no_write),
		cmocka_unit_test(samples_come_at_every_period_with_and_without_a_kick),
		cmocka_unit_test(a_count_of_32_bits_is_exact_across_wraps),
		cmocka_unit_test(the_hypervisor_s_own_events_are_counted_on_each_pcpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
