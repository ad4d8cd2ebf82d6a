/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fdlimit.h"
#include "base/rootfs.h"
#include "base/str.h"
#include "base/vec.h"
#include "cli/child.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/plan.h"
#include "cli/record_sink.h"
#include "cli/ticker.h"
#include "symbols/symtab.h"

#define DEFAULT_EVENT "cycles"
#define DEFAULT_DIR "vmmprof.data"
#define NOT_GIVEN UINT64_MAX
#define RING_KIB_MAX (1 << 20)
#define SECOND_NS 1000000000u
#define DRAIN_NS                                                                           \
	250000000u /* all rings are drained this often, or when one is half full           \
		    */

static struct {
	struct common_options common;
	struct plan_options plan;
	struct string_list symbols;
	uint64_t period, freq, ring_kib;
	bool host, both;
	const char *dir;
	double duration;
} opt = { .dir = DEFAULT_DIR,
	  .period = NOT_GIVEN,
	  .freq = NOT_GIVEN,
	  .duration = -1,
	  .ring_kib = NOT_GIVEN };

static volatile sig_atomic_t stop_signal;
static int signal_fd = -1; /* polls readable after a signal, where that ends no wait */
static int ticker = -1;	   /* when a status line is due */

static void on_signal(int sig)
{
	const uint64_t one = 1;
	int saved = errno;

	if (sig != SIGCHLD)
		stop_signal = sig;
	if (signal_fd >= 0 && write(signal_fd, &one, sizeof(one)) < 0)
		errno = saved; /* it holds 2^64 of them: it is readable */
}

static void take_signals(void)
{
	uint64_t times;

	if (read(signal_fd, &times, sizeof(times)) < 0)
		return; /* none came */
}

static void on_nothing(int sig)
{
	(void)sig;
}

/*
 * What is told as a failed write ends nothing: a file size limit, a reader of our
 * messages that left. By a handler, since COMMAND would inherit that it is ignored.
 */
static void catch_signals(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGCHLD, SIGHUP };
	struct sigaction sa = { .sa_handler = on_signal };

	signal_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (size_t i = 0; i < ARRAY_SIZE(ends) - signal_ignored(SIGHUP); i++)
		sigaction(ends[i], &sa, NULL);
	sa.sa_handler = on_nothing;
	sigaction(SIGPIPE, &sa, NULL);
	sigaction(SIGXFSZ, &sa, NULL);
}

/* ---- what to sample */

/* -c and -F are for events that say neither. */
static void set_rates(const struct event_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		if (set->ev[i].period || set->ev[i].freq)
			continue;
		set->ev[i].period = opt.period == NOT_GIVEN ? 0 : opt.period;
		set->ev[i].freq = opt.freq == NOT_GIVEN ? 0 : opt.freq;
	}
}

static int check_rates(void)
{
	if (opt.period != NOT_GIVEN && opt.freq != NOT_GIVEN)
		return command_misused("-c and -F: choose one of them");
	if (!opt.period || !opt.freq)
		return command_misused("-%c 0: expected 1 or more; without -c and -F it is "
				       "4000 samples a second",
				       opt.period ? 'F' : 'c');
	return STATUS_OK;
}

/* A buffer of 0, or one that does not fit the address space, would mean another. */
static int check_ring(void)
{
	if (opt.ring_kib == NOT_GIVEN || (opt.ring_kib && opt.ring_kib <= RING_KIB_MAX))
		return STATUS_OK;
	return command_misused("--ring %" PRIu64 ": expected 4 to %d, a power of two",
			       opt.ring_kib, RING_KIB_MAX);
}

/* Symbols are looked at before the run, so that a wrong file is not found after it. */
static int check_symbols(struct err *err)
{
	for (size_t i = 0; i < opt.symbols.n; i++) {
		const char *eq = strchr(opt.symbols.v[i], '=');
		struct symtab *tab;

		if (!eq || eq == opt.symbols.v[i] || !eq[1])
			return err_set(err, EINVAL,
				       "--symbols %s: expected VM=PATH, a copy of the "
				       "guest's /proc/kallsyms, its vmlinux or a program",
				       opt.symbols.v[i]);
		if (symtab_load(eq + 1, &tab, err))
			return err->code;
		symtab_free(tab);
	}
	return 0;
}

/* ---- the run */

static void show_progress(const struct sampling *sampling, uint64_t start)
{
	const struct sampling_totals t = sampling_totals(sampling);

	fprintf(stderr,
		"\r%.0f s, %zu views, %" PRIu64 " samples, %" PRIu64 " lost, %.1f MiB ",
		(clock_now_ns() - start) / 1e9, sampling_alive(sampling), t.samples, t.lost,
		t.bytes / 1048576.0);
	fflush(stderr);
}

static bool run_over(const struct sampling *sampling, struct child *child, uint64_t end)
{
	return stop_signal || !sampling_alive(sampling) || clock_now_ns() >= end ||
	       child_over(child);
}

/* Until something ends it. 0, or the error that did. */
static int sample(struct sampling *sampling, struct record_sink *sink, struct child *child,
		  struct err *err)
{
	uint64_t start = clock_now_ns(), next = start + SECOND_NS, end = CLOCK_NEVER;
	int ret = 0;

	if (opt.duration > 0 && opt.duration < 1e9)
		end = start + (uint64_t)(opt.duration * 1e9);
	while (!ret && !run_over(sampling, child, end)) {
		uint64_t drain = clock_now_ns() + DRAIN_NS;

		ret = sampling_poll(sampling, drain < end ? drain : end, err);
		take_signals();
		if (ticker_due(ticker))
			show_progress(sampling, start);
		if (ret || clock_now_ns() < next)
			continue;
		next = clock_now_ns() + SECOND_NS;
		ret = record_sink_commit(sink, err);
	}
	if (ticker >= 0)
		fputs("\r\033[K", stderr);
	return ret;
}

/* Ends the session and the recording, after @why if the run failed. */
static int finish(struct sampling *sampling, struct record_sink *sink, struct err *why)
{
	bool full = record_disk_full(why->code);
	struct err err = { 0 };

	if (full && sink->rec)
		recording_release_reserve(sink->rec);
	if (why->code)
		record_sink_note(sink, note_make(NOTE_PROBLEM, "", 0,
						 "the recording ended early: %s",
						 full ? "disk full" : why->text));
	if (sampling_stop(sampling, &err) && !why->code) {
		*why = err;
		full = record_disk_full(err.code);
	}
	if (!sink->rec)
		return why->code ? why->code
				 : err_set(why, ENOENT,
					   "nothing was recorded: no vCPU's thread became "
					   "known; vmmprof list says why");
	if (recording_finish(sink->rec,
			     full	 ? "disk full"
			     : why->code ? why->text
					 : "normally",
			     &err) &&
	    !why->code)
		*why = err;
	sink->rec = NULL;
	return why->code;
}

static const struct column columns[] = {
	COLUMN(struct lane_row, vm, "vm", "VM", FIELD_TEXT, 0),
	COLUMN(struct lane_row, view, "view", "view", FIELD_STR, 0),
	COLUMN(struct lane_row, samples, "samples", "samples", FIELD_U64, 0),
	COLUMN(struct lane_row, lost, "lost", "lost", FIELD_U64, 0),
	COLUMN(struct lane_row, throttled, "throttled", "throttled", FIELD_U64, 0),
	COLUMN(struct lane_row, size, "bytes", "size", FIELD_BYTES, 0),
	COLUMN(struct lane_row, file, "file", "file", FIELD_TEXT, COL_LAST),
};
static const struct view view = { "recording", columns, ARRAY_SIZE(columns) };

static void show_rows(struct out *out, const struct record_sink *sink)
{
	out_table(out, &view);
	for (size_t i = 0; i < sink->nrows; i++)
		out_row(out, &sink->rows[i]);
	out_end(out);
}

static int run(const struct plan *plan, struct record_sink *sink, char **command)
{
	const struct sampling_config config = {
		.ops = sink->ops,
		.src = sink->src,
		.targets = plan->targets,
		.ntargets = plan->ntargets,
		.guest = !opt.host || opt.both,
		.host = opt.host || opt.both,
		.ring_bytes = opt.ring_kib == NOT_GIVEN ? 0 : opt.ring_kib * 1024,
		.wake_fd = { signal_fd, ticker },
		.sink = &record_sink_ops,
		.ctx = sink,
	};
	struct sampling *sampling = NULL;
	struct err err = { 0 };
	struct child child = { .hold = -1 };
	bool failed;
	int status;

	if (*command && child_prepare(&child, command, NULL, &err))
		return command_failed(&err);
	if (sampling_start(&config, &sampling, &err)) {
		child_end(&child);
		if (sink->rec)
			recording_finish(sink->rec, err.text, NULL);
		return command_failed(&err);
	}
	if (!child.pid || !child_release(&child, &err))
		sample(sampling, sink, &child, &err);
	failed = finish(sampling, sink, &err);
	child_end(&child);
	status = failed				? command_failed(&err)
		 : !stop_signal && child.status ? child.status
		 : sampling_partial(sampling)	? STATUS_PARTIAL
						: STATUS_OK;
	show_rows(sink->out, sink);
	sampling_free(sampling);
	return status;
}

/* The command line, for the recording; "" where it cannot be read. */
static void own_cmdline(char *out, size_t size)
{
	struct rootfs root;
	ssize_t n = -1;

	if (!rootfs_open(&root, "/", NULL)) {
		n = rootfs_read(&root, out, size, "proc/self/cmdline");
		rootfs_close(&root);
	}
	for (ssize_t i = 0; i + 1 < n; i++)
		if (!out[i])
			out[i] = ' ';
	if (n < 0)
		out[0] = '\0';
}

static int prepare(struct plan *plan, struct err *err)
{
	if (plan_open(&opt.plan, &opt.common, plan, err) ||
	    plan_make(&opt.plan, &opt.common, DEFAULT_EVENT, true, plan, err))
		return err->code;
	for (size_t i = 0; i < plan->ntargets; i++)
		set_rates(&plan->targets[i].events);
	return check_symbols(err);
}

/* The recording says it, too. */
static void say_simulated(struct record_sink *sink)
{
	if (sink->ops->simulated)
		record_sink_note(sink,
				 note_make(NOTE_INFO, "", 0, "the host is simulated: %s",
					   sink->ops->simulated(sink->src)));
}

static int record_run(int argc, char **argv)
{
	struct plan plan = { 0 };
	struct record_sink sink = { .path = opt.dir, .symbols = &opt.symbols };
	const struct out_ops *format;
	char cmdline[512];
	struct err err = { 0 };
	struct out out;
	int status;

	if (argc && strcmp(argv[-1], "--"))
		return command_misused("%s: not an option; a command to run follows --",
				       argv[0]);
	if (common_format(&opt.common, &format))
		return STATUS_USAGE;
	if (check_rates() || check_ring())
		return STATUS_USAGE;
	if (!opt.duration)
		return command_misused(
			"--duration 0: expected more than 0 seconds; without "
			"it the run goes on until it is ended");
	if (opt.host && opt.both)
		return command_misused("--host and --both: choose one of them");
	if (prepare(&plan, &err)) {
		status = err.code == -EINVAL ? command_misused("%s", err.text)
					     : command_failed(&err);
		plan_free(&plan);
		return status;
	}
	out_init(&out, format, stdout);
	own_cmdline(cmdline, sizeof(cmdline));
	sink.cmdline = cmdline;
	sink.out = &out;
	catch_signals();
	ticker = isatty(STDERR_FILENO) ? ticker_open() : -1;
	fdlimit_raise();
	sink.ops = plan.ops;
	sink.src = plan.src;
	say_simulated(&sink);
	status = run(&plan, &sink, argv);
	record_sink_free(&sink);
	out_free(&out);
	plan_free(&plan);
	return status;
}

static const struct option_row options[] = {
	{ "vm", 0, "VM[:EVENTS]", OPT_LIST, &opt.plan.vms,
	  "Sample this VM (id, pid, name, pattern), with its own events" },
	{ "event", 'e', "EVENTS", OPT_LIST, &opt.plan.events,
	  "Events for every VM; cycles if none are given" },
	{ "count", 'c', "N", OPT_U64, &opt.period, "Take a sample every N events" },
	{ "freq", 'F', "HZ", OPT_U64, &opt.freq, "Take HZ samples a second (4000)" },
	{ "pid", 'p', "PID", OPT_LIST, &opt.plan.pids, "Sample a plain process" },
	{ "host", 0, NULL, OPT_FLAG, &opt.host, "The host side of the vCPU threads" },
	{ "both", 0, NULL, OPT_FLAG, &opt.both, "Guest and host side, in a file each" },
	{ "output", 'o', "DIR", OPT_STRING, &opt.dir,
	  "The recording (" DEFAULT_DIR "; an older one moves to .old)" },
	{ "symbols", 0, "VM=PATH", OPT_LIST, &opt.symbols,
	  "Keep the guest's kallsyms, vmlinux or program with the recording" },
	{ "duration", 0, "S", OPT_F64, &opt.duration, "Stop after S seconds" },
	{ "ring", 0, "KIB", OPT_U64, &opt.ring_kib,
	  "Buffer per vCPU and view, in KiB, a power of two" },
	COMMON_FORMAT(&opt.common),
	COMMON_SOURCE(&opt.common),
	{ 0 },
};

const struct command command_record = {
	.name = "record",
	.summary = "Sample VMs, each with its own events, into a recording",
	.usage = "[options] [-- COMMAND]",
	.example =
		"  vmmprof record --duration 10             # all VMs by cycles, for 10 s\n"
		"  vmmprof record --vm web:cycles --vm db:cache-misses/period=1000/\n"
		"  vmmprof record --vm web --symbols web=kallsyms.web -- sleep 5\n"
		"  vmmprof record -p 1234 -e cpu-clock -F 999  # a plain process\n",
	.options = options,
	.run = record_run,
	.takes_command = true,
};
