/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "numasim/pmu_impl.h"

struct open_set {
	struct vpmu_set set;
	struct socket_pmu *socket; /* NULL: it is on vCPUs */
	int vm;			   /* or SIM_HYPERVISOR */
	size_t ring_bytes;	   /* of each tally; 0: none */
	unsigned char *rings;
	struct vpmu_tally tally[];
};

/* ---- handles */

static struct open_set *find(const struct pmu *u, uint32_t handle)
{
	return handle && handle <= u->nsets ? u->sets[handle - 1] : NULL;
}

static int take_handle(struct pmu *u, struct open_set *s, uint32_t *handle)
{
	struct open_set **more;
	size_t i = 0;

	while (i < u->nsets && u->sets[i])
		i++;
	if (i == u->nsets) {
		more = realloc(u->sets, (i + 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		u->sets = more;
		u->nsets++;
	}
	u->sets[i] = s;
	*handle = (uint32_t)i + 1;
	return 0;
}

/* ---- a set's memory */

static void set_free(struct open_set *s)
{
	if (!s)
		return;
	free(s->rings);
	free(s);
}

static struct open_set *set_new(unsigned n, const struct vpmu_event *events,
				unsigned ntallies)
{
	struct open_set *s = calloc(1, sizeof(*s) + ntallies * sizeof(s->tally[0]));

	if (!s)
		return NULL;
	s->set.n = n;
	s->set.tally = s->tally;
	s->set.ntallies = ntallies;
	s->set.cookie = s;
	s->set.together = true;
	if (n <= VPMU_SET_EVENTS)
		memcpy(s->set.event, events, n * sizeof(*events));
	return s;
}

static int rings_new(struct open_set *s, size_t bytes)
{
	size_t all = bytes * s->set.ntallies;
	int ret = 0;

	if (!bytes)
		return 0;
	s->rings = aligned_alloc(VPMU_RING_PAGE, all);
	if (!s->rings)
		return -ENOMEM;
	memset(s->rings, 0, all);
	s->ring_bytes = bytes;
	for (unsigned i = 0; i < s->set.ntallies && !ret; i++)
		ret = vpmu_ring_init(&s->tally[i].ring, s->rings + i * bytes, bytes);
	return ret;
}

static bool ring_is_sane(size_t bytes, bool samples)
{
	if (!samples)
		return !bytes;
	return bytes >= 2 * VPMU_RING_PAGE && !(bytes & (bytes - 1));
}

/* ---- opening */

/* Events that the PMU has no wires for, and counters that cannot count those it has. */
static int check_wires(const struct pmu *u, struct open_set *s, unsigned *bad)
{
	for (unsigned i = 0; i < s->set.n; i++) {
		uint32_t config = (uint32_t)s->set.event[i].config;
		struct wire wire;

		*bad = i;
		if (s->socket ? !wire_uncore(u->spec->pmu, config, &wire)
			      : !wire_core(u->spec->pmu, config, &wire))
			return -EOPNOTSUPP;
		s->set.may[i] &= wire.counters;
		if (!s->set.may[i])
			return -EBUSY; /* someone else has it */
	}
	*bad = s->set.n;
	return 0;
}

static struct vpmu *pmu_of(struct pmu *u, const struct open_set *s)
{
	return s->socket ? &u->uncore : &u->m;
}

static struct vpmu_vm *vm_of(struct pmu *u, const struct open_set *s)
{
	if (s->socket)
		return &s->socket->vm;
	return s->vm == SIM_HYPERVISOR ? NULL : &u->vms[s->vm]->vm;
}

static void refresh(struct pmu *u, const struct open_set *s)
{
	if (s->socket)
		socket_pmu_refresh(s->socket);
	for (unsigned i = 0; i < u->ncores && !s->socket; i++)
		core_pmu_refresh(&u->cores[i]);
}

/* Takes @s, or frees it. */
static int set_open(struct pmu *u, struct open_set *s, size_t ring_bytes, uint32_t *handle,
		    unsigned *bad)
{
	bool samples = false;
	int ret = vpmu_set_check(pmu_of(u, s), &s->set, !vm_of(u, s), bad);

	if (!ret)
		ret = check_wires(u, s, bad);
	for (unsigned i = 0; i < s->set.n && !ret; i++)
		samples |= s->set.event[i].period > 0;
	if (!ret && !ring_is_sane(ring_bytes, samples))
		ret = -EINVAL;
	if (!ret && ring_bytes > SIM_RING_MAX)
		ret = -E2BIG;
	if (!ret)
		ret = rings_new(s, ring_bytes);
	if (!ret)
		ret = take_handle(u, s, handle);
	if (ret) {
		set_free(s);
		return ret;
	}
	ret = vpmu_host_add(pmu_of(u, s), vm_of(u, s), &s->set);
	if (ret) {
		u->sets[*handle - 1] = NULL;
		set_free(s);
		return ret;
	}
	refresh(u, s);
	return 0;
}

int pmu_set_open(struct pmu *u, int vm, const struct vpmu_event *events, unsigned n,
		 size_t ring_bytes, uint32_t *handle, unsigned *bad)
{
	struct open_set *s;

	*bad = n;
	if (vm != SIM_HYPERVISOR && (vm < 0 || (unsigned)vm >= u->nvms))
		return -ESRCH;
	s = set_new(n, events, vm == SIM_HYPERVISOR ? u->ncores : u->vms[vm]->nvcpus);
	if (!s)
		return -ENOMEM;
	s->vm = vm;
	return set_open(u, s, ring_bytes, handle, bad);
}

int pmu_uncore_open(struct pmu *u, unsigned node, const uint64_t *config, unsigned n,
		    uint32_t *handle, unsigned *bad)
{
	struct vpmu_event events[VPMU_SET_EVENTS] = { 0 };
	struct open_set *s;

	*bad = n;
	if (node >= u->spec->nodes || n > VPMU_SET_EVENTS)
		return -EINVAL;
	for (unsigned i = 0; i < n; i++)
		events[i] = (struct vpmu_event) {
			.config = config[i],
			.flags = VPMU_EVENT_USER | VPMU_EVENT_KERNEL,
		};
	s = set_new(n, events, 1);
	if (!s)
		return -ENOMEM;
	s->socket = &u->sockets[node];
	return set_open(u, s, 0, handle, bad);
}

/* ---- reading */

/* Brings @s up to now where tally @i is counted. */
static void fold(struct pmu *u, struct open_set *s, unsigned i)
{
	struct core_pmu *c = NULL;
	const struct vpmu_vcpu *v;

	if (s->socket) {
		socket_pmu_begin(s->socket);
		vpmu_host_fold(&s->socket->p);
		socket_pmu_end(s->socket);
	} else if (s->vm == SIM_HYPERVISOR) {
		c = &u->cores[i];
	} else {
		v = &u->vms[s->vm]->vcpu[i];
		c = v->on ? &u->cores[v->on->index] : NULL;
	}
	if (!c)
		return;
	core_pmu_begin(c);
	vpmu_host_fold(&c->p);
	core_pmu_end(c);
}

static int set_read(struct pmu *u, struct open_set *s, unsigned i, struct xenpmu_count *out)
{
	struct vpmu_count counts[VPMU_SET_EVENTS];
	int ret;

	if (!s)
		return -ENOENT;
	if (i >= s->set.ntallies)
		return -EINVAL;
	fold(u, s, i);
	ret = vpmu_tally_read(&s->tally[i], counts);
	for (unsigned e = 0; e < s->set.n && !ret; e++)
		out[e] = (struct xenpmu_count) {
			.value = counts[e].offset.sum,
			.enabled_ns = counts[e].enabled_ns,
			.running_ns = counts[e].running_ns,
			.taken = counts[e].taken,
			.lost = counts[e].lost,
		};
	return ret;
}

int pmu_set_read(struct pmu *u, uint32_t handle, unsigned vcpu, struct xenpmu_count *out)
{
	return set_read(u, find(u, handle), vcpu, out);
}

int pmu_uncore_read(struct pmu *u, uint32_t handle, struct xenpmu_count *out)
{
	return set_read(u, find(u, handle), 0, out);
}

void *pmu_set_ring(struct pmu *u, uint32_t handle, unsigned vcpu, size_t *bytes)
{
	struct open_set *s = find(u, handle);

	*bytes = 0;
	if (!s || !s->rings || vcpu >= s->set.ntallies)
		return NULL;
	*bytes = s->ring_bytes;
	return s->rings + vcpu * s->ring_bytes;
}

/* ---- closing */

void pmu_set_close(struct pmu *u, uint32_t handle)
{
	struct open_set *s = find(u, handle);

	if (!s)
		return;
	vpmu_host_remove(pmu_of(u, s), vm_of(u, s), &s->set);
	refresh(u, s);
	u->sets[handle - 1] = NULL;
	set_free(s);
}

void pmu_uncore_close(struct pmu *u, uint32_t handle)
{
	pmu_set_close(u, handle);
}

void pmu_sets_free(struct pmu *u)
{
	for (size_t i = 0; i < u->nsets; i++)
		set_free(u->sets[i]);
	free(u->sets);
}
