/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profile models and LIKWID's groups. The first byte chooses which; what was read is
 * written, read again and computed.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "events/formula.h"
#include "events/profile.h"
#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

static void compute(const struct profile_model *p, double value, double error,
		    enum reading_state state)
{
	struct metric_value *in = calloc(p->ninputs + 1, sizeof(*in));
	const struct profile_values values = {
		.input = in, .seconds = 1, .nodes = 2, .cpus = 4
	};

	if (!in)
		abort();
	for (size_t i = 0; i < p->ninputs; i++)
		in[i] = (struct metric_value) { value * (double)(i + 1), error, state,
						"because", NULL };
	for (size_t i = 0; i < p->nmetrics; i++) {
		struct metric_value v = profile_metric_value(p, i, &values);

		/* Never a number without a state that allows it, nor the other way. */
		if (isfinite(v.value) != reading_has_value(v.state) || isinf(v.value) ||
		    isinf(v.error) || v.error < 0)
			abort();
		if (!reading_has_value(v.state) && !v.reason)
			abort();
		profile_metric_mark(&p->metrics[i], v.value);
		for (size_t k = 0; k < formula_divisors(p->metrics[i].formula); k++)
			if (!formula_divisor(p->metrics[i].formula, k))
				abort();
	}
	free(in);
}

static void check(struct profile_model *p)
{
	struct strbuf once = { 0 }, twice = { 0 };
	struct profile_model again;
	struct err why;

	compute(p, 1000, 0, READ_COUNTED);
	compute(p, 1000, 10, READ_SCALED);
	compute(p, 0, NAN, READ_SUSPECT);
	compute(p, 1e300, 1e300, READ_SCALED);
	compute(p, NAN, NAN, READ_DENIED);
	profile_model_write(p, &once);
	if (profile_model_parse("again", once.data, once.len, &again, &why))
		abort();
	again.remarks = p->remarks;
	profile_model_write(&again, &twice);
	if (again.ninputs != p->ninputs || again.nmetrics != p->nmetrics ||
	    twice.len != once.len || memcmp(once.data, twice.data, once.len))
		abort();
	again.remarks = NULL;
	profile_model_free(&again);
	strbuf_free(&once);
	strbuf_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile_model p = { 0 };
	struct err why = { 0 };
	int ret;

	if (!size)
		return 0;
	ret = (data[0] == 'L' ? profile_model_import_likwid : profile_model_parse)(
		"in", (const char *)data + 1, size - 1, &p, &why);
	if (ret && (ret != -EINVAL || why.code != ret || !why.text[0]))
		abort();
	if (!ret)
		check(&p);
	profile_model_free(&p);
	return 0;
}
