/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A socket's counters and a thread's monitors on recorded hosts; perf_event_open(2) is
 * this file's: it remembers what was asked and gives files that read as counters.
 */
#include "test.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events/parse.h"
#include "source/kvm/kvm.h"

#define MOST 64

/* One call of perf_event_open(2). */
static struct call {
	uint32_t type;
	uint64_t config;
	int pid, cpu, group, fd;
	bool disabled;
} calls[MOST];
static size_t ncalls;
static int refuse_with;	     /* errno; 0: it opens */
static uint32_t refuse_type; /* this PMU only; 0: all */
static uint64_t enabled, running;

/* value = 100 * type + cpu: each box's counts can be told from the sum. */
static int fake_counter(const struct call *c)
{
	uint64_t v[3] = { 100 * c->type + c->cpu, enabled, running };
	int fd = memfd_create("counter", 0);

	if (fd < 0 || pwrite(fd, v, sizeof(v), 0) != sizeof(v))
		abort();
	return fd;
}

/* Instead of libc's: the library calls it for this alone. */
long syscall(long number, ...)
{
	struct perf_event_attr *attr;
	struct call *c = &calls[ncalls];
	va_list ap;

	va_start(ap, number);
	attr = va_arg(ap, struct perf_event_attr *);
	c->pid = va_arg(ap, int);
	c->cpu = va_arg(ap, int);
	c->group = va_arg(ap, int);
	va_end(ap);
	if (number != SYS_perf_event_open || ncalls == MOST)
		abort();
	c->type = attr->type;
	c->config = attr->config;
	c->disabled = attr->disabled;
	if (refuse_with && (!refuse_type || refuse_type == attr->type)) {
		errno = refuse_with;
		return -1;
	}
	c->fd = fake_counter(c);
	return calls[ncalls++].fd;
}

static struct source *open_host(const char *name)
{
	char path[4096];
	struct source_config config = { .root = path };
	struct source *src;
	struct err err = { 0 };

	snprintf(path, sizeof(path), "%s/%s", getenv("VMMPROF_TREES"), name);
	if (kvm_source.open(&config, &src, &err))
		fail_msg("%s", err.text);
	src->live = true; /* this file's perf is the host's */
	ncalls = 0;
	refuse_with = 0;
	refuse_type = 0;
	enabled = running = 1000;
	return src;
}

struct socket {
	struct source *src;
	struct event_set set;
	struct opened opened[8];
	struct reading r[8];
	struct counters *c;
};

static void count_on(struct socket *s, const char *host, int node, const char *events)
{
	struct err err = { 0 };

	*s = (struct socket) { .src = open_host(host) };
	if (events_parse(events, &s->src->root, &s->set, &err) ||
	    kvm_source.node_open(s->src, node, &s->set, s->opened, &s->c, &err))
		fail_msg("%s", err.text);
	assert_int_equal(kvm_source.counters_read(s->c, s->r), 0);
}

static void done(struct socket *s)
{
	kvm_source.counters_close(s->c);
	event_set_free(&s->set);
	kvm_source.close(s->src);
}

static void says(const struct reading *r, enum reading_state state, const char *words)
{
	assert_int_equal(r->state, state);
	if (!r->reason || !strstr(r->reason, words))
		fail_msg("\"%s\" lacks \"%s\"", r->reason, words);
}

static void an_event_is_the_sum_of_all_boxes_on_the_nodes_own_cpu(void **state)
{
	struct socket s;

	(void)state;
	count_on(&s, "numa-skx", 1, "uncore_imc/cas_count_read/,uncore_imc_1/event=4/");
	assert_int_equal(ncalls, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(calls[i].pid, -1);
		assert_int_equal(calls[i].cpu, 4);
	}
	assert_int_equal(calls[0].type, 40);
	assert_int_equal(calls[1].type, 41);
	assert_int_equal(calls[1].config, 0x304);
	assert_int_equal(s.r[0].state, READ_COUNTED);
	assert_int_equal(s.r[0].raw, 4004 + 4104);
	assert_int_equal(s.r[0].enabled_ns, 1000);
	assert_int_equal(s.r[1].raw, 4104);
	done(&s);
}

static void a_group_is_one_of_each_box(void **state)
{
	struct socket s;

	(void)state;
	count_on(&s, "numa-skx", 0, "{uncore_cha/event=0x35/,uncore_cha/event=0x36/}");
	assert_int_equal(ncalls, 4);
	assert_int_equal(calls[0].group, -1);
	assert_int_equal(calls[1].group, -1);
	assert_int_equal(calls[2].type, calls[0].type);
	assert_int_equal(calls[2].group, calls[0].fd);
	assert_int_equal(calls[3].group, calls[1].fd);
	assert_true(calls[0].disabled && !calls[2].disabled);
	done(&s);
}

/* Trap 13 of the event tables: all tools of a socket share its counters. */
static void a_counter_that_another_tool_holds_is_taken_and_no_zero(void **state)
{
	struct socket s;

	(void)state;
	count_on(&s, "numa-skx", 0, "uncore_imc/cas_count_read/,uncore_cha/event=1/");
	kvm_source.counters_close(s.c);
	refuse_with = EBUSY;
	refuse_type = 41; /* one box of two */
	assert_int_equal(kvm_source.node_open(s.src, 0, &s.set, s.opened, &s.c, NULL), 0);
	assert_int_equal(kvm_source.counters_read(s.c, s.r), 0);
	says(&s.r[0], READ_TAKEN, "another user holds the counter");
	assert_int_equal(s.r[0].raw, 0);
	assert_int_equal(s.r[1].state, READ_COUNTED);
	done(&s);
	enabled = 1000;
}

static void a_counter_that_is_taken_away_later_is_taken(void **state)
{
	struct socket s;

	(void)state;
	count_on(&s, "numa-skx", 0, "uncore_imc/cas_count_read/");
	/* The kernel ends the file of a pinned event that lost its counter. */
	assert_int_equal(ftruncate(calls[1].fd, 0), 0);
	assert_int_equal(lseek(calls[0].fd, 0, SEEK_SET), 0);
	assert_int_equal(kvm_source.counters_read(s.c, s.r), 0);
	says(&s.r[0], READ_TAKEN, "took the counter away");
	done(&s);
}

static void what_is_not_allowed_or_not_there_says_so(void **state)
{
	struct socket s;

	(void)state;
	count_on(&s, "numa-skx", 0, "uncore_imc/cas_count_read/");
	kvm_source.counters_close(s.c);
	refuse_with = EACCES;
	assert_int_equal(kvm_source.node_open(s.src, 0, &s.set, s.opened, &s.c, NULL), 0);
	assert_int_equal(kvm_source.counters_read(s.c, s.r), 0);
	says(&s.r[0], READ_DENIED, "perf_event_paranoid");
	kvm_source.counters_close(s.c);
	strcpy(s.set.ev[0].pmu, "uncore_gone");
	assert_int_equal(kvm_source.node_open(s.src, 0, &s.set, s.opened, &s.c, NULL), 0);
	assert_int_equal(kvm_source.counters_read(s.c, s.r), 0);
	says(&s.r[0], READ_UNSUPPORTED, "no PMU uncore_gone");
	kvm_source.counters_close(s.c);
	refuse_with = EMFILE;
	strcpy(s.set.ev[0].pmu, "uncore_imc");
	assert_int_equal(kvm_source.node_open(s.src, 0, &s.set, s.opened, &s.c, NULL),
			 -EMFILE);
	assert_int_equal(kvm_source.node_open(s.src, 7, &s.set, s.opened, &s.c, NULL),
			 -ESRCH);
	s.c = NULL;
	done(&s);
}

/* Sub-NUMA clustering: a package of two nodes has one CPU in the cpumask. */
static void nodes_that_share_a_package_say_that_they_are_counted_together(void **state)
{
	struct socket s;

	(void)state;
	count_on(&s, "numa-snc", 0, "uncore_imc/event=4/,uncore_fine/event=1/");
	says(&s.r[0], READ_COUNTED, "all of package 0 at once: nodes 0, 1 together");
	assert_int_equal(s.r[0].raw, 4000);
	assert_null(s.r[1].reason);
	done(&s);
	count_on(&s, "numa-snc", 1, "uncore_imc/event=4/,uncore_fine/event=1/");
	says(&s.r[0], READ_UNSUPPORTED, "nodes 0, 1, at once: see node 0");
	assert_int_equal(s.r[0].raw, 0);
	assert_int_equal(s.r[1].state, READ_COUNTED);
	assert_int_equal(s.r[1].raw, 5002);
	done(&s);
}

/* ---- monitors: a folder that looks like resctrl */

struct host {
	char dir[64], group[256];
	struct source *src;
	struct opened opened[4];
	struct reading r[4];
	struct counters *c;
	struct event_set set;
};

static void put(const char *dir, const char *path, const char *text)
{
	char full[512], cmd[600];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", dir, path);
	snprintf(cmd, sizeof(cmd), "mkdir -p $(dirname %s)", full);
	assert_int_equal(system(cmd), 0);
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void put_in_group(const struct host *h, const char *file, const char *text)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", h->group, file);
	put(h->dir, path, text);
}

/* Thread 70 of process 7, in the resctrl groups that @groups says. */
static void make_host(struct host *h, const char *groups, const char *parent)
{
	struct source_config config = { .root = h->dir };

	*h = (struct host) { .dir = "/tmp/vmmprof-resctrl-XXXXXX" };
	assert_non_null(mkdtemp(h->dir));
	put(h->dir, "proc/7/task/70/schedstat", "5000 1000 3\n");
	put(h->dir, "proc/7/task/70/cpu_resctrl_groups", groups);
	put(h->dir, "sys/fs/resctrl/info/L3_MON/mon_features",
	    "llc_occupancy\nmbm_total_bytes\n");
	snprintf(h->group, sizeof(h->group), "sys/fs/resctrl%s/mon_groups/vmmprof.%d.70",
		 parent, getpid());
	/* resctrl fills a new group with its files; here they are there before. */
	put_in_group(h, "tasks", "");
	put_in_group(h, "mon_data/mon_L3_00/llc_occupancy", "4096\n");
	put_in_group(h, "mon_data/mon_L3_01/llc_occupancy", "65536\n");
	put_in_group(h, "mon_data/mon_L3_00/mbm_total_bytes", "100\n");
	put_in_group(h, "mon_data/mon_L3_01/mbm_total_bytes", "1000\n");
	config.root = h->dir;
	assert_int_equal(kvm_source.open(&config, &h->src, NULL), 0);
	h->src->live = true;
}

static void monitor(struct host *h)
{
	struct vm vm = { .pid = 7, .accel = ACCEL_KVM };
	struct vcpu vcpu = { .tid = 70 };
	struct err err = { 0 };

	if (events_parse("waited,llc-occupancy,mem-bytes,mem-bytes-local", &h->src->root,
			 &h->set, &err) ||
	    kvm_source.counters_open(h->src, &vm, &vcpu, &h->set, h->opened, &h->c, &err))
		fail_msg("%s", err.text);
	assert_int_equal(kvm_source.counters_read(h->c, h->r), 0);
}

static void forget(struct host *h)
{
	char cmd[128];

	kvm_source.counters_close(h->c);
	event_set_free(&h->set);
	kvm_source.close(h->src);
	snprintf(cmd, sizeof(cmd), "rm -r %s", h->dir);
	assert_int_equal(system(cmd), 0);
}

static const char *thread_in_group(const struct host *h, char *text, size_t size)
{
	assert_true(rootfs_read(&h->src->root, text, size, "%s/tasks", h->group) >= 0);
	return text;
}

static void monitors_tell_what_is_held_now_and_what_moved_since(void **state)
{
	struct host h;
	char text[32];

	(void)state;
	make_host(&h, "res:/\nmon:\n", "");
	monitor(&h);
	assert_int_equal(h.r[0].raw, 0);
	assert_int_equal(h.r[1].raw, 4096 + 65536);
	assert_int_equal(h.r[2].state, READ_COUNTED);
	assert_int_equal(h.r[2].raw, 0);
	says(&h.r[3], READ_UNSUPPORTED, "does not tell mbm_local_bytes");
	put(h.dir, "proc/7/task/70/schedstat", "5000 1700 4\n");
	put_in_group(&h, "mon_data/mon_L3_00/llc_occupancy", "0\n");
	put_in_group(&h, "mon_data/mon_L3_01/mbm_total_bytes", "1900\n");
	assert_int_equal(kvm_source.counters_read(h.c, h.r), 0);
	assert_int_equal(h.r[0].raw, 700);
	assert_int_equal(h.r[1].raw, 65536);
	assert_int_equal(h.r[2].raw, 900);
	assert_string_equal(thread_in_group(&h, text, sizeof(text)), "70");
	forget(&h);
}

static void a_thread_with_a_cache_of_its_own_is_monitored_below_that_group(void **state)
{
	struct host h;
	char text[32];

	(void)state;
	make_host(&h, "res:gold\nmon:\n", "/gold");
	monitor(&h);
	assert_string_equal(thread_in_group(&h, text, sizeof(text)), "70");
	assert_int_equal(h.r[1].raw, 4096 + 65536);
	forget(&h);
}

static void a_thread_that_others_monitor_is_left_to_them(void **state)
{
	struct host h;
	char text[32];

	(void)state;
	make_host(&h, "res:/\nmon:qemu-1-web\n", "");
	monitor(&h);
	says(&h.r[1], READ_TAKEN, "monitoring group \"qemu-1-web\" of another user");
	assert_string_equal(thread_in_group(&h, text, sizeof(text)), "");
	assert_int_equal(h.r[0].state, READ_COUNTED);
	forget(&h);
	/* Another vmmprof's, whose process lives, too. */
	make_host(&h, "res:/\nmon:vmmprof.9.70\n", "");
	put(h.dir, "proc/9/stat", "");
	monitor(&h);
	says(&h.r[1], READ_TAKEN, "\"vmmprof.9.70\"");
	forget(&h);
}

static void a_group_that_a_killed_vmmprof_left_is_removed(void **state)
{
	struct host h;
	char path[400];

	(void)state;
	make_host(&h, "res:/\nmon:vmmprof.9.70\n", "");
	snprintf(path, sizeof(path), "%s/sys/fs/resctrl/mon_groups/vmmprof.9.70", h.dir);
	assert_int_equal(mkdir(path, 0700), 0);
	monitor(&h);
	assert_int_equal(h.r[1].state, READ_COUNTED);
	assert_int_not_equal(access(path, F_OK), 0);
	forget(&h);
}

static void what_resctrl_calls_unavailable_is_no_zero(void **state)
{
	struct host h;

	(void)state;
	make_host(&h, "res:/\nmon:\n", "");
	monitor(&h);
	put_in_group(&h, "mon_data/mon_L3_00/llc_occupancy", "Unavailable\n");
	put_in_group(&h, "mon_data/mon_L3_00/mbm_total_bytes", "Unavailable\n");
	put_in_group(&h, "mon_data/mon_L3_01/mbm_total_bytes", "Unavailable\n");
	assert_int_equal(kvm_source.counters_read(h.c, h.r), 0);
	says(&h.r[1], READ_SUSPECT, "for some of the caches");
	assert_int_equal(h.r[1].raw, 65536);
	says(&h.r[2], READ_NOT_SCHEDULED, "\"Unavailable\"");
	forget(&h);
}

static void without_resctrl_the_reason_says_that(void **state)
{
	struct host h;
	char cmd[128];

	(void)state;
	make_host(&h, "res:\nmon:\n", "");
	snprintf(cmd, sizeof(cmd), "rm -r %s/sys/fs/resctrl/*", h.dir);
	assert_int_equal(system(cmd), 0);
	monitor(&h);
	says(&h.r[1], READ_UNSUPPORTED, "resctrl is not mounted");
	assert_int_equal(h.r[0].state, READ_COUNTED);
	forget(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_the_sum_of_all_boxes_on_the_nodes_own_cpu),
		cmocka_unit_test(a_group_is_one_of_each_box),
		cmocka_unit_test(a_counter_that_another_tool_holds_is_taken_and_no_zero),
		cmocka_unit_test(a_counter_that_is_taken_away_later_is_taken),
		cmocka_unit_test(what_is_not_allowed_or_not_there_says_so),
		cmocka_unit_test(
			nodes_that_share_a_package_say_that_they_are_counted_together),
		cmocka_unit_test(monitors_tell_what_is_held_now_and_what_moved_since),
		cmocka_unit_test(
			a_thread_with_a_cache_of_its_own_is_monitored_below_that_group),
		cmocka_unit_test(a_thread_that_others_monitor_is_left_to_them),
		cmocka_unit_test(a_group_that_a_killed_vmmprof_left_is_removed),
		cmocka_unit_test(what_resctrl_calls_unavailable_is_no_zero),
		cmocka_unit_test(without_resctrl_the_reason_says_that),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
