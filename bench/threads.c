/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target of the cost benchmarks: a process with many threads.
 *   threads 16 busy    each computes without end
 *   threads 1000 idle  each wakes ten times a second and computes a little
 * Prints "ready" once all threads run; ends when its standard input closes.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

__attribute__((noinline)) static void mix(uint64_t rounds)
{
	uint64_t x = rounds;

	for (uint64_t i = 0; i < rounds; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	sink = x;
}

static void *busy(void *arg)
{
	for (;;)
		mix(1000000);
	return arg;
}

static void *idle(void *arg)
{
	const struct timespec tenth = { .tv_nsec = 100 * 1000 * 1000 };

	for (;;) {
		mix(1000);
		nanosleep(&tenth, NULL);
	}
	return arg;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	pthread_attr_t attr;
	pthread_t thread;
	char c;

	if (argc != 3 || n < 1 || (strcmp(argv[2], "busy") && strcmp(argv[2], "idle"))) {
		fprintf(stderr, "usage: threads COUNT busy|idle\n");
		return 2;
	}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	for (int i = 0; i < n; i++) {
		if (pthread_create(&thread, &attr, *argv[2] == 'b' ? busy : idle, NULL)) {
			perror("threads");
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	return 0;
}
