/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is told of a VM by other means than a counter, and roles that perf's own events
 * play on any CPU.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "events/lookup.h"
#include "events/table.h"

static const struct {
	const char *name;
	enum role role;
} monitors[] = {
	{ "waited", ROLE_WAITED },
	{ "llc-occupancy", ROLE_LLC_OCCUPANCY },
	{ "mem-bytes", ROLE_MEM_BYTES },
	{ "mem-bytes-local", ROLE_MEM_BYTES_LOCAL },
};

static const struct {
	enum role role;
	const char *name;
} generic[] = {
	{ ROLE_INSTRUCTIONS, "instructions" }, { ROLE_CYCLES, "cycles" },
	{ ROLE_REF_CYCLES, "ref-cycles" },     { ROLE_LLC_REFS, "cache-references" },
	{ ROLE_LLC_MISSES, "cache-misses" },
};

static void make_monitor(enum role role, struct event *ev)
{
	ev->kind = EVENT_MONITOR;
	ev->type = UINT32_MAX; /* nothing of perf's */
	ev->side = SIDE_BOTH;
	ev->config = role;
	str_copy(ev->unit, sizeof(ev->unit), role_unit(role));
}

int monitor_resolve(const char *name, struct event *ev)
{
	for (size_t i = 0; i < ARRAY_SIZE(monitors); i++)
		if (!strcmp(name, monitors[i].name)) {
			make_monitor(monitors[i].role, ev);
			return 0;
		}
	return NOT_MINE;
}

int monitor_each(int (*cb)(void *ctx, const struct event_name *name), void *ctx)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(monitors); i++) {
		struct event_name en = { monitors[i].name, "", role_what(monitors[i].role),
					 EVENT_MONITOR };

		ret = cb(ctx, &en);
	}
	return ret;
}

bool role_is_monitored(enum role role)
{
	for (size_t i = 0; i < ARRAY_SIZE(monitors); i++)
		if (monitors[i].role == role)
			return true;
	return false;
}

int role_named(const char *name, enum role *role, struct err *err)
{
	struct nearest near;
	char hint[96];

	if (role_find(name, role))
		return 0;
	nearest_init(&near, name);
	for (unsigned i = 0; i < ROLES; i++)
		nearest_offer(&near, role_name(i));
	return err_set(err, ENOENT, "role:%s: there is no such role%s", name,
		       nearest_say(&near, hint, sizeof(hint)));
}

/* What plays @role on any CPU, into the initialised @ev. */
static bool of_any_cpu(enum role role, struct event *ev)
{
	if (role_is_monitored(role)) {
		make_monitor(role, ev);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(generic); i++)
		if (generic[i].role == role) {
			names_resolve(generic[i].name, ev, NULL);
			return true;
		}
	return false;
}

static int add(enum role role, struct event *ev, size_t n, struct event_set *set)
{
	if (n == 1)
		str_copy(ev->name, sizeof(ev->name), role_name(role));
	str_copy(ev->unit, sizeof(ev->unit), role_unit(role));
	ev->must_move = role == ROLE_INSTRUCTIONS || role == ROLE_CYCLES;
	return VEC_PUSH(set->ev, set->n, set->cap, *ev);
}

int role_events(enum role role, const struct event_table *table, const struct rootfs *root,
		struct event_set *set, struct err *err)
{
	const struct table_event *rows[ROLE_EVENTS];
	const char *why = "there is no event table for this CPU";
	size_t before = set->n, n = 0;
	struct event ev;
	int ret = 0;

	if (table)
		n = event_table_role(table, role, rows, ROLE_EVENTS, &why);
	for (size_t i = 0; !ret && i < n; i++) {
		ret = table_event_make(rows[i], root, &ev, err);
		if (!ret && add(role, &ev, n, set))
			ret = err_set(err, ENOMEM, "%s", err_name(ENOMEM));
	}
	if (ret)
		set->n = before;
	if (ret || n)
		return ret;
	event_init(&ev);
	if ((table && event_table_says_no(table, role)) || !of_any_cpu(role, &ev))
		return err_set(err, ENOENT, "%s: %s", role_name(role), why);
	return add(role, &ev, 1, set) ? err_set(err, ENOMEM, "%s", err_name(ENOMEM)) : 0;
}
