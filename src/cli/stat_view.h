/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_STAT_VIEW_H
#define CLI_STAT_VIEW_H

/* How vmmprof stat shows counts. */

#include "cli/out.h"
#include "session/counting.h"

struct stat_view;

/* @out stays the caller's. NULL when out of memory. */
struct stat_view *stat_view_create(struct out *out, bool per_vcpu);
/* Counts that follow are one interval's, or the totals; counts outside are dropped. */
void stat_view_begin(struct stat_view *v, bool totals);
void stat_view_count(struct stat_view *v, const struct count *count);
/* Ends the table; says the reasons that were not said yet. */
void stat_view_end(struct stat_view *v);
void stat_view_free(struct stat_view *v);

#endif
