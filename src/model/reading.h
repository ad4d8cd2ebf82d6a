/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MODEL_READING_H
#define MODEL_READING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * No number without provenance. Ordered so that a sum is no better than its
 * worst part: the larger state wins.
 */
enum reading_state {
	READ_COUNTED,	    /* counted all the time: value is exact */
	READ_SCALED,	    /* multiplexed: value is an estimate, see error */
	READ_SUSPECT,	    /* stands still while its vCPU ran, or is not all */
	READ_UNDEFINED,	    /* a formula's: it would divide by zero: no value */
	READ_NOT_SCHEDULED, /* asked for, never, or hardly, on a counter: no value */
	READ_TAKEN,	    /* someone else holds the counter: no value */
	READ_INVISIBLE,	    /* the hypervisor hides it: no value */
	READ_DENIED,	    /* not allowed: no value */
	READ_UNSUPPORTED,   /* this machine has no such event: no value */
};

/* A counter's value over one interval (or since the start). */
struct reading {
	uint64_t value;	     /* events; scaled up if state is READ_SCALED */
	uint64_t raw;	     /* events as the counter saw them */
	uint64_t enabled_ns; /* time the event was wanted while its vCPU's thread ran */
	uint64_t running_ns; /* time it was on a counter */
	double error;	     /* half width of the bound on value; 0: exact, NaN: unknown */
	enum reading_state state;
	const char *reason; /* static, or of who opened the counter; NULL: none */
};

const char *reading_state_name(enum reading_state state); /* "not-scheduled" */
/* True if value may be shown as a number (counted, scaled; suspect only with its word). */
bool reading_has_value(enum reading_state state);
/* running/enabled as 0..1; 1 when the vCPU never ran (nothing was missed). */
double reading_coverage(const struct reading *r);

#endif
