/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "record/perfdata.h"
#include "record/perfdata_format.h"

static char path[64];
static struct err err;

static int setup(void **state)
{
	int fd;

	(void)state;
	strcpy(path, "/tmp/vmmprof-test-XXXXXX");
	fd = mkstemp(path);
	close(fd);
	return unlink(path);
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

static struct perfdata_writer *make(size_t nevents)
{
	static struct perf_event_attr attrs[2];
	static const char *const names[] = { "cycles", "instructions" };
	static const struct machine machine = { .arch = "x86_64", .ncpus = 4 };
	const struct perfdata_config config = { attrs,	  names, nevents,
						&machine, "web", "vmmprof record" };
	struct perfdata_writer *w;

	for (int i = 0; i < 2; i++) {
		attrs[i].size = sizeof(attrs[i]);
		attrs[i].config = i;
		attrs[i].sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
	}
	if (perfdata_create(path, &config, &w, &err))
		fail_msg("%s", err.text);
	return w;
}

static char *slurp(size_t *size)
{
	FILE *f = fopen(path, "r");
	char *data;

	fseek(f, 0, SEEK_END);
	*size = ftell(f);
	rewind(f);
	data = calloc(1, *size + 1);
	assert_int_equal(fread(data, 1, *size, f), *size);
	fclose(f);
	return data;
}

/* Walks the data section as a reader would; number of records of @type. */
static size_t records(unsigned type, size_t *bytes)
{
	size_t size, n = 0;
	char *data = slurp(&size);
	const struct perfdata_header *h = (void *)data;
	uint64_t pos = h->data.offset, end = h->data.offset + h->data.size;

	assert_true(h->magic == PERFDATA_MAGIC);
	assert_true(end <= size);
	while (pos < end) {
		const struct perf_event_header *r = (void *)(data + pos);

		assert_true(r->size >= sizeof(*r) && pos + r->size <= end);
		n += r->type == type;
		pos += r->size;
	}
	if (bytes)
		*bytes = h->data.size;
	free(data);
	return n;
}

static void fill(struct perf_event_header *buf, size_t n, size_t size)
{
	for (size_t i = 0; i < n; i++) {
		struct perf_event_header *h = (void *)((char *)buf + i * size);

		memset(h, 0, size);
		h->type = PERF_RECORD_SAMPLE;
		h->size = size;
	}
}

static void the_file_is_whole_from_its_first_moment(void **state)
{
	struct perfdata_writer *w = make(2);
	size_t bytes;

	(void)state;
	assert_int_equal(records(PERF_RECORD_SAMPLE, &bytes), 0);
	assert_int_equal(bytes, 0);
	assert_int_equal(perfdata_finish(w, &err), 0);
}

static void records_count_after_a_round(void **state)
{
	struct perf_event_header buf[7 * 5];
	struct iovec spans[2] = { { buf, 2 * 56 }, { buf + 14, 3 * 56 } };
	struct perfdata_writer *w = make(1);

	(void)state;
	fill(buf, 5, 56);
	assert_int_equal(perfdata_append(w, spans, 2, &err), 0);
	assert_int_equal(records(PERF_RECORD_SAMPLE, NULL), 0);
	assert_int_equal(perfdata_round(w, &err), 0);
	assert_int_equal(records(PERF_RECORD_SAMPLE, NULL), 5);
	assert_int_equal(records(RECORD_FINISHED_ROUND, NULL), 1);
	assert_int_equal(perfdata_finish(w, &err), 0);
	assert_int_equal(records(PERF_RECORD_SAMPLE, NULL), 5);
}

static void a_full_disk_cuts_back_to_the_last_whole_record(void **state)
{
	/* 5 records of 56 bytes over two spans; the third crosses between them */
	struct perf_event_header buf[7 * 5];
	struct iovec spans[2] = { { buf, 2 * 56 + 16 }, { buf + 16, 3 * 56 - 16 } };
	struct perfdata_writer *w = make(1);
	struct rlimit old, limit;
	size_t size, bytes, whole;

	(void)state;
	fill(buf, 5, 56);
	free(slurp(&size));
	getrlimit(RLIMIT_FSIZE, &old);
	signal(SIGXFSZ, SIG_IGN);
	for (size_t room = 0; room < 5 * 56; room += 8) {
		limit = (struct rlimit) { size + room, old.rlim_max };
		setrlimit(RLIMIT_FSIZE, &limit);
		assert_int_equal(perfdata_append(w, spans, 2, &err), -EFBIG);
		setrlimit(RLIMIT_FSIZE, &old);
		whole = records(PERF_RECORD_SAMPLE, &bytes);
		assert_int_equal(whole * 56, bytes);
		size += room / 56 * 56;
		assert_int_equal(perfdata_size(w), size);
	}
	assert_int_equal(perfdata_finish(w, &err), 0);
}

static void every_id_is_in_the_file_however_many_vcpus_come(void **state)
{
	struct perfdata_writer *w = make(2);
	const struct perfdata_header *h;
	size_t size;
	char *data;

	(void)state;
	for (uint64_t i = 1; i <= 1000; i++) {
		const uint64_t ids[2] = { i, i % 2 ? 0 : 5000 + i };

		assert_int_equal(perfdata_add_ids(w, ids, &err), 0);
		if (i % 100)
			continue;
		/* also while it grows */
		data = slurp(&size);
		h = (void *)data;
		for (int e = 0; e < 2; e++) {
			const struct perfdata_attr *a =
				(void *)(data + h->attrs.offset + e * h->attr_size);
			const uint64_t *id = (void *)(data + a->ids.offset);

			assert_int_equal(a->ids.size, 8 * (e ? i / 2 : i));
			for (size_t k = 0; k < a->ids.size / 8; k++)
				assert_int_equal(id[k], e ? 5000 + 2 * (k + 1) : k + 1);
		}
		free(data);
	}
	assert_int_equal(perfdata_finish(w, &err), 0);
	assert_true(records(RECORD_EVENT_TYPE, NULL) > 0);
}

static void too_many_ids_are_refused_in_words(void **state)
{
	struct perfdata_writer *w = make(1);
	int ret = 0;
	uint64_t i;

	(void)state;
	for (i = 1; i < 10000 && !ret; i++)
		ret = perfdata_add_ids(w, &i, &err);
	assert_int_equal(ret, -E2BIG);
	assert_int_equal(i - 2, (PERFDATA_RECORD_MAX - 8) / 8);
	assert_non_null(strstr(err.text, "record fewer at a time"));
	assert_int_equal(perfdata_finish(w, &err), 0);
}

static void names_and_maps_are_whole_records_of_any_length(void **state)
{
	struct perfdata_writer *w = make(1);
	char name[6000];

	(void)state;
	memset(name, 'x', sizeof(name));
	for (size_t n = 0; n < 200; n++) {
		name[n] = '\0';
		assert_int_equal(perfdata_comm(w, 1, 2, name, &err), 0);
		assert_int_equal(
			perfdata_mmap(w, false, 1, 2, 0x1000, 0x1000, 0, name, &err), 0);
		name[n] = 'x';
	}
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(perfdata_comm(w, 1, 2, name, &err), 0);
	assert_int_equal(perfdata_mmap(w, true, -1, 0, 0, ~0ULL, 0, name, &err), 0);
	assert_int_equal(perfdata_finish(w, &err), 0);
	assert_int_equal(records(PERF_RECORD_COMM, NULL), 201);
	assert_int_equal(records(PERF_RECORD_MMAP, NULL), 201);
}

static void a_file_is_never_overwritten(void **state)
{
	const struct machine machine = { 0 };
	const struct perfdata_config config = { NULL, NULL, 0, &machine, "", "" };
	struct perfdata_writer *w = make(1), *other;

	(void)state;
	assert_int_equal(perfdata_create(path, &config, &other, &err), -EEXIST);
	assert_int_equal(perfdata_finish(w, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(the_file_is_whole_from_its_first_moment),
		T(records_count_after_a_round),
		T(a_full_disk_cuts_back_to_the_last_whole_record),
		T(every_id_is_in_the_file_however_many_vcpus_come),
		T(too_many_ids_are_refused_in_words),
		T(names_and_maps_are_whole_records_of_any_length),
		T(a_file_is_never_overwritten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
