/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: score FIRST LAST [trouble | advice [bold] [search N]]
 * For each generated scenario a line of JSON: of each VM what its diagnosis says and what
 * is so (by running again without each factor); or with "advice" what is advised and what
 * comes of it. "trouble": someone else has some of the counters, and some readings are
 * lost.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "measure.h"
#include "score.h"

#define MS 1000000
/* Programs first write their data; a user looks for longer before he moves anything. */
#define ADVICE_WARM (12 * MS)
#define ADVICE_SECONDS 0.020

/* @truth NULL: not wanted. */
static void put_vm(struct json *j, const struct look_at *l, const struct diag_result *r,
		   const struct true_vm *truth)
{
	double loss;

	jsonw_object(j, NULL);
	jsonw_str(j, "vm", l->all.vms[r->vm].name);
	jsonw_str(j, "said", r->top < 0 ? NULL : factor_name((enum factor)r->top));
	jsonw_bool(j, "unknown", r->unknown);
	jsonw_array(j, "losses");
	for (int f = 0; f < FACTORS; f++)
		jsonw_f64(j, NULL, r->all.part[f].loss);
	jsonw_end_array(j);
	jsonw_array(j, "errors");
	for (int f = 0; f < FACTORS; f++)
		jsonw_f64(j, NULL, r->all.part[f].loss_error);
	jsonw_end_array(j);
	if (truth) {
		jsonw_str(j, "true", factor_name(true_top(truth, &loss)));
		jsonw_array(j, "truth");
		for (int f = 0; f < FACTORS; f++)
			jsonw_f64(j, NULL, truth->loss[f]);
		jsonw_end_array(j);
	}
	jsonw_end_object(j);
}

static int put_vms(struct json *j, const struct look_at *l, const struct truth *truth,
		   struct err *err)
{
	struct diagnosis d = { 0 };

	if (diagnose(&l->all, &d))
		return err_set(err, ENOMEM, "out of memory");
	jsonw_array(j, "vms");
	for (size_t i = 0; i < d.nvms; i++)
		put_vm(j, l, &d.vms[i], truth ? &truth->vm[i] : NULL);
	jsonw_end_array(j);
	diagnosis_free(&d);
	return 0;
}

static int put_diagnosis(struct json *j, struct look_at *l, const char *scenario,
			 const struct score_options *o, struct err *err)
{
	static struct truth truth;
	int ret = 0;

	if (!o->trouble)
		ret = measure_truth(scenario, o->warm_ns, o->window_ns, &truth, err);
	jsonw_bool(j, "trouble", o->trouble);
	return ret ? ret : put_vms(j, l, o->trouble ? NULL : &truth, err);
}

static int score(uint64_t seed, const struct score_options *o, struct json *j,
		 struct err *err)
{
	struct strbuf text = { 0 };
	struct look_at l = { 0 };
	int ret = generate_scenario(seed, &text);

	if (ret) {
		strbuf_free(&text);
		return err_set(err, ret, "out of memory");
	}
	ret = look_open(&l, text.data, o, err);
	if (!ret)
		ret = look_measure(&l, err);
	jsonw_object(j, NULL);
	jsonw_u64(j, "seed", seed);
	if (!ret && o->advice)
		ret = score_advice(&l, text.data, o, j, err);
	else if (!ret)
		ret = put_diagnosis(j, &l, text.data, o, err);
	jsonw_end_object(j);
	jsonw_newline(j);
	fflush(stdout);
	look_close(&l);
	strbuf_free(&text);
	return ret;
}

static int usage(void)
{
	fprintf(stderr, "usage: score FIRST LAST [trouble | advice [bold] [search N]]\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct score_options o = {
		.warm_ns = 2 * MS, .window_ns = 3 * MS, .windows = 2, .seconds = 0.010
	};
	struct err err = { 0 };
	struct json j;
	uint64_t first, last;

	if (argc < 3)
		return usage();
	first = strtoull(argv[1], NULL, 10);
	last = strtoull(argv[2], NULL, 10);
	for (int i = 3; i < argc; i++)
		if (!strcmp(argv[i], "trouble"))
			o.trouble = true;
		else if (!strcmp(argv[i], "advice"))
			o.advice = true;
		else if (!strcmp(argv[i], "bold"))
			o.bold = true;
		else if (!strcmp(argv[i], "search") && i + 1 < argc)
			o.search = (unsigned)strtoul(argv[++i], NULL, 10);
		else
			return usage();
	if (o.advice) {
		o.warm_ns = ADVICE_WARM;
		o.seconds = ADVICE_SECONDS;
	}
	jsonw_init(&j, stdout);
	for (uint64_t seed = first; seed <= last; seed++)
		if (score(seed, &o, &j, &err)) {
			fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed,
				err.text);
			return 1;
		}
	return 0;
}
