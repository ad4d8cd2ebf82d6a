/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numasim/spec.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/data.h"
#include "base/str.h"
#include "numasim/spec_impl.h"

/* "4 cycles", "60 ns" from word @i on; cycles become time when the clock is known. */
static int time_at(const struct lines *l, size_t i, struct spec_time *out, struct err *err)
{
	int ret = lines_f64(l, i, "a time", 0.1, 1e5, &out->value, err);

	if (ret)
		return ret;
	out->line = l->line;
	if (i + 1 < l->n && !strcmp(l->word[i + 1], "ns"))
		out->cycles = false;
	else if (i + 1 < l->n && !strcmp(l->word[i + 1], "cycles"))
		out->cycles = true;
	else
		return lines_bad(l, err, "after %s: expected \"ns\" or \"cycles\"",
				 l->word[i]);
	return 0;
}

static int hertz_at(const struct lines *l, size_t i, uint64_t *out, struct err *err)
{
	double ghz;
	int ret = lines_f64(l, i, "a clock in GHz", 0.1, 10, &ghz, err);

	if (ret)
		return ret;
	if (i + 1 >= l->n || strcmp(l->word[i + 1], "GHz"))
		return lines_bad(l, err, "after %s: expected \"GHz\"", l->word[i]);
	*out = (uint64_t)llround(ghz * 1e9);
	return 0;
}

static int words(const struct lines *l, size_t min, size_t max, const char *form,
		 struct err *err)
{
	if (l->n < min || l->n > max)
		return lines_bad(l, err, "expected \"%s\"", form);
	return 0;
}

static int unsigned_at(const struct lines *l, size_t i, const char *what, unsigned max,
		       unsigned *out, struct err *err)
{
	uint64_t v;
	int ret = lines_u64(l, i, what, 1, max, &v, err);

	if (!ret)
		*out = (unsigned)v;
	return ret;
}

/* "32/16/12" in word @i as @n numbers. */
static int slashed(const struct lines *l, size_t i, const char *what, size_t n,
		   unsigned *out, struct err *err)
{
	const char *p = l->word[i];

	for (size_t k = 0; k < n; k++) {
		char *end;
		unsigned long v = strtoul(p, &end, 10);

		if (end == p || *p < '0' || *p > '9' || v < 1 || v > SPEC_ENTRIES ||
		    *end != (k + 1 < n ? '/' : '\0'))
			return lines_bad(l, err, "\"%s\" is not %s (each 1 to %u)",
					 l->word[i], what, SPEC_ENTRIES);
		out[k] = (unsigned)v;
		p = end + 1;
	}
	return 0;
}

static int read_name(struct draft *d, const struct lines *l, struct err *err)
{
	int ret = words(l, 2, 2, "name NAME", err);

	if (!ret && strlen(l->word[1]) >= sizeof(d->spec.name))
		ret = lines_bad(l, err, "a name longer than %zu characters",
				sizeof(d->spec.name) - 1);
	if (!ret)
		str_copy(d->spec.name, sizeof(d->spec.name), l->word[1]);
	return ret;
}

static int read_cpu(struct draft *d, const struct lines *l, struct err *err)
{
	int ret = words(l, 2, 2, "cpu \"MODEL NAME\"", err);

	if (!ret && strlen(l->word[1]) >= sizeof(d->spec.cpu))
		ret = lines_bad(l, err, "a cpu's name longer than %zu characters",
				sizeof(d->spec.cpu) - 1);
	if (!ret)
		str_copy(d->spec.cpu, sizeof(d->spec.cpu), l->word[1]);
	return ret;
}

/* The PMUs that there are, by their CPU's model: Nehalem-EP's and Westmere-EP's. */
static bool has_pmu(unsigned model)
{
	return model == 0x1a || model == 0x2c;
}

static int read_model(struct draft *d, const struct lines *l, struct err *err)
{
	bool none = l->n == 2 && !strcmp(l->word[1], "none");
	int ret = none ? 0 : words(l, 3, 3, "model FAMILY MODEL\" or \"model none", err);

	if (none)
		d->spec.family = d->spec.model = 0;
	if (!ret && !none)
		ret = unsigned_at(l, 1, "a CPU family", 0xff, &d->spec.family, err);
	if (!ret && !none)
		ret = unsigned_at(l, 2, "a CPU model", 0xff, &d->spec.model, err);
	if (!ret && has_pmu(d->spec.model))
		d->spec.pmu = d->spec.model;
	return ret;
}

static int read_pmu(struct draft *d, const struct lines *l, struct err *err)
{
	int ret = words(l, 2, 2, "pmu MODEL", err);

	if (!ret)
		ret = unsigned_at(l, 1, "a CPU model", 0xff, &d->spec.pmu, err);
	if (!ret && !has_pmu(d->spec.pmu))
		ret = lines_bad(
			l, err,
			"\"%s\": the PMUs that there are, by their CPU's model, are "
			"0x1a (Nehalem-EP) and 0x2c (Westmere-EP)",
			l->word[1]);
	return ret;
}

static int read_nodes(struct draft *d, const struct lines *l, struct err *err)
{
	int ret = words(l, 2, 2, "N nodes", err);

	d->size_line = d->link_line = l->line;
	return ret ? ret
		   : unsigned_at(l, 0, "a number of nodes", SPEC_NODES, &d->spec.nodes,
				 err);
}

static int read_cores(struct draft *d, const struct lines *l, struct err *err)
{
	static const char form[] = "N cores each [at X GHz]";
	int ret = words(l, 3, 6, form, err);

	if (!ret && (strcmp(l->word[2], "each") ||
		     (l->n > 3 && (l->n != 6 || strcmp(l->word[3], "at")))))
		ret = lines_bad(l, err, "expected \"%s\"", form);
	if (!ret)
		ret = unsigned_at(l, 0, "a number of cores per node", SPEC_CORES,
				  &d->spec.cores, err);
	if (!ret && l->n > 3)
		ret = hertz_at(l, 4, &d->spec.core_hz, err);
	return ret;
}

static int read_uncore(struct draft *d, const struct lines *l, struct err *err)
{
	int ret = words(l, 3, 3, "uncore X GHz", err);

	return ret ? ret : hertz_at(l, 1, &d->spec.uncore_hz, err);
}

/* "32K/8 [4 cycles]": size, ways, and how long a hit takes. */
static int cache_at(struct draft *d, const struct lines *l, struct spec_cache *out,
		    enum spec_times time, struct err *err)
{
	char *slash = strchr(l->word[1], '/'), *end = NULL;
	struct lines size = *l;
	unsigned long ways = slash ? strtoul(slash + 1, &end, 10) : 0;
	int ret;

	if (!slash || end == slash + 1 || *end || ways < 2 || ways > SPEC_WAYS)
		return lines_bad(
			l, err, "\"%s\" is not a cache (SIZE/WAYS, as 32K/8; 2 to %u ways)",
			l->word[1], SPEC_WAYS);
	size.word[1] = l->word[1];
	*slash = '\0';
	ret = lines_bytes(&size, 1, "a cache's size", 1024, 1u << 30, &out->bytes, err);
	*slash = '/';
	if (ret)
		return ret;
	out->ways = (unsigned)ways;
	d->size_line = l->line;
	if (out->bytes % (SPEC_LINE * ways))
		return lines_bad(l, err, "%s does not divide into lines of %u bytes",
				 l->word[1], SPEC_LINE);
	return l->n > 3 ? time_at(l, 2, &d->time[time], err) : 0;
}

static int read_l1(struct draft *d, const struct lines *l, struct err *err)
{
	if (l->n != 2 && l->n != 4)
		return lines_bad(l, err, "expected \"L1 SIZE/WAYS [N cycles]\"");
	return cache_at(d, l, &d->spec.l1, TIME_L1, err);
}

static int read_l2(struct draft *d, const struct lines *l, struct err *err)
{
	if (l->n != 2 && l->n != 4)
		return lines_bad(l, err, "expected \"L2 SIZE/WAYS [N cycles]\"");
	return cache_at(d, l, &d->spec.l2, TIME_L2, err);
}

static int read_llc(struct draft *d, const struct lines *l, struct err *err)
{
	if ((l->n != 3 && l->n != 5) || strcmp(l->word[l->n - 1], "inclusive"))
		return lines_bad(l, err, "expected \"LLC SIZE/WAYS [N cycles] inclusive\"");
	return cache_at(d, l, &d->spec.llc, TIME_LLC, err);
}

static int read_misses(struct draft *d, const struct lines *l, struct err *err)
{
	int ret = words(l, 2, 2, "misses N", err);

	return ret ? ret
		   : unsigned_at(l, 1, "a number of line-fill buffers", SPEC_LFB,
				 &d->spec.lfb, err);
}

static int read_trackers(struct draft *d, const struct lines *l, struct err *err)
{
	unsigned v[3];
	int ret = words(l, 2, 2, "trackers READ/WRITE/PROBE", err);

	if (!ret)
		ret = slashed(l, 1, "trackers' entries READ/WRITE/PROBE", 3, v, err);
	if (ret)
		return ret;
	d->spec.rt = v[0];
	d->spec.wt = v[1];
	d->spec.ppt = v[2];
	return 0;
}

static int read_home(struct draft *d, const struct lines *l, struct err *err)
{
	int ret = words(l, 2, 2, "home ENTRIES", err);

	return ret ? ret : slashed(l, 1, "a home agent's entries", 1, &d->spec.home, err);
}

/* DDR3-1333: eight bytes 1333 million times a second. */
static int read_channels(struct draft *d, const struct lines *l, struct err *err)
{
	const char *dash;
	char *end = NULL;
	unsigned long mega;
	int ret = words(l, 3, 3, "N channels DDRn-RATE", err);

	if (!ret)
		ret = unsigned_at(l, 0, "a number of channels", SPEC_CHANNELS,
				  &d->spec.channels, err);
	if (ret)
		return ret;
	dash = strchr(l->word[2], '-');
	mega = dash && !strncmp(l->word[2], "DDR", 3) ? strtoul(dash + 1, &end, 10) : 0;
	if (mega < 100 || mega > 20000 || *end)
		return lines_bad(l, err, "\"%s\" is not a memory (DDR3-1333, 100 to 20000)",
				 l->word[2]);
	d->spec.channel_rate = mega * 8000000;
	return 0;
}

static int read_efficiency(struct draft *d, const struct lines *l, struct err *err)
{
	int ret = words(l, 2, 2, "efficiency N%", err);

	return ret ? ret
		   : lines_f64(l, 1, "a share of the peak", 0.1, 1, &d->spec.efficiency,
			       err);
}

static int read_link(struct draft *d, const struct lines *l, struct err *err)
{
	double gb;
	int ret = words(l, 3, 3, "link N GB/s", err);

	if (!ret)
		ret = lines_f64(l, 1, "a link's rate", 0.1, 1000, &gb, err);
	if (!ret && strcmp(l->word[2], "GB/s"))
		ret = lines_bad(l, err, "after %s: expected \"GB/s\"", l->word[1]);
	if (!ret)
		d->spec.link_rate = (uint64_t)llround(gb * 1e9);
	return ret;
}

static int read_memory(struct draft *d, const struct lines *l, struct err *err)
{
	int ret = words(l, 2, 2, "memory BYTES", err);

	d->size_line = l->line;
	return ret ? ret
		   : lines_bytes(l, 1, "a node's memory", 1u << 20, SPEC_MEMORY,
				 &d->spec.node_bytes, err);
}

/* The statements that only say a time; the others are read by a function. */
static const struct statement {
	const char *word;
	int (*read)(struct draft *d, const struct lines *l, struct err *err);
	enum spec_times time;
} statements[] = {
	{ "name", read_name, 0 },
	{ "cpu", read_cpu, 0 },
	{ "model", read_model, 0 },
	{ "pmu", read_pmu, 0 },
	{ "nodes", read_nodes, 0 },
	{ "cores", read_cores, 0 },
	{ "uncore", read_uncore, 0 },
	{ "L1", read_l1, 0 },
	{ "L2", read_l2, 0 },
	{ "LLC", read_llc, 0 },
	{ "shared", NULL, TIME_SHARED },
	{ "modified", NULL, TIME_MODIFIED },
	{ "misses", read_misses, 0 },
	{ "trackers", read_trackers, 0 },
	{ "home", read_home, 0 },
	{ "channels", read_channels, 0 },
	{ "efficiency", read_efficiency, 0 },
	{ "local", NULL, TIME_LOCAL },
	{ "remote", NULL, TIME_REMOTE },
	{ "remote-cache", NULL, TIME_REMOTE_CACHE },
	{ "remote-modified", NULL, TIME_REMOTE_MODIFIED },
	{ "link", read_link, 0 },
	{ "links", spec_read_links, 0 },
	{ "memory", read_memory, 0 },
};

static int read_statement(struct draft *d, const struct lines *l, uint64_t *seen,
			  struct err *err)
{
	bool counted = l->word[0][0] >= '0' && l->word[0][0] <= '9';
	const char *word = counted ? l->n > 1 ? l->word[1] : "" : l->word[0];

	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++) {
		const struct statement *s = &statements[i];

		if (strcmp(s->word, word) ||
		    counted != (s->read == read_nodes || s->read == read_cores ||
				s->read == read_channels))
			continue;
		if (*seen & 1ull << i)
			return lines_bad(l, err, "\"%s\" is said twice", word);
		*seen |= 1ull << i;
		if (s->read)
			return s->read(d, l, err);
		if (l->n != 3)
			return lines_bad(l, err, "expected \"%s N ns\" or \"%s N cycles\"",
					 word, word);
		return time_at(l, 1, &d->time[s->time], err);
	}
	return lines_bad(l, err,
			 "\"%s\" is no statement of a machine; expected nodes, cores, L1, "
			 "L2, LLC, trackers, channels, link, …: see nehalem-ep.machine",
			 l->word[0]);
}

static int read_all(struct draft *d, struct lines *l, struct err *err)
{
	uint64_t seen = 0;
	int ret;

	while ((ret = lines_next(l, err)) > 0) {
		ret = read_statement(d, l, &seen, err);
		if (ret)
			return ret;
	}
	return ret;
}

/* What a text does not say is as in this preset. */
static int read_defaults(struct draft *d, struct err *err)
{
	for (const struct data_file *f = data_files; f->name; f++)
		if (!strcmp(f->kind, "machines") && !strcmp(f->name, "nehalem-ep")) {
			struct lines l;

			lines_begin(&l, "nehalem-ep.machine", f->text, f->size, 0);
			return read_all(d, &l, err);
		}
	return err_set(err, ENOENT, "nehalem-ep.machine was not compiled in");
}

int machine_spec_parse(const char *file, const char *text, size_t size,
		       struct machine_spec *out, struct err *err)
{
	struct draft d = { 0 };
	struct lines l;
	int ret = read_defaults(&d, err);

	if (ret)
		return ret;
	str_copy(d.spec.name, sizeof(d.spec.name), "machine");
	for (size_t i = 0; i < TIMES; i++)
		d.time[i].line = 0;
	lines_begin(&l, file, text, size, ',');
	ret = read_all(&d, &l, err);
	if (!ret)
		ret = spec_finish(&d, &l, err);
	if (!ret)
		*out = d.spec;
	return ret;
}

int machine_spec_load(const char *what, struct machine_spec *out, struct err *err)
{
	struct data_text text;
	int ret;

	if (strchr(what, ','))
		return machine_spec_parse("machine", what, strlen(what), out, err);
	ret = data_load("machines", what, &text, err);
	if (ret)
		return ret;
	ret = machine_spec_parse(text.file, text.text, text.size, out, err);
	data_text_free(&text);
	return ret;
}
