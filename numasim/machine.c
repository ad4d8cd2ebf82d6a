/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numasim/machine_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "numasim/match.h"
#include "numasim/sim.h"

/* Zeroed, and aligned to a line of ours, so that a set is in as few as can be. */
static void *zeroes(size_t n, size_t size)
{
	void *p = NULL;

	if (n * size > 1u << 20)
		return calloc(n, size); /* of the kernel: zero until touched */
	if (posix_memalign(&p, 64, n * size))
		return NULL;
	return memset(p, 0, n * size);
}

static unsigned stride(unsigned ways)
{
	return (ways + MATCH_STEP - 1) / MATCH_STEP * MATCH_STEP;
}

static int private_new(struct private_cache *p, const struct spec_cache *s)
{
	uint32_t sets = (uint32_t)(s->bytes / s->ways / SPEC_LINE);

	p->ways = s->ways;
	p->stride = stride(s->ways);
	p->mask = sets - 1;
	p->all = UINT32_MAX >> (32 - s->ways);
	p->used = zeroes(sets, sizeof(*p->used));
	p->key = zeroes((size_t)sets * p->stride, sizeof(*p->key));
	if (!p->used || !p->key)
		return -ENOMEM;
	memset(p->key, 0xff, (size_t)sets * p->stride * sizeof(*p->key));
	return 0;
}

static void private_free(struct private_cache *p)
{
	free(p->key);
	free(p->used);
}

static int llc_new(const struct machine *m, struct llc *l)
{
	l->line = zeroes((size_t)m->sets * m->stride, sizeof(*l->line));
	l->meta = zeroes((size_t)m->sets * m->stride, sizeof(*l->meta));
	l->used = zeroes(m->sets, sizeof(*l->used));
	return l->line && l->meta && l->used ? 0 : -ENOMEM;
}

static void llc_free(struct llc *l)
{
	free(l->line);
	free(l->meta);
	free(l->used);
}

static int tracker_new(const struct machine *m, struct tracker *t, unsigned entries)
{
	/* More than all cores can have in flight: it never fills. */
	t->n = m->off.trackers ? 4 * m->ncores * m->spec.lfb : entries;
	t->free_at = zeroes(t->n, sizeof(*t->free_at));
	return t->free_at ? 0 : -ENOMEM;
}

static int core_new(struct machine *m, unsigned number)
{
	struct core *c = &m->cores[number];
	int ret;

	c->number = number;
	c->node = number / m->spec.cores;
	c->index = number % m->spec.cores;
	c->cycle = (TICKS * 1000000000000ull + m->spec.core_hz / 2) / m->spec.core_hz;
	c->l1_time = (uint64_t)m->spec.l1.latency * TICKS;
	c->l2_time = (uint64_t)m->spec.l2.latency * TICKS;
	c->lfb_max = m->spec.lfb;
	c->next_fill = UINT64_MAX;
	memset(c->mark, 0xff, sizeof(c->mark));
	ret = private_new(&c->l1, &m->spec.l1);
	return ret ? ret : private_new(&c->l2, &m->spec.l2);
}

static int node_new(struct machine *m, unsigned index, uint64_t seed)
{
	struct node *n = &m->nodes[index];
	int ret = 0;

	n->index = index;
	n->cores = &m->cores[index * m->spec.cores];
	n->random = seed * 0x9e3779b97f4a7c15u + index;
	if (m->off.contention) {
		n->per_vm = calloc(SIM_VMS, sizeof(*n->per_vm));
		ret = n->per_vm ? 0 : -ENOMEM;
		for (unsigned vm = 0; !ret && vm < SIM_VMS; vm++)
			ret = llc_new(m, &n->per_vm[vm]);
	} else {
		ret = llc_new(m, &n->own);
	}
	if (!ret)
		ret = tracker_new(m, &n->rt, m->spec.rt);
	if (!ret)
		ret = tracker_new(m, &n->wt, m->spec.wt);
	if (!ret)
		ret = tracker_new(m, &n->ppt, m->spec.ppt);
	if (!ret)
		ret = tracker_new(m, &n->home_local, m->spec.home);
	return ret ? ret : tracker_new(m, &n->home_remote, m->spec.home);
}

/* Each node's next one on a shortest way to each other. */
static void set_ways(struct machine *m)
{
	const struct machine_spec *s = &m->spec;

	for (unsigned a = 0; a < s->nodes; a++)
		for (unsigned b = 0; b < s->nodes; b++)
			for (unsigned via = s->nodes; via-- > 0;)
				if (s->hops[a][via] == 1 &&
				    s->hops[via][b] + 1 == s->hops[a][b])
					m->next[a][b] = (uint8_t)via;
}

static uint64_t fraction(uint64_t hz, uint64_t per)
{
	return (uint64_t)(((unsigned __int128)hz << 64) / per);
}

static void set_figures(struct machine *m)
{
	const struct machine_spec *s = &m->spec;

	m->ncores = s->nodes * s->cores;
	m->sets = (uint32_t)(s->llc.bytes / s->llc.ways / SPEC_LINE);
	m->stride = stride(s->llc.ways);
	m->all_ways = UINT32_MAX >> (32 - s->llc.ways);
	m->service =
		(uint64_t)(SPEC_LINE * 1e12 / ((double)s->channel_rate * s->efficiency));
	m->link_service = SPEC_LINE * 1000000000000ull / s->link_rate;
	m->remote_hop = s->remote - s->local;
	m->dram = s->local - s->llc.latency;
	m->channel_full = m->service * s->home / s->channels;
	m->core_mult = fraction(s->core_hz, 1000000000000ull);
	m->tick_mult = fraction(s->core_hz, TICKS * 1000000000000ull);
	m->uncore_mult = fraction(s->uncore_hz, 1000000000000ull);
	m->npages = s->nodes * (size_t)s->node_bytes / (PAGE_LINES * SPEC_LINE);
	set_ways(m);
}

int machine_new(const struct machine_spec *spec, const struct machine_off *off,
		uint64_t seed, struct machine **out, struct err *err)
{
	struct machine *m = calloc(1, sizeof(*m));
	int ret = m ? 0 : -ENOMEM;

	*out = NULL;
	if (ret)
		return err_set(err, ENOMEM, "%s: no memory for the machine", spec->name);
	m->spec = *spec;
	if (off)
		m->off = *off;
	set_figures(m);
	m->pages = calloc(m->npages, 1);
	if (m->off.contention)
		m->page_vm = calloc(m->npages, 1);
	m->cores = zeroes(m->ncores, sizeof(*m->cores));
	m->nodes = zeroes(spec->nodes, sizeof(*m->nodes));
	if (!m->pages || !m->cores || !m->nodes || (m->off.contention && !m->page_vm))
		ret = -ENOMEM;
	for (unsigned i = 0; !ret && i < m->ncores; i++)
		ret = core_new(m, i);
	for (unsigned i = 0; !ret && i < spec->nodes; i++)
		ret = node_new(m, i, seed);
	if (ret) {
		machine_free(m);
		return err_set(err, -ret, "%s: no memory for the machine", spec->name);
	}
	*out = m;
	return 0;
}

void machine_free(struct machine *m)
{
	if (!m)
		return;
	for (unsigned i = 0; m->cores && i < m->ncores; i++) {
		private_free(&m->cores[i].l1);
		private_free(&m->cores[i].l2);
	}
	for (unsigned i = 0; m->nodes && i < m->spec.nodes; i++) {
		struct node *n = &m->nodes[i];

		llc_free(&n->own);
		for (unsigned vm = 0; n->per_vm && vm < SIM_VMS; vm++)
			llc_free(&n->per_vm[vm]);
		free(n->per_vm);
		free(n->rt.free_at);
		free(n->wt.free_at);
		free(n->ppt.free_at);
		free(n->home_local.free_at);
		free(n->home_remote.free_at);
	}
	free(m->pages);
	free(m->page_vm);
	free(m->cores);
	free(m->nodes);
	free(m);
}
