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
#include "machine_tree.h"

static const char *const lists[] = { "x86", "amd", "arm", "hybrid", "none" };
static struct machine_tree trees[ARRAY_SIZE(lists)];
static struct rootfs here; /* the only machine that libpfm4 answers for */

static void remove_trees(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(trees); i++)
		machine_tree_remove(&trees[i]);
	rootfs_close(&here);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char path[4096];

	(void)argc;
	(void)argv;
	/* Names of every x86 model, whatever the CPU: the same run everywhere. */
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		snprintf(path, sizeof(path), "%s/trees/events/%s.tree", FUZZ_TESTS,
			 lists[i]);
		machine_tree_create(&trees[i], path);
	}
	if (rootfs_open(&here, "/", NULL))
		errx(1, "cannot open /");
	atexit(remove_trees);
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
	size_t machine = size ? data[0] % (ARRAY_SIZE(lists) + 1) : 0;
	int ret;

	if (!size)
		return 0;
	spec = strndup((const char *)data + 1, size - 1);
	ret = events_parse(spec, machine < ARRAY_SIZE(lists) ? &trees[machine].root : &here,
			   &set, &error);
	check(ret, &set, &error);
	event_set_free(&set);
	if (!target_split(spec, pattern, sizeof(pattern), &events, NULL) && !*pattern)
		abort();
	free(spec);
	return 0;
}
