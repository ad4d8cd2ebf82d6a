/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numasim/sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "numasim/hyper.h"
#include "numasim/program.h"

#define PS 1000 /* of a ns */
#define BLOCK_LINES (SIM_PLACES * SIM_PAGE_LINES)

/* The pages of a VM are on nodes by its shares, as evenly mixed as can be. */
static void place_memory(struct vm *vm)
{
	double owed[SPEC_NODES] = { 0 };

	for (unsigned i = 0; i < SIM_PLACES; i++) {
		unsigned most = 0;

		for (unsigned n = 0; n < SPEC_NODES; n++) {
			owed[n] += vm->sc->share[n];
			if (owed[n] > owed[most] + 1e-9)
				most = n;
		}
		owed[most] -= 1;
		vm->place[i] = (uint8_t)most;
	}
}

static int build_vms(struct sim *s)
{
	uint64_t line = BLOCK_LINES;
	size_t n = 0;
	int ret = 0;

	for (size_t i = 0; i < s->sc.nvms; i++)
		s->nvcpus += s->sc.vms[i].nvcpus;
	s->vms = calloc(s->sc.nvms + 1, sizeof(*s->vms));
	s->vcpus = calloc(s->nvcpus + 1, sizeof(*s->vcpus));
	if (!s->vms || !s->vcpus)
		return -ENOMEM;
	for (size_t i = 0; i < s->sc.nvms && !ret; i++) {
		struct vm *vm = &s->vms[i];

		vm->sc = &s->sc.vms[i];
		vm->vcpus = &s->vcpus[n];
		for (unsigned v = 0; v < vm->sc->nvcpus; v++, n++) {
			s->vcpus[n] = (struct vcpu) { .vm = (unsigned)i,
						      .index = v,
						      .number = (unsigned)n,
						      .wake_at = SIM_NEVER,
						      .prefers = -1 };
			memcpy(s->vcpus[n].affinity, vm->sc->pin[v],
			       sizeof(s->vcpus[n].affinity));
		}
		place_memory(vm);
		ret = program_load(s, vm, line);
		line += (vm->lines + BLOCK_LINES - 1) / BLOCK_LINES * BLOCK_LINES;
	}
	s->copy_line = line;
	return ret;
}

/* The machine's lines that no VM has are what copies go by. */
static int find_copy_lines(struct sim *s, struct err *err)
{
	uint64_t all = s->sc.machine.nodes * (s->sc.machine.node_bytes / SPEC_LINE);

	if (s->copy_line + 2 * BLOCK_LINES > all)
		return err_set(
			err, EINVAL,
			"%s: the programs use %llu MiB of %llu MiB; 4 MiB must be left",
			s->sc.name, (unsigned long long)s->copy_line >> 14,
			(unsigned long long)all >> 14);
	s->copy_lines = (all - s->copy_line) / 2;
	if (s->copy_lines > MIGRATE_LINES)
		s->copy_lines = MIGRATE_LINES;
	return 0;
}

static int build_pcpus(struct sim *s)
{
	s->npcpus = s->sc.machine.nodes * s->sc.machine.cores;
	s->pcpus = calloc(s->npcpus, sizeof(*s->pcpus));
	s->order = calloc(s->npcpus, sizeof(*s->order));
	if (!s->pcpus || !s->order)
		return -ENOMEM;
	for (unsigned i = 0; i < s->npcpus; i++) {
		s->pcpus[i].core = i;
		s->pcpus[i].node = i / s->sc.machine.cores;
	}
	return 0;
}

int sim_open(const char *what, const struct machine_off *off, struct sim **out,
	     struct err *err)
{
	struct sim *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return err_set(err, ENOMEM, "out of memory");
	ret = scenario_load(what, &s->sc, err);
	if (ret)
		goto fail;
	ret = machine_new(&s->sc.machine, off, s->sc.seed, &s->machine, err);
	if (ret)
		goto fail;
	ret = build_pcpus(s);
	if (!ret)
		ret = build_vms(s);
	if (!ret)
		ret = pmu_new(s->machine, &s->sc.machine, hyper_where, s, &s->pmu);
	for (size_t i = 0; !ret && i < s->sc.nvms; i++)
		ret = pmu_add_vm(s->pmu, s->sc.vms[i].nvcpus);
	if (ret) {
		err_set(err, ret, "%s: %s", s->sc.name, err_name(ret));
		goto fail;
	}
	ret = find_copy_lines(s, err);
	if (ret)
		goto fail;
	hyper_start(s);
	*out = s;
	return 0;
fail:
	sim_free(s);
	return ret;
}

void sim_free(struct sim *s)
{
	if (!s)
		return;
	pmu_free(s->pmu);
	for (size_t i = 0; s->vms && i < s->sc.nvms; i++) {
		program_unload(&s->vms[i]);
		free(s->vms[i].move);
	}
	free(s->vms);
	free(s->vcpus);
	free(s->order);
	free(s->pcpus);
	machine_free(s->machine);
	scenario_free(&s->sc);
	free(s);
}

const struct machine_spec *sim_machine(const struct sim *s)
{
	return &s->sc.machine;
}

const char *sim_name(const struct sim *s)
{
	return s->sc.name;
}

uint64_t sim_now_ns(const struct sim *s)
{
	return s->now / PS;
}

/*
 * A step is never cut short: it is the same whatever @ns is, so that it does not matter
 * in which pieces the time passes. What comes out is at most a step beyond @ns.
 */
void sim_run(struct sim *s, uint64_t ns)
{
	uint64_t until = ns > SIM_NEVER / PS ? SIM_NEVER : ns * PS;

	while (s->order[0]->now < until)
		hyper_step(s);
	if (until > s->now)
		s->now = until;
}

unsigned sim_vms(const struct sim *s)
{
	return (unsigned)s->sc.nvms;
}

int sim_vm(const struct sim *s, unsigned vm, struct sim_vm *out)
{
	const struct vm *v;

	if (vm >= s->sc.nvms)
		return -EINVAL;
	v = &s->vms[vm];
	*out = (struct sim_vm) { .nvcpus = v->sc->nvcpus, .bytes = v->sc->bytes };
	str_copy(out->name, sizeof(out->name), v->sc->name);
	for (unsigned i = 0; i < SIM_PLACES; i++)
		out->node_bytes[v->place[i]] += v->sc->bytes / SIM_PLACES;
	out->node_bytes[v->place[0]] += v->sc->bytes % SIM_PLACES;
	return 0;
}

static struct vcpu *find_vcpu(const struct sim *s, unsigned vm, unsigned vcpu)
{
	if (vm >= s->sc.nvms || vcpu >= s->vms[vm].sc->nvcpus)
		return NULL;
	return &s->vms[vm].vcpus[vcpu];
}

int sim_vcpu(const struct sim *s, unsigned vm, unsigned vcpu, struct sim_vcpu *out)
{
	const struct vcpu *v = find_vcpu(s, vm, vcpu);

	if (!v)
		return -EINVAL;
	*out = (struct sim_vcpu) {
		.state = "bwr"[v->state],
		.pcpu = (int)v->pcpu,
		.ran_ns = hyper_time(s, v, VCPU_RUNS) / PS,
		.waited_ns = hyper_time(s, v, VCPU_WAITS) / PS,
	};
	memcpy(out->affinity, v->affinity, sizeof(out->affinity));
	return 0;
}

const struct sim_symbol *sim_symbols(const struct sim *s, unsigned vm, size_t *n)
{
	*n = 0;
	if (vm == (unsigned)SIM_HYPERVISOR)
		return hyper_symbols(n);
	if (vm >= s->sc.nvms)
		return NULL;
	*n = s->vms[vm].nsymbols;
	return s->vms[vm].symbols;
}

uint64_t sim_work(const struct sim *s, unsigned vm)
{
	uint64_t sum = 0;

	for (size_t i = 0; vm < s->sc.nvms && i < s->vms[vm].nthreads; i++)
		sum += s->vms[vm].threads[i].work;
	return sum;
}

static int no_vm(const struct sim *s, unsigned vm, struct err *err)
{
	return err_set(err, EINVAL, "no VM %u: there are %zu, from 0", vm, s->sc.nvms);
}

int sim_pin(struct sim *s, unsigned vm, unsigned vcpu, const uint64_t affinity[4],
	    struct err *err)
{
	struct vcpu *v = find_vcpu(s, vm, vcpu);
	uint64_t set[SCENARIO_SETS], any = 0;

	if (vm >= s->sc.nvms)
		return no_vm(s, vm, err);
	if (!v)
		return err_set(err, EINVAL, "%s: no vCPU %u: there are %u, from 0",
			       s->sc.vms[vm].name, vcpu, s->sc.vms[vm].nvcpus);
	for (unsigned i = 0; i < SCENARIO_SETS; i++) {
		unsigned n = s->npcpus > 64 * i ? s->npcpus - 64 * i : 0;

		set[i] = affinity[i] & (n >= 64 ? UINT64_MAX : (1ull << n) - 1);
		any |= set[i];
	}
	if (!any)
		return err_set(err, EINVAL,
			       "%s: vCPU %u: none of these pCPUs is there: 0 "
			       "to %u",
			       s->sc.vms[vm].name, vcpu, s->npcpus - 1);
	memcpy(v->affinity, set, sizeof(set));
	v->prefers = -1;
	hyper_repin(s, v);
	return 0;
}

int sim_move_memory(struct sim *s, unsigned vm, unsigned node, struct err *err)
{
	if (vm >= s->sc.nvms)
		return no_vm(s, vm, err);
	if (node >= s->sc.machine.nodes)
		return err_set(err, EINVAL, "no node %u: there are %u, from 0", node,
			       s->sc.machine.nodes);
	if (migrate_begin(&s->vms[vm], node))
		return err_set(err, ENOMEM, "out of memory");
	return 0;
}
