/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The questions that `vmmprof check` answers on the simulated host. */
#include <errno.h>

#include "base/vec.h"
#include "source/sim/state.h"

struct facts {
	struct source *src;
	const struct capability_ask *asks;
	size_t nasks;
	struct topology topo;
};

static void check_host(const struct facts *f, struct capability *c)
{
	const struct machine_spec *spec = sim_machine(f->src->sim);

	finding(c, VERDICT_OK, 0,
		"simulated: %s; %u nodes of %u CPUs; nothing of this machine is measured",
		f->src->words, spec->nodes, spec->cores);
}

static void check_vms(const struct facts *f, struct capability *c)
{
	size_t vcpus = 0;

	for (size_t i = 0; i < f->topo.nvms; i++)
		vcpus += f->topo.vms[i].nvcpus;
	finding(c, VERDICT_OK, 0, "%zu, with %zu vCPUs, on %d pCPUs", f->topo.nvms, vcpus,
		f->topo.machine.ncpus);
}

static void check_clock(const struct facts *f, struct capability *c)
{
	(void)f;
	finding(c, VERDICT_OK, 0,
		"all times are simulated; the host runs as fast as this machine can, and "
		"only while something is measured");
}

static void check_pmu(const struct facts *f, struct capability *c)
{
	const struct sim_pmu_info *info = &f->src->info;

	if (info->counters + info->fixed) {
		finding(c, VERDICT_OK, 0,
			"%s: %u counters and %u fixed ones of each core; with more events "
			"they take turns and are scaled",
			info->family, info->counters, info->fixed);
		return;
	}
	finding(c, VERDICT_MISSING, ABLE_HARDWARE | ABLE_GUEST | ABLE_SAMPLE,
		"someone else holds all counters");
}

static void check_uncore(const struct facts *f, struct capability *c)
{
	if (f->src->info.uncore)
		finding(c, VERDICT_OK, 0,
			"%u counters and the clock's own of each socket; who asks for "
			"more events has them by turns",
			f->src->info.uncore);
}

static void check_sampling(const struct facts *f, struct capability *c)
{
	if (f->src->info.counters + f->src->info.fixed)
		finding(c, VERDICT_OK, 0,
			"every N events (-c); functions have names without --symbols");
}

static void check_asked(const struct facts *f, struct capability *c)
{
	hosted_check_asked(&f->src->hosted, &f->topo, f->asks, f->nasks, c);
}

static const struct question questions[] = {
	{ "host", "Host", "Host", check_host },
	{ "vms", "Host", "VMs", check_vms },
	{ "clock", "Host", "Time", check_clock },
	{ "pmu", "Counters", "Hardware counters", check_pmu },
	{ "uncore", "Counters", "Counters of sockets", check_uncore },
	{ "sampling", "Counters", "Sampling", check_sampling },
	{ "asked", "Counters", "What was asked for", check_asked },
};

int sim_capabilities(struct source *src, const struct capability_ask *asks, size_t nasks,
		     struct capability_list *list, struct err *err)
{
	struct facts f = { .src = src, .asks = asks, .nasks = nasks };
	int ret = sim_topology(src, TOPOLOGY_BASIC, &f.topo, err);

	if (ret)
		goto out;
	ret = questions_ask(questions, ARRAY_SIZE(questions), &f, list);
	if (ret)
		err_set(err, ret, "out of memory while checking the simulated host");
out:
	topology_free(&f.topo);
	return ret;
}
