/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/report.h"

struct row {
	/* of every row */
	const char *vm, *view, *event;
	double share; /* of the event's total, by period */
	uint64_t samples, period;
	/* by symbol */
	char mode[4];	       /* as perf shows it: [k] */
	const char *mode_name; /* "kernel" */
	char where[320];       /* symbol and module, or address */
	const char *symbol, *module;
	char address[24];
	/* by vCPU */
	const char *vcpu;
	int tid;
	double kernel; /* share of its samples */
	/* over time */
	double at; /* seconds since the start */
	const char *bar;
};

#define COMMON_COLUMNS                                                                     \
	COLUMN(struct row, vm, "vm", "", FIELD_STR, COL_DATA_ONLY),                        \
		COLUMN(struct row, view, "view", "", FIELD_STR, COL_DATA_ONLY),            \
		COLUMN(struct row, event, "event", "", FIELD_STR, COL_DATA_ONLY)

#define WEIGHT_COLUMNS                                                                     \
	COLUMN(struct row, share, "share", "SHARE", FIELD_PERCENT, 0),                     \
		COLUMN(struct row, samples, "samples", "SAMPLES", FIELD_U64, 0),           \
		COLUMN(struct row, period, "period", "", FIELD_U64, COL_DATA_ONLY)

static const struct column symbol_columns[] = {
	COMMON_COLUMNS,
	WEIGHT_COLUMNS,
	COLUMN(struct row, mode, "", "MODE", FIELD_TEXT, COL_TEXT_ONLY),
	COLUMN(struct row, where, "", "SYMBOL", FIELD_TEXT, COL_TEXT_ONLY | COL_LAST),
	COLUMN(struct row, mode_name, "mode", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct row, symbol, "symbol", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct row, module, "module", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct row, address, "address", "", FIELD_TEXT, COL_DATA_ONLY),
};

static const struct column vcpu_columns[] = {
	COMMON_COLUMNS,
	COLUMN(struct row, vcpu, "vcpu", "VCPU", FIELD_STR, 0),
	COLUMN(struct row, tid, "tid", "TID", FIELD_INT, 0),
	WEIGHT_COLUMNS,
	COLUMN(struct row, kernel, "kernel", "KERNEL", FIELD_PERCENT, 0),
};

static const struct column time_columns[] = {
	COMMON_COLUMNS,
	COLUMN(struct row, at, "time", "TIME s", FIELD_F64, 0),
	WEIGHT_COLUMNS,
	COLUMN(struct row, kernel, "kernel", "KERNEL", FIELD_PERCENT, 0),
	COLUMN(struct row, bar, "", "OVER TIME", FIELD_STR, COL_TEXT_ONLY | COL_LAST),
};

static const struct view views[] = {
	[BY_SYMBOL] = { "symbol", symbol_columns, ARRAY_SIZE(symbol_columns) },
	[BY_VCPU] = { "vcpu", vcpu_columns, ARRAY_SIZE(vcpu_columns) },
	[BY_TIME] = { "time", time_columns, ARRAY_SIZE(time_columns) },
};

/* perf's letters, and words. */
static const struct {
	char letter;
	const char *name;
} modes[] = {
	[MODE_UNKNOWN] = { '?', "unknown" },
	[MODE_KERNEL] = { 'k', "kernel" },
	[MODE_USER] = { '.', "user" },
	[MODE_HYPERVISOR] = { 'H', "hypervisor" },
	[MODE_GUEST_KERNEL] = { 'g', "guest-kernel" },
	[MODE_GUEST_USER] = { 'u', "guest-user" },
};

/* By period where there is one: a file may carry periods of 0. */
static double share(const struct weight *part, const struct weight *whole)
{
	if (whole->period)
		return (double)part->period / whole->period;
	return whole->samples ? (double)part->samples / whole->samples : NAN;
}

static struct row make_row(const struct report_section *s, size_t event,
			   const struct weight *w, const struct weight *total)
{
	return (struct row) {
		.vm = report_vm_name(s),
		.view = report_view_name(s),
		.event = perfdata_event_name(s->reader, event),
		.share = share(w, total),
		.samples = w->samples,
		.period = w->period,
		.kernel = w->samples ? (double)w->kernel / w->samples : NAN,
	};
}

/* "web/vcpu0" is "vcpu0" under the heading of web. */
static const char *thread_label(struct report_section *s, pid_t tid, char *buf, size_t size)
{
	const char *name = thread_names_find(&s->names, tid);
	size_t len = strlen(report_vm_name(s));

	if (name && !strncmp(name, report_vm_name(s), len) && name[len] == '/' &&
	    name[len + 1])
		return name + len + 1;
	if (name && *name)
		return name;
	snprintf(buf, size, "thread %d", tid);
	return buf;
}

static void fill_symbol(struct row *row, const struct profile_row *r)
{
	const struct symbol *sym = r->sym;

	snprintf(row->mode, sizeof(row->mode), "[%c]", modes[r->mode].letter);
	row->mode_name = modes[r->mode].name;
	snprintf(row->address, sizeof(row->address), "0x%" PRIx64,
		 sym ? sym->start + r->bias : r->ip);
	row->module = r->module ? r->module : sym && *sym->module ? sym->module : NULL;
	if (!sym) {
		snprintf(row->where, sizeof(row->where), "0x%" PRIx64 " [%.55s]", r->ip,
			 row->module ? row->module : "unknown");
		return;
	}
	row->symbol = sym->name;
	snprintf(row->where, sizeof(row->where), row->module ? "%.255s [%.55s]" : "%.255s",
		 sym->name, row->module);
}

/* What the text says about the rows that it does not show. */
struct rest {
	size_t rows;
	struct weight weight;
};

static void print_rest(struct out *o, const struct rest *rest, const struct weight *total)
{
	struct strbuf sb = { 0 };

	if (!rest->rows)
		return;
	strbuf_addf(&sb, "%zu more row%s, ", rest->rows, rest->rows == 1 ? "" : "s");
	out_format(&sb, FIELD_U64, &rest->weight.samples);
	strbuf_addf(&sb, " sample%s, %.2f %% in all (--limit, --percent-limit)",
		    rest->weight.samples == 1 ? "" : "s",
		    100 * share(&rest->weight, total));
	if (!sb.oom)
		out_line(o, "%s", sb.data);
	strbuf_free(&sb);
}

static void print_rows(struct report_section *s, struct out *o, size_t event,
		       const struct profile_row *rows, size_t n)
{
	struct weight total = profile_total(s->profile, event);
	struct rest rest = { 0 };
	char label[32];

	out_table(o, &views[s->opt->by]);
	for (size_t i = 0, shown = 0; i < n; i++) {
		struct row row;

		if (rows[i].event != event)
			continue;
		row = make_row(s, event, &rows[i].weight, &total);
		if (shown >= s->opt->limit || 100 * row.share < s->opt->percent_limit) {
			rest.rows++;
			rest.weight.samples += row.samples;
			rest.weight.period += row.period;
			continue;
		}
		if (s->opt->by == BY_SYMBOL) {
			fill_symbol(&row, &rows[i]);
		} else {
			row.vcpu = thread_label(s, rows[i].tid, label, sizeof(label));
			row.tid = s->lane && !s->lane->pid ? -1 : rows[i].tid;
		}
		out_row(o, &row);
		shown++;
	}
	out_end(o);
	print_rest(o, &rest, &total);
}

static void print_timeline(const struct report_section *s, struct out *o, size_t event)
{
	static const char hashes[] = "########################################";
	const struct timeline *t = &s->timeline;
	const struct weight *slots = t->slot + event * t->n;
	struct weight total = profile_total(s->profile, event);
	double most = 0;

	for (size_t i = 0; i < t->n; i++)
		most = fmax(most, share(&slots[i], &total));
	out_table(o, &views[BY_TIME]);
	for (size_t i = 0; i < t->n; i++) {
		struct row row = make_row(s, event, &slots[i], &total);
		int len =
			most > 0 ? (int)lround(row.share / most * (sizeof(hashes) - 1)) : 0;

		row.at = (double)i * t->width_ns / 1e9;
		row.bar = hashes + sizeof(hashes) - 1 - len;
		out_row(o, &row);
	}
	out_end(o);
}

/* A frame of a folded stack: ";" parts frames, the last blank parts the count. */
static void put_frame(FILE *f, const char *name)
{
	for (; *name; name++)
		putc(*name == ';' ? ':' : *name, f);
	putc(';', f);
}

static void print_stacks(struct report_section *s, struct out *o, size_t event,
			 const struct profile_row *rows, size_t n)
{
	char label[32], address[96];

	for (size_t i = 0; i < n; i++) {
		const struct profile_row *r = &rows[i];
		const char *name = r->sym ? r->sym->name : address;

		if (r->event != event)
			continue;
		snprintf(address, sizeof(address),
			 r->module ? "0x%" PRIx64 " [%.55s]" : "0x%" PRIx64, r->ip,
			 r->module);
		put_frame(o->f, report_vm_name(s));
		put_frame(o->f, thread_label(s, r->tid, label, sizeof(label)));
		put_frame(o->f, modes[r->mode].name);
		for (; *name; name++)
			putc(*name == ';' ? ':' : *name, o->f);
		fprintf(o->f, " %" PRIu64 "\n", r->weight.samples);
	}
}

int report_print(struct report_section *s, struct out *o)
{
	struct profile_row *rows = NULL;
	size_t n = 0, sections = 0;

	if (s->opt->by != BY_TIME &&
	    profile_rows(s->profile, &s->symtabs, &s->maps, &rows, &n))
		return -ENOMEM;
	for (size_t i = 0; i < s->maps.nmodules; i++) {
		const struct map_module *mod = &s->maps.modules[i];

		if (mod->tab)
			strbuf_add(&s->symbols, mod->path, strlen(mod->path) + 1);
	}
	for (size_t e = 0; e < perfdata_nevents(s->reader); e++) {
		if (!report_wants_event(s, e))
			continue;
		if (s->opt->by == BY_STACK) {
			print_stacks(s, o, e, rows, n);
			continue;
		}
		if (sections++)
			out_line(o, "%s", "");
		report_heading(s, o, e);
		if (s->opt->by == BY_TIME && profile_total(s->profile, e).samples)
			print_timeline(s, o, e);
		else if (s->opt->by != BY_TIME)
			print_rows(s, o, e, rows, n);
		report_remarks(s, o, e, rows, n);
	}
	if (sections) {
		report_file_remarks(s, o);
		out_line(o, "%s", "");
	}
	free(rows);
	return 0;
}
