/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/sim/machines.h"

#include "tests/unit/test.h"

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
	     unsigned home, uint64_t lines)
{
	struct access a = { .home = (uint8_t)home,
			    .dependent = true,
			    .window = 1,
			    .instructions = 1,
			    .cycles = 1 };
	const uint64_t rounds = lines < 10000 ? 10 : 1;
	uint64_t begin = 0;

	/* A step that has no factor in common with @lines comes by every one of them. */
	for (uint64_t i = 0; i < (1 + rounds) * lines; i++) {
		if (i == lines) {
			machine_drain(m, core);
			begin = machine_now(m, core);
		}
		a.line = line_on(spec, home, i * 7919 % lines);
		machine_access(m, core, &a);
	}
	return (double)(machine_now(m, core) - begin) / (double)(rounds * lines);
}
