/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "generate.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/data.h"
#include "base/vec.h"
#include "numasim/spec.h"

#define VMS 8
#define FUNCTIONS 3
#define PRESETS 16
#define SMALL 16     /* cores of a machine that is cheap to simulate */
#define VCPUS_MAX 16 /* in all, for the same reason */

/* What the first VMs tend to be like; the others are anything. */
enum mood {
	ANYTHING,
	CALM,	 /* little goes beyond the private caches */
	FAR,	 /* data on other nodes */
	CROWDED, /* what just fits the LLC, beside what does not */
	CHATTY,	 /* threads that write the same lines */
	THIRSTY, /* as much bandwidth as there is */
	BURSTY,	 /* as many requests at once as there can be */
	MOODS
};

/* What is hard to provoke is tried more often. */
static const double moods[MOODS] = {
	[ANYTHING] = 0.1, [CALM] = 0.1,	    [FAR] = 0.14,  [CROWDED] = 0.21,
	[CHATTY] = 0.13,  [THIRSTY] = 0.12, [BURSTY] = 0.2
};

struct host {
	uint64_t state;
	struct strbuf *out;
	struct machine_spec machine;
	char preset[32];
	enum mood mood;
	unsigned focus;		   /* a node */
	unsigned used[SPEC_NODES]; /* cores given away, by node */
	unsigned vcpus;		   /* in all */
	bool overcommit;
};

static uint64_t draw(struct host *h)
{
	uint64_t z = h->state += 0x9e3779b97f4a7c15ull; /* Steele et al., SplitMix */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static double uniform(struct host *h, double min, double max)
{
	return min + (max - min) * (double)(draw(h) >> 11) / 9007199254740992.0;
}

/* As likely between 1 and 2 as between 10 and 20. */
static double spread(struct host *h, double min, double max)
{
	return exp(uniform(h, log(min), log(max)));
}

static bool chance(struct host *h, double p)
{
	return uniform(h, 0, 1) < p;
}

/* min … max, both included */
static unsigned between(struct host *h, unsigned min, unsigned max)
{
	return min + (unsigned)(draw(h) % (max - min + 1));
}

static unsigned weighted(struct host *h, const double *weights, unsigned n)
{
	double x = uniform(h, 0, 1);
	unsigned k = 0;

	while (k + 1 < n && x >= weights[k])
		x -= weights[k++];
	return k;
}

/* ---- functions */

enum shape { CHASE, STREAM, RANDOM, COUNTERS, HANDOVER, COMPUTE, SHAPES };

static const struct {
	const char *pattern;
	const char *names[4];
} shapes[SHAPES] = {
	[CHASE] = { "chase", { "index_walk", "list_find", "tree_lookup", "hash_chain" } },
	[STREAM] = { "stream", { "table_scan", "memcpy", "checksum", "aggregate" } },
	[RANDOM] = { "random", { "hash_probe", "gather", "join", "bucket_fill" } },
	[COUNTERS] = { "counters",
		       { "count_hits", "lock_stats", "refcount", "histogram" } },
	[HANDOVER] = { "handover", { "queue_pass", "ring_copy", "mailbox", "pipe_copy" } },
	[COMPUTE] = { "compute", { "encode", "parse", "render", "compress" } },
};

struct function {
	enum shape shape;
	double bytes; /* per thread, or of all if shared */
	bool shared;
	double hot, write, cpi;
	unsigned parallel, instructions;
};

struct plan {
	unsigned vcpus, threads, nfunctions;
	struct function f[FUNCTIONS];
	double far;   /* chance that its memory is elsewhere */
	double sleep; /* share of time */
	bool apart;   /* its vCPUs are on several nodes */
	bool gathers; /* it is where the others are */
};

/* Anything that a program might do. */
static struct function any_function(struct host *h)
{
	static const double weights[SHAPES] = { 0.25, 0.25, 0.25, 0.03, 0.03, 0.19 };
	const struct machine_spec *m = &h->machine;
	unsigned k = weighted(h, weights, SHAPES);

	return (struct function) {
		.shape = (enum shape)k,
		.bytes = k == COUNTERS || k == HANDOVER
				 ? spread(h, 256, 64 << 10)
				 : spread(h, 16 << 10, 6 * (double)m->llc.bytes),
		.shared = chance(h, 0.3),
		.hot = chance(h, 0.4) ? uniform(h, 0.1, 0.7) : 0,
		.write = chance(h, 0.5) ? uniform(h, 0, 0.4) : 0,
		.cpi = uniform(h, 0.35, 0.9),
		.parallel = (unsigned)lround(spread(h, 1, m->lfb)),
		.instructions = (unsigned)lround(spread(h, 6, 100)),
	};
}

/* What stays in the private caches, mostly. */
static struct function calm_function(struct host *h)
{
	struct function f = any_function(h);
	const struct machine_spec *m = &h->machine;

	if (f.shape == COUNTERS || f.shape == HANDOVER)
		f.shape = COMPUTE;
	f.bytes = spread(h, 8 << 10, 0.7 * (double)m->l2.bytes);
	f.shared = false;
	f.hot = uniform(h, 0, 0.9);
	f.instructions = (unsigned)lround(spread(h, 25, 250));
	return f;
}

static struct function far_function(struct host *h)
{
	struct function f = any_function(h);

	f.shape = chance(h, 0.6) ? CHASE : RANDOM;
	f.bytes = (double)h->machine.llc.bytes * spread(h, 0.8, 8);
	f.parallel = (unsigned)lround(spread(h, 1, 4));
	f.hot = uniform(h, 0, 0.8);
	f.instructions = (unsigned)lround(spread(h, 4, 40));
	return f;
}

/* Of @threads that just fit the LLC together. */
static struct function fitting_function(struct host *h, unsigned threads)
{
	struct function f = any_function(h);

	f.shape = chance(h, 0.6) ? CHASE : RANDOM;
	f.shared = chance(h, 0.4);
	f.bytes = (double)h->machine.llc.bytes * uniform(h, 0.25, 0.85);
	f.bytes /= f.shared ? 1 : threads;
	f.parallel = (unsigned)lround(spread(h, 1, 5));
	f.hot = uniform(h, 0, 0.7);
	f.write = chance(h, 0.3) ? uniform(h, 0, 0.3) : 0;
	return f;
}

/* What sweeps through the LLC, but not at the memory's limit. */
static struct function sweeping_function(struct host *h)
{
	struct function f = any_function(h);

	f.shape = chance(h, 0.6) ? STREAM : RANDOM;
	f.bytes = (double)h->machine.llc.bytes * spread(h, 1.5, 6);
	f.parallel = (unsigned)lround(spread(h, 2, h->machine.lfb));
	f.hot = uniform(h, 0, 0.5);
	f.instructions = (unsigned)lround(spread(h, 5, 40));
	return f;
}

static struct function chatty_function(struct host *h)
{
	struct function f = any_function(h);

	f.shape = chance(h, 0.6) ? COUNTERS : HANDOVER;
	f.shared = true;
	f.bytes = f.shape == COUNTERS ? spread(h, 64, 16 << 10)
				      : spread(h, 1 << 10, 128 << 10);
	f.hot = uniform(h, 0, 0.6);
	f.write = 1;
	f.instructions = (unsigned)lround(spread(h, 6, 400));
	return f;
}

static struct function thirsty_function(struct host *h)
{
	struct function f = any_function(h);

	f.shape = chance(h, 0.75) ? STREAM : RANDOM;
	f.bytes = (double)h->machine.llc.bytes * spread(h, 1.5, 6);
	f.parallel = (unsigned)lround(uniform(h, 0.5, 1) * h->machine.lfb);
	f.hot = chance(h, 0.4) ? uniform(h, 0, 0.4) : 0;
	f.instructions = (unsigned)lround(spread(h, 2, 16));
	f.write = chance(h, 0.5) ? uniform(h, 0, 0.5) : 0;
	return f;
}

/* @threads on one node that find all in its LLC, with all misses in flight. */
static struct function bursty_function(struct host *h, unsigned cores)
{
	struct function f = any_function(h);
	const struct machine_spec *m = &h->machine;

	f.shape = chance(h, 0.8) ? RANDOM : STREAM;
	f.shared = false;
	f.bytes = (double)m->llc.bytes / cores * uniform(h, 0.3, 0.85);
	f.bytes = fmax(f.bytes, 2 * (double)m->l2.bytes);
	f.parallel = (unsigned)lround(uniform(h, 0.85, 1) * m->lfb);
	f.hot = chance(h, 0.3) ? uniform(h, 0, 0.3) : 0;
	f.write = chance(h, 0.2) ? uniform(h, 0, 0.2) : 0;
	f.instructions = (unsigned)lround(spread(h, 1, 4));
	f.cpi = uniform(h, 0.25, 0.4);
	return f;
}

/* ---- VMs */

static void print_function(struct host *h, const struct function *f, unsigned i, unsigned n)
{
	const struct machine_spec *m = &h->machine;
	double steps = spread(h, 50, 800);

	strbuf_addf(h->out, "\tfunction %s_%u %s", shapes[f->shape].names[draw(h) % 4], i,
		    shapes[f->shape].pattern);
	if (f->shape != COMPUTE)
		strbuf_addf(h->out, " footprint %llu%s hot %.1f%% write %.1f%%",
			    (unsigned long long)fmax(64, f->bytes),
			    f->shared ? " shared" : " private", 100 * f->hot,
			    100 * (f->shape == COUNTERS ? 1 : f->write));
	if (f->shape == STREAM || f->shape == RANDOM)
		strbuf_addf(h->out, " parallel %u",
			    f->parallel < m->lfb ? f->parallel : m->lfb);
	strbuf_addf(h->out, " instructions %u cpi %.2f",
		    f->shape == COMPUTE ? 20 + 5 * f->instructions : f->instructions,
		    f->cpi);
	if (n > 1)
		strbuf_addf(h->out, " for %.0f steps", steps);
	strbuf_puts(h->out, "\n");
}

static unsigned cores_left(const struct host *h, unsigned node)
{
	return h->machine.cores - h->used[node];
}

/* The one that all is about, for those who get in each other's way there; else the one
 * with most cores left, or any that has some. */
static unsigned choose_node(struct host *h, bool gather)
{
	unsigned node = between(h, 0, h->machine.nodes - 1), best = node;

	if (gather && cores_left(h, h->focus))
		return h->focus;
	if (cores_left(h, node) && chance(h, 0.5))
		return node;
	for (node = 0; node < h->machine.nodes; node++)
		if (cores_left(h, node) > cores_left(h, best))
			best = node;
	return best;
}

static double plan_bytes(const struct plan *p)
{
	double sum = 0;

	for (unsigned i = 0; i < p->nfunctions; i++)
		sum += (p->f[i].bytes + 8192) * (p->f[i].shared ? 1 : p->threads);
	return sum;
}

static void print_memory(struct host *h, const struct plan *p, unsigned node)
{
	double mb = plan_bytes(p) * uniform(h, 1.05, 3) / (1 << 20) + 4 + p->threads;
	unsigned other = (node + between(h, 1, h->machine.nodes - 1)) % h->machine.nodes;
	double part = 100 * uniform(h, 0.1, 0.9);

	strbuf_addf(h->out, "\tmemory %.0fM ", mb);
	if (!chance(h, p->far)) {
		if (chance(h, 0.93))
			strbuf_addf(h->out, "node %u\n", node);
		else
			strbuf_puts(h->out, "interleave\n");
	} else if (chance(h, 0.7)) {
		strbuf_addf(h->out, "node %u\n", other);
	} else {
		strbuf_addf(h->out, "share %u %.3f%% %u %.3f%%\n", node, part, other,
			    100 - part);
	}
}

static void print_pins(struct host *h, const struct plan *p, unsigned node)
{
	bool by_core = chance(h, 0.7), doubled = h->overcommit && chance(h, 0.5);

	for (unsigned v = 0; v < p->vcpus; v++) {
		unsigned on = p->apart ? (node + v) % h->machine.nodes : node;
		unsigned core = h->used[on] % h->machine.cores;

		if (doubled)
			core = between(h, 0, h->machine.cores - 1);
		h->used[on] += !doubled && h->used[on] < h->machine.cores;
		if (by_core)
			strbuf_addf(h->out, "\tpin vcpu %u %u\n", v,
				    on * h->machine.cores + core);
		else
			strbuf_addf(h->out, "\tpin vcpu %u node %u\n", v, on);
	}
}

static void print_vm(struct host *h, const struct plan *p, unsigned number)
{
	static const char *const names[VMS] = { "web",	"db",	 "cache",  "batch",
						"mail", "build", "search", "queue" };
	const char *name = names[(number + h->focus + h->mood) % VMS];
	unsigned node = choose_node(h, p->gathers);

	strbuf_addf(h->out, "\nprogram %s\n", name);
	for (unsigned i = 0; i < p->nfunctions; i++)
		print_function(h, &p->f[i], i, p->nfunctions);
	strbuf_addf(h->out, "vm %s\n\tvcpus %u\n", name, p->vcpus);
	print_memory(h, p, node);
	print_pins(h, p, node);
	strbuf_addf(h->out, "\tthreads %u %s", p->threads, name);
	if (p->sleep > 0)
		strbuf_addf(h->out, " sleep %.1f%% every %.0fus", 100 * p->sleep,
			    spread(h, 100, 800));
	strbuf_puts(h->out, "\n");
	h->vcpus += p->vcpus;
}

/* Its first function, by the host's mood; whether it has one of that. */
static bool moody(struct host *h, struct plan *p, unsigned number)
{
	unsigned cores = h->machine.cores, left = cores_left(h, h->focus);
	unsigned many = between(h, left > 1 ? 2 : 1, left > 1 ? left : 1);

	switch (h->mood) {
	case CALM: p->f[0] = calm_function(h); return true;
	case FAR:
		p->far = 0.95;
		p->f[0] = far_function(h);
		return number == 0 || chance(h, 0.3);
	case CROWDED:
		p->gathers = number < 2 || chance(h, 0.4);
		p->f[0] = number ? sweeping_function(h) : fitting_function(h, p->threads);
		return p->gathers;
	case CHATTY:
		p->vcpus = p->threads = 2 * between(h, 1, cores < 8 ? cores / 2 : 4);
		p->apart = chance(h, 0.35);
		p->f[0] = chatty_function(h);
		return number == 0 || chance(h, 0.2);
	case THIRSTY:
	case BURSTY:
		p->gathers = left > 0;
		p->vcpus = p->threads = many < VCPUS_MAX ? many : VCPUS_MAX;
		p->f[0] =
			h->mood == BURSTY ? bursty_function(h, cores) : thirsty_function(h);
		return p->gathers;
	default: return false;
	}
}

static void make_plan(struct host *h, struct plan *p, unsigned number)
{
	struct plan usual = { .vcpus = between(h, 1, 3), .far = 0.12, .nfunctions = 1 };

	usual.threads = usual.vcpus;
	*p = usual;
	if (!moody(h, p, number)) {
		*p = usual;
		p->f[0] = chance(h, 0.4) ? any_function(h) : calm_function(h);
	}
	if (chance(h, 0.15))
		p->threads += between(h, 1, p->threads);
	while (p->nfunctions < FUNCTIONS && chance(h, 0.35))
		p->f[p->nfunctions++] = calm_function(h);
	for (unsigned i = 0; i < p->nfunctions; i++)
		p->threads += p->f[i].shape == HANDOVER && p->threads % 2;
	if (chance(h, 0.25))
		p->sleep = uniform(h, 0.05, 0.6);
}

/* ---- hosts */

struct presets {
	char name[PRESETS][32];
	unsigned n;
};

static int add_preset(void *ctx, const char *name, const char *path)
{
	struct presets *all = ctx;
	struct machine_spec m;

	if (path || all->n == PRESETS || machine_spec_load(name, &m, NULL))
		return 0; /* the user's own is not the same everywhere */
	if (m.nodes >= 2 && m.nodes <= 4)
		str_copy(all->name[all->n++], sizeof(all->name[0]), name);
	return 0;
}

/* Those with few cores more often: they can be filled. */
static int choose_machine(struct host *h)
{
	struct presets all = { .n = 0 };

	if (data_each("machines", add_preset, &all) || !all.n)
		return -ENOMEM;
	do {
		str_copy(h->preset, sizeof(h->preset), all.name[draw(h) % all.n]);
		if (machine_spec_load(h->preset, &h->machine, NULL))
			return -ENOMEM;
	} while (h->machine.nodes * h->machine.cores > SMALL && chance(h, 0.5));
	return 0;
}

int generate_scenario(uint64_t seed, struct strbuf *out)
{
	static const char *const policies[] = { "pinned", "pinned", "pinned", "pinned",
						"credit", "xen",    "linux" };
	struct host h = { .state = seed * 0xd1342543de82ef95ull + 1, .out = out };
	unsigned vms, room;
	int ret = choose_machine(&h);

	if (ret)
		return ret;
	h.mood = (enum mood)weighted(&h, moods, MOODS);
	h.focus = between(&h, 0, h.machine.nodes - 1);
	h.overcommit = chance(&h, 0.08);
	room = h.machine.nodes * h.machine.cores;
	room = (room < VCPUS_MAX ? room : VCPUS_MAX) * (h.overcommit ? 2 : 1);
	vms = between(&h, h.mood == CROWDED ? 2 : 1, between(&h, 2, VMS));
	strbuf_reset(out);
	strbuf_addf(out, "# seed %llu\nmachine %s\nseed %llu\npolicy %s\nslice 500us\n",
		    (unsigned long long)seed, h.preset,
		    (unsigned long long)(draw(&h) >> 32), policies[draw(&h) % 7]);
	for (unsigned i = 0; i < vms; i++) {
		struct plan p;

		make_plan(&h, &p, i);
		if (i && h.vcpus + p.vcpus > room)
			break;
		print_vm(&h, &p, i);
	}
	return out->oom ? -ENOMEM : 0;
}
