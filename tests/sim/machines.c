/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/sim/machines.h"

#include "tests/unit/test.h"

#include <math.h>

struct machine_spec machine_named(const char *what)
{
	struct machine_spec spec = { 0 };
	struct err err = { 0 };

	if (machine_spec_load(what, &spec, &err))
		fail_msg("%s", err.text);
	return spec;
}

struct machine *machine_of(const struct machine_spec *spec, const struct machine_off *off)
{
	struct machine *m = NULL;
	struct err err = { 0 };

	if (machine_new(spec, off, 1, &m, &err))
		fail_msg("%s", err.text);
	return m;
}

double chase(struct machine *m, const struct machine_spec *spec, unsigned core,
	     unsigned home, uint64_t lines, bool cold)
{
	struct access a = { .home = (uint8_t)home,
			    .dependent = true,
			    .window = 1,
			    .instructions = 1,
			    .cycles = 1 };
	const uint64_t first = cold ? 0 : lines, n = lines * (lines < 1000 ? 10 : 1);
	uint64_t begin = machine_now(m, core);

	/* A step that has no factor in common with @lines comes by every one of them. */
	for (uint64_t i = 0; i < first + n; i++) {
		if (i == first) {
			machine_drain(m, core);
			begin = machine_now(m, core);
		}
		a.line = line_on(spec, home, i * 7919 % lines);
		machine_access(m, core, &a);
	}
	machine_drain(m, core);
	return (double)(machine_now(m, core) - begin) / (double)n;
}

uint64_t cores_sum(const struct machine *m, const struct machine_spec *s, unsigned event)
{
	uint64_t sum = 0;

	for (unsigned c = 0; c < s->nodes * s->cores; c++)
		sum += machine_core_events(m, c)[event];
	return sum;
}

uint64_t nodes_sum(const struct machine *m, const struct machine_spec *s, unsigned event)
{
	uint64_t sum = 0;

	for (unsigned n = 0; n < s->nodes; n++)
		sum += machine_node_events(m, n)[event];
	return sum;
}

uint64_t channels_sum(const struct machine *m, unsigned node, unsigned event)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < NODE_CHANNELS; i++)
		sum += machine_node_events(m, node)[event + i];
	return sum;
}

void about_at(const char *file, int line, const char *what, double value, double expected,
	      double within)
{
	if (!(fabs(value - expected) <= within * fabs(expected)))
		fail_msg("%s:%d: %s is %g instead of %g", file, line, what, value,
			 expected);
}
