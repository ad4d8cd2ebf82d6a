/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_MODEL_VIEW_H
#define CLI_MODEL_VIEW_H

/* How vmmprof stat shows the metrics of profile models. */

#include "cli/model_set.h"
#include "cli/out.h"
#include "session/counting.h"

struct model_view;

/*
 * @out, @set and @machine stay the caller's; the events of @set come first in what is
 * counted of each VM and node. NULL when out of memory.
 */
struct model_view *model_view_create(struct out *out, const struct model_set *set,
				     const struct machine *machine);
/* Takes a count that is a model's; false: it is none's. */
bool model_view_count(struct model_view *v, const struct count *count);
/*
 * Shows the metrics of what was counted since the last call, the @totals or an
 * interval's, with the reasons that were not said yet. !@show: forgets it.
 */
void model_view_end(struct model_view *v, bool totals, bool show);
/* True if a metric had no value in what was shown last: exit status 3. */
bool model_view_partial(const struct model_view *v);
void model_view_free(struct model_view *v);

#endif
