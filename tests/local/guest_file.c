/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A made-up guest's perf.data file, for perf to judge.
 *   guest_file FILE TEXT IP
 * TEXT: where its kernel has _stext, 0: not known. Ten samples of its kernel at IP,
 * three of the hypervisor at the same address. Numbers are hexadecimal.
 */
#include <stdio.h>
#include <time.h>

#include "base/str.h"
#include "record/perfdata.h"

struct sample_record {
	struct perf_event_header header;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t period;
};

static int put_samples(struct perfdata_writer *w, unsigned mode, uint64_t ip, int n,
		       struct err *err)
{
	struct sample_record s = {
		.header = { PERF_RECORD_SAMPLE, mode, sizeof(s) },
		.id = 7,
		.ip = ip,
		.pid = 10,
		.tid = 11,
		.time = mode * 1000000,
		.period = 1,
	};
	const struct iovec span = { &s, sizeof(s) };
	int ret = 0;

	for (; !ret && n; n--) {
		s.time++;
		ret = perfdata_append(w, &span, 1, err);
	}
	return ret;
}

static int put_all(struct perfdata_writer *w, uint64_t text, uint64_t ip, struct err *err)
{
	const uint64_t id = 7;
	int ret = perfdata_add_ids(w, &id, err);

	if (!ret)
		ret = perfdata_foreign_kernel(w, text ? "_stext" : NULL, text, err);
	if (!ret)
		ret = perfdata_comm(w, 10, 11, "web/vcpu0", err);
	if (!ret)
		ret = put_samples(w, PERF_RECORD_MISC_KERNEL, ip, 10, err);
	if (!ret)
		ret = put_samples(w, PERF_RECORD_MISC_HYPERVISOR, ip, 3, err);
	return ret ? ret : perfdata_round(w, err);
}

int main(int argc, char **argv)
{
	const struct perf_event_attr attr = {
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
		.sample_id_all = 1,
		.sample_period = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	const char *const names[] = { "cycles" };
	const struct machine machine = { .ncpus = 1 };
	const struct perfdata_config config = { &attr, names, 1, &machine, "web", "" };
	struct perfdata_writer *w;
	struct err err = { 0 };
	uint64_t text, ip;

	if (argc != 4 || str_u64(argv[2], 16, &text) || str_u64(argv[3], 16, &ip)) {
		fputs("usage: guest_file FILE TEXT IP\n", stderr);
		return 2;
	}
	if (perfdata_create(argv[1], &config, &w, &err) || put_all(w, text, ip, &err) ||
	    perfdata_finish(w, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return 0;
}
