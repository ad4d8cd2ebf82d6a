/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/host.h"

void host_anatomy(const struct host *h, size_t i, const struct solution *s,
		  struct anatomy *out)
{
	const struct diag_machine *m = &h->window->machine;
	const struct flow *f = &h->flow[i];
	double hits = f->plain * f->hit, miss = f->plain - hits,
	       hop = m->remote_ns - m->local_ns;
	double near = h->idle[f->node][f->node], given = f->rclean + f->rhanded + f->rhitm;
	double *part = out->part, llc, all;
	struct latency l;

	flow_latency(h, i, 0, s, &l);
	*out = (struct anatomy) { .own = l.felt };
	for (unsigned o = 0; o < h->nodes; o++) {
		double w = l.weight[o == f->node ? HERE : FAR],
		       link = s->link_wait[o][f->node];

		part[FACTOR_LOCALITY] +=
			w * miss * f->home[o] * (h->idle[f->node][o] - near + link) +
			l.weight[FAR] * given * f->peer[o] * link;
		part[FACTOR_MEMORY] += w * miss * f->home[o] * s->mem_wait[o] * f->swell;
		part[FACTOR_LLC] += w * f->home[o];
	}
	llc = f->plain * (f->alone - f->hit) * (near - 1e-9 * m->llc_ns);
	part[FACTOR_LLC] *= llc;
	part[FACTOR_LOCALITY] += l.weight[FAR] * 1e-9 * given * hop;
	part[FACTOR_SHARING] =
		1e-9 *
		(l.weight[NEAR] * (hits * f->clean * (m->shared_ns - m->llc_ns) +
				   f->handed * m->shared_ns + f->hitm * m->modified_ns) +
		 l.weight[FAR] * (f->rhanded * (m->remote_cache_ns - hop) +
				  f->rhitm * (m->remote_modified_ns - hop)));
	all = l.requests[NEAR] + l.requests[HERE] + l.requests[FAR];
	for (int k = 0; k < REACHES && all > 0; k++) {
		if (flow_shares(f))
			part[FACTOR_SHARING] +=
				l.weight[k] * f->residue * l.requests[k] / all;
		part[FACTOR_TRACKERS] +=
			l.weight[k] * l.requests[k] * s->tracker_wait[f->node];
	}
	for (int k = 0; k < FACTORS; k++)
		out->own -= part[k];
}
