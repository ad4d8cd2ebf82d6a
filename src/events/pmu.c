/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PMUs as sysfs shows them: Documentation/ABI/testing/sysfs-bus-event_source-devices-*
 * of the kernel.
 */
#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "base/str.h"
#include "base/vec.h"
#include "events/lookup.h"
#include "events/table_form.h"

#define DEVICES "sys/bus/event_source/devices"
#define PMUS_MAX 1024
#define ALIASES_MAX 8192

/* PMUs, by the start of their names, whose events are nothing to count. */
static const struct {
	const char *prefix, *why;
} not_counting[] = {
	{ "breakpoint",
	  "a breakpoint needs an address, which the event grammar here lacks" },
	{ "kprobe", "a probe needs a symbol; make a probe with perf probe and name its "
		    "tracepoint, probes:NAME" },
	{ "uprobe", "a probe needs a file; make a probe with perf probe and name its "
		    "tracepoint" },
	{ "intel_pt", "it writes a trace of the program and counts nothing" },
	{ "intel_bts", "it writes a trace of the program and counts nothing" },
	{ "arm_spe", "it writes a trace of the program and counts nothing" },
	{ "cs_etm", "it writes a trace of the program and counts nothing" },
};

bool name_is_file(const char *name)
{
	size_t n = 0;

	if (!*name || *name == '.')
		return false;
	for (; name[n]; n++)
		if (n >= 63 ||
		    (!isalnum((unsigned char)name[n]) && !strchr("_.-@+", name[n])))
			return false;
	return true;
}

/* x86, s390 and hybrid x86 by name, Arm by the CPUs it is bound to: pmu.c of perf. */
static bool is_core(const struct rootfs *root, const char *name)
{
	static const char *const names[] = { "cpu", "cpu_core", "cpu_atom", "cpum_cf" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return str_starts(name, "armv") || rootfs_exists(root, DEVICES "/%s/cpus", name);
}

int pmu_find(const struct rootfs *root, const char *name, struct pmu *pmu, struct err *err)
{
	int64_t type = -1;
	int ret;

	if (!root || !name_is_file(name))
		return NOT_MINE;
	*pmu = (struct pmu) { 0 };
	ret = rootfs_read_i64(root, &type, DEVICES "/%s/type", name);
	if (ret == -ENOENT || ret == -ENOTDIR)
		return NOT_MINE;
	if (ret || type < 0 || type > UINT32_MAX)
		return err_set(err, ENOENT,
			       "%s: cannot read the type of this PMU "
			       "from /" DEVICES "/%s/type: %s",
			       name, name, err_name(ret ? ret : -EINVAL));
	str_copy(pmu->name, sizeof(pmu->name), name);
	pmu->type = type;
	pmu->core = is_core(root, name);
	pmu->socket_wide = !pmu->core && rootfs_exists(root, DEVICES "/%s/cpumask", name);
	return 0;
}

static int by_core_and_name(const void *a, const void *b)
{
	const struct pmu *x = a, *y = b;

	/* cpu_core before cpu_atom: the kernel, too, takes it for the generic events. */
	if (x->core != y->core)
		return y->core - x->core;
	if (!strcmp(x->name, "cpu_core") || !strcmp(y->name, "cpu_core"))
		return strcmp(x->name, "cpu_core") ? 1 : -1;
	return strcmp(x->name, y->name);
}

int pmu_list(const struct rootfs *root, struct pmu **out, size_t *n)
{
	DIR *dir = root ? rootfs_opendir(root, DEVICES) : NULL;
	struct dirent *entry;
	struct pmu pmu;
	size_t cap = 0;
	int ret = 0;

	*out = NULL;
	*n = 0;
	if (!dir)
		return 0;
	while (!ret && *n < PMUS_MAX && (entry = readdir(dir)))
		if (!pmu_find(root, entry->d_name, &pmu, NULL))
			ret = VEC_PUSH(*out, *n, cap, pmu);
	closedir(dir);
	if (ret) {
		free(*out);
		*out = NULL;
		*n = 0;
		return ret;
	}
	if (*n)
		qsort(*out, *n, sizeof(**out), by_core_and_name);
	return 0;
}

bool pmu_is_box(const char *name, const char *pmu)
{
	size_t len = strlen(pmu);

	if (strncmp(name, pmu, len))
		return false;
	return !name[len] || (name[len] == '_' && name[len + 1] &&
			      !name[len + 1 + strspn(name + len + 1, "0123456789")]);
}

int pmu_find_box(const struct rootfs *root, const char *name, struct pmu *pmu,
		 struct err *err)
{
	struct pmu *pmus;
	size_t n;
	int ret = pmu_list(root, &pmus, &n);

	if (ret)
		return err_set(err, ret, "%s: %s", name, err_name(ret));
	ret = NOT_MINE;
	for (size_t i = 0; i < n && ret == NOT_MINE; i++)
		if (pmus[i].socket_wide && pmu_is_box(pmus[i].name, name)) {
			*pmu = pmus[i];
			ret = 0;
		}
	free(pmus);
	return ret;
}

int pmu_usable(const struct pmu *pmu, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(not_counting); i++)
		if (str_starts(pmu->name, not_counting[i].prefix))
			return err_set(err, EINVAL, "PMU %s: %s", pmu->name,
				       not_counting[i].why);
	return 0;
}

bool pmu_bits(const char *text, struct pmu_bits *bits)
{
	const char *colon = strchr(text, ':');
	int *numbers = NULL;
	size_t n = 0;
	bool ok = false;

	*bits = (struct pmu_bits) { 0 };
	if (!colon || !str_starts(text, "config"))
		return false;
	text += strlen("config");
	if (text < colon)
		bits->config = *text++ - '0';
	if (text != colon || bits->config > 2 || cpulist_parse(colon + 1, &numbers, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		ok = numbers[i] < 64;
		if (!ok)
			break;
		bits->mask |= UINT64_C(1) << numbers[i];
	}
	free(numbers);
	return ok;
}

/* The lowest bits of @value to the places of @mask, lowest first. */
static uint64_t scatter(uint64_t value, uint64_t mask)
{
	uint64_t out = 0;

	for (; mask; mask &= mask - 1, value >>= 1)
		if (value & 1)
			out |= mask & -mask;
	return out;
}

bool pmu_bits_put(const struct pmu_bits *bits, uint64_t value, struct event *ev)
{
	uint64_t *words[] = { &ev->config, &ev->config1, &ev->config2 };
	int width = __builtin_popcountll(bits->mask);

	if (width < 64 && value >> width)
		return false;
	*words[bits->config] &= ~bits->mask;
	*words[bits->config] |= scatter(value, bits->mask);
	return true;
}

static int too_wide(const char *pmu, const char *name, const char *text,
		    const struct pmu_bits *bits, uint64_t value, struct err *err)
{
	int width = __builtin_popcountll(bits->mask);

	return err_set(err, EINVAL,
		       "%s=%#llx: this field of PMU %s is %d bit%s wide "
		       "(%s), so at most %#llx",
		       name, (unsigned long long)value, pmu, width, width > 1 ? "s" : "",
		       text, (1ULL << width) - 1);
}

/* A field of a PMU that no kernel shows. */
static int own_field(const struct table_pmu *pmu, const char *name, uint64_t value,
		     struct event *ev, struct err *err)
{
	const struct table_field *f = table_field(pmu, name);

	if (!f)
		return NOT_MINE;
	return pmu_bits_put(&f->bits, value, ev)
		       ? 0
		       : too_wide(pmu->name, name, "by its event table", &f->bits, value,
				  err);
}

int pmu_field(const struct rootfs *root, const struct pmu *pmu, const char *name,
	      uint64_t value, struct event *ev, struct err *err)
{
	struct pmu_bits bits;
	char text[128];
	ssize_t len;

	if (!name_is_file(name))
		return NOT_MINE;
	if (pmu->own)
		return own_field(pmu->own, name, value, ev, err);
	len = rootfs_read(root, text, sizeof(text), DEVICES "/%s/format/%s", pmu->name,
			  name);
	if (len == -ENOENT || len == -ENOTDIR)
		return NOT_MINE;
	if (len < 0)
		return err_set(err, ENOENT, "%s: cannot read /" DEVICES "/%s/format/%s: %s",
			       name, pmu->name, name, err_name(len));
	str_clean(text);
	if (!pmu_bits(text, &bits))
		return err_set(err, EINVAL,
			       "%s: PMU %s puts this field at \"%s\", expected "
			       "bits of config, config1 or config2",
			       name, pmu->name, text);
	return pmu_bits_put(&bits, value, ev)
		       ? 0
		       : too_wide(pmu->name, name, text, &bits, value, err);
}

/* An alias's .scale or .unit; most have none. */
static void read_scale(const struct rootfs *root, const struct pmu *pmu, const char *alias,
		       struct event *ev)
{
	char text[64], *end;
	double scale;

	if (rootfs_read(root, text, sizeof(text), DEVICES "/%s/events/%s.scale", pmu->name,
			alias) > 0) {
		scale = strtod(text, &end);
		if (end != text && !*end && isfinite(scale) && scale > 0)
			ev->scale = scale;
	}
	if (rootfs_read(root, text, sizeof(text), DEVICES "/%s/events/%s.unit", pmu->name,
			alias) > 0) {
		str_clean(text);
		str_copy(ev->unit, sizeof(ev->unit), text);
	}
}

static int alias_term(const struct rootfs *root, const struct pmu *pmu, const char *alias,
		      char *text, struct event *ev, struct err *err)
{
	char *equals = strchr(text, '=');
	struct term term = { text, equals ? equals + 1 : NULL };
	uint64_t value;
	int ret;

	if (equals)
		*equals = '\0';
	if (term.value && !strcmp(term.value, "?"))
		return err_set(err, EINVAL,
			       "%s: this event wants a value for its term %s; give "
			       "the event by its terms, %s/.../, as "
			       "/" DEVICES "/%s/events/%s spells them",
			       alias, term.name, pmu->name, pmu->name, alias);
	/* A field, or config=…; never an alias again, so this ends. */
	ret = term.value ? term_number(term.value, &value) : 0;
	if (ret)
		return err_set(err, EINVAL,
			       "%s: /" DEVICES "/%s/events/%s holds no number for "
			       "%s",
			       alias, pmu->name, alias, term.name);
	ret = pmu_field(root, pmu, term.name, term.value ? value : 1, ev, err);
	if (ret != NOT_MINE)
		return ret;
	if (!term.value)
		return err_set(err, EINVAL,
			       "%s: /" DEVICES "/%s/events/%s names a field %s "
			       "that is not under format/",
			       alias, pmu->name, alias, text);
	ret = term_apply(root, pmu, &term, ev, err);
	if (ret)
		err_prefix(err, "%s", alias);
	return ret;
}

/* ".scale" and the like belong to an alias and are none. */
static bool is_alias(const char *name)
{
	return name_is_file(name) && !strchr(name, '.');
}

int pmu_alias(const struct rootfs *root, const struct pmu *pmu, const char *alias,
	      struct event *ev, struct err *err)
{
	char text[512], *save = NULL;
	ssize_t len;
	int ret = 0;

	if (!root || !is_alias(alias))
		return NOT_MINE;
	len = rootfs_read(root, text, sizeof(text), DEVICES "/%s/events/%s", pmu->name,
			  alias);
	if (len == -ENOENT || len == -ENOTDIR)
		return NOT_MINE;
	if (len < 0)
		return err_set(err, ENOENT, "%s: cannot read /" DEVICES "/%s/events/%s: %s",
			       alias, pmu->name, alias, err_name(len));
	str_clean(text);
	ev->type = pmu->type;
	for (char *t = strtok_r(text, ",", &save); t && !ret;
	     t = strtok_r(NULL, ",", &save))
		ret = alias_term(root, pmu, alias, t, ev, err);
	if (!ret)
		read_scale(root, pmu, alias, ev);
	return ret;
}

int pmu_bare_alias(const struct rootfs *root, const char *name, struct event *ev,
		   struct err *err)
{
	struct pmu *pmus;
	size_t n;
	int ret;

	if (!is_alias(name))
		return NOT_MINE;
	ret = pmu_list(root, &pmus, &n);
	if (ret)
		return err_set(err, ret, "%s: %s", name, err_name(ret));
	ret = NOT_MINE;
	for (size_t i = 0; i < n && pmus[i].core && ret == NOT_MINE; i++) {
		ret = pmu_alias(root, &pmus[i], name, ev, err);
		if (!ret)
			ev->kind = EVENT_HARDWARE;
	}
	free(pmus);
	return ret;
}

/*
 * The kernel itself says, per CPU, which encodings are cycles, instructions and
 * the like: under these names, of x86 and of Arm.
 */
bool pmu_must_move(const struct rootfs *root, const struct event *ev)
{
	static const char *const names[] = { "cpu-cycles",	    "instructions",
					     "branch-instructions", "bus-cycles",
					     "ref-cycles",	    "cpu_cycles",
					     "inst_retired",	    "br_retired",
					     "bus_cycles" };
	struct pmu *pmus;
	size_t n;
	bool found = false;

	if (ev->kind != EVENT_HARDWARE || pmu_list(root, &pmus, &n))
		return false;
	for (size_t i = 0; i < n && pmus[i].core; i++) {
		if (ev->type != pmus[i].type && ev->type != PERF_TYPE_RAW)
			continue;
		for (size_t j = 0; j < ARRAY_SIZE(names) && !found; j++) {
			struct event known;

			event_init(&known);
			found = !pmu_alias(root, &pmus[i], names[j], &known, NULL) &&
				known.config == ev->config &&
				known.config1 == ev->config1 &&
				known.config2 == ev->config2;
		}
	}
	free(pmus);
	return found;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int pmu_each(const struct rootfs *root, const struct pmu *pmu, const char *folder,
	     int (*cb)(void *ctx, const char *name), void *ctx)
{
	DIR *dir = root ? rootfs_opendir(root, DEVICES "/%s/%s", pmu->name, folder) : NULL;
	char **names = NULL, *name;
	size_t n = 0, cap = 0;
	struct dirent *entry;
	int ret = 0;

	if (!dir)
		return 0;
	while (!ret && n < ALIASES_MAX && (entry = readdir(dir))) {
		if (!is_alias(entry->d_name))
			continue;
		name = strdup(entry->d_name);
		ret = name ? VEC_PUSH(names, n, cap, name) : -ENOMEM;
		if (ret)
			free(name);
	}
	closedir(dir);
	if (n)
		qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n; i++) {
		ret = ret ? ret : cb(ctx, names[i]);
		free(names[i]);
	}
	free(names);
	return ret;
}
