/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a Linux guest does: work <web|db|idle> <seconds, 0: for ever>. Each program has
 * two functions of its own and keeps the kernel busy in one way of its own, so that
 * profiles of two guests cannot be mistaken for each other.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile uint64_t sink; /* so that no work is optimised away */

static NOINLINE uint64_t hash_rows(const unsigned char *rows, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ rows[i]) * 0x100000001b3ull;
	return hash;
}

static NOINLINE uint64_t parse_json(const char *text)
{
	uint64_t depth = 0, values = 0;

	for (const char *c = text; *c; c++) {
		if (*c == '{' || *c == '[')
			depth++;
		else if (*c == '}' || *c == ']')
			depth--;
		else if (*c == ':' || *c == ',')
			values += depth;
	}
	return values;
}

static void web(void)
{
	static const char request[] = "{\"rows\":[1,2,3,{\"id\":7,\"name\":\"seven\"}],"
				      "\"page\":{\"from\":0,\"to\":20}}";
	unsigned char rows[4096];

	/* kernel side: the random number generator's cipher */
	if (getrandom(rows, sizeof(rows), 0) < 0)
		err(1, "getrandom");
	for (int i = 0; i < 6; i++)
		sink += hash_rows(rows, sizeof(rows));
	for (int i = 0; i < 150; i++)
		sink += parse_json(request);
}

#define TABLE_ROWS (1u << 17)
static uint32_t table[TABLE_ROWS];

static NOINLINE uint64_t scan_table(uint32_t wanted)
{
	uint64_t found = 0;

	for (size_t i = 0; i < TABLE_ROWS; i++) {
		/* kept scalar: the point is a loop that takes time */
		__asm__ volatile("" ::: "memory");
		found += table[i] == wanted;
	}
	return found;
}

static NOINLINE uint64_t probe_index(uint32_t key)
{
	uint32_t at = key;

	for (int i = 0; i < 20000; i++)
		at = table[at % TABLE_ROWS] + at * 2654435761u;
	return at;
}

static void db(void)
{
	static int ends[2] = { -1, -1 };
	static char page[4096];
	static uint32_t key;

	/* kernel side: copies through a pipe */
	if (ends[0] < 0 && pipe(ends))
		err(1, "pipe");
	for (int i = 0; i < 16; i++)
		if (write(ends[1], page, sizeof(page)) < 0 ||
		    read(ends[0], page, sizeof(page)) < 0)
			err(1, "pipe");
	table[key % TABLE_ROWS] = key;
	sink += scan_table(key) + probe_index(key);
	key++;
}

static void idle(void)
{
	usleep(100000);
}

static const struct {
	const char *name;
	void (*once)(void);
} programs[] = { { "web", web }, { "db", db }, { "idle", idle } };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? atof(argv[2]) : 0;

	for (size_t i = 0; argc > 1 && i < sizeof(programs) / sizeof(programs[0]); i++) {
		unsigned long rounds = 0;
		double start = now();

		if (strcmp(programs[i].name, argv[1]))
			continue;
		while (!seconds || now() - start < seconds) {
			programs[i].once();
			rounds++;
		}
		printf("guest: %s rounds %lu\n", argv[1], rounds);
		return 0;
	}
	errx(2, "usage: work web|db|idle SECONDS");
}
