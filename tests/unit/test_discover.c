/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hosts.h"

#include <errno.h>
#include <unistd.h>

#include "source/kvm/discover.h"

static void a_test_program_is_a_vm_with_the_name_it_was_given(void **state)
{
	(void)state;
	assert_host("bare", "minivm-812 812 minivm kvm unknown: 0=812 observed\n"
			    "named 813 vmm kvm unknown: 0=813 observed\n");
}

static void libvirt_guests_are_told_by_debugfs(void **state)
{
	(void)state;
	assert_host(
		"libvirt",
		"web 2001 qemu kvm perf: 0=2010 debugfs, 1=2011 debugfs, 2=2012 debugfs, "
		"3=2013 debugfs\n"
		"db,main=2 2002 qemu kvm unknown: 0=2020 debugfs, 1=2021 name\n");
}

static void a_thread_in_kvm_run_tells_its_vcpu(void **state)
{
	(void)state;
	assert_host("firecracker",
		    "51a-web 300 firecracker kvm unknown: 0=302 syscall, 1=303 name\n");
}

static void copies_of_descriptors_do_not_double_vms(void **state)
{
	(void)state;
	assert_host(
		"cloud-hypervisor",
		"shop.front 400 cloud-hypervisor kvm unknown: 0=402 name, 1=403 name\n");
}

static void forked_helpers_are_no_vms(void **state)
{
	(void)state;
	assert_host("crosvm", "arcvm 600 crosvm kvm none: 0=601 name, 1=602 name\n");
}

static void kvmtool_guests_have_a_pmu_if_asked_for(void **state)
{
	(void)state;
	assert_host("kvmtool", "tiny 700 kvmtool kvm perf: 0=702 name, 1=703 name\n"
			       "kvmtool-750 750 kvmtool kvm none: 0=752 name\n");
}

static void apic_ids_with_gaps_follow_the_order_of_names(void **state)
{
	(void)state;
	assert_host(
		"nodes8",
		"analytics 5000 qemu kvm mediated: 0=5010 name, 1=5011 name, 2=5012 name, "
		"4=5013 name, 5=5014 name, 6=5015 name\n");
}

static void emulated_guests_are_marked_and_other_qemus_left_out(void **state)
{
	(void)state;
	assert_host("tcg", "named 900 qemu tcg unknown: 0=902 name, 1=903 name\n"
			   "qemu-910 910 qemu tcg unknown: 0=0 not found, 1=0 not found, "
			   "2=0 not found\n"
			   "renamed 960 qemu tcg unknown: 0=961 name\n");
}

static void a_dying_vm_shows_what_is_left_of_it(void **state)
{
	(void)state;
	assert_host("dying",
		    "halfgone 110 firecracker kvm unknown: 0=111 name, 1=0 not found\n");
}

static void names_cannot_hurt(void **state)
{
	struct source *src = host_open(host_dir("hostile"), NULL, 0);
	struct topology topo;

	(void)state;
	host_topology(src, TOPOLOGY_THREADS, &topo);
	assert_int_equal(topo.nvms, 3);
	assert_string_equal(topo.vms[0].name, "a) R 1 (b??[31m-66");
	assert_string_equal(topo.vms[0].vmm, "x?[0m");
	assert_int_equal(topo.vms[0].birth, 9900000);
	assert_int_equal(strlen(topo.vms[1].name), sizeof(topo.vms[1].name) - 1);
	assert_string_equal(topo.machine.hostname, "evil?[2J");
	assert_string_equal(topo.machine.cpu_model, "?]0;owned?CPU");
	/* Descriptors that only look like vCPUs are none. */
	assert_int_equal(topo.vms[2].nvcpus, 1);
	assert_int_equal(topo.vms[2].vcpus[0].index, 5);
	for (size_t i = 0; i < topo.nvms; i++)
		for (const char *s = topo.vms[i].name; *s; s++)
			assert_true((unsigned char)*s >= 0x20 && *s != 0x7f);
	topology_free(&topo);
	kvm_source.close(src);
}

static void time_in_guest_mode_tells_if_the_numbers_agree(void **state)
{
	(void)state;
	assert_host("observed",
		    "mystery-50 50 mystery kvm unknown: 0=51 observed, 1=53 observed\n"
		    "riddle-60 60 riddle kvm unknown: 0=0 not found, 1=0 not found\n"
		    "closed-80 80 closed kvm unknown: 0=81 observed\n");
}

static void two_vms_in_a_process_are_told_apart_by_debugfs(void **state)
{
	(void)state;
	assert_host(
		"two-vms-debugfs",
		"selftest-1234 1234 selftest kvm unknown: 0=1242 debugfs, 1=1240 debugfs\n"
		"selftest-1234 1234.2 selftest kvm unknown: 0=1241 debugfs, 1=1243 "
		"debugfs\n");
}

static void two_vms_without_debugfs_follow_their_descriptors_and_say_so(void **state)
{
	struct source *src = host_open(host_dir("two-vms"), NULL, 0);
	struct topology topo;

	(void)state;
	assert_host(
		"two-vms",
		"selftest-1234 1234 selftest kvm unknown: 0=1240 syscall, 1=1241 syscall\n"
		"selftest-1234 1234.2 selftest kvm unknown: 0=1242 syscall, 1=1243 "
		"syscall\n");
	host_topology(src, TOPOLOGY_BASIC, &topo);
	assert_non_null(strstr(topo.vms[0].problem, "order of its descriptors"));
	assert_non_null(strstr(topo.vms[1].problem, "order of its descriptors"));
	topology_free(&topo);
	kvm_source.close(src);
}

static void two_hundred_and_fifty_six_vcpus_are_all_told(void **state)
{
	struct source *src = host_open(host_dir("vcpus256"), NULL, 0);
	struct topology topo;

	(void)state;
	host_topology(src, TOPOLOGY_THREADS, &topo);
	assert_int_equal(topo.nvms, 1);
	assert_int_equal(topo.vms[0].nvcpus, 256);
	for (int i = 0; i < 256; i++) {
		const struct vcpu *vcpu = &topo.vms[0].vcpus[i];

		assert_int_equal(vcpu->index, i);
		assert_int_equal(vcpu->tid, 4000 + i);
		assert_int_equal(vcpu->found, FOUND_DEBUGFS);
		assert_int_equal(vcpu->last_cpu, i);
		assert_int_equal(atoi(vcpu->affinity), i);
	}
	assert_string_equal(topo.vms[0].problem, "");
	topology_free(&topo);
	kvm_source.close(src);
}

static void what_may_not_be_read_is_counted(void **state)
{
	struct source *src = host_open(host_dir("unreadable"), NULL, 0);
	struct topology topo;

	(void)state;
	for (int scan = 0; scan < 3; scan++) {
		host_topology(src, TOPOLOGY_MEMORY, &topo);
		assert_int_equal(topo.unreadable, 1); /* the kernel thread is not */
		assert_int_equal(topo.nvms, 2);
		assert_null(topo.vms[0].mem_node);
		assert_non_null(strstr(topo.vms[0].problem, "numa_maps of process 210"));
		assert_int_equal(topo.vms[1].accel, ACCEL_TCG);
		topology_free(&topo);
	}
	kvm_source.close(src);
}

static void threads_and_memory_of_a_libvirt_guest(void **state)
{
	struct source *src = host_open(host_dir("libvirt"), NULL, 0);
	struct topology topo;
	const struct vm *web;

	(void)state;
	host_topology(src, TOPOLOGY_MEMORY | TOPOLOGY_THREADS, &topo);
	web = topology_find(&topo, "web");
	assert_non_null(web);
	assert_int_equal(web->uptime_ns, 90000 * 1000000000ull);
	assert_int_equal(web->vcpus[0].state, 'R');
	assert_int_equal(web->vcpus[3].last_cpu, 3);
	assert_string_equal(web->vcpus[2].affinity, "0-3,8-11");
	assert_string_equal(web->vcpus[2].comm, "CPU 2/KVM");
	assert_int_equal(web->nmem_node, 2);
	/* 4 KiB pages, four of 2 MiB, and a file whose name looks like a field. */
	assert_int_equal(web->mem_node[0], (196608 + 2) * 4096ull + 4 * (2ull << 20));
	assert_int_equal(web->mem_node[1], 65536 * 4096ull);
	assert_string_equal(web->problem, "");
	topology_free(&topo);
	kvm_source.close(src);
}

static void the_hosts_facts_are_read(void **state)
{
	struct source *src = host_open(host_dir("nodes8"), NULL, 0);
	struct topology topo;

	(void)state;
	host_topology(src, TOPOLOGY_THREADS | TOPOLOGY_MEMORY, &topo);
	assert_string_equal(topo.machine.arch, "x86_64");
	assert_string_equal(topo.machine.release, "6.1.0-13-amd64");
	assert_string_equal(topo.machine.cpu_model, "Intel(R) Xeon(R) Platinum 8480+");
	assert_int_equal(topo.machine.ncpus, 512);
	assert_int_equal(topo.machine.threads_per_core, 2);
	assert_int_equal(topo.machine.nnodes, 8);
	assert_int_equal(topo.machine.nodes[7].mem_bytes, 64ull << 30);
	assert_true(str_starts(topo.machine.nodes[7].cpus, "7,15,23,"));
	assert_int_equal(topo.vms[0].mem_node[7], 8ull << 30);
	/* A list longer than the field is cut after a whole number. */
	assert_non_null(strstr(topo.vms[0].vcpus[0].affinity, ",148,150,..."));
	topology_free(&topo);
	kvm_source.close(src);

	src = host_open(host_dir("kvmtool"), NULL, 0);
	host_topology(src, TOPOLOGY_BASIC, &topo);
	assert_string_equal(topo.machine.arch, "aarch64");
	assert_string_equal(topo.machine.cpu_model, "ARM implementer 0x41 part 0xd0c");
	assert_int_equal(topo.machine.nnodes, 1);
	assert_int_equal(topo.machine.nodes[0].mem_bytes, 16ull << 30);
	topology_free(&topo);
	kvm_source.close(src);
}

static void a_process_is_its_threads(void **state)
{
	const pid_t pid = 500;
	struct source *src = host_open(host_dir("empty"), &pid, 1);
	struct topology topo;
	char *text;

	(void)state;
	host_topology(src, TOPOLOGY_BASIC, &topo);
	text = host_text(&topo);
	assert_string_equal(text,
			    "worker 500 worker process none: 0=500 thread, 1=501 thread, "
			    "2=502 thread, 3=505 thread, 4=510 thread\n");
	free(text);
	assert_int_equal(topo.vms[0].uptime_ns, 10 * 1000000000ull);
	topology_free(&topo);
	host_topology(src, TOPOLOGY_THREADS, &topo);
	assert_string_equal(topo.vms[0].vcpus[4].comm, "w510");
	assert_int_equal(topo.vms[0].vcpus[3].state, '?'); /* it ended meanwhile */
	topology_free(&topo);
	kvm_source.close(src);
}

static void a_process_that_is_not_there_is_an_error_in_words(void **state)
{
	const pid_t pids[] = { 500, 4711 };
	const struct source_config config = { .root = host_dir("empty"),
					      .pids = pids,
					      .npids = 2 };
	struct source *src = NULL;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(kvm_source.open(&config, &src, &err), -ESRCH);
	assert_non_null(strstr(err.text, "4711"));
	assert_null(src);
}

static void our_own_process_is_found_on_the_live_host(void **state)
{
	const pid_t pid = getpid();
	struct source *src = host_open("/", &pid, 1);
	struct topology topo;

	(void)state;
	host_topology(src, TOPOLOGY_THREADS | TOPOLOGY_MEMORY, &topo);
	assert_int_equal(topo.nvms, 1);
	assert_int_equal(topo.vms[0].vcpus[0].tid, pid);
	assert_int_equal(topo.vms[0].vcpus[0].state, 'R');
	assert_true(topo.vms[0].vcpus[0].last_cpu >= 0);
	assert_true(*topo.vms[0].vcpus[0].affinity);
	assert_true(topo.machine.ncpus > 0 && topo.machine.nnodes > 0);
	topology_free(&topo);
	kvm_source.close(src);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_test_program_is_a_vm_with_the_name_it_was_given),
		cmocka_unit_test(libvirt_guests_are_told_by_debugfs),
		cmocka_unit_test(a_thread_in_kvm_run_tells_its_vcpu),
		cmocka_unit_test(copies_of_descriptors_do_not_double_vms),
		cmocka_unit_test(forked_helpers_are_no_vms),
		cmocka_unit_test(kvmtool_guests_have_a_pmu_if_asked_for),
		cmocka_unit_test(apic_ids_with_gaps_follow_the_order_of_names),
		cmocka_unit_test(emulated_guests_are_marked_and_other_qemus_left_out),
		cmocka_unit_test(a_dying_vm_shows_what_is_left_of_it),
		cmocka_unit_test(names_cannot_hurt),
		cmocka_unit_test(time_in_guest_mode_tells_if_the_numbers_agree),
		cmocka_unit_test(two_vms_in_a_process_are_told_apart_by_debugfs),
		cmocka_unit_test(
			two_vms_without_debugfs_follow_their_descriptors_and_say_so),
		cmocka_unit_test(two_hundred_and_fifty_six_vcpus_are_all_told),
		cmocka_unit_test(what_may_not_be_read_is_counted),
		cmocka_unit_test(threads_and_memory_of_a_libvirt_guest),
		cmocka_unit_test(the_hosts_facts_are_read),
		cmocka_unit_test(a_process_is_its_threads),
		cmocka_unit_test(a_process_that_is_not_there_is_an_error_in_words),
		cmocka_unit_test(our_own_process_is_found_on_the_live_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
