/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_LIST_H
#define EVENTS_LIST_H

#include "base/rootfs.h"
#include "model/event.h"

/* A name that events_parse() takes on this machine. */
struct event_name {
	const char *name; /* as to be written: cycles, LLC-loads, cpu/mem-loads/ */
	const char *pmu;  /* the PMU that publishes it in sysfs, "" for perf's own names */
	const char *what; /* a few words, "" if nobody says */
	enum event_kind kind;
};

/*
 * Calls @cb with perf's generic events and the monitors, then with those that PMUs
 * publish, a socket's PMU once for all its boxes. Tracepoints, libpfm4's names and those
 * of event tables are not listed: thousands. Whether an event opens is for the caller to
 * try. A callback's nonzero return ends it and is returned; else 0 or -ENOMEM.
 */
int events_list(const struct rootfs *root,
		int (*cb)(void *ctx, const struct event_name *name), void *ctx);

#endif
