/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_spec_parse(): what it accepts can be built and used; what it refuses it tells
 * with a place.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "numasim/machine.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

static void use(const struct machine_spec *s)
{
	struct access a = { .write = true, .window = 4, .instructions = 1, .cycles = 1 };
	const unsigned ncores = s->nodes * s->cores;
	struct machine *m;
	struct err err;

	if (machine_new(s, NULL, 1, &m, &err))
		return; /* no memory */
	for (unsigned i = 0; i < 500; i++) {
		a.home = (uint8_t)(i % s->nodes);
		a.line = a.home * (s->node_bytes / SPEC_LINE) + i * 37 % 300;
		machine_access(m, i % ncores, &a);
	}
	for (unsigned n = 0; n < s->nodes; n++)
		machine_settle(m, n, machine_now(m, 0));
	machine_forget(m, 0, 300);
	machine_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine_spec s;
	struct err err = { 0 };
	int ret = machine_spec_parse("m", (const char *)data, size, &s, &err);

	if (ret && (ret != -EINVAL || err.code != ret || strncmp(err.text, "m:", 2)))
		abort();
	/* Larger ones take long to lay out. */
	if (!ret && s.llc.bytes <= 64u << 20 && s.nodes * s.node_bytes <= 32ull << 30)
		use(&s);
	return 0;
}
