/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data.h"
#include "base/str.h"
#include "events/table_form.h"

void event_table_free(struct event_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->ntexts; i++)
		free(t->texts[i]);
	free(t->texts);
	free(t->rows);
	free(t);
}

int event_table_open(const char *what, struct event_table **out, struct err *err)
{
	const char *slash = strrchr(what, '/');
	struct data_text text;
	char name[256];
	int ret = data_load("events", what, &text, err);

	*out = NULL;
	if (ret)
		return ret;
	str_copy(name, sizeof(name), slash ? slash + 1 : what);
	name[strcspn(name, ".")] = '\0';
	ret = table_read(name, text.file, text.text, text.size, out, err);
	data_text_free(&text);
	return ret;
}

static bool is_for(const struct event_table *t, const struct cpu_id *cpu)
{
	for (size_t i = 0; i < t->ncpus; i++) {
		const struct table_cpu *c = &t->cpus[i];

		if (!strcmp(c->vendor, cpu->vendor) && c->family == cpu->family &&
		    cpu->model >= c->model[0] && cpu->model <= c->model[1] &&
		    cpu->stepping >= c->stepping[0] && cpu->stepping <= c->stepping[1])
			return true;
	}
	return false;
}

/* How far @cpu's model is from those of @t; UINT_MAX: another family. */
static unsigned distance(const struct event_table *t, const struct cpu_id *cpu)
{
	unsigned best = UINT32_MAX;

	for (size_t i = 0; i < t->ncpus; i++) {
		const struct table_cpu *c = &t->cpus[i];
		unsigned d = cpu->model < c->model[0]	? c->model[0] - cpu->model
			     : cpu->model > c->model[1] ? cpu->model - c->model[1]
							: 0;

		if (!strcmp(c->vendor, cpu->vendor) && c->family == cpu->family && d < best)
			best = d;
	}
	return best;
}

struct choice {
	const struct cpu_id *cpu;
	struct event_table *table;
	bool own;
	char nearest[32];
	unsigned distance;
	struct err *err;
};

/* A user's own table for a CPU comes before one that is compiled in. */
static int consider(void *ctx, const char *name, const char *path)
{
	struct choice *c = ctx;
	struct event_table *t;
	int ret = event_table_open(path ? path : name, &t, c->err);
	unsigned d;

	if (ret)
		return ret;
	str_copy(t->name, sizeof(t->name), name);
	d = distance(t, c->cpu);
	if (d < c->distance) {
		c->distance = d;
		str_copy(c->nearest, sizeof(c->nearest), name);
	}
	if (is_for(t, c->cpu) && (!c->table || (path && !c->own))) {
		event_table_free(c->table);
		c->table = t;
		c->own = path;
	} else {
		event_table_free(t);
	}
	return 0;
}

int event_table_load(const struct cpu_id *cpu, struct event_table **out, struct err *err)
{
	struct choice c = { .cpu = cpu, .distance = UINT32_MAX, .err = err };
	char nearest[96] = "";
	int ret = data_each("events", consider, &c);

	*out = ret ? NULL : c.table;
	if (ret)
		event_table_free(c.table);
	if (ret == -ENOMEM)
		return err_set(err, ret, "%s", err_name(ret));
	if (ret || c.table)
		return ret;
	if (*c.nearest)
		snprintf(nearest, sizeof(nearest),
			 "; the nearest is %s, which is not taken "
			 "for it",
			 c.nearest);
	return err_set(err, ENOENT,
		       "no event table knows this CPU, %s family %u model %#x stepping "
		       "%u%s: one can be put into ~/.config/vmmprof/events",
		       cpu->vendor, cpu->family, cpu->model, cpu->stepping, nearest);
}

const char *event_table_name(const struct event_table *t)
{
	return t->name;
}

const char *event_table_driver(const struct event_table *t, const char *pmu)
{
	const struct table_pmu *p = table_pmu(t, pmu);

	return p ? p->driver : NULL;
}

size_t event_table_size(const struct event_table *t)
{
	return t->n;
}

const struct table_event *event_table_row(const struct event_table *t, size_t i)
{
	return &t->rows[i];
}

const struct table_event *event_table_find(const struct event_table *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->rows[i].name, name))
			return &t->rows[i];
	return NULL;
}

size_t event_table_role(const struct event_table *t, enum role role,
			const struct table_event **rows, size_t max, const char **why)
{
	const struct table_role *r = &t->roles[role];
	size_t n = r->n < max ? r->n : max;

	for (size_t i = 0; i < n; i++)
		rows[i] = &t->rows[r->row[i]];
	*why = r->n ? NULL : r->no ? r->no : "this CPU's event table does not say";
	return n;
}

bool event_table_says_no(const struct event_table *t, enum role role)
{
	return t->roles[role].no;
}
