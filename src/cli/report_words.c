/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a report says around its tables: headings, what is missing and why. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "cli/report.h"

/* One event of one file; JSON's line before its rows. */
struct heading {
	const char *vm, *vm_id, *view, *event;
	double every, hertz; /* one of them; the other is NaN */
	uint64_t samples, period, lost, throttled;
	uint64_t duration;
	const char *state;  /* complete, killed, damaged */
	const char *reason; /* why it is not complete, or has no samples */
	const char *symbols;
};

static const struct column heading_columns[] = {
	COLUMN(struct heading, vm, "vm", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct heading, vm_id, "vm_id", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct heading, view, "view", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct heading, event, "event", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct heading, every, "every", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct heading, hertz, "hertz", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct heading, samples, "samples", "", FIELD_U64, COL_DATA_ONLY),
	COLUMN(struct heading, period, "period", "", FIELD_U64, COL_DATA_ONLY),
	COLUMN(struct heading, lost, "lost", "", FIELD_U64, COL_DATA_ONLY),
	COLUMN(struct heading, throttled, "throttled", "", FIELD_U64, COL_DATA_ONLY),
	COLUMN(struct heading, duration, "duration", "", FIELD_DURATION, COL_DATA_ONLY),
	COLUMN(struct heading, state, "state", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct heading, reason, "reason", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct heading, symbols, "symbols", "", FIELD_LIST, COL_DATA_ONLY),
};

static const struct view heading_view = { "profile", heading_columns,
					  ARRAY_SIZE(heading_columns) };

static bool was_killed(const struct report_section *s)
{
	return s->unfinished || (s->info && !s->info->end_ns);
}

/* The note that best tells why the VM has no samples. */
static const char *why_empty(const struct report_section *s)
{
	const struct note *best = NULL;

	if (!s->info)
		return "no sample of this event was taken while it was recorded";
	for (size_t i = 0; i < s->info->nnotes; i++) {
		const struct note *n = &s->info->notes[i];

		if (*n->vm && strcmp(n->vm, s->lane->vm_name) != 0)
			continue;
		if (n->kind == NOTE_INFO || n->kind == NOTE_VM_APPEARED ||
		    n->kind == NOTE_VCPU_APPEARED)
			continue;
		if (!best || (n->kind == NOTE_PROBLEM && best->kind != NOTE_PROBLEM))
			best = n;
	}
	return best ? best->text
		    : "no problem was noted: the VM was idle, or the event did not happen "
		      "in it, or this host cannot sample it (vmmprof check tells)";
}

static uint64_t duration(const struct report_section *s)
{
	uint64_t first, last;

	if (s->info && s->info->end_ns > s->info->start_ns)
		return s->info->end_ns - s->info->start_ns;
	profile_span(s->profile, &first, &last);
	return last > first ? last - first : 0;
}

static struct heading make_heading(const struct report_section *s, size_t event)
{
	const struct perf_event_attr *attr = perfdata_attr(s->reader, event);
	struct weight total = profile_total(s->profile, event);
	const char *state = *s->problem ? "damaged" : was_killed(s) ? "killed" : "complete";

	return (struct heading) {
		.vm = report_vm_name(s),
		.vm_id = s->lane ? s->lane->vm_id : NULL,
		.view = report_view_name(s),
		.event = perfdata_event_name(s->reader, event),
		.every = attr->freq ? NAN : (double)attr->sample_period,
		.hertz = attr->freq ? (double)attr->sample_freq : NAN,
		.samples = total.samples,
		.period = total.period,
		.lost = s->lost,
		.throttled = s->throttled,
		.duration = duration(s),
		.state = state,
		.reason = *s->problem	   ? s->problem
			  : !total.samples ? why_empty(s)
					   : NULL,
		.symbols = s->symbols.data,
	};
}

static void add_count(struct strbuf *sb, const char *before, uint64_t n, const char *after)
{
	strbuf_puts(sb, before);
	out_format(sb, FIELD_U64, &n);
	strbuf_puts(sb, after);
}

/* The name without period= and freq=, which the heading tells as numbers anyway. */
static void add_event(struct strbuf *sb, const char *name)
{
	const char *slash = strchr(name, '/'), *end = strrchr(name, '/');
	bool kept = false;

	if (slash == end) {
		strbuf_puts(sb, name);
		return;
	}
	strbuf_add(sb, name, slash - name);
	for (const char *term = slash + 1; term < end;) {
		size_t len = strcspn(term, ",/");

		if (strncmp(term, "period=", 7) != 0 && strncmp(term, "freq=", 5) != 0) {
			strbuf_putc(sb, kept ? ',' : '/');
			strbuf_add(sb, term, len);
			kept = true;
		}
		term += len + 1;
	}
	if (kept)
		strbuf_puts(sb, end);
	else if (end[1])
		strbuf_addf(sb, "%s%s", end[1] == ':' ? "" : ":", end + 1);
}

void report_heading(const struct report_section *s, struct out *o, size_t event)
{
	struct heading h = make_heading(s, event);
	struct strbuf sb = { 0 };

	if (o->ops == &out_csv) /* one kind of rows only */
		return;
	strbuf_addf(&sb, "%s", h.vm);
	if (h.vm_id)
		strbuf_addf(&sb, " (%s), %s", h.vm_id,
			    s->lane->process  ? "process"
			    : s->lane->inside ? "inside"
					      : "its vCPU threads on the host");
	strbuf_puts(&sb, ": ");
	add_event(&sb, h.event);
	add_count(&sb, isnan(h.hertz) ? " every " : " at ",
		  (uint64_t)(isnan(h.hertz) ? h.every : h.hertz),
		  isnan(h.hertz) ? "" : " Hz");
	add_count(&sb, ", ", h.samples, h.samples == 1 ? " sample, " : " samples, ");
	add_count(&sb, "", h.lost, " lost, ");
	add_count(&sb, "", h.throttled, " throttled, ");
	out_format(&sb, FIELD_DURATION, &h.duration);
	if (!sb.oom)
		out_line(o, "%s", sb.data);
	strbuf_free(&sb);
	if (o->ops == &out_text)
		return;
	out_table(o, &heading_view);
	out_row(o, &h);
	out_end(o);
}

static bool in_kernel(const struct profile_row *r)
{
	return r->mode == MODE_KERNEL || r->mode == MODE_GUEST_KERNEL;
}

static void remark_symbols(const struct report_section *s, struct out *o, size_t event,
			   const struct profile_row *rows, size_t n)
{
	uint64_t kernel = 0, kernel_unknown = 0, unknown = 0, nowhere = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t samples = rows[i].event == event ? rows[i].weight.samples : 0;

		kernel += in_kernel(&rows[i]) ? samples : 0;
		if (rows[i].sym)
			continue;
		unknown += samples;
		nowhere += rows[i].module ? 0 : samples;
		kernel_unknown += in_kernel(&rows[i]) ? samples : 0;
	}
	if (!unknown)
		return;
	if (s->lane && s->lane->hypervisor && !s->symtabs.n)
		out_line(o,
			 "Addresses get names with --symbols %s=PATH: the xen-syms of the "
			 "hypervisor that ran",
			 report_symbols_key(s));
	else if ((!s->symtabs.n && nowhere) || (kernel_unknown && !s->kernel_symbols))
		out_line(o,
			 "Addresses get names with --symbols %s=PATH: a copy of the %s "
			 "/proc/kallsyms, a vmlinux, or any ELF file that ran there",
			 report_symbols_key(s),
			 s->lane && s->lane->inside && !s->lane->process ? "guest's"
									 : "host's");
	else if (kernel && kernel_unknown > kernel / 2)
		out_line(o,
			 "%.0f %% of the kernel's samples lie outside the symbols of %s: "
			 "is it of that kernel, and of that boot? Addresses change with "
			 "each boot (KASLR): copy /proc/kallsyms while the VM that is "
			 "profiled runs",
			 100.0 * kernel_unknown / kernel, s->kernel_symbols);
}

void report_remarks(const struct report_section *s, struct out *o, size_t event,
		    const struct profile_row *rows, size_t n)
{
	if (!profile_total(s->profile, event).samples)
		out_line(o, "No samples: %s", why_empty(s));
	else if (s->opt->by == BY_SYMBOL)
		remark_symbols(s, o, event, rows, n);
}

void report_file_remarks(const struct report_section *s, struct out *o)
{
	if (*s->problem)
		out_line(o, "Damaged, and shown up to there: %s", s->problem);
	else if (s->truncated)
		out_line(o,
			 "Cut short: %" PRIu64
			 " bytes at the end of the file are missing or "
			 "no whole record; all before them is shown",
			 s->truncated);
	if (was_killed(s))
		out_line(o,
			 "The recorder did not end this recording (it was killed, or still "
			 "runs): what was written is shown");
	else if (s->info && *s->info->ended && strcmp(s->info->ended, "normally") != 0)
		out_line(o, "The recording ended early: %s", s->info->ended);
}
