/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads an event table; what cannot be right is refused here, so that a table in memory
 * is one that keeps its own rules. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "base/str.h"
#include "base/vec.h"
#include "events/table_form.h"

struct reader {
	struct lines l;
	struct event_table *t;
	struct err *err;
	const char *source; /* of the row that is being read; NULL: not said */
};

const char *table_keep(struct event_table *t, const char *text)
{
	char *copy = strdup(text);

	if (copy && VEC_PUSH(t->texts, t->ntexts, t->captexts, copy)) {
		free(copy);
		return NULL;
	}
	return copy;
}

const struct table_pmu *table_pmu(const struct event_table *t, const char *name)
{
	for (size_t i = 0; i < t->npmus; i++)
		if (!strcmp(t->pmus[i].name, name))
			return &t->pmus[i];
	return NULL;
}

const struct table_field *table_field(const struct table_pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->nfields; i++)
		if (!strcmp(pmu->fields[i].name, name))
			return &pmu->fields[i];
	return NULL;
}

int table_term(const char **text, char *name, size_t size, uint64_t *value)
{
	size_t len = strcspn(*text, "="), end;
	char number[32];

	if (!**text)
		return 0;
	end = strcspn(*text, ",");
	if (len >= end || len >= size || end - len - 1 >= sizeof(number))
		return -EINVAL;
	memcpy(name, *text, len);
	name[len] = '\0';
	memcpy(number, *text + len + 1, end - len - 1);
	number[end - len - 1] = '\0';
	if (term_number(number, value))
		return -EINVAL;
	*text += end;
	if (!**text)
		return 1;
	(*text)++;
	return **text ? 1 : -EINVAL;
}

static int no_memory(struct reader *r)
{
	return err_set(r->err, ENOMEM, "%s: %s", r->l.file, err_name(ENOMEM));
}

static int keep(struct reader *r, const char *text, const char **out)
{
	*out = table_keep(r->t, text);
	return *out ? 0 : no_memory(r);
}

/* Word @i of a statement that has @n of them. */
static int words(struct reader *r, size_t n, const char *form)
{
	return r->l.n == n ? 0 : lines_bad(&r->l, r->err, "expected %s", form);
}

static int read_title(struct reader *r)
{
	int ret = words(r, 2, "title \"WORDS\"");

	return ret ? ret : keep(r, r->l.word[1], &r->t->title);
}

/* "0x1a", "0x10-0x1f" */
static int read_range(struct reader *r, const char *word, unsigned range[2])
{
	char from[16], to[16];
	uint64_t a, b;
	size_t len = strcspn(word, "-");

	if (len < sizeof(from) && strlen(word) - len < sizeof(to)) {
		memcpy(from, word, len);
		from[len] = '\0';
		str_copy(to, sizeof(to), word[len] ? word + len + 1 : from);
		if (!term_number(from, &a) && !term_number(to, &b) && a <= b &&
		    b <= UINT16_MAX) {
			range[0] = (unsigned)a;
			range[1] = (unsigned)b;
			return 0;
		}
	}
	return lines_bad(&r->l, r->err,
			 "\"%s\" is not a number or a range of them, as "
			 "0x1a or 0x10-0x1f",
			 word);
}

/* cpu VENDOR FAMILY MODEL... [stepping RANGE] */
static int read_cpu(struct reader *r)
{
	struct table_cpu cpu = { .stepping = { 0, UINT16_MAX } };
	size_t n = r->l.n;
	unsigned family[2];
	int ret = 0;

	if (n > 5 && !strcmp(r->l.word[n - 2], "stepping")) {
		ret = read_range(r, r->l.word[n - 1], cpu.stepping);
		n -= 2;
	}
	if (!ret && n < 4)
		return lines_bad(&r->l, r->err,
				 "expected cpu VENDOR FAMILY MODEL... "
				 "[stepping FROM-TO]");
	if (!ret && !str_copy(cpu.vendor, sizeof(cpu.vendor), r->l.word[1]))
		return lines_bad(&r->l, r->err, "vendor \"%s\" is longer than %zu",
				 r->l.word[1], sizeof(cpu.vendor) - 1);
	ret = ret ? ret : read_range(r, r->l.word[2], family);
	cpu.family = ret ? 0 : family[0];
	for (size_t i = 3; !ret && i < n; i++) {
		if (r->t->ncpus == TABLE_CPUS)
			return lines_bad(&r->l, r->err, "more than %d CPUs", TABLE_CPUS);
		ret = read_range(r, r->l.word[i], cpu.model);
		if (!ret)
			r->t->cpus[r->t->ncpus++] = cpu;
	}
	return ret;
}

static int read_source(struct reader *r)
{
	struct table_source *s = &r->t->sources[r->t->nsources];
	int ret = words(r, 3, "source NAME \"WHERE IT IS\"");

	if (ret)
		return ret;
	if (r->t->nsources == TABLE_SOURCES)
		return lines_bad(&r->l, r->err, "more than %d sources", TABLE_SOURCES);
	for (size_t i = 0; i < r->t->nsources; i++)
		if (!strcmp(r->t->sources[i].id, r->l.word[1]))
			return lines_bad(&r->l, r->err, "a second source %s", r->l.word[1]);
	ret = keep(r, r->l.word[1], &s->id);
	ret = ret ? ret : keep(r, r->l.word[2], &s->what);
	r->t->nsources += !ret;
	return ret;
}

static int find_source(struct reader *r, const char *id, const char **out)
{
	for (size_t i = 0; i < r->t->nsources; i++)
		if (!strcmp(r->t->sources[i].id, id)) {
			*out = r->t->sources[i].id;
			return 0;
		}
	return lines_bad(&r->l, r->err, "source %s is not among those named above", id);
}

/* "0-3,32": which counters, bit by bit. */
static int read_counters(struct reader *r, const char *word, uint64_t *mask)
{
	int *v = NULL, ret = 0;
	size_t n = 0;

	*mask = 0;
	if (cpulist_parse(word, &v, &n) || !n)
		ret = -EINVAL;
	for (size_t i = 0; !ret && i < n; i++) {
		if (v[i] >= TABLE_COUNTERS)
			ret = -EINVAL;
		else
			*mask |= UINT64_C(1) << v[i];
	}
	free(v);
	return ret ? lines_bad(&r->l, r->err,
			       "\"%s\" is not a list of counters, as 0-3 "
			       "(fixed ones from 32 on)",
			       word)
		   : 0;
}

/* "0.5", "1/9" */
static int read_scale(struct reader *r, const char *word, double *scale)
{
	char *end;
	double over;

	*scale = strtod(word, &end);
	if (end != word && *end == '/') {
		const char *second = end + 1;

		over = strtod(second, &end);
		*scale /= end == second ? NAN : over;
	}
	if (end == word || *end || !isfinite(*scale) || *scale <= 0)
		return lines_bad(&r->l, r->err, "\"%s\" is not a scale, as 64, 0.5 or 1/9",
				 word);
	return 0;
}

/* pmu NAME [counters LIST] [fixed LIST] [from SOURCE] */
static int read_pmu(struct reader *r)
{
	struct table_pmu *p = &r->t->pmus[r->t->npmus];
	int ret;

	if (r->t->npmus == TABLE_PMUS)
		return lines_bad(&r->l, r->err, "more than %d PMUs", TABLE_PMUS);
	if (r->l.n < 2 || r->l.n % 2 || !name_is_file(r->l.word[1]) ||
	    strlen(r->l.word[1]) >= sizeof(((struct event *)0)->pmu))
		return lines_bad(&r->l, r->err,
				 "expected pmu NAME [counters LIST] [fixed LIST] "
				 "[from SOURCE]");
	if (table_pmu(r->t, r->l.word[1]))
		return lines_bad(&r->l, r->err, "a second PMU %s", r->l.word[1]);
	*p = (struct table_pmu) { 0 };
	ret = keep(r, r->l.word[1], &p->name);
	for (size_t i = 2; !ret && i < r->l.n; i += 2) {
		if (!strcmp(r->l.word[i], "counters"))
			ret = read_counters(r, r->l.word[i + 1], &p->counters);
		else if (!strcmp(r->l.word[i], "fixed"))
			ret = read_counters(r, r->l.word[i + 1], &p->fixed);
		else if (!strcmp(r->l.word[i], "from"))
			ret = find_source(r, r->l.word[i + 1], &p->source);
		else
			ret = lines_bad(&r->l, r->err,
					"\"%s\": expected counters, fixed or from",
					r->l.word[i]);
	}
	r->t->npmus += !ret;
	return ret;
}

/* The PMU that the statement belongs to; NULL, with words: there is none. */
static struct table_pmu *current(struct reader *r)
{
	if (r->t->npmus)
		return &r->t->pmus[r->t->npmus - 1];
	lines_bad(&r->l, r->err, "%s: expected a pmu statement above it", r->l.word[0]);
	return NULL;
}

static int read_driver(struct reader *r)
{
	struct table_pmu *p = current(r);

	if (!p)
		return -EINVAL;
	return words(r, 2, "driver \"WHICH KERNELS HAVE IT\"")
		       ? -EINVAL
		       : keep(r, r->l.word[1], &p->driver);
}

/* format FIELD=BITS... */
static int read_format(struct reader *r)
{
	struct table_pmu *p = current(r);
	int ret = p ? 0 : -EINVAL;

	for (size_t i = 1; !ret && i < r->l.n; i++) {
		struct table_field *f = &p->fields[p->nfields];
		char *equals = strchr(r->l.word[i], '=');

		if (equals)
			*equals = '\0';
		if (!equals || !name_is_file(r->l.word[i]) ||
		    !pmu_bits(equals + 1, &f->bits))
			return lines_bad(&r->l, r->err,
					 "\"%s\": expected FIELD=BITS, as "
					 "umask=config:8-15",
					 r->l.word[i]);
		if (p->nfields == TABLE_FIELDS)
			return lines_bad(&r->l, r->err, "more than %d fields",
					 TABLE_FIELDS);
		if (table_field(p, r->l.word[i]))
			return lines_bad(&r->l, r->err, "a second field %s", r->l.word[i]);
		ret = keep(r, r->l.word[i], &f->name);
		p->nfields += !ret;
	}
	return ret;
}

/* The encoding must be one that the PMU's own fields can hold. */
static int check_terms(struct reader *r, const struct table_pmu *pmu, const char *terms)
{
	uint64_t seen = 0, value;
	struct event ev;
	char name[64];
	int ret;

	event_init(&ev);
	for (const char *at = terms;
	     (ret = table_term(&at, name, sizeof(name), &value)) > 0;) {
		const struct table_field *f = table_field(pmu, name);

		if (!f)
			return lines_bad(&r->l, r->err,
					 "PMU %s has no field %s: its format "
					 "is said above",
					 pmu->name, name);
		if (seen & (UINT64_C(1) << (f - pmu->fields)))
			return lines_bad(&r->l, r->err, "%s twice", name);
		seen |= UINT64_C(1) << (f - pmu->fields);
		if (!pmu_bits_put(&f->bits, value, &ev))
			return lines_bad(&r->l, r->err,
					 "%s=%#llx: the field is %d bits wide", name,
					 (unsigned long long)value,
					 __builtin_popcountll(f->bits.mask));
	}
	if (ret || !seen)
		return lines_bad(&r->l, r->err, "\"%s\": expected FIELD=NUMBER,...", terms);
	return 0;
}

static int read_attribute(struct reader *r, size_t i, struct table_event *ev)
{
	const char *key = r->l.word[i], *value = r->l.word[i + 1];
	uint64_t group;
	int ret;

	if (!strcmp(key, "counters"))
		return read_counters(r, value, &ev->counters);
	if (!strcmp(key, "scale"))
		return read_scale(r, value, &ev->scale);
	if (!strcmp(key, "from"))
		return find_source(r, value, &r->source);
	if (!strcmp(key, "boxes") && !strcmp(value, "mean"))
		return ev->mean = true, 0;
	if (strcmp(key, "group"))
		return lines_bad(&r->l, r->err,
				 "\"%s\": expected counters, group, scale, boxes mean, "
				 "from, or the "
				 "event's meaning in quotes at the end",
				 key);
	ret = lines_u64(&r->l, i + 1, "a number of a group", 0, 999, &group, r->err);
	ev->group = ret ? -1 : (int)group;
	return ret;
}

/* event NAME TERMS [counters LIST] [group N] [scale X] [boxes mean] [from SOURCE]
 * ["WHAT"] */
static int read_event(struct reader *r)
{
	struct table_event ev = { .scale = 1.0, .group = -1, .what = "" };
	const struct table_pmu *pmu = current(r);
	size_t i = 3;
	int ret;

	if (!pmu)
		return -EINVAL;
	if (r->l.n < 3)
		return lines_bad(&r->l, r->err, "expected event NAME TERMS ...");
	if (strlen(r->l.word[1]) >= sizeof(((struct event *)0)->name) - EVENT_MODIFIERS ||
	    strpbrk(r->l.word[1], "/,{}:= "))
		return lines_bad(&r->l, r->err,
				 "\"%s\" cannot be an event's name: too long, "
				 "or one of /,{}:= in it",
				 r->l.word[1]);
	if (event_table_find(r->t, r->l.word[1]))
		return lines_bad(&r->l, r->err, "a second event %s", r->l.word[1]);
	if (r->t->n == TABLE_EVENTS)
		return lines_bad(&r->l, r->err, "more than %d events", TABLE_EVENTS);
	ev.pmu = pmu->name;
	ev.of = pmu;
	ev.counters = pmu->counters;
	r->source = pmu->source;
	ret = keep(r, r->l.word[1], &ev.name);
	ret = ret ? ret : keep(r, r->l.word[2], &ev.terms);
	ret = ret ? ret : check_terms(r, pmu, ev.terms);
	for (; !ret && i + 1 < r->l.n; i += 2)
		ret = read_attribute(r, i, &ev);
	if (!ret && i < r->l.n)
		ret = keep(r, r->l.word[i], &ev.what);
	if (!ret && !r->source)
		return lines_bad(&r->l, r->err,
				 "where is this known from? expected from "
				 "SOURCE here or at its PMU");
	if (!ret && pmu->counters && ev.counters & ~(pmu->counters | pmu->fixed))
		return lines_bad(&r->l, r->err, "counters that PMU %s does not have",
				 pmu->name);
	if (!ret && VEC_PUSH(r->t->rows, r->t->n, r->t->cap, ev))
		return no_memory(r);
	return ret;
}

static int find_role(struct reader *r, struct table_role **out)
{
	enum role role;

	if (r->l.n < 2 || !role_find(r->l.word[1], &role))
		return lines_bad(&r->l, r->err, "\"%s\" is no role",
				 r->l.n < 2 ? "" : r->l.word[1]);
	*out = &r->t->roles[role];
	if ((*out)->n || (*out)->no)
		return lines_bad(&r->l, r->err, "a second line for %s", r->l.word[1]);
	return 0;
}

/* role NAME = ROW [+ ROW]... */
static int read_role(struct reader *r)
{
	struct table_role *role = NULL;
	int ret = find_role(r, &role);

	if (ret)
		return ret;
	for (size_t i = 2; i < r->l.n || i % 2; i += 2) {
		const struct table_event *ev;

		if (i + 1 >= r->l.n || strcmp(r->l.word[i], i == 2 ? "=" : "+"))
			break;
		ev = event_table_find(r->t, r->l.word[i + 1]);
		if (!ev)
			return lines_bad(&r->l, r->err, "no event %s above",
					 r->l.word[i + 1]);
		if (role->n == ROLE_EVENTS)
			return lines_bad(&r->l, r->err, "more than %d events", ROLE_EVENTS);
		role->row[role->n++] = (size_t)(ev - r->t->rows);
	}
	if (!role->n || r->l.n != 2 + 2 * role->n)
		return lines_bad(&r->l, r->err, "expected role NAME = EVENT [+ EVENT]...");
	return 0;
}

static int read_no(struct reader *r)
{
	struct table_role *role = NULL;
	int ret = words(r, 3, "no ROLE \"WHY\"");

	ret = ret ? ret : find_role(r, &role);
	return ret ? ret : keep(r, r->l.word[2], &role->no);
}

static const struct {
	const char *word;
	int (*read)(struct reader *r);
} statements[] = {
	{ "title", read_title }, { "cpu", read_cpu },	    { "source", read_source },
	{ "pmu", read_pmu },	 { "driver", read_driver }, { "format", read_format },
	{ "event", read_event }, { "role", read_role },	    { "no", read_no },
};

static int read_statement(struct reader *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(statements); i++)
		if (!strcmp(r->l.word[0], statements[i].word))
			return statements[i].read(r);
	return lines_bad(&r->l, r->err,
			 "\"%s\": expected title, cpu, source, pmu, driver, "
			 "format, event, role or no",
			 r->l.word[0]);
}

int table_read(const char *name, const char *file, const char *text, size_t size,
	       struct event_table **out, struct err *err)
{
	struct reader r = { .t = calloc(1, sizeof(*r.t)), .err = err };
	int ret;

	*out = NULL;
	lines_begin(&r.l, file, text, size, 0);
	if (!r.t)
		return no_memory(&r);
	str_copy(r.t->name, sizeof(r.t->name), name);
	while ((ret = lines_next(&r.l, err)) > 0) {
		ret = read_statement(&r);
		if (ret)
			break;
	}
	if (!ret && !r.t->ncpus)
		ret = lines_bad(&r.l, err, "no cpu statement: whose events are these?");
	if (!ret)
		*out = r.t;
	else
		event_table_free(r.t);
	return ret;
}
