/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A big recording for bench/report_cost, the same each time: one VM, its samples
 * spread over addresses as programs spread them (few are hot, most are rare),
 * nine of ten in the kernel.
 *   make_recording DIR SAMPLES ADDRESSES VCPUS
 * writes DIR/recording (one lane) and DIR/kallsyms.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "record/recording.h"

#define KERNEL UINT64_C(0xffffffff81000000)
#define NSYMBOLS 150000
#define FIRST_TID 1001

static const struct perf_event_attr attr = {
	.type = PERF_TYPE_HARDWARE,
	.size = sizeof(attr),
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.sample_period = 100000,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
	.sample_id_all = 1,
	.exclude_host = 1,
};

struct record {
	struct perf_event_header h;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t period;
};

static uint64_t state = 1;

/* splitmix64 (Vigna), so that every run makes the same file */
static uint64_t next_random(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static void die(const char *what)
{
	fprintf(stderr, "make_recording: %s\n", what);
	exit(1);
}

static void write_kallsyms(const char *dir)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/kallsyms", dir);
	f = fopen(path, "w");
	if (!f)
		die("cannot write kallsyms");
	fprintf(f, "%016" PRIx64 " T _text\n", KERNEL);
	for (uint64_t i = 1; i < NSYMBOLS; i++)
		fprintf(f, "%016" PRIx64 " %c kernel_function_%" PRIu64 "\n",
			KERNEL + 96 * i, i % 3 ? 't' : 'T', i);
	if (fclose(f))
		die("cannot write kallsyms");
}

static uint64_t *make_addresses(size_t n)
{
	uint64_t *v = calloc(n, sizeof(*v));

	if (!v)
		die("out of memory");
	for (size_t i = 0; i < n; i++)
		v[i] = i % 10 ? KERNEL + next_random() % (96 * NSYMBOLS)
			      : 0x400000 + next_random() % 0x100000;
	return v;
}

static void write_samples(struct perfdata_writer *w, size_t samples, size_t naddr,
			  unsigned vcpus)
{
	static struct record batch[1024];
	uint64_t *addr = make_addresses(naddr);
	uint64_t time = 1000000000;

	for (size_t done = 0; done < samples;) {
		size_t n = samples - done < 1024 ? samples - done : 1024;
		const struct iovec span = { batch, n * sizeof(batch[0]) };

		for (size_t i = 0; i < n; i++) {
			/* the product of two uniform numbers: the first ones are hot */
			uint64_t r = next_random(), vcpu = next_random() % vcpus;
			uint64_t a = ((r & 0xffffffff) * naddr >> 32) * (r >> 32) >> 32;
			uint64_t ip = addr[a];

			batch[i] = (struct record) {
				.h = { PERF_RECORD_SAMPLE,
				       ip >= KERNEL ? PERF_RECORD_MISC_KERNEL
						    : PERF_RECORD_MISC_USER,
				       sizeof(struct record) },
				.id = vcpu + 1,
				.ip = ip,
				.pid = 1000,
				.tid = FIRST_TID + (uint32_t)vcpu,
				.time = time += 5000,
				.cpu = (uint32_t)vcpu,
				.period = 100000,
			};
		}
		if (perfdata_append(w, &span, 1, NULL))
			die("cannot append samples");
		done += n;
		if (done % 65536 == 0 && perfdata_round(w, NULL))
			die("cannot end a round");
	}
	free(addr);
}

static void write_threads(struct perfdata_writer *w, unsigned vcpus)
{
	char name[32];

	/* What lets perf resolve the guest's kernel with --kallsyms. */
	if (perfdata_mmap(w, true, -1, 0, KERNEL, UINT64_C(0x40000000), KERNEL,
			  "[kernel.kallsyms]_text", NULL))
		die("cannot write the kernel's map");
	for (unsigned i = 0; i < vcpus; i++) {
		uint64_t id = i + 1;

		snprintf(name, sizeof(name), "web/vcpu%u", i);
		if (perfdata_add_ids(w, &id, NULL) ||
		    perfdata_comm(w, 1000, FIRST_TID + (pid_t)i, name, NULL))
			die("cannot write the threads");
	}
}

int main(int argc, char **argv)
{
	const struct machine machine = {
		.arch = "x86_64", .release = "6.1.0", .ncpus = 16, .hostname = "bench"
	};
	struct vm vm = { .id = "1000", .name = "web", .vmm = "none", .pid = 1000 };
	struct event event = {
		.name = "cycles", .period = 100000, .scale = 1, .group = -1
	};
	const struct event_set set = { &event, 1, 1 };
	struct perfdata_writer *w;
	struct recording *rec;
	uint64_t n[3];
	char path[4096];
	int64_t lane;
	struct err err = { 0 };

	for (int i = 0; i < 3; i++)
		if (argc != 5 || str_count(argv[i + 2], &n[i]) || !n[i])
			die("usage: make_recording DIR SAMPLES ADDRESSES VCPUS");
	write_kallsyms(argv[1]);
	snprintf(path, sizeof(path), "%s/recording", argv[1]);
	if (recording_create(path, &machine, "make_recording", &rec, &err) ||
	    recording_lane(rec, &vm, true, &set, &attr, &lane, &w, &err))
		die(err.text);
	write_threads(w, (unsigned)n[2]);
	write_samples(w, n[0], n[1], (unsigned)n[2]);
	if (perfdata_finish(w, &err) || recording_finish(rec, "normally", &err))
		die(err.text);
	return 0;
}
