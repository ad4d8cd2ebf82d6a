/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The EVENTSET of a group of LIKWID: counters and what they count. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/data.h"
#include "base/vec.h"
#include "events/formula.h"
#include "events/likwid.h"

#define COUNTERS_MAX 256
#define MODEL_INPUTS 64

/* LIKWID's names of what plays a role everywhere. */
static const struct {
	const char *event;
	enum role role;
} known_roles[] = {
	{ "INSTR_RETIRED_ANY", ROLE_INSTRUCTIONS },
	{ "RETIRED_INSTRUCTIONS", ROLE_INSTRUCTIONS },
	{ "INST_RETIRED", ROLE_INSTRUCTIONS },
	{ "CPU_CLK_UNHALTED_CORE", ROLE_CYCLES },
	{ "CPU_CLOCKS_UNHALTED", ROLE_CYCLES },
	{ "ACTUAL_CPU_CLOCK", ROLE_CYCLES },
	{ "CPU_CYCLES", ROLE_CYCLES },
	{ "CPU_CLK_UNHALTED_REF", ROLE_REF_CYCLES },
	{ "MAX_CPU_CLOCK", ROLE_REF_CYCLES },
};

/* What LIKWID leaves away of the vendor's names, since the counter says it. */
static const struct {
	const char *counter, *prefix;
} prefixes[] = {
	{ "", "" },
	{ "MBOX", "UNC_M_" },
	{ "CBOX", "UNC_CHA_" },
	{ "QBOX", "UNC_UPI_" },
	{ "SBOX", "UNC_UPI_" },
};

static int read_table(void *ctx, const char *name, const char *path)
{
	struct likwid *k = ctx;
	struct event_table *table;

	(void)path;
	if (event_table_open(name, &table, NULL))
		return 0; /* a user's own that is wrong is told where it is used */
	if (!VEC_PUSH(k->tables, k->ntables, k->captables, table))
		return 0;
	event_table_free(table);
	return -ENOMEM;
}

/* As a table spells it; NULL: none has it. */
static const char *find_name(struct likwid *k, const char *counter, const char *event)
{
	char name[200];

	if (!k->ntables)
		data_each("events", read_table, k);
	for (size_t t = 0; t < k->ntables; t++)
		for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
			const struct table_event *row;

			if (!str_starts(counter, prefixes[i].counter))
				continue;
			snprintf(name, sizeof(name), "%s%s", prefixes[i].prefix, event);
			row = profile_table_row(k->tables[t], name);
			if (row)
				return row->name;
		}
	return NULL;
}

/* "MBOX3C1" is counter 1 of box 3: a table's event is all boxes together. */
static bool is_box(const char *counter)
{
	const char *p = strpbrk(counter, "0123456789");

	if (!p || p == counter)
		return false;
	p += strspn(p, "0123456789");
	return *p == 'C' && isdigit((unsigned char)p[1]);
}

static bool no_counter(const char *counter)
{
	static const char *const others[] = { "PWR", "TMP", "THERM", "VTG", "MSR" };

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (str_starts(counter, others[i]))
			return true;
	return false;
}

static void describe(struct likwid *k, const char *counter, const char *event,
		     struct profile_input *in)
{
	const char *name;

	str_copy(in->name, sizeof(in->name), counter);
	in->scope = str_starts(counter, "PMC") || str_starts(counter, "FIXC") ? SCOPE_VCPU
									      : SCOPE_NODE;
	for (size_t i = 0; i < ARRAY_SIZE(known_roles) && in->scope == SCOPE_VCPU; i++)
		if (!strcmp(known_roles[i].event, event)) {
			in->by_role = true;
			in->role = known_roles[i].role;
			return;
		}
	name = find_name(k, counter, event);
	str_copy(in->event, sizeof(in->event), name ? name : event);
	if (!name)
		likwid_remark(k, "%s: no event table here has %s; kept as it is", counter,
			      event);
}

/*
 * Sums of LIKWID's zen groups NUMA that are no locality of memory: their "local" are the
 * L2, the core complex, near caches and memory together.
 */
static void warn_of_event(struct likwid *k, const char *event)
{
	if (strstr(event, "FILLS_LOCAL") || strstr(event, "REFILLS_LOCAL"))
		likwid_remark(
			k,
			"WARNING: %s adds up the L2, the core complex, near caches and "
			"memory: a share of it is not the locality of memory; the "
			"model locality counts that",
			event);
	if (strstr(event, "HWPREF_ANY") || strstr(event, "HWPREF_DATA_CACHE_FILLS"))
		likwid_remark(
			k,
			"WARNING: %s may be counted in fills of any kind already: a sum "
			"with those may count prefetches twice",
			event);
}

static int add_counter(struct likwid *k, const char *name, const char *event)
{
	struct likwid_counter c = { .input = -1 };
	struct profile_input in = { 0 };

	str_copy(c.name, sizeof(c.name), name);
	str_copy(c.event, sizeof(c.event), event);
	c.box = is_box(name);
	for (size_t i = 0; i < k->ncounters && c.box; i++)
		if (k->counters[i].box && k->counters[i].input >= 0 &&
		    !strcmp(k->counters[i].event, event)) {
			c.input = k->counters[i].input;
			c.more = true;
		}
	if (c.input < 0 && !no_counter(name) && k->p->ninputs < MODEL_INPUTS) {
		describe(k, name, event, &in);
		c.input = (int)k->p->ninputs;
		if (VEC_PUSH(k->p->inputs, k->p->ninputs, k->p->capinputs, in))
			return -ENOMEM;
		warn_of_event(k, event);
	}
	return VEC_PUSH(k->counters, k->ncounters, k->capcounters, c);
}

/* COUNTER[:OPTIONS] EVENT */
int likwid_counter(struct likwid *k, char *line)
{
	char *save = NULL, *name = strtok_r(line, " \t", &save);
	char *event = strtok_r(NULL, " \t", &save), *options = strchr(name, ':');

	if (options)
		*options++ = '\0';
	if (!event || strtok_r(NULL, " \t", &save) || !formula_is_name(name) ||
	    formula_reserved(name) || strlen(event) >= sizeof(k->counters->event) ||
	    strchr(event, '"'))
		return likwid_bad(k, "expected COUNTER EVENT, found %s %s", name,
				  event ? event : "");
	for (size_t i = 0; i < k->ncounters; i++)
		if (!strcmp(k->counters[i].name, name))
			return likwid_bad(k, "%s is there already", name);
	if (k->ncounters == COUNTERS_MAX)
		return likwid_bad(k, "more than %d counters", COUNTERS_MAX);
	if (options) {
		struct likwid_counter c = { .input = -1 };

		likwid_remark(k,
			      "%s: the options %s are not carried over, so what needs it "
			      "is left out",
			      name, options);
		str_copy(c.name, sizeof(c.name), name);
		return VEC_PUSH(k->counters, k->ncounters, k->capcounters, c);
	}
	return add_counter(k, name, event);
}
