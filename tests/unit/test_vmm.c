/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What command lines and thread names say of a VM. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/kvm/discover.h"

/* A process whose /proc holds just a program and these words, divided by "|". */
static struct program *program(const char *exe, const char *words)
{
	struct program *prog = calloc(1, sizeof(*prog));
	char dir[] = "/tmp/vmmprof-vmm-XXXXXX", command[256];
	struct rootfs root;

	assert_non_null(prog);
	assert_non_null(mkdtemp(dir));
	snprintf(command, sizeof(command), "mkdir -p %s/proc/7; ln -s '%s' %s/proc/7/exe",
		 dir, exe, dir);
	assert_int_equal(system(command), 0);
	assert_int_equal(rootfs_open(&root, dir, NULL), 0);
	assert_int_equal(program_find(&root, 7, prog), 0);
	rootfs_close(&root);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
	for (; *words; words++)
		prog->args[prog->len++] = *words == '|' ? '\0' : *words;
	prog->len++;
	return prog;
}

static void assert_name(const char *exe, const char *words, const char *name)
{
	struct program *prog = program(exe, words);
	struct vm vm = { .pid = 7 };

	program_name(prog, "comm", &vm);
	assert_string_equal(vm.name, name);
	free(prog);
}

static void vms_have_the_name_their_vmm_was_given(void **state)
{
	(void)state;
	assert_name("/usr/bin/qemu-system-x86_64", "q|-name|web", "web");
	assert_name("/usr/bin/qemu-system-x86_64", "q|-name|guest=a,,b,process=x", "a,b");
	assert_name("/usr/bin/qemu-system-x86_64", "q|--name=debug-threads=on,guest=x",
		    "x");
	assert_name("/usr/bin/qemu-system-x86_64", "q|-name|debug-threads=on", "qemu-7");
	assert_name("/usr/bin/qemu-system-x86_64", "q|-name", "qemu-7");
	assert_name("/usr/bin/firecracker-v1.7.0", "fc|--id=one|--id|two", "two");
	assert_name("/usr/bin/cloud-hypervisor", "ch|--api-socket|/run/web.sock", "web");
	assert_name("/usr/bin/cloud-hypervisor", "ch|--api-socket|fd=3",
		    "cloud-hypervisor-7");
	assert_name("/usr/bin/unheard-of", "u|--name|x", "x");
	assert_name("/usr/bin/unheard-of", "u|--title|x", "comm-7");
}

static void assert_emulates(const char *words, bool expected)
{
	struct program *prog = program("/usr/bin/qemu-system-x86_64", words);

	assert_int_equal(qemu_emulates(prog), expected);
	free(prog);
}

static void a_qemu_emulates_unless_it_asks_for_kvm_or_has_no_guest(void **state)
{
	(void)state;
	assert_emulates("q", true);
	assert_emulates("q|-machine|pc,accel=tcg", true);
	assert_emulates("q|-accel|tcg,thread=single", true);
	assert_emulates("q|-M|pc,accel=kvm:tcg", true);
	assert_emulates("q|-accel|kvm", false);
	assert_emulates("q|-enable-kvm", false);
	assert_emulates("q|-machine|none", false);
	assert_emulates("q|-xen-domid|4", false);
}

static void assert_vpmu(const char *words, enum vpmu_kind expected)
{
	struct program *prog = program("/usr/bin/qemu-system-x86_64", words);
	const char *why = NULL;

	assert_int_equal(qemu_vpmu(prog, &why), expected);
	assert_non_null(why);
	free(prog);
}

static void qemus_cpu_option_tells_whether_there_is_a_pmu(void **state)
{
	(void)state;
	assert_vpmu("q|-cpu|host", VPMU_PERF);
	assert_vpmu("q|-cpu|host,pmu=off", VPMU_NONE);
	assert_vpmu("q|-cpu|Skylake-Server,pmu=on", VPMU_PERF);
	assert_vpmu("q|-cpu|Skylake-Server", VPMU_UNKNOWN);
	assert_vpmu("q", VPMU_UNKNOWN);
}

static void assert_cpus(const char *words, size_t expected)
{
	struct program *prog = program("/usr/bin/qemu-system-x86_64", words);

	assert_int_equal(qemu_cpus(prog), expected);
	free(prog);
}

static void qemus_smp_option_is_believed_within_reason(void **state)
{
	(void)state;
	assert_cpus("q", 1);
	assert_cpus("q|-smp|8,sockets=2", 8);
	assert_cpus("q|-smp|sockets=2,cpus=4", 4);
	assert_cpus("q|-smp|99999999999", 1);
	assert_cpus("q|-smp|-3", 1);
}

static void threads_of_vcpus_are_known_by_name(void **state)
{
	(void)state;
	assert_int_equal(vcpu_name_index("CPU 12/KVM", false), 12);
	assert_int_equal(vcpu_name_index("CPU 12/KVM", true), -1);
	assert_int_equal(vcpu_name_index("CPU 0/TCG", true), 0);
	assert_int_equal(vcpu_name_index("fc_vcpu 3", false), 3);
	assert_int_equal(vcpu_name_index("crosvm_vcpu31", false), 31);
	assert_int_equal(vcpu_name_index("kvm-vcpu-7", false), 7);
	assert_int_equal(vcpu_name_index("vcpu255", false), 255);
	assert_int_equal(vcpu_name_index("vcpu", false), -1);
	assert_int_equal(vcpu_name_index("vcpu1x", false), -1);
	assert_int_equal(vcpu_name_index("vcpu99999999999", false), -1);
	assert_int_equal(vcpu_name_index("", false), -1);
}

static void lists_are_cut_after_an_element(void **state)
{
	char buf[12];

	(void)state;
	assert_true(str_copy_list(buf, sizeof(buf), "0-3,10-12"));
	assert_false(str_copy_list(buf, sizeof(buf), "0-3,100-112,7"));
	assert_string_equal(buf, "0-3,...");
	assert_false(str_copy_list(buf, sizeof(buf), "0-3,10,11,12"));
	assert_string_equal(buf, "0-3,10,...");
}

static void control_characters_in_any_form_are_cleaned(void **state)
{
	char s[] = "a\x1b[1m\xc2\x9b"
		   "1m\x7f\xc3\xa4";

	(void)state;
	str_clean(s);
	assert_string_equal(s, "a?[1m??1m?\xc3\xa4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vms_have_the_name_their_vmm_was_given),
		cmocka_unit_test(a_qemu_emulates_unless_it_asks_for_kvm_or_has_no_guest),
		cmocka_unit_test(qemus_cpu_option_tells_whether_there_is_a_pmu),
		cmocka_unit_test(qemus_smp_option_is_believed_within_reason),
		cmocka_unit_test(threads_of_vcpus_are_known_by_name),
		cmocka_unit_test(lists_are_cut_after_an_element),
		cmocka_unit_test(control_characters_in_any_form_are_cleaned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
