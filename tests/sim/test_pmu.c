/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event sets on VMs and on the hypervisor, held against what happened. */
#include "tests/unit/test.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/ring.h"
#include "tests/sim/hosts.h"

#define INSTRUCTIONS 0xc0
#define CYCLES 0x3c
#define REF_CYCLES 0x300
#define LOADS 0x10b
#define STORES 0x20b
#define LLC_REF 0x4f2e
#define LLC_MISS 0x412e
#define OUTSTANDING 0x160
#define OUTSTANDING_CYCLES 0x1000160
#define STALL 0x2a2

#define N(array) (sizeof(array) / sizeof(*(array)))

/* The hypervisor's own: what it does at its switches. */
static void what_vms_and_hypervisor_count_is_what_happened_to_the_count(void **state)
{
	static const uint64_t own[] = { INSTRUCTIONS, CYCLES };
	static const uint64_t events[] = { INSTRUCTIONS, CYCLES, LLC_MISS };
	static const enum core_event raw[] = { CORE_INSTRUCTIONS, CORE_CYCLES,
					       CORE_LLC_MISS };
	struct sim *s = host_shared();
	uint32_t hyp = set_on(s, SIM_HYPERVISOR, 2, own, 0);

	(void)state;
	/* with the hypervisor on the fixed ones, the others are enough for both VMs */
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(set_on(s, (int)i, 3, events, 0), 2 + i);
	sim_run(s, 4 * MS);
	for (unsigned i = 0; i < 3; i++) {
		uint64_t web = set_sum(s, 2, 2, i).value, db = set_sum(s, 3, 2, i).value;
		uint64_t rest = i < 2 ? set_sum(s, hyp, 4, i).value : 0;

		assert_true(web && db && (rest || i == 2));
		assert_int_equal(web + db + rest, cores_truth(s, raw[i]));
	}
	sim_free(s);
}

static void seven_events_at_once_are_exact_on_shared_cores(void **state)
{
	static const uint64_t events[] = { INSTRUCTIONS, CYCLES,   REF_CYCLES, LOADS,
					   LLC_REF,	 LLC_MISS, OUTSTANDING };
	static const enum core_event raw[] = { CORE_LOADS, CORE_LLC_REF, CORE_LLC_MISS,
					       CORE_OUTSTANDING };
	struct sim *s = host_shared();
	uint32_t web = set_on(s, 0, 7, events, 0), db = set_on(s, 1, 7, events, 0);

	(void)state;
	sim_run(s, 4 * MS);
	/* the hypervisor has no loads */
	for (unsigned i = 0; i < N(raw); i++) {
		struct xenpmu_count a = set_sum(s, web, 2, 3 + i);
		struct xenpmu_count b = set_sum(s, db, 2, 3 + i);

		assert_true(a.value && b.value);
		assert_int_equal(a.value + b.value, cores_truth(s, raw[i]));
		assert_int_equal(a.enabled_ns, a.running_ns);
	}
	sim_free(s);
}

/* Counting changes nothing of what happens: the same host is run twice. */
static void vms_with_different_events_on_the_same_cores_do_not_feel_each_other(void **state)
{
	static const uint64_t all[] = { LOADS, STORES, LLC_REF, LLC_MISS };
	static const uint64_t two[] = { LLC_REF, LOADS }, other[] = { STORES, LLC_MISS };
	struct sim *s = host_shared();
	uint32_t web = set_on(s, 0, 4, all, 0), db = set_on(s, 1, 4, all, 0);
	uint64_t web_loads, web_refs, db_stores, db_misses;

	(void)state;
	sim_run(s, 4 * MS);
	web_loads = set_sum(s, web, 2, 0).value;
	web_refs = set_sum(s, web, 2, 2).value;
	db_stores = set_sum(s, db, 2, 1).value;
	db_misses = set_sum(s, db, 2, 3).value;
	sim_free(s);
	s = host_shared();
	web = set_on(s, 0, 2, two, 0);
	db = set_on(s, 1, 2, other, 0);
	sim_run(s, 4 * MS);
	assert_int_equal(set_sum(s, web, 2, 0).value, web_refs);
	assert_int_equal(set_sum(s, web, 2, 1).value, web_loads);
	assert_int_equal(set_sum(s, db, 2, 0).value, db_stores);
	assert_int_equal(set_sum(s, db, 2, 1).value, db_misses);
	sim_free(s);
}

static void a_vcpu_that_changes_pcpus_loses_nothing(void **state)
{
	static const uint64_t events[] = { LOADS, STORES, LLC_MISS, STALL };
	static const enum core_event raw[] = { CORE_LOADS, CORE_STORES, CORE_LLC_MISS,
					       CORE_STALL };
	struct sim *s = host_apart();
	uint32_t web = set_on(s, 0, 4, events, 0), db = set_on(s, 1, 4, events, 0);
	struct sim_vcpu v;
	struct err err;

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		uint64_t to[4] = { 1ull << (i * 7 + i / 3) % 4 };

		assert_int_equal(sim_pin(s, i % 2, i / 2 % 2, to, &err), 0);
		sim_run(s, (i + 1) * 100 * US);
		assert_int_equal(sim_vcpu(s, i % 2, i / 2 % 2, &v), 0);
		assert_true(to[0] >> v.pcpu & 1);
	}
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(set_sum(s, web, 2, i).value + set_sum(s, db, 2, i).value,
				 cores_truth(s, raw[i]));
	sim_free(s);
}

static double scaled(struct xenpmu_count c)
{
	return (double)c.value * (double)c.enabled_ns / (double)c.running_ns;
}

/* 12 events on 4 counters, of a VM that has its cores for itself. */
static void more_events_than_counters_are_scaled_by_their_time(void **state)
{
	static const uint64_t a[] = { LOADS, STORES, LLC_REF, LLC_MISS, STALL, 0x1cb };
	static const uint64_t b[] = { 0x2cb,  0x4cb,	   0x8cb,
				      0x10cb, OUTSTANDING, OUTSTANDING_CYCLES };
	static const enum core_event raw[] = {
		CORE_LOADS,  CORE_STORES,   CORE_LLC_REF,     CORE_LLC_MISS,
		CORE_STALL,  CORE_L1_HIT,   CORE_L2_HIT,      CORE_LLC_UNSHARED_HIT,
		CORE_EVENTS, CORE_LLC_MISS, CORE_OUTSTANDING, CORE_OUTSTANDING_CYCLES
	};
	struct sim *s = host_apart();
	uint32_t sets[] = { set_on(s, 0, 6, a, 0), set_on(s, 0, 6, b, 0) };
	struct sim_vcpu v[2];

	(void)state;
	sim_run(s, 14 * MS);
	assert_int_equal(sim_vcpu(s, 0, 0, &v[0]), 0);
	assert_int_equal(sim_vcpu(s, 0, 1, &v[1]), 0);
	for (unsigned i = 0; i < 12; i++) {
		struct xenpmu_count c = set_sum(s, sets[i / 6], 2, i % 6);
		double truth = 0;

		for (unsigned core = 0; core < 2 && raw[i] < CORE_EVENTS; core++)
			truth += (double)core_truth(s, core, raw[i]);
		assert_in_range(c.enabled_ns, v[0].ran_ns + v[1].ran_ns - 10 * US,
				v[0].ran_ns + v[1].ran_ns + 10 * US);
		assert_in_range(c.running_ns, c.enabled_ns / 5, c.enabled_ns / 2);
		if (truth > 20000 && fabs(scaled(c) - truth) > 0.1 * truth)
			fail_msg("event %u: %g instead of %g", i, scaled(c), truth);
	}
	sim_free(s);
}

/* ---- sampling */

static const struct sim_symbol *symbol_at(const struct sim *s, unsigned vm, uint64_t pc)
{
	size_t n;
	const struct sim_symbol *symbols = sim_symbols(s, vm, &n);

	for (size_t i = 0; i < n; i++)
		if (pc - symbols[i].address < symbols[i].size)
			return &symbols[i];
	return NULL;
}

/* All that waits in a vCPU's ring: the periods' sum. */
static uint64_t drain(struct sim *s, unsigned vm, uint32_t handle, unsigned vcpu,
		      uint64_t *received)
{
	struct vpmu_reader reader;
	struct vpmu_sample r;
	uint64_t sum = 0;
	size_t bytes;
	void *ring = sim_set_ring(s, handle, vcpu, &bytes);

	assert_int_equal(vpmu_reader_init(&reader, ring, bytes), 0);
	for (uint32_t n = vpmu_reader_waiting(&reader), i = 0; i < n; i++) {
		const struct sim_symbol *at;

		assert_true(vpmu_reader_copy(&reader, i, &r));
		at = symbol_at(s, vm, r.pc);
		assert_non_null(at);
		assert_int_equal(r.vcpu, vcpu);
		assert_int_equal(r.mode == VPMU_MODE_KERNEL,
				 !strcmp(at->name, "clear") || r.pc >> 63);
		assert_in_range(r.time, 1, sim_now_ns(s) + 10 * US);
		sum += r.period;
		++*received;
	}
	vpmu_reader_done(&reader, vpmu_reader_waiting(&reader));
	return sum;
}

static void periods_of_samples_sum_to_the_count_and_their_pcs_are_the_vm_s(void **state)
{
	static const uint64_t events[] = { LLC_MISS, INSTRUCTIONS };
	struct sim *s = host_shared();

	(void)state;
	for (unsigned e = 0; e < 2; e++) {
		const uint64_t period = e ? 20000 : 1000;
		uint32_t sets[] = { set_on(s, 0, 1, &events[e], period),
				    set_on(s, 1, 1, &events[e], period) };

		sim_run(s, (e + 1) * 4 * MS);
		for (unsigned vm = 0; vm < 2; vm++)
			for (unsigned v = 0; v < 2; v++) {
				struct xenpmu_count c[VPMU_SET_EVENTS];
				uint64_t received = 0, sum;

				assert_int_equal(sim_set_read(s, sets[vm], v, c), 0);
				sum = drain(s, vm, sets[vm], v, &received);
				assert_in_range(c[0].value - sum, 0, period);
				assert_true(received > 10);
				assert_int_equal(received, c[0].taken);
				assert_int_equal(c[0].lost, 0);
			}
		sim_set_close(s, sets[0]);
		sim_set_close(s, sets[1]);
	}
	sim_free(s);
}

static void what_a_full_ring_loses_is_counted(void **state)
{
	static const struct vpmu_event event = { .config = INSTRUCTIONS,
						 .period = 1000,
						 .flags = VPMU_EVENT_USER };
	struct xenpmu_count c[VPMU_SET_EVENTS];
	struct sim *s = host_shared();
	uint64_t received = 0;
	uint32_t set;
	unsigned bad;

	(void)state;
	assert_int_equal(sim_set_open(s, 0, &event, 1, 8192, &set, &bad), 0);
	sim_run(s, 4 * MS);
	assert_int_equal(sim_set_read(s, set, 0, c), 0);
	drain(s, 0, set, 0, &received);
	assert_true(received && c[0].lost);
	assert_int_equal(received + c[0].lost, c[0].taken);
	sim_free(s);
}

static void the_hypervisor_s_samples_are_in_its_own_functions(void **state)
{
	static const uint64_t event = CYCLES;
	struct sim *s = host_shared();
	uint32_t set = set_on(s, SIM_HYPERVISOR, 1, &event, 10000);
	uint64_t received = 0, sum = 0;

	(void)state;
	sim_run(s, 6 * MS);
	for (unsigned i = 0; i < 4; i++) {
		struct vpmu_reader reader;
		struct vpmu_sample r;
		size_t bytes;
		void *ring = sim_set_ring(s, set, i, &bytes);

		assert_int_equal(vpmu_reader_init(&reader, ring, bytes), 0);
		for (uint32_t k = 0; k < vpmu_reader_waiting(&reader); k++) {
			assert_true(vpmu_reader_copy(&reader, k, &r));
			assert_int_equal(r.mode, VPMU_MODE_HYP);
			assert_non_null(symbol_at(s, (unsigned)SIM_HYPERVISOR, r.pc));
			sum += r.period;
			received++;
		}
	}
	assert_true(received);
	assert_in_range(set_sum(s, set, 4, 0).value - sum, 0, 4 * 10000);
	sim_free(s);
}

/* ---- counters taken, and refusals */

static void counters_that_someone_else_took_are_not_ours(void **state)
{
	static const uint64_t four[] = { LOADS, STORES, LLC_REF, LLC_MISS };
	static const uint64_t fixed[] = { INSTRUCTIONS, CYCLES, REF_CYCLES };
	struct vpmu_event event = { .config = OUTSTANDING, .flags = VPMU_EVENT_USER };
	struct sim *s = host_apart();
	struct sim_pmu_info info;
	struct xenpmu_count c;
	uint32_t set, more;
	unsigned bad;

	(void)state;
	sim_pmu_info(s, &info);
	assert_int_equal(info.counters, 4);
	assert_int_equal(info.fixed, 3);
	assert_int_equal(info.uncore, 8);
	set = set_on(s, 0, 4, four, 0);
	sim_run(s, MS);
	c = set_sum(s, set, 2, 1);
	assert_int_equal(c.enabled_ns, c.running_ns);
	sim_take_counters(s, 2, 3);
	sim_pmu_info(s, &info);
	assert_int_equal(info.counters, 2);
	assert_int_equal(info.fixed, 3);
	assert_int_equal(info.uncore, 5);
	sim_run(s, 5 * MS);
	for (unsigned i = 0; i < 4; i++) {
		c = set_sum(s, set, 2, i);
		assert_in_range(c.running_ns, c.enabled_ns / 3, c.enabled_ns * 4 / 5);
	}
	sim_set_close(s, set);
	sim_take_counters(s, 2, 5);
	sim_pmu_info(s, &info);
	assert_int_equal(info.counters, 0);
	assert_int_equal(info.uncore, 0);
	assert_int_equal(sim_set_open(s, 0, &event, 1, 0, &more, &bad), -EBUSY);
	assert_int_equal(bad, 0);
	assert_int_equal(sim_uncore_open(s, 0, (uint64_t[]) { 0x103 }, 1, &more, &bad),
			 -EBUSY);
	set = set_on(s, 0, 3, fixed, 0);
	sim_run(s, 6 * MS);
	assert_true(set_sum(s, set, 2, 2).value);
	sim_free(s);
}

static void an_open_set_keeps_the_counter_that_it_cannot_do_without(void **state)
{
	static const uint64_t event = OUTSTANDING;
	struct sim *s = host_apart();
	uint32_t set = set_on(s, 0, 1, &event, 0);
	struct sim_pmu_info info;

	(void)state;
	sim_take_counters(s, 4, 0);
	sim_pmu_info(s, &info);
	assert_int_equal(info.counters, 1);
	sim_run(s, MS);
	assert_true(set_sum(s, set, 2, 0).value);
	sim_free(s);
}

static void bad_sets_are_refused_with_the_event_at_fault(void **state)
{
	static const struct {
		struct vpmu_event second;
		size_t ring;
		int rc;
		unsigned bad;
	} refused[] = {
		{ { .config = 0x1ff, .flags = 1 }, 0, -EOPNOTSUPP, 1 },
		{ { .config = LOADS | 1 << 23, .flags = 1 }, 0, -EOPNOTSUPP, 1 },
		{ { .config = LOADS | 1 << 24, .flags = 1 }, 0, -EOPNOTSUPP, 1 },
		{ { .config = LOADS | 1 << 18, .flags = 1 }, 0, -EOPNOTSUPP, 1 },
		{ { .config = 0x13c, .flags = 1 }, 0, -EOPNOTSUPP, 1 }, /* bus cycles */
		{ { .config = 0xc4, .flags = 1 }, 0, -EOPNOTSUPP, 1 },
		{ { .config = LOADS | 1ull << 32, .flags = 1 }, 0, -EINVAL, 1 },
		{ { .config = LOADS, .flags = 0 }, 0, -EINVAL, 1 },
		{ { .config = LOADS, .flags = VPMU_EVENT_HYP }, 0, -EINVAL, 1 },
		{ { .config = LOADS, .flags = 1, .period = 10 }, 8192, -EINVAL, 1 },
		{ { .config = LOADS, .flags = 1 }, 8192, -EINVAL, 2 }, /* for no samples */
		{ { .config = LOADS, .flags = 1, .period = 9999 }, 0, -EINVAL, 2 },
		{ { .config = LOADS, .flags = 1, .period = 9999 }, 12288, -EINVAL, 2 },
		{ { .config = LOADS, .flags = 1, .period = 9999 }, 1 << 27, -E2BIG, 2 },
	};
	struct sim *s = host_apart();
	struct vpmu_event events[9] = { { .config = CYCLES, .flags = 1 } };
	uint32_t set;
	unsigned bad;

	(void)state;
	for (unsigned i = 0; i < N(refused); i++) {
		events[1] = refused[i].second;
		bad = 99;
		assert_int_equal(sim_set_open(s, 0, events, 2, refused[i].ring, &set, &bad),
				 refused[i].rc);
		assert_int_equal(bad, refused[i].bad);
	}
	assert_int_equal(sim_set_open(s, 0, events, 0, 0, &set, &bad), -EINVAL);
	assert_int_equal(sim_set_open(s, 0, events, 9, 0, &set, &bad), -EINVAL);
	assert_int_equal(sim_set_open(s, 2, events, 1, 0, &set, &bad), -ESRCH);
	assert_int_equal(sim_set_open(s, -2, events, 1, 0, &set, &bad), -ESRCH);
	sim_free(s);
}

static void a_handle_is_gone_with_its_set(void **state)
{
	static const uint64_t event = LOADS;
	struct sim *s = host_apart();
	uint32_t set = set_on(s, 0, 1, &event, 0), other = set_on(s, 1, 1, &event, 0);
	struct xenpmu_count c[VPMU_SET_EVENTS];
	size_t bytes;

	(void)state;
	assert_int_equal(sim_set_read(s, set, 2, c), -EINVAL); /* no such vCPU */
	assert_null(sim_set_ring(s, set, 0, &bytes));
	sim_set_close(s, set);
	sim_set_close(s, set);
	assert_int_equal(sim_set_read(s, set, 0, c), -ENOENT);
	assert_int_equal(sim_set_read(s, 0, 0, c), -ENOENT);
	assert_int_equal(sim_set_read(s, 77, 0, c), -ENOENT);
	assert_null(sim_set_ring(s, set, 0, &bytes));
	assert_int_equal(sim_set_read(s, other, 0, c), 0);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_vms_and_hypervisor_count_is_what_happened_to_the_count),
		cmocka_unit_test(seven_events_at_once_are_exact_on_shared_cores),
		cmocka_unit_test(
			vms_with_different_events_on_the_same_cores_do_not_feel_each_other),
		cmocka_unit_test(a_vcpu_that_changes_pcpus_loses_nothing),
		cmocka_unit_test(more_events_than_counters_are_scaled_by_their_time),
		cmocka_unit_test(
			periods_of_samples_sum_to_the_count_and_their_pcs_are_the_vm_s),
		cmocka_unit_test(what_a_full_ring_loses_is_counted),
		cmocka_unit_test(the_hypervisor_s_samples_are_in_its_own_functions),
		cmocka_unit_test(counters_that_someone_else_took_are_not_ours),
		cmocka_unit_test(an_open_set_keeps_the_counter_that_it_cannot_do_without),
		cmocka_unit_test(bad_sets_are_refused_with_the_event_at_fault),
		cmocka_unit_test(a_handle_is_gone_with_its_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
