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

uint64_t line_on(const struct machine_spec *spec, unsigned node, uint64_t n)
{
	return node * spec->node_bytes / SPEC_LINE + n;
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

static void step(struct machine *m, const struct machine_spec *spec, struct load *l)
{
	struct access a = { .vm = (uint16_t)l->core,
			    .home = (uint8_t)l->home,
			    .dependent = l->dependent,
			    .window = (uint8_t)l->window,
			    .instructions = 4,
			    .cycles = 1 };
	uint64_t n = l->done % l->lines;

	/* By turns, so that others' accesses come in between. */
	l->computes = !l->computes && l->cycles;
	if (l->computes) {
		machine_compute(m, l->core, 0, (l->state >> 40) * l->cycles >> 23);
		return;
	}
	l->state = l->state * 6364136223846793005u + 1442695040888963407u;
	if (l->random)
		n = (l->state >> 33) % l->lines;
	a.write = (l->state >> 24 & 255) < l->writes;
	a.line = line_on(spec, l->home, l->first + n);
	machine_access(m, l->core, &a);
	l->done++;
}

void run_loads(struct machine *m, const struct machine_spec *spec, struct load *loads,
	       unsigned n, uint64_t ps)
{
	uint64_t until = machine_now(m, loads[0].core) + ps;

	for (;;) {
		struct load *latest = &loads[0];

		for (unsigned i = 1; i < n; i++)
			if (machine_now(m, loads[i].core) < machine_now(m, latest->core))
				latest = &loads[i];
		if (machine_now(m, latest->core) >= until)
			break;
		step(m, spec, latest);
	}
	for (unsigned node = 0; node < spec->nodes; node++)
		machine_settle(m, node, until);
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
