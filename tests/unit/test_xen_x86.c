/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is told of a Xen on x86, which has a virtual PMU of its own and no graft. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "fake_xen.h"
#include "source/xen/xen.h"

static int reset(void **state)
{
	(void)state;
	fake_xen_reset();
	fake_xen.x86 = true;
	return 0;
}

static const char *root = "/";

static struct source *opened_source(void)
{
	const struct source_config config = { .root = root };
	struct source *src = NULL;
	struct err err = { 0 };

	assert_int_equal(xen_source_open(&fake_xen_ops, &config, &src, &err), 0);
	return src;
}

static void assert_answer(const char *id, enum verdict verdict, unsigned takes,
			  const char *finding, const char *remedy)
{
	struct capability_list list = { 0 };
	struct source *src = opened_source();
	struct err err;
	size_t i = 0;

	assert_int_equal(xen_source.capabilities(src, NULL, 0, &list, &err), 0);
	while (i < list.n && strcmp(list.v[i].id, id))
		i++;
	assert_true(i < list.n);
	assert_int_equal(list.v[i].verdict, verdict);
	assert_int_equal(list.v[i].takes, takes);
	assert_non_null(strstr(list.v[i].finding, finding));
	assert_non_null(strstr(list.v[i].remedy, remedy));
	capability_list_free(&list);
	xen_source.close(src);
}

static void its_modes_are_told_with_what_they_allow(void **state)
{
	const struct {
		int fails;
		uint64_t mode, features;
		enum verdict verdict;
		const char *finding, *remedy;
	} cases[] = {
		{ -EOPNOTSUPP, 0, 0, VERDICT_MISSING, "off", "vpmu=1" },
		{ 0, XEN_PMU_MODE_SELF, 0, VERDICT_OK, "each domain counts itself", "" },
		{ 0, XEN_PMU_MODE_HV, 0, VERDICT_OK, "dom0 also Xen", "" },
		{ 0, XEN_PMU_MODE_ALL, 0, VERDICT_LIMITED, "dom0's perf", "echo self" },
		{ 0, 0, 0, VERDICT_LIMITED, "no domain may", "echo self" },
		{ 0, XEN_PMU_MODE_SELF, XEN_PMU_IPC_ONLY, VERDICT_LIMITED,
		  "cycles and instructions only", "vpmu=1" },
		{ 0, XEN_PMU_MODE_SELF, XEN_PMU_ARCH_ONLY, VERDICT_LIMITED, "vpmu=arch",
		  "vpmu=1" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fake_xen.own_fails = cases[i].fails;
		fake_xen.own_val[XEN_PMU_MODE_GET] = cases[i].mode;
		fake_xen.own_val[XEN_PMU_FEATURE_GET] = cases[i].features;
		assert_answer("pmu", cases[i].verdict, 0, cases[i].finding,
			      cases[i].remedy);
		assert_answer("graft", VERDICT_MISSING,
			      ABLE_HARDWARE | ABLE_GUEST | ABLE_SAMPLE, "on x86",
			      "in the domain itself");
	}
}

static void its_domains_pmu_is_off_or_not_known(void **state)
{
	const struct {
		int fails;
		enum vpmu_kind kind;
		const char *why;
	} cases[] = { { -EOPNOTSUPP, VPMU_NONE, "vpmu=1" },
		      { 0, VPMU_UNKNOWN, "does not tell" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct topology topo = { 0 };
		struct source *src;

		fake_xen.own_fails = cases[i].fails;
		src = opened_source();
		assert_int_equal(xen_source.topology(src, TOPOLOGY_THREADS, &topo, NULL),
				 0);
		assert_int_equal(topo.nvms, 1); /* Xen itself is no target */
		assert_int_equal(topo.vms[0].vpmu, cases[i].kind);
		assert_non_null(strstr(topo.vms[0].vpmu_why, cases[i].why));
		topology_free(&topo);
		xen_source.close(src);
	}
}

static void a_pvh_dom0_is_not_told_that_it_is_off(void **state)
{
	char dir[] = "/tmp/test-xen-x86.XXXXXX", command[128];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(command, sizeof(command),
		 "mkdir -p %s/sys/hypervisor && echo PVH >%s/sys/hypervisor/guest_type",
		 dir, dir);
	assert_int_equal(system(command), 0);
	fake_xen.own_fails = -EOPNOTSUPP;
	root = dir;
	assert_answer("pmu", VERDICT_UNKNOWN, 0, "only a PV dom0", "perf stat");
	root = "/";
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

static void refuse_the_mode(unsigned hypercall, uint64_t op, void *arg, long *ret)
{
	(void)arg;
	if (hypercall == XENPMU_OP_HYPERCALL && op == XEN_PMU_MODE_GET)
		*ret = -EPERM;
}

static void one_that_does_not_tell_its_mode_is_not_called_off(void **state)
{
	(void)state;
	fake_xen.spoil = refuse_the_mode;
	assert_answer("graft", VERDICT_MISSING, ABLE_HARDWARE | ABLE_GUEST | ABLE_SAMPLE,
		      "does not answer", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(its_modes_are_told_with_what_they_allow, reset),
		cmocka_unit_test_setup(its_domains_pmu_is_off_or_not_known, reset),
		cmocka_unit_test_setup(a_pvh_dom0_is_not_told_that_it_is_off, reset),
		cmocka_unit_test_setup(one_that_does_not_tell_its_mode_is_not_called_off,
				       reset),
	};

	return cmocka_run_group_tests_name("xen_x86", tests, NULL, NULL);
}
