/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Both ends of a sample ring, on pages that a third party writes to. The first bytes
 * choose the size, the rest is a script: what is written where, and who moves.
 */
#include <stdlib.h>
#include <string.h>

#include "core/abi/event.h"
#include "core/ring.h"
#include "fuzz.h"

struct script {
	const uint8_t *data;
	size_t size;
};

struct ends {
	unsigned char *pages;
	size_t bytes;
	struct vpmu_ring ring;
	struct vpmu_reader reader;
	bool reading;
};

static void must(bool ok)
{
	if (!ok)
		abort();
}

static uint8_t take(struct script *s)
{
	if (!s->size)
		return 0;
	s->size--;
	return *s->data++;
}

static uint64_t take_word(struct script *s)
{
	uint64_t word = 0;

	for (unsigned i = 0; i < 8; i++)
		word = word << 8 | take(s);
	return word;
}

static void scribble(struct ends *e, struct script *s)
{
	static const size_t header = offsetof(struct vpmu_ring_page, tail) + 8;
	size_t at = 8 * (size_t)take(s);
	uint64_t word = take_word(s);

	if (at >= header)
		at = VPMU_RING_PAGE + at - header;
	if (at + 8 <= e->bytes)
		memcpy(e->pages + at, &word, 8);
}

static void produce(struct ends *e)
{
	struct vpmu_sample sample = { .size = sizeof(sample), .mode = VPMU_MODE_KERNEL };
	uint64_t head = e->ring.head, lost = e->ring.lost;

	vpmu_ring_put(&e->ring, &sample);
	must(e->ring.head - head + e->ring.lost - lost == 1);
	must(e->ring.head + e->ring.lost == e->ring.taken);
}

static void consume(struct ends *e, uint8_t n)
{
	uint32_t waiting = vpmu_reader_waiting(&e->reader);

	must(waiting <= e->reader.records);
	for (uint32_t i = 0; i < waiting; i++) {
		struct vpmu_sample sample = { 0 };

		if (vpmu_reader_copy(&e->reader, i, &sample))
			must(sample.size == sizeof(sample) &&
			     sample.mode >= VPMU_MODE_USER &&
			     sample.mode <= VPMU_MODE_HYP &&
			     sample.event < VPMU_SET_EVENTS);
		else
			must(!sample.size);
	}
	vpmu_reader_done(&e->reader, n < waiting ? n : waiting);
}

static void begin_reading(struct ends *e)
{
	e->reading = !vpmu_reader_init(&e->reader, e->pages, e->bytes);
	if (e->reading)
		must(VPMU_RING_PAGE + e->reader.records * sizeof(struct vpmu_sample) <=
		     e->bytes);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct script s = { .data = data, .size = size };
	struct ends e = { .bytes = VPMU_RING_PAGE - 4 + 8 * (size_t)take(&s) };

	e.pages = calloc(1, e.bytes);
	must(e.pages);
	vpmu_ring_init(&e.ring, e.pages, e.bytes);
	begin_reading(&e);
	while (s.size)
		switch (take(&s) % 4) {
		case 0: scribble(&e, &s); break;
		case 1: produce(&e); break;
		case 2:
			if (e.reading)
				consume(&e, take(&s));
			break;
		default: begin_reading(&e);
		}
	free(e.pages);
	return 0;
}
