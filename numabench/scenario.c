/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numabench/scenario.h"

#define SHARED_BYTES 256 /* as many lines as native threads share */
#define MIB (1u << 20)

static uint64_t footprint(const struct part *part, const struct scenario_host *host)
{
	return (uint64_t)(part->llcs * (double)host->llc_bytes) / 4096 * 4096;
}

/*
 * Misses in flight of each thread: streams ask for all that the memory can give and no
 * more than the trackers hold, so that it is the memory they wait for.
 */
static unsigned in_flight(const struct part *part, unsigned threads,
			  const struct scenario_host *host)
{
	unsigned room = (host->trackers - 2) / threads;

	if (part->misses)
		return part->misses;
	if (part->pattern != PATTERN_STREAM || room >= host->misses)
		return host->misses;
	return room ? room : 1;
}

static void function(struct strbuf *out, const struct part *part, unsigned threads,
		     const struct scenario_host *host)
{
	if (part->pattern == PATTERN_COUNTERS) {
		strbuf_addf(
			out,
			"\tfunction add counters footprint %d shared instructions 8%s\n",
			SHARED_BYTES, part->llcs > 0 ? " for 1 steps" : "");
		if (part->llcs > 0)
			strbuf_addf(out,
				    "\tfunction read random footprint %llu parallel 1 "
				    "instructions 8 for 1 steps\n",
				    (unsigned long long)footprint(part, host));
		return;
	}
	strbuf_addf(out, "\tfunction %s %s footprint %llu instructions 8",
		    pattern_name(part->pattern), pattern_name(part->pattern),
		    (unsigned long long)footprint(part, host));
	if (part->pattern != PATTERN_CHASE)
		strbuf_addf(out, " parallel %u", in_flight(part, threads, host));
	strbuf_putc(out, '\n');
}

/* A VM with a vCPU for each thread, on the cores from @core on. */
static void vm(struct strbuf *out, const char *name, const struct part *part,
	       unsigned threads, unsigned core, const struct scenario_host *host)
{
	uint64_t bytes = threads * (footprint(part, host) + MIB);

	strbuf_addf(out, "program %s_work\n", name);
	function(out, part, threads, host);
	strbuf_addf(out, "vm %s\n\tvcpus %u\n\tmemory %lluM node %d\n", name, threads,
		    (unsigned long long)(bytes / MIB + 2), part->memory == WHERE_THERE);
	for (unsigned i = 0; i < threads; i++)
		strbuf_addf(out, "\tpin vcpu %u %u\n", i, core + i);
	strbuf_addf(out, "\tthreads %u %s_work\n", threads, name);
}

void benchmark_scenario(const struct benchmark *b, bool provoked,
			const struct scenario_host *host, struct strbuf *out)
{
	const struct part *victim = provoked ? &b->victim : &b->calm;
	unsigned first = b->others.there ? host->cores : victim->threads;
	unsigned left = b->others.there ? host->cores : host->cores - victim->threads;
	unsigned others = b->others.many ? left : b->others.threads;

	strbuf_addf(out, "machine %s\npolicy pinned\n", host->machine);
	vm(out, "victim", victim, victim->threads, 0, host);
	if (provoked && others)
		vm(out, "others", &b->others, others, first, host);
}
