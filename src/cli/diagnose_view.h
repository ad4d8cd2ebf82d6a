/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_DIAGNOSE_VIEW_H
#define CLI_DIAGNOSE_VIEW_H

/* How a diagnosis is shown: the answer first, then what it rests on. */

#include "base/str.h"
#include "cli/out.h"
#include "diagnose/diagnose.h"
#include "model/topology.h"

struct diagnose_view {
	struct out *out;
	const struct diag_window *window;
	const struct diagnosis *diagnosis;
	const struct machine *machine; /* its nodes' ids */
	const size_t *order;	       /* of the VMs to show, by index in the diagnosis */
	size_t n;
};

/*
 * The VMs that answer to one of @patterns (none: all), those that lose most first.
 * @order has room for all. How many they are.
 */
size_t diagnose_order(const struct diagnosis *d, const struct topology *topo,
		      const struct diag_window *window, const char *const *patterns,
		      size_t npatterns, size_t *order);
/* What the top factor costs it, 0 … 1; 0: nothing does. */
double diagnose_loss(const struct diag_result *r);
/* Is there a factor of a VM shown that could not be measured? */
bool diagnose_partial(const struct diagnose_view *v);
/* @topo: where everything was, with TOPOLOGY_THREADS and TOPOLOGY_MEMORY. */
void diagnose_show(const struct diagnose_view *v, const struct topology *topo);
/* The same as a picture: a bar for each VM and node. */
void diagnose_svg(const struct diagnose_view *v, struct strbuf *out);

#endif
