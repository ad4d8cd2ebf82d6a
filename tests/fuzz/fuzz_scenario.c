/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A scenario's text; what can be parsed, and is not too large to build again and again,
 * runs for a moment and is moved about. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "numasim/scenario.h"
#include "numasim/sim.h"

#define RUN_NS 30000
#define TEXT_MAX 4096

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	setenv("HOME", "/nonexistent", 1);
	unsetenv("XDG_CONFIG_HOME");
	return 0;
}

/* Caches, and the table of all memory's pages, are made anew for each input. */
static bool small(const struct scenario *sc)
{
	const struct machine_spec *m = &sc->machine;
	uint64_t threads = 0;

	for (size_t i = 0; i < sc->nvms; i++)
		for (size_t k = 0; k < sc->vms[i].nthreads; k++)
			threads += sc->vms[i].threads[k].n;
	return m->nodes * m->cores <= 16 && m->nodes * m->llc.bytes <= 16u << 20 &&
	       m->nodes * m->node_bytes <= 32ull << 30 && threads <= 512;
}

static void check_time(const struct sim *s)
{
	for (unsigned i = 0; i < sim_vms(s); i++) {
		struct sim_vm vm;
		uint64_t sum = 0;

		if (sim_vm(s, i, &vm))
			abort();
		for (unsigned n = 0; n < SPEC_NODES; n++)
			sum += vm.node_bytes[n];
		if (sum != vm.bytes)
			abort();
		for (unsigned v = 0; v < vm.nvcpus; v++) {
			struct sim_vcpu c;

			if (sim_vcpu(s, i, v, &c) ||
			    c.ran_ns + c.waited_ns > sim_now_ns(s) + 1000000)
				abort();
		}
	}
}

static void run(const char *text)
{
	const uint64_t first[4] = { 1 };
	struct err err = { 0 };
	struct sim *s;

	if (sim_open(text, NULL, &s, &err)) {
		if (err.code >= 0 || !*err.text)
			abort();
		return;
	}
	sim_run(s, RUN_NS);
	for (unsigned i = 0; i < sim_vms(s); i++) {
		sim_pin(s, i, 0, first, &err);
		sim_move_memory(s, i, 1, &err);
	}
	sim_run(s, 2 * RUN_NS);
	check_time(s);
	sim_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scenario sc;
	struct err err = { 0 };
	bool tiny;
	char *text;

	/* A machine may be a path: none that never ends. */
	if (memmem(data, size, "/dev", 4) || memmem(data, size, "/proc", 5))
		return 0;
	if (scenario_parse("fuzz", "fuzz", (const char *)data, size, &sc, &err)) {
		if (err.code >= 0 || !*err.text)
			abort();
		return 0;
	}
	tiny = small(&sc);
	scenario_free(&sc);
	if (!tiny || size > TEXT_MAX || memchr(data, 0, size))
		return 0;
	text = malloc(size + 2);
	if (!text)
		return 0;
	memcpy(text, data, size);
	memcpy(text + size, "\n", 2); /* what has a newline is a text, not a name */
	run(text);
	free(text);
	return 0;
}
