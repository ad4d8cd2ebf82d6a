/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../unit/test.h"

#include <errno.h>
#include <string.h>

#include "base/data.h"
#include "base/vec.h"
#include "numasim/scenario.h"
#include "numasim/sim.h"

static void parse(const char *text, struct scenario *sc)
{
	struct err err = { 0 };

	if (scenario_parse("test", "test", text, strlen(text), sc, &err))
		fail_msg("%s", err.text);
}

#define MACHINE "machine nehalem-ep\n"
#define PROGRAM "program p\n\tfunction f chase footprint 1M\n"
#define VM "vm a\n\tmemory 64M node 1\n"

static void a_scenario_says_what_runs_where(void **state)
{
	struct scenario sc;

	(void)state;
	parse(MACHINE
	      "seed 7\nslice 5ms\npolicy linux\n"
	      "program p # a comment\n"
	      "\tfunction walk chase footprint 3M shared hot 25% write 10% for 2ms\n"
	      "\tfunction sum compute instructions 100 cpi 1.5 kernel for 10 steps\n"
	      "vm \"web 1\"\n"
	      "\tvcpus 3\n\tmemory 64M share 0 75% 1 25%\n\tslice 500us\n"
	      "\tpin node 1\n\tpin vcpu 2 0,2-3\n"
	      "\tthreads 5 p sleep 30% every 2ms\n",
	      &sc);
	assert_int_equal(sc.seed, 7);
	assert_int_equal(sc.slice_ps, 5000000000ull);
	assert_int_equal(sc.policy, POLICY_LINUX);
	assert_int_equal(sc.nfunctions, 2);
	assert_int_equal(sc.functions[0].pattern, PATTERN_CHASE);
	assert_int_equal(sc.functions[0].bytes, 3 << 20);
	assert_true(sc.functions[0].shared);
	assert_float_equal(sc.functions[0].hot, 0.25, 1e-9);
	assert_float_equal(sc.functions[0].write, 0.1, 1e-9);
	assert_int_equal(sc.functions[0].for_ps, 2000000000ull);
	assert_int_equal(sc.functions[1].cycles, 150);
	assert_int_equal(sc.functions[1].for_steps, 10);
	assert_true(sc.functions[1].kernel);
	assert_string_equal(sc.vms[0].name, "web 1");
	assert_int_equal(sc.vms[0].nvcpus, 3);
	assert_float_equal(sc.vms[0].share[0], 0.75, 1e-9);
	assert_int_equal(sc.vms[0].pin[0][0], 0xf0);
	assert_int_equal(sc.vms[0].pin[2][0], 0x0d);
	assert_int_equal(sc.vms[0].threads[0].n, 5);
	assert_float_equal(sc.vms[0].threads[0].sleep, 0.3, 1e-9);
	assert_int_equal(sc.vms[0].threads[0].every_ps, 2000000000ull);
	scenario_free(&sc);
}

static void what_is_not_said_has_a_default(void **state)
{
	struct scenario sc;

	(void)state;
	parse(MACHINE PROGRAM VM, &sc);
	assert_int_equal(sc.policy, POLICY_PINNED);
	assert_int_equal(sc.vms[0].nvcpus, 1);
	assert_int_equal(sc.vms[0].pin[0][0], 0xff);
	assert_float_equal(sc.vms[0].share[1], 1, 1e-9);
	scenario_free(&sc);
}

static void a_footprint_counts_what_each_thread_has(void **state)
{
	struct scenario sc;

	(void)state;
	parse(MACHINE "program p\n\tfunction a stream footprint 5000 for 1ms\n"
		      "\tfunction b stream footprint 1M shared for 1ms\n"
		      "program h\n\tfunction c handover footprint 8K\n"
		      "vm a\n\tmemory 64M node 0\n\tthreads 3 p\n\tthreads 1 p\n"
		      "\tthreads 4 h\n",
	      &sc);
	/* 4 of 2 pages, 1M once, 2 pairs of 2 pages, 8 threads' hot page */
	assert_int_equal(scenario_footprint(&sc, &sc.vms[0]),
			 4096 * (4 * 2 + 256 + 2 * 2 + 8));
	scenario_free(&sc);
}

static const struct {
	const char *text, *words; /* that the message has */
} refused[] = {
	{ "", "no machine: add \"machine nehalem-ep\"" },
	{ "machine\n", "test:1: machine wants a name" },
	{ "machine no-such\n", "no-such: no such file" },
	{ MACHINE MACHINE, "test:2: a second machine" },
	{ MACHINE "frobnicate\n",
	  "test:2: \"frobnicate\" is not a statement of a scenario: machine, seed, slice, "
	  "policy, program, vm" },
	{ MACHINE "\tvcpus 2\n", "test:2: an indented line belongs to a program or a vm" },
	{ MACHINE "policy fast\n", "\"fast\" is not a policy: pinned, credit, xen, linux" },
	{ MACHINE "policy\n", "nothing is not a policy" },
	{ MACHINE "policy xen now\n", "\"now\" is too much here" },
	{ MACHINE "seed x\n", "\"x\" is not a seed" },
	{ MACHINE "slice 5\n", "\"5\" is not a time slice: 200us, 2ms" },
	{ MACHINE "slice 20s\n", "\"20s\" is not a time slice" },
	{ MACHINE "slice nans\n", "\"nans\" is not a time slice" },
	{ MACHINE "program\n", "program wants a name" },
	{ MACHINE "program p\nvm a\n", "test:3: the program p above has no function" },
	{ MACHINE PROGRAM PROGRAM, "test:4: a second program p" },
	{ MACHINE "program p\n\tvcpus 1\n", "is not a statement of a program: function" },
	{ MACHINE "program p\n\tfunction f zigzag\n",
	  "\"zigzag\" is not a pattern: chase, stream, random, counters, handover" },
	{ MACHINE "program p\n\tfunction f chase\n", "test:3: a footprint is missing" },
	{ MACHINE "program p\n\tfunction f compute footprint 1M\n",
	  "a compute function has no footprint" },
	{ MACHINE "program p\n\tfunction f chase footprint 1M fast\n",
	  "\"fast\" is not what a function can be told: footprint, shared" },
	{ MACHINE "program p\n\tfunction f chase footprint\n", "a footprint is missing" },
	{ MACHINE "program p\n\tfunction f chase footprint 8\n",
	  "\"8\" is not a footprint" },
	{ MACHINE "program p\n\tfunction f chase footprint 1M hot 100%\n",
	  "\"100%\" is not a share of hot accesses" },
	{ MACHINE "program p\n\tfunction f chase footprint 1M parallel 0\n",
	  "\"0\" is not a number of accesses in flight" },
	{ MACHINE "program p\n\tfunction f chase footprint 1M for 5\n",
	  "\"5\" is not a time (or: a number of steps)" },
	{ MACHINE "program p\n\tfunction f chase footprint 1M steps\n",
	  "\"steps\" stands after \"for N\" only" },
	{ MACHINE "program p\n\tfunction f chase footprint 1M for 1ms\n"
		  "\tfunction g chase footprint 1M\n" VM,
	  "of the program p above, g has no end" },
	{ "vm a\n", "test:1: a vm before the machine" },
	{ MACHINE VM VM, "test:4: a second vm a" },
	{ MACHINE "vm a\nvm b\n", "test:3: the vm a above has no memory" },
	{ MACHINE VM "\tvcpus 33\n", "\"33\" is not a number of vCPUs (1 to 32)" },
	{ MACHINE VM "\tmemory 64M\n",
	  "nothing is not where memory can be: node, interleave" },
	{ MACHINE VM "\tmemory 64M node 2\n",
	  "\"2\" is not a node of the machine (0 to 1)" },
	{ MACHINE VM "\tmemory 64M node 1 2\n", "\"2\" is too much here" },
	{ MACHINE VM "\tmemory 64M share 0 50% 1 40%\n", "the shares are 0.9 in all" },
	{ MACHINE VM "\tmemory 64M share 0 150%\n", "is not a share of the memory" },
	{ MACHINE "vm a\n\tmemory 13G node 0\n",
	  "node 0 has 12288 MiB of memory, the VMs want 13312 MiB" },
	{ MACHINE VM "\tpin 0-8\n", "\"0-8\" is not a list of pCPUs (0 to 7)" },
	{ MACHINE VM "\tpin\n", "\"\" is not a list of pCPUs" },
	{ MACHINE VM "\tpin 0 1\n", "\"1\" is too much here" },
	{ MACHINE VM "\tpin node 7\n", "\"7\" is not a node" },
	{ MACHINE VM "\tpin vcpu 1 0\n", "\"1\" is not a vCPU of this vm" },
	{ MACHINE VM "\tthreads 1 q\n", "\"q\" is no program that stands above" },
	{ MACHINE VM "\tthreads 1\n", "\"\" is no program that stands above" },
	{ MACHINE PROGRAM VM "\tthreads 1 p sleep\n", "a share of time is missing" },
	{ MACHINE PROGRAM VM "\tthreads 200 p\n\tthreads 57 p\n", "more than 256 threads" },
	{ MACHINE PROGRAM VM "\tthreads 100 p\n",
	  "test:6: the programs of the vm a above" },
	{ MACHINE "program h\n\tfunction f handover footprint 4K\n" VM "\tthreads 3 h\n",
	  "3 threads of h, which hand lines over in pairs" },
};

static void a_bad_scenario_is_refused_with_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct scenario sc;
		struct err err = { 0 };
		const char *text = refused[i].text;

		if (scenario_parse("test", "test", text, strlen(text), &sc, &err) !=
			    -EINVAL ||
		    !strstr(err.text, refused[i].words))
			fail_msg("\"%s\": \"%s\", expected \"%s\"", text, err.text,
				 refused[i].words);
		assert_null(sc.vms);
	}
}

static int loads(void *ctx, const char *name, const char *path)
{
	struct scenario sc;
	struct err err = { 0 };

	(void)path;
	if (scenario_load(name, &sc, &err))
		fail_msg("%s", err.text);
	assert_string_equal(sc.name, name);
	scenario_free(&sc);
	++*(int *)ctx;
	return 0;
}

static void each_scenario_that_is_compiled_in_is_good(void **state)
{
	int n = 0;

	(void)state;
	assert_int_equal(data_each("scenarios", loads, &n), 0);
	assert_true(n > 0);
}

static void a_name_that_there_is_not_is_told_with_those_there_are(void **state)
{
	struct scenario sc;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(scenario_load("nothing", &sc, &err), -ENOENT);
	assert_non_null(strstr(err.text, "default"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scenario_says_what_runs_where),
		cmocka_unit_test(what_is_not_said_has_a_default),
		cmocka_unit_test(a_footprint_counts_what_each_thread_has),
		cmocka_unit_test(a_bad_scenario_is_refused_with_words),
		cmocka_unit_test(each_scenario_that_is_compiled_in_is_good),
		cmocka_unit_test(a_name_that_there_is_not_is_told_with_those_there_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
