/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMABENCH_PLAN_H
#define NUMABENCH_PLAN_H

/*
 * What each benchmark does, as a table: a victim, whose speed is measured, and others that
 * get in its way. The same rows are played by threads on a real machine (native.h) and by
 * guests of the simulated one (scenario.h).
 */

#include <stdbool.h>
#include <stddef.h>

enum pattern {
	PATTERN_CHASE,	  /* each access needs the data of the one before */
	PATTERN_RANDOM,	  /* independent, anywhere */
	PATTERN_STREAM,	  /* independent, one line after the other */
	PATTERN_COUNTERS, /* all threads add to the same few lines */
};

enum where {
	WHERE_HERE,  /* memory of the victim's node */
	WHERE_THERE, /* of another node */
};

/* Threads that do the same. */
struct part {
	enum pattern pattern;
	enum where memory;
	bool there;	  /* they run on that other node */
	bool many;	  /* on every core of the node that is left; else @threads */
	unsigned threads; /* 0: none */
	double llcs;	  /* footprint of each, in sizes of the last-level cache */
	unsigned misses;  /* in flight, each thread; 0: as many as a core can have */
};

struct benchmark {
	const char *name;	  /* "remote" */
	const char *provokes;	  /* the factor's name in a diagnosis; NULL: none of them */
	const char *also;	  /* of a pair: the second one; NULL */
	const char *what;	  /* a sentence */
	struct part victim, calm; /* the victim, and how it is without the provocation */
	struct part others;	  /* not there when calm */
	double slower; /* claims: the victim's access takes at least so many times longer */
};

extern const struct benchmark benchmarks[]; /* ends with name NULL */
/* NULL: there is none of that name. */
const struct benchmark *benchmark_find(const char *name);
const char *pattern_name(enum pattern pattern); /* "chase" */

#endif
