/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "check_host.h"

static void a_host_without_faults_takes_nothing(void **state)
{
	(void)state;
	assert_int_equal(host_look(&played, NULL, 0, 0), 0);
	host_expect("pmu", VERDICT_OK, "cpu (skylake)", "");
	host_expect("counters", VERDICT_OK, "7", "");
	host_expect("events", VERDICT_OK, "cycles instructions", "");
	host_expect("guest-side", VERDICT_OK, "told apart", "");
	host_expect("paranoid", VERDICT_OK, "CAP_PERFMON", "");
	host_expect("resctrl", VERDICT_OK, "llc_occupancy mbm_total_bytes", "");
	host_expect("numa", VERDICT_OK, "2 nodes, 4 CPUs", "");
	host_expect("event-table", VERDICT_OK, "nehalem-ep: 16 of 18 roles of vCPUs", "");
	host_expect("sockets", VERDICT_OK, "uncore (1)", "");
	for (size_t i = 0; i < host_list.n; i++)
		if (host_list.v[i].verdict != VERDICT_OK || *host_list.v[i].remedy)
			fail_msg("%s: %s", host_list.v[i].id, host_list.v[i].finding);
}

static void a_socket_without_a_driver_is_told_which_kernels_have_it(void **state)
{
	(void)state;
	host_drop("sys/bus/event_source/devices/uncore/type");
	host_look(&played, NULL, 0, 0);
	host_expect("sockets", VERDICT_LIMITED, "not there: uncore", "Linux 3.6 and newer");
}

static void a_cpu_without_a_table_says_what_it_is(void **state)
{
	(void)state;
	host_put("proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t: 27\n"
				 "stepping\t: 1\n");
	host_look(&played, NULL, 0, 0);
	host_expect("event-table", VERDICT_LIMITED, "family 6 model 0x1b stepping 1",
		    "vmmprof-events(7)");
	assert_null(host_find("sockets"));
}

static void put_arm(const char *release, const char *features, const char *kallsyms)
{
	char cpuinfo[120];

	snprintf(cpuinfo, sizeof(cpuinfo), "processor\t: 0\nFeatures\t: fp asimd%s\n",
		 features);
	host_put("proc/sys/kernel/arch", "aarch64");
	host_put("proc/sys/kernel/osrelease", release);
	host_put("proc/cpuinfo", cpuinfo);
	host_put("proc/cmdline", "quiet");
	host_put("proc/kallsyms", kallsyms);
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
	assert_int_equal(host_look(&played, NULL, 0, 0), 0);
	host_expect("guest-user", VERDICT_LIMITED, "take turns", "-c PERIOD");
	assert_true(el0_loses(host_src, &ev, SIDE_GUEST, ACCEL_KVM));
	assert_true(el0_loses(host_src, &ev, SIDE_HOST, ACCEL_KVM));
	assert_false(el0_loses(host_src, &ev, SIDE_BOTH, ACCEL_KVM));
	assert_false(el0_loses(host_src, &ev, SIDE_HOST, ACCEL_NONE));
	ev.exclude_user = true;
	assert_false(el0_loses(host_src, &ev, SIDE_GUEST, ACCEL_KVM));
	s.root = host_src->root;
	s.machine = host_src->machine;
	put_arm("5.14.0-427.el9.aarch64", " atomics fphp", patched);
	assert_false(el0_kernel_faulty(&s.root, &s.machine));
	put_arm("6.1.0-30-arm64", " fphp", faulty); /* Armv8.0 has no VHE */
	assert_false(el0_kernel_faulty(&s.root, &s.machine));
	put_arm("6.1.0-30-arm64", " atomics", faulty);
	host_put("proc/cmdline", "kvm-arm.mode=protected");
	assert_false(el0_kernel_faulty(&s.root, &s.machine));
	host_drop("proc/cmdline");
	host_drop("proc/kallsyms"); /* then the version tells */
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
	assert_int_equal(host_look(NULL, NULL, 0, 0), 0);
	host_expect("counters", VERDICT_UNKNOWN, "live machine", "");
	assert_null(host_find("guest-side"));
}

static void drop_pmu(void)
{
	play.fit = 0;
	host_drop("sys/bus/event_source/devices/cpu/caps/pmu_name");
	host_drop("sys/bus/event_source/devices/cpu/caps");
	host_drop("sys/bus/event_source/devices/cpu/type");
	host_drop("sys/bus/event_source/devices/cpu");
}

static void a_vm_without_a_pmu_is_told_how_to_get_one(void **state)
{
	(void)state;
	drop_pmu();
	assert_true(host_look(&played, NULL, 0, 0) & ABLE_HARDWARE);
	host_expect("pmu", VERDICT_MISSING, "found no core PMU", "dmesg");
	host_remove(NULL);
	host_make(NULL);
	drop_pmu();
	host_put("proc/cpuinfo", "flags\t\t: fpu hypervisor lahf\n");
	assert_false(host_look(&played, NULL, 0, 0) & ABLE_SOFTWARE);
	host_expect("pmu", VERDICT_MISSING, "itself a VM", "pmu=on");
}

static void a_xen_domain_without_a_pmu_is_told_that_xen_gives_it(void **state)
{
	(void)state;
	drop_pmu();
	host_put("proc/cpuinfo", "flags\t\t: fpu hypervisor lahf\n");
	host_put("sys/hypervisor/type", "xen\n");
	host_look(&played, NULL, 0, 0);
	host_expect("pmu", VERDICT_MISSING, "itself a VM", "boot Xen with vpmu=1. ");
}

static void the_kernel_of_a_xen_pv_domain_is_said_to_count_as_user_mode(void **state)
{
	(void)state;
	host_put("sys/hypervisor/guest_type", "PV\n");
	assert_int_equal(host_look(&played, NULL, 0, 0), 0);
	host_expect("modes", VERDICT_LIMITED, "u counts both", "PVH or HVM");
	host_remove(NULL);
	host_make(NULL);
	host_put("sys/hypervisor/guest_type", "PVH\n");
	host_look(&played, NULL, 0, 0);
	assert_null(host_find("modes"));
}

static void a_counter_that_someone_holds_is_seen(void **state)
{
	(void)state;
	play.taken = 1;
	host_put("proc/sys/kernel/nmi_watchdog", "1");
	assert_int_equal(host_look(&played, NULL, 0, 0), 0);
	host_expect("counters", VERDICT_LIMITED, "7 fit, 6 free now: others hold 1",
		    "nmi_watchdog=0");
	host_expect("nmi-watchdog", VERDICT_LIMITED, "holds one counter", "nmi_watchdog=0");
}

static void a_watchdog_that_holds_nothing_is_left_alone(void **state)
{
	(void)state;
	host_put("proc/sys/kernel/nmi_watchdog", "1");
	host_look(&played, NULL, 0, 0);
	host_expect("nmi-watchdog", VERDICT_OK, "all 7 counters are free", "");
}

static void counters_all_taken_take_hardware_events_away(void **state)
{
	(void)state;
	play.taken = 7;
	assert_true(host_look(&played, NULL, 0, 0) & ABLE_HARDWARE);
	host_expect("counters", VERDICT_MISSING, "none is free", "");
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
	assert_int_equal(host_look(&played, &ask, 1, 0), ABLE_ASKED);
	host_expect("asked", VERDICT_LIMITED,
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
	assert_int_equal(host_look(&played, &ask, 1, 0), ABLE_ASKED);
	host_expect("asked", VERDICT_MISSING, "cache-misses is unsupported: because", "");
}

static void a_pattern_that_no_vm_answers_to_is_named(void **state)
{
	struct event_set set = { 0 };
	const struct capability_ask ask = { .pattern = "web", .events = &set };

	(void)state;
	assert_int_equal(host_look(&played, &ask, 1, 0), ABLE_ASKED);
	host_expect("asked", VERDICT_MISSING, "\"web\"", "vmmprof list");
}

static void a_mediated_vpmu_hides_guests(void **state)
{
	(void)state;
	host_put("sys/module/kvm_intel/parameters/enable_mediated_pmu", "Y");
	play.refuse_guest = EOPNOTSUPP;
	assert_int_equal(host_look(&played, NULL, 0, 0), ABLE_GUEST);
	host_expect("mediated-vpmu", VERDICT_MISSING, "owns the counters", "kvm_intel");
	host_expect("guest-side", VERDICT_MISSING, "because", "");
}

static void a_pmu_without_interrupts_cannot_sample(void **state)
{
	(void)state;
	play.refuse_samples = EOPNOTSUPP;
	assert_int_equal(host_look(&played, NULL, 0, 0), ABLE_SAMPLE);
	host_expect("sampling", VERDICT_MISSING, "unsupported: because", "");
}

static void no_kvm_leaves_the_host_side_only(void **state)
{
	(void)state;
	host_drop("dev/kvm");
	assert_int_equal(host_look(&played, NULL, 0, 0), ABLE_GUEST);
	host_expect("kvm", VERDICT_MISSING, "the kvm module is loaded", "modprobe");
}

static void lesser_faults_are_told_and_take_nothing(void **state)
{
	(void)state;
	host_put("sys/module/kvm/parameters/enable_pmu", "N");
	host_put("proc/sys/kernel/osrelease", "5.4.0-100-generic");
	host_put("proc/sys/kernel/kptr_restrict", "2");
	host_put("proc/sys/kernel/perf_event_max_sample_rate", "1000");
	host_drop("sys/kernel/debug/kvm/exits");
	host_drop("sys/kernel/debug/kvm");
	host_drop("sys/kernel/tracing/events/kvm/enable");
	host_drop("sys/kernel/tracing/events/kvm");
	host_drop("sys/kernel/tracing/events");
	host_drop("sys/fs/resctrl/info/L3_MON/mon_features");
	host_drop("sys/fs/resctrl/info/L3_MON");
	host_drop("sys/fs/resctrl/info");
	assert_int_equal(host_look(&played, NULL, 0, 0), 0);
	host_expect("vpmu", VERDICT_LIMITED, "kvm.enable_pmu=N", "kvm.enable_pmu=1");
	host_expect("kernel", VERDICT_LIMITED, "before 5.8 CAP_PERFMON", "Linux 6.0");
	host_expect("kptr-restrict", VERDICT_LIMITED, "is 2", "kptr_restrict=1");
	host_expect("sample-rate", VERDICT_LIMITED, "1000 a second", "-F 1000");
	host_expect("debugfs", VERDICT_LIMITED, "debugfs", "mount -t debugfs");
	host_expect("tracefs", VERDICT_LIMITED, "tracefs", "mount -t tracefs");
	host_expect("resctrl", VERDICT_LIMITED, "not mounted", "mount -t resctrl");
}

static void a_tree_with_nothing_in_it_is_unknown_not_a_crash(void **state)
{
	unsigned takes;

	(void)state;
	host_remove(NULL);
	host_empty();
	host_put("proc/version", "");
	takes = host_look(NULL, NULL, 0, 0);
	assert_true(takes & ABLE_SOFTWARE);
	host_expect("paranoid", VERDICT_MISSING, "no perf events", "CONFIG_PERF_EVENTS");
	host_expect("descriptors", VERDICT_UNKNOWN, "limits", "");
	host_expect("kernel", VERDICT_UNKNOWN, "osrelease", "");
}

static void hostile_names_of_devices_are_cleaned_and_cut(void **state)
{
	char text[2000];

	(void)state;
	memset(text, '\033', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	text[70] = '\0';
	host_put("sys/bus/event_source/devices/cpu/caps/pmu_name", text);
	host_put("sys/bus/event_source/devices/armv8_x/cpus", text);
	host_look(&played, NULL, 0, 0);
	assert_null(strchr(host_find("pmu")->finding, '\033'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		check_test(a_host_without_faults_takes_nothing),
		check_test(a_socket_without_a_driver_is_told_which_kernels_have_it),
		check_test(a_cpu_without_a_table_says_what_it_is),
		check_test(a_recorded_tree_does_not_pretend_to_have_tried),
		check_test(arm_kernels_that_lose_guest_user_mode_are_known),
		check_test(x86_kernels_that_do_not_tell_a_guests_mode_are_known),
		check_test(a_vm_without_a_pmu_is_told_how_to_get_one),
		check_test(a_xen_domain_without_a_pmu_is_told_that_xen_gives_it),
		check_test(the_kernel_of_a_xen_pv_domain_is_said_to_count_as_user_mode),
		check_test(a_counter_that_someone_holds_is_seen),
		check_test(a_watchdog_that_holds_nothing_is_left_alone),
		check_test(counters_all_taken_take_hardware_events_away),
		check_test(twelve_events_on_seven_counters_are_foretold),
		check_test(an_asked_event_that_does_not_open_is_named),
		check_test(a_pattern_that_no_vm_answers_to_is_named),
		check_test(a_mediated_vpmu_hides_guests),
		check_test(a_pmu_without_interrupts_cannot_sample),
		check_test(no_kvm_leaves_the_host_side_only),
		check_test(lesser_faults_are_told_and_take_nothing),
		check_test(a_tree_with_nothing_in_it_is_unknown_not_a_crash),
		check_test(hostile_names_of_devices_are_cleaned_and_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
