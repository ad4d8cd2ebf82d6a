/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/advise_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"

#define MOST_WAITED 0.99 /* of its time: one that never ran has no speed */

/* ---- the advice */

struct advice_row {
	const char *falls, *rises;
	uint64_t moves;
	double gain, error;
	const char *sentence, *bolder;
};

static const struct column advice_columns[] = {
	COLUMN(struct advice_row, moves, "moves", "", FIELD_U64, COL_DATA_ONLY),
	COLUMN(struct advice_row, gain, "gain", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct advice_row, error, "gain_error", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct advice_row, falls, "falls", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct advice_row, rises, "rises", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct advice_row, sentence, "sentence", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct advice_row, bolder, "bolder", "", FIELD_STR, COL_DATA_ONLY),
};
static const struct view advice_view = { "advice", advice_columns,
					 ARRAY_SIZE(advice_columns) };

struct gain_row {
	const char *vm, *id;
	double gain, error;
	char text[40];
};

static const struct column gain_columns[] = {
	COLUMN(struct gain_row, vm, "vm", "VM", FIELD_STR, 0),
	COLUMN(struct gain_row, id, "vm_id", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct gain_row, gain, "gain", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct gain_row, error, "gain_error", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct gain_row, text, "text", "predicted gain", FIELD_TEXT,
	       COL_TEXT_ONLY | COL_LAST),
};
static const struct view gain_view = { "prediction", gain_columns,
				       ARRAY_SIZE(gain_columns) };

static void gain_text(char *buf, size_t size, double gain, double error)
{
	if (isnan(gain))
		*buf = '\0';
	else
		snprintf(buf, size, "%+.1f %s %.1f %%", 100 * gain, out_plus_minus(),
			 100 * error);
}

void advise_show(struct out *out, const struct diag_window *window,
		 const struct advice *advice)
{
	const struct prediction *p = &advice->prediction;
	bool any = advice->nmoves;
	struct advice_row row = {
		.moves = advice->nmoves,
		.gain = any ? p->host - 1 : 0,
		.error = any ? p->host_error : 0,
		.falls = any && advice->falls < FACTORS ? factor_name(advice->falls) : NULL,
		.rises = any && advice->rises < FACTORS ? factor_name(advice->rises) : NULL,
		.sentence = advice->sentence,
		.bolder = *advice->bolder ? advice->bolder : NULL,
	};

	out_table(out, &advice_view);
	out_row(out, &row);
	out_end(out);
	out_line(out, "%s", advice->sentence);
	if (*advice->bolder)
		out_line(out, "More, but less certain (--bold): %s", advice->bolder);
	if (!any)
		return;
	out_line(out, "%s", "");
	out_table(out, &gain_view);
	for (size_t i = 0; i < window->nvms; i++) {
		struct gain_row gain = { .vm = window->vms[i].name,
					 .id = window->vms[i].id,
					 .gain = p->speed[i] > 0 ? p->speed[i] - 1 : NAN,
					 .error = p->speed[i] > 0 ? p->error[i] : NAN };

		gain_text(gain.text, sizeof(gain.text), gain.gain, gain.error);
		out_row(out, &gain);
	}
	out_end(out);
}

/* ---- moves */

struct move_row {
	const char *way, *vm, *id, *kind;
	int vcpu, node;
	const char *cpus, *command;
};

static const struct column move_columns[] = {
	COLUMN(struct move_row, way, "way", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct move_row, vm, "vm", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct move_row, id, "vm_id", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct move_row, kind, "what", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct move_row, vcpu, "vcpu", "", FIELD_INT, COL_DATA_ONLY),
	COLUMN(struct move_row, cpus, "cpus", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct move_row, node, "node", "", FIELD_INT, COL_DATA_ONLY),
	COLUMN(struct move_row, command, "command", "", FIELD_STR, COL_DATA_ONLY),
};
static const struct view move_view = { "move", move_columns, ARRAY_SIZE(move_columns) };

static void show_move(struct out *out, const struct source_ops *ops, struct source *src,
		      const struct topology *topo, const struct move *m, const char *way)
{
	const struct vm *vm = topology_find(topo, m->vm_id);
	struct strbuf command = { 0 };
	bool vcpu = m->kind == MOVE_VCPU;
	struct move_row row = {
		.way = way,
		.vm = vm ? vm->name : NULL,
		.id = m->vm_id,
		.kind = vcpu ? "vcpu" : "memory",
		.vcpu = vcpu ? m->vcpu : -1,
		.cpus = vcpu ? m->cpus : NULL,
		.node = vcpu ? -1 : m->node,
	};

	if (vm && ops->say_move)
		ops->say_move(src, vm, m, &command);
	row.command = command.len && !command.oom ? command.data : NULL;
	out_row(out, &row);
	if (row.command)
		out_line(out, "  %s", row.command);
	else if (vcpu)
		out_line(out, "  vCPU %d of %s to %s %s", m->vcpu, vm ? vm->name : m->vm_id,
			 strpbrk(m->cpus, ",-") ? "pCPUs" : "pCPU", m->cpus);
	else
		out_line(out, "  memory of %s to node %d", vm ? vm->name : m->vm_id,
			 m->node);
	strbuf_free(&command);
}

void advise_show_moves(struct out *out, const struct source_ops *ops, struct source *src,
		       const struct topology *topo, const struct advice *advice,
		       const struct way_back *back)
{
	out_table(out, &move_view);
	out_line(out, "\nThe moves:");
	for (size_t i = 0; i < advice->nmoves; i++)
		show_move(out, ops, src, topo, &advice->moves[i], "there");
	out_line(out, "The way back:");
	for (size_t i = 0; i < back->n; i++)
		show_move(out, ops, src, topo, &back->moves[i], "back");
	out_end(out);
	if (*back->lacks)
		out_line(out, "  (%s)", back->lacks);
}

/* ---- what came of it */

struct outcome_row {
	const char *vm, *id, *after;
	double predicted, predicted_error, measured, measured_error;
	double rate_before, rate_after;
	char predicted_text[40], measured_text[40];
};

static const struct column outcome_columns[] = {
	COLUMN(struct outcome_row, vm, "vm", "VM", FIELD_STR, 0),
	COLUMN(struct outcome_row, id, "vm_id", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct outcome_row, after, "after", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct outcome_row, predicted, "predicted", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct outcome_row, predicted_error, "predicted_error", "", FIELD_F64,
	       COL_DATA_ONLY),
	COLUMN(struct outcome_row, measured, "measured", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct outcome_row, measured_error, "measured_error", "", FIELD_F64,
	       COL_DATA_ONLY),
	COLUMN(struct outcome_row, rate_before, "rate_before", "", FIELD_F64,
	       COL_DATA_ONLY),
	COLUMN(struct outcome_row, rate_after, "rate_after", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct outcome_row, predicted_text, "predicted_text", "predicted",
	       FIELD_TEXT, COL_TEXT_ONLY),
	COLUMN(struct outcome_row, measured_text, "measured_text", "measured", FIELD_TEXT,
	       COL_TEXT_ONLY | COL_LAST),
};
static const struct view outcome_view = { "outcome", outcome_columns,
					  ARRAY_SIZE(outcome_columns) };

/* Share of the window that a vCPU could have run and had no pCPU; 0: not known. */
static double waited(const struct diag_window *window, const struct diag_vcpu *vcpu)
{
	const struct quantity *q = &vcpu->role[ROLE_WAITED];

	return reading_has_value(q->state) && window->seconds > 0
		       ? fmin(q->value * 1e-9 / window->seconds, MOST_WAITED)
		       : 0;
}

/* Who works, sleeps and waits by turns has work to do in the share of all its time that it
 * runs in the time that it does not wait. */
struct speed vm_speed(const struct diag_window *window, size_t vm)
{
	const struct diag_vm *v = &window->vms[vm];
	double done = 0, done_error = 0, wanted = 0, wanted_error = 0, value;

	for (size_t i = 0; i < v->nvcpus; i++) {
		const struct quantity *q = v->vcpus[i].role;
		double runs = 1 - waited(window, &v->vcpus[i]);

		if (!reading_has_value(q[ROLE_INSTRUCTIONS].state) ||
		    !reading_has_value(q[ROLE_CYCLES].state))
			return (struct speed) { NAN, NAN };
		done += q[ROLE_INSTRUCTIONS].value;
		done_error += q[ROLE_INSTRUCTIONS].error;
		wanted += q[ROLE_CYCLES].value / runs;
		wanted_error += q[ROLE_CYCLES].error / runs;
	}
	if (!(wanted > 0) || !(done > 0) || !(window->machine.core_hz > 0))
		return (struct speed) { NAN, NAN };
	value = done / wanted * window->machine.core_hz;
	return (struct speed) { value,
				value * (done_error / done + wanted_error / wanted) };
}

/* The same VM in another window; SIZE_MAX: it is not there. */
static size_t same_vm(const struct diag_window *w, const char *id)
{
	for (size_t i = 0; i < w->nvms; i++)
		if (!strcmp(w->vms[i].id, id))
			return i;
	return SIZE_MAX;
}

void advise_show_outcome(struct out *out, const struct diag_window *before,
			 const struct diag_window *after,
			 const struct prediction *prediction)
{
	out_line(out, "\nInstructions per second that they have work to do, %s:",
		 prediction ? "after the moves" : "after going back");
	out_table(out, &outcome_view);
	for (size_t i = 0; i < before->nvms; i++) {
		size_t k = same_vm(after, before->vms[i].id);
		struct speed was = vm_speed(before, i),
			     is = k == SIZE_MAX ? (struct speed) { NAN, NAN }
						: vm_speed(after, k);
		bool told = prediction && prediction->speed[i] > 0;
		struct outcome_row row = {
			.vm = before->vms[i].name,
			.id = before->vms[i].id,
			.after = prediction ? "apply" : "undo",
			.predicted = told	  ? prediction->speed[i] - 1
				     : prediction ? NAN
						  : 0,
			.predicted_error = told ? prediction->error[i] : NAN,
			.measured = was.value > 0 ? is.value / was.value - 1 : NAN,
			.rate_before = was.value,
			.rate_after = is.value,
		};

		row.measured_error =
			is.value > 0 && was.value > 0
				? is.value / was.value *
					  (is.error / is.value + was.error / was.value)
				: NAN;
		if (told)
			gain_text(row.predicted_text, sizeof(row.predicted_text),
				  row.predicted, row.predicted_error);
		gain_text(row.measured_text, sizeof(row.measured_text), row.measured,
			  row.measured_error);
		out_row(out, &row);
	}
	out_end(out);
}
