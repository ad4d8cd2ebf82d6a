/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of a perf.data file, one after the other; layouts: perf_event_open(2). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "record/perfdata_reader.h"

#define WINDOW                                                                             \
	(256 * 1024) /* fits a second-level cache; a record is 64 KiB - 1 at most          \
		      */

/* enum perf_user_event_type of perf's util/event.h */
enum {
	USER_AUXTRACE = 71,
	USER_COMPRESSED = 81,
	USER_COMPRESSED2 = 83,
};

struct walk {
	struct perfdata_reader *r;
	const struct perfdata_visitor *v;
	void *ctx;
	uint64_t pos, end;   /* in the file */
	const uint8_t *base; /* what is in memory: [from, to) of the file */
	uint64_t from, to;
	uint64_t lost, lost_samples;
	bool stop;
	struct err *err;
};

static int malformed(struct walk *w, const char *what)
{
	return err_set(w->err, EINVAL, "%s: malformed: %s at byte %" PRIu64, w->r->path,
		       what, w->pos);
}

/* The next @len bytes; NULL where the file ends before, or cannot be read (*ret). */
static const uint8_t *need(struct walk *w, size_t len, int *ret)
{
	uint64_t left = w->end - w->pos;
	ssize_t n;

	if (len > left)
		return NULL;
	if (w->pos >= w->from && w->pos + len <= w->to)
		return w->base + (w->pos - w->from);
	n = perfdata_read_some(w->r, w->pos, w->r->window, left < WINDOW ? left : WINDOW);
	if (n < 0) {
		*ret = err_set(w->err, n, "%s: cannot read at byte %" PRIu64 ": %s",
			       w->r->path, w->pos, err_name(n));
		return NULL;
	}
	w->base = w->r->window;
	w->from = w->pos;
	w->to = w->pos + n;
	return (size_t)n >= len ? w->base : NULL;
}

static int find_event(struct perfdata_reader *r, uint64_t id, uint32_t *event)
{
	struct id_slot *hit = &r->cache[id % ID_CACHE];
	size_t lo = 0, hi = r->nids;

	if (hit->id == id && id) {
		*event = hit->event;
		return 0;
	}
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->ids[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == r->nids || r->ids[lo].id != id)
		return -ENOENT;
	*hit = r->ids[lo];
	*event = hit->event;
	return 0;
}

static enum sample_mode sample_mode(uint16_t misc)
{
	static const enum sample_mode modes[8] = {
		[PERF_RECORD_MISC_KERNEL] = MODE_KERNEL,
		[PERF_RECORD_MISC_USER] = MODE_USER,
		[PERF_RECORD_MISC_HYPERVISOR] = MODE_HYPERVISOR,
		[PERF_RECORD_MISC_GUEST_KERNEL] = MODE_GUEST_KERNEL,
		[PERF_RECORD_MISC_GUEST_USER] = MODE_GUEST_USER,
	};

	return modes[misc & PERF_RECORD_MISC_CPUMODE_MASK];
}

static int on_sample(struct walk *w, const uint8_t *p, uint16_t size)
{
	struct perfdata_reader *r = w->r;
	const struct event_slot *e = r->events;
	struct sample s = { .pid = -1, .tid = -1 };

	if (r->nevents > 1) {
		if (size < e->id + sizeof(uint64_t))
			return malformed(w, "a sample too short for its id");
		if (find_event(r, get64(p + e->id), &s.event))
			return malformed(
				w, "a sample of an event that the header does not list");
		e += s.event;
	}
	if (size < e->min_size)
		return malformed(w, "a sample shorter than its event's sample_type tells");
	s.mode = sample_mode(get16(p + 4));
	s.period = e->period ? get64(p + e->period) : e->fixed_period;
	if (e->ip)
		s.ip = get64(p + e->ip);
	if (e->tid) {
		s.pid = (pid_t)get32(p + e->tid);
		s.tid = (pid_t)get32(p + e->tid + 4);
	}
	if (e->time)
		s.time_ns = get64(p + e->time);
	if (e->cpu)
		s.cpu = get32(p + e->cpu);
	w->stop = !w->v->sample(w->ctx, &s);
	return 0;
}

static int on_comm(struct walk *w, const uint8_t *p, uint16_t size)
{
	if (size < 17 || !memchr(p + 16, '\0', size - 16))
		return malformed(w, "a COMM record without a terminated name");
	w->stop = !w->v->comm(w->ctx, (pid_t)get32(p + 8), (pid_t)get32(p + 12),
			      (const char *)p + 16);
	return 0;
}

/* MMAP, and MMAP2 with 32 bytes more before the name. */
static int on_mmap(struct walk *w, const uint8_t *p, uint32_t type, uint16_t size)
{
	uint16_t name = type == PERF_RECORD_MMAP ? 40 : 72, misc = get16(p + 4);

	if (size <= name || !memchr(p + name, '\0', size - name))
		return malformed(w, "an MMAP record without a terminated name");
	if ((misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER &&
	    !(misc & PERF_RECORD_MISC_MMAP_DATA))
		w->stop = !w->v->mmap(w->ctx, (pid_t)get32(p + 8), get64(p + 16),
				      get64(p + 24), get64(p + 32), (const char *)p + name);
	return 0;
}

/* Counts cannot overflow to something small: they stop at the largest number. */
static void add_lost(uint64_t *sum, uint64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}

/* The trace data of an AUXTRACE record follow it and are not in its size. */
static int skip_auxtrace(struct walk *w, const uint8_t *p, uint16_t size)
{
	uint64_t len;

	if (size < 16)
		return malformed(w, "an AUXTRACE record too short for its size");
	len = get64(p + 8);
	if (len > w->end - w->pos - size)
		len = w->end - w->pos - size;
	w->pos += len;
	return 0;
}

static int on_record(struct walk *w, const uint8_t *p, uint32_t type, uint16_t size)
{
	switch (type) {
	case PERF_RECORD_SAMPLE: return w->v->sample ? on_sample(w, p, size) : 0;
	case PERF_RECORD_COMM: return w->v->comm ? on_comm(w, p, size) : 0;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2: return w->v->mmap ? on_mmap(w, p, type, size) : 0;
	case PERF_RECORD_LOST:
		if (size < 24)
			return malformed(w, "a LOST record too short for its count");
		add_lost(&w->lost, get64(p + 16));
		return 0;
	case PERF_RECORD_LOST_SAMPLES:
		if (size < 16)
			return malformed(w,
					 "a LOST_SAMPLES record too short for its count");
		add_lost(&w->lost_samples, get64(p + 8));
		return 0;
	case PERF_RECORD_THROTTLE:
		if (size < 16)
			return malformed(w, "a THROTTLE record too short for its time");
		if (w->v->throttle)
			w->stop = !w->v->throttle(w->ctx, get64(p + 8));
		return 0;
	case USER_AUXTRACE: return skip_auxtrace(w, p, size);
	case USER_COMPRESSED:
	case USER_COMPRESSED2:
		return err_set(
			w->err, EINVAL,
			"%s: has compressed records (perf record -z), which this reader "
			"does not take; record again without -z",
			w->r->path);
	}
	return 0;
}

static int walk_records(struct walk *w)
{
	int ret = 0;

	while (!w->stop && w->pos < w->end) {
		const uint8_t *p = need(w, sizeof(struct perf_event_header), &ret);
		uint16_t size;

		if (!p)
			break;
		size = get16(p + 6);
		if (size < sizeof(struct perf_event_header))
			return malformed(w, "a record shorter than its own header");
		p = need(w, size, &ret);
		if (!p)
			break;
		ret = on_record(w, p, get32(p), size);
		if (ret)
			break;
		w->pos += size;
	}
	return ret;
}

int perfdata_walk(struct perfdata_reader *r, const struct perfdata_visitor *v, void *ctx,
		  uint64_t *truncated, struct err *err)
{
	uint64_t promised = r->data.offset + r->data.size;
	struct walk w = {
		.r = r,
		.v = v,
		.ctx = ctx,
		.err = err,
		.pos = r->data.offset,
		.end = promised < r->size ? promised : r->size,
	};
	uint64_t lost;
	int ret;

	if (r->fd < 0) {
		w.base = r->mem;
		w.to = r->size;
	} else if (!r->window) {
		r->window = malloc(WINDOW);
		if (!r->window)
			return err_set(err, ENOMEM, "%s: out of memory", r->path);
	}
	ret = walk_records(&w);
	lost = w.lost > w.lost_samples ? w.lost : w.lost_samples;
	if (lost && v->lost)
		v->lost(ctx, lost);
	if (truncated)
		*truncated = ret || w.stop ? 0 : promised - w.pos;
	return ret;
}
