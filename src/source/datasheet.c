/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/datasheet.h"

#include <errno.h>
#include <string.h>

#include "base/data.h"
#include "base/lines.h"

#define MOST_NS 1e5
#define MOST_GB 1e5
#define MOST_BYTES (1ull << 40)
#define MOST_ENTRIES 4096

/* "WORD X UNIT", into a double of the machine, or "WORD BYTES" or "WORD N" without a unit.
 */
static const struct statement {
	const char *word, *unit;
	size_t offset;
	double scale, most;
} statements[] = {
#define TO(field) offsetof(struct diag_machine, field)
	{ "clock", "GHz", TO(core_hz), 1e9, 100 },
	{ "uncore", "GHz", TO(uncore_hz), 1e9, 100 },
	{ "llc", "ns", TO(llc_ns), 1, MOST_NS },
	{ "shared", "ns", TO(shared_ns), 1, MOST_NS },
	{ "modified", "ns", TO(modified_ns), 1, MOST_NS },
	{ "local", "ns", TO(local_ns), 1, MOST_NS },
	{ "remote", "ns", TO(remote_ns), 1, MOST_NS },
	{ "remote-cache", "ns", TO(remote_cache_ns), 1, MOST_NS },
	{ "remote-modified", "ns", TO(remote_modified_ns), 1, MOST_NS },
	{ "memory", "GB/s", TO(mem_rate), 1e9, MOST_GB },
	{ "link", "GB/s", TO(link_rate), 1e9, MOST_GB },
#undef TO
};

static int read_measure(const struct lines *l, const struct statement *s,
			struct diag_machine *out, struct err *err)
{
	double value;

	if (l->n != 3 || strcmp(l->word[2], s->unit))
		return lines_bad(l, err, "expected \"%s NUMBER %s\"", s->word, s->unit);
	if (lines_f64(l, 1, s->unit, 1e-3, s->most, &value, err))
		return -EINVAL;
	value *= s->scale;
	memcpy((char *)out + s->offset, &value, sizeof(value));
	return 0;
}

static int read_bytes(const struct lines *l, double *out, struct err *err)
{
	uint64_t bytes;
	int ret = lines_bytes(l, 1, "a cache's size", 1024, MOST_BYTES, &bytes, err);

	if (!ret)
		*out = (double)bytes;
	return ret;
}

static int read_l2(const struct lines *l, struct diag_machine *out, struct err *err)
{
	if (l->n != 2)
		return lines_bad(l, err, "expected \"L2 BYTES\", as 1M");
	return read_bytes(l, &out->l2_bytes, err);
}

static int read_llc(const struct lines *l, struct diag_machine *out, struct err *err)
{
	bool inclusive = l->n == 3 && !strcmp(l->word[2], "inclusive");

	if (l->n != 2 && !inclusive)
		return lines_bad(l, err, "expected \"LLC BYTES [inclusive]\", as 16M");
	out->inclusive = inclusive;
	return read_bytes(l, &out->llc_bytes, err);
}

static int read_entries(const struct lines *l, unsigned *out, struct err *err)
{
	uint64_t n;
	int ret;

	if (l->n != 2)
		return lines_bad(l, err, "expected \"%s NUMBER\"", l->word[0]);
	ret = lines_u64(l, 1, "a number of entries", 1, MOST_ENTRIES, &n, err);
	if (!ret)
		*out = (unsigned)n;
	return ret;
}

static int read_statement(const struct lines *l, struct diag_machine *out, struct err *err)
{
	const char *word = l->word[0];

	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++)
		if (!strcmp(word, statements[i].word))
			return read_measure(l, &statements[i], out, err);
	if (!strcmp(word, "L2"))
		return read_l2(l, out, err);
	if (!strcmp(word, "LLC"))
		return read_llc(l, out, err);
	if (!strcmp(word, "misses"))
		return read_entries(l, &out->lfb, err);
	if (!strcmp(word, "trackers"))
		return read_entries(l, &out->trackers, err);
	if (!strcmp(word, "source") && l->n == 2)
		return 0;
	return lines_bad(l, err,
			 "\"%s\" is no statement of a data sheet; expected local, remote, "
			 "llc, memory, link, misses, source \"WHERE\" …: see "
			 "data/sheets/README.md",
			 word);
}

int datasheet_parse(const char *file, const char *text, size_t size,
		    struct diag_machine *out, struct err *err)
{
	struct diag_machine read = *out;
	struct lines l;
	int ret;

	lines_begin(&l, file, text, size, 0);
	while ((ret = lines_next(&l, err)) > 0)
		if (read_statement(&l, &read, err))
			return -EINVAL;
	if (ret)
		return ret;
	if (read.remote_ns < read.local_ns)
		return err_set(err, EINVAL,
			       "%s: remote memory is nearer than local memory; expected "
			       "both, and remote the slower",
			       file);
	*out = read;
	return 0;
}

int datasheet_load(const char *name, struct diag_machine *out, struct err *err)
{
	struct data_text text;
	int ret = data_load("sheets", name, &text, err);

	if (ret)
		return ret;
	ret = datasheet_parse(text.file, text.text, text.size, out, err);
	data_text_free(&text);
	return ret;
}
