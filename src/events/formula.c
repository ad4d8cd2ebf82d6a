/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recursive-descent compiler to postfix: vmmprof-models(5) has the grammar. */
#include "events/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "events/formula_code.h"
#include "events/lookup.h"

#define NAME_MAX_LENGTH 31

/* What is known of a part before anything is counted; counts are never negative. */
struct fact {
	bool never_zero, never_negative;
	bool zero; /* the number 0 itself */
};

struct compiler {
	const char *text, *p;
	const char *at; /* of the error */
	const struct profile_input *inputs;
	size_t ninputs;
	struct formula *f;
	unsigned nested;
	struct err *err;
};

static const struct {
	const char *name;
	enum op_kind kind;
} variables[] = { { "seconds", OP_SECONDS }, { "nodes", OP_NODES }, { "cpus", OP_CPUS } };

static const struct {
	const char *name;
	enum op_kind kind;
} functions[] = { { "min", OP_MIN }, { "max", OP_MAX } };

static int parse_sum(struct compiler *c, struct fact *fact);

bool formula_is_name(const char *name)
{
	size_t n = 0;

	if (!isalpha((unsigned char)*name))
		return false;
	while (isalnum((unsigned char)name[n]) || name[n] == '_')
		n++;
	return !name[n] && n <= NAME_MAX_LENGTH;
}

bool formula_reserved(const char *name)
{
	static const char *const others[] = { "unit", "warn", "bad", "optional" };

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		if (!strcmp(variables[i].name, name))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (!strcmp(functions[i].name, name))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(others[i], name))
			return true;
	return false;
}

static void skip_blanks(struct compiler *c)
{
	c->p += strspn(c->p, " \t");
}

static bool accept(struct compiler *c, char wanted)
{
	skip_blanks(c);
	if (*c->p != wanted)
		return false;
	c->p++;
	return true;
}

static int expected(struct compiler *c, const char *what)
{
	char found[] = "'x'";

	skip_blanks(c);
	c->at = c->p;
	found[1] = isprint((unsigned char)*c->p) ? *c->p : '?';
	return err_set(c->err, EINVAL, "expected %s, found %s", what,
		       *c->p ? found : "the end of the formula");
}

static int no_memory(struct compiler *c)
{
	return err_set(c->err, ENOMEM, "%s", err_name(ENOMEM));
}

static int emit(struct compiler *c, struct op op)
{
	struct formula *f = c->f;

	return VEC_PUSH(f->op, f->n, f->cap, op) ? no_memory(c) : 0;
}

static int parse_number(struct compiler *c, struct fact *fact)
{
	char *end;
	double number = strtod(c->p, &end);

	c->at = c->p;
	if (end == c->p)
		return expected(c, "a number");
	if (!isfinite(number))
		return err_set(c->err, EINVAL, "%.*s is too large a number",
			       (int)(end - c->p), c->p);
	c->p = end;
	*fact = (struct fact) { number != 0, true, number == 0 };
	return emit(c, (struct op) { .kind = OP_NUMBER, .number = number });
}

/* A CPU that runs does not stop these; all else may be zero for a while. */
static bool never_zero(const struct profile_input *in)
{
	return in->by_role && (in->role == ROLE_INSTRUCTIONS || in->role == ROLE_CYCLES ||
			       in->role == ROLE_REF_CYCLES || in->role == ROLE_NODE_CLOCK);
}

static int unknown_name(struct compiler *c, const char *name)
{
	struct nearest near;
	char hint[96];

	nearest_init(&near, name);
	for (size_t i = 0; i < c->ninputs; i++)
		nearest_offer(&near, c->inputs[i].name);
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		nearest_offer(&near, variables[i].name);
	return err_set(c->err, EINVAL,
		       "expected an input that is declared above, found %s%s", name,
		       nearest_say(&near, hint, sizeof(hint)));
}

static int parse_call(struct compiler *c, const char *name, struct fact *fact)
{
	size_t i = 0;
	int ret;

	while (i < ARRAY_SIZE(functions) && strcmp(functions[i].name, name))
		i++;
	if (i == ARRAY_SIZE(functions))
		return err_set(c->err, EINVAL, "expected min or max before '(', found %s",
			       name);
	c->p++; /* the parenthesis */
	ret = parse_sum(c, fact);
	while (!ret && accept(c, ',')) {
		bool max = functions[i].kind == OP_MAX;
		struct fact a = *fact, b;

		ret = parse_sum(c, &b);
		if (ret)
			break;
		fact->zero = false;
		fact->never_negative = max ? a.never_negative || b.never_negative
					   : a.never_negative && b.never_negative;
		fact->never_zero = (a.never_zero && b.never_zero) ||
				   (max && ((a.never_zero && a.never_negative) ||
					    (b.never_zero && b.never_negative)));
		ret = emit(c, (struct op) { .kind = functions[i].kind });
	}
	if (!ret && !accept(c, ')'))
		return expected(c, "',' or ')'");
	return ret;
}

static int parse_name(struct compiler *c, struct fact *fact)
{
	size_t n = 0;
	char name[NAME_MAX_LENGTH + 1];

	c->at = c->p;
	while (isalnum((unsigned char)c->p[n]) || c->p[n] == '_')
		n++;
	if (n > NAME_MAX_LENGTH)
		return err_set(c->err, EINVAL, "a name of more than %d characters",
			       NAME_MAX_LENGTH);
	memcpy(name, c->p, n);
	name[n] = '\0';
	c->p += n;
	skip_blanks(c);
	if (*c->p == '(')
		return parse_call(c, name, fact);
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		if (!strcmp(variables[i].name, name)) {
			*fact = (struct fact) { true, true, false };
			return emit(c, (struct op) { .kind = variables[i].kind });
		}
	for (size_t i = 0; i < c->ninputs; i++)
		if (!strcmp(c->inputs[i].name, name)) {
			*fact = (struct fact) { never_zero(&c->inputs[i]), true, false };
			return emit(c, (struct op) { .kind = OP_INPUT, .index = i });
		}
	return unknown_name(c, name);
}

static int parse_part(struct compiler *c, struct fact *fact)
{
	int ret;

	skip_blanks(c);
	c->at = c->p;
	if (++c->nested > FORMULA_NESTED)
		return err_set(c->err, EINVAL, "nested more than %d deep", FORMULA_NESTED);
	if (accept(c, '(')) {
		ret = parse_sum(c, fact);
		if (!ret && !accept(c, ')'))
			ret = expected(c, "an operator or ')'");
	} else if (accept(c, '-')) {
		ret = parse_part(c, fact);
		fact->never_negative = false;
		if (!ret)
			ret = emit(c, (struct op) { .kind = OP_NEGATE });
	} else if (isdigit((unsigned char)*c->p) || *c->p == '.') {
		ret = parse_number(c, fact);
	} else if (isalpha((unsigned char)*c->p)) {
		ret = parse_name(c, fact);
	} else {
		ret = expected(c, "a number, an input or '('");
	}
	c->nested--;
	return ret;
}

/* What was divided by: from @start to here, without blanks around it. */
static int add_division(struct compiler *c, const char *start, const struct fact *by)
{
	struct division d = { .may_be_zero = !by->never_zero };
	struct formula *f = c->f;
	struct op op = { .kind = OP_DIVIDE, .index = f->ndivisions };
	int n;

	start += strspn(start, " \t");
	n = (int)(c->p - start);
	while (n > 0 && strchr(" \t", start[n - 1]))
		n--;
	if (by->zero) {
		c->at = start;
		return err_set(c->err, EINVAL,
			       "expected something that can be divided by, found 0");
	}
	if (f->ndivisions == FORMULA_DIVISIONS) {
		c->at = start;
		return err_set(c->err, EINVAL, "more than %d divisions", FORMULA_DIVISIONS);
	}
	if (asprintf(&d.words, DIVISION_BY_ZERO "%.*s", n, start) < 0)
		return no_memory(c);
	if (VEC_PUSH(f->division, f->ndivisions, f->capdivisions, d)) {
		free(d.words);
		return no_memory(c);
	}
	return emit(c, op);
}

static int parse_product(struct compiler *c, struct fact *fact)
{
	int ret = parse_part(c, fact);

	while (!ret) {
		bool times = accept(c, '*');
		const char *start;
		struct fact by;

		if (!times && !accept(c, '/'))
			break;
		start = c->p;
		ret = parse_part(c, &by);
		if (ret)
			break;
		ret = times ? emit(c, (struct op) { .kind = OP_TIMES })
			    : add_division(c, start, &by);
		fact->never_negative = fact->never_negative && by.never_negative;
		fact->never_zero = fact->never_zero && by.never_zero;
		fact->zero = false;
	}
	return ret;
}

static int parse_sum(struct compiler *c, struct fact *fact)
{
	int ret = parse_product(c, fact);

	while (!ret) {
		bool plus = accept(c, '+');
		struct fact by;

		if (!plus && !accept(c, '-'))
			break;
		ret = parse_product(c, &by);
		if (ret)
			break;
		fact->never_negative = plus && fact->never_negative && by.never_negative;
		fact->never_zero =
			fact->never_negative && (fact->never_zero || by.never_zero);
		fact->zero = false;
		ret = emit(c, (struct op) { .kind = plus ? OP_PLUS : OP_MINUS });
	}
	return ret;
}

int formula_compile(const char *text, const struct profile_input *inputs, size_t ninputs,
		    struct formula **out, size_t *at, struct err *err)
{
	struct compiler c = { .text = text,
			      .p = text,
			      .at = text,
			      .inputs = inputs,
			      .ninputs = ninputs,
			      .err = err };
	struct fact fact = { 0 };
	int ret = 0;

	*out = NULL;
	*at = 0;
	c.f = calloc(1, sizeof(*c.f));
	if (!c.f || !(c.f->text = strdup(text)))
		ret = no_memory(&c);
	if (!ret)
		ret = parse_sum(&c, &fact);
	skip_blanks(&c);
	if (!ret && *c.p)
		ret = expected(&c, "an operator or the end of the formula");
	if (ret) {
		*at = (size_t)(c.at - text);
		formula_free(c.f);
		return ret;
	}
	*out = c.f;
	return 0;
}

void formula_free(struct formula *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->ndivisions; i++)
		free(f->division[i].words);
	free(f->division);
	free(f->op);
	free(f->text);
	free(f);
}

const char *formula_text(const struct formula *f)
{
	return f->text;
}

bool formula_uses(const struct formula *f, size_t input)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->op[i].kind == OP_INPUT && f->op[i].index == input)
			return true;
	return false;
}

size_t formula_divisors(const struct formula *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->ndivisions; i++)
		n += f->division[i].may_be_zero;
	return n;
}

const char *formula_divisor(const struct formula *f, size_t i)
{
	for (size_t k = 0; k < f->ndivisions; k++)
		if (f->division[k].may_be_zero && !i--)
			return f->division[k].words + strlen(DIVISION_BY_ZERO);
	return NULL;
}
