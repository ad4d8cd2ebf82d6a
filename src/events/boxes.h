/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_BOXES_H
#define EVENTS_BOXES_H

#include <stddef.h>
#include <stdint.h>

#include "base/rootfs.h"

/* One of the boxes that a socket's PMU is made of: uncore_cha_3. */
struct event_box {
	char name[64];
	uint32_t type;	    /* for perf_event_attr.type */
	char cpumask[1024]; /* the kernel's list: a CPU for each socket or part of one, on
			     * which it is opened; "" if it has none */
};

/*
 * The boxes of @pmu (event.pmu): PMU itself, or PMU_0, PMU_1 … malloc()ed, the caller
 * frees *@out. 0, also if there are none; -ENOMEM.
 */
int event_boxes(const struct rootfs *root, const char *pmu, struct event_box **out,
		size_t *n);

#endif
