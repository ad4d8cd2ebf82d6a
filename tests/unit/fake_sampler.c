/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "fake_sampler.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "fake_source.h"

struct sampler samplers[FAKE_SAMPLERS];
size_t nsamplers;
int fake_refuse;
const char *fake_unsupported, *fake_wrong_in_turns;

static int fake_sampler_open(struct source *src, const struct vm *vm,
			     const struct vcpu *vcpu, const struct event_set *set,
			     bool inside, size_t ring_bytes, struct opened *opened,
			     struct sampler **out, struct err *err)
{
	struct sampler *s = &samplers[nsamplers];

	(void)src;
	(void)vm;
	assert_true(ring_bytes > 0);
	if (fake_refuse)
		return err_set(err, fake_refuse, "refused");
	assert_true(nsamplers < FAKE_SAMPLERS);
	nsamplers++;
	*s = (struct sampler) {
		.tid = vcpu->tid, .inside = inside, .open = true, .set = *set
	};
	assert_int_equal(pipe2(s->pipe, O_CLOEXEC), 0);
	for (size_t i = 0; i < set->n; i++) {
		opened[i] = (struct opened) { .state = READ_COUNTED,
					      .wrong_in_turns = fake_wrong_in_turns };
		if (fake_unsupported && !strcmp(set->ev[i].name, fake_unsupported)) {
			opened[i].state = READ_UNSUPPORTED;
			str_copy(opened[i].reason, sizeof(opened[i].reason),
				 "no PMU counts it: try cpu-clock");
		}
	}
	*out = s;
	return 0;
}

static int fake_sampler_fd(const struct sampler *s)
{
	return s->pipe[0];
}

static bool fake_sampler_event(const struct sampler *s, size_t i,
			       struct perf_event_attr *attr, uint64_t *id)
{
	bool open = !fake_unsupported || strcmp(s->set.ev[i].name, fake_unsupported);

	*attr = (struct perf_event_attr) { .size = sizeof(*attr) };
	*id = open ? (uint64_t)s->tid * 10 + i + 1 : 0;
	return open;
}

static int fake_sampler_peek(struct sampler *s, struct iovec spans[2],
			     struct sampler_tally *tally)
{
	tally->samples += s->next.samples;
	tally->lost += s->next.lost;
	tally->throttled += s->next.throttled;
	tally->corrupt += s->next.corrupt;
	tally->bytes += s->words * 8;
	s->next = (struct sampler_tally) { 0 };
	spans[0] = (struct iovec) { s->ring, s->words * 8 };
	return s->words > 0;
}

static void fake_sampler_release(struct sampler *s)
{
	s->words = 0;
}

static void fake_sampler_stop(struct sampler *s)
{
	s->stopped = true;
}

static int fake_sampler_read(struct sampler *s, struct reading *out, uint64_t *lost)
{
	for (size_t i = 0; i < s->set.n; i++) {
		out[i] = (struct reading) { .raw = s->raw,
					    .enabled_ns = s->enabled_ns,
					    .running_ns = s->running_ns };
		lost[i] = i ? 0 : s->lost;
	}
	return 0;
}

static void fake_sampler_close(struct sampler *s)
{
	assert_true(s->open);
	s->open = false;
	close(s->pipe[0]);
	if (s->pipe[1] >= 0)
		close(s->pipe[1]);
}

struct sampler *sampler_of(pid_t tid, bool inside)
{
	for (size_t i = 0; i < nsamplers; i++)
		if (samplers[i].tid == tid && samplers[i].inside == inside &&
		    samplers[i].open)
			return &samplers[i];
	fail_msg("thread %d has no sampler", tid);
	return NULL;
}

void put_samples(struct sampler *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		s->ring[s->words++] =
			(struct perf_event_header) { PERF_RECORD_SAMPLE, 0, 8 };
	s->next.samples += n;
}

struct source_ops fake_sampling_ops(void)
{
	struct source_ops ops = fake_source;

	nsamplers = 0;
	fake_refuse = 0;
	fake_unsupported = fake_wrong_in_turns = NULL;
	ops.sampler_open = fake_sampler_open;
	ops.sampler_fd = fake_sampler_fd;
	ops.sampler_event = fake_sampler_event;
	ops.sampler_peek = fake_sampler_peek;
	ops.sampler_release = fake_sampler_release;
	ops.sampler_stop = fake_sampler_stop;
	ops.sampler_read = fake_sampler_read;
	ops.sampler_close = fake_sampler_close;
	return ops;
}
