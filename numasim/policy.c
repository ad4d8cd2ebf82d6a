/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numasim/hyper.h"

/*
 * Four simple schedulers, after what the real ones do first of all: Xen's credit (idle
 * pCPUs take work from their peers, with a soft affinity of VMs to nodes) and Linux's
 * load balancing (by the length of queues, over all CPUs). None looks at counters.
 */

#define BALANCE_TICKS 40 /* Linux looks around once in 4 ms */

static unsigned load(const struct pcpu *p)
{
	return p->nqueue + (p->runs != NULL);
}

/* vCPUs on the pCPUs of a node. */
static unsigned node_load(const struct sim *s, unsigned node)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < s->npcpus; i++)
		sum += s->pcpus[i].node == node ? load(&s->pcpus[i]) : 0;
	return sum;
}

/* Of those that @v may run on, on @node if that is not -1, the least loaded. */
static struct pcpu *least_loaded(struct sim *s, const struct vcpu *v, int node)
{
	struct pcpu *best = NULL;

	for (unsigned i = 0; i < s->npcpus; i++) {
		struct pcpu *p = &s->pcpus[i];

		if (vcpu_may(v, i) && (node < 0 || p->node == (unsigned)node) &&
		    (!best || load(p) < load(best)))
			best = p;
	}
	return best;
}

/* The node with the fewest vCPUs that @v may run on. */
static int emptiest_node(struct sim *s, const struct vcpu *v)
{
	int best = -1;

	for (unsigned n = 0; n < s->sc.machine.nodes; n++)
		if (least_loaded(s, v, (int)n) &&
		    (best < 0 || node_load(s, n) < node_load(s, (unsigned)best)))
			best = (int)n;
	return best;
}

struct pcpu *policy_place(struct sim *s, struct vcpu *v)
{
	struct pcpu *p = NULL;

	switch (s->sc.policy) {
	case POLICY_XEN:
		/* As libxl does for a new domain: all of it where there is most room. */
		if (v->prefers < 0)
			v->prefers = v->index ? s->vms[v->vm].vcpus->prefers
					      : emptiest_node(s, v);
		p = least_loaded(s, v, v->prefers);
		break;
	case POLICY_LINUX:
		/* As a fork is balanced: the idlest group of CPUs, the idlest of them. */
		p = least_loaded(s, v, emptiest_node(s, v));
		break;
	case POLICY_CREDIT:
	case POLICY_PINNED: break;
	}
	return p ? p : least_loaded(s, v, -1);
}

struct pcpu *policy_wake(struct sim *s, struct vcpu *v)
{
	struct pcpu *last = &s->pcpus[v->pcpu], *near, *any;

	if (s->sc.policy == POLICY_PINNED || !load(last))
		return last;
	near = least_loaded(s, v, (int)last->node);
	if (near && !load(near))
		return near;
	any = least_loaded(s, v, -1);
	return !load(any) && s->sc.policy != POLICY_XEN ? any : last;
}

/* The one that had least of those who wait on @from, may run on @p and had less than
 * @vtime. */
static struct vcpu *poorest(const struct pcpu *from, const struct pcpu *p, uint64_t vtime)
{
	struct vcpu *best = NULL;

	for (struct vcpu *v = from->queue; v; v = v->next) {
		if (v->vtime >= vtime || !vcpu_may(v, p->core))
			continue;
		best = v;
		vtime = v->vtime;
	}
	return best;
}

/* The same of all pCPUs, of @p's node or of the others. */
static struct vcpu *poorest_of(struct sim *s, const struct pcpu *p, bool own,
			       uint64_t vtime)
{
	struct vcpu *best = NULL;

	for (unsigned i = 1; i < s->npcpus; i++) {
		const struct pcpu *from = &s->pcpus[(p->core + i) % s->npcpus];
		struct vcpu *v;

		if ((from->node == p->node) != own)
			continue;
		v = poorest(from, p, vtime);
		if (v) {
			best = v;
			vtime = v->vtime;
		}
	}
	return best;
}

struct vcpu *policy_steal(struct sim *s, struct pcpu *p, uint64_t vtime)
{
	bool idle = vtime == SIM_NEVER;
	struct vcpu *v;

	if (s->sc.policy == POLICY_PINNED || (s->sc.policy == POLICY_LINUX && !idle))
		return NULL;
	/* Credit takes who had a slice less than those who wait here. */
	if (!idle)
		vtime -= vtime < s->sc.slice_ps ? vtime : s->sc.slice_ps;
	v = poorest_of(s, p, true, vtime);
	return v ? v : poorest_of(s, p, false, vtime);
}

struct vcpu *policy_balance(struct sim *s, struct pcpu *p)
{
	struct vcpu *v = NULL;
	unsigned most = load(p) + 1;

	if (s->sc.policy != POLICY_LINUX || p->tick_at / SIM_TICK % BALANCE_TICKS)
		return NULL;
	for (unsigned i = 0; i < s->npcpus; i++) {
		struct pcpu *from = &s->pcpus[i];
		struct vcpu *one = load(from) > most ? poorest(from, p, SIM_NEVER) : NULL;

		if (one) {
			v = one;
			most = load(from);
		}
	}
	return v;
}
