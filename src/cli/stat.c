/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmmprof stat: count events of VMs. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"
#include "cli/child.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/model_view.h"
#include "cli/plan.h"
#include "cli/stat_view.h"
#include "cli/ticker.h"

static struct {
	struct common_options common;
	struct plan_options plan;
	uint64_t interval_ms, interval_count;
	double duration;
	bool host, both, per_vcpu;
	const char *output;
} opt = { .duration = -1 };

struct run {
	struct counting *counting;
	struct stat_view *view;
	struct model_view *models;
	struct out *out;
	struct child child;
	int sigfd;
	int ticker;   /* when a status line on stderr is due; -1: none is wanted */
	bool shown;   /* it stands there now */
	bool stopped; /* by a signal */
	uint64_t start_ns, next_ns, end_ns;
	uint64_t intervals;
};

/* ---- what the session says */

static void hide_progress(struct run *run)
{
	if (run->shown)
		fputs("\r\033[K", stderr);
	run->shown = false;
}

static void on_count(void *ctx, const struct count *count)
{
	struct run *run = ctx;

	if (!model_view_count(run->models, count))
		stat_view_count(run->view, count);
}

static void on_note(void *ctx, const struct note *note)
{
	struct run *run = ctx;

	hide_progress(run);
	out_note(run->out, note);
}

static const struct counting_ops on_data = { on_count, on_note };

/* ---- the loop */

static void show_progress(struct run *run, uint64_t now)
{
	size_t vms = counting_alive(run->counting);

	fprintf(stderr, "\rcounting %zu %s for %.0f s; Ctrl-C ends it\033[K", vms,
		vms == 1 ? "VM" : "VMs", (now - run->start_ns) / 1e9);
	fflush(stderr);
	run->shown = true;
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Sleeps until something is due, a VM ends, or a signal comes. */
static void wait_for_something(struct run *run)
{
	struct pollfd fds[] = { { run->sigfd, POLLIN, 0 },
				{ counting_fd(run->counting), POLLIN, 0 },
				{ run->ticker, POLLIN, 0 } };
	uint64_t due = counting_due_ns(run->counting);
	struct signalfd_siginfo info;

	due = earliest(earliest(due, run->next_ns), run->end_ns);
	if (clock_wait(fds, ARRAY_SIZE(fds), due) <= 0 || !(fds[0].revents & POLLIN))
		return;
	while (read(run->sigfd, &info, sizeof(info)) == sizeof(info))
		run->stopped = run->stopped || info.ssi_signo != SIGCHLD;
}

static int end_interval(struct run *run, struct err *err)
{
	int ret;

	hide_progress(run);
	if (opt.interval_ms)
		stat_view_begin(run->view, false);
	ret = counting_interval(run->counting, err);
	stat_view_end(run->view);
	model_view_end(run->models, false, opt.interval_ms);
	run->intervals++;
	return ret;
}

static bool is_over(struct run *run, uint64_t now)
{
	if (run->stopped || now >= run->end_ns || child_over(&run->child))
		return true;
	if (opt.interval_count && run->intervals >= opt.interval_count)
		return true;
	return !run->child.pid && counting_over(run->counting);
}

/* The grid of intervals keeps to the start: no drift; what was missed is skipped. */
static void next_interval(struct run *run, uint64_t now)
{
	uint64_t step = opt.interval_ms * 1000000u;

	run->next_ns += step;
	if (run->next_ns <= now)
		run->next_ns += (now - run->next_ns) / step * step + step;
}

static int count(struct run *run, struct err *err)
{
	bool fresh = false; /* an interval ended just now */
	int ret = 0;

	while (!ret) {
		uint64_t now = clock_now_ns();

		fresh = now >= run->next_ns;
		if (fresh) {
			ret = end_interval(run, err);
			next_interval(run, now);
		} else {
			ret = counting_tick(run->counting, err);
		}
		if (ret || is_over(run, now))
			break;
		if (ticker_due(run->ticker))
			show_progress(run, now);
		wait_for_something(run);
	}
	if (!fresh && !ret)
		ret = end_interval(run, err);
	hide_progress(run);
	return ret;
}

static void show_totals(struct run *run)
{
	if (opt.interval_ms)
		out_line(run->out, "\ntotal:");
	stat_view_begin(run->view, true);
	counting_totals(run->counting);
	stat_view_end(run->view);
	model_view_end(run->models, true, true);
	if (!counting_measured(run->counting)) {
		const struct note none = note_make(
			NOTE_PROBLEM, "", 0,
			"nothing was counted: no vCPU's thread became known; vmmprof check "
			"says why");

		out_note(run->out, &none);
	}
	out_line(run->out, "\n%.3f s elapsed", (clock_now_ns() - run->start_ns) / 1e9);
}

/* ---- start and end */

static int start_counting(struct run *run, const struct plan *plan, struct err *err)
{
	const struct counting_config config = {
		.ops = plan->ops,
		.src = plan->src,
		.targets = plan->targets,
		.ntargets = plan->ntargets,
		.node_events = &plan->node_events,
		.side = opt.both   ? SIDE_BOTH
			: opt.host ? SIDE_HOST
				   : SIDE_GUEST,
		.per_vcpu = opt.per_vcpu,
		.interval_ns = opt.interval_ms * 1000000u,
		.cb = &on_data,
		.ctx = run,
	};
	uint64_t now;
	int ret;

	ret = counting_start(&config, &run->counting, err);
	now = run->start_ns = clock_now_ns(); /* many vCPUs take a while to open */
	run->next_ns = opt.interval_ms ? now + opt.interval_ms * 1000000u : UINT64_MAX;
	run->end_ns = opt.duration > 0 && opt.duration < 1e9
			      ? now + (uint64_t)(opt.duration * 1e9)
			      : UINT64_MAX;
	if (!ret && run->child.pid)
		ret = child_release(&run->child, err);
	return ret;
}

static int run_status(const struct run *run)
{
	if (!run->stopped && run->child.status)
		return run->child.status;
	if (!counting_measured(run->counting))
		return STATUS_FAILED;
	return counting_partial(run->counting) || model_view_partial(run->models)
		       ? STATUS_PARTIAL
		       : STATUS_OK;
}

static int run_plan(struct run *run, const struct plan *plan, struct err *err)
{
	int ret = start_counting(run, plan, err);
	int status = STATUS_FAILED;

	if (!ret) {
		ret = count(run, err);
		child_end(&run->child);
		show_totals(run);
		status = run_status(run);
	}
	if (ret)
		status = command_failed(err);
	counting_free(run->counting);
	return status;
}

static int run_with_signals(struct run *run, const struct plan *plan, char **command,
			    struct err *err)
{
	sigset_t mask, old;
	int status, ret = 0;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	if (!signal_ignored(SIGHUP))
		sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, &old);
	run->sigfd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (run->sigfd < 0)
		ret = err_set(err, errno, "cannot watch for signals: %s", err_name(errno));
	if (!ret && *command)
		ret = child_prepare(&run->child, command, &old, err);
	status = ret ? command_failed(err) : run_plan(run, plan, err);
	child_end(&run->child);
	if (run->sigfd >= 0)
		close(run->sigfd);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return status;
}

static int check_options(int argc, char **argv)
{
	if (argc && strcmp(argv[-1], "--"))
		return command_misused("%s: not an option; a command to run follows --",
				       argv[0]);
	if (opt.host && opt.both)
		return command_misused("--host and --both: choose one of them");
	if (opt.plan.models.n && opt.both)
		return command_misused("-m and --both: a metric is of one side");
	if (!opt.duration)
		return command_misused(
			"--duration 0: expected more than 0 seconds; without "
			"it the run goes on until it is ended");
	if (opt.interval_count && !opt.interval_ms)
		return command_misused("--interval-count counts intervals: say -I MS, too");
	if (opt.interval_ms > 86400000)
		return command_misused("-I %llu: expected milliseconds, at most a day",
				       (unsigned long long)opt.interval_ms);
	return STATUS_OK;
}

static int run_with_output(const struct plan *plan, const struct out_ops *format,
			   char **command)
{
	FILE *f = opt.output ? fopen(opt.output, "we") : stdout;
	struct run run = { .sigfd = -1, .child = { .hold = -1 } };
	struct topology topo = { 0 };
	struct err err = { 0 };
	struct out out;
	int status = STATUS_FAILED;

	if (plan->models.n && plan->ops->topology(plan->src, TOPOLOGY_BASIC, &topo, &err))
		return command_failed(&err);
	if (!f) {
		err_set(&err, errno, "-o %s: cannot be written: %s", opt.output,
			err_name(errno));
		return command_failed(&err);
	}
	out_init(&out, format, f);
	common_say_host(&out, plan->ops, plan->src);
	run.out = &out;
	run.ticker = !opt.interval_ms && isatty(STDERR_FILENO) ? ticker_open() : -1;
	run.view = stat_view_create(&out, opt.per_vcpu);
	run.models = model_view_create(&out, &plan->models, &topo.machine);
	if (run.view && run.models)
		status = run_with_signals(&run, plan, command, &err);
	model_view_free(run.models);
	stat_view_free(run.view);
	topology_free(&topo);
	out_free(&out);
	if (run.ticker >= 0)
		close(run.ticker);
	if (opt.output && (fflush(f) || ferror(f)) && status != STATUS_FAILED) {
		err_set(&err, EIO, "%s: not all could be written: %s", opt.output,
			err_name(errno));
		status = command_failed(&err);
	}
	if (opt.output)
		fclose(f);
	return status;
}

static int stat_run(int argc, char **argv)
{
	struct plan plan = { 0 };
	const struct out_ops *format;
	struct err err = { 0 };
	int status = check_options(argc, argv);

	if (!status)
		status = common_format(&opt.common, &format);
	if (status)
		return status;
	if (plan_open(&opt.plan, &opt.common, &plan, &err) ||
	    plan_make(&opt.plan, &opt.common, plan.ops->stat_events, false, &plan, &err))
		status = err.code == -EINVAL ? command_misused("%s", err.text)
					     : command_failed(&err);
	else
		status = run_with_output(&plan, format, argv);
	plan_free(&plan);
	return status;
}

static const struct option_row options[] = {
	{ "vm", 0, "VM[:EVENTS]", OPT_LIST, &opt.plan.vms,
	  "Count this VM (id, pid, name, pattern), with its own events" },
	{ "event", 'e', "EVENTS", OPT_LIST, &opt.plan.events, "Events for every VM" },
	{ "model", 'm', "MODEL,...", OPT_LIST, &opt.plan.models,
	  "Show the metrics of profile models" },
	{ "pid", 'p', "PID,...", OPT_LIST, &opt.plan.pids, "Count plain processes" },
	{ "interval", 'I', "MS", OPT_U64, &opt.interval_ms, "Show counts every MS ms" },
	{ "interval-count", 0, "N", OPT_U64, &opt.interval_count,
	  "Stop after N intervals" },
	{ "duration", 0, "S", OPT_F64, &opt.duration, "Stop after S seconds" },
	{ "host", 0, NULL, OPT_FLAG, &opt.host, "The host side of the vCPU threads" },
	{ "both", 0, NULL, OPT_FLAG, &opt.both, "Guest and host side, side by side" },
	{ "per-vcpu", 0, NULL, OPT_FLAG, &opt.per_vcpu, "One more row per vCPU" },
	{ "output", 'o', "FILE", OPT_STRING, &opt.output, "Write to FILE" },
	COMMON_FORMAT(&opt.common),
	COMMON_SOURCE(&opt.common),
	{ 0 },
};

const struct command command_stat = {
	.name = "stat",
	.summary = "Count events of VMs, each with its own, all at the same time",
	.usage = "[options] [-- COMMAND]",
	.example =
		"  vmmprof stat --duration 10                   # every VM, for 10 s\n"
		"  vmmprof stat --vm web:cycles,instructions --vm db:cache-misses -I 1000\n"
		"  vmmprof stat --vm 'web*' --both --per-vcpu -- sleep 5\n"
		"  vmmprof stat -m locality,llc -I 1000         # metrics of models\n"
		"  vmmprof stat -p 1234 -e task-clock,page-faults  # a plain process\n",
	.options = options,
	.run = stat_run,
	.takes_command = true,
};
