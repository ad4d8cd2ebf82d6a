/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event_machines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "events/parse.h"

struct machine_tree trees[MACHINES];

int make_trees(void **state)
{
	static const char *const names[] = { "x86", "amd", "arm", "hybrid", "none" };
	char path[4096];

	(void)state;
	/* Every x86 model's names, whatever the CPU; before libpfm4 starts. */
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/trees/events/%s.tree",
			 getenv("VMMPROF_TESTS"), names[i]);
		machine_tree_create(&trees[i], path);
	}
	return rootfs_open(&trees[HERE].root, "/", NULL);
}

int remove_trees(void **state)
{
	(void)state;
	for (int i = 0; i < HERE; i++)
		machine_tree_remove(&trees[i]);
	rootfs_close(&trees[HERE].root);
	return 0;
}

struct event_set parse(int machine, const char *spec)
{
	struct event_set set = { 0 };
	struct err err = { 0 };

	if (events_parse(spec, &trees[machine].root, &set, &err))
		fail_msg("%s: %s", spec, err.text);
	return set;
}

struct event parse_one(int machine, const char *spec)
{
	struct event_set set = parse(machine, spec);
	struct event ev = set.ev[0];

	assert_int_equal(set.n, 1);
	event_set_free(&set);
	return ev;
}

void refused(int machine, const char *spec, int code, const char *words)
{
	struct event_set set = { 0 };
	struct err err = { 0 };
	int ret = events_parse(spec, &trees[machine].root, &set, &err);

	if (ret != code || err.code != code || !strstr(err.text, words) || set.n)
		fail_msg("%s: expected %d \"%s\", got %d \"%s\"", spec, code, words, ret,
			 err.text);
	event_set_free(&set);
}
