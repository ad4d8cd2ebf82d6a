/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmmprof bench: provokes each factor, and shows what a diagnosis makes of it; on the
 * built-in host, or the bare slowness of it on this machine.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "cli/commands.h"
#include "cli/gather.h"
#include "diagnose/diagnose.h"
#include "numabench/native.h"
#include "numabench/scenario.h"
#include "source/sheet.h"

#define MACHINE "nehalem-ep"
/* The first one warms the caches up, the second one is judged. */
#define WINDOWS 2
#define WINDOW_S 0.008

static struct {
	struct common_options common;
	bool native, list;
	const char *machine;
	double seconds;
} opt;

/* ---- on the built-in host */

struct judged {
	double loss[FACTORS], error[FACTORS]; /* of the victim; NaN: not measured */
	double rate;			      /* its instructions per second */
};

struct row {
	const char *name, *provokes;
	double slower;
	double moved[FACTORS], error[FACTORS]; /* provoked minus calm; half width */
	char text[FACTORS][32];
	const char *most; /* the factor that moved most */
	bool named;	  /* it is one of those that are provoked; or none is, and none
			   * moved */
};

static const struct column columns[] = {
	COLUMN(struct row, name, "benchmark", "BENCHMARK", FIELD_STR, 0),
	COLUMN(struct row, provokes, "provokes", "PROVOKES", FIELD_STR, 0),
	COLUMN(struct row, slower, "slower", "SLOWER", FIELD_F64, 0),
	COLUMN(struct row, moved[FACTOR_LOCALITY], "locality", "", FIELD_F64,
	       COL_DATA_ONLY),
	COLUMN(struct row, error[FACTOR_LOCALITY], "locality_error", "", FIELD_F64,
	       COL_DATA_ONLY),
	COLUMN(struct row, text[FACTOR_LOCALITY], "locality_text", "LOCALITY", FIELD_TEXT,
	       COL_TEXT_ONLY),
	COLUMN(struct row, moved[FACTOR_LLC], "llc", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct row, error[FACTOR_LLC], "llc_error", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct row, text[FACTOR_LLC], "llc_text", "LLC", FIELD_TEXT, COL_TEXT_ONLY),
	COLUMN(struct row, moved[FACTOR_SHARING], "sharing", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct row, error[FACTOR_SHARING], "sharing_error", "", FIELD_F64,
	       COL_DATA_ONLY),
	COLUMN(struct row, text[FACTOR_SHARING], "sharing_text", "SHARING", FIELD_TEXT,
	       COL_TEXT_ONLY),
	COLUMN(struct row, moved[FACTOR_MEMORY], "memory", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct row, error[FACTOR_MEMORY], "memory_error", "", FIELD_F64,
	       COL_DATA_ONLY),
	COLUMN(struct row, text[FACTOR_MEMORY], "memory_text", "MEMORY", FIELD_TEXT,
	       COL_TEXT_ONLY),
	COLUMN(struct row, moved[FACTOR_TRACKERS], "trackers", "", FIELD_F64,
	       COL_DATA_ONLY),
	COLUMN(struct row, error[FACTOR_TRACKERS], "trackers_error", "", FIELD_F64,
	       COL_DATA_ONLY),
	COLUMN(struct row, text[FACTOR_TRACKERS], "trackers_text", "TRACKERS", FIELD_TEXT,
	       COL_TEXT_ONLY),
	COLUMN(struct row, most, "most", "NAMED", FIELD_STR, 0),
};

static const struct view bench_view = { "bench", columns, ARRAY_SIZE(columns) };

#define MOVED_LEAST 0.02 /* below it, a factor has not moved */

static int judge(const struct windows *w, struct judged *out, struct err *err)
{
	const struct diag_window *window = windows_get(w, windows_count(w) - 1);
	struct diagnosis d = { 0 };
	int ret = diagnose(window, &d);

	if (ret)
		return err_set(err, ret, "out of memory");
	*out = (struct judged) { .rate = 0 };
	for (size_t i = 0; i < d.nvms; i++) {
		const struct diag_vm *vm = &window->vms[d.vms[i].vm];

		if (strcmp(vm->name, "victim"))
			continue;
		for (unsigned f = 0; f < FACTORS; f++) {
			const struct diag_part *part = &d.vms[i].all.part[f];

			out->loss[f] = part->measured ? part->loss : NAN;
			out->error[f] = part->measured ? part->loss_error : NAN;
		}
		for (size_t v = 0; v < vm->nvcpus; v++)
			out->rate += vm->vcpus[v].role[ROLE_INSTRUCTIONS].value /
				     window->seconds / (double)vm->nvcpus;
	}
	diagnosis_free(&d);
	return 0;
}

static int run_scenario(const struct benchmark *b, bool provoked,
			const struct scenario_host *host, struct out *out,
			struct judged *judged, struct err *err)
{
	const struct gather_options options = { .windows = WINDOWS,
						.seconds = WINDOW_S,
						.quiet = true };
	struct common_options common = opt.common;
	struct strbuf text = { 0 };
	struct windows *w = NULL;
	struct gather g;
	int ret;

	strbuf_puts(&text, "sim:");
	benchmark_scenario(b, provoked, host, &text);
	if (text.oom) {
		strbuf_free(&text);
		return err_set(err, ENOMEM, "out of memory");
	}
	common.source = text.data;
	ret = gather_open(&g, &common, &options, out, err);
	if (!ret) {
		ret = gather_windows(&g, &w, err);
		if (!ret && windows_count(w) < WINDOWS)
			ret = err_set(err, EINTR, "%s: interrupted", b->name);
		if (!ret)
			ret = judge(w, judged, err);
		windows_free(w);
		gather_close(&g);
	}
	strbuf_free(&text);
	return ret;
}

static bool is_provoked(const struct benchmark *b, const char *factor)
{
	return (b->provokes && !strcmp(b->provokes, factor)) ||
	       (b->also && !strcmp(b->also, factor));
}

static int run_simulated(const struct benchmark *b, const struct scenario_host *host,
			 struct out *out, struct row *row, struct err *err)
{
	struct judged calm, provoked;
	int ret = run_scenario(b, false, host, out, &calm, err);
	double most = MOVED_LEAST;

	if (!ret)
		ret = run_scenario(b, true, host, out, &provoked, err);
	if (ret)
		return ret;
	*row = (struct row) { .name = b->name,
			      .provokes = b->provokes,
			      .slower = calm.rate / provoked.rate };
	for (unsigned f = 0; f < FACTORS; f++) {
		row->moved[f] = provoked.loss[f] - calm.loss[f];
		row->error[f] = hypot(provoked.error[f], calm.error[f]);
		if (!isnan(row->moved[f]))
			out_percent(row->text[f], sizeof(row->text[f]), row->moved[f],
				    row->error[f]);
		if (row->moved[f] > most) {
			most = row->moved[f];
			row->most = factor_name((enum factor)f);
		}
	}
	row->named = row->most ? is_provoked(b, row->most) : !b->provokes;
	return 0;
}

static bool wanted(const struct benchmark *b, int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!strcmp(argv[i], b->name))
			return true;
	return !argc;
}

static int simulated(int argc, char **argv, struct out *out, struct err *err)
{
	const char *machine = opt.machine ? opt.machine : MACHINE;
	unsigned missed = 0, n = 0;
	struct diag_machine sheet;
	struct scenario_host host;
	int ret = sheet_of_preset(machine, &sheet, err);

	if (ret)
		return ret;
	host = (struct scenario_host) { .machine = machine,
					.cores = sheet.cores,
					.llc_bytes = (uint64_t)sheet.llc_bytes,
					.misses = sheet.lfb,
					.trackers = sheet.trackers };
	out_line(out,
		 "Built-in host, simulated: %s. Change of the victim's loss, by factor:",
		 machine);
	out_table(out, &bench_view);
	for (const struct benchmark *b = benchmarks; b->name && !ret; b++) {
		struct row row;

		if (!wanted(b, argc, argv))
			continue;
		if (isatty(STDERR_FILENO))
			fprintf(stderr, "\r%s …\033[K", b->name);
		ret = run_simulated(b, &host, out, &row, err);
		if (isatty(STDERR_FILENO))
			fputs("\r\033[K", stderr);
		if (ret)
			break;
		out_row(out, &row);
		missed += !row.named;
		n++;
	}
	out_end(out);
	if (!ret)
		out_line(out, "%u of %u named as provoked", n - missed, n);
	return ret ? ret : missed ? STATUS_PARTIAL : STATUS_OK;
}

/* ---- on this machine */

struct native_row {
	const char *name, *provokes;
	struct native_result r;
	const char *held;
	struct err why;
};

static const struct column native_columns[] = {
	COLUMN(struct native_row, name, "benchmark", "BENCHMARK", FIELD_STR, 0),
	COLUMN(struct native_row, provokes, "provokes", "PROVOKES", FIELD_STR, 0),
	COLUMN(struct native_row, r.calm_ns, "calm_ns", "CALM ns", FIELD_F64, 0),
	COLUMN(struct native_row, r.provoked_ns, "provoked_ns", "PROVOKED ns", FIELD_F64,
	       0),
	COLUMN(struct native_row, r.slower, "slower", "SLOWER", FIELD_F64, 0),
	COLUMN(struct native_row, held, "held", "PROVOKED", FIELD_STR, 0),
	COLUMN(struct native_row, why.text, "reason", "REASON", FIELD_TEXT, COL_LAST),
};

static const struct view native_view = { "bench-native", native_columns,
					 ARRAY_SIZE(native_columns) };

static int native(int argc, char **argv, struct out *out, struct err *err)
{
	struct native_machine m;
	int ret = native_machine_read(0, &m, err), status = STATUS_OK;

	if (ret)
		return ret;
	out_table(out, &native_view);
	for (const struct benchmark *b = benchmarks; b->name && !ret; b++) {
		struct native_row row = { .name = b->name, .provokes = b->provokes };

		if (!wanted(b, argc, argv))
			continue;
		ret = native_run(&m, b, opt.seconds > 0 ? opt.seconds : 1, &row.r,
				 &row.why);
		row.held = ret ? NULL : row.r.held ? "yes" : "no";
		if (ret && ret != -EOPNOTSUPP) {
			*err = row.why;
			break;
		}
		status = ret || !row.r.held ? STATUS_PARTIAL : status;
		ret = 0;
		out_row(out, &row);
	}
	out_end(out);
	native_machine_free(&m);
	return ret ? ret : status;
}

/* ---- the command */

static const struct column list_columns[] = {
	COLUMN(struct benchmark, name, "benchmark", "BENCHMARK", FIELD_STR, 0),
	COLUMN(struct benchmark, provokes, "provokes", "PROVOKES", FIELD_STR, 0),
	COLUMN(struct benchmark, also, "also", "AND", FIELD_STR, 0),
	COLUMN(struct benchmark, what, "what", "HOW", FIELD_STR, COL_LAST),
};

static const struct view list_view = { "benchmark", list_columns,
				       ARRAY_SIZE(list_columns) };

static void list(struct out *out)
{
	out_table(out, &list_view);
	for (const struct benchmark *b = benchmarks; b->name; b++)
		out_row(out, b);
	out_end(out);
}

static int bench_run(int argc, char **argv)
{
	const struct out_ops *format;
	struct err err = { 0 };
	struct out out;
	int status = common_format(&opt.common, &format);

	if (status)
		return status;
	if (opt.native && opt.machine)
		return command_misused("--native measures this machine, --machine %s the "
				       "built-in host: choose one",
				       opt.machine);
	for (int i = 0; i < argc; i++)
		if (!benchmark_find(argv[i]))
			return command_misused("%s: no such benchmark; vmmprof bench "
					       "--list shows them",
					       argv[i]);
	out_init(&out, format, stdout);
	if (opt.list)
		list(&out);
	else
		status = opt.native ? native(argc, argv, &out, &err)
				    : simulated(argc, argv, &out, &err);
	out_free(&out);
	return status < 0 ? command_failed(&err) : status;
}

static const struct option_row options[] = {
	{ "machine", 0, "PRESET", OPT_STRING, &opt.machine,
	  "Which machine the built-in host is (nehalem-ep)" },
	{ "native", 0, NULL, OPT_FLAG, &opt.native,
	  "On this machine: how much slower each victim gets" },
	{ "seconds", 0, "S", OPT_F64, &opt.seconds,
	  "With --native: each half is measured so long (1)" },
	{ "list", 0, NULL, OPT_FLAG, &opt.list, "Show what there is" },
	COMMON_FORMAT(&opt.common),
	{ 0 },
};

const struct command command_bench = {
	.name = "bench",
	.summary = "Provoke each factor, and show what a diagnosis makes of it",
	.usage = "[options] [NAME...]",
	.example = "  vmmprof bench                       # the whole confusion matrix\n"
		   "  vmmprof bench --machine westmere-ep memory trackers\n"
		   "  vmmprof bench --native remote       # on this machine\n",
	.options = options,
	.run = bench_run,
};
