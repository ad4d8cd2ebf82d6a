/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MODEL_CAPABILITY_H
#define MODEL_CAPABILITY_H

#include <stddef.h>

#include "model/event.h"

/* What can be measured here and what not, why, and the remedy. */

enum verdict {
	VERDICT_OK,
	VERDICT_LIMITED, /* works, but less than it could */
	VERDICT_MISSING,
	VERDICT_UNKNOWN, /* could not be found out */
};

/* What a finding takes away from the user; a set of bits. */
enum ability {
	ABLE_FIND = 1,	    /* find every VM and its vCPUs' threads */
	ABLE_HARDWARE = 2,  /* count hardware events */
	ABLE_GUEST = 4,	    /* tell guest from host: the guest side of KVM's vCPUs */
	ABLE_KERNEL = 8,    /* count in kernel mode, guest kernels included */
	ABLE_SAMPLE = 16,   /* sample by hardware events */
	ABLE_SOFTWARE = 32, /* count anything at all, software events included */
	ABLE_ASKED = 64,    /* what was asked for, whole and without taking turns */
};

struct capability {
	const char *id;	      /* "pmu": stable, for scripts; static text */
	const char *group;    /* "Counters": static text */
	const char *question; /* "Hardware counters": static text */
	enum verdict verdict;
	unsigned takes;	   /* enum ability bits that are lost by this finding */
	char finding[320]; /* words with numbers, never empty */
	char remedy[320];  /* what to do, a command where there is one; "" if nothing */
};

struct capability_list {
	struct capability *v; /* owned */
	size_t n, cap;
};

/* Events that the user wants on the VMs that answer to a pattern. */
struct capability_ask {
	const char *pattern; /* as vm_matches() takes it; NULL: every VM */
	bool nodes;	     /* of every node instead: events of EVENT_UNCORE */
	const struct event_set *events;
};

void capability_list_free(struct capability_list *list);
/* All abilities that some finding takes away. */
unsigned capability_list_takes(const struct capability_list *list);
const char *verdict_name(enum verdict verdict); /* "ok", "limited", "missing", "unknown" */

#endif
