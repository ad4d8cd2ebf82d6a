/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_TRUTH_H
#define NUMASIM_TRUTH_H

/*
 * What a real machine cannot do: switch a cause off and run again. Only tests and
 * benchmarks may include this; sources and views see the registers (house.edges).
 */

#include <stdbool.h>

struct machine_off {
	bool remote;	 /* other nodes are as near as the own: no links, no hops */
	bool contention; /* each VM has each socket's whole LLC for itself */
	bool sharing;	 /* a line may be written in one cache without leaving the others */
	bool memory;	 /* channels answer at once, as many requests as come */
	bool trackers;	 /* request trackers never fill */
};

#endif
