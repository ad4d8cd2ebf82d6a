/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: truth SCENARIO | --seed FIRST [LAST] | --text SEED
 * What each factor costs each VM, found by running with it switched off: of a scenario,
 * or of generated ones; --text prints a generated one. For those who tune the diagnosis.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "measure.h"

#define WARM_NS 3000000
#define WINDOW_NS 3000000

static const char *const names[FACTORS] = { "locality", "llc", "sharing", "memory",
					    "trackers" };

static int print_truth(const char *what, const char *title, unsigned tops[FACTORS + 1])
{
	static struct truth truth;
	struct err err = { 0 };

	if (measure_truth(what, WARM_NS, WINDOW_NS, &truth, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	for (unsigned i = 0; i < truth.nvms; i++) {
		const struct true_vm *vm = &truth.vm[i];
		double loss;
		enum factor top = true_top(vm, &loss);

		printf("%-10s %-10s %9.3f", title, vm->name, vm->rate / 1e6);
		for (int f = 0; f < FACTORS; f++)
			printf(" %8.1f", 100 * vm->loss[f]);
		printf("  %s\n", loss > 0.05 ? names[top] : loss < 0.02 ? "-" : "?");
		tops[loss > 0.05 ? (unsigned)top : FACTORS]++;
	}
	fflush(stdout);
	return 0;
}

static int print_seeds(uint64_t first, uint64_t last, bool text, unsigned tops[FACTORS + 1])
{
	struct strbuf sb = { 0 };
	char title[32];
	int ret = 0;

	for (uint64_t seed = first; !ret && seed <= last; seed++) {
		ret = generate_scenario(seed, &sb);
		snprintf(title, sizeof(title), "%llu", (unsigned long long)seed);
		if (!ret && text)
			puts(sb.data);
		else if (!ret)
			ret = print_truth(sb.data, title, tops);
	}
	strbuf_free(&sb);
	return ret;
}

int main(int argc, char **argv)
{
	unsigned tops[FACTORS + 1] = { 0 };
	bool text = argc > 2 && !strcmp(argv[1], "--text");
	uint64_t first, last;
	int ret;

	if (argc < 2) {
		fprintf(stderr,
			"usage: truth SCENARIO | --seed FIRST [LAST] | --text SEED\n");
		return 2;
	}
	first = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	last = argc > 3 ? strtoull(argv[3], NULL, 0) : first;
	if (text)
		return print_seeds(first, first, true, tops);
	printf("%-10s %-10s %9s", "scenario", "vm", "M steps/s");
	for (int f = 0; f < FACTORS; f++)
		printf(" %7s%%", names[f]);
	printf("  most\n");
	if (!strcmp(argv[1], "--seed"))
		ret = print_seeds(first, last, false, tops);
	else
		ret = print_truth(argv[1], argv[1], tops);
	for (int f = 0; f <= FACTORS; f++)
		printf("%s %u%s", f < FACTORS ? names[f] : "less than 5%", tops[f],
		       f < FACTORS ? ", " : "\n");
	return ret;
}
