/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event_machines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "events/parse.h"

struct rootfs machines[MACHINES];

int open_machines(void **state)
{
	static const char *const names[] = {
		"x86", "amd", "arm", "hybrid", "none", "shut"
	};
	char path[4096];
	int ret = 0;

	(void)state;
	/* Every x86 model's names, whatever the CPU; before libpfm4 starts. */
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	for (size_t i = 0; !ret && i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/pmu-%s", getenv("VMMPROF_TREES"),
			 names[i]);
		ret = rootfs_open(&machines[i], path, NULL);
	}
	return ret ? ret : rootfs_open(&machines[HERE], "/", NULL);
}

int close_machines(void **state)
{
	(void)state;
	for (int i = 0; i < MACHINES; i++)
		rootfs_close(&machines[i]);
	return 0;
}

struct event_set parse(int machine, const char *spec)
{
	struct event_set set = { 0 };
	struct err err = { 0 };

	if (events_parse(spec, &machines[machine], &set, &err))
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
	int ret = events_parse(spec, &machines[machine], &set, &err);

	if (ret != code || err.code != code || !strstr(err.text, words) || set.n)
		fail_msg("%s: expected %d \"%s\", got %d \"%s\"", spec, code, words, ret,
			 err.text);
	event_set_free(&set);
}
