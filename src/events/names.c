/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names that perf gives to the kernel's generic events; spellings as in
 * tools/perf/util/parse-events.c and evsel.c of Linux 6.1.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "base/vec.h"
#include "events/lookup.h"

#define HW(id) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id
#define SW(id) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id

static const struct generic {
	const char *name, *alias;
	uint32_t type;
	uint64_t config;
	bool must_move;
	const char *unit;
	const char *what;
} generics[] = {
	{ "cycles", "cpu-cycles", HW(CPU_CYCLES), true, "", "CPU cycles" },
	{ "instructions", NULL, HW(INSTRUCTIONS), true, "", "instructions retired" },
	{ "cache-references", NULL, HW(CACHE_REFERENCES), false, "",
	  "accesses to the last cache" },
	{ "cache-misses", NULL, HW(CACHE_MISSES), false, "", "misses in the last cache" },
	{ "branches", "branch-instructions", HW(BRANCH_INSTRUCTIONS), true, "",
	  "branches retired" },
	{ "branch-misses", NULL, HW(BRANCH_MISSES), false, "", "branches mispredicted" },
	{ "bus-cycles", NULL, HW(BUS_CYCLES), true, "", "cycles of the bus" },
	{ "stalled-cycles-frontend", "idle-cycles-frontend", HW(STALLED_CYCLES_FRONTEND),
	  false, "", "cycles without instructions to issue" },
	{ "stalled-cycles-backend", "idle-cycles-backend", HW(STALLED_CYCLES_BACKEND),
	  false, "", "cycles without resources to issue to" },
	{ "ref-cycles", NULL, HW(REF_CPU_CYCLES), true, "",
	  "cycles at the nominal frequency" },
	{ "task-clock", NULL, SW(TASK_CLOCK), true, "ns", "time the thread ran" },
	{ "cpu-clock", NULL, SW(CPU_CLOCK), true, "ns", "time by a timer of the CPU" },
	{ "page-faults", "faults", SW(PAGE_FAULTS), false, "", "page faults on the host" },
	{ "minor-faults", NULL, SW(PAGE_FAULTS_MIN), false, "", "without reading a disk" },
	{ "major-faults", NULL, SW(PAGE_FAULTS_MAJ), false, "", "that read a disk" },
	{ "context-switches", "cs", SW(CONTEXT_SWITCHES), false, "",
	  "times the vCPU's thread left a CPU" },
	{ "cpu-migrations", "migrations", SW(CPU_MIGRATIONS), false, "",
	  "moves to another CPU" },
	{ "alignment-faults", NULL, SW(ALIGNMENT_FAULTS), false, "", "" },
	{ "emulation-faults", NULL, SW(EMULATION_FAULTS), false, "", "" },
	{ "dummy", NULL, SW(DUMMY), false, "", "counts nothing" },
	{ "bpf-output", NULL, SW(BPF_OUTPUT), false, "", "written by BPF programs" },
	{ "cgroup-switches", NULL, SW(CGROUP_SWITCHES), false, "",
	  "switches to another cgroup" },
};

/* First spelling of an id: the one that is listed. */
struct spelling {
	const char *word;
	unsigned id;
};

static const struct spelling caches[] = {
	{ "L1-dcache", PERF_COUNT_HW_CACHE_L1D },
	{ "l1-d", PERF_COUNT_HW_CACHE_L1D },
	{ "l1d", PERF_COUNT_HW_CACHE_L1D },
	{ "L1-data", PERF_COUNT_HW_CACHE_L1D },
	{ "L1-icache", PERF_COUNT_HW_CACHE_L1I },
	{ "l1-i", PERF_COUNT_HW_CACHE_L1I },
	{ "l1i", PERF_COUNT_HW_CACHE_L1I },
	{ "L1-instruction", PERF_COUNT_HW_CACHE_L1I },
	{ "LLC", PERF_COUNT_HW_CACHE_LL },
	{ "L2", PERF_COUNT_HW_CACHE_LL },
	{ "dTLB", PERF_COUNT_HW_CACHE_DTLB },
	{ "d-tlb", PERF_COUNT_HW_CACHE_DTLB },
	{ "Data-TLB", PERF_COUNT_HW_CACHE_DTLB },
	{ "iTLB", PERF_COUNT_HW_CACHE_ITLB },
	{ "i-tlb", PERF_COUNT_HW_CACHE_ITLB },
	{ "Instruction-TLB", PERF_COUNT_HW_CACHE_ITLB },
	{ "branch", PERF_COUNT_HW_CACHE_BPU },
	{ "branches", PERF_COUNT_HW_CACHE_BPU },
	{ "bpu", PERF_COUNT_HW_CACHE_BPU },
	{ "btb", PERF_COUNT_HW_CACHE_BPU },
	{ "bpc", PERF_COUNT_HW_CACHE_BPU },
	{ "node", PERF_COUNT_HW_CACHE_NODE },
};

static const struct spelling ops[] = {
	{ "load", PERF_COUNT_HW_CACHE_OP_READ },
	{ "loads", PERF_COUNT_HW_CACHE_OP_READ },
	{ "read", PERF_COUNT_HW_CACHE_OP_READ },
	{ "store", PERF_COUNT_HW_CACHE_OP_WRITE },
	{ "stores", PERF_COUNT_HW_CACHE_OP_WRITE },
	{ "write", PERF_COUNT_HW_CACHE_OP_WRITE },
	{ "prefetch", PERF_COUNT_HW_CACHE_OP_PREFETCH },
	{ "prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH },
	{ "speculative-read", PERF_COUNT_HW_CACHE_OP_PREFETCH },
	{ "speculative-load", PERF_COUNT_HW_CACHE_OP_PREFETCH },
};

static const struct spelling results[] = {
	{ "misses", PERF_COUNT_HW_CACHE_RESULT_MISS },
	{ "miss", PERF_COUNT_HW_CACHE_RESULT_MISS },
	{ "refs", PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "Reference", PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "ops", PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "access", PERF_COUNT_HW_CACHE_RESULT_ACCESS },
};

#define OP(id) (1u << PERF_COUNT_HW_CACHE_OP_##id)
#define OPS_ALL (OP(READ) | OP(WRITE) | OP(PREFETCH))
/* What each cache can be asked for: evsel__hw_cache_stat[] of tools/perf/util/evsel.c. */
static const struct {
	unsigned ops;
	const char *words;
} cache_ops[] = {
	[PERF_COUNT_HW_CACHE_L1D] = { OPS_ALL, "loads, stores and prefetches" },
	[PERF_COUNT_HW_CACHE_L1I] = { OP(READ) | OP(PREFETCH), "loads and prefetches" },
	[PERF_COUNT_HW_CACHE_LL] = { OPS_ALL, "loads, stores and prefetches" },
	[PERF_COUNT_HW_CACHE_DTLB] = { OPS_ALL, "loads, stores and prefetches" },
	[PERF_COUNT_HW_CACHE_ITLB] = { OP(READ), "loads" },
	[PERF_COUNT_HW_CACHE_BPU] = { OP(READ), "loads" },
	[PERF_COUNT_HW_CACHE_NODE] = { OPS_ALL, "loads, stores and prefetches" },
};

static const struct spelling *take(const char **s, const struct spelling *words, size_t n)
{
	const struct spelling *best = NULL;
	size_t best_len = 0;

	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(words[i].word);

		if (len <= best_len || strncasecmp(*s, words[i].word, len))
			continue;
		if ((*s)[len] && (*s)[len] != '-')
			continue;
		best = &words[i];
		best_len = len;
	}
	*s += best_len;
	return best;
}

/* CACHE[-OP][-RESULT], OP and RESULT in either order: loads and accesses if not said. */
static int cache_resolve(const char *name, struct event *ev, struct err *err)
{
	const char *s = name;
	const struct spelling *cache = take(&s, caches, ARRAY_SIZE(caches));
	const struct spelling *op = NULL, *result = NULL;

	if (!cache)
		return NOT_MINE;
	while (*s) {
		const struct spelling *word;

		s++; /* take() stops at a dash only */
		if (!op && (word = take(&s, ops, ARRAY_SIZE(ops))))
			op = word;
		else if (!result && (word = take(&s, results, ARRAY_SIZE(results))))
			result = word;
		else
			return NOT_MINE;
	}
	op = op ? op : &ops[0];
	if (!(cache_ops[cache->id].ops & (1u << op->id)))
		return err_set(err, ENOENT,
			       "%s: the kernel has no such cache event; %s has %s", name,
			       cache->word, cache_ops[cache->id].words);
	ev->type = PERF_TYPE_HW_CACHE;
	ev->config = cache->id | op->id << 8 |
		     (result ? result->id : PERF_COUNT_HW_CACHE_RESULT_ACCESS) << 16;
	ev->kind = EVENT_HARDWARE;
	return 0;
}

static enum event_kind generic_kind(const struct generic *g)
{
	return g->type == PERF_TYPE_SOFTWARE ? EVENT_SOFTWARE : EVENT_HARDWARE;
}

int names_resolve(const char *name, struct event *ev, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(generics); i++) {
		const struct generic *g = &generics[i];

		if (strcmp(name, g->name) && (!g->alias || strcmp(name, g->alias)))
			continue;
		ev->type = g->type;
		ev->config = g->config;
		ev->kind = generic_kind(g);
		str_copy(ev->unit, sizeof(ev->unit), g->unit);
		return 0;
	}
	return cache_resolve(name, ev, err);
}

bool names_must_move(const struct event *ev)
{
	uint64_t config = ev->config;

	if (ev->type == PERF_TYPE_HARDWARE) /* the rest says of which PMU */
		config &= PERF_HW_EVENT_MASK;
	for (size_t i = 0; i < ARRAY_SIZE(generics); i++)
		if (generics[i].must_move && generics[i].type == ev->type &&
		    generics[i].config == config)
			return true;
	return false;
}

/* Is words[i] the first of its id, the one to list? */
static bool canonical(const struct spelling *words, size_t i)
{
	return !i || words[i].id != words[i - 1].id;
}

static int cache_each(int (*cb)(void *ctx, const struct event_name *name), void *ctx)
{
	char name[64];
	int ret;

	for (size_t c = 0; c < ARRAY_SIZE(caches); c++)
		for (size_t o = 0; o < ARRAY_SIZE(ops); o++) {
			if (!canonical(caches, c) || !canonical(ops, o) ||
			    !(cache_ops[caches[c].id].ops & (1u << ops[o].id)))
				continue;
			for (int miss = 0; miss < 2; miss++) {
				struct event_name en = { name, "", "", EVENT_HARDWARE };

				/* "prefetches", as "loads": the plural counts accesses */
				snprintf(name, sizeof(name), "%s-%s%s", caches[c].word,
					 ops[o + !miss].word, miss ? "-misses" : "");
				ret = cb(ctx, &en);
				if (ret)
					return ret;
			}
		}
	return 0;
}

int names_each(int (*cb)(void *ctx, const struct event_name *name), void *ctx)
{
	for (size_t i = 0; i < ARRAY_SIZE(generics); i++) {
		const struct generic *g = &generics[i];

		for (const char *name = g->name; name;
		     name = name == g->name ? g->alias : NULL) {
			struct event_name en = { name, "", g->what, generic_kind(g) };
			int ret = cb(ctx, &en);

			if (ret)
				return ret;
		}
	}
	return cache_each(cb, ctx);
}
