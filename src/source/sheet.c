/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/sheet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "base/data.h"
#include "base/str.h"
#include "events/table.h"
#include "numasim/spec.h"
#include "source/datasheet.h"

#define DEVICES "sys/devices/system"
#define LLC_INDEX 3 /* the cache with this index is the last level where there is one */
#define NEAR 10	    /* a node's distance to itself: ACPI 6.5, 5.2.17 */

static double ns(uint32_t ps)
{
	return ps / 1e3;
}

void sheet_of_spec(const struct machine_spec *spec, struct diag_machine *out)
{
	*out = (struct diag_machine) {
		.nodes = spec->nodes,
		.cores = spec->cores,
		.core_hz = spec->core_hz,
		.uncore_hz = spec->uncore_hz,
		.llc_bytes = spec->llc.bytes,
		.l2_bytes = spec->l2.bytes,
		.inclusive = true,
		.llc_ns = ns(spec->llc.latency),
		.local_ns = ns(spec->local),
		.remote_ns = ns(spec->remote),
		.shared_ns = ns(spec->shared),
		.modified_ns = ns(spec->modified),
		.remote_cache_ns = ns(spec->remote_cache),
		.remote_modified_ns = ns(spec->remote_modified),
		.mem_idle_ns = ns(spec->local - spec->llc.latency),
		.mem_rate = spec->channels * (double)spec->channel_rate * spec->efficiency,
		.link_rate = spec->link_rate,
		.lfb = spec->lfb,
		.trackers = spec->rt,
	};
	for (size_t i = 0; i < DIAG_NODES && i < SPEC_NODES; i++)
		for (size_t k = 0; k < DIAG_NODES && k < SPEC_NODES; k++)
			out->hops[i][k] = spec->hops[i][k];
	snprintf(out->origin, sizeof(out->origin), "data sheet of %s", spec->name);
}

int sheet_of_preset(const char *what, struct diag_machine *out, struct err *err)
{
	struct machine_spec spec;
	int ret = machine_spec_load(what, &spec, err);

	if (!ret)
		sheet_of_spec(&spec, out);
	return ret;
}

struct search {
	const struct cpu_id *cpu;
	struct diag_machine *out;
};

static int try_preset(void *ctx, const char *name, const char *path)
{
	struct search *s = ctx;
	struct machine_spec spec;

	(void)path;
	if (machine_spec_load(name, &spec, NULL) || !spec.family ||
	    spec.family != s->cpu->family || spec.model != s->cpu->model)
		return 0;
	sheet_of_spec(&spec, s->out);
	/* one that is played with an older one's counters is played with its LLC, too */
	s->out->inclusive = spec.pmu == spec.model;
	return 1;
}

/* Its cores: the first CPU of each, as the kernel lists threads. */
static unsigned cores_of(const struct rootfs *root, const int *cpus, size_t n)
{
	unsigned cores = 0;

	for (size_t i = 0; i < n; i++) {
		char list[256];
		int *threads = NULL;
		size_t nthreads = 0;

		if (rootfs_read(root, list, sizeof(list),
				DEVICES "/cpu/cpu%d/topology/thread_siblings_list",
				cpus[i]) < 0 ||
		    cpulist_parse(list, &threads, &nthreads) || !nthreads ||
		    threads[0] == cpus[i])
			cores++;
		free(threads);
	}
	return cores;
}

/* Bytes of all last-level caches of these CPUs; 0: not told. */
static double llc_of(const struct rootfs *root, const int *cpus, size_t n)
{
	double bytes = 0;

	for (size_t i = 0; i < n; i++) {
		char list[256], size[32];
		int *sharing = NULL;
		size_t nsharing = 0;
		bool first;

		if (rootfs_read(root, list, sizeof(list),
				DEVICES "/cpu/cpu%d/cache/index%d/shared_cpu_list", cpus[i],
				LLC_INDEX) < 0 ||
		    rootfs_read(root, size, sizeof(size),
				DEVICES "/cpu/cpu%d/cache/index%d/size", cpus[i],
				LLC_INDEX) < 0 ||
		    cpulist_parse(list, &sharing, &nsharing))
			return 0;
		first = nsharing && sharing[0] == cpus[i];
		free(sharing);
		if (first)
			bytes += strtod(size, NULL) * 1024; /* "8192K" */
	}
	return bytes;
}

/* Links between nodes, from the firmware's distances: near ones one, others two. */
static void read_hops(const struct rootfs *root, const struct machine *machine,
		      struct diag_machine *out)
{
	unsigned long nearest = ~0ul, distance[DIAG_NODES][DIAG_NODES] = { 0 };

	for (size_t i = 0; i < out->nodes; i++) {
		char text[256], *rest = text;

		if (rootfs_read(root, text, sizeof(text), DEVICES "/node/node%d/distance",
				machine->nodes[i].id) < 0)
			*text = '\0';
		for (size_t k = 0; k < out->nodes; k++) {
			distance[i][k] = strtoul(rest, &rest, 10);
			if (i != k && distance[i][k] > NEAR && distance[i][k] < nearest)
				nearest = distance[i][k];
		}
	}
	for (size_t i = 0; i < out->nodes; i++)
		for (size_t k = 0; k < out->nodes; k++)
			out->hops[i][k] = i == k ? 0 : distance[i][k] > nearest ? 2 : 1;
}

static void read_kernel(const struct rootfs *root, const struct machine *machine,
			struct diag_machine *out)
{
	int64_t khz;
	int *cpus = NULL;
	size_t n = 0;

	out->nodes = machine->nnodes < DIAG_NODES ? machine->nnodes : DIAG_NODES;
	read_hops(root, machine, out);
	if (machine->nnodes && !cpulist_parse(machine->nodes[0].cpus, &cpus, &n)) {
		double llc = llc_of(root, cpus, n);

		out->cores = cores_of(root, cpus, n);
		if (llc > 0)
			out->llc_bytes = llc;
	}
	free(cpus);
	if (!rootfs_read_i64(root, &khz, DEVICES "/cpu/cpu0/cpufreq/base_frequency") ||
	    !rootfs_read_i64(root, &khz, DEVICES "/cpu/cpu0/cpufreq/cpuinfo_max_freq"))
		out->core_hz = khz > 0 ? khz * 1e3 : out->core_hz;
}

/*
 * What its family and model are known to do: one of the machines that can be played, or
 * the data sheet beside its event table. 0 without an origin: neither.
 */
static int read_known(const struct rootfs *root, struct diag_machine *out, struct err *err)
{
	struct cpu_id cpu;
	struct search search = { &cpu, out };
	struct event_table *table;
	int ret;

	if (cpu_identify(root, &cpu, NULL) ||
	    (!strcmp(cpu.vendor, "GenuineIntel") &&
	     data_each("machines", try_preset, &search) == 1) ||
	    event_table_load(&cpu, &table, NULL))
		return 0;
	ret = datasheet_load(event_table_name(table), out, err);
	if (!ret)
		snprintf(out->origin, sizeof(out->origin), "data sheet of %s",
			 event_table_name(table));
	event_table_free(table);
	return ret == -ENOENT ? 0 : ret;
}

int sheet_read(const struct rootfs *root, const struct machine *machine,
	       struct diag_machine *out, struct err *err)
{
	char name[sizeof(out->origin)];
	int ret;

	*out = (struct diag_machine) { 0 };
	ret = read_known(root, out, err);
	if (ret)
		return ret;
	str_copy(name, sizeof(name), out->origin);
	read_kernel(root, machine, out);
	if (*name)
		snprintf(out->origin, sizeof(out->origin),
			 "%.40s; sizes as the kernel says", name);
	else
		str_copy(out->origin, sizeof(out->origin),
			 "the kernel; no data sheet for this CPU");
	return 0;
}
