/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/hosted/stage.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* In the order of STAGE_SAMPLE_TYPE. */
struct sample_record {
	struct perf_event_header header;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, zero;
	uint64_t period;
};

/* With the trailing sample_id: TID, TIME, CPU, IDENTIFIER. */
struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, zero;
	uint64_t identifier;
};

int stage_init(struct stage *st, void *ring, size_t bytes)
{
	int ret = vpmu_reader_init(&st->reader, ring, bytes);

	if (ret)
		return ret;
	/* it costs memory only as far as the ring ever filled */
	st->size = st->reader.records * sizeof(struct sample_record) +
		   sizeof(struct lost_record);
	st->out = mmap(NULL, st->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	if (st->out != MAP_FAILED)
		return 0;
	st->out = NULL;
	return -ENOMEM;
}

void stage_free(struct stage *st)
{
	if (st->out)
		munmap(st->out, st->size);
}

/* Seen from inside: a domain's are its user and its kernel, Xen's own the hypervisor. */
static uint16_t cpumode(uint8_t mode)
{
	return mode == VPMU_MODE_USER	  ? PERF_RECORD_MISC_USER
	       : mode == VPMU_MODE_KERNEL ? PERF_RECORD_MISC_KERNEL
					  : PERF_RECORD_MISC_HYPERVISOR;
}

static bool makes_sense(const struct stage *st, const struct vpmu_sample *s)
{
	return s->event < st->nids && st->ids[s->event] && s->vcpu == st->vcpu &&
	       (s->mode == VPMU_MODE_HYP) == st->hypervisor;
}

static void put_sample(struct stage *st, const struct vpmu_sample *s)
{
	const struct sample_record r = {
		.header = { PERF_RECORD_SAMPLE, cpumode(s->mode), sizeof(r) },
		.id = st->ids[s->event],
		.ip = s->pc,
		.pid = st->pid,
		.tid = st->tid,
		.time = st->time,
		.cpu = s->pcpu,
		.period = s->period,
	};

	memcpy(st->out + st->used, &r, sizeof(r));
	st->used += sizeof(r);
}

static void put_lost(struct stage *st, uint64_t lost)
{
	const struct lost_record r = {
		.header = { PERF_RECORD_LOST, 0, sizeof(r) },
		.id = st->ids[0],
		.lost = lost,
		.pid = st->pid,
		.tid = st->tid,
		.time = st->time,
		.identifier = st->ids[0],
	};

	memcpy(st->out + st->used, &r, sizeof(r));
	st->used += sizeof(r);
}

/* What rubbish in the ring's header says is not believed: then the hypervisor's word is. */
static uint64_t lost_by_now(const struct stage *st, bool complete,
			    struct sampler_tally *tally)
{
	uint64_t received = st->received + st->staged, taken, lost;

	if (!vpmu_reader_account(&st->reader, &taken, &lost)) {
		tally->corrupt += sizeof(struct vpmu_ring_page);
		return st->known_lost;
	}
	return complete && taken > received + lost ? taken - received : lost;
}

/* Where there is no room it is told the next time. */
static void tell_lost(struct stage *st, bool complete, struct sampler_tally *tally)
{
	uint64_t lost = lost_by_now(st, complete, tally);

	if (lost <= st->lost || st->used + sizeof(struct lost_record) > st->size)
		return;
	put_lost(st, lost - st->lost);
	tally->lost += lost - st->lost;
	st->lost = lost;
}

void stage_fill(struct stage *st, bool last, struct sampler_tally *tally)
{
	uint32_t waiting = vpmu_reader_waiting(&st->reader);
	size_t before = st->used;
	struct vpmu_sample s;

	for (; st->staged < waiting && st->used + sizeof(struct sample_record) <= st->size;
	     st->staged++) {
		if (!vpmu_reader_copy(&st->reader, st->staged, &s) ||
		    !makes_sense(st, &s)) {
			tally->corrupt += sizeof(s);
			continue;
		}
		st->time = s.time + st->clock_offset;
		put_sample(st, &s);
		tally->samples++;
	}
	tell_lost(st, last && st->staged == waiting, tally);
	tally->bytes += st->used - before;
}

void stage_release(struct stage *st)
{
	vpmu_reader_done(&st->reader, st->staged);
	st->received += st->staged;
	st->staged = 0;
	st->used = 0;
}
