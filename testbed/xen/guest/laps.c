/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * laps CONFIG N LAPS: counts an event of PERF_TYPE_HARDWARE in user mode, LAPS times over a
 * loop of N + 2 instructions, half of them branches, and by turns over one of 2. Prints as
 * results what most laps read more than most short ones (lap), how many laps that are
 * (undisturbed), how many of all read more than their like, because of an interrupt
 * (disturbed), and how much more: together (excess), the most of one (most); and how many
 * read less, or more by far than can be (wrong).
 */
#include <err.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void run(uint64_t rounds)
{
#ifdef __x86_64__
	__asm__ volatile("1: dec %0\n jnz 1b" : "+r"(rounds) : : "cc");
#else
	__asm__ volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(rounds) : : "cc");
#endif
}

static uint64_t lap(int fd, uint64_t rounds)
{
	uint64_t count;

	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	run(rounds);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		err(1, "read");
	return count;
}

static int order(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The count that most have; @v becomes sorted. */
static uint64_t mode(uint64_t *v, size_t n)
{
	uint64_t best = 0;
	size_t most = 0;

	qsort(v, n, sizeof(*v), order);
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i; j < n && v[j] == v[i]; j++)
			;
		if (j - i > most) {
			most = j - i;
			best = v[i];
		}
	}
	return best;
}

#define FAR (1ull << 32)

struct tally {
	uint64_t usual, disturbed, wrong, excess, most;
};

static void add(struct tally *t, const uint64_t *v, size_t n, uint64_t usual)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t more = v[i] - usual; /* less: modulo 2^64 */

		t->usual += !more;
		t->wrong += more >= FAR;
		if (!more || more >= FAR)
			continue;
		t->disturbed++;
		t->excess += more;
		t->most = more > t->most ? more : t->most;
	}
}

static void report(uint64_t *laps, uint64_t *shorts, size_t n)
{
	uint64_t usual = mode(laps, n), usual_short = mode(shorts, n);
	struct tally t = { 0 };

	add(&t, laps, n, usual);
	printf("@@ lap %" PRId64 "\n@@ undisturbed %" PRIu64 "\n", usual - usual_short,
	       t.usual);
	add(&t, shorts, n, usual_short);
	printf("@@ disturbed %" PRIu64 "\n@@ excess %" PRIu64 "\n@@ most %" PRIu64
	       "\n@@ wrong %" PRIu64 "\n",
	       t.disturbed, t.excess, t.most, t.wrong);
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	uint64_t rounds, *laps, *shorts;
	size_t n;
	int fd;

	if (argc != 4)
		errx(2, "usage: laps CONFIG N LAPS");
	attr.config = strtoul(argv[1], NULL, 0);
	rounds = strtoul(argv[2], NULL, 0) / 2 + 1;
	n = strtoul(argv[3], NULL, 0);
	laps = calloc(n, sizeof(*laps));
	shorts = calloc(n, sizeof(*shorts));
	if (!laps || !shorts)
		err(1, "memory");
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (fd < 0)
		err(1, "perf_event_open");
	for (size_t i = 0; i < n; i++) {
		shorts[i] = lap(fd, 1);
		laps[i] = lap(fd, rounds);
	}
	report(laps, shorts, n);
	return 0;
}
