/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numa_window.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "events/table.h"

#define HZ 2e9
#define IDLE_NS 40.0

struct diag_machine made_machine(unsigned nodes)
{
	struct diag_machine m = { .nodes = nodes,
				  .cores = 4,
				  .core_hz = HZ,
				  .uncore_hz = HZ,
				  .llc_bytes = 8 << 20,
				  .l2_bytes = 256 << 10,
				  .llc_ns = 20,
				  .local_ns = 70,
				  .remote_ns = 110,
				  .shared_ns = 30,
				  .modified_ns = 40,
				  .remote_cache_ns = 100,
				  .remote_modified_ns = 130,
				  .mem_rate = 20e9,
				  .mem_idle_ns = IDLE_NS,
				  .link_rate = 12e9,
				  .lfb = 10,
				  .trackers = 32,
				  .origin = "made up" };

	for (unsigned i = 0; i < nodes; i++)
		for (unsigned k = 0; k < nodes; k++)
			m.hops[i][k] = i != k;
	return m;
}

static struct quantity counted(double value)
{
	return (struct quantity) { .value = round(value) };
}

/* Counts of one vCPU, and what it adds to the nodes'. */
static void fill(const struct made_host *host, const struct diag_machine *m,
		 const struct made_vcpu *v, struct diag_vcpu *out, struct diag_node *nodes)
{
	bool remote = v->node != v->memory;
	double per = 1e-3, hits = v->refs - v->misses - v->hitm;
	double memory = (remote ? m->remote_ns : m->local_ns) + host->mem_wait[v->memory];
	double ns =
		per * (hits * m->llc_ns + v->hitm * m->modified_ns + v->misses * memory);
	double waiting = per * v->refs * host->tracker_wait[v->node];
	double stall = v->parallel > 0 ? (ns + waiting) * HZ * 1e-9 / v->parallel : 0;
	double cycles = HZ * (v->active > 0 ? v->active : 1),
	       n = cycles / (v->base + stall);
	struct quantity *q = out->role, *home = nodes[v->memory].role;
	struct quantity *own = nodes[v->node].role;

	out->on_node[v->node] = 1;
	q[ROLE_INSTRUCTIONS] = counted(n);
	q[ROLE_CYCLES] = counted(cycles);
	q[ROLE_LLC_REFS] = counted(n * per * v->refs);
	q[ROLE_LLC_MISSES] = counted(n * per * v->misses);
	q[ROLE_SHARED_HITM] = counted(n * per * v->hitm);
	q[ROLE_DRAM_LOCAL] = counted(remote ? 0 : n * per * v->misses);
	q[ROLE_DRAM_REMOTE] = counted(remote ? n * per * v->misses : 0);
	q[ROLE_OUTSTANDING] = counted(n * stall * v->parallel);
	q[ROLE_OUTSTANDING_CYCLES] = counted(n * stall);
	q[ROLE_STALL_MEMORY] = counted(n * stall);
	home[ROLE_MEM_READS - ROLE_OF_NODE].value += round(n * per * v->misses);
	home[ROLE_MEM_READ_OCCUPANCY - ROLE_OF_NODE].value +=
		n * per * v->misses * (IDLE_NS + host->mem_wait[v->memory]) * 1e-9 *
		m->uncore_hz;
	own[ROLE_TRACKER_OCCUPANCY - ROLE_OF_NODE].value += n * ns * 1e-9 * m->uncore_hz;
	own[ROLE_TRACKER_ALLOCS - ROLE_OF_NODE].value += round(n * per * v->refs);
}

static void unsupported(struct quantity *q, size_t n)
{
	for (size_t i = 0; i < n; i++)
		q[i] = (struct quantity) { .state = READ_UNSUPPORTED,
					   .reason = "no such event" };
}

static void empty_node(const struct made_host *host, const struct diag_machine *m,
		       unsigned node, struct quantity *q)
{
	static const enum role sums[] = { ROLE_MEM_READS, ROLE_MEM_READ_OCCUPANCY,
					  ROLE_TRACKER_OCCUPANCY, ROLE_TRACKER_ALLOCS,
					  ROLE_MEM_WRITES };

	unsupported(q, ROLES - ROLE_OF_NODE);
	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
		q[sums[i] - ROLE_OF_NODE] = counted(0);
	q[0] = counted(m->uncore_hz);
	q[ROLE_TRACKER_FULL - ROLE_OF_NODE] =
		counted(m->uncore_hz * host->tracker_full[node]);
}

struct diag_window made_window(const struct made_host *host)
{
	struct diag_window w = { .machine = made_machine(host->nodes), .seconds = 1 };

	w.vms = calloc(host->nvcpus + 1, sizeof(*w.vms));
	for (unsigned n = 0; n < host->nodes; n++)
		empty_node(host, &w.machine, n, w.node[n].role);
	for (size_t i = 0; i < host->nvcpus; i++) {
		const struct made_vcpu *v = &host->vcpus[i];
		struct diag_vm *vm = w.nvms ? &w.vms[w.nvms - 1] : NULL;

		if (!vm || strcmp(vm->name, v->vm) != 0) {
			vm = &w.vms[w.nvms++];
			str_copy(vm->name, sizeof(vm->name), v->vm);
			str_copy(vm->id, sizeof(vm->id), v->vm);
			vm->vcpus = calloc(host->nvcpus, sizeof(*vm->vcpus));
			vm->mem_node[v->memory] = 1 << 30;
		}
		struct diag_vcpu *vcpu = &vm->vcpus[vm->nvcpus];

		vcpu->index = (int)vm->nvcpus++;
		unsupported(vcpu->role, ROLE_OF_NODE);
		fill(host, &w.machine, v, vcpu, w.node);
	}
	return w;
}

struct diagnosis made_diagnosis(const struct diag_window *w)
{
	struct diagnosis d;

	if (diagnose(w, &d))
		abort();
	return d;
}

struct diag_window made_crowd(void)
{
	static struct made_vcpu v[256];
	static char names[64][16];
	struct made_host host = { .nodes = 8, .vcpus = v, .nvcpus = 256 };

	for (unsigned i = 0; i < 256; i++) {
		unsigned vm = i / 4, node = vm % 8;

		snprintf(names[vm], sizeof(names[vm]), "vm%u", vm);
		v[i] = (struct made_vcpu) {
			.vm = names[vm],
			.node = node,
			.memory = vm % 9 ? node : (node + 3) % 8,
			.base = 0.4 + 0.01 * (vm % 7),
			.refs = 1 + vm % 4,
			.misses = 1 + vm % 4,
			.parallel = 1 + vm % 6,
			.active = 0.1,
		};
	}
	for (unsigned n = 0; n < 8; n++) {
		host.mem_wait[n] = 3.0 * n;
		host.tracker_wait[n] = 0.2;
		host.tracker_full[n] = 0.01 * n;
	}
	return made_window(&host);
}

void made_uncertain(struct diag_window *w, double share)
{
	for (size_t i = 0; i < w->nvms; i++)
		for (size_t c = 0; c < w->vms[i].nvcpus; c++)
			for (int r = 0; r < ROLE_OF_NODE; r++) {
				struct quantity *q = &w->vms[i].vcpus[c].role[r];

				q->error = share * q->value;
			}
	for (unsigned n = 0; n < w->machine.nodes; n++)
		for (int r = 0; r < ROLES - ROLE_OF_NODE; r++)
			w->node[n].role[r].error = share * w->node[n].role[r].value;
}

void made_missing(struct diag_window *w, enum role role, enum reading_state state,
		  const char *reason)
{
	struct quantity none = { .state = state, .reason = reason };

	for (size_t i = 0; i < w->nvms && role < ROLE_OF_NODE; i++)
		for (size_t c = 0; c < w->vms[i].nvcpus; c++)
			w->vms[i].vcpus[c].role[role] = none;
	for (unsigned n = 0; n < w->machine.nodes && role >= ROLE_OF_NODE; n++)
		w->node[n].role[role - ROLE_OF_NODE] = none;
}

void made_as_told_by(struct diag_window *w, const char *name)
{
	const struct table_event *rows[ROLE_EVENTS];
	struct event_table *t;
	const char *why;

	if (event_table_open(name, &t, NULL))
		abort();
	for (int r = 0; r < ROLES; r++)
		if (!event_table_role(t, (enum role)r, rows, ROLE_EVENTS, &why))
			made_missing(w, (enum role)r, READ_UNSUPPORTED, "no such event");
	event_table_free(t);
}
