/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/err.h"
#include "core/ring.h"

/* Release, and the head after them: a reader sees none of the three much too early. */
static void mirror(const struct vpmu_ring *ring)
{
	__atomic_store_n(&ring->page->taken, ring->taken, __ATOMIC_RELEASE);
	__atomic_store_n(&ring->page->lost, ring->lost, __ATOMIC_RELEASE);
}

/* The most records, a power of two, that @bytes have room for; 0: not even one. */
static uint32_t records_in(size_t bytes)
{
	size_t room = bytes > VPMU_RING_PAGE
			      ? (bytes - VPMU_RING_PAGE) / sizeof(struct vpmu_sample)
			      : 0;
	uint32_t records = 1;

	if (!room)
		return 0;
	while (records <= room / 2 && records < 1u << 31)
		records *= 2;
	return records;
}

int vpmu_ring_init(struct vpmu_ring *ring, void *pages, size_t bytes)
{
	struct vpmu_ring_page *page = pages;
	uint32_t records = records_in(bytes);

	if (!records)
		return -VPMU_EINVAL;
	page->magic = VPMU_RING_MAGIC;
	page->version = VPMU_RING_VERSION;
	page->record_size = sizeof(struct vpmu_sample);
	page->records = records;
	*ring = (struct vpmu_ring) {
		.page = page,
		.record = (void *)((char *)pages + VPMU_RING_PAGE),
		.records = records,
	};
	return 0;
}

bool vpmu_ring_put(struct vpmu_ring *ring, const struct vpmu_sample *sample)
{
	uint64_t tail;

	ring->taken++;
	if (!ring->page) {
		ring->lost++;
		return false;
	}
	/* Acquire: what the consumer read of a record, it read before it gave it back. */
	tail = __atomic_load_n(&ring->page->tail, __ATOMIC_ACQUIRE);
	if (tail > ring->head || ring->head - tail >= ring->records) {
		ring->lost++;
		mirror(ring);
		return false;
	}
	ring->record[ring->head & (ring->records - 1)] = *sample;
	ring->head++;
	mirror(ring);
	/* Release: who sees the new head sees the record and the account. */
	__atomic_store_n(&ring->page->head, ring->head, __ATOMIC_RELEASE);
	return ring->head - tail == (ring->records + 1) / 2;
}

int vpmu_reader_init(struct vpmu_reader *reader, void *pages, size_t bytes)
{
	struct vpmu_ring_page *page = pages;
	uint32_t records;

	if (bytes < VPMU_RING_PAGE)
		return -VPMU_EINVAL;
	records = __atomic_load_n(&page->records, __ATOMIC_RELAXED);
	if (page->magic != VPMU_RING_MAGIC || page->version != VPMU_RING_VERSION ||
	    page->record_size != sizeof(struct vpmu_sample) || !records ||
	    records & (records - 1) || records > records_in(bytes))
		return -VPMU_EINVAL;
	*reader = (struct vpmu_reader) {
		.page = page,
		.record = (const void *)((const char *)pages + VPMU_RING_PAGE),
		.records = records,
		.tail = __atomic_load_n(&page->tail, __ATOMIC_RELAXED),
	};
	return 0;
}

uint32_t vpmu_reader_waiting(const struct vpmu_reader *reader)
{
	uint64_t head = __atomic_load_n(&reader->page->head, __ATOMIC_ACQUIRE);

	if (head < reader->tail || head - reader->tail > reader->records)
		return 0;
	return (uint32_t)(head - reader->tail);
}

bool vpmu_reader_copy(const struct vpmu_reader *reader, uint32_t i, struct vpmu_sample *out)
{
	struct vpmu_sample copy;

	copy = reader->record[(reader->tail + i) & (reader->records - 1)];
	/* What is checked is what is handed out: the compiler may not read it again. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (copy.size != sizeof(copy) || copy.mode < VPMU_MODE_USER ||
	    copy.mode > VPMU_MODE_HYP || copy.event >= VPMU_SET_EVENTS)
		return false;
	*out = copy;
	return true;
}

void vpmu_reader_done(struct vpmu_reader *reader, uint32_t n)
{
	reader->tail += n;
	/* Release: the producer may write over them once it sees this. */
	__atomic_store_n(&reader->page->tail, reader->tail, __ATOMIC_RELEASE);
}

/* So often is it tried again, when a sample was put while the account was read. */
#define ACCOUNT_TRIES 8

bool vpmu_reader_account(const struct vpmu_reader *reader, uint64_t *taken, uint64_t *lost)
{
	const struct vpmu_ring_page *page = reader->page;
	uint64_t head;

	for (int i = 0; i < ACCOUNT_TRIES; i++) {
		*taken = __atomic_load_n(&page->taken, __ATOMIC_ACQUIRE);
		*lost = __atomic_load_n(&page->lost, __ATOMIC_ACQUIRE);
		head = __atomic_load_n(&page->head, __ATOMIC_ACQUIRE);
		if (__atomic_load_n(&page->taken, __ATOMIC_RELAXED) == *taken)
			break;
	}
	/* a put that is under way may be in one of the three and not yet in another */
	return *lost <= *taken && *taken - *lost - head + 1 <= 2;
}
