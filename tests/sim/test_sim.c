/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../unit/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "numasim/sim.h"

#define MS 1000000ull
#define MACHINE "machine nehalem-ep\n"
/* Nothing but the core's own clock decides how fast these go. */
#define SPIN "program spin\n\tfunction spin compute instructions 2000\n"

static struct sim *open_text(const char *text)
{
	struct sim *s;
	struct err err = { 0 };

	if (sim_open(text, NULL, &s, &err))
		fail_msg("%s", err.text);
	return s;
}

static struct sim *open_and_run(const char *text, uint64_t ns)
{
	struct sim *s = open_text(text);

	sim_run(s, ns);
	return s;
}

static struct sim_vcpu vcpu(const struct sim *s, unsigned vm, unsigned v)
{
	struct sim_vcpu out;

	assert_int_equal(sim_vcpu(s, vm, v, &out), 0);
	return out;
}

/* Everything that management sees of a host, as text. */
static void describe(const struct sim *s, struct strbuf *sb)
{
	strbuf_reset(sb);
	for (unsigned i = 0; i < sim_vms(s); i++) {
		struct sim_vm vm;

		assert_int_equal(sim_vm(s, i, &vm), 0);
		strbuf_addf(sb, "%s %llu\n", vm.name, (unsigned long long)sim_work(s, i));
		for (unsigned v = 0; v < vm.nvcpus; v++) {
			struct sim_vcpu c = vcpu(s, i, v);

			strbuf_addf(sb, "%c %d %llu %llu\n", c.state, c.pcpu,
				    (unsigned long long)c.ran_ns,
				    (unsigned long long)c.waited_ns);
		}
	}
}

/* Some of everything: more vCPUs than pCPUs, more threads than vCPUs, sleep, phases. */
static const char mixed[] =
	MACHINE "seed %d\npolicy %s\nslice 100us\n"
		"program a\n"
		"\tfunction walk chase footprint 300K hot 40%% instructions 80 "
		"for 300 steps\n"
		"\tfunction add counters footprint 4K instructions 80 for 100us\n"
		"program b\n"
		"\tfunction scan stream footprint 300K write 20%% instructions 80\n"
		"vm %s\n\tvcpus 6\n\tmemory 256M interleave\n\tthreads 9 a sleep 30%%\n"
		"vm %s\n\tvcpus 5\n\tmemory 256M node 1\n\tpin 0,2,4-7\n\tthreads 5 b\n";

static struct sim *open_mixed(int seed, const char *policy, const char *a, const char *b)
{
	char text[1024];

	snprintf(text, sizeof(text), mixed, seed, policy, a, b);
	return open_text(text);
}

static const char *const policies[] = { "pinned", "credit", "xen", "linux" };

static void it_does_not_matter_in_which_pieces_the_time_passes(void **state)
{
	struct strbuf one = { 0 }, many = { 0 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct sim *a = open_mixed(1, policies[i], "x", "y");
		struct sim *b = open_mixed(1, policies[i], "x", "y");

		sim_run(a, MS);
		for (uint64_t ns = 0; ns < MS; ns += 1 + ns / 97)
			sim_run(b, ns);
		sim_run(b, MS);
		assert_int_equal(sim_now_ns(b), MS);
		describe(a, &one);
		describe(b, &many);
		assert_string_equal(one.data, many.data);
		sim_free(a);
		sim_free(b);
	}
	strbuf_free(&one);
	strbuf_free(&many);
}

static void another_seed_is_another_run(void **state)
{
	struct strbuf one = { 0 }, other = { 0 };
	struct sim *a = open_mixed(1, "credit", "x", "y");
	struct sim *b = open_mixed(2, "credit", "x", "y");

	(void)state;
	sim_run(a, MS);
	sim_run(b, MS);
	describe(a, &one);
	describe(b, &other);
	assert_string_not_equal(one.data, other.data);
	sim_free(a);
	sim_free(b);
	strbuf_free(&one);
	strbuf_free(&other);
}

static void names_are_only_names(void **state)
{
	struct sim *a = open_mixed(1, "xen", "x", "y");
	struct sim *b = open_mixed(1, "xen", "y", "x");

	(void)state;
	sim_run(a, MS);
	sim_run(b, MS);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(sim_work(a, i), sim_work(b, i));
	sim_free(a);
	sim_free(b);
}

/* ran + waited + blocked is the time: what is neither ran nor waited is the share that a
 * program sleeps. */
static void all_time_is_accounted_for(void **state)
{
	struct sim *s = open_and_run(
		MACHINE SPIN "vm a\n\tmemory 64M node 0\n\tpin 0\n\tthreads 1 spin\n"
			     "vm b\n\tmemory 64M node 0\n\tpin 0\n\tthreads 1 spin\n"
			     "vm c\n\tmemory 64M node 0\n\tpin 1\n"
			     "\tthreads 1 spin sleep 25% every 500us\n"
			     "vm d\n\tmemory 64M node 0\n\tpin 2\n",
		100 * MS);

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct sim_vcpu v = vcpu(s, i, 0);

		assert_true(v.ran_ns + v.waited_ns + 2 >= 100 * MS);
		assert_true(v.ran_ns + v.waited_ns <= 100 * MS);
		assert_true(v.ran_ns > 47 * MS && v.ran_ns < 53 * MS);
	}
	assert_true(vcpu(s, 2, 0).ran_ns > 72 * MS && vcpu(s, 2, 0).ran_ns < 78 * MS);
	assert_true(vcpu(s, 2, 0).waited_ns < 1 * MS);
	assert_true(vcpu(s, 3, 0).ran_ns < MS / 10);
	assert_int_equal(vcpu(s, 3, 0).state, 'b');
	sim_free(s);
}

static void work_is_as_long_as_a_vcpu_ran(void **state)
{
	struct sim *s = open_and_run(
		MACHINE SPIN "vm a\n\tmemory 64M node 0\n\tpin 0\n\tthreads 1 spin\n"
			     "vm b\n\tmemory 64M node 0\n\tpin 0\n\tthreads 2 spin\n"
			     "vm c\n\tmemory 64M node 0\n\tpin 1\n\tthreads 2 spin\n",
		60 * MS);
	double rate[3];

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		rate[i] = (double)sim_work(s, i) / (double)vcpu(s, i, 0).ran_ns;
	/* 2000 instructions at 0.5 cycles each and 2.93 GHz */
	assert_float_equal(rate[0], 2.93 / 1000, 2.93 / 1000 * 0.01);
	assert_float_equal(rate[1], rate[0], rate[0] * 0.01);
	assert_float_equal(rate[2], rate[0], rate[0] * 0.01);
	sim_free(s);
}

static void a_guest_shares_its_vcpus_among_its_threads(void **state)
{
	struct sim *alone =
		open_and_run(MACHINE SPIN "vm a\n\tvcpus 2\n\tmemory 64M node 0\n"
					  "\tthreads 2 spin\n",
			     40 * MS);
	struct sim *many =
		open_and_run(MACHINE SPIN "vm a\n\tvcpus 2\n\tmemory 64M node 0\n"
					  "\tthreads 7 spin\n",
			     40 * MS);
	uint64_t a = sim_work(alone, 0), b = sim_work(many, 0);

	(void)state;
	assert_true(b > a * 97 / 100 && b <= a);
	sim_free(alone);
	sim_free(many);
}

static void a_free_vcpu_takes_a_thread_that_waits_for_another(void **state)
{
	/* Of four threads two are on each vCPU; those on the second one sleep mostly. */
	struct sim *s = open_and_run(MACHINE SPIN "vm a\n\tvcpus 2\n\tmemory 64M node 0\n"
						  "\tthreads 1 spin\n"
						  "\tthreads 1 spin sleep 95%\n"
						  "\tthreads 1 spin\n"
						  "\tthreads 1 spin sleep 95%\n",
				     40 * MS);

	(void)state;
	assert_true(vcpu(s, 0, 0).ran_ns > 37 * MS);
	assert_true(vcpu(s, 0, 1).ran_ns > 37 * MS);
	sim_free(s);
}

/* Six vCPUs on four pCPUs: each scheduler that moves vCPUs gives each about two thirds. */
static void credit_gives_fair_shares_over_pcpus(void **state)
{
	struct sim *s = open_and_run(MACHINE SPIN
				     "policy credit\nslice 1ms\n"
				     "vm a\n\tvcpus 6\n\tmemory 64M node 0\n\tpin 0-3\n"
				     "\tthreads 6 spin\n",
				     90 * MS);

	(void)state;
	for (unsigned v = 0; v < 6; v++) {
		uint64_t ran = vcpu(s, 0, v).ran_ns;

		assert_true(ran > 54 * MS && ran < 66 * MS);
	}
	sim_free(s);
}

static void no_pcpu_is_idle_while_vcpus_wait(void **state)
{
	char text[512];

	(void)state;
	for (size_t i = 1; i < 4; i++) {
		uint64_t ran = 0;
		struct sim *s;

		/* All begin on node 0; the other node is free for them. */
		snprintf(text, sizeof(text),
			 MACHINE SPIN "policy %s\n"
				      "vm a\n\tvcpus 8\n\tmemory 64M node 0\n"
				      "\tthreads 8 spin\n",
			 policies[i]);
		s = open_and_run(text, 30 * MS);
		for (unsigned v = 0; v < 8; v++)
			ran += vcpu(s, 0, v).ran_ns;
		assert_true(ran > 8 * 29 * MS);
		sim_free(s);
	}
}

/* xen: each VM on one node. linux: vCPUs alternate between nodes. */
static void policies_place_vms_differently(void **state)
{
	static const char vms[] =
		"vm a\n\tvcpus 2\n\tmemory 64M node 0\n\tthreads 2 spin\n"
		"vm b\n\tvcpus 3\n\tmemory 64M node 0\n\tthreads 3 spin\n";
	char text[512];
	int pcpu[2][5];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sim *s;

		snprintf(text, sizeof(text), MACHINE SPIN "policy %s\n%s",
			 i ? "linux" : "xen", vms);
		s = open_and_run(text, MS);
		for (unsigned v = 0; v < 5; v++)
			pcpu[i][v] = vcpu(s, v >= 2, v >= 2 ? v - 2 : v).pcpu;
		sim_free(s);
	}
	assert_int_equal(pcpu[0][0] / 4, pcpu[0][1] / 4);
	assert_int_equal(pcpu[0][2] / 4, pcpu[0][3] / 4);
	assert_int_equal(pcpu[0][2] / 4, pcpu[0][4] / 4);
	assert_int_not_equal(pcpu[0][0] / 4, pcpu[0][2] / 4);
	assert_int_not_equal(pcpu[1][0] / 4, pcpu[1][1] / 4);
}

static void a_vcpu_runs_where_it_is_pinned(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct sim *s = open_mixed(3, policies[i], "x", "y");

		for (uint64_t ns = 0; ns < MS; ns += 20000) {
			sim_run(s, ns);
			for (unsigned v = 0; v < 5; v++)
				assert_true(0xf5 >> vcpu(s, 1, v).pcpu & 1);
		}
		sim_free(s);
	}
}

static void a_vcpu_moves_when_it_is_pinned_elsewhere(void **state)
{
	const uint64_t there[4] = { 0xf0 }, nowhere[4] = { 0, 1 };
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct sim *s = open_mixed(3, policies[i], "x", "y");

		sim_run(s, MS / 2);
		for (unsigned v = 0; v < 6; v++)
			assert_int_equal(sim_pin(s, 0, v, there, &err), 0);
		for (uint64_t ns = MS / 2; ns < MS; ns += 20000) {
			sim_run(s, ns);
			for (unsigned v = 0; v < 6; v++) {
				assert_int_equal(vcpu(s, 0, v).affinity[0], 0xf0);
				assert_true(vcpu(s, 0, v).pcpu >= 4);
			}
		}
		assert_int_equal(sim_pin(s, 0, 0, nowhere, &err), -EINVAL);
		assert_int_equal(sim_pin(s, 0, 6, there, &err), -EINVAL);
		assert_int_equal(sim_pin(s, 2, 0, there, &err), -EINVAL);
		assert_string_equal(err.text, "no VM 2: there are 2, from 0");
		sim_free(s);
	}
}

static void memory_that_moves_is_paid_for(void **state)
{
	static const char text[] =
		MACHINE "program p\n\tfunction f chase footprint 4M\n"
			"vm a\n\tmemory 64M node 0\n\tpin 0\n\tthreads 1 p\n";
	struct sim *s = open_and_run(text, 5 * MS);
	struct err err = { 0 };
	struct sim_vm vm;
	uint64_t before, usual, moving;

	(void)state;
	assert_int_equal(sim_vm(s, 0, &vm), 0);
	assert_int_equal(vm.node_bytes[0], 64 << 20);
	before = sim_work(s, 0);
	sim_run(s, 6 * MS);
	usual = sim_work(s, 0) - before;
	assert_int_equal(sim_move_memory(s, 0, 1, &err), 0);
	before = sim_work(s, 0);
	sim_run(s, 7 * MS);
	moving = sim_work(s, 0) - before;
	assert_true(moving < usual / 2);
	sim_run(s, 14 * MS);
	assert_int_equal(sim_vm(s, 0, &vm), 0);
	assert_int_equal(vm.node_bytes[0], 0);
	assert_int_equal(vm.node_bytes[1], 64 << 20);
	assert_int_equal(sim_move_memory(s, 0, 2, &err), -EINVAL);
	assert_int_equal(sim_move_memory(s, 1, 0, &err), -EINVAL);
	sim_free(s);
}

static void shares_of_memory_are_kept(void **state)
{
	struct sim *s = open_text(MACHINE "vm a\n\tmemory 100M share 0 70% 1 30%\n"
					  "vm b\n\tmemory 2000001 interleave\n");
	struct sim_vm vm;

	(void)state;
	assert_int_equal(sim_vm(s, 0, &vm), 0);
	assert_float_equal((double)vm.node_bytes[0] / (100 << 20), 0.7, 0.005);
	assert_int_equal(vm.node_bytes[0] + vm.node_bytes[1], vm.bytes);
	assert_int_equal(sim_vm(s, 1, &vm), 0);
	assert_int_equal(vm.node_bytes[0] + vm.node_bytes[1], vm.bytes);
	assert_int_equal(sim_vm(s, 2, &vm), -EINVAL);
	sim_free(s);
}

static void symbols_ascend_and_do_not_overlap(void **state)
{
	struct sim *s = open_mixed(1, "pinned", "x", "y");

	(void)state;
	for (unsigned vm = 0; vm < 3; vm++) {
		size_t n;
		const struct sim_symbol *sym =
			sim_symbols(s, vm == 2 ? (unsigned)SIM_HYPERVISOR : vm, &n);

		assert_true(n >= 2);
		for (size_t i = 1; i < n; i++)
			assert_true(sym[i].address >= sym[i - 1].address + sym[i - 1].size);
	}
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_does_not_matter_in_which_pieces_the_time_passes),
		cmocka_unit_test(another_seed_is_another_run),
		cmocka_unit_test(names_are_only_names),
		cmocka_unit_test(all_time_is_accounted_for),
		cmocka_unit_test(work_is_as_long_as_a_vcpu_ran),
		cmocka_unit_test(a_guest_shares_its_vcpus_among_its_threads),
		cmocka_unit_test(a_free_vcpu_takes_a_thread_that_waits_for_another),
		cmocka_unit_test(credit_gives_fair_shares_over_pcpus),
		cmocka_unit_test(no_pcpu_is_idle_while_vcpus_wait),
		cmocka_unit_test(policies_place_vms_differently),
		cmocka_unit_test(a_vcpu_runs_where_it_is_pinned),
		cmocka_unit_test(a_vcpu_moves_when_it_is_pinned_elsewhere),
		cmocka_unit_test(memory_that_moves_is_paid_for),
		cmocka_unit_test(shares_of_memory_are_kept),
		cmocka_unit_test(symbols_ascend_and_do_not_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
