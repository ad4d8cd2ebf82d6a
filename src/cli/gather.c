/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/gather.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "source/sheet.h"

#define SECOND_NS 1000000000u
#define LONGEST_S 3600

int gather_check(const struct gather_options *options)
{
	if (!options->windows || options->windows > GATHER_WINDOWS_MAX)
		return command_misused("--windows %llu: expected 1 to %d",
				       (unsigned long long)options->windows,
				       GATHER_WINDOWS_MAX);
	if (options->seconds > LONGEST_S)
		return command_misused("--window %g: expected at most %d seconds",
				       options->seconds, LONGEST_S);
	return STATUS_OK;
}

static int watch_signals(struct gather *g, struct err *err)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	g->sigfd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return g->sigfd < 0 ? err_set(err, errno, "cannot watch for signals: %s",
				      err_name(errno))
			    : 0;
}

/* What this CPU has no table for, what perf calls alike on all CPUs has to do. */
static int find_events(struct gather *g, const struct common_options *common,
		       struct err *err)
{
	int ret = model_cpu_open(common, g->ops, g->src, NULL, &g->cpu, err);

	if (!ret && !g->cpu.table) {
		const struct note note =
			note_make(NOTE_PROBLEM, "", 0, "%.200s: few roles can be read",
				  g->cpu.why.text);

		out_note(g->out, &note);
	}
	return ret ? ret : model_use_open(&g->cpu, "diagnose", &g->use, err);
}

static int read_sheet(struct gather *g, struct err *err)
{
	struct topology topo = { 0 };
	int ret = 0;

	if (g->ops->sheet) {
		g->ops->sheet(g->src, &g->machine);
		return 0;
	}
	ret = g->ops->topology(g->src, TOPOLOGY_BASIC, &topo, err);
	if (!ret)
		ret = sheet_read(&g->cpu.root, &topo.machine, &g->machine, err);
	topology_free(&topo);
	return ret;
}

int gather_open(struct gather *g, const struct common_options *common,
		const struct gather_options *options, struct out *out, struct err *err)
{
	int ret;

	*g = (struct gather) { .options = options, .out = out, .sigfd = -1 };
	g->cpu.root.fd = -1;
	ret = common_open_vms(common, &g->ops, &g->src, err);
	if (!ret) {
		if (!options->quiet)
			common_say_host(out, g->ops, g->src);
		ret = find_events(g, common, err);
	}
	if (!ret)
		ret = read_sheet(g, err);
	if (!ret)
		ret = watch_signals(g, err);
	if (ret)
		gather_close(g);
	return ret;
}

static void pass_note(void *ctx, const struct note *note)
{
	struct gather *g = ctx;

	out_note(g->out, note);
}

static void show_progress(const struct gather *g, uint64_t done, size_t vms)
{
	if (g->options->quiet || !isatty(STDERR_FILENO))
		return;
	if (done == g->options->windows)
		fputs("\r\033[K", stderr);
	else
		fprintf(stderr,
			"\rmeasuring %zu %s: window %llu of %llu; Ctrl-C ends it\033[K",
			vms, vms == 1 ? "VM" : "VMs", (unsigned long long)done + 1,
			(unsigned long long)g->options->windows);
	fflush(stderr);
}

int gather_windows(struct gather *g, struct windows **out, struct err *err)
{
	const struct windows_config config = {
		.ops = g->ops,
		.src = g->src,
		.model = &g->use.model,
		.events = &g->use.events,
		.machine = &g->machine,
		.window_ns = g->options->seconds > 0 ? g->options->seconds * SECOND_NS
			     : g->ops->window_ns     ? g->ops->window_ns
						     : SECOND_NS,
		.wake_fd = g->sigfd,
		.note = pass_note,
		.ctx = g,
	};
	uint64_t done = 0;
	int ret = windows_start(&config, out, err);

	while (!ret && done < g->options->windows) {
		show_progress(g, done, windows_topology(*out)->nvms);
		ret = windows_next(*out, err);
		done++;
	}
	show_progress(g, g->options->windows, 0);
	g->stopped = ret == -EINTR;
	if (ret != -EINTR && ret != -ENODATA)
		return ret;
	if (windows_count(*out))
		return 0;
	return g->stopped
		       ? err_set(err, ret, "ended by a signal before anything was measured")
		       : err_set(err, ret, "no VM ran long enough");
}

void gather_close(struct gather *g)
{
	model_use_close(&g->use);
	model_cpu_close(&g->cpu);
	if (g->src)
		g->ops->close(g->src);
	if (g->sigfd >= 0)
		close(g->sigfd);
	*g = (struct gather) { .cpu.root.fd = -1, .sigfd = -1 };
}
