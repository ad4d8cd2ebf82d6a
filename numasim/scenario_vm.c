/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The block of a VM. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "base/str.h"
#include "base/vec.h"
#include "numasim/scenario_read.h"
#include "numasim/sim.h"

#define PAGE 4096ull
#define THREADS 256	    /* of one VM */
#define SLICE 1000000000ull /* 1 ms */

static struct scenario_vm *the_vm(struct reading *r)
{
	return &r->sc->vms[r->sc->nvms - 1];
}

int scenario_read_vm(struct reading *r)
{
	struct scenario *sc = r->sc;
	struct scenario_vm vm = { .nvcpus = 1, .slice_ps = SLICE };

	if (!sc->machine.nodes)
		return lines_bad(&r->lines, r->err,
				 "a vm before the machine: put \"machine nehalem-ep\" "
				 "above");
	if (r->lines.n < 2 || !str_copy(vm.name, sizeof(vm.name), r->lines.word[1]) ||
	    !*vm.name)
		return lines_bad(&r->lines, r->err,
				 "vm wants a name, at most %zu characters",
				 sizeof(vm.name) - 1);
	for (size_t i = 0; i < sc->nvms; i++)
		if (!strcmp(sc->vms[i].name, vm.name))
			return lines_bad(&r->lines, r->err, "a second vm %s", vm.name);
	if (sc->nvms == SIM_VMS)
		return lines_bad(&r->lines, r->err, "more than %d VMs", SIM_VMS);
	vm.pin = calloc(SIM_VCPUS, sizeof(*vm.pin));
	if (!vm.pin)
		return -ENOMEM;
	r->block = BLOCK_VM;
	if (VEC_PUSH(sc->vms, sc->nvms, sc->cap_vms, vm)) {
		free(vm.pin);
		return -ENOMEM;
	}
	return 0;
}

int scenario_read_vcpus(struct reading *r)
{
	uint64_t n;
	int ret = lines_u64(&r->lines, 1, "a number of vCPUs", 1, SIM_VCPUS, &n, r->err);

	if (!ret)
		the_vm(r)->nvcpus = (unsigned)n;
	return ret;
}

static int read_node(struct reading *r, size_t i, uint64_t *node)
{
	return lines_u64(&r->lines, i, "a node of the machine", 0, r->sc->machine.nodes - 1,
			 node, r->err);
}

/* share NODE PERCENT … */
static int read_shares(struct reading *r, struct scenario_vm *vm)
{
	double sum = 0, share;
	uint64_t node;
	int ret = 0;

	for (size_t i = 3; i < r->lines.n; i += 2) {
		ret = read_node(r, i, &node);
		if (!ret)
			ret = lines_f64(&r->lines, i + 1, "a share of the memory", 0, 1,
					&share, r->err);
		if (ret)
			return ret;
		sum += share - vm->share[node];
		vm->share[node] = share;
	}
	if (sum < 0.999 || sum > 1.001)
		return lines_bad(&r->lines, r->err,
				 "the shares are %g in all, not 100%%: share 0 70%% 1 30%%",
				 sum);
	for (node = 0; node < SPEC_NODES; node++)
		vm->share[node] /= sum;
	return 0;
}

int scenario_read_memory(struct reading *r)
{
	static const char *const where[] = { "node", "interleave", "share" };
	struct scenario_vm *vm = the_vm(r);
	unsigned nodes = r->sc->machine.nodes;
	uint64_t node;
	int ret, k;

	ret = lines_bytes(&r->lines, 1, "a size of memory", 1 << 20, 1ull << 40, &vm->bytes,
			  r->err);
	k = ret ? ret
		: scenario_word(r, 2, where, ARRAY_SIZE(where), "where memory can be");
	if (k < 0)
		return k;
	memset(vm->share, 0, sizeof(vm->share));
	if (k == 2)
		return read_shares(r, vm);
	if (r->lines.n > 4u - (unsigned)k)
		return lines_bad(&r->lines, r->err, "\"%s\" is too much here",
				 r->lines.word[4 - k]);
	for (node = 0; k == 1 && node < nodes; node++)
		vm->share[node] = 1.0 / nodes;
	if (k == 0 && !(ret = read_node(r, 3, &node)))
		vm->share[node] = 1;
	return ret;
}

/* Word @i: a list of pCPUs, or "node" and a number. */
static int read_set(struct reading *r, size_t i, uint64_t set[SCENARIO_SETS])
{
	const struct machine_spec *m = &r->sc->machine;
	const char *word = i < r->lines.n ? r->lines.word[i] : "";
	int *cpus = NULL, ret;
	uint64_t node;
	size_t n = 0;

	memset(set, 0, SCENARIO_SETS * sizeof(*set));
	if (!strcmp(word, "node")) {
		ret = read_node(r, i + 1, &node);
		for (unsigned c = 0; !ret && c < m->cores; c++)
			set[(node * m->cores + c) / 64] |= 1ull
							   << (node * m->cores + c) % 64;
		return ret;
	}
	ret = cpulist_parse(word, &cpus, &n);
	if (ret == -ENOMEM)
		return ret;
	for (size_t k = 0; !ret && k < n; k++) {
		if ((unsigned)cpus[k] >= m->nodes * m->cores)
			ret = -ERANGE;
		else
			set[cpus[k] / 64] |= 1ull << cpus[k] % 64;
	}
	free(cpus);
	if (ret || !n)
		return lines_bad(&r->lines, r->err,
				 "\"%s\" is not a list of pCPUs (0 to %u): pin 0-3, pin "
				 "node 1, pin vcpu 2 5",
				 word, m->nodes * m->cores - 1);
	return 0;
}

int scenario_read_pin(struct reading *r)
{
	struct scenario_vm *vm = the_vm(r);
	bool one = r->lines.n > 1 && !strcmp(r->lines.word[1], "vcpu");
	size_t at = one ? 3 : 1, words;
	uint64_t set[SCENARIO_SETS], first = 0, last = SIM_VCPUS - 1;
	int ret = 0;

	if (one) {
		ret = lines_u64(&r->lines, 2, "a vCPU of this vm (\"vcpus\" stands above)",
				0, vm->nvcpus - 1, &first, r->err);
		last = first;
	}
	if (!ret)
		ret = read_set(r, at, set);
	if (ret)
		return ret;
	words = at + 1 + !strcmp(r->lines.word[at], "node");
	if (r->lines.n > words)
		return lines_bad(&r->lines, r->err, "\"%s\" is too much here",
				 r->lines.word[words]);
	for (uint64_t v = first; v <= last; v++)
		memcpy(vm->pin[v], set, sizeof(set));
	return 0;
}

int scenario_read_vm_slice(struct reading *r)
{
	return scenario_time(r, 1, "a time slice", &the_vm(r)->slice_ps);
}

/* threads N PROGRAM [sleep 30% [every 1ms]] */
int scenario_read_threads(struct reading *r)
{
	struct scenario *sc = r->sc;
	struct scenario_vm *vm = the_vm(r);
	struct scenario_threads t = { .every_ps = SLICE };
	const char *const names[] = { "sleep", "every" };
	uint64_t n, all = 0;
	int ret = lines_u64(&r->lines, 1, "a number of threads", 1, THREADS, &n, r->err);

	if (ret)
		return ret;
	t.n = (unsigned)n;
	for (size_t i = 0; i < vm->nthreads; i++)
		all += vm->threads[i].n;
	if (all + n > THREADS)
		return lines_bad(&r->lines, r->err, "more than %d threads in %s", THREADS,
				 vm->name);
	while (t.program < sc->nprograms && r->lines.n > 2 &&
	       strcmp(sc->programs[t.program].name, r->lines.word[2]))
		t.program++;
	if (r->lines.n < 3 || t.program == sc->nprograms)
		return lines_bad(&r->lines, r->err,
				 "\"%s\" is no program that stands above: threads 2 NAME",
				 r->lines.n < 3 ? "" : r->lines.word[2]);
	for (size_t i = 3; !ret && i < r->lines.n; i += 2) {
		int k = scenario_word(r, i, names, 2, "what threads can be told");

		if (k < 0)
			return k;
		ret = k ? scenario_time(r, i + 1, "a time", &t.every_ps)
			: lines_f64(&r->lines, i + 1, "a share of time", 0, 0.99, &t.sleep,
				    r->err);
	}
	for (size_t i = 0; !ret && i < sc->programs[t.program].n; i++)
		if (sc->functions[sc->programs[t.program].first + i].pattern ==
			    PATTERN_HANDOVER &&
		    t.n % 2)
			ret = lines_bad(&r->lines, r->err,
					"%u threads of %s, which hand lines over in pairs: "
					"an even number",
					t.n, sc->programs[t.program].name);
	return ret ? ret : VEC_PUSH(vm->threads, vm->nthreads, vm->cap_threads, t);
}

uint64_t scenario_footprint(const struct scenario *sc, const struct scenario_vm *vm)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < vm->nthreads; i++) {
		const struct scenario_threads *t = &vm->threads[i];
		const struct scenario_program *p = &sc->programs[t->program];
		bool again = false;

		for (size_t k = 0; k < i; k++)
			again |= vm->threads[k].program == t->program;
		for (size_t k = p->first; k < p->first + p->n; k++) {
			const struct scenario_function *f = &sc->functions[k];
			uint64_t pages = (f->bytes + PAGE - 1) / PAGE;

			sum += pages * (f->shared			 ? !again
					: f->pattern == PATTERN_HANDOVER ? t->n / 2
									 : t->n);
		}
		sum += t->n; /* the hot lines of each thread */
	}
	return sum * PAGE;
}

int scenario_vm_end(struct reading *r)
{
	struct scenario_vm *vm = the_vm(r);
	uint64_t used = scenario_footprint(r->sc, vm);

	if (!vm->bytes)
		return lines_bad(&r->lines, r->err,
				 "the vm %s above has no memory: add an indented "
				 "\"memory 512M node 0\"",
				 vm->name);
	if (used > vm->bytes)
		return lines_bad(&r->lines, r->err,
				 "the programs of the vm %s above use %llu KiB, more than "
				 "its memory",
				 vm->name, (unsigned long long)used >> 10);
	for (unsigned v = 0; v < SIM_VCPUS; v++) {
		uint64_t any = 0;

		for (unsigned i = 0; i < SCENARIO_SETS; i++)
			any |= vm->pin[v][i];
		for (unsigned c = 0;
		     !any && c < r->sc->machine.nodes * r->sc->machine.cores; c++)
			vm->pin[v][c / 64] |= 1ull << c % 64;
	}
	return 0;
}

int scenario_block_end(struct reading *r)
{
	int ret = r->block == BLOCK_PROGRAM ? scenario_program_end(r)
		  : r->block == BLOCK_VM    ? scenario_vm_end(r)
					    : 0;

	r->block = BLOCK_NONE;
	return ret;
}
