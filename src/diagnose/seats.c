/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/seats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cpulist.h"
#include "base/str.h"
#include "diagnose/search.h"

#define FREE 0.01 /* pCPUs are used for less of their time */

/* What a vCPU takes of its pCPU; it stays where it is, or leaves. */
static double takes(const struct host *h, const struct diag_placement *to, size_t vm,
		    size_t vcpu)
{
	int node = to->vcpu[vm][vcpu];
	double sum = 0;

	if (node >= 0 && !vcpu_there(h, vm, vcpu, node))
		return 0;
	for (size_t i = 0; i < h->nflows; i++)
		if (h->flow[i].vm == vm && h->flow[i].vcpu == vcpu)
			sum += h->flow[i].active;
	return sum;
}

int seats_new(struct seats *s, const struct host *h, const struct diag_placement *to,
	      const char *const *node_cpus)
{
	const struct diag_window *w = h->window;

	*s = (struct seats) { .node_cpus = node_cpus, .known = true };
	s->use = calloc(CPULIST_MAX, sizeof(*s->use));
	if (!s->use)
		return -ENOMEM;
	for (size_t v = 0; v < w->nvms; v++)
		for (size_t c = 0; c < w->vms[v].nvcpus; c++) {
			const struct diag_vcpu *vcpu = &w->vms[v].vcpus[c];
			double use = takes(h, to, v, c);

			if (vcpu->choices && vcpu->cpu >= 0 && vcpu->cpu < CPULIST_MAX)
				s->use[vcpu->cpu] += use;
			else if (use > 0)
				s->known = false;
		}
	return 0;
}

int seats_take(struct seats *s, unsigned node, char *list, size_t size)
{
	int *cpus = NULL, best = -1;
	size_t n = 0;
	int rc = s->known ? cpulist_parse(s->node_cpus[node], &cpus, &n) : 0;

	for (size_t i = 0; !rc && i < n && best < 0; i++)
		if (s->use[cpus[i]] < FREE)
			best = cpus[i];
	free(cpus);
	str_copy(list, size, s->node_cpus[node]);
	if (best >= 0) {
		s->use[best] = 1;
		snprintf(list, size, "%d", best);
	}
	return rc == -ENOMEM ? rc : 0;
}

void seats_free(struct seats *s)
{
	free(s->use);
	*s = (struct seats) { 0 };
}
