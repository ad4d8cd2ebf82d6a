/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_FORMULA_H
#define EVENTS_FORMULA_H

/*
 * Formulas of profile models: numbers, inputs, "seconds", "nodes", "cpus", + - * / ( ),
 * min(), max(). Compiled once, evaluated with provenance.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "events/profile.h"

struct formula;

/*
 * @text ends in a NUL and may hold anything. 0; -EINVAL with "expected …, found …" and in
 * *@at the offset of what was found; -ENOMEM. formula_free() it.
 */
int formula_compile(const char *text, const struct profile_input *inputs, size_t ninputs,
		    struct formula **out, size_t *at, struct err *err);
void formula_free(struct formula *f);
const char *formula_text(const struct formula *f); /* as it was written */
bool formula_uses(const struct formula *f, size_t input);

/*
 * The divisions by something that can be zero: their number; formula_divisor() is what
 * is divided by, as it was written. Clocks, instructions and "seconds" never stand still.
 */
size_t formula_divisors(const struct formula *f);
const char *formula_divisor(const struct formula *f, size_t i);

/* See profile_metric_value(). @inputs: those that it was compiled with. */
struct metric_value formula_value(const struct formula *f,
				  const struct profile_input *inputs,
				  const struct profile_values *values);

/* Words that have a meaning of their own and name no input. */
bool formula_reserved(const char *name);
/* A letter, then letters, digits and "_". */
bool formula_is_name(const char *name);

#endif
