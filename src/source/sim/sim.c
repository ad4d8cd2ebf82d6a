/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The built-in host: its row of operations, its state, and its clock. */
#include "source/sim/sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "source/sheet.h"
#include "source/sim/state.h"

#define SCENARIO "default" /* where none is named */
/* The host runs on for so long before descriptors are looked at: fixed, so that a run
 * comes to the same as another. */
#define CHUNK_NS 250000

/* ---- the clock */

static uint64_t now(void *ctx)
{
	const struct source *src = ctx;

	return SIM_EPOCH_NS + sim_now_ns(src->sim);
}

static int wait_until(void *ctx, struct pollfd *fds, nfds_t nfds, uint64_t deadline_ns)
{
	struct source *src = ctx;

	for (;;) {
		int ready = poll(fds, nfds, 0);
		uint64_t at = now(src);

		if (ready)
			return ready < 0 ? -errno : ready;
		if (at >= deadline_ns)
			return 0;
		at += deadline_ns - at < CHUNK_NS ? deadline_ns - at : CHUNK_NS;
		sim_run(src->sim, at - SIM_EPOCH_NS);
		sim_look_at_rings(src);
	}
}

static const struct clock_ops sim_clock = { now, wait_until };

/* ---- the source */

static bool never_here(const struct rootfs *root)
{
	(void)root;
	return false; /* it is asked for by name, or by who finds no VM */
}

static void sim_close(struct source *src)
{
	if (!src)
		return;
	clock_use(NULL, NULL);
	sim_free(src->sim);
	if (src->wake >= 0)
		close(src->wake);
	free(src);
}

static int sim_source_open(const struct source_config *config, struct source **out,
			   struct err *err)
{
	const char *what = config->argument ? config->argument : SCENARIO;
	struct source *src;
	int ret;

	if (config->npids)
		return err_set(err, EINVAL,
			       "-p: the simulated host has VMs, no processes: processes of "
			       "this machine are measured with --source kvm");
	src = calloc(1, sizeof(*src));
	if (!src)
		return err_set(err, ENOMEM, "out of memory");
	src->wake = -1;
	ret = sim_open(what, NULL, &src->sim, err);
	if (ret) {
		sim_close(src);
		return ret;
	}
	src->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	src->hosted = (struct hosted) { .ops = &sim_hosted, .ctx = src };
	sim_pmu_info(src->sim, &src->info);
	snprintf(src->words, sizeof(src->words), "scenario %s on %s, %s",
		 sim_name(src->sim), sim_machine(src->sim)->name,
		 sim_machine(src->sim)->cpu);
	clock_use(&sim_clock, src);
	*out = src;
	return 0;
}

static const char *simulated(const struct source *src)
{
	return src->words;
}

static void sim_cpu(struct source *src, struct cpu_id *out)
{
	const struct machine_spec *spec = sim_machine(src->sim);

	*out = (struct cpu_id) { .vendor = "GenuineIntel",
				 .family = 6,
				 .model = spec->pmu };
}

static void sim_sheet(struct source *src, struct diag_machine *out)
{
	sheet_of_spec(sim_machine(src->sim), out);
}

static int counters_open(struct source *src, const struct vm *vm, const struct vcpu *vcpu,
			 const struct event_set *set, struct opened *opened,
			 struct counters **out, struct err *err)
{
	return hosted_counters_open(&src->hosted, vm, vcpu, set, opened, out, err);
}

static int node_open(struct source *src, int node, const struct event_set *set,
		     struct opened *opened, struct counters **out, struct err *err)
{
	const struct hosted_target t = { .kind = HOSTED_NODE,
					 .id = (unsigned)node,
					 .name = "node" };

	return hosted_node_open(&src->hosted, &t, set, opened, out, err);
}

/* A VM is seen from inside; there is no other view. */
static int sampler_open(struct source *src, const struct vm *vm, const struct vcpu *vcpu,
			const struct event_set *set, bool inside, size_t ring_bytes,
			struct opened *opened, struct sampler **out, struct err *err)
{
	(void)inside;
	return hosted_sampler_open(&src->hosted, vm, vcpu, set, ring_bytes, opened, out,
				   err);
}

const struct source_ops sim_source = {
	.name = "sim",
	.help = "the built-in host: simulated VMs on a simulated NUMA machine",
	.argument = "SCENARIO",
	.stat_events = "task-clock,cycles,instructions",
	.window_ns = 10000000,
	.turn_ns = SIM_TURN_NS,
	.here = never_here,
	.open = sim_source_open,
	.close = sim_close,
	.simulated = simulated,
	.topology = sim_topology,
	.symbols = sim_symbols_each,
	.capabilities = sim_capabilities,
	.counters_open = counters_open,
	.counters_read = hosted_counters_read,
	.vcpu_ran = hosted_vcpu_ran,
	.counters_close = hosted_counters_close,
	.node_open = node_open,
	.cpu = sim_cpu,
	.sheet = sim_sheet,
	.move = sim_move,
	.say_move = sim_say_move,
	.sampler_open = sampler_open,
	.sampler_fd = hosted_sampler_fd,
	.sampler_event = hosted_sampler_event,
	.sampler_peek = hosted_sampler_peek,
	.sampler_release = hosted_sampler_release,
	.sampler_stop = hosted_sampler_stop,
	.sampler_read = hosted_sampler_read,
	.sampler_close = hosted_sampler_close,
};
