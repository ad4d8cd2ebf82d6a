/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/diagnose.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "diagnose/misplaced.h"
#include "diagnose/pcpus.h"
#include "diagnose/search.h"

#define MOST_ERROR 0.1 /* of the host's speed: known worse, only the bold advise it */
#define CERTAIN 2.0    /* times its bound has a gain to be; to the bold, once */
#define CHANGES 0.005  /* of a VM's time: less is no change of a factor */

/* What is asked, and what it is asked of. */
struct question {
	const struct diag_window *const *windows;
	size_t n;
	struct diag_window all; /* of them as one */
	const struct advise_config *config;
	const char *const *node_cpus;
	struct predictor p; /* of @all */
};

struct winner {
	size_t vm;
	double gain, error; /* of its speed */
};

static struct winner find_winner(const struct diag_window *w, const struct prediction *p)
{
	struct winner best = { 0 };

	for (size_t v = 0; v < w->nvms; v++)
		if (p->speed[v] - 1 > best.gain)
			best = (struct winner) { v, p->speed[v] - 1, p->error[v] };
	return best;
}

static bool nobody_loses(const struct diag_window *w, const struct prediction *p)
{
	for (size_t v = 0; v < w->nvms; v++)
		if (p->speed[v] > 0 && p->speed[v] < 1 - MOST_LOSS)
			return false;
	return true;
}

/* True of a window: someone gains enough, nobody loses, and the host is the better. */
static int worth_it(const struct diag_window *w, const struct diag_placement *to,
		    double least, bool bold, bool *worth)
{
	struct prediction p;
	int rc = predict(w, to, &p);

	if (rc)
		return rc;
	struct winner best = find_winner(w, &p);

	*worth = best.gain > fmax(least, (bold ? 1 : CERTAIN) * best.error) && p.host > 1 &&
		 nobody_loses(w, &p);
	prediction_free(&p);
	return 0;
}

/* One VM's: its memory's, and its vCPUs' to pCPUs that are free. */
static int add_vm(struct predictor *p, const struct diag_placement *to, size_t v,
		  const char *const *node_cpus, struct advice *out)
{
	const struct diag_vm *vm = &p->host.window->vms[v];
	int rc = 0;

	if (to->mem[v] >= 0) {
		struct move *m = &out->moves[out->nmoves++];

		*m = (struct move) { .kind = MOVE_MEMORY, .node = to->mem[v] };
		str_copy(m->vm_id, sizeof(m->vm_id), vm->id);
	}
	for (size_t c = 0; !rc && c < vm->nvcpus; c++) {
		struct move *m = &out->moves[out->nmoves];
		int node = to->vcpu[v][c];

		if (node < 0 || vcpu_there(p, v, c, node))
			continue;
		*m = (struct move) { .kind = MOVE_VCPU,
				     .vcpu = vm->vcpus[c].index,
				     .node = node };
		str_copy(m->vm_id, sizeof(m->vm_id), vm->id);
		rc = pcpus_take(p, node_cpus[node], m->cpus, sizeof(m->cpus));
		out->nmoves++;
	}
	return rc;
}

static int add_moves(struct predictor *p, const struct diag_placement *to,
		     const char *const *node_cpus, struct advice *out)
{
	int rc = 0;

	out->moves = calloc(placement_moves(p, to) + 1, sizeof(*out->moves));
	if (!out->moves)
		return -ENOMEM;
	predictor_place(p, to);
	pcpus_count(p);
	for (size_t v = 0; !rc && v < p->host.window->nvms; v++)
		rc = add_vm(p, to, v, node_cpus, out);
	return rc;
}

/* What the gain is from: of the factors of who gains most the one that falls most. It need
 * not go away, and what does go away need not be what cost most. */
static void find_change(const struct diag_window *w, struct advice *a)
{
	const struct prediction *p = &a->prediction;
	double least = -CHANGES, most = CHANGES;
	size_t winner = find_winner(w, p).vm;

	a->falls = a->rises = FACTORS;
	for (int i = 0; i < FACTORS; i++) {
		double sum = 0;
		size_t ran = 0;

		for (size_t v = 0; v < w->nvms; v++) {
			sum += p->speed[v] > 0 ? p->cost[v][i] : 0;
			ran += p->speed[v] > 0;
		}
		if (w->nvms && p->cost[winner][i] < least) {
			least = p->cost[winner][i];
			a->falls = (enum factor)i;
		}
		if (ran && sum / (double)ran > most) {
			most = sum / (double)ran;
			a->rises = (enum factor)i;
		}
	}
}

/* "web's vCPUs and its memory to node 0", of one VM; nothing if it stays. */
static void vm_words(const struct advice *a, const struct diag_vm *vm, struct strbuf *out)
{
	int memory = -1, node = -1;
	size_t vcpus = 0;

	for (size_t i = 0; i < a->nmoves; i++) {
		const struct move *m = &a->moves[i];

		if (strcmp(m->vm_id, vm->id) != 0)
			continue;
		if (m->kind == MOVE_MEMORY)
			memory = m->node;
		else if (node >= 0 && m->node != node)
			node = DIAG_NODES;
		else
			node = m->node;
		vcpus += m->kind == MOVE_VCPU;
	}
	if (memory < 0 && !vcpus)
		return;
	strbuf_addf(out, "%s%s's", out->len ? ", " : "", vm->name[0] ? vm->name : vm->id);
	if (vcpus)
		strbuf_addf(out, " %s", vm->nvcpus == 1 ? "vCPU" : "vCPUs");
	if (vcpus && vcpus < vm->nvcpus)
		strbuf_addf(out, " (%zu of %zu)", vcpus, vm->nvcpus);
	if (vcpus && node < DIAG_NODES && node != memory)
		strbuf_addf(out, " to node %d", node);
	if (memory >= 0)
		strbuf_addf(out, "%s memory to node %d", vcpus ? " and its" : "", memory);
}

static int find_words(const struct diag_window *w, struct advice *a)
{
	struct winner best = find_winner(w, &a->prediction);
	struct strbuf what = { 0 }, out = { 0 };

	for (size_t v = 0; v < w->nvms; v++)
		vm_words(a, &w->vms[v], &what);
	strbuf_addf(&out, "Move %s: %s gains %.0f %% (±%.0f), the host %.0f %% (±%.0f)",
		    what.len ? what.data : "", w->vms[best.vm].name, 100 * best.gain,
		    100 * best.error, 100 * (a->prediction.host - 1),
		    100 * a->prediction.host_error);
	if (a->falls < FACTORS)
		strbuf_addf(&out, "; less %s", factor_title(a->falls));
	if (a->rises < FACTORS)
		strbuf_addf(&out, "%s more %s", a->falls < FACTORS ? "," : ";",
			    factor_title(a->rises));
	if (out.len)
		str_copy(a->sentence, sizeof(a->sentence), out.data);
	bool oom = what.oom || out.oom;

	strbuf_free(&what);
	strbuf_free(&out);
	return oom ? -ENOMEM : 0;
}

/* In each window; and the host's gain is known well, if at all. */
static int worth_always(const struct question *q, const struct diag_placement *to,
			bool bold, bool *worth)
{
	struct prediction p = { 0 };
	int rc = predict(&q->all, to, &p);

	*worth = bold ? p.host - p.host_error > 1 : p.host_error <= MOST_ERROR;
	for (size_t i = 0; i < q->n && !rc && *worth; i++)
		rc = worth_it(q->windows[i], to, q->config->least, bold, worth);
	prediction_free(&p);
	return rc;
}

/* What @to does to VM @vm alone. */
static int placement_of(const struct diag_window *w, const struct diag_placement *to,
			size_t vm, struct diag_placement *out)
{
	int rc = placement_new(w, out);

	if (rc)
		return rc;
	memcpy(out->vcpu[vm], to->vcpu[vm], w->vms[vm].nvcpus * sizeof(**out->vcpu));
	out->mem[vm] = to->mem[vm];
	return 0;
}

static bool possible(struct predictor *p, const struct diag_placement *to)
{
	predictor_place(p, to);
	return placement_moves(p, to) && pcpus_suffice(p);
}

/*
 * All moves together are less certain than each: where they do not beat the noise, one
 * VM's alone may, and *@to becomes the best of these.
 */
static int narrow(struct question *q, struct diag_placement *to, bool *worth)
{
	struct diag_placement best = { 0 };
	double best_gain = 1;
	int rc = 0;

	for (size_t v = 0; v < q->all.nvms && !rc; v++) {
		struct diag_placement one;
		struct prediction now = { 0 };
		bool good = false;

		rc = placement_of(&q->all, to, v, &one);
		if (!rc && possible(&q->p, &one))
			rc = worth_always(q, &one, q->config->bold, &good);
		if (!rc && good)
			rc = predict(&q->all, &one, &now);
		if (!rc && good && now.host > best_gain) {
			struct diag_placement was = best;

			best_gain = now.host;
			best = one;
			one = was;
		}
		prediction_free(&now);
		if (one.vcpu)
			placement_free(&q->all, &one);
	}
	*worth = best_gain > 1 && !rc;
	if (*worth) {
		placement_free(&q->all, to);
		*to = best;
	} else if (best.vcpu) {
		placement_free(&q->all, &best);
	}
	return rc;
}

/*
 * Where counters tell nothing, memory that is not where its VM runs is brought there all
 * the same: nothing is predicted of it.
 */
static int bring_home(const struct diag_window *w, struct advice *out)
{
	struct strbuf what = { 0 };
	int rc = 0;

	out->moves = calloc(w->nvms + 1, sizeof(*out->moves));
	if (!out->moves)
		return -ENOMEM;
	for (size_t v = 0; v < w->nvms; v++) {
		struct move *m = &out->moves[out->nmoves];
		struct misplaced p;

		if (vm_reads_counted(&w->vms[v]) || !vm_misplaced(w, v, &p))
			continue;
		*m = (struct move) { .kind = MOVE_MEMORY, .node = (int)p.runs };
		str_copy(m->vm_id, sizeof(m->vm_id), w->vms[v].id);
		out->nmoves++;
		out->prediction.speed[v] = 0;
		vm_words(out, &w->vms[v], &what);
	}
	if (out->nmoves)
		snprintf(out->sentence, sizeof(out->sentence),
			 "Move %.200s, where they run; no counter here tells what that "
			 "gains.",
			 what.data ? what.data : "");
	if (what.oom)
		rc = -ENOMEM;
	strbuf_free(&what);
	return rc;
}

static int settle_on(struct question *q, const struct diag_placement *to,
		     struct advice *out)
{
	int rc = predict(&q->all, to, &out->prediction);

	if (rc)
		return rc;
	find_change(&q->all, out);
	rc = add_moves(&q->p, to, q->node_cpus, out);
	return rc ? rc : find_words(&q->all, out);
}

/* None that it could be; @to comes nearest. */
static int settle_on_none(struct question *q, const struct diag_placement *to,
			  struct advice *out)
{
	int rc = predict(&q->all, to, &out->prediction);

	if (rc)
		return rc;
	struct winner best = find_winner(&q->all, &out->prediction);

	find_change(&q->all, out);
	snprintf(out->sentence, sizeof(out->sentence),
		 "The best move would give %s %.1f %% (±%.1f), the host %.1f %% (±%.1f): "
		 "not more than %.0f %% and twice the noise in every window, or not known "
		 "to ±%.0f %%, so none is advised.",
		 q->all.vms[best.vm].name, 100 * best.gain, 100 * best.error,
		 100 * (out->prediction.host - 1), 100 * out->prediction.host_error,
		 100 * q->config->least, 100 * MOST_ERROR);
	return 0;
}

/* All of what was found gains, but is known too badly to be advised: told if it gains more
 * than what is advised. */
static int tell_bolder(struct question *q, const struct diag_placement *to,
		       struct advice *out)
{
	struct advice bolder = { .falls = FACTORS, .rises = FACTORS };
	double advised = out->nmoves ? out->prediction.host : 1;
	int rc = settle_on(q, to, &bolder);

	if (!rc && bolder.prediction.host > advised)
		str_copy(out->bolder, sizeof(out->bolder), bolder.sentence);
	advice_free(&bolder);
	return rc;
}

static int settle_on_less(struct question *q, struct diag_placement *to, struct advice *out)
{
	struct diag_placement found;
	bool bold, worth = false;
	int rc = placement_new(&q->all, &found);

	if (rc)
		return rc;
	placement_copy(&q->all, to, &found);
	rc = worth_always(q, &found, true, &bold);
	if (!rc)
		rc = narrow(q, to, &worth);
	if (!rc)
		rc = worth ? settle_on(q, to, out) : settle_on_none(q, to, out);
	if (!rc && bold && !q->config->bold)
		rc = tell_bolder(q, &found, out);
	placement_free(&q->all, &found);
	return rc;
}

static int decide(struct question *q, struct diag_placement *to, struct advice *out)
{
	bool worth;
	int rc = search(&q->p, q->config, to);

	if (rc)
		return rc;
	if (!placement_moves(&q->p, to)) {
		str_copy(out->sentence, sizeof(out->sentence),
			 "No move is predicted to help any VM by more than it costs.");
		rc = predict(&q->all, to, &out->prediction);
		return rc || !q->config->move_memory ? rc : bring_home(&q->all, out);
	}
	rc = worth_always(q, to, q->config->bold, &worth);
	if (rc)
		return rc;
	return worth ? settle_on(q, to, out) : settle_on_less(q, to, out);
}

int advise(const struct diag_window *const *windows, size_t n,
	   const struct advise_config *config, const char *const *node_cpus,
	   struct advice *out)
{
	struct question q = {
		.windows = windows, .n = n, .config = config, .node_cpus = node_cpus
	};
	struct diag_placement to = { 0 };
	int rc;

	*out = (struct advice) { .falls = FACTORS, .rises = FACTORS };
	rc = diag_window_merge(windows, n, &q.all);
	if (rc)
		return rc;
	rc = placement_new(&q.all, &to);
	if (!rc)
		rc = predictor_new(&q.p, &q.all, (struct nudge) { -1 });
	if (!rc)
		rc = decide(&q, &to, out);
	if (rc)
		advice_free(out);
	predictor_free(&q.p);
	placement_free(&q.all, &to);
	diag_window_free(&q.all);
	return rc;
}

void advice_free(struct advice *a)
{
	free(a->moves);
	prediction_free(&a->prediction);
	*a = (struct advice) { 0 };
}
