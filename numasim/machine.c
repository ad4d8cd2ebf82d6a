/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numasim/machine_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "numasim/sim.h"

/*
 * All of a machine is one piece of zeroed memory, in huge pages if there are any: what
 * its caches cost us is mostly the misses of ours. It is laid out twice: without a base
 * to learn its size, and then in earnest.
 */
#define HUGE_PAGE ((size_t)2 << 20)

struct arena {
	char *base;
	size_t used;
};

static void *carve(struct arena *a, size_t n, size_t size)
{
	void *p = a->base ? a->base + a->used : NULL;

	a->used += (n * size + 63) & ~(size_t)63;
	return p;
}

static unsigned stride(unsigned ways)
{
	return (ways + MATCH_STEP - 1) / MATCH_STEP * MATCH_STEP;
}

static void lay_private(struct arena *a, struct private_cache *p,
			const struct spec_cache *s)
{
	uint32_t sets = (uint32_t)(s->bytes / s->ways / SPEC_LINE);

	p->stride = stride(s->ways);
	p->mask = sets - 1;
	p->all = UINT32_MAX >> (32 - s->ways);
	p->key = carve(a, (size_t)sets * p->stride, sizeof(*p->key));
	p->used = carve(a, sets, sizeof(*p->used));
}

static void lay_llc(struct arena *a, const struct machine *m, struct llc *l)
{
	l->line = carve(a, (size_t)m->sets * m->stride * 2, sizeof(*l->line));
	l->used = carve(a, m->sets, sizeof(*l->used));
}

static void lay_tracker(struct arena *a, const struct machine *m, struct tracker *t,
			unsigned entries)
{
	/* More than all cores can have in flight: it never fills. */
	t->n = m->off.trackers ? 4 * m->ncores * m->spec.lfb : entries;
	t->free_at = carve(a, t->n, sizeof(*t->free_at));
}

static void lay_core(struct arena *a, const struct machine *m, struct core *c)
{
	lay_private(a, &c->l1, &m->spec.l1);
	lay_private(a, &c->l2, &m->spec.l2);
}

static void lay_node(struct arena *a, const struct machine *m, struct node *n)
{
	struct llc scratch;

	if (m->off.contention)
		n->per_vm = carve(a, SIM_VMS, sizeof(*n->per_vm));
	else
		lay_llc(a, m, &n->own);
	for (unsigned vm = 0; m->off.contention && vm < SIM_VMS; vm++)
		lay_llc(a, m, a->base ? &n->per_vm[vm] : &scratch);
	lay_tracker(a, m, &n->rt, m->spec.rt);
	lay_tracker(a, m, &n->wt, m->spec.wt);
	lay_tracker(a, m, &n->ppt, m->spec.ppt);
	lay_tracker(a, m, &n->home_local, m->spec.home);
	lay_tracker(a, m, &n->home_remote, m->spec.home);
}

static void lay_out(struct arena *a, struct machine *m)
{
	struct core core;
	struct node node;

	m->cores = carve(a, m->ncores, sizeof(*m->cores));
	m->nodes = carve(a, m->spec.nodes, sizeof(*m->nodes));
	for (unsigned i = 0; i < m->ncores; i++)
		lay_core(a, m, a->base ? &m->cores[i] : &core);
	for (unsigned i = 0; i < m->spec.nodes; i++)
		lay_node(a, m, a->base ? &m->nodes[i] : &node);
	m->pages = carve(a, m->npages, 1);
	if (m->off.contention)
		m->page_vm = carve(a, m->npages, 1);
}

static void start_core(struct machine *m, unsigned number)
{
	struct core *c = &m->cores[number];

	c->number = number;
	c->node = number / m->spec.cores;
	c->index = number % m->spec.cores;
	c->cycle = (TICKS * 1000000000000ull + m->spec.core_hz / 2) / m->spec.core_hz;
	c->l1_time = (uint64_t)m->spec.l1.latency * TICKS;
	c->l2_time = (uint64_t)m->spec.l2.latency * TICKS;
	c->lfb_max = m->spec.lfb;
	c->next_fill = UINT64_MAX;
}

static void start_node(struct machine *m, unsigned index, uint64_t seed)
{
	struct node *n = &m->nodes[index];

	n->index = index;
	n->cores = &m->cores[index * m->spec.cores];
	n->random = seed * 0x9e3779b97f4a7c15u + index;
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
	struct arena arena = { 0 };
	void *base;

	*out = NULL;
	if (!m)
		return err_set(err, ENOMEM, "%s: no memory for the machine", spec->name);
	m->spec = *spec;
	if (off)
		m->off = *off;
	set_figures(m);
	lay_out(&arena, m);
	m->size = arena.used + HUGE_PAGE;
	base = mmap(NULL, m->size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED) {
		free(m);
		return err_set(err, ENOMEM, "%s: no memory for the machine", spec->name);
	}
	/* An LLC for each of 256 VMs is hardly touched: then only what is, is used. */
	if (!m->off.contention)
		(void)madvise(base, m->size, MADV_HUGEPAGE);
	m->memory = base;
	arena = (struct arena) { .base = base };
	arena.base += -(uintptr_t)base % HUGE_PAGE;
	lay_out(&arena, m);
	for (unsigned i = 0; i < m->ncores; i++)
		start_core(m, i);
	for (unsigned i = 0; i < spec->nodes; i++)
		start_node(m, i, seed);
	*out = m;
	return 0;
}

void machine_free(struct machine *m)
{
	if (!m)
		return;
	munmap(m->memory, m->size);
	free(m);
}
