/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Advice, made and measured, beside policies and the best placement found. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "measure.h"
#include "score.h"

#define LEAST 0.05
#define MOVES 64
#define SPAN_NS 20000000 /* that other placements are looked at */
#define QUICK_NS 8000000 /* … for a first look, of which the second half counts */
#define FINALISTS 4
#define STEP_NS 2000000
#define MOST_STEPS 50 /* that memory is waited for */
#define VMS 16	      /* most that a generated scenario has */

/* ---- a scenario's text with another placement */

struct placement {
	int vcpus[VMS], memory[VMS]; /* nodes; -1: as the text says */
	const char *policy;	     /* NULL: as the text says; else nothing is pinned */
};

/* Copies a line, or what takes its place. */
static void put_line(struct strbuf *out, const char *line, size_t len, int vm,
		     const struct placement *p)
{
	unsigned vcpu;
	char mb[32];

	if (p->policy && !strncmp(line, "policy ", 7))
		strbuf_addf(out, "policy %s\n", p->policy);
	else if (p->policy && !strncmp(line, "\tpin ", 5))
		return;
	else if (vm >= 0 && vm < VMS && p->memory[vm] >= 0 &&
		 sscanf(line, "\tmemory %31s", mb) == 1)
		strbuf_addf(out, "\tmemory %s node %d\n", mb, p->memory[vm]);
	else if (vm >= 0 && vm < VMS && p->vcpus[vm] >= 0 &&
		 sscanf(line, "\tpin vcpu %u ", &vcpu) == 1)
		strbuf_addf(out, "\tpin vcpu %u node %d\n", vcpu, p->vcpus[vm]);
	else
		strbuf_add(out, line, len);
}

static int place(const char *scenario, const struct placement *p, struct strbuf *out)
{
	int vm = -1;

	strbuf_reset(out);
	for (const char *line = scenario; *line;) {
		size_t len = strcspn(line, "\n") + 1;

		if (!line[len - 1])
			len--;
		vm += !strncmp(line, "vm ", 3);
		put_line(out, line, len, vm, p);
		line += len;
	}
	return out->oom ? -ENOMEM : 0;
}

/* Geometric mean of the VMs' gains over @base; those that did nothing are left out. */
static double mean_gain(unsigned n, const double *rate, const double *base)
{
	double sum = 0;
	unsigned ran = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!(base[i] > 0))
			continue;
		sum += log(fmax(rate[i], 1e-9 * base[i]) / base[i]);
		ran++;
	}
	return ran ? exp(sum / ran) - 1 : 0;
}

/* Each VM's steps of work from @began to @ended: what its user gets. */
static int work_of(const char *text, uint64_t began, uint64_t ended, double *work,
		   struct err *err)
{
	struct progress before, after;
	struct sim *s;
	int ret = sim_open(text, NULL, &s, err);

	if (ret)
		return ret;
	sim_run(s, began);
	progress_of(s, &before);
	sim_run(s, ended);
	progress_of(s, &after);
	for (unsigned i = 0; i < sim_vms(s); i++)
		work[i] = (double)(after.work[i] - before.work[i]);
	sim_free(s);
	return 0;
}

/* What others make of the scenario, in the same span of time. */
struct contest {
	const char *scenario;
	unsigned nvms, nodes;
	uint64_t began, ended;
	double alone[SIM_VMS]; /* work if it is left as it is */
};

static int gain_of(const struct contest *c, const struct placement *p, double *gain,
		   struct err *err)
{
	struct strbuf text = { 0 };
	double work[SIM_VMS];
	int ret = place(c->scenario, p, &text);

	if (!ret)
		ret = work_of(text.data, c->began, c->ended, work, err);
	else
		err_set(err, ret, "out of memory");
	if (!ret)
		*gain = mean_gain(c->nvms, work, c->alone);
	strbuf_free(&text);
	return ret;
}

/* ---- the best placement: all of them where they are few, else as many as are asked for,
 * half of them with each VM and its memory on one node */

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

/* The @i-th of all placements, or one at random. */
static void choose(const struct contest *c, uint64_t i, bool all, uint64_t *state,
		   struct placement *p)
{
	*p = (struct placement) { .policy = NULL };
	for (unsigned v = 0; v < VMS; v++) {
		p->vcpus[v] = (int)((all ? i : next_random(state)) % c->nodes);
		i = all ? i / c->nodes : i;
		p->memory[v] = (int)((all ? i : next_random(state)) % c->nodes);
		i = all ? i / c->nodes : i;
		if (!all && i % 2)
			p->memory[v] = p->vcpus[v];
	}
}

struct finalist {
	struct placement place;
	double gain;
};

/* @final is in order, best first. */
static void qualify(struct finalist *final, const struct placement *place, double gain)
{
	unsigned i = FINALISTS;

	for (; i && gain > final[i - 1].gain; i--)
		if (i < FINALISTS)
			final[i] = final[i - 1];
	if (i < FINALISTS)
		final[i] = (struct finalist) { *place, gain };
}

/* All are looked at for a short time, and the best of them for as long as the advice. */
static int best_gain(const struct contest *c, unsigned search, double *best, bool *all,
		     struct err *err)
{
	struct contest quick = *c;
	struct finalist final[FINALISTS];
	double places = pow(c->nodes, 2.0 * c->nvms), gain;
	uint64_t state = 1;
	int ret;

	*best = 0;
	*all = places <= search;
	for (int i = 0; i < FINALISTS; i++)
		final[i].gain = -1;
	quick.began = QUICK_NS / 2;
	quick.ended = QUICK_NS;
	ret = work_of(c->scenario, quick.began, quick.ended, quick.alone, err);
	for (uint64_t i = 0; !ret && i < (*all ? (uint64_t)places : search); i++) {
		struct placement place;

		choose(c, i, *all, &state, &place);
		ret = gain_of(&quick, &place, &gain, err);
		if (!ret)
			qualify(final, &place, gain);
	}
	for (int i = 0; !ret && i < FINALISTS && final[i].gain > -1; i++) {
		ret = gain_of(c, &final[i].place, &gain, err);
		*best = !ret && gain > *best ? gain : *best;
	}
	return ret;
}

static int score_others(struct contest *c, const struct score_options *o, struct json *j,
			struct err *err)
{
	struct placement p;
	double gain, best;
	bool all;
	int ret;

	memset(&p, -1, sizeof(p));
	ret = work_of(c->scenario, c->began, c->ended, c->alone, err);
	p.policy = "xen";
	if (!ret)
		ret = gain_of(c, &p, &gain, err);
	if (!ret)
		jsonw_f64(j, "xen", gain);
	p.policy = "linux";
	if (!ret)
		ret = gain_of(c, &p, &gain, err);
	if (!ret)
		jsonw_f64(j, "linux", gain);
	if (ret)
		return ret;
	ret = best_gain(c, o->search, &best, &all, err);
	if (!ret) {
		jsonw_f64(j, "best", best);
		jsonw_bool(j, "best_of_all", all);
	}
	return ret;
}

/* ---- the advice itself */

static int make_moves(struct look_at *l, const struct advice *a, struct err *err)
{
	const struct topology *topo = windows_topology(l->windows);
	int ret = 0;

	for (size_t i = 0; !ret && i < a->nmoves; i++)
		ret = l->ops.move(l->g.src, topology_find(topo, a->moves[i].vm_id),
				  &a->moves[i], err);
	return ret;
}

static bool arrived(const struct look_at *l, const struct advice *a)
{
	const struct topology *topo = windows_topology(l->windows);

	for (size_t i = 0; i < a->nmoves; i++) {
		const struct move *m = &a->moves[i];
		const struct vm *vm = topology_find(topo, m->vm_id);
		struct sim_vm now;

		sim_vm(look_sim(l), (unsigned)(vm - topo->vms), &now);
		if (m->kind == MOVE_MEMORY && now.node_bytes[m->node] < now.bytes)
			return false;
	}
	return true;
}

/* Memory arrives, and caches fill: an LLC does in the time in which a vCPU that waits for
 * each line reads as many as it has. */
static void settle(const struct look_at *l, const struct advice *a)
{
	const struct machine_spec *m = sim_machine(look_sim(l));

	for (int i = 0; i < MOST_STEPS && (!i || !arrived(l, a)); i++)
		clock_wait(NULL, 0, clock_now_ns() + STEP_NS);
	clock_wait(NULL, 0,
		   clock_now_ns() + m->llc.bytes / SPEC_LINE * (uint64_t)m->remote / 1000);
}

static int find_advice(const struct look_at *l, const struct score_options *o,
		       struct advice *out, struct err *err)
{
	const struct topology *topo = windows_topology(l->windows);
	const struct advise_config config = { .least = LEAST,
					      .bold = o->bold,
					      .most_moves = MOVES,
					      .move_memory = true,
					      .move_vcpus = true };
	const char *cpus[DIAG_NODES] = { 0 };

	for (size_t i = 0; i < topo->machine.nnodes && i < DIAG_NODES; i++)
		cpus[i] = topo->machine.nodes[i].cpus;
	return advise(l->each, windows_count(l->windows), &config, cpus, out)
		       ? err_set(err, ENOMEM, "out of memory")
		       : 0;
}

/* Of each VM and of the host: the gain as predicted, its bound, and as it came out. */
static void put_gains(struct json *j, const struct advice *a, unsigned nvms,
		      const double *alone, const double *work)
{
	jsonw_array(j, "vms");
	for (unsigned i = 0; i < nvms; i++) {
		if (!(alone[i] > 0) || !(a->prediction.speed[i] > 0))
			continue;
		jsonw_array(j, NULL);
		jsonw_f64(j, NULL, a->prediction.speed[i] - 1);
		jsonw_f64(j, NULL, a->prediction.error[i]);
		jsonw_f64(j, NULL, work[i] / alone[i] - 1);
		jsonw_end_array(j);
	}
	jsonw_end_array(j);
	jsonw_f64(j, "predicted", a->prediction.host - 1);
	jsonw_f64(j, "predicted_error", a->prediction.host_error);
	jsonw_f64(j, "measured", mean_gain(nvms, work, alone));
}

/* Makes the moves; what they bring is held against the same host left alone, in the same
 * span of time: who sleeps or works by turns does so in both. */
static int prove(struct look_at *l, const struct advice *a, const char *scenario,
		 struct json *j, struct err *err)
{
	double alone[SIM_VMS];
	int ret = make_moves(l, a, err);

	if (!ret) {
		settle(l, a);
		ret = look_measure(l, err);
	}
	if (!ret)
		ret = work_of(scenario, l->began, l->ended, alone, err);
	if (!ret)
		put_gains(j, a, sim_vms(look_sim(l)), alone, l->work);
	return ret;
}

int score_advice(struct look_at *l, const char *scenario, const struct score_options *o,
		 struct json *j, struct err *err)
{
	struct contest c = { .scenario = scenario,
			     .nvms = sim_vms(look_sim(l)),
			     .nodes = l->all.machine.nodes,
			     .began = l->began,
			     .ended = l->began + SPAN_NS };
	struct advice a = { 0 };
	int ret = find_advice(l, o, &a, err);

	if (!ret) {
		jsonw_str(j, "sentence", a.sentence);
		jsonw_str(j, "bolder", *a.bolder ? a.bolder : NULL);
		jsonw_u64(j, "moves", a.nmoves);
		if (a.nmoves)
			ret = prove(l, &a, scenario, j, err);
	}
	if (!ret && o->search)
		ret = score_others(&c, o, j, err);
	advice_free(&a);
	return ret;
}
