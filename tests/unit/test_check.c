/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorded trees of small hosts, and PMUs that are played. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "source/kvm/capabilities.h"

struct file {
	const char *path, *text;
};

#define ROOT_CAPS "Name:\tvmmprof\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n"
#define USER_CAPS                                                                          \
	"Name:\tvmmprof\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n"
#define LIMITS                                                                             \
	"Limit  Soft  Hard  Units\nMax open files            1024                 4096   " \
	"              files\n"

/* A host on which all is well. */
static const struct file well[] = {
	{ "dev/kvm", "" },
	{ "proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 26\n"
			  "model name\t: Fast CPU\nstepping\t: 5\nflags\t\t: fpu\n" },
	{ "proc/filesystems", "nodev\tresctrl\n" },
	{ "proc/self/limits", LIMITS },
	{ "proc/self/status", ROOT_CAPS },
	{ "proc/sys/fs/nr_open", "1048576" },
	{ "proc/sys/kernel/arch", "x86_64" },
	{ "proc/sys/kernel/kptr_restrict", "0" },
	{ "proc/sys/kernel/nmi_watchdog", "0" },
	{ "proc/sys/kernel/osrelease", "6.1.0-30-amd64" },
	{ "proc/sys/kernel/perf_cpu_time_max_percent", "25" },
	{ "proc/sys/kernel/perf_event_max_sample_rate", "100000" },
	{ "proc/sys/kernel/perf_event_mlock_kb", "516" },
	{ "proc/sys/kernel/perf_event_paranoid", "2" },
	{ "sys/bus/event_source/devices/cpu/caps/pmu_name", "skylake" },
	{ "sys/bus/event_source/devices/cpu/type", "4" },
	{ "sys/bus/event_source/devices/uncore/cpumask", "0,2" },
	{ "sys/bus/event_source/devices/uncore/type", "10" },
	{ "sys/devices/system/cpu/online", "0-3" },
	{ "sys/devices/system/node/online", "0-1" },
	{ "sys/fs/resctrl/info/L3_MON/mon_features", "llc_occupancy\nmbm_total_bytes" },
	{ "sys/kernel/debug/kvm/exits", "0" },
	{ "sys/kernel/tracing/events/kvm/enable", "0" },
	{ "sys/module/kvm/parameters/enable_pmu", "Y" },
	{ "sys/module/kvm_intel/parameters/enable_mediated_pmu", "N" },
};

static char top[] = "/tmp/vmmprof-check-XXXXXX";
static struct source *src;
static struct capability_list list;

static void put(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", top, path);
	for (char *p = full + strlen(top) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdir(full, 0755);
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void drop(const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s", top, path);
	assert_int_equal(remove(full), 0);
}

static int make_tree(void **state)
{
	(void)state;
	strcpy(strrchr(top, '-'), "-XXXXXX");
	if (!mkdtemp(top))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(well); i++)
		put(well[i].path, well[i].text);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static int remove_tree(void **state)
{
	(void)state;
	capability_list_free(&list);
	if (src)
		kvm_source.close(src);
	src = NULL;
	return nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Looks at the tree, with a PMU that is played (or none) and what is asked for. */
static unsigned look(const struct probe_ops *probe, const struct capability_ask *asks,
		     size_t nasks, pid_t pid)
{
	const struct source_config config = { .root = top,
					      .pids = &pid,
					      .npids = pid != 0 };

	assert_int_equal(kvm_source.open(&config, &src, NULL), 0);
	assert_int_equal(kvm_capabilities_with(src, probe, asks, nasks, &list), 0);
	return capability_list_takes(&list);
}

static const struct capability *find(const char *id)
{
	for (size_t i = 0; i < list.n; i++)
		if (!strcmp(list.v[i].id, id))
			return &list.v[i];
	return NULL;
}

static void expect(const char *id, enum verdict verdict, const char *finding_has,
		   const char *remedy_has)
{
	const struct capability *c = find(id);

	assert_non_null(c);
	if (c->verdict != verdict || !strstr(c->finding, finding_has) ||
	    !strstr(c->remedy, remedy_has))
		fail_msg("%s: %s: %s | %s", id, verdict_name(c->verdict), c->finding,
			 c->remedy);
}

/* ---- PMUs to play */

static int fit, taken;	  /* counters; of these held by someone else */
static int refuse;	  /* errno for every open, 0: none */
static int refuse_kernel; /* errno for kernel mode */
static int refuse_guest;  /* errno for one side only */
static int refuse_samples;
static int in_group;

static int play(const struct perf_event_attr *attr, int group_fd)
{
	if (refuse)
		return -refuse;
	if (refuse_kernel && !attr->exclude_kernel)
		return -refuse_kernel;
	if (attr->type == PERF_TYPE_SOFTWARE)
		return 0;
	if (attr->config > PERF_COUNT_HW_INSTRUCTIONS || !fit)
		return -ENOENT;
	if (refuse_guest && attr->exclude_host)
		return -refuse_guest;
	if (refuse_samples && attr->sample_period)
		return -refuse_samples;
	/* As kernels do: an event that is off does not count when a group is judged. */
	in_group = (group_fd < 0 ? 0 : in_group) + !attr->disabled;
	return in_group > fit ? -EINVAL : 0;
}

static int play_open(struct perf_event_attr *attr, const struct event *ev,
		     const struct perf_want *want, int group_fd, struct opened *opened)
{
	int rc = play(attr, group_fd);

	(void)ev;
	(void)want;
	*opened = (struct opened) { .state = READ_COUNTED };
	if (!rc)
		return open("/dev/null", O_RDONLY);
	opened->state = rc == -EACCES ? READ_DENIED : READ_UNSUPPORTED;
	strcpy(opened->reason, "because");
	return rc;
}

/* The group that was opened last shrinks by one at each try. */
static bool play_runs(int leader)
{
	(void)leader;
	if (in_group > fit)
		in_group = fit;
	return in_group-- <= fit - taken;
}

static const struct probe_ops played = { play_open, play_runs };

static int play_well(void **state)
{
	fit = 7;
	taken = refuse = refuse_kernel = refuse_guest = refuse_samples = in_group = 0;
	return make_tree(state);
}

/* ---- what must hold */

static void a_host_without_faults_takes_nothing(void **state)
{
	(void)state;
	assert_int_equal(look(&played, NULL, 0, 0), 0);
	expect("pmu", VERDICT_OK, "cpu (skylake)", "");
	expect("counters", VERDICT_OK, "7", "");
	expect("events", VERDICT_OK, "cycles instructions", "");
	expect("guest-side", VERDICT_OK, "told apart", "");
	expect("paranoid", VERDICT_OK, "CAP_PERFMON", "");
	expect("resctrl", VERDICT_OK, "llc_occupancy mbm_total_bytes", "");
	expect("numa", VERDICT_OK, "2 nodes, 4 CPUs", "");
	expect("event-table", VERDICT_OK, "nehalem-ep: 16 of 18 roles of vCPUs", "");
	expect("sockets", VERDICT_OK, "uncore (1)", "");
	for (size_t i = 0; i < list.n; i++)
		if (list.v[i].verdict != VERDICT_OK || *list.v[i].remedy)
			fail_msg("%s: %s", list.v[i].id, list.v[i].finding);
}

static void a_socket_without_a_driver_is_told_which_kernels_have_it(void **state)
{
	(void)state;
	drop("sys/bus/event_source/devices/uncore/type");
	look(&played, NULL, 0, 0);
	expect("sockets", VERDICT_LIMITED, "not there: uncore", "Linux 3.6 and newer");
}

static void a_cpu_without_a_table_says_what_it_is(void **state)
{
	(void)state;
	put("proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t: 27\n"
			    "stepping\t: 1\n");
	look(&played, NULL, 0, 0);
	expect("event-table", VERDICT_LIMITED, "family 6 model 0x1b stepping 1",
	       "vmmprof-events(7)");
	assert_null(find("sockets"));
}

static void put_arm(const char *release, const char *features, const char *kallsyms)
{
	char cpuinfo[120];

	snprintf(cpuinfo, sizeof(cpuinfo), "processor\t: 0\nFeatures\t: fp asimd%s\n",
		 features);
	put("proc/sys/kernel/arch", "aarch64");
	put("proc/sys/kernel/osrelease", release);
	put("proc/cpuinfo", cpuinfo);
	put("proc/cmdline", "quiet");
	put("proc/kallsyms", kallsyms);
}

static void arm_kernels_that_lose_guest_user_mode_are_known(void **state)
{
	const char *patched = "0000000000000000 t a\n"
			      "0000000000000000 T kvm_vcpu_pmu_resync_el0\n";
	const char *faulty = "0000000000000000 T kvm_vcpu_pmu_restore_guest\n";
	struct source s = { 0 };
	struct event ev = { .kind = EVENT_HARDWARE };

	(void)state;
	put_arm("6.1.0-30-arm64", " atomics fphp", faulty);
	assert_int_equal(look(&played, NULL, 0, 0), 0);
	expect("guest-user", VERDICT_LIMITED, "take turns", "-c PERIOD");
	assert_true(el0_loses(src, &ev, SIDE_GUEST, ACCEL_KVM));
	assert_true(el0_loses(src, &ev, SIDE_HOST, ACCEL_KVM));
	assert_false(el0_loses(src, &ev, SIDE_BOTH, ACCEL_KVM));
	assert_false(el0_loses(src, &ev, SIDE_HOST, ACCEL_NONE));
	ev.exclude_user = true;
	assert_false(el0_loses(src, &ev, SIDE_GUEST, ACCEL_KVM));
	s.root = src->root;
	s.machine = src->machine;
	put_arm("5.14.0-427.el9.aarch64", " atomics fphp", patched);
	assert_false(el0_kernel_faulty(&s.root, &s.machine));
	put_arm("6.1.0-30-arm64", " fphp", faulty); /* Armv8.0 has no VHE */
	assert_false(el0_kernel_faulty(&s.root, &s.machine));
	put_arm("6.1.0-30-arm64", " atomics", faulty);
	put("proc/cmdline", "kvm-arm.mode=protected");
	assert_false(el0_kernel_faulty(&s.root, &s.machine));
	drop("proc/cmdline");
	drop("proc/kallsyms"); /* then the version tells */
	assert_true(el0_kernel_faulty(&s.root, &s.machine));
	strcpy(s.machine.release, "6.12.1");
	assert_false(el0_kernel_faulty(&s.root, &s.machine));
}

static void x86_kernels_that_do_not_tell_a_guests_mode_are_known(void **state)
{
	static const struct {
		const char *arch, *release;
		bool faulty;
	} cases[] = {
		{ "x86_64", "5.16.0", false },		{ "x86_64", "5.17.1", true },
		{ "x86_64", "6.1.0-57-amd64", true },	{ "x86_64", "6.6.13", true },
		{ "x86_64", "6.7.0", false },		{ "x86_64", "7.0", false },
		{ "aarch64", "6.1.0-57-arm64", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct machine m = { 0 };

		strcpy(m.arch, cases[i].arch);
		strcpy(m.release, cases[i].release);
		assert_int_equal(cpl_kernel_faulty(&m), cases[i].faulty);
	}
}

static void a_recorded_tree_does_not_pretend_to_have_tried(void **state)
{
	(void)state;
	assert_int_equal(look(NULL, NULL, 0, 0), 0);
	expect("counters", VERDICT_UNKNOWN, "live machine", "");
	assert_null(find("guest-side"));
}

static void a_vm_without_a_pmu_is_told_how_to_get_one(void **state)
{
	(void)state;
	fit = 0;
	drop("sys/bus/event_source/devices/cpu/caps/pmu_name");
	drop("sys/bus/event_source/devices/cpu/caps");
	drop("sys/bus/event_source/devices/cpu/type");
	drop("sys/bus/event_source/devices/cpu");
	assert_true(look(&played, NULL, 0, 0) & ABLE_HARDWARE);
	expect("pmu", VERDICT_MISSING, "found no core PMU", "dmesg");
	remove_tree(NULL);
	make_tree(NULL);
	drop("sys/bus/event_source/devices/cpu/caps/pmu_name");
	drop("sys/bus/event_source/devices/cpu/caps");
	drop("sys/bus/event_source/devices/cpu/type");
	drop("sys/bus/event_source/devices/cpu");
	put("proc/cpuinfo", "flags\t\t: fpu hypervisor lahf\n");
	assert_false(look(&played, NULL, 0, 0) & ABLE_SOFTWARE);
	expect("pmu", VERDICT_MISSING, "itself a VM", "pmu=on");
}

static void a_counter_that_someone_holds_is_seen(void **state)
{
	(void)state;
	taken = 1;
	put("proc/sys/kernel/nmi_watchdog", "1");
	assert_int_equal(look(&played, NULL, 0, 0), 0);
	expect("counters", VERDICT_LIMITED, "7 fit, 6 free now: others hold 1",
	       "nmi_watchdog=0");
	expect("nmi-watchdog", VERDICT_LIMITED, "holds one counter", "nmi_watchdog=0");
}

static void a_watchdog_that_holds_nothing_is_left_alone(void **state)
{
	(void)state;
	put("proc/sys/kernel/nmi_watchdog", "1");
	look(&played, NULL, 0, 0);
	expect("nmi-watchdog", VERDICT_OK, "all 7 counters are free", "");
}

static void counters_all_taken_take_hardware_events_away(void **state)
{
	(void)state;
	taken = 7;
	assert_true(look(&played, NULL, 0, 0) & ABLE_HARDWARE);
	expect("counters", VERDICT_MISSING, "none is free", "");
}

static void twelve_events_on_seven_counters_are_foretold(void **state)
{
	struct event ev[12];
	struct event_set set = { ev, 12, 12 };
	const struct capability_ask ask = { .events = &set };

	(void)state;
	for (size_t i = 0; i < 12; i++)
		ev[i] = (struct event) { .name = "cycles",
					 .kind = EVENT_HARDWARE,
					 .group = -1 };
	assert_int_equal(look(&played, &ask, 1, 0), ABLE_ASKED);
	expect("asked", VERDICT_LIMITED,
	       "12 hardware events, 7 counters are free: each "
	       "counts about 58 %",
	       "at most 7");
}

static void an_asked_event_that_does_not_open_is_named(void **state)
{
	struct event ev = { .name = "cache-misses", .kind = EVENT_HARDWARE, .config = 3 };
	struct event_set set = { &ev, 1, 1 };
	const struct capability_ask ask = { .events = &set };

	(void)state;
	assert_int_equal(look(&played, &ask, 1, 0), ABLE_ASKED);
	expect("asked", VERDICT_MISSING, "cache-misses is unsupported: because", "");
}

static void a_pattern_that_no_vm_answers_to_is_named(void **state)
{
	struct event_set set = { 0 };
	const struct capability_ask ask = { .pattern = "web", .events = &set };

	(void)state;
	assert_int_equal(look(&played, &ask, 1, 0), ABLE_ASKED);
	expect("asked", VERDICT_MISSING, "\"web\"", "vmmprof list");
}

static void too_few_descriptors_are_foretold(void **state)
{
	struct event ev[100] = { 0 };
	struct event_set set = { ev, 100, 100 };
	const struct capability_ask ask = { .events = &set };

	(void)state;
	for (size_t i = 0; i < 100; i++)
		ev[i].kind = EVENT_SOFTWARE;
	put("proc/77/stat",
	    "77 (work) S 1 77 77 0 -1 0 0 0 0 0 0 0 0 0 20 0 41 0 100 0 0 0\n");
	for (int t = 77; t < 77 + 41; t++) {
		char path[64];

		snprintf(path, sizeof(path), "proc/77/task/%d/stat", t);
		put(path, "");
	}
	put("proc/self/status", USER_CAPS);
	put("proc/sys/kernel/perf_event_paranoid", "-1");
	assert_true(look(&played, &ask, 1, 77) & ABLE_ASKED);
	expect("descriptors", VERDICT_LIMITED,
	       "41 vCPUs need 4132 descriptors, at most 4096", "ulimit -n 4132");
	remove_tree(NULL);
	make_tree(NULL);
	put("proc/77/stat",
	    "77 (work) S 1 77 77 0 -1 0 0 0 0 0 0 0 0 0 20 0 41 0 100 0 0 0\n");
	put("proc/77/task/77/stat", "");
	assert_false(look(&played, &ask, 1, 77) & ABLE_ASKED);
	expect("descriptors", VERDICT_OK, "1 vCPUs need 132 of at most 1048576", "");
}

static void rings_that_cannot_be_full_size_are_foretold(void **state)
{
	(void)state;
	put("proc/self/status", USER_CAPS);
	put("proc/self/limits",
	    LIMITS "Max locked memory         65536    65536    bytes\n");
	put("proc/77/stat",
	    "77 (work) S 1 77 77 0 -1 0 0 0 0 0 0 0 0 0 20 0 41 0 100 0 0 0\n");
	for (int t = 77; t < 77 + 9; t++) {
		char path[64];

		snprintf(path, sizeof(path), "proc/77/task/%d/stat", t);
		put(path, "");
	}
	look(&played, NULL, 0, 77);
	expect("mlock", VERDICT_LIMITED, "2128 KiB for the rings of 9 vCPUs",
	       "mlock_kb=1162");
	remove_tree(NULL);
	make_tree(NULL);
	put("proc/self/status", USER_CAPS);
	put("proc/self/limits",
	    LIMITS "Max locked memory         unlimited  unlimited  bytes\n");
	look(&played, NULL, 0, 0);
	expect("mlock", VERDICT_OK, "no limit", "");
}

static void level_3_refuses_an_ordinary_user_everything(void **state)
{
	(void)state;
	put("proc/self/status", USER_CAPS);
	put("proc/sys/kernel/perf_event_paranoid", "3");
	assert_true(look(NULL, NULL, 0, 0) & ABLE_SOFTWARE);
	expect("paranoid", VERDICT_MISSING, "perf_event_paranoid is 3",
	       "setcap cap_perfmon");
	expect("processes", VERDICT_LIMITED, "CAP_SYS_PTRACE", "cap_sys_ptrace");
}

static void level_3_of_a_kernel_that_lets_users_in_is_believed(void **state)
{
	(void)state;
	put("proc/self/status", USER_CAPS);
	put("proc/sys/kernel/perf_event_paranoid", "3");
	refuse_kernel = EACCES;
	assert_int_equal(look(&played, NULL, 0, 0), ABLE_KERNEL | ABLE_FIND);
	expect("paranoid", VERDICT_LIMITED, "user mode of your own VMs only", "sysctl");
	expect("counters", VERDICT_OK, "7", "");
}

static void level_1_lets_a_user_count_his_own(void **state)
{
	(void)state;
	put("proc/self/status", USER_CAPS);
	put("proc/sys/kernel/perf_event_paranoid", "1");
	assert_int_equal(look(NULL, NULL, 0, 0), ABLE_FIND);
	expect("paranoid", VERDICT_OK, "an ordinary user", "");
	expect("kptr-restrict", VERDICT_OK, "readable", "");
	expect("mlock", VERDICT_OK, "2064 KiB: full rings for 4 vCPUs", "");
}

static void level_3_of_debian_refuses_cap_perfmon_too(void **state)
{
	(void)state;
	put("proc/self/status", "Name:\tx\nUid:\t1000\t1000\nCapEff:\t0000004000080004\n");
	put("proc/sys/kernel/perf_event_paranoid", "3");
	refuse = EACCES;
	assert_true(look(&played, NULL, 0, 0) & ABLE_SOFTWARE);
	expect("paranoid", VERDICT_MISSING, "not even CAP_PERFMON",
	       "perf_event_paranoid=2");
	expect("processes", VERDICT_OK, "every process", "");
}

static void a_container_that_refuses_root_is_told_from_a_setting(void **state)
{
	(void)state;
	refuse = EACCES;
	assert_true(look(&played, NULL, 0, 0) & ABLE_SOFTWARE);
	expect("paranoid", VERDICT_MISSING, "refused although CAP_PERFMON is held",
	       "seccomp");
}

static void a_mediated_vpmu_hides_guests(void **state)
{
	(void)state;
	put("sys/module/kvm_intel/parameters/enable_mediated_pmu", "Y");
	refuse_guest = EOPNOTSUPP;
	assert_int_equal(look(&played, NULL, 0, 0), ABLE_GUEST);
	expect("mediated-vpmu", VERDICT_MISSING, "owns the counters", "kvm_intel");
	expect("guest-side", VERDICT_MISSING, "because", "");
}

static void a_pmu_without_interrupts_cannot_sample(void **state)
{
	(void)state;
	refuse_samples = EOPNOTSUPP;
	assert_int_equal(look(&played, NULL, 0, 0), ABLE_SAMPLE);
	expect("sampling", VERDICT_MISSING, "unsupported: because", "");
}

static void no_kvm_leaves_the_host_side_only(void **state)
{
	(void)state;
	drop("dev/kvm");
	assert_int_equal(look(&played, NULL, 0, 0), ABLE_GUEST);
	expect("kvm", VERDICT_MISSING, "the kvm module is loaded", "modprobe");
}

static void lesser_faults_are_told_and_take_nothing(void **state)
{
	(void)state;
	put("sys/module/kvm/parameters/enable_pmu", "N");
	put("proc/sys/kernel/osrelease", "5.4.0-100-generic");
	put("proc/sys/kernel/kptr_restrict", "2");
	put("proc/sys/kernel/perf_event_max_sample_rate", "1000");
	drop("sys/kernel/debug/kvm/exits");
	drop("sys/kernel/debug/kvm");
	drop("sys/kernel/tracing/events/kvm/enable");
	drop("sys/kernel/tracing/events/kvm");
	drop("sys/kernel/tracing/events");
	drop("sys/fs/resctrl/info/L3_MON/mon_features");
	drop("sys/fs/resctrl/info/L3_MON");
	drop("sys/fs/resctrl/info");
	assert_int_equal(look(&played, NULL, 0, 0), 0);
	expect("vpmu", VERDICT_LIMITED, "kvm.enable_pmu=N", "kvm.enable_pmu=1");
	expect("kernel", VERDICT_LIMITED, "before 5.8 CAP_PERFMON", "Linux 6.0");
	expect("kptr-restrict", VERDICT_LIMITED, "is 2", "kptr_restrict=1");
	expect("sample-rate", VERDICT_LIMITED, "1000 a second", "-F 1000");
	expect("debugfs", VERDICT_LIMITED, "debugfs", "mount -t debugfs");
	expect("tracefs", VERDICT_LIMITED, "tracefs", "mount -t tracefs");
	expect("resctrl", VERDICT_LIMITED, "not mounted", "mount -t resctrl");
}

static void a_tree_with_nothing_in_it_is_unknown_not_a_crash(void **state)
{
	unsigned takes;

	(void)state;
	remove_tree(NULL);
	strcpy(strrchr(top, '-'), "-XXXXXX");
	assert_non_null(mkdtemp(top));
	put("proc/version", "");
	takes = look(NULL, NULL, 0, 0);
	assert_true(takes & ABLE_SOFTWARE);
	expect("paranoid", VERDICT_MISSING, "no perf events", "CONFIG_PERF_EVENTS");
	expect("descriptors", VERDICT_UNKNOWN, "limits", "");
	expect("kernel", VERDICT_UNKNOWN, "osrelease", "");
}

static void hostile_names_of_devices_are_cleaned_and_cut(void **state)
{
	char text[2000];

	(void)state;
	memset(text, '\033', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	text[70] = '\0';
	put("sys/bus/event_source/devices/cpu/caps/pmu_name", text);
	put("sys/bus/event_source/devices/armv8_x/cpus", text);
	look(&played, NULL, 0, 0);
	assert_null(strchr(find("pmu")->finding, '\033'));
}

#define check(test) cmocka_unit_test_setup_teardown(test, play_well, remove_tree)

int main(void)
{
	const struct CMUnitTest tests[] = {
		check(a_host_without_faults_takes_nothing),
		check(a_socket_without_a_driver_is_told_which_kernels_have_it),
		check(a_cpu_without_a_table_says_what_it_is),
		check(a_recorded_tree_does_not_pretend_to_have_tried),
		check(arm_kernels_that_lose_guest_user_mode_are_known),
		check(x86_kernels_that_do_not_tell_a_guests_mode_are_known),
		check(a_vm_without_a_pmu_is_told_how_to_get_one),
		check(a_counter_that_someone_holds_is_seen),
		check(a_watchdog_that_holds_nothing_is_left_alone),
		check(counters_all_taken_take_hardware_events_away),
		check(twelve_events_on_seven_counters_are_foretold),
		check(an_asked_event_that_does_not_open_is_named),
		check(a_pattern_that_no_vm_answers_to_is_named),
		check(too_few_descriptors_are_foretold),
		check(rings_that_cannot_be_full_size_are_foretold),
		check(level_3_refuses_an_ordinary_user_everything),
		check(level_3_of_a_kernel_that_lets_users_in_is_believed),
		check(level_1_lets_a_user_count_his_own),
		check(level_3_of_debian_refuses_cap_perfmon_too),
		check(a_container_that_refuses_root_is_told_from_a_setting),
		check(a_mediated_vpmu_hides_guests),
		check(a_pmu_without_interrupts_cannot_sample),
		check(no_kvm_leaves_the_host_side_only),
		check(lesser_faults_are_told_and_take_nothing),
		check(a_tree_with_nothing_in_it_is_unknown_not_a_crash),
		check(hostile_names_of_devices_are_cleaned_and_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
