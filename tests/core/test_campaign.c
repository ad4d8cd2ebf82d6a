/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: test_campaign                                       as a test: short campaigns
 *        test_campaign --family NAME [--variant N] [--seed N] [--steps N]
 *
 * A campaign is cut into rounds of ROUND steps, each on a new machine of the family's
 * next variant, with a seed of its own: SEED, SEED + 1, …
 */
#include <getopt.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/core/campaign.h"
#include "tests/core/campaign_mutants.h"

#define ROUND 20000

static const struct campaign_family *family_of(const char *name)
{
	const struct campaign_family *f = campaign_families;

	while (f->name && strcmp(f->name, name))
		f++;
	return f->name ? f : NULL;
}

static const struct campaign_variant *variant_of(const struct campaign_family *f,
						 uint64_t round)
{
	unsigned n = 0;

	while (f->variants[n])
		n++;
	return f->variants[round % n];
}

static void add(struct campaign_result *sum, const struct campaign_result *r)
{
	for (unsigned i = 0; i < STEPS; i++)
		sum->steps[i] += r->steps[i];
	sum->interrupts += r->interrupts;
	sum->samples += r->samples;
	sum->lost += r->lost;
	sum->late += r->late;
	sum->raised += r->raised;
	sum->multiplexed += r->multiplexed;
}

static void print_failure(const struct campaign_variant *variant,
			  struct campaign_step *steps, size_t n, uint64_t seed,
			  struct campaign_result *r)
{
	char line[128];

	printf("# %s (%s), seed %" PRIu64 ", step %zu: %s\n", variant->family->name,
	       variant->name, seed, r->step, r->why);
	n = campaign_shrink(variant, steps, n, r);
	printf("# %zu steps are enough, the last one fails: %s\n", n, r->why);
	for (size_t i = 0; i < n; i++) {
		campaign_print(&steps[i], line, sizeof(line));
		printf("#   %s\n", line);
	}
}

/* Runs a round. On failure @r says which, and the steps are printed. */
static void run_round(const struct campaign_variant *variant, uint64_t seed, size_t n,
		      struct campaign_result *r)
{
	struct campaign_step *steps = calloc(n, sizeof(*steps));

	if (!steps)
		abort();
	campaign_generate(variant, seed, steps, n);
	campaign_try(variant, steps, n, r);
	if (r->failed)
		print_failure(variant, steps, n, seed, r);
	free(steps);
}

static bool campaign(const struct campaign_family *family, int variant, uint64_t seed,
		     uint64_t steps, struct campaign_result *sum)
{
	*sum = (struct campaign_result) { .failed = false };
	for (uint64_t round = 0; steps; round++) {
		uint64_t n = steps < ROUND ? steps : ROUND;
		struct campaign_result r;

		run_round(
			variant_of(family, variant < 0 ? seed + round : (uint64_t)variant),
			seed + round, n, &r);
		add(sum, &r);
		if (r.failed)
			return false;
		steps -= n;
	}
	return true;
}

static int by_hand(int argc, char **argv)
{
	static const struct option options[] = {
		{ "family", required_argument, NULL, 'f' },
		{ "variant", required_argument, NULL, 'v' },
		{ "seed", required_argument, NULL, 's' },
		{ "steps", required_argument, NULL, 'n' },
		{ 0 },
	};
	const struct campaign_family *family = NULL;
	struct campaign_result sum;
	uint64_t seed = 1, steps = 100000;
	int option, variant = -1;
	bool ok;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (option) {
		case 'f': family = family_of(optarg); break;
		case 'v': variant = atoi(optarg); break;
		case 's': seed = strtoull(optarg, NULL, 0); break;
		case 'n': steps = strtoull(optarg, NULL, 0); break;
		default: return 2;
		}
	if (!family) {
		fprintf(stderr, "test_campaign: expected --family armv8, intel or amd\n");
		return 2;
	}
	ok = campaign(family, variant, seed, steps, &sum);
	printf("family %s seed %" PRIu64 " steps %" PRIu64 " interrupts %" PRIu64
	       " raised %" PRIu64 " samples %" PRIu64 " late %" PRIu64 " lost %" PRIu64
	       " multiplexed %" PRIu64 " %s\n",
	       family->name, seed, steps, sum.interrupts, sum.raised, sum.samples, sum.late,
	       sum.lost, sum.multiplexed, ok ? "ok" : "failed");
	return !ok;
}

/* ---- as a test */

/* tests/run campaign gives more, with figures. */
#define STEPS_CHECK 100000

static void holds(const char *name)
{
	struct campaign_result sum;

	assert_true(campaign(family_of(name), -1, 1, STEPS_CHECK, &sum));
	/* It was there: all that it is meant to be hard by. */
	for (unsigned i = 0; i < STEPS; i++)
		assert_true(sum.steps[i] > 0);
	assert_true(sum.interrupts > 100 && sum.raised > 100 && sum.samples > 100);
	assert_true(sum.late > 0 && sum.lost > 0 && sum.multiplexed > 0);
}

static void armv8_holds_whatever_happens(void **state)
{
	(void)state;
	holds("armv8");
}

static void intel_holds_whatever_happens(void **state)
{
	(void)state;
	holds("intel");
}

static void amd_holds_whatever_happens(void **state)
{
	(void)state;
	holds("amd");
}

static void a_seed_makes_the_same_steps_again(void **state)
{
	const struct campaign_variant *variant = campaign_families[0].variants[0];
	struct campaign_step one[1000], two[1000];

	(void)state;
	campaign_generate(variant, 7, one, 1000);
	campaign_generate(variant, 7, two, 1000);
	assert_memory_equal(one, two, sizeof(one));
	campaign_generate(variant, 8, two, 1000);
	assert_memory_not_equal(one, two, sizeof(one));
}

/* Which round finds the bug; @steps is then what it ran. */
static bool is_found(const struct campaign_mutant *m, struct campaign_step *steps,
		     struct campaign_result *r, const struct campaign_variant **variant)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		unsigned n = 0;

		while (m->variants[n])
			n++;
		*variant = campaign_plant(NULL, m->variants[seed % n]);
		campaign_generate(*variant, seed, steps, ROUND);
		*variant = campaign_plant(m, *variant);
		campaign_try(*variant, steps, ROUND, r);
		if (r->failed)
			return true;
	}
	return false;
}

static void every_planted_bug_is_found(void **state)
{
	struct campaign_step *steps = calloc(ROUND, sizeof(*steps));
	unsigned missed = 0;

	(void)state;
	assert_non_null(steps);
	for (const struct campaign_mutant *m = campaign_mutants; m->name; m++) {
		const struct campaign_variant *variant;
		struct campaign_result r;
		bool found = is_found(m, steps, &r, &variant);

		printf("# %s (%s): %s\n", m->name, (*m->variants)->family->name,
		       found ? r.why : "NOT FOUND");
		missed += !found;
	}
	campaign_plant(NULL, campaign_families[0].variants[0]);
	free(steps);
	assert_int_equal(missed, 0);
}

static void a_failure_is_shrunk_to_the_few_steps_that_make_it(void **state)
{
	struct campaign_step *steps = calloc(ROUND, sizeof(*steps));
	const struct campaign_variant *variant;
	struct campaign_result r, again;
	size_t n;

	(void)state;
	assert_non_null(steps);
	assert_true(is_found(campaign_mutants, steps, &r, &variant));
	n = campaign_shrink(variant, steps, ROUND, &r);
	assert_in_range(n, 1, 15);
	campaign_try(variant, steps, n, &again);
	assert_true(again.failed);
	assert_string_equal(again.why, r.why);
	variant = campaign_plant(NULL, campaign_families[0].variants[0]);
	campaign_try(variant, steps, n, &again);
	assert_false(again.failed);
	free(steps);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(armv8_holds_whatever_happens),
		cmocka_unit_test(intel_holds_whatever_happens),
		cmocka_unit_test(amd_holds_whatever_happens),
		cmocka_unit_test(a_seed_makes_the_same_steps_again),
		cmocka_unit_test(every_planted_bug_is_found),
		cmocka_unit_test(a_failure_is_shrunk_to_the_few_steps_that_make_it),
	};

	if (argc > 1)
		return by_hand(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
