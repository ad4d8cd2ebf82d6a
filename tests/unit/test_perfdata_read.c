/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "perfbuild.h"
#include "record/perfdata.h"

static const struct perf_event_attr two_attrs[] = {
	{ .type = PERF_TYPE_HARDWARE,
	  .size = sizeof(struct perf_event_attr),
	  .config = PERF_COUNT_HW_CPU_CYCLES,
	  .sample_period = 1000,
	  .sample_type = BUILD_TYPE,
	  .sample_id_all = 1 },
	{ .type = PERF_TYPE_RAW,
	  .size = sizeof(struct perf_event_attr),
	  .config = 0x11,
	  .sample_period = 1000,
	  .sample_type = BUILD_TYPE,
	  .sample_id_all = 1 },
};

struct seen {
	struct sample sample[8];
	size_t nsamples, stop_after;
	char comm[64];
	pid_t tid;
	uint64_t lost, throttled_at;
};

static bool see_sample(void *ctx, const struct sample *s)
{
	struct seen *seen = ctx;

	assert_true(seen->nsamples < 8);
	seen->sample[seen->nsamples++] = *s;
	return seen->nsamples != seen->stop_after;
}

static bool see_comm(void *ctx, pid_t pid, pid_t tid, const char *name)
{
	struct seen *seen = ctx;

	assert_int_equal(pid, 100);
	seen->tid = tid;
	str_copy(seen->comm, sizeof(seen->comm), name);
	return true;
}

static bool see_lost(void *ctx, uint64_t count)
{
	((struct seen *)ctx)->lost += count;
	return true;
}

static bool see_throttle(void *ctx, uint64_t time_ns)
{
	((struct seen *)ctx)->throttled_at = time_ns;
	return true;
}

static const struct perfdata_visitor visitor = {
	.sample = see_sample,
	.comm = see_comm,
	.lost = see_lost,
	.throttle = see_throttle,
};

/* A file of two events with one of everything. */
static struct strbuf good_file(void)
{
	static const uint64_t lost[] = { 10, 7, 0 }, lost_samples[] = { 5 },
			      throttle[] = { 555, 10, 10 }, junk[] = { 1, 2, 3 };
	struct strbuf sb = { 0 };

	build_begin(&sb, two_attrs, 2);
	build_comm(&sb, 100, 101, "web/vcpu0");
	build_sample(&sb, PERF_RECORD_MISC_KERNEL, 10, 0xffffffff81000010, 101, 1000, 900);
	build_record(&sb, PERF_RECORD_LOST, 0, lost, sizeof(lost));
	build_record(&sb, PERF_RECORD_LOST_SAMPLES, 0, lost_samples, sizeof(lost_samples));
	build_record(&sb, PERF_RECORD_THROTTLE, 0, throttle, sizeof(throttle));
	build_record(&sb, RECORD_FINISHED_ROUND, 0, NULL, 0);
	build_record(&sb, 77, 0, junk, sizeof(junk)); /* of a newer perf */
	build_record(&sb, 40, 0, junk, sizeof(junk)); /* of a newer kernel */
	build_sample(&sb, PERF_RECORD_MISC_GUEST_USER, 21, 0x400000, 102, 2000, 800);
	build_end(&sb);
	return sb;
}

static int walk(const struct strbuf *sb, struct seen *seen, uint64_t *truncated,
		struct err *err)
{
	struct perfdata_reader *r;
	int ret = perfdata_open_memory(sb->data, sb->len, &r, err);

	if (ret)
		return ret;
	ret = perfdata_walk(r, &visitor, seen, truncated, err);
	perfdata_close(r);
	return ret;
}

static void every_kind_of_record_is_read(void **state)
{
	struct strbuf sb = good_file();
	struct seen seen = { 0 };
	uint64_t truncated = 99;
	const struct sample *s = seen.sample;

	(void)state;
	assert_int_equal(walk(&sb, &seen, &truncated, NULL), 0);
	assert_int_equal(truncated, 0);
	assert_int_equal(seen.nsamples, 2);
	assert_int_equal(s[0].event, 0);
	assert_int_equal(s[0].mode, MODE_KERNEL);
	assert_true(s[0].ip == 0xffffffff81000010);
	assert_int_equal(s[0].pid, 100);
	assert_int_equal(s[0].tid, 101);
	assert_int_equal(s[0].time_ns, 1000);
	assert_int_equal(s[0].cpu, 3);
	assert_int_equal(s[0].period, 900);
	assert_int_equal(s[1].event, 1);
	assert_int_equal(s[1].mode, MODE_GUEST_USER);
	assert_string_equal(seen.comm, "web/vcpu0");
	assert_int_equal(seen.tid, 101);
	assert_int_equal(seen.throttled_at, 555);
	strbuf_free(&sb);
}

struct seen_maps {
	char text[256];
};

static bool see_mmap(void *ctx, pid_t pid, uint64_t addr, uint64_t len, uint64_t offset,
		     const char *path)
{
	struct seen_maps *seen = ctx;
	size_t n = strlen(seen->text);

	snprintf(seen->text + n, sizeof(seen->text) - n, "%d %lx+%lx@%lx %s;", pid, addr,
		 len, offset, path);
	return true;
}

static int walk_maps(struct strbuf *sb, struct seen_maps *seen, struct err *err)
{
	const struct perfdata_visitor v = { .mmap = see_mmap };
	struct perfdata_reader *r;
	int ret;

	build_end(sb);
	assert_int_equal(perfdata_open_memory(sb->data, sb->len, &r, err), 0);
	ret = perfdata_walk(r, &v, seen, NULL, err);
	perfdata_close(r);
	return ret;
}

static void code_that_processes_mapped_is_told(void **state)
{
	const uint16_t user = PERF_RECORD_MISC_USER, kernel = PERF_RECORD_MISC_KERNEL;
	static const uint8_t unending[40] = { [32 ... 39] = 'x' };
	struct seen_maps seen = { 0 };
	struct strbuf sb = { 0 };
	struct err err = { 0 };

	(void)state;
	build_begin(&sb, two_attrs, 2);
	build_mmap(&sb, false, user, 7, 0x1000, 0x200, 0x30, "/bin/one");
	build_mmap(&sb, true, user, 8, 0x2000, 0x300, 0x40, "/bin/two");
	build_mmap(&sb, false, kernel, -1, 0x3000, 1, 1, "[kernel.kallsyms]_text");
	build_mmap(&sb, true, user | PERF_RECORD_MISC_MMAP_DATA, 8, 1, 1, 1, "/data");
	assert_int_equal(walk_maps(&sb, &seen, NULL), 0);
	assert_string_equal(seen.text, "7 1000+200@30 /bin/one;8 2000+300@40 /bin/two;");
	build_record(&sb, PERF_RECORD_MMAP, user, unending, sizeof(unending));
	assert_int_equal(walk_maps(&sb, &seen, &err), -EINVAL);
	assert_non_null(strstr(err.text, "an MMAP record without a terminated name"));
	strbuf_free(&sb);
}

static void one_loss_told_by_two_records_counts_once(void **state)
{
	struct strbuf sb = good_file();
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(walk(&sb, &seen, NULL, NULL), 0);
	assert_int_equal(seen.lost, 7);
	strbuf_free(&sb);
}

static void a_visitor_can_stop_the_walk(void **state)
{
	struct strbuf sb = good_file();
	struct seen seen = { .stop_after = 1 };

	(void)state;
	assert_int_equal(walk(&sb, &seen, NULL, NULL), 0);
	assert_int_equal(seen.nsamples, 1);
	strbuf_free(&sb);
}

static void names_come_from_the_file_else_from_the_numbers(void **state)
{
	const char *const names[] = { "cycles:G", "L2 misses\033[31m" };
	struct strbuf sb = good_file();
	struct perfdata_reader *r;

	(void)state;
	assert_int_equal(perfdata_open_memory(sb.data, sb.len, &r, NULL), 0);
	assert_int_equal(perfdata_nevents(r), 2);
	assert_string_equal(perfdata_event_name(r, 0), "cycles");
	assert_string_equal(perfdata_event_name(r, 1), "r11");
	perfdata_close(r);
	build_names(&sb, two_attrs, names, 2);
	assert_int_equal(perfdata_open_memory(sb.data, sb.len, &r, NULL), 0);
	assert_string_equal(perfdata_event_name(r, 0), "cycles:G");
	assert_string_equal(perfdata_event_name(r, 1), "L2 misses?[31m");
	assert_int_equal(perfdata_attr(r, 1)->config, 0x11);
	perfdata_close(r);
	strbuf_free(&sb);
}

/* Every layout in front of our fields: one event, fields found where they must be. */
static void each_field_is_found_in_every_sample_layout(void **state)
{
	(void)state;
	for (uint64_t type = 0; type < 1 << 9; type++) {
		/* The nine bits that come before or among ours, in record order. */
		static const uint64_t bits[] = {
			PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,	  PERF_SAMPLE_TID,
			PERF_SAMPLE_TIME,	PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
			PERF_SAMPLE_STREAM_ID,	PERF_SAMPLE_CPU,  PERF_SAMPLE_PERIOD,
		};
		struct perf_event_attr attr = { .size = sizeof(attr),
						.sample_period = 77,
						.sample_type = PERF_SAMPLE_READ };
		struct strbuf sb = { 0 };
		struct seen seen = { 0 };
		uint64_t body[16];
		size_t n = 0;

		for (unsigned b = 0; b < 9; b++) {
			if (!(type >> b & 1))
				continue;
			attr.sample_type |= bits[b];
			body[n++] = b == 2 ? UINT64_C(6) << 32 | 5 : 1000 + b;
		}
		body[n++] = 0xdead; /* the read value, which is not ours */
		build_begin(&sb, &attr, 1);
		build_record(&sb, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, body, 8 * n);
		build_end(&sb);
		assert_int_equal(walk(&sb, &seen, NULL, NULL), 0);
		assert_int_equal(seen.nsamples, 1);
		assert_int_equal(seen.sample[0].ip, type & 2 ? 1001 : 0);
		assert_int_equal(seen.sample[0].pid, type & 4 ? 5 : -1);
		assert_int_equal(seen.sample[0].tid, type & 4 ? 6 : -1);
		assert_int_equal(seen.sample[0].time_ns, type & 8 ? 1003 : 0);
		assert_int_equal(seen.sample[0].cpu, type & 128 ? 1007 : 0);
		assert_int_equal(seen.sample[0].period, type & 256 ? 1008 : 77);
		strbuf_free(&sb);
	}
}

static void a_file_cut_anywhere_yields_its_whole_records(void **state)
{
	struct strbuf sb = good_file();
	size_t data = build_header(&sb)->data.offset, whole = sb.len;

	(void)state;
	for (size_t len = data; len < whole; len++) {
		struct seen seen = { 0 };
		char *copy = malloc(len); /* exactly as long: ASan sees a byte too far */
		struct strbuf cut = { .data = copy, .len = len };
		uint64_t truncated = 0;

		assert_non_null(copy);
		memcpy(copy, sb.data, len);
		assert_int_equal(walk(&cut, &seen, &truncated, NULL), 0);
		assert_true(truncated >= whole - len);
		assert_true(seen.nsamples <= 1);
		free(copy);
	}
	strbuf_free(&sb);
}

static void a_file_whose_writer_was_killed_is_read_to_its_end(void **state)
{
	struct strbuf sb = good_file();
	struct perfdata_reader *r;
	struct seen seen = { 0 };
	uint64_t truncated;

	(void)state;
	build_header(&sb)->data.size = 0;
	strbuf_add(&sb, "\x09\0\0\0\0", 5);
	assert_int_equal(perfdata_open_memory(sb.data, sb.len, &r, NULL), 0);
	assert_true(perfdata_unfinished(r));
	assert_int_equal(perfdata_walk(r, &visitor, &seen, &truncated, NULL), 0);
	assert_int_equal(seen.nsamples, 2);
	assert_int_equal(truncated, 5);
	perfdata_close(r);
	strbuf_free(&sb);
}

static void a_finished_file_without_records_is_not_taken_for_a_killed_one(void **state)
{
	const char *const names[] = { "mine", "yours" };
	struct strbuf sb = { 0 };
	struct perfdata_reader *r;
	struct seen seen = { 0 };

	(void)state;
	build_begin(&sb, two_attrs, 2);
	build_end(&sb);
	build_names(&sb, two_attrs, names, 2);
	assert_int_equal(perfdata_open_memory(sb.data, sb.len, &r, NULL), 0);
	assert_false(perfdata_unfinished(r));
	assert_string_equal(perfdata_event_name(r, 1), "yours");
	assert_int_equal(perfdata_walk(r, &visitor, &seen, NULL, NULL), 0);
	assert_int_equal(seen.nsamples, 0);
	perfdata_close(r);
	strbuf_free(&sb);
}

static void refuse(struct strbuf *sb, const char *words)
{
	struct seen seen = { 0 };
	struct err err = { 0 };

	assert_int_equal(walk(sb, &seen, NULL, &err), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
	if (!strstr(err.text, words))
		fail_msg("expected \"%s\" in: %s", words, err.text);
	strbuf_free(sb);
}

static void headers_that_lie_are_refused_with_words(void **state)
{
	struct strbuf sb = good_file();

	(void)state;
	memcpy(sb.data, "2ELIFREP", 8);
	refuse(&sb, "other byte order");
	sb = good_file();
	memcpy(sb.data, "PERFFILE", 8);
	refuse(&sb, "record again");
	sb = good_file();
	sb.data[0] = 'Q';
	refuse(&sb, "expected PERFILE2");
	sb = good_file();
	sb.len = 0;
	refuse(&sb, "empty");
	sb = good_file();
	build_header(&sb)->size = 16;
	refuse(&sb, "pipe");
	sb = good_file();
	sb.len = 50;
	refuse(&sb, "header is shorter");
	sb = good_file();
	build_header(&sb)->attr_size = 1;
	refuse(&sb, "bytes each");
	sb = good_file();
	build_header(&sb)->attrs.offset = UINT64_MAX - 100;
	refuse(&sb, "inside the file");
	sb = good_file();
	build_header(&sb)->attrs.size = 0;
	refuse(&sb, "tells of 0 events");
	sb = good_file();
	build_header(&sb)->data.offset = UINT64_MAX;
	refuse(&sb, "beyond its end");
	sb = good_file();
	build_header(&sb)->data.size = UINT64_MAX - 10;
	refuse(&sb, "beyond its end");
}

static struct perfdata_attr *attr_at(struct strbuf *sb, size_t i)
{
	return (struct perfdata_attr *)(sb->data + build_header(sb)->attrs.offset) + i;
}

static void events_that_lie_are_refused_with_words(void **state)
{
	struct strbuf sb = good_file();

	(void)state;
	attr_at(&sb, 1)->ids.size = UINT64_MAX - 7;
	refuse(&sb, "event 1's ids");
	sb = good_file();
	attr_at(&sb, 1)->attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ID;
	refuse(&sb, "different places");
	sb = good_file();
	attr_at(&sb, 0)->attr.sample_type = PERF_SAMPLE_IP;
	attr_at(&sb, 1)->attr.sample_type = PERF_SAMPLE_IP;
	refuse(&sb, "no id in sample_type");
}

static void records_that_lie_are_refused_with_their_offset(void **state)
{
	static const uint64_t zero[8];
	struct strbuf sb = good_file();
	char at[40];

	(void)state;
	snprintf(at, sizeof(at), "at byte %zu", sb.len);
	build_sample(&sb, PERF_RECORD_MISC_USER, 12345, 1, 1, 1, 1);
	build_end(&sb);
	refuse(&sb, at);
	sb = good_file();
	build_record(&sb, PERF_RECORD_SAMPLE, 0, (uint64_t[]) { 10, 1 }, 16);
	build_end(&sb);
	refuse(&sb, "sample shorter");
	sb = good_file();
	build_record(&sb, PERF_RECORD_SAMPLE, 0, NULL, 0);
	build_end(&sb);
	refuse(&sb, "too short for its id");
	sb = good_file();
	strbuf_add(&sb, zero, 8);
	build_end(&sb);
	refuse(&sb, "shorter than its own header");
	sb = good_file();
	build_record(&sb, PERF_RECORD_COMM, 0, "pid.tid.namename", 16);
	build_end(&sb);
	refuse(&sb, "COMM");
	sb = good_file();
	build_record(&sb, PERF_RECORD_LOST, 0, zero, 8);
	build_end(&sb);
	refuse(&sb, "LOST");
	sb = good_file();
	build_record(&sb, PERF_RECORD_LOST_SAMPLES, 0, NULL, 0);
	build_end(&sb);
	refuse(&sb, "LOST_SAMPLES");
	sb = good_file();
	build_record(&sb, PERF_RECORD_THROTTLE, 0, NULL, 0);
	build_end(&sb);
	refuse(&sb, "THROTTLE");
	sb = good_file();
	build_record(&sb, 81, 0, zero, 16);
	build_end(&sb);
	refuse(&sb, "without -z");
}

static void trace_data_behind_a_record_are_stepped_over(void **state)
{
	const uint64_t auxtrace[] = { 24, 0, 0, 0, 0, 0 };
	struct strbuf sb = good_file();
	struct seen seen = { 0 };

	(void)state;
	build_record(&sb, 71, 0, auxtrace, sizeof(auxtrace));
	strbuf_add(&sb, "these are no records ...", 24);
	build_sample(&sb, PERF_RECORD_MISC_USER, 10, 1, 1, 1, 1);
	build_end(&sb);
	assert_int_equal(walk(&sb, &seen, NULL, NULL), 0);
	assert_int_equal(seen.nsamples, 3);
	strbuf_free(&sb);
}

static bool count_sample(void *ctx, const struct sample *s)
{
	(void)s;
	++*(size_t *)ctx;
	return true;
}

static void a_file_larger_than_the_buffer_reads_as_from_memory(void **state)
{
	const struct perfdata_visitor count = { .sample = count_sample };
	char path[] = "/tmp/vmmprof-test-XXXXXX";
	int fd = mkstemp(path);
	struct strbuf sb = good_file();
	struct perfdata_reader *r;
	size_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < 40000; i++) {
		static const uint64_t odd[100];

		build_sample(&sb, PERF_RECORD_MISC_USER, 10 + i % 2 * 11, i, i, i, 1);
		if (i % 100 == 0)
			build_record(&sb, PERF_RECORD_MMAP2, 0, odd, 8 * (i / 100 % 100));
	}
	build_end(&sb);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, sb.data, sb.len), (ssize_t)sb.len);
	close(fd);
	assert_int_equal(perfdata_open(path, &r, NULL), 0);
	assert_int_equal(perfdata_walk(r, &count, &n, NULL, NULL), 0);
	assert_int_equal(n, 40002);
	/* It shrinks under us: no crash, the whole records that are left. */
	n = 0;
	assert_int_equal(truncate(path, (off_t)(sb.len - 10)), 0);
	assert_int_equal(perfdata_walk(r, &count, &n, NULL, NULL), 0);
	assert_int_equal(n, 40001);
	perfdata_close(r);
	unlink(path);
	strbuf_free(&sb);
}

static void what_is_no_file_is_refused(void **state)
{
	struct perfdata_reader *r;
	struct err err;

	(void)state;
	assert_int_equal(perfdata_open("/nonexistent", &r, &err), -ENOENT);
	assert_int_equal(perfdata_open("/dev", &r, &err), -EINVAL);
	assert_int_equal(perfdata_open("/dev/null", &r, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_record_is_read),
		cmocka_unit_test(code_that_processes_mapped_is_told),
		cmocka_unit_test(one_loss_told_by_two_records_counts_once),
		cmocka_unit_test(a_visitor_can_stop_the_walk),
		cmocka_unit_test(names_come_from_the_file_else_from_the_numbers),
		cmocka_unit_test(each_field_is_found_in_every_sample_layout),
		cmocka_unit_test(a_file_cut_anywhere_yields_its_whole_records),
		cmocka_unit_test(a_file_whose_writer_was_killed_is_read_to_its_end),
		cmocka_unit_test(
			a_finished_file_without_records_is_not_taken_for_a_killed_one),
		cmocka_unit_test(headers_that_lie_are_refused_with_words),
		cmocka_unit_test(events_that_lie_are_refused_with_words),
		cmocka_unit_test(records_that_lie_are_refused_with_their_offset),
		cmocka_unit_test(trace_data_behind_a_record_are_stepped_over),
		cmocka_unit_test(a_file_larger_than_the_buffer_reads_as_from_memory),
		cmocka_unit_test(what_is_no_file_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
