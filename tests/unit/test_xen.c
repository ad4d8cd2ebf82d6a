/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Xen source's view of domains, on a Xen that the test makes up. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"
#include "fake_xen.h"
#include "source/xen/xen.h"
#include "source/xen/xenstore.h"

static struct source *opened_source(void)
{
	const struct source_config config = { .root = "/" };
	struct source *src = NULL;
	struct err err = { 0 };

	assert_int_equal(xen_source_open(&fake_xen_ops, &config, &src, &err), 0);
	return src;
}

static int reset(void **state)
{
	(void)state;
	fake_xen_reset();
	return 0;
}

/* ---- topology */

static void domains_vcpus_and_xen_itself_are_listed(void **state)
{
	struct source *src = opened_source();
	struct topology topo = { 0 };
	struct fake_domain *d = fake_domain_add(3, 2);
	const struct vm *vm;

	(void)state;
	d->vcpu[0] = (struct xen_vcpuinfo) { .online = 1, .running = 1, .cpu = 2 };
	d->vcpu[1] = (struct xen_vcpuinfo) { .online = 1, .blocked = 1, .cpu = 3 };
	d->affinity[1] = 0xa;
	d->pages = 1024;
	d->pmu = XENPMU_DOMAIN_PMU | XENPMU_DOMAIN_USED;
	assert_int_equal(
		xen_source.topology(src, TOPOLOGY_THREADS | TOPOLOGY_MEMORY, &topo, NULL),
		0);
	assert_int_equal(topo.nvms, 3);
	assert_int_equal(topo.machine.ncpus, 4);
	vm = &topo.vms[1];
	assert_string_equal(vm->id, "dom3");
	assert_string_equal(vm->name, "dom3");
	assert_int_equal(vm->pid, 0);
	assert_int_equal(vm->accel, ACCEL_XEN);
	assert_int_equal(vm->vpmu, VPMU_USED);
	assert_int_equal(vm->nvcpus, 2);
	assert_int_equal(vm->vcpus[0].state, 'r');
	assert_int_equal(vm->vcpus[0].last_cpu, 2);
	assert_string_equal(vm->vcpus[0].affinity, "0-3");
	assert_int_equal(vm->vcpus[1].state, 'b');
	assert_string_equal(vm->vcpus[1].affinity, "1,3");
	assert_int_equal(vm->mem_node[0], 1024 * 4096);
	vm = &topo.vms[2];
	assert_string_equal(vm->id, "xen");
	assert_int_equal(vm->accel, ACCEL_HYPERVISOR);
	assert_int_equal(vm->nvcpus, 4);
	topology_free(&topo);
	xen_source.close(src);
}

static void vcpus_have_keys_of_their_own_without_threads(void **state)
{
	struct source *src = opened_source();
	struct topology topo = { 0 };

	(void)state;
	assert_int_equal(xen_source.topology(src, TOPOLOGY_BASIC, &topo, NULL), 0);
	assert_int_equal(topo.vms[0].vcpus[0].tid, 0);
	assert_int_equal(vcpu_key(&topo.vms[0].vcpus[0]), 1);
	assert_int_equal(vcpu_key(&topo.vms[0].vcpus[1]), 2);
	assert_int_equal(vm_key(&topo.vms[0]), 1);
	assert_false(vm_matches(&topo.vms[0], "0")); /* no process has this number */
	assert_true(vm_matches(&topo.vms[0], "dom0"));
	topology_free(&topo);
	xen_source.close(src);
}

static size_t listed(struct source *src)
{
	struct topology topo = { 0 };
	size_t n;

	assert_int_equal(xen_source.topology(src, TOPOLOGY_BASIC, &topo, NULL), 0);
	n = topo.nvms;
	topology_free(&topo);
	return n;
}

static void a_dying_domain_is_gone_and_one_that_shut_down_has_ended(void **state)
{
	struct source *src = opened_source();
	struct fake_domain *d = fake_domain_add(1, 1);
	struct topology topo = { 0 };

	(void)state;
	assert_int_equal(listed(src), 3);
	d->flags = XEN_DOMINF_DYING;
	assert_int_equal(listed(src), 2);
	d->flags = XEN_DOMINF_SHUTDOWN;
	assert_int_equal(xen_source.topology(src, TOPOLOGY_BASIC, &topo, NULL), 0);
	assert_true(topo.vms[1].ended);
	topology_free(&topo);
	d->flags = XEN_DOMINF_SHUTDOWN | XEN_SHUTDOWN_SUSPEND << 16;
	assert_int_equal(xen_source.topology(src, TOPOLOGY_BASIC, &topo, NULL), 0);
	assert_false(topo.vms[1].ended);
	topology_free(&topo);
	xen_source.close(src);
}

static void without_the_graft_there_is_no_target_xen(void **state)
{
	struct source *src;
	struct topology topo = { 0 };

	(void)state;
	fake_xen.graft = false;
	src = opened_source();
	assert_int_equal(xen_source.topology(src, TOPOLOGY_MEMORY, &topo, NULL), 0);
	assert_int_equal(topo.nvms, 1);
	assert_int_equal(topo.vms[0].vpmu, VPMU_UNKNOWN);
	topology_free(&topo);
	xen_source.close(src);
}

static void memory_of_several_nodes_is_not_made_up(void **state)
{
	struct source *src;
	struct topology topo = { 0 };

	(void)state;
	fake_xen.phys.nr_nodes = 2;
	src = opened_source();
	assert_int_equal(xen_source.topology(src, TOPOLOGY_MEMORY, &topo, NULL), 0);
	assert_null(topo.vms[0].mem_node);
	topology_free(&topo);
	xen_source.close(src);
}

/* ---- versions, rights */

static void each_known_version_of_the_interface_is_spoken(void **state)
{
	(void)state;
	for (uint32_t v = 0x15; v <= 0x17; v++) {
		struct source *src;

		fake_xen.domctl = v;
		src = opened_source();
		assert_int_equal(listed(src), 2);
		xen_source.close(src);
	}
}

static void topology_fails_with(int code, const char *words)
{
	struct source *src = opened_source();
	struct topology topo = { 0 };
	struct err err = { 0 };

	assert_int_equal(xen_source.topology(src, TOPOLOGY_BASIC, &topo, &err), code);
	assert_non_null(strstr(err.text, words));
	topology_free(&topo);
	xen_source.close(src);
}

static void an_unknown_version_is_told_with_the_known_ones(void **state)
{
	(void)state;
	fake_xen.domctl = 0x18;
	topology_fails_with(-EPROTONOSUPPORT, "Xen 4.17.5: its interface");
	fake_xen_reset();
	fake_xen.sysctl = 0x16;
	topology_fails_with(-EPROTONOSUPPORT, "sysctl 0x15");
}

static void without_a_way_into_xen_the_reason_is_told(void **state)
{
	(void)state;
	fake_xen.no_way_in = -ENOENT;
	topology_fails_with(-ENOENT, "/dev/xen/privcmd");
}

static void refuse_physinfo(unsigned hypercall, uint64_t op, void *arg, long *ret)
{
	(void)arg;
	if (hypercall == XEN_HYPERCALL_SYSCTL && op == XEN_SYSCTL_PHYSINFO)
		*ret = -EPERM;
}

static void another_domain_than_dom0_is_told_who_may_ask(void **state)
{
	(void)state;
	fake_xen.spoil = refuse_physinfo;
	topology_fails_with(-EPERM, "dom0");
}

static void processes_are_sent_to_the_other_source(void **state)
{
	const pid_t pid = 1;
	const struct source_config config = { .root = "/", .pids = &pid, .npids = 1 };
	struct source *src = NULL;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(xen_source_open(&fake_xen_ops, &config, &src, &err), -EINVAL);
	assert_non_null(strstr(err.text, "--source kvm"));
}

/* ---- answers that make no sense */

static void go_backwards(unsigned hypercall, uint64_t op, void *arg, long *ret)
{
	struct xen_sysctl *sysctl = arg;

	(void)ret;
	if (hypercall == XEN_HYPERCALL_SYSCTL && op == XEN_SYSCTL_DOMAINS &&
	    sysctl->u.domains.first_domain)
		((struct xen_domain *)(uintptr_t)sysctl->u.domains.buffer)->domain = 0;
}

static void number_domains_wildly(unsigned hypercall, uint64_t op, void *arg, long *ret)
{
	struct xen_sysctl *sysctl = arg;

	(void)ret;
	if (hypercall == XEN_HYPERCALL_SYSCTL && op == XEN_SYSCTL_DOMAINS)
		sysctl->u.domains.num_domains = 0xffffffff;
}

static void number_a_domain_as_none_can_be(unsigned hypercall, uint64_t op, void *arg,
					   long *ret)
{
	struct xen_sysctl *sysctl = arg;

	(void)ret;
	if (hypercall == XEN_HYPERCALL_SYSCTL && op == XEN_SYSCTL_DOMAINS)
		((struct xen_domain *)(uintptr_t)sysctl->u.domains.buffer)->domain = 0xffff;
}

static void a_list_of_domains_that_makes_no_sense_ends_it(void **state)
{
	void (*const spoils[])(unsigned, uint64_t, void *,
			       long *) = { go_backwards, number_domains_wildly,
					   number_a_domain_as_none_can_be };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(spoils); i++) {
		fake_xen_reset();
		fake_domain_add(1, 1);
		fake_xen.spoil = spoils[i];
		topology_fails_with(-EPROTO, "makes no sense");
	}
}

static void a_domain_of_too_many_vcpus_is_listed_with_its_problem(void **state)
{
	const struct {
		uint32_t nvcpus;
		size_t listed;
		bool problem;
	} cases[] = { { 8192, 8192, false },
		      { 8193, 0, true },
		      { 0xffffffff, 0, true },
		      { 0, 0, false } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct source *src;
		struct topology topo = { 0 };

		fake_xen_reset();
		fake_domain_add(1, cases[i].nvcpus);
		src = opened_source();
		assert_int_equal(xen_source.topology(src, TOPOLOGY_THREADS, &topo, NULL),
				 0);
		assert_int_equal(topo.vms[1].nvcpus, cases[i].listed);
		assert_int_equal(*topo.vms[1].problem != '\0', cases[i].problem);
		topology_free(&topo);
		xen_source.close(src);
	}
}

static void wild_numbers_of_pcpus_are_bounded(void **state)
{
	struct source *src;
	struct topology topo = { 0 };

	(void)state;
	fake_xen.phys.max_cpu_id = 0xffffffff;
	fake_xen.info.pcpus = 0xffffffff;
	fake_xen.domain[0].vcpu[0].cpu = 0xffffffff;
	src = opened_source();
	assert_int_equal(xen_source.topology(src, TOPOLOGY_THREADS, &topo, NULL), 0);
	assert_int_equal(topo.vms[0].vcpus[0].last_cpu, -1);
	assert_int_equal(topo.vms[1].nvcpus, 8192);
	topology_free(&topo);
	xen_source.close(src);
}

static void words_of_xen_are_ended_and_cleaned(void **state)
{
	struct capability_list list = { 0 };
	struct source *src;
	struct err err;

	(void)state;
	memset(fake_xen.info.why, '\033', sizeof(fake_xen.info.why));
	memset(fake_xen.info.family, 'x', sizeof(fake_xen.info.family));
	fake_xen.info.flags = 0;
	src = opened_source();
	assert_int_equal(xen_source.capabilities(src, NULL, 0, &list, &err), 0);
	for (size_t i = 0; i < list.n; i++)
		assert_null(strchr(list.v[i].finding, '\033'));
	capability_list_free(&list);
	xen_source.close(src);
}

/* ---- which source */

static void make_file(const char *dir, const char *path, const char *text)
{
	char full[256], *slash;
	int fd;

	snprintf(full, sizeof(full), "%s/%s", dir, path);
	for (slash = full + strlen(dir) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(full, 0700);
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static const char *chosen(const char *dir, bool processes)
{
	const struct source_ops *ops = NULL;

	assert_int_equal(source_choose(NULL, dir, processes, &ops, NULL), 0);
	return ops->name;
}

static void dom0_is_told_by_xenfs_or_by_its_way_into_xen(void **state)
{
	char dir[] = "/tmp/test-xen.XXXXXX", command[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_string_equal(chosen(dir, false), "kvm");
	make_file(dir, "sys/hypervisor/type", "xen\n");
	assert_string_equal(chosen(dir, false), "kvm"); /* any domain has this */
	make_file(dir, "dev/xen/privcmd", "");
	assert_string_equal(chosen(dir, false), "xen");
	assert_string_equal(chosen(dir, true), "kvm"); /* -p */
	make_file(dir, "dev/kvm", "");
	assert_string_equal(chosen(dir, false), "kvm"); /* a domain with VMs of its own */
	make_file(dir, "proc/xen/capabilities", "control_d\n");
	assert_string_equal(chosen(dir, false), "xen");
	make_file(dir, "proc/xen/capabilities", "\n");
	assert_string_equal(chosen(dir, false), "kvm");
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

/* ---- xenstore */

/* What a store of the test's answers to one question. */
static void assert_store(const void *answer, size_t size, int wanted, const char *value)
{
	char got[16] = "untouched", question[64];
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	assert_int_equal(write(pair[1], answer, size), size);
	if (wanted == -EPROTO)
		shutdown(pair[1], SHUT_WR);
	assert_int_equal(xenstore_read(pair[0], "/local/domain/1/name", got, sizeof(got)),
			 wanted);
	assert_string_equal(got, value);
	assert_int_equal(read(pair[1], question, sizeof(question)), 16 + 21);
	assert_string_equal(question + 16, "/local/domain/1/name");
	close(pair[0]);
	close(pair[1]);
}

static void names_come_from_xenstore_and_are_cleaned(void **state)
{
	const struct {
		uint32_t type, id, tx, len;
		char text[8];
	} named = { 2, 0, 0, 3, "web" }, hostile = { 2, 0, 0, 4, "w\033[m" },
	  none = { 16, 0, 0, 7, "ENOENT" }, denied = { 16, 0, 0, 7, "EACCES" },
	  huge = { 2, 0, 0, 0x7fffffff, "" }, other = { 14, 0, 0, 3, "web" };

	(void)state;
	assert_store(&named, 16 + named.len, 0, "web");
	assert_store(&hostile, 16 + hostile.len, 0, "w?[m");
	assert_store(&none, 16 + none.len, -ENOENT, "untouched");
	assert_store(&denied, 16 + denied.len, -EACCES, "untouched");
	assert_store(&huge, 16, -EPROTO, "untouched");
	assert_store(&other, 16 + other.len, -EPROTO, "untouched");
	assert_store(&named, 17, -EPROTO, "untouched"); /* it ended in the middle */
}

static void a_silent_xenstore_is_not_waited_for(void **state)
{
	(void)state;
	assert_store("", 0, -ETIMEDOUT, "untouched");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(domains_vcpus_and_xen_itself_are_listed, reset),
		cmocka_unit_test_setup(vcpus_have_keys_of_their_own_without_threads, reset),
		cmocka_unit_test_setup(
			a_dying_domain_is_gone_and_one_that_shut_down_has_ended, reset),
		cmocka_unit_test_setup(without_the_graft_there_is_no_target_xen, reset),
		cmocka_unit_test_setup(memory_of_several_nodes_is_not_made_up, reset),
		cmocka_unit_test_setup(each_known_version_of_the_interface_is_spoken,
				       reset),
		cmocka_unit_test_setup(an_unknown_version_is_told_with_the_known_ones,
				       reset),
		cmocka_unit_test_setup(without_a_way_into_xen_the_reason_is_told, reset),
		cmocka_unit_test_setup(another_domain_than_dom0_is_told_who_may_ask, reset),
		cmocka_unit_test_setup(processes_are_sent_to_the_other_source, reset),
		cmocka_unit_test_setup(a_list_of_domains_that_makes_no_sense_ends_it,
				       reset),
		cmocka_unit_test_setup(
			a_domain_of_too_many_vcpus_is_listed_with_its_problem, reset),
		cmocka_unit_test_setup(wild_numbers_of_pcpus_are_bounded, reset),
		cmocka_unit_test_setup(words_of_xen_are_ended_and_cleaned, reset),
		cmocka_unit_test(dom0_is_told_by_xenfs_or_by_its_way_into_xen),
		cmocka_unit_test(names_come_from_xenstore_and_are_cleaned),
		cmocka_unit_test(a_silent_xenstore_is_not_waited_for),
	};

	return cmocka_run_group_tests_name("xen", tests, NULL, NULL);
}
