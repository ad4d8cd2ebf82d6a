/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/sim/loads.h"

uint64_t line_on(const struct machine_spec *spec, unsigned node, uint64_t n)
{
	return node * spec->node_bytes / SPEC_LINE + n;
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
