/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/diagnose_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/placement_view.h"

#define BAR 24		 /* characters of a bar that is all of a VM's stall cycles */
#define WORTH_PROOF 0.01 /* share of stall cycles or speed whose evidence is shown */

/* ---- which VMs, in which order */

double diagnose_loss(const struct diag_result *r)
{
	return r->top < 0 ? 0 : r->all.part[r->top].loss;
}

/* What is not known comes before what is well, after what is known to be wrong. */
static double badness(const struct diag_result *r)
{
	return r->top >= 0 ? 1 + diagnose_loss(r) : r->unknown;
}

static bool answers(const struct topology *topo, const struct diag_vm *vm,
		    const char *const *patterns, size_t npatterns)
{
	const struct vm *known = topology_find(topo, vm->id);
	struct vm gone = { 0 };

	if (!known) {
		str_copy(gone.id, sizeof(gone.id), vm->id);
		str_copy(gone.name, sizeof(gone.name), vm->name);
		known = &gone;
	}
	for (size_t i = 0; i < npatterns; i++)
		if (vm_matches(known, patterns[i]))
			return true;
	return !npatterns;
}

size_t diagnose_order(const struct diagnosis *d, const struct topology *topo,
		      const struct diag_window *window, const char *const *patterns,
		      size_t npatterns, size_t *order)
{
	size_t n = 0;

	for (size_t i = 0; i < d->nvms; i++) {
		size_t at = n;

		if (!answers(topo, &window->vms[d->vms[i].vm], patterns, npatterns))
			continue;
		for (; at && badness(&d->vms[order[at - 1]]) < badness(&d->vms[i]); at--)
			order[at] = order[at - 1];
		order[at] = i;
		n++;
	}
	return n;
}

bool diagnose_partial(const struct diagnose_view *v)
{
	for (size_t i = 0; i < v->n; i++)
		for (int f = 0; f < FACTORS; f++)
			if (!v->diagnosis->vms[v->order[i]].all.part[f].measured)
				return true;
	return false;
}

/* ---- the answer */

struct answer_row {
	const char *vm, *id, *verdict, *factor, *doubt;
	int node;
	double loss, error;
	const char *sentence;
};

static const struct column answer_columns[] = {
	COLUMN(struct answer_row, vm, "vm", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct answer_row, id, "vm_id", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct answer_row, verdict, "verdict", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct answer_row, factor, "factor", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct answer_row, node, "node", "", FIELD_INT, COL_DATA_ONLY),
	COLUMN(struct answer_row, loss, "loss", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct answer_row, error, "loss_error", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct answer_row, doubt, "doubt", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct answer_row, sentence, "sentence", "", FIELD_STR, COL_DATA_ONLY),
};
static const struct view answer_view = { "diagnosis", answer_columns,
					 ARRAY_SIZE(answer_columns) };

static int node_id(const struct diagnose_view *v, int node)
{
	return node < 0 || (size_t)node >= v->machine->nnodes ? -1
							      : v->machine->nodes[node].id;
}

static void show_answers(const struct diagnose_view *v)
{
	out_table(v->out, &answer_view);
	for (size_t i = 0; i < v->n; i++) {
		const struct diag_result *r = &v->diagnosis->vms[v->order[i]];
		const struct diag_vm *vm = &v->window->vms[r->vm];
		bool wrong = r->top >= 0;
		struct answer_row row = {
			.vm = vm->name,
			.id = vm->id,
			.verdict = r->misplaced ? "misplaced"
				   : wrong	? "held back"
				   : r->unknown ? "unknown"
						: "nothing wrong",
			.factor = wrong ? factor_name(r->top) : NULL,
			.node = wrong ? node_id(v, r->top_node) : -1,
			.loss = wrong && !r->misplaced ? r->all.part[r->top].loss : NAN,
			.error = wrong && !r->misplaced ? r->all.part[r->top].loss_error
							: NAN,
			.doubt = r->doubt >= 0 ? factor_name(r->doubt) : NULL,
			.sentence = r->sentence,
		};

		out_row(v->out, &row);
		out_line(v->out, "%s", r->sentence);
	}
	out_end(v->out);
}

/* ---- the stack */

struct factor_row {
	const char *vm, *id;
	int node;
	const char *factor, *what; /* its title; of a rest, what it is */
	char bar[3 * BAR + 1];
	double share, share_error; /* of the stall cycles */
	double stall, cycles;	   /* of the VM there: waiting for memory, and all */
	double loss, loss_error;
	char share_text[32], loss_text[32];
	const char *causes; /* a list */
	char causes_text[160];
	const char *evidence, *why;
	const char *shown; /* of the evidence: where there is something to prove */
};

static const struct column factor_columns[] = {
	COLUMN(struct factor_row, vm, "vm", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct factor_row, id, "vm_id", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct factor_row, node, "node", "", FIELD_INT, COL_DATA_ONLY),
	COLUMN(struct factor_row, factor, "factor", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct factor_row, what, "what", "", FIELD_STR, 0),
	COLUMN(struct factor_row, bar, "bar", "", FIELD_TEXT, COL_TEXT_ONLY),
	COLUMN(struct factor_row, share, "share", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct factor_row, share_error, "share_error", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct factor_row, share_text, "share_text", "of stalls", FIELD_TEXT,
	       COL_TEXT_ONLY),
	COLUMN(struct factor_row, stall, "stall_cycles", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct factor_row, cycles, "cycles", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct factor_row, loss, "loss", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct factor_row, loss_error, "loss_error", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct factor_row, loss_text, "loss_text", "costs", FIELD_TEXT,
	       COL_TEXT_ONLY),
	COLUMN(struct factor_row, causes, "causes", "", FIELD_LIST, COL_DATA_ONLY),
	COLUMN(struct factor_row, causes_text, "causes_text", "caused by", FIELD_TEXT,
	       COL_TEXT_ONLY),
	COLUMN(struct factor_row, why, "why", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct factor_row, evidence, "evidence", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct factor_row, shown, "shown", "evidence", FIELD_STR,
	       COL_TEXT_ONLY | COL_LAST),
};
static const struct view factor_view = { "factor", factor_columns,
					 ARRAY_SIZE(factor_columns) };

static double share_of(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* Names of VMs that cause it, one after the other, and in words with their shares. */
static void name_causes(const struct diagnose_view *v, const struct diag_result *r,
			enum factor f, struct strbuf *list, struct factor_row *row)
{
	size_t at = 0;

	strbuf_reset(list);
	for (unsigned i = 0; i < r->ncauses[f]; i++) {
		const struct diag_cause *c = &r->cause[f][i];
		const char *name = v->window->vms[c->vm].name;
		size_t left = sizeof(row->causes_text) - at;
		int n = snprintf(row->causes_text + at, left, "%s%s %.0f %%",
				 at ? ", " : "", name, 100 * c->share);

		at += n > 0 && (size_t)n < left ? (size_t)n : 0;
		row->causes_text[at] = '\0';
		strbuf_add(list, name, strlen(name) + 1);
	}
	strbuf_putc(list, '\0');
	row->causes = list->oom ? NULL : list->data;
}

static void show_part(const struct diagnose_view *v, const struct diag_result *r,
		      const struct diag_vm_node *at, int node, enum factor f,
		      struct strbuf *list)
{
	const struct diag_part *p = &at->part[f];
	struct factor_row row = {
		.vm = v->window->vms[r->vm].name,
		.id = v->window->vms[r->vm].id,
		.node = node,
		.factor = factor_name(f),
		.what = factor_title(f),
		.share = NAN,
		.share_error = NAN,
		.stall = at->stall,
		.cycles = at->cycles,
		.loss = NAN,
		.loss_error = NAN,
		.evidence = *p->evidence ? p->evidence : p->why,
		.why = p->measured ? NULL : p->why,
	};

	if (p->measured) {
		row.share = share_of(p->cycles, at->stall);
		row.share_error = share_of(p->error, at->stall);
		row.loss = p->loss;
		row.loss_error = p->loss_error;
		out_bar(row.bar, sizeof(row.bar), row.share, BAR);
		out_percent(row.share_text, sizeof(row.share_text), row.share,
			    row.share_error);
		out_percent(row.loss_text, sizeof(row.loss_text), p->loss, p->loss_error);
	} else {
		str_copy(row.share_text, sizeof(row.share_text), "not measured");
	}
	if (!p->measured || fmax(row.share, row.loss) >= WORTH_PROOF)
		row.shown = row.evidence;
	name_causes(v, r, f, list, &row);
	out_row(v->out, &row);
}

static void show_rest(const struct diagnose_view *v, const struct diag_result *r,
		      const struct diag_vm_node *at, int node)
{
	struct factor_row row = {
		.vm = v->window->vms[r->vm].name,
		.id = v->window->vms[r->vm].id,
		.node = node,
		.factor = "rest",
		.what = "its own misses, and unexplained",
		.share = share_of(at->rest, at->stall),
		.share_error = share_of(at->rest_error, at->stall),
		.stall = at->stall,
		.cycles = at->cycles,
		.loss = NAN,
		.loss_error = NAN,
		.evidence = "stall cycles that no factor above takes",
	};

	out_bar(row.bar, sizeof(row.bar), row.share, BAR);
	out_percent(row.share_text, sizeof(row.share_text), row.share, row.share_error);
	out_row(v->out, &row);
}

/* @node -1: on all nodes together. */
static void show_stack(const struct diagnose_view *v, const struct diag_result *r,
		       const struct diag_vm_node *at, int node, struct strbuf *list)
{
	char where[24] = "all nodes";

	if (node >= 0)
		snprintf(where, sizeof(where), "node %d", node);
	out_line(v->out, "\n%s on %s: waits for memory in %.1f %% of %.4g million cycles",
		 v->window->vms[r->vm].name, where, 100 * share_of(at->stall, at->cycles),
		 at->cycles / 1e6);
	out_table(v->out, &factor_view);
	for (int f = 0; f < FACTORS; f++)
		show_part(v, r, at, node, f, list);
	show_rest(v, r, at, node);
	out_end(v->out);
}

static void show_stacks(const struct diagnose_view *v)
{
	struct strbuf list = { 0 };

	for (size_t i = 0; i < v->n; i++) {
		const struct diag_result *r = &v->diagnosis->vms[v->order[i]];
		unsigned ran_on = 0;

		for (size_t k = 0; k < DIAG_NODES; k++)
			ran_on += r->node[k].cycles > 0;
		if (ran_on != 1)
			show_stack(v, r, &r->all, -1, &list);
		for (size_t k = 0; k < DIAG_NODES; k++)
			if (r->node[k].cycles > 0)
				show_stack(v, r, &r->node[k], node_id(v, (int)k), &list);
	}
	strbuf_free(&list);
}

/* ---- sockets */

struct socket_row {
	int node;
	double lines, error, attributed, by_bytes, unattributed;
	double mem_use, link_use, mem_ns, tracker_full;
	const char *state, *reason;
	char lines_text[24], attributed_text[24], unattributed_text[24];
};

static const struct column socket_columns[] = {
	COLUMN(struct socket_row, node, "node", "node", FIELD_INT, 0),
	COLUMN(struct socket_row, lines, "mem_lines", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct socket_row, lines_text, "lines_text", "lines read", FIELD_TEXT,
	       COL_TEXT_ONLY),
	COLUMN(struct socket_row, error, "mem_lines_error", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct socket_row, state, "state", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct socket_row, attributed, "attributed", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct socket_row, attributed_text, "attributed_text", "by VMs", FIELD_TEXT,
	       COL_TEXT_ONLY),
	COLUMN(struct socket_row, by_bytes, "by_bytes", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct socket_row, unattributed, "unattributed", "", FIELD_F64,
	       COL_DATA_ONLY),
	COLUMN(struct socket_row, unattributed_text, "unattributed_text", "by no known VM",
	       FIELD_TEXT, COL_TEXT_ONLY),
	COLUMN(struct socket_row, mem_use, "mem_use", "memory's load", FIELD_PERCENT, 0),
	COLUMN(struct socket_row, link_use, "link_use", "links' load", FIELD_PERCENT, 0),
	COLUMN(struct socket_row, mem_ns, "mem_ns", "ns in memory", FIELD_F64, 0),
	COLUMN(struct socket_row, tracker_full, "tracker_full", "trackers full",
	       FIELD_PERCENT, 0),
	COLUMN(struct socket_row, reason, "reason", "", FIELD_STR, COL_LAST),
};
static const struct view socket_view = { "socket", socket_columns,
					 ARRAY_SIZE(socket_columns) };

static void millions(char text[static 24], double value)
{
	if (isnan(value))
		*text = '\0';
	else
		snprintf(text, 24, "%.3f M", value / 1e6);
}

static void show_by_bytes(const struct diagnose_view *v)
{
	for (size_t i = 0; i < v->machine->nnodes && i < DIAG_NODES; i++) {
		const struct diag_socket *s = &v->diagnosis->node[i];

		if (s->by_bytes > 0)
			out_line(v->out,
				 "Of the lines by VMs of node %d, %.3f M are mem.bytes / "
				 "64 (resctrl), %s.",
				 v->machine->nodes[i].id, s->by_bytes / 1e6,
				 s->with_writes ? "writes among them"
						: "less the node's share of writes");
	}
}

static void show_sockets(const struct diagnose_view *v)
{
	out_line(v->out, "\nSockets, in the same time:");
	out_table(v->out, &socket_view);
	for (size_t i = 0; i < v->machine->nnodes && i < DIAG_NODES; i++) {
		const struct diag_socket *s = &v->diagnosis->node[i];
		bool has = reading_has_value(s->mem_lines.state);
		struct socket_row row = {
			.node = v->machine->nodes[i].id,
			.lines = has ? s->mem_lines.value : NAN,
			.error = has ? s->mem_lines.error : NAN,
			.state = reading_state_name(s->mem_lines.state),
			.reason = s->mem_lines.reason,
			.attributed = s->attributed,
			.by_bytes = s->by_bytes,
			.unattributed = has ? s->unattributed : NAN,
			.mem_use = s->mem_use,
			.link_use = s->link_use,
			.mem_ns = s->mem_ns,
			.tracker_full = s->tracker_full,
		};

		millions(row.lines_text, row.lines);
		millions(row.attributed_text, row.attributed);
		millions(row.unattributed_text, row.unattributed);
		out_row(v->out, &row);
	}
	out_end(v->out);
	show_by_bytes(v);
}

/* What could not be measured, once per reason. */
static void show_unmeasured(const struct diagnose_view *v)
{
	for (int f = 0; f < FACTORS; f++) {
		const char *said = "";

		for (size_t i = 0; i < v->n; i++) {
			const struct diag_part *p =
				&v->diagnosis->vms[v->order[i]].all.part[f];

			if (p->measured || !strcmp(p->why, said))
				continue;
			out_line(v->out, "Not measured: %s: %s", factor_title(f), p->why);
			said = p->why;
		}
	}
}

/* Placement alone says something where no counter tells what remote data cost. */
static void show_placement(const struct diagnose_view *v, const struct topology *topo)
{
	const char **ids = calloc(v->n + 1, sizeof(*ids));
	bool *say = calloc(v->n + 1, sizeof(*say));

	for (size_t i = 0; ids && say && i < v->n; i++) {
		const struct diag_result *r = &v->diagnosis->vms[v->order[i]];

		ids[i] = v->window->vms[r->vm].id;
		say[i] = !r->all.part[FACTOR_LOCALITY].measured;
	}
	if (ids && say)
		placement_show(v->out, topo, ids, say, v->n);
	free(ids);
	free(say);
}

void diagnose_show(const struct diagnose_view *v, const struct topology *topo)
{
	show_answers(v);
	show_placement(v, topo);
	show_stacks(v);
	show_sockets(v);
	out_line(v->out, "%s", "");
	show_unmeasured(v);
	out_line(v->out, "Latencies and rates of an idle machine: %s.",
		 v->window->machine.origin);
}
