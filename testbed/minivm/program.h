/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a guest runs, and exactly how many instructions that is. */
#ifndef MINIVM_PROGRAM_H
#define MINIVM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

/* What the user asked one lap to look like. */
struct shape {
	uint64_t insns;	     /* wanted; a program comes as near as its rounds allow */
	uint64_t rounds;     /* of two functions or two phases */
	uint64_t footprint;  /* bytes that a program of memory walks over */
	unsigned int first;  /* share of the first function or phase … */
	unsigned int second; /* … and of the second */
};

/* One lap: the registers that make it, and what then retires. */
struct lap {
	const char *entry;     /* symbol */
	uint64_t x[3];	       /* the three registers of guest-*.S */
	uint64_t kernel, user; /* instructions in either mode; their sum is the lap's */
	uint64_t hot, cold;    /* of those, inside the first and the second function; hot:
				  what the guest is to count itself */
	bool endless;	       /* waits for ever: nothing to count */
};

struct program {
	const char *name;
	const char *help;
	/* 0, or -EINVAL where the shape is too small for even one round. */
	int (*plan)(const struct shape *shape, bool first_lap, struct lap *lap);
};

const struct program *program_find(const char *name);
const struct program *program_at(unsigned int index);

#endif
