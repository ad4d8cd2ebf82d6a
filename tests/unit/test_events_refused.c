/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event_machines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void an_unreadable_tracefs_is_told_from_a_missing_one(void **state)
{
	char path[4096];

	(void)state;
	if (geteuid() == 0 && (setegid(65534) || seteuid(65534)))
		skip();
	/* Somebody else's directory, as tracefs is for an ordinary user. */
	snprintf(path, sizeof(path), "%s/pmu-shut/sys/kernel/tracing",
		 getenv("VMMPROF_TREES"));
	if (getuid() == 0) {
		assert_int_equal(seteuid(0), 0);
		assert_int_equal(chmod(path, 0700), 0);
		assert_int_equal(seteuid(65534), 0);
	} else {
		assert_int_equal(chmod(path, 0), 0);
	}
	refused(SHUT, "kvm:kvm_exit", -ENOENT, "not readable for you");
	assert_int_equal(seteuid(getuid()) | setegid(getgid()), 0);
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(parse_one(SHUT, "kvm:kvm_exit").config, 1387);
}

static void what_is_not_known_is_refused_with_a_remedy(void **state)
{
	(void)state;
	refused(X86, "cycels", -ENOENT, "cycels: no such event; did you mean cycles?");
	refused(X86, "cs,instrutions:u", -ENOENT,
		"did you mean instructions? (at character 4 of the events)");
	refused(X86, "LLC-laods", -ENOENT, "did you mean LLC-loads?");
	refused(ARM, "inst_retird", -ENOENT, "did you mean inst_retired?");
	refused(X86, "zzzzzz", -ENOENT, "zzzzzz: no such event; known are");
	refused(NONE, "inst_retired", -ENOENT, "shows no PMU of its CPUs");
	refused(X86, "cpu", -ENOENT, "this is a PMU");
	refused(X86, "cpv/event=1/", -ENOENT, "did you mean cpu?");
	refused(X86, "cpu/evnt=1/", -ENOENT,
		"PMU cpu has no such term; did you mean event?");
	refused(X86, "cpu/mem-lods/", -ENOENT, "did you mean mem-loads?");
	refused(X86, "iTLB-stores", -ENOENT, "iTLB has loads");
	refused(X86, "../cpu/event=1/", -ENOENT, "no such event");
	refused(X86, "broken/x/", -ENOENT, "/sys/bus/event_source/devices/broken/type");
	refused(X86, "cpu/odd=1/", -EINVAL, "\"confige:0-3\"");
	refused(X86, "cpu/stale/", -ENOENT, "stale: gone");
	refused(X86, "cpu/loop/", -EINVAL, "not under format/");
	refused(X86, "cpu/core-power/", -EINVAL, "wants a value for its term umask");
}

static void what_cannot_be_counted_per_vm_is_refused(void **state)
{
	(void)state;
	refused(X86, "uncore_imc_0/cas_count_read/u", -EINVAL, "knows no modes");
	refused(X86, "uncore_imc/cas_count_read,period=1000/", -EINVAL,
		"cannot be sampled");
	refused(X86, "{cycles,uncore_imc/cas_count_read/}", -EINVAL, "by one PMU");
	refused(X86, "uncore_cha/event=1/", -ENOENT, "no such event");
	refused(X86, "llc-occupancy:u", -EINVAL, "knows no modes");
	refused(X86, "{cycles,mem-bytes}", -EINVAL, "no counter tells it");
	refused(X86, "role:dram.remot", -ENOENT, "did you mean dram.remote?");
	refused(X86, "intel_pt//", -EINVAL, "counts nothing");
	refused(ARM, "arm_spe_0//", -EINVAL, "counts nothing");
	refused(X86, "breakpoint/config=1/", -EINVAL, "needs an address");
	refused(X86, "task-clock:G", -EINVAL, "no guest or host side");
	refused(X86, "kvm:kvm_exit:H", -EINVAL, "no guest or host side");
	refused(X86, "cycles:p", -EINVAL, "add H");
	refused(X86, "cycles:ppG", -EINVAL, "on the host side only");
}

static void a_value_too_large_names_the_fields_width(void **state)
{
	(void)state;
	refused(X86, "cpu/event=0x3c,umask=0x1ff/", -EINVAL,
		"umask=0x1ff: this field of PMU cpu is 8 bits wide (config:8-15), so at "
		"most "
		"0xff (at character 16");
	refused(AMD, "cpu/event=0x1000/", -EINVAL, "12 bits wide (config:0-7,32-35)");
	refused(X86, "cpu/edge=2/", -EINVAL, "1 bit wide");
	refused(X86, "cpu/event=99999999999999999999999/", -EINVAL, "more than 64 bits");
	refused(X86, "cpu/event=1x/", -EINVAL, "expected a number");
	refused(X86, "cpu/event=-1/", -EINVAL, "expected a number");
	refused(X86, "cpu/event=/", -EINVAL, "expected a number");
	refused(X86, "r12345678901234567", -EINVAL, "at most 16 hexadecimal digits");
	refused(X86, "cpu/r12345678901234567/", -EINVAL, "at most 16 hexadecimal digits");
	refused(X86, "cycles/period=0/", -EINVAL, "expected 1 or more");
	refused(X86, "cycles/period=18446744073709551615/", -EINVAL, "below 2^63");
	refused(X86, "cycles/period=1,freq=1/", -EINVAL, "not by both");
}

static void what_is_not_the_grammar_is_refused_where_it_is(void **state)
{
	(void)state;
	refused(X86, "", -EINVAL, "expected an event, found the end");
	refused(X86, "cycles,", -EINVAL, "found the end (at character 8");
	refused(X86, ",cycles", -EINVAL, "expected an event, found ','");
	refused(X86, "{}", -EINVAL, "expected an event, found '}' (at character 2");
	refused(X86, "{cycles", -EINVAL, "closing '}', found the end (at character 8");
	refused(X86, "cycles}", -EINVAL, "found '}' (at character 7");
	refused(X86, "{cs,{cs}}", -EINVAL,
		"groups hold no groups, found '{' (at character 5");
	refused(X86, "cycles instructions", -EINVAL, "found ' ' (at character 7");
	refused(X86, "cyc\tles", -EINVAL, "byte 0x09");
	refused(X86, "cycl\xc3\xa9s", -EINVAL, "byte 0xc3");
	refused(X86, "cpu/event=1", -EINVAL, "closing '/', found the end");
	refused(X86, "cpu/event=1,name='x", -EINVAL, "a closing ', found the end");
	refused(X86, "cpu/event=1,,umask=1/", -EINVAL, "expected a term, found ','");
	refused(X86, "cpu/event=1/u/", -EINVAL, "'/' is no modifier");
	refused(X86, "cycles:u/period=1/", -EINVAL, "modifiers go behind the closing '/'");
	refused(X86, "kvm:kvm_exit:u/period=1/", -EINVAL, "go behind the closing '/'");
	refused(X86, "cycles/event=1/", -EINVAL, "other terms want a PMU");
	refused(X86, "cycles/config=1/", -EINVAL, "other terms want a PMU");
	refused(X86, "cpu/cycles,umask=1/", -EINVAL, "stand alone");
	refused(X86, "cpu/cycles,config=1/", -EINVAL, "stand alone");
	refused(X86, "cpu/umask=1,cycles/", -EINVAL, "stand alone");
	refused(HYBRID, "cpu_atom/cycles,mem-loads/", -EINVAL, "stand alone");
	refused(X86, "cpu/call-graph=dwarf/", -EINVAL, "not supported");
	refused(X86, "cpu/name/", -EINVAL, "wants a value");
}

static void modifiers_that_perf_has_and_we_have_not_are_named(void **state)
{
	(void)state;
	refused(X86, "cycles:x", -EINVAL, "cycles: 'x' is no modifier");
	refused(X86, "cycles:", -EINVAL, "no modifier follows the ':'");
	refused(X86, "cycles:uu", -EINVAL, "given twice");
	refused(X86, "cycles:ppppH", -EINVAL, "at most ppp");
	refused(X86, "{cycles:ppH}:pp", -EINVAL, "at most ppp");
	refused(X86, "cycles:P", -EINVAL, "say p, pp or ppp");
	refused(X86, "{cycles,cs}:S", -EINVAL, "leader sampling");
	refused(X86, "{cycles,cs}:W", -EINVAL, "groups are not broken up");
	refused(X86, "cycles:e", -EINVAL, "starve");
	refused(X86, "cycles:b", -EINVAL, "BPF");
	refused(X86, "{cs,cycles:D}", -EINVAL, "only a group as a whole can be pinned");
}

static char *repeat(const char *what, int times)
{
	char *text = calloc(times, strlen(what) + 1);

	while (times--)
		strcat(text, what);
	return text;
}

static void lists_of_any_length_end_in_words(void **state)
{
	char *many = repeat("cs,", 255);
	char *list = repeat("cs,", 257), *braces = repeat("{", 5000);
	char *name = repeat("n", 5000), *terms = repeat("edge,", 65);
	char spec[6000];

	(void)state;
	snprintf(spec, sizeof(spec), "%scs", many);
	struct event_set set = parse(X86, spec);

	assert_int_equal(set.n, 256);
	event_set_free(&set);
	refused(X86, list, -EINVAL, "more than 256 events");
	refused(X86, braces, -EINVAL, "groups hold no groups");
	refused(X86, name, -EINVAL, "longer than 95 characters");
	snprintf(spec, sizeof(spec), "cpu/%sedge/", terms);
	refused(X86, spec, -EINVAL, "more than 64 terms");
	snprintf(spec, sizeof(spec), "cpu/name=%s/", name);
	refused(X86, spec, -EINVAL, "longer than");
	snprintf(spec, sizeof(spec), "cpu/%.50s=1/", name);
	refused(X86, spec, -ENOENT, "no such term");
	snprintf(spec, sizeof(spec),
		 "cpu/event=0x0000000000000000000000000000000001,umask="
		 "0x000000000000000000000000000000000000000000000000001/");
	refused(X86, spec, -EINVAL, "add the term name=");
	free(many);
	free(list);
	free(braces);
	free(name);
	free(terms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unreadable_tracefs_is_told_from_a_missing_one),
		cmocka_unit_test(what_is_not_known_is_refused_with_a_remedy),
		cmocka_unit_test(what_cannot_be_counted_per_vm_is_refused),
		cmocka_unit_test(a_value_too_large_names_the_fields_width),
		cmocka_unit_test(what_is_not_the_grammar_is_refused_where_it_is),
		cmocka_unit_test(modifiers_that_perf_has_and_we_have_not_are_named),
		cmocka_unit_test(lists_of_any_length_end_in_words),
	};

	return cmocka_run_group_tests(tests, open_machines, close_machines);
}
