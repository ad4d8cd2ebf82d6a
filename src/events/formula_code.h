/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_FORMULA_CODE_H
#define EVENTS_FORMULA_CODE_H

/* What formula.c makes and formula_value.c runs: postfix code for a stack of numbers. */

#include <stdbool.h>
#include <stddef.h>

#define FORMULA_NESTED 32
/* At each depth a term, a factor and a function's argument wait for what is within. */
#define FORMULA_STACK (3 * FORMULA_NESTED + 1)
#define FORMULA_DIVISIONS 64
#define DIVISION_BY_ZERO "division by zero: "

enum op_kind {
	OP_NUMBER,
	OP_INPUT,
	OP_SECONDS,
	OP_NODES,
	OP_CPUS,
	OP_NEGATE, /* of one; those below are of two */
	OP_PLUS,
	OP_MINUS,
	OP_TIMES,
	OP_DIVIDE,
	OP_MIN,
	OP_MAX,
};

struct op {
	enum op_kind kind;
	double number;
	size_t index; /* which input, which division */
};

struct division {
	char *words; /* owned: DIVISION_BY_ZERO and the divisor as it was written */
	bool may_be_zero;
};

struct formula {
	char *text;
	struct op *op;
	size_t n, cap;
	struct division *division;
	size_t ndivisions, capdivisions;
};

#endif
