/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A user's event table: what is taken keeps the rules that the rest relies on. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "events/parse.h"
#include "events/table_form.h"
#include "fuzz.h"

static void check_rows(const struct event_table *t)
{
	for (size_t i = 0; i < event_table_size(t); i++) {
		const struct table_event *row = event_table_row(t, i);
		struct event ev;

		if (event_table_find(t, row->name) != row || !(row->scale > 0) ||
		    table_event_make(row, NULL, &ev, NULL) || !*ev.name)
			abort();
		if ((ev.kind == EVENT_UNCORE) != !!*ev.pmu)
			abort();
	}
}

static void check_roles(const struct event_table *t)
{
	for (unsigned i = 0; i < ROLES; i++) {
		struct event_set set = { 0 };
		struct err err = { 0 };
		int ret = role_events(i, t, NULL, &set, &err);

		if (ret ? ret != -ENOENT || set.n || !*err.text : !set.n)
			abort();
		event_set_free(&set);
	}
}

/* Names are the user's words: asked for, they are that row, perf's own, or refused. */
static void ask(const struct event_table *t)
{
	for (size_t i = 0; i < event_table_size(t); i++) {
		struct event_set set = { 0 };
		struct err err = { 0 };

		if (events_parse_with(event_table_row(t, i)->name, NULL, t, &set, &err) &&
		    !*err.text)
			abort();
		event_set_free(&set);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event_table *t;
	struct err err = { 0 };

	if (table_read("fuzz", "fuzz.events", (const char *)data, size, &t, &err)) {
		if (t || err.code >= 0 || strncmp(err.text, "fuzz.events", 11))
			abort();
		return 0;
	}
	check_rows(t);
	check_roles(t);
	ask(t);
	event_table_free(t);
	return 0;
}
