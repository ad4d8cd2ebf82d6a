/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events_parse() and target_split(). The first byte chooses the machine, the
 * rest is what the user wrote.
 */
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "events/parse.h"
#include "events/target.h"
#include "fuzz.h"

/* The last is the only one that libpfm4 answers for. */
static const char *const roots[] = {
	FUZZ_TREES "/pmu-x86",	  FUZZ_TREES "/pmu-amd",  FUZZ_TREES "/pmu-arm",
	FUZZ_TREES "/pmu-hybrid", FUZZ_TREES "/pmu-none", "/",
};
static struct rootfs machines[ARRAY_SIZE(roots)];

static void close_machines(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++)
		rootfs_close(&machines[i]);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct err error;

	(void)argc;
	(void)argv;
	/* Names of every x86 model, whatever the CPU: the same run everywhere. */
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++)
		if (rootfs_open(&machines[i], roots[i], &error))
			errx(1, "%s", error.text);
	atexit(close_machines);
	return 0;
}

static void check(int ret, const struct event_set *set, const struct err *error)
{
	if (!ret && (!set->n || error->code))
		abort();
	if (ret && (set->n || error->code != ret || !error->text[0]))
		abort();
	if (ret && ret != -EINVAL && ret != -ENOENT && ret != -ENOMEM)
		abort();
	for (size_t i = 0; i < set->n; i++)
		if (!set->ev[i].name[0] || set->ev[i].precise > 3 ||
		    !(set->ev[i].scale > 0))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event_set set = { 0 };
	struct err error = { 0 };
	const char *events;
	char pattern[32], *spec;
	int ret;

	if (!size)
		return 0;
	spec = strndup((const char *)data + 1, size - 1);
	ret = events_parse(spec, &machines[data[0] % ARRAY_SIZE(roots)], &set, &error);
	check(ret, &set, &error);
	event_set_free(&set);
	if (!target_split(spec, pattern, sizeof(pattern), &events, NULL) && !*pattern)
		abort();
	free(spec);
	return 0;
}
