/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses to memory in a known order, as often as asked for:
 *
 *	pattern NAME LOOP LINES LAPS NODE CPU [CPU]	waits to be asked
 *	pattern go NAME					asks once; returns when that is done
 *
 * The lines are in memory of NODE, in huge pages, so that each of a cache's sets gets as
 * many. A second CPU is a second thread's. When it is ready, it prints its number and what
 * user mode executes each time it is asked, to the instruction:
 *
 *	pattern: ready pid=9 insns=40 branches=10 loads=8 stores=0
 */
#include <err.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINE 64
#define HUGE_PAGE (2ul << 20)

/* As loops.S has it. */
struct loop {
	void (*code)(void);
	char *base;
	uint64_t lines, laps, thread;
};

_Noreturn void run_loop(int go, int done, const struct loop *loop);
void walk_loads(void), walk_stores(void), chase(void), random_loads(void);
void ping_pong(void), follow(void);

/*
 * Instructions: of a line, of a lap, of all laps; and there is a branch a line and a lap.
 * Of two threads it depends on how long they wait for each other.
 */
/* clang-format off */
static const struct kind {
	const char *name;
	void (*code)(void);
	int line, lap, once, loads, stores;
} kinds[] = {
	{ "walk", walk_loads, 4, 4, 0, 1, 0 },
	{ "store", walk_stores, 4, 4, 0, 0, 1 },
	{ "chase", chase, 3, 3, 0, 1, 0 },
	{ "random", random_loads, 9, 3, 4, 1, 0 },
	{ "pingpong", ping_pong, 0, 0, 0, 0, 0 },
	{ "follow", follow, 0, 0, 0, 0, 0 },
};
/* clang-format on */

static int go, done;

static int open_fifo(const char *name, const char *which, int make)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/run/pattern.%s.%s", name, which);
	if (make && mkfifo(path, 0600))
		err(1, "%s", path);
	fd = open(path, O_RDWR); /* waits for no one */
	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

/* One byte for each thread there may be: what is not taken is taken back. */
static void ask(const char *name, int threads)
{
	char bytes[2] = { 0 };

	if (write(open_fifo(name, "go", 0), bytes, threads) != threads)
		err(1, "%s", name);
	for (int fd = open_fifo(name, "done", 0); threads; threads--)
		if (read(fd, bytes, 1) != 1)
			err(1, "%s", name);
}

static char *make_lines(uint64_t lines, int node)
{
	size_t size = (lines * LINE + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	unsigned long mask = 1ul << node;
	char *base = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	if (base == MAP_FAILED)
		err(1, "%zu bytes of huge pages", size);
	if (syscall(SYS_mbind, base, size, MPOL_BIND, &mask, 64, MPOL_MF_STRICT))
		err(1, "memory of node %d", node);
	memset(base, 0, size);
	return base;
}

/* One cycle through all lines in a random order (Sattolo's algorithm). */
static void make_cycle(char *base, uint64_t lines)
{
	uint64_t *order = malloc(lines * sizeof(*order));

	if (!order)
		err(1, "%lu lines", (unsigned long)lines);
	for (uint64_t i = 0; i < lines; i++)
		order[i] = i;
	for (uint64_t i = lines - 1; i > 0; i--) {
		uint64_t j = (uint64_t)random() % i, at = order[i];

		order[i] = order[j];
		order[j] = at;
	}
	for (uint64_t i = 0; i < lines; i++)
		*(char **)(base + LINE * order[i]) = base + LINE * order[(i + 1) % lines];
	free(order);
}

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "CPU %d", cpu);
}

struct second {
	struct loop loop;
	int cpu;
};

static void *run_second(void *arg)
{
	const struct second *second = arg;

	stay_on(second->cpu);
	run_loop(go, done, &second->loop);
}

static void say_ready(const struct kind *kind, const struct loop *loop)
{
	uint64_t accesses = loop->lines * loop->laps;

	printf("pattern: ready pid=%d insns=%lu branches=%lu loads=%lu stores=%lu\n",
	       getpid(), kind->line * accesses + kind->lap * loop->laps + kind->once + 16,
	       accesses + loop->laps + 5, kind->loads * accesses, kind->stores * accesses);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const struct kind *kind = kinds;
	struct loop loop = { 0 };
	struct second second;
	pthread_t thread;

	if (argc == 4 && !strcmp(argv[1], "go")) {
		ask(argv[2], atoi(argv[3]));
		return 0;
	}
	if (argc != 7 && argc != 8)
		errx(2, "usage: pattern NAME LOOP LINES LAPS NODE CPU [CPU]");
	while (strcmp(kind->name, argv[2]))
		if (++kind == kinds + sizeof(kinds) / sizeof(kinds[0]))
			errx(2, "%s: no such loop", argv[2]);
	loop.code = kind->code;
	loop.lines = strtoull(argv[3], NULL, 10);
	loop.laps = strtoull(argv[4], NULL, 10);
	loop.base = make_lines(loop.lines + 1, atoi(argv[5])); /* one is for turns */
	if (kind->code == chase)
		make_cycle(loop.base, loop.lines);
	go = open_fifo(argv[1], "go", 1);
	done = open_fifo(argv[1], "done", 1);
	stay_on(atoi(argv[6]));
	if (argc == 8) {
		second.loop = loop;
		second.loop.thread = 1;
		second.cpu = atoi(argv[7]);
		if (pthread_create(&thread, NULL, run_second, &second))
			errx(1, "no second thread");
	}
	say_ready(kind, &loop);
	run_loop(go, done, &loop);
}
