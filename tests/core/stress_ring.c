/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Producer and consumer of one ring in two threads, under ThreadSanitizer: it sees every
 * access that no acquire and release order, on any machine. Built a second time with
 * those orders dropped, which it must notice. usage: stress_ring SAMPLES
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/abi/event.h"
#include "core/ring.h"

#define RECORDS 16

static _Alignas(VPMU_RING_PAGE) unsigned char pages[VPMU_RING_PAGE +
						    RECORDS * sizeof(struct vpmu_sample)];
static struct vpmu_ring ring;
static uint64_t samples;
static uint32_t produced; /* 1: all of them */

/* A record that is torn, or of two samples, does not fit together. */
static void fill(struct vpmu_sample *s, uint64_t n)
{
	*s = (struct vpmu_sample) {
		.size = sizeof(*s),
		.mode = VPMU_MODE_USER + n % 3,
		.event = n % VPMU_SET_EVENTS,
		.pcpu = (uint32_t)(n * 3),
		.vcpu = (uint32_t)(n * 5),
		.flags = (uint32_t)(n * 7),
		.time = n,
		.pc = ~n,
		.period = n * n,
	};
}

static void must(bool ok, const char *what, uint64_t n)
{
	if (ok)
		return;
	fprintf(stderr, "stress_ring: %s at sample %llu\n", what, (unsigned long long)n);
	exit(1);
}

static void *producer(void *unused)
{
	for (uint64_t n = 1; n <= samples; n++) {
		struct vpmu_sample s;

		fill(&s, n);
		vpmu_ring_put(&ring, &s);
		/* Now and then slower than the consumer. */
		if (n / 1000 % 3 == 1)
			sched_yield();
	}
	__atomic_store_n(&produced, 1, __ATOMIC_SEQ_CST);
	return unused;
}

static void check(const struct vpmu_reader *reader, uint32_t i, uint64_t *last)
{
	struct vpmu_sample s, want;

	must(vpmu_reader_copy(reader, i, &s), "a record that makes no sense", *last);
	must(s.time > *last, "a record out of order", s.time);
	fill(&want, s.time);
	must(s.size == want.size && s.mode == want.mode && s.event == want.event &&
		     s.pcpu == want.pcpu && s.vcpu == want.vcpu && s.flags == want.flags &&
		     s.pc == want.pc && s.period == want.period,
	     "a torn record", s.time);
	*last = s.time;
}

int main(int argc, char **argv)
{
	struct vpmu_reader reader;
	uint64_t last = 0, received = 0, taken, lost;
	pthread_t thread;

	samples = argc > 1 ? strtoull(argv[1], NULL, 0) : 100000;
	must(!vpmu_ring_init(&ring, pages, sizeof(pages)), "no ring", 0);
	must(!vpmu_reader_init(&reader, pages, sizeof(pages)), "no reader", 0);
	must(!pthread_create(&thread, NULL, producer, NULL), "no thread", 0);
	for (bool end = false; !end;) {
		uint32_t n;

		end = __atomic_load_n(&produced, __ATOMIC_SEQ_CST);
		n = vpmu_reader_waiting(&reader);
		if (!n)
			sched_yield();
		/* Now and then slower than the producer: one, then others' turn. */
		if (received / 1000 % 3 == 2 && n > 1 && !end)
			n = 1;
		for (uint32_t i = 0; i < n; i++)
			check(&reader, i, &last);
		vpmu_reader_done(&reader, n);
		received += n;
		if (n == 1)
			sched_yield();
	}
	pthread_join(thread, NULL);
	must(vpmu_reader_account(&reader, &taken, &lost), "no account", last);
	must(taken == samples && received + lost == taken, "received + lost != taken",
	     last);
	must(received && lost, "not both received and lost", last);
	printf("%llu taken, %llu lost\n", (unsigned long long)taken,
	       (unsigned long long)lost);
	return 0;
}
