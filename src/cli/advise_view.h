/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_ADVISE_VIEW_H
#define CLI_ADVISE_VIEW_H

/* How advice, its moves and what came of them are shown. */

#include "cli/out.h"
#include "cli/placement.h"
#include "diagnose/diagnose.h"
#include "source/source.h"

/* Instructions per second that a VM runs; half width of its bound. NaN: not known. */
struct speed {
	double value, error;
};

/* Of VM @vm in @window. */
struct speed vm_speed(const struct diag_window *window, size_t vm);

void advise_show(struct out *out, const struct diag_window *window,
		 const struct advice *advice);
/* The command that does each move, and where @back takes them. */
void advise_show_moves(struct out *out, const struct source_ops *ops, struct source *src,
		       const struct topology *topo, const struct advice *advice,
		       const struct way_back *back);
/*
 * What each VM gained from @before to @after, beside what was predicted. @prediction
 * NULL: after going back, when it should be as @before.
 */
void advise_show_outcome(struct out *out, const struct diag_window *before,
			 const struct diag_window *after,
			 const struct prediction *prediction);

#endif
