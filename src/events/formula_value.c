/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a formula yields: its value, and the bound that its inputs' bounds leave it. */
#include <math.h>

#include "events/formula.h"
#include "events/formula_code.h"

/* A number and how fast it changes with the input that is being looked at. */
struct dual {
	double v, d;
};

struct machine {
	const struct formula *f;
	const struct profile_values *values;
	size_t moving; /* the input that is being looked at */
	struct dual stack[FORMULA_STACK];
	size_t n;
	size_t zero; /* the division that failed */
	bool stopped;
};

#define NOTHING_MOVES ((size_t)-1)

static struct dual divide(struct dual a, struct dual b)
{
	return (struct dual) { a.v / b.v, (a.d * b.v - a.v * b.d) / (b.v * b.v) };
}

/* Takes two off the stack and puts one back. */
static void combine(struct machine *m, const struct op *op)
{
	struct dual b = m->stack[--m->n], *a = &m->stack[m->n - 1];

	switch (op->kind) {
	case OP_PLUS: *a = (struct dual) { a->v + b.v, a->d + b.d }; break;
	case OP_MINUS: *a = (struct dual) { a->v - b.v, a->d - b.d }; break;
	case OP_TIMES: *a = (struct dual) { a->v * b.v, a->d * b.v + a->v * b.d }; break;
	case OP_DIVIDE:
		m->stopped = b.v == 0;
		m->zero = op->index;
		if (!m->stopped)
			*a = divide(*a, b);
		break;
	case OP_MIN: *a = b.v < a->v ? b : *a; break;
	default: *a = b.v > a->v ? b : *a; break; /* OP_MAX */
	}
}

static void step(struct machine *m, const struct op *op)
{
	struct dual top = { 0 };

	switch (op->kind) {
	case OP_NUMBER: top.v = op->number; break;
	case OP_SECONDS: top.v = m->values->seconds; break;
	case OP_NODES: top.v = m->values->nodes; break;
	case OP_CPUS: top.v = m->values->cpus; break;
	case OP_INPUT:
		top = (struct dual) { m->values->input[op->index].value,
				      op->index == m->moving };
		break;
	case OP_NEGATE:
		m->stack[m->n - 1].v *= -1;
		m->stack[m->n - 1].d *= -1;
		return;
	default: combine(m, op); return;
	}
	m->stack[m->n++] = top;
}

/*
 * Runs all of it. @divisor: grows by what each divisor's bound owes to this input's;
 * NULL: nobody asks.
 */
static struct dual run(struct machine *m, size_t moving, double error, double *divisor)
{
	m->moving = moving;
	m->n = 0;
	m->stopped = false;
	for (size_t i = 0; i < m->f->n && !m->stopped; i++) {
		const struct op *op = &m->f->op[i];

		if (op->kind == OP_DIVIDE && divisor) {
			struct dual by = m->stack[m->n - 1];

			/* Relative, so that 1 and more says: it may be zero. */
			if (by.d != 0)
				divisor[op->index] += fabs(by.d * error / by.v);
		}
		step(m, op);
	}
	return m->stopped ? (struct dual) { NAN, NAN } : m->stack[0];
}

static double bound(struct machine *m)
{
	const struct formula *f = m->f;
	double divisor[FORMULA_DIVISIONS] = { 0 }, sum = 0;

	for (size_t i = 0; i < f->n; i++) {
		size_t input = f->op[i].index;
		double error, slope;
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = f->op[k].kind == OP_INPUT && f->op[k].index == input;
		if (f->op[i].kind != OP_INPUT || seen)
			continue;
		error = m->values->input[input].error;
		slope = error != 0 ? fabs(run(m, input, error, divisor).d) : 0;
		if (slope != 0)
			sum += slope * error;
	}
	for (size_t i = 0; i < f->ndivisions; i++)
		if (!(divisor[i] < 1))
			return NAN;
	return sum;
}

/* The worst of the inputs that stand in it, the first of them where they are alike. */
static struct metric_value worst(const struct formula *f,
				 const struct profile_input *inputs,
				 const struct profile_values *values)
{
	struct metric_value out = { .state = READ_COUNTED };

	for (size_t i = 0; i < f->n; i++) {
		const struct metric_value *in;
		bool worse;

		if (f->op[i].kind != OP_INPUT)
			continue;
		in = &values->input[f->op[i].index];
		worse = in->state > out.state ||
			(in->state == out.state && in->reason && !out.reason);
		if (!worse)
			continue;
		out.state = in->state;
		out.reason = in->reason;
		out.of = inputs[f->op[i].index].name;
	}
	return out;
}

struct metric_value formula_value(const struct formula *f,
				  const struct profile_input *inputs,
				  const struct profile_values *values)
{
	struct machine m = { .f = f, .values = values };
	struct metric_value out = worst(f, inputs, values);

	out.value = out.error = NAN;
	if (!reading_has_value(out.state))
		return out;
	out.value = run(&m, NOTHING_MOVES, 0, NULL).v;
	if (isfinite(out.value)) {
		out.error = bound(&m);
		return out;
	}
	out.value = NAN;
	out.state = READ_UNDEFINED;
	out.reason = m.stopped ? f->division[m.zero].words : "too large a number";
	out.of = NULL;
	return out;
}
