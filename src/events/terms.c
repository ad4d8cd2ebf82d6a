/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands between slashes: cpu/event=0x3c,umask=1,period=100000,name=x/. */
#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "events/lookup.h"

#define REMEDY_NUMBER "expected a number, decimal or 0x..."

int term_number(const char *text, uint64_t *out)
{
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return isxdigit((unsigned char)text[2]) ? str_u64(text + 2, 16, out)
							: -EINVAL;
	return isdigit((unsigned char)*text) ? str_u64(text, 10, out) : -EINVAL;
}

static int set_name(const struct term *term, struct event *ev, struct err *err)
{
	if (!*term->value)
		return err_set(err, EINVAL, "name=: expected a name");
	if (!str_copy(ev->name, sizeof(ev->name), term->value))
		return err_set(err, EINVAL, "name=%.40s...: longer than %zu characters",
			       term->value, sizeof(ev->name) - 1);
	return 0;
}

static int set_number(const struct term *term, uint64_t *out, struct err *err)
{
	int ret = term_number(term->value, out);

	if (ret == -ERANGE)
		return err_set(err, EINVAL, "%s=%.40s: more than 64 bits", term->name,
			       term->value);
	if (ret)
		return err_set(err, EINVAL, "%s=%.40s: " REMEDY_NUMBER, term->name,
			       term->value);
	return 0;
}

static int set_rate(const struct term *term, uint64_t *out, uint64_t other, struct err *err)
{
	if (str_count(term->value, out) && term_number(term->value, out))
		return err_set(err, EINVAL,
			       "%s=%.40s: expected a number, such as 100000, 100k "
			       "or 0x100",
			       term->name, term->value);
	/* The kernel takes the highest bit for "no sampling". */
	if (!*out || *out >> 63)
		return err_set(err, EINVAL, "%s=%.40s: expected 1 or more, below 2^63",
			       term->name, term->value);
	if (other)
		return err_set(err, EINVAL,
			       "%s=%.40s: an event is sampled by period or by "
			       "freq, not by both",
			       term->name, term->value);
	return 0;
}

static int set_period(const struct term *term, struct event *ev, struct err *err)
{
	return set_rate(term, &ev->period, ev->freq, err);
}

static int set_freq(const struct term *term, struct event *ev, struct err *err)
{
	return set_rate(term, &ev->freq, ev->period, err);
}

static int set_config(const struct term *term, struct event *ev, struct err *err)
{
	return set_number(term, &ev->config, err);
}

static int set_config1(const struct term *term, struct event *ev, struct err *err)
{
	return set_number(term, &ev->config1, err);
}

static int set_config2(const struct term *term, struct event *ev, struct err *err)
{
	return set_number(term, &ev->config2, err);
}

static const struct {
	const char *name;
	bool encoding; /* part of the encoding: for PMU/…/ only */
	int (*set)(const struct term *term, struct event *ev, struct err *err);
} general[] = {
	{ "name", false, set_name },	  { "period", false, set_period },
	{ "freq", false, set_freq },	  { "config", true, set_config },
	{ "config1", true, set_config1 }, { "config2", true, set_config2 },
};

/* Terms of perf that change how it records or prints, not what is counted. */
static const char *const refused[] = {
	"config3",	 "time",       "call-graph", "stack-size",	"max-stack",
	"inherit",	 "no-inherit", "overwrite",  "no-overwrite",	"branch_type",
	"driver-config", "percore",    "aux-output", "aux-sample-size", "nr",
	"metric-id",
};

int raw_resolve(const char *name, struct event *ev, struct err *err)
{
	size_t digits = 0;

	if (*name != 'r' || !name[1])
		return NOT_MINE;
	while (isxdigit((unsigned char)name[1 + digits]))
		digits++;
	if (name[1 + digits])
		return NOT_MINE;
	if (str_u64(name + 1, 16, &ev->config))
		return err_set(err, EINVAL,
			       "%.40s: a raw event is r and at most 16 hexadecimal "
			       "digits, here are %zu",
			       name, digits);
	ev->type = PERF_TYPE_RAW;
	ev->kind = EVENT_HARDWARE;
	return 0;
}

/*
 * cpu_atom/cycles/: on a machine with several core PMUs the kernel takes the
 * PMU's type in the upper half of a generic event's config
 * (PERF_PMU_TYPE_SHIFT in linux/perf_event.h).
 */
static int generic_of_pmu(const struct rootfs *root, const struct pmu *pmu,
			  const char *name, struct event *ev, struct err *err)
{
	struct event known = *ev;
	struct pmu *pmus;
	size_t n;
	int ret;

	if (!pmu->core)
		return NOT_MINE;
	ret = names_resolve(name, &known, err);
	if (ret)
		return ret;
	if (known.kind != EVENT_HARDWARE)
		return NOT_MINE;
	if (ev->config || ev->config1 || ev->config2)
		return err_set(err, EINVAL,
			       "%s: perf's own names stand alone between slashes, "
			       "without %s's terms",
			       name, pmu->name);
	ret = pmu_list(root, &pmus, &n);
	if (ret)
		return err_set(err, ret, "%s: %s", name, err_name(ret));
	ev->type = known.type;
	ev->config = known.config;
	if (n > 1 && pmus[1].core)
		ev->config |= (uint64_t)pmu->type << PERF_PMU_TYPE_SHIFT;
	free(pmus);
	return 0;
}

/* A word without "=": an alias, a one-bit field, a raw encoding, a generic name. */
static int apply_word(const struct rootfs *root, const struct pmu *pmu, const char *word,
		      struct event *ev, struct err *err)
{
	int ret = pmu_alias(root, pmu, word, ev, err);

	if (ret == NOT_MINE)
		ret = pmu_field(root, pmu, word, 1, ev, err);
	if (ret == NOT_MINE)
		ret = generic_of_pmu(root, pmu, word, ev, err);
	if (ret != NOT_MINE)
		return ret;
	ret = raw_resolve(word, ev, err);
	if (!ret)
		ev->type = pmu->type;
	return ret;
}

static int apply_value(const struct rootfs *root, const struct pmu *pmu,
		       const struct term *term, struct event *ev, struct err *err)
{
	uint64_t value = 0;
	int bad = set_number(term, &value, NULL);
	/* That there is no such field is worth saying first. */
	int ret = pmu_field(root, pmu, term->name, bad ? 0 : value, ev, err);

	return !ret && bad ? set_number(term, &value, err) : ret;
}

static int offer(void *ctx, const char *name)
{
	nearest_offer(ctx, name);
	return 0;
}

static int unknown_term(const struct rootfs *root, const struct pmu *pmu,
			const struct term *term, struct err *err)
{
	struct nearest near;
	char hint[96];

	nearest_init(&near, term->name);
	for (size_t i = 0; i < ARRAY_SIZE(general); i++)
		nearest_offer(&near, general[i].name);
	pmu_each(root, pmu, "format", offer, &near);
	if (!term->value)
		pmu_each(root, pmu, "events", offer, &near);
	nearest_say(&near, hint, sizeof(hint));
	return err_set(err, ENOENT, "%.60s: PMU %s has no such %s%s%s", term->name,
		       pmu->name, term->value ? "term" : "event or term", hint,
		       *hint ? ""
			     : "; /sys/bus/event_source/devices has its format and events");
}

int term_apply(const struct rootfs *root, const struct pmu *pmu, const struct term *term,
	       struct event *ev, struct err *err)
{
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(general); i++) {
		if (strcmp(term->name, general[i].name) || (general[i].encoding && !pmu))
			continue;
		if (general[i].encoding && ev->type != pmu->type)
			break;
		if (!term->value)
			return err_set(err, EINVAL, "%s: this term wants a value, %s=...",
				       term->name, term->name);
		return general[i].set(term, ev, err);
	}
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		if (!strcmp(term->name, refused[i]))
			return err_set(err, EINVAL,
				       "%s: this term of perf is not supported; "
				       "leave it out",
				       term->name);
	if (!pmu)
		return err_set(err, EINVAL,
			       "%.60s: only name=, period= and freq= go with this "
			       "event; other terms want a PMU, as in cpu/event=0x3c/",
			       term->name);
	if (ev->type != pmu->type)
		return err_set(
			err, EINVAL,
			"%.60s: perf's own names stand alone between slashes, with no "
			"terms but name=, period= and freq=",
			term->name);
	ret = term->value ? apply_value(root, pmu, term, ev, err)
			  : apply_word(root, pmu, term->name, ev, err);
	return ret == NOT_MINE ? unknown_term(root, pmu, term, err) : ret;
}
