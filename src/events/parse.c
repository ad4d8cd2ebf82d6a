/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The grammar of events; vmmprof-events(7) has it for people. */
#include "events/parse.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "events/lookup.h"
#include "events/table_form.h"

#define EVENTS_MAX 256
#define TERMS_MAX 64

/* An event, until the modifiers of its group are known. */
struct draft {
	struct event ev;
	struct mods own, group;
	bool leader;
	bool labelled; /* by a name= term, which is shown as it is */
	const char *at;
};

struct parser {
	const struct rootfs *root;
	const struct event_table *table; /* NULL: not known yet, or there is none */
	struct event_table *loaded;	 /* owned */
	struct err no_table;		 /* why there is none */
	const char *spec;
	const char *p;	/* what comes next */
	const char *at; /* what is being looked at, for messages */
	struct draft *drafts;
	size_t n, cap;
	int groups;
	struct err *err;
};

void event_init(struct event *ev)
{
	*ev = (struct event) { .group = -1, .scale = 1.0 };
}

static bool accept(struct parser *ps, char c)
{
	if (*ps->p != c)
		return false;
	ps->p++;
	return true;
}

static int expected(struct parser *ps, const char *what)
{
	char found[] = "'x'";

	ps->at = ps->p;
	found[1] = *ps->p;
	return err_set(ps->err, EINVAL, "expected %s, found %s", what,
		       *ps->p ? found : "the end");
}

/* Copies what stands before one of @stops. */
static int take(struct parser *ps, const char *stops, char *buf, size_t size)
{
	size_t len = strcspn(ps->p, stops);

	ps->at = ps->p;
	if (len >= size)
		return err_set(ps->err, EINVAL, "%.40s...: longer than %zu characters",
			       ps->p, size - 1);
	memcpy(buf, ps->p, len);
	buf[len] = '\0';
	ps->p += len;
	return 0;
}

static int parse_term(struct parser *ps, const struct pmu *pmu, struct event *ev)
{
	char name[64], value[128];
	struct term term = { name, NULL };
	const char *at = ps->p;
	int ret = take(ps, "=,/", name, sizeof(name));

	if (!ret && !*name)
		return expected(ps, "a term");
	if (!ret && accept(ps, '=')) {
		bool quoted = accept(ps, '\'');

		term.value = value;
		ret = take(ps, quoted ? "'" : ",/", value, sizeof(value));
		if (!ret && quoted && !accept(ps, '\''))
			return expected(ps, "a closing '");
	}
	if (!ret && *ps->p != ',' && *ps->p != '/')
		return expected(ps, "',' or the closing '/'");
	ps->at = at;
	return ret ? ret : term_apply(ps->root, pmu, &term, ev, ps->err);
}

/* What stands between slashes; ps->p is at the first. */
static int parse_terms(struct parser *ps, const struct pmu *pmu, struct event *ev)
{
	int ret;

	ps->p++;
	if (accept(ps, '/'))
		return 0;
	for (int n = 0; n < TERMS_MAX; n++) {
		ret = parse_term(ps, pmu, ev);
		if (ret)
			return ret;
		if (accept(ps, '/'))
			return 0;
		ps->p++; /* the comma */
	}
	return err_set(ps->err, EINVAL, "more than %d terms", TERMS_MAX);
}

/* Names without a colon, in the order of precedence. */
static int resolve_word(struct parser *ps, const char *word, struct event *ev)
{
	int ret = names_resolve(word, ev, ps->err);

	if (ret == NOT_MINE)
		ret = monitor_resolve(word, ev);
	if (ret == NOT_MINE)
		ret = raw_resolve(word, ev, ps->err);
	if (ret == NOT_MINE)
		ret = pmu_bare_alias(ps->root, word, ev, ps->err);
	return ret;
}

/* The CPU's event table, read when a name first asks for it. 0 also if there is none. */
static int need_table(struct parser *ps)
{
	struct cpu_id cpu;
	int ret;

	if (ps->table || ps->no_table.code || !ps->root)
		return 0;
	ret = cpu_identify(ps->root, &cpu, &ps->no_table);
	if (!ret)
		ret = event_table_load(&cpu, &ps->loaded, &ps->no_table);
	ps->table = ps->loaded;
	return !ret || ret == -ENOENT ? 0 : err_set(ps->err, ret, "%s", ps->no_table.text);
}

/* A name of the CPU's event table: counted as it is, so without its role's scale. */
static int resolve_in_table(struct parser *ps, const char *word, struct event *ev)
{
	const struct table_event *row = NULL;
	int ret = need_table(ps);

	if (!ret && ps->table)
		row = event_table_find(ps->table, word);
	if (ret || !row)
		return ret ? ret : NOT_MINE;
	ret = table_event_make(row, ps->root, ev, ps->err);
	ev->scale = 1.0;
	*ev->name = '\0';
	return ret == -EOPNOTSUPP ? err_set(ps->err, ENOENT, "%s", ps->err->text) : ret;
}

/* Resolves a head that may end in modifiers, which are left in @mods. */
static int resolve(struct parser *ps, char *head, struct event *ev, char **mods)
{
	char *colon = strchr(head, ':');
	struct err why = { 0 };
	int ret;

	if (colon)
		*colon = '\0';
	ret = resolve_word(ps, head, ev);
	if (ret == NOT_MINE)
		ret = resolve_in_table(ps, head, ev);
	*mods = colon ? colon + 1 : NULL;
	if (ret != NOT_MINE)
		return ret;
	if (colon)
		*colon = ':';
	ret = tracepoint_resolve(ps->root, head, ev, mods, &why);
	if (ret == NOT_MINE)
		ret = pfm_resolve(ps->root, head, ev, mods, &why);
	if (ret == NOT_MINE)
		return unknown_event(ps->root, ps->table, head, &why, ps->err);
	return ret ? err_set(ps->err, why.code, "%s", why.text) : 0;
}

static enum event_kind kind_of(const struct pmu *pmu)
{
	if (pmu->core)
		return EVENT_HARDWARE;
	if (pmu->socket_wide)
		return EVENT_UNCORE;
	return pmu->type == PERF_TYPE_TRACEPOINT ? EVENT_TRACEPOINT : EVENT_SOFTWARE;
}

/* A PMU by its name, one of a socket also without its box's number. */
static int find_pmu(struct parser *ps, const char *name, struct pmu *pmu)
{
	int ret = pmu_find(ps->root, name, pmu, ps->err);

	if (ret == NOT_MINE)
		ret = pmu_find_box(ps->root, name, pmu, ps->err);
	if (ret != NOT_MINE || ps->root || !ps->table)
		return ret;
	*pmu = (struct pmu) { .type = PERF_TYPE_RAW, .own = table_pmu(ps->table, name) };
	str_copy(pmu->name, sizeof(pmu->name), name);
	pmu->core = !strcmp(name, "cpu");
	pmu->socket_wide = !pmu->core;
	return pmu->own ? 0 : NOT_MINE;
}

/* HEAD/TERMS/: a PMU, or an event that takes few terms. ps->p is at the slash. */
static int resolve_with_terms(struct parser *ps, char *head, struct event *ev)
{
	struct pmu pmu;
	char *mods = NULL;
	int ret = resolve_word(ps, head, ev);

	if (ret == NOT_MINE) {
		ret = find_pmu(ps, head, &pmu);
		if (!ret)
			ret = pmu_usable(&pmu, ps->err);
		if (!ret) {
			ev->type = pmu.type;
			ev->kind = kind_of(&pmu);
			if (pmu.socket_wide && !str_copy(ev->pmu, sizeof(ev->pmu), head))
				return err_set(ps->err, EINVAL,
					       "%s: longer than %zu characters", head,
					       sizeof(ev->pmu) - 1);
			return parse_terms(ps, &pmu, ev);
		}
	}
	if (ret == NOT_MINE)
		ret = resolve(ps, head, ev, &mods);
	if (!ret && mods)
		return err_set(ps->err, EINVAL, "%s: modifiers go behind the closing '/'",
			       head);
	return ret ? ret : parse_terms(ps, NULL, ev);
}

/* @whose: what the modifiers belong to, for messages. */
static int parse_mods(struct parser *ps, const char *whose, struct mods *mods)
{
	char text[32];
	int ret = take(ps, ",{} ", text, sizeof(text));

	if (!ret)
		ret = mods_parse(text, mods, ps->err);
	if (ret)
		err_prefix(ps->err, "%s", whose);
	return ret;
}

/* The name is @len characters of the spec at @start; room stays for modifiers. */
static int name_event(struct parser *ps, const char *start, size_t len, struct event *ev)
{
	const size_t most = sizeof(ev->name) - EVENT_MODIFIERS;

	if (len > most)
		return err_set(ps->err, EINVAL,
			       "%.40s...: more than %zu characters, too long for "
			       "a heading; add the term name=, as in cpu/...,name=x/",
			       start, most);
	memcpy(ev->name, start, len);
	return 0;
}

static int parse_event(struct parser *ps, struct draft *d)
{
	char head[sizeof(d->ev.name)], *mods = NULL;
	const char *start = ps->p, *end;
	bool slash;
	int ret = take(ps, "/,{} ", head, sizeof(head));

	*d = (struct draft) { .leader = true, .at = start };
	event_init(&d->ev);
	if (!ret && !*head)
		return expected(ps, "an event");
	if (ret)
		return ret;
	slash = *ps->p == '/';
	ret = slash ? resolve_with_terms(ps, head, &d->ev)
		    : resolve(ps, head, &d->ev, &mods);
	if (ret)
		return ret;
	end = mods ? start + (mods - 1 - head) : ps->p;
	d->labelled = d->ev.name[0];
	ret = d->labelled ? 0 : name_event(ps, start, end - start, &d->ev);
	ps->p = end;
	/* The colon may be left out behind a slash, as perf has it. */
	if (!ret && (accept(ps, ':') || (slash && *end && !strchr(",}", *end))))
		ret = parse_mods(ps, d->ev.name, &d->own);
	return ret;
}

static int add_draft(struct parser *ps, const struct draft *d)
{
	if (ps->n == EVENTS_MAX)
		return err_set(ps->err, EINVAL, "more than %d events in one list",
			       EVENTS_MAX);
	if (VEC_PUSH(ps->drafts, ps->n, ps->cap, *d))
		return err_set(ps->err, ENOMEM, "%s", err_name(ENOMEM));
	return 0;
}

/* role:NAME, which may be several events. ps->p is at NAME. */
static int add_role(struct parser *ps)
{
	struct draft d = { .leader = true, .at = ps->p };
	struct event_set events = { 0 };
	char name[64];
	enum role role;
	int ret = take(ps, ":/,{} ", name, sizeof(name));

	if (!ret)
		ret = role_named(name, &role, ps->err);
	if (!ret && accept(ps, ':'))
		ret = parse_mods(ps, name, &d.own);
	if (!ret)
		ret = need_table(ps);
	if (!ret)
		ret = role_events(role, ps->table, ps->root, &events, ps->err);
	if (ret == -EOPNOTSUPP || (ret == -ENOENT && !ps->no_table.code))
		ret = err_set(ps->err, ENOENT, "role:%s", ps->err->text);
	else if (ret == -ENOENT && events.n == 0 && ps->no_table.code)
		ret = err_set(ps->err, ENOENT, "role:%s: %s", name, ps->no_table.text);
	for (size_t i = 0; !ret && i < events.n; i++) {
		d.ev = events.ev[i];
		ret = add_draft(ps, &d);
	}
	event_set_free(&events);
	return ret;
}

static int add_event(struct parser *ps)
{
	struct draft d;
	int ret;

	if (str_starts(ps->p, "role:")) {
		ps->p += strlen("role:");
		return add_role(ps);
	}
	ret = parse_event(ps, &d);
	return ret ? ret : add_draft(ps, &d);
}

/* Events of one group are counted by one PMU's counters at the same time. */
static int check_group(struct parser *ps, size_t first)
{
	const struct event *leader = &ps->drafts[first].ev;

	for (size_t i = first; i < ps->n; i++) {
		const struct event *ev = &ps->drafts[i].ev;
		bool monitor = ev->kind == EVENT_MONITOR;

		if (monitor || strcmp(ev->pmu, leader->pmu))
			return err_set(ps->err, EINVAL,
				       "{...}: %s cannot be in a group with others: %s",
				       ev->name,
				       monitor ? "no counter tells it"
					       : "a group is counted by one PMU");
	}
	return 0;
}

static int parse_group(struct parser *ps)
{
	struct mods mods = { 0 };
	size_t first = ps->n;
	int ret;

	do {
		if (*ps->p == '{')
			return expected(ps, "an event, as groups hold no groups");
		ret = add_event(ps);
	} while (!ret && accept(ps, ','));
	if (!ret && !accept(ps, '}'))
		return expected(ps, "',' or the group's closing '}'");
	if (!ret && accept(ps, ':'))
		ret = parse_mods(ps, "{...}", &mods);
	for (size_t i = first; !ret && i < ps->n; i++) {
		ps->drafts[i].ev.group = ps->groups;
		ps->drafts[i].leader = i == first;
		ps->drafts[i].group = mods;
	}
	ps->groups++;
	return ret ? ret : check_group(ps, first);
}

static int parse_list(struct parser *ps)
{
	int ret;

	for (; *ps->p; ps->p++)
		if (*ps->p < ' ' || *ps->p > '~') {
			ps->at = ps->p;
			return err_set(ps->err, EINVAL,
				       "byte 0x%02x: an event is written in "
				       "printable ASCII",
				       (unsigned char)*ps->p);
		}
	ps->p = ps->spec;
	do
		ret = accept(ps, '{') ? parse_group(ps) : add_event(ps);
	while (!ret && accept(ps, ','));
	return !ret && *ps->p ? expected(ps, "',' or the end of the list") : ret;
}

static int finish(struct parser *ps, struct draft *d)
{
	char mods[EVENT_MODIFIERS];
	struct event *ev = &d->ev;
	int ret;

	ps->at = d->at;
	if ((ev->kind == EVENT_UNCORE || ev->kind == EVENT_MONITOR) &&
	    (ev->period || ev->freq))
		return err_set(
			ps->err, EINVAL,
			"%s: this is counted and cannot be sampled: leave period and "
			"freq out",
			ev->name);
	ret = mods_apply(&d->own, &d->group, d->leader, ev, ps->err);
	event_modifiers(ev, mods);
	if (!d->labelled)
		strcat(ev->name, mods);
	/* A thread may well stay in one mode: no word about :u alone. */
	ev->must_move = !ret && !ev->exclude_user && !ev->exclude_kernel &&
			(names_must_move(ev) || pmu_must_move(ps->root, ev));
	return ret;
}

/* Appends the drafts to @set, all or none. */
static int hand_over(struct parser *ps, struct event_set *set)
{
	struct event_set done = { 0 };
	size_t before = set->n;
	int ret = 0;

	for (size_t i = 0; i < ps->n && !ret; i++)
		ret = finish(ps, &ps->drafts[i]);
	for (size_t i = 0; i < ps->n && !ret; i++)
		ret = VEC_PUSH(done.ev, done.n, done.cap, ps->drafts[i].ev);
	if (!ret)
		ret = event_set_append(set, &done);
	if (ret == -ENOMEM)
		err_set(ps->err, ENOMEM, "%s", err_name(ENOMEM));
	if (ret)
		set->n = before;
	event_set_free(&done);
	return ret;
}

int events_parse_with(const char *spec, const struct rootfs *root,
		      const struct event_table *table, struct event_set *set,
		      struct err *err)
{
	struct err local = { 0 };
	struct parser ps = { .root = root,
			     .table = table,
			     .spec = spec,
			     .p = spec,
			     .at = spec,
			     .err = &local };
	int ret = parse_list(&ps);

	if (!ret)
		ret = hand_over(&ps, set);
	free(ps.drafts);
	event_table_free(ps.loaded);
	if (!ret || ret == -ENOMEM)
		return ret ? err_set(err, ret, "%s", local.text) : 0;
	if (ps.at == spec)
		return err_set(err, ret, "%s", local.text);
	return err_set(err, ret, "%s (at character %zu of the events)", local.text,
		       ps.at - spec + 1);
}

int events_parse(const char *spec, const struct rootfs *root, struct event_set *set,
		 struct err *err)
{
	return events_parse_with(spec, root, NULL, set, err);
}
