/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numabench/native.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpulist.h"
#include "base/rootfs.h"
#include "numabench/kernels.h"

#define THREADS 512
#define CHUNK 4096 /* accesses between two looks at the clock's flag */
#define PAGE_2M (2u << 20)
#define PLACES 64 /* of a thread's memory that are looked at */
#define ALIKE 1.4 /* times slower or faster is what a quiet machine is not */

/* ---- the machine */

static int read_node(const struct rootfs *root, int id, const cpu_set_t *may,
		     struct native_machine *m, struct err *err)
{
	struct native_node *node = &m->node[m->nnodes];
	char list[4096];
	size_t n = 0;
	int ret;

	if (rootfs_read(root, list, sizeof(list), "sys/devices/system/node/node%d/cpulist",
			id) < 0)
		return 0;
	ret = cpulist_parse(list, &node->cpus, &n);
	if (ret)
		return err_set(err, ret, "node%d/cpulist: \"%s\" is no list", id, list);
	node->id = id;
	node->ncpus = 0;
	for (size_t i = 0; i < n; i++)
		if (node->cpus[i] < CPU_SETSIZE && CPU_ISSET(node->cpus[i], may))
			node->cpus[node->ncpus++] = node->cpus[i];
	if (node->ncpus)
		m->nnodes++;
	else
		free(node->cpus);
	return 0;
}

static size_t read_llc(const struct rootfs *root)
{
	size_t bytes = 0;

	for (int i = 0; i < 8; i++) {
		char text[32], unit = 0;
		unsigned long size;

		if (rootfs_read(root, text, sizeof(text),
				"sys/devices/system/cpu/cpu0/cache/index%d/size", i) < 0)
			break;
		if (sscanf(text, "%lu%c", &size, &unit) >= 1)
			bytes = size << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
	}
	return bytes;
}

int native_machine_read(size_t llc_bytes, struct native_machine *out, struct err *err)
{
	struct rootfs root;
	char list[256];
	int *ids = NULL, ret;
	size_t n = 0;
	cpu_set_t may;

	*out = (struct native_machine) { .llc_bytes = llc_bytes };
	ret = rootfs_open(&root, "/", err);
	if (ret)
		return ret;
	if (sched_getaffinity(0, sizeof(may), &may)) {
		ret = err_set(err, errno, "sched_getaffinity: %s", err_name(errno));
		goto out;
	}
	if (rootfs_read(&root, list, sizeof(list), "sys/devices/system/node/online") > 0)
		ret = cpulist_parse(list, &ids, &n);
	for (size_t i = 0; !ret && i < n && i < NATIVE_NODES; i++)
		ret = read_node(&root, ids[i], &may, out, err);
	if (!ret && !out->nnodes)
		ret = err_set(err, ENODEV,
			      "/sys/devices/system/node tells of no node with CPUs that "
			      "this process may use");
	if (!ret && !out->llc_bytes)
		out->llc_bytes = read_llc(&root);
	if (!ret && !out->llc_bytes)
		ret = err_set(err, ENODEV,
			      "sysfs does not tell the size of the last-level cache: give "
			      "it with --llc");
out:
	free(ids);
	rootfs_close(&root);
	if (ret)
		native_machine_free(out);
	return ret;
}

void native_machine_free(struct native_machine *m)
{
	for (size_t i = 0; i < m->nnodes; i++)
		free(m->node[i].cpus);
	m->nnodes = 0;
}

/* ---- one run */

struct run;

struct worker {
	struct run *run;
	pthread_t thread;
	struct kernel kernel;
	size_t bytes; /* of its own memory; 0: it is shared */
	int cpu;
	bool victim;
	uint64_t done; /* accesses while it was measured */
};

struct run {
	struct worker worker[THREADS];
	unsigned n;
	char *shared; /* lines of PATTERN_COUNTERS */
	bool measure, stop;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t done = 0;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(w->cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	while (!__atomic_load_n(&w->run->stop, __ATOMIC_RELAXED)) {
		kernel_run(&w->kernel, CHUNK);
		if (__atomic_load_n(&w->run->measure, __ATOMIC_RELAXED))
			done += CHUNK;
	}
	w->done = done;
	return NULL;
}

/* @bytes of one node's memory, touched. NULL with errno set. */
static char *memory_of(size_t bytes, int node)
{
	unsigned long mask[NATIVE_NODES / (8 * sizeof(long)) + 1] = { 0 };
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, bytes, MADV_HUGEPAGE);
	mask[(unsigned)node / (8 * sizeof(long))] |= 1ul << node % (8 * sizeof(long));
	/* one node only: a kernel without NUMA has nothing to bind to */
	if (syscall(SYS_mbind, p, bytes, MPOL_BIND, mask, NATIVE_NODES + 1,
		    MPOL_MF_STRICT) &&
	    errno != ENOSYS) {
		int code = errno;

		munmap(p, bytes);
		errno = code;
		return NULL;
	}
	memset(p, 1, bytes);
	return p;
}

/* Whether the kernel has put it there, by some of its pages; a kernel without NUMA knows of
 * one place only. */
static bool lies_on(const char *p, size_t bytes, int node)
{
	for (size_t at = 0; at < bytes; at += bytes / PLACES) {
		int is = node;

		if (syscall(SYS_get_mempolicy, &is, NULL, 0ul, p + at,
			    MPOL_F_NODE | MPOL_F_ADDR) &&
		    errno != ENOSYS)
			return false;
		if (is != node)
			return false;
	}
	return true;
}

static int add_workers(struct run *run, const struct native_machine *m,
		       const struct part *part, unsigned threads, size_t *cpu, bool victim,
		       struct err *err)
{
	for (unsigned i = 0; i < threads; i++) {
		struct worker *w = &run->worker[run->n];
		int node = m->node[part->memory == WHERE_THERE].id;

		*w = (struct worker) { .run = run,
				       .cpu = m->node[part->there].cpus[(*cpu)++],
				       .victim = victim };
		w->kernel =
			(struct kernel) { .pattern = part->pattern,
					  .few = part->misses,
					  .random = 0x9e3779b97f4a7c15ull * (run->n + 1) };
		w->kernel.shared = run->shared;
		w->bytes = (size_t)(part->llcs * (double)m->llc_bytes);
		w->bytes = (w->bytes + PAGE_2M - 1) / PAGE_2M * PAGE_2M;
		w->kernel.lines = w->bytes / KERNEL_LINE;
		w->kernel.memory = w->bytes ? memory_of(w->bytes, node) : NULL;
		if (w->bytes && !w->kernel.memory)
			return err_set(err, errno, "%zu MiB on node %d: %s", w->bytes >> 20,
				       node, err_name(errno));
		run->n++;
		if (w->bytes && !lies_on(w->kernel.memory, w->bytes, node))
			return err_set(
				err, EXDEV,
				"memory that was asked for on node %d is on another: "
				"expected %zu MiB free there; free some, or give a "
				"smaller --llc",
				node, w->bytes >> 20);
		kernel_prepare(&w->kernel);
	}
	return 0;
}

static void pause_for(double seconds)
{
	struct timespec ts = { .tv_sec = (time_t)seconds,
			       .tv_nsec = (long)((seconds - floor(seconds)) * 1e9) };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* Lets all workers work; the time of a victim's access, ns. */
static int measure(struct run *run, double seconds, double *ns, struct err *err)
{
	unsigned started = 0, victims = 0;
	uint64_t from, until, done = 0;
	int ret = 0;

	while (started < run->n && !ret) {
		struct worker *w = &run->worker[started];

		ret = pthread_create(&w->thread, NULL, work, w);
		started += !ret;
	}
	if (!ret)
		pause_for(seconds / 4); /* caches fill */
	from = clock_now_ns();
	__atomic_store_n(&run->measure, true, __ATOMIC_RELAXED);
	if (!ret)
		pause_for(seconds);
	__atomic_store_n(&run->measure, false, __ATOMIC_RELAXED);
	until = clock_now_ns();
	__atomic_store_n(&run->stop, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < started; i++) {
		pthread_join(run->worker[i].thread, NULL);
		victims += run->worker[i].victim;
		done += run->worker[i].victim ? run->worker[i].done : 0;
	}
	if (ret)
		return err_set(err, ret, "a thread: %s", err_name(ret));
	*ns = done ? (double)(until - from) * victims / (double)done : NAN;
	return 0;
}

static int run_once(const struct native_machine *m, const struct part *victim,
		    const struct part *others, unsigned nothers, double seconds, double *ns,
		    struct err *err)
{
	struct run *run = calloc(1, sizeof(*run));
	size_t cpu = 0, other = 0;
	int ret;

	if (!run)
		return err_set(err, ENOMEM, "out of memory");
	run->shared = memory_of(PAGE_2M, m->node[0].id);
	ret = run->shared ? 0 : err_set(err, errno, "memory: %s", err_name(errno));
	if (!ret)
		ret = add_workers(run, m, victim, victim->threads, &cpu, true, err);
	if (!ret && nothers)
		ret = add_workers(run, m, others, nothers, others->there ? &other : &cpu,
				  false, err);
	if (!ret)
		ret = measure(run, seconds, ns, err);
	for (unsigned i = 0; i < run->n; i++)
		if (run->worker[i].bytes)
			munmap(run->worker[i].kernel.memory, run->worker[i].bytes);
	if (run->shared)
		munmap(run->shared, PAGE_2M);
	free(run);
	return ret;
}

int native_run(const struct native_machine *m, const struct benchmark *b, double seconds,
	       struct native_result *out, struct err *err)
{
	bool wants_others = b->others.many || b->others.threads;
	size_t left = b->others.there ? m->node[1].ncpus
		      : m->node[0].ncpus > b->victim.threads
			      ? m->node[0].ncpus - b->victim.threads
			      : 0;
	int ret;

	*out = (struct native_result) { .calm_ns = NAN, .provoked_ns = NAN, .slower = NAN };
	if ((b->victim.memory == WHERE_THERE || b->others.memory == WHERE_THERE) &&
	    m->nnodes < 2)
		return err_set(
			err, EOPNOTSUPP,
			"\"%s\" needs two NUMA nodes with CPUs, this machine has one",
			b->name);
	if (m->node[0].ncpus < b->victim.threads || (wants_others && !left))
		return err_set(err, EOPNOTSUPP,
			       "\"%s\" needs more CPUs than the %zu that it may use on "
			       "node %d",
			       b->name, m->node[0].ncpus, m->node[0].id);
	out->others = b->others.many ? (unsigned)left : b->others.threads;
	if (out->others > THREADS - b->victim.threads)
		out->others = THREADS - b->victim.threads;
	ret = run_once(m, &b->calm, NULL, 0, seconds, &out->calm_ns, err);
	if (!ret)
		ret = run_once(m, &b->victim, &b->others, out->others, seconds,
			       &out->provoked_ns, err);
	if (ret)
		return ret;
	out->slower = out->provoked_ns / out->calm_ns;
	out->held = b->provokes ? out->slower >= b->slower
				: out->slower < ALIKE && out->slower > 1 / ALIKE;
	return 0;
}
