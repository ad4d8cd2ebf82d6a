/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for events that a file describes by numbers only: perf_event_open(2). */
#include <inttypes.h>
#include <stdio.h>

#include "base/vec.h"
#include "model/event.h"
#include "record/perfdata_reader.h"

static const char *const hardware[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};

static const char *const caches[] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node",
};

static const char *const cache_ops[] = { "load", "store", "prefetch" };

static bool name_cache(uint64_t config, char *name, size_t size)
{
	uint64_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16;

	if (cache >= ARRAY_SIZE(caches) || op >= ARRAY_SIZE(cache_ops) || result > 1)
		return false;
	snprintf(name, size, "%s-%s%s", caches[cache], cache_ops[op],
		 result ? "-misses" : "s");
	return true;
}

static void name_base(const struct perf_event_attr *attr, char *name, size_t size)
{
	uint64_t config = attr->config;

	if (attr->type == PERF_TYPE_HARDWARE && config < ARRAY_SIZE(hardware))
		snprintf(name, size, "%s", hardware[config]);
	else if (attr->type == PERF_TYPE_SOFTWARE && config < ARRAY_SIZE(software))
		snprintf(name, size, "%s", software[config]);
	else if (attr->type == PERF_TYPE_TRACEPOINT)
		snprintf(name, size, "tracepoint:%" PRIu64, config);
	else if (attr->type == PERF_TYPE_RAW)
		snprintf(name, size, "r%" PRIx64, config);
	else if (attr->type != PERF_TYPE_HW_CACHE || !name_cache(config, name, size))
		snprintf(name, size, "pmu%u/config=0x%" PRIx64 "/", attr->type, config);
}

void perfdata_name_attr(const struct perf_event_attr *attr, char *name, size_t size)
{
	const struct event ev = {
		.exclude_user = attr->exclude_user,
		.exclude_kernel = attr->exclude_kernel,
		.exclude_hv = attr->exclude_hv,
		.exclude_idle = attr->exclude_idle,
		.precise = attr->precise_ip,
	};
	char mods[EVENT_MODIFIERS];
	size_t len;

	name_base(attr, name, size);
	len = strlen(name);
	event_modifiers(&ev, mods);
	snprintf(name + len, size - len, "%s", mods);
}
