/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_LOOKUP_H
#define EVENTS_LOOKUP_H

/*
 * What the files of this room share: the places where a name may be known.
 * Each looks a name up and fills type, config…, kind, scale and unit of an event
 * that is otherwise as event_init() left it. They return 0; NOT_MINE when the
 * name is nothing of theirs (@err is untouched, unless said otherwise); or
 * -errno with a sentence in @err. Names come from users: any printable text.
 */

#include "base/err.h"
#include "base/rootfs.h"
#include "events/list.h"
#include "events/table.h"
#include "model/event.h"

#define NOT_MINE 1

/* Where a field of a PMU's configuration is. */
struct pmu_bits {
	unsigned config; /* 0, 1, 2: which word */
	uint64_t mask;
};

/* A PMU of sys/bus/event_source/devices. */
struct pmu {
	char name[64];
	uint32_t type;
	bool core;		     /* counts what a thread does on its CPU */
	bool socket_wide;	     /* has a cpumask: an uncore PMU, knows no threads */
	const struct table_pmu *own; /* its format where no kernel tells it: root is NULL */
};

/* Modifiers of one event or of one group. */
struct mods {
	unsigned seen;	  /* bits, see mods.c */
	unsigned precise; /* number of p */
};

void event_init(struct event *ev);

/* names.c: perf's generic hardware, software and cache events. */
int names_resolve(const char *name, struct event *ev, struct err *err);
/* Names and aliases, as events_list() gives them. */
int names_each(int (*cb)(void *ctx, const struct event_name *name), void *ctx);
/* True if this generic event cannot stand still while a thread runs. */
bool names_must_move(const struct event *ev);

/* role_events.c */
/* 0, or -ENOENT with the closest name in words. */
int role_named(const char *name, enum role *role, struct err *err);
/* waited, llc-occupancy … */
int monitor_resolve(const char *name, struct event *ev);
int monitor_each(int (*cb)(void *ctx, const struct event_name *name), void *ctx);

/*
 * pmu.c: PMUs as sysfs shows them. @root NULL: the machine has no kernel that shows any.
 */
int pmu_find(const struct rootfs *root, const char *name, struct pmu *pmu, struct err *err);
/*
 * All PMUs, core PMUs first, then by name; malloc()ed, the caller frees *@out.
 * A machine without sysfs has none.
 */
int pmu_list(const struct rootfs *root, struct pmu **out, size_t *n);
/* The first box of a socket's PMU; NOT_MINE if there is none. */
int pmu_find_box(const struct rootfs *root, const char *name, struct pmu *pmu,
		 struct err *err);
/* Is @name @pmu, or one of its boxes: uncore_cha_0, uncore_cha_12 … of uncore_cha? */
bool pmu_is_box(const char *name, const char *pmu);
/* -EINVAL with words if events of @pmu cannot be counted. */
int pmu_usable(const struct pmu *pmu, struct err *err);
/* Reads the type, encoding, scale and unit that @pmu publishes under @alias. */
int pmu_alias(const struct rootfs *root, const struct pmu *pmu, const char *alias,
	      struct event *ev, struct err *err);
/* Puts @value into the bits of @pmu's format field @field. */
int pmu_field(const struct rootfs *root, const struct pmu *pmu, const char *field,
	      uint64_t value, struct event *ev, struct err *err);
/* A bare name that a core PMU publishes: inst_retired, mem-loads. */
int pmu_bare_alias(const struct rootfs *root, const char *name, struct event *ev,
		   struct err *err);
/* True if @ev is encoded as an alias of a core PMU that never stands still. */
bool pmu_must_move(const struct rootfs *root, const struct event *ev);
/* "config1:0-7,32-35", as files under format/ hold it; false if it is nothing like that. */
bool pmu_bits(const char *text, struct pmu_bits *bits);
/* Puts @value there; false if it is too wide. */
bool pmu_bits_put(const struct pmu_bits *bits, uint64_t value, struct event *ev);
/* Calls @cb with each alias (no .scale, .unit …) or format field of @pmu. */
int pmu_each(const struct rootfs *root, const struct pmu *pmu, const char *folder,
	     int (*cb)(void *ctx, const char *name), void *ctx);

/* terms.c: what stands between slashes. */
struct term {
	const char *name;
	const char *value; /* NULL: no = */
};
/*
 * Adds @term to @ev; @pmu is NULL where the event is not PMU/…/. Never NOT_MINE.
 */
int term_apply(const struct rootfs *root, const struct pmu *pmu, const struct term *term,
	       struct event *ev, struct err *err);
/* rNNN: a raw encoding of the core PMU. */
int raw_resolve(const char *name, struct event *ev, struct err *err);
/* Decimal or 0x hexadecimal. 0, -EINVAL or -ERANGE. */
int term_number(const char *text, uint64_t *out);

/* mods.c */
/* Reads all of @text. 0 or -EINVAL with words. */
int mods_parse(const char *text, struct mods *mods, struct err *err);
/*
 * Applies an event's own modifiers and those of its group.
 * @own, @group  zero where there are none
 * @leader       the event is the first of its group, or alone
 */
int mods_apply(const struct mods *own, const struct mods *group, bool leader,
	       struct event *ev, struct err *err);

/*
 * tracepoint.c, pfm.c: names that may contain colons. @head is the whole word;
 * what follows the part that is the event's name is returned in @mods, NULL if
 * nothing does (@head is then cut there). With NOT_MINE, @err may carry why.
 */
int tracepoint_resolve(const struct rootfs *root, char *head, struct event *ev, char **mods,
		       struct err *err);
int pfm_resolve(const struct rootfs *root, char *head, struct event *ev, char **mods,
		struct err *err);

/* nearest.c: what the user may have meant. */
struct nearest {
	const char *wanted;
	char best[64];
	unsigned distance;
};
void nearest_init(struct nearest *near, const char *wanted);
void nearest_offer(struct nearest *near, const char *candidate);
/* "; did you mean X?" or "". @buf is returned. */
const char *nearest_say(const struct nearest *near, char *buf, size_t size);

/*
 * -ENOENT: nobody knows @name, @table (NULL: there is none) neither; with the closest name
 * that somebody knows, else with the reason in @why, if there is one.
 */
int unknown_event(const struct rootfs *root, const struct event_table *table,
		  const char *name, const struct err *why, struct err *err);

/*
 * May @name become one component of a path under sysfs? Letters, digits and
 * "_.-@+", not starting with a dot, shorter than 64.
 */
bool name_is_file(const char *name);

#endif
