/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MODEL_EVENT_H
#define MODEL_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which side of a vCPU thread an event counts. */
enum event_side {
	SIDE_DEFAULT, /* not said: the command decides */
	SIDE_GUEST,   /* :G */
	SIDE_HOST,    /* :H */
	SIDE_BOTH,    /* :GH, or an event that knows no sides */
};

enum event_kind {
	EVENT_HARDWARE,	  /* counted by a core PMU */
	EVENT_SOFTWARE,	  /* counted by the kernel on the vCPU's thread; knows no sides */
	EVENT_TRACEPOINT, /* likewise */
	EVENT_UNCORE,	  /* counted by a socket: knows no VM, no vCPU, no mode */
	EVENT_MONITOR,	  /* told of a VM by other means than a counter: resctrl, steal */
};

/*
 * An event ready to be opened. The encoding is perf's (perf_event_open(2)):
 * type, config, config1, config2.
 */
struct event {
	char name[96]; /* as written, with event_modifiers(); or its name= term */
	enum event_kind kind;
	char pmu[32]; /* EVENT_UNCORE: its boxes are PMU, PMU_0, PMU_1 …; else "" */
	uint32_t type;
	uint64_t config, config1, config2;
	enum event_side side;
	bool exclude_user, exclude_kernel, exclude_hv, exclude_idle;
	uint8_t precise; /* :p :pp :ppp */
	bool pinned;	 /* :D */
	int group;	 /* equal numbers >= 0 are scheduled together; -1: alone */
	uint64_t period; /* samples every so many events; 0: not said */
	uint64_t freq;	 /* samples per second; 0: not said */
	double scale;	 /* value * scale is in @unit; 1.0 by default */
	char unit[24];	 /* "" for a plain count */
	bool must_move;	 /* cannot stand still while its vCPU runs: cycles, … */
};

struct event_set {
	struct event *ev; /* owned */
	size_t n, cap;
};

void event_set_free(struct event_set *set);
/* Appends copies of @src's events; group numbers are kept apart. 0 or -ENOMEM. */
int event_set_append(struct event_set *dst, const struct event_set *src);

#define EVENT_MODIFIERS 9 /* room for ":ukhIppp" and its NUL */

/*
 * What of its modifiers tells an event from others of its name: the modes that it
 * counts, unless all, idleness and precision: ":u", ":kp", ""; not its side.
 */
void event_modifiers(const struct event *ev, char out[static EVENT_MODIFIERS]);
/* Is its value what is held now, such as llc-occupancy, and not a count since then? Its
 * interval's value is that of the interval's end, and there is no rate. */
bool event_is_level(const struct event *ev);
const char *event_side_name(enum event_side side); /* "guest", "host", "both" */

#endif
