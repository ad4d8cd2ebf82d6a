/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_HOSTS_H
#define TESTS_UNIT_HOSTS_H

/* Recorded hosts (tests/trees) for unit tests: one line of text per VM. */

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/kvm/kvm.h"

static inline struct source *host_open(const char *dir, const pid_t *pids, size_t n)
{
	const struct source_config config = { .root = dir, .pids = pids, .npids = n };
	struct source *src = NULL;
	struct err err = { 0 };

	if (kvm_source.open(&config, &src, &err))
		fail_msg("%s", err.text);
	return src;
}

/* The tree of host @name. */
static inline const char *host_dir(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", getenv("VMMPROF_TREES"), name);
	return path;
}

static inline void host_topology(struct source *src, unsigned parts, struct topology *topo)
{
	struct err err = { 0 };

	*topo = (struct topology) { 0 };
	if (kvm_source.topology(src, parts, topo, &err))
		fail_msg("%s", err.text);
}

/* "web 2001 qemu kvm perf: 0=2010 debugfs, 1=2011 name\n" for each VM; free() it. */
static inline char *host_text(const struct topology *topo)
{
	struct strbuf sb = { 0 };

	strbuf_puts(&sb, "");
	for (size_t i = 0; i < topo->nvms; i++) {
		const struct vm *vm = &topo->vms[i];

		strbuf_addf(&sb, "%s %s %s %s %s:", vm->name, vm->id, vm->vmm,
			    vm_accel_name(vm->accel), vpmu_kind_name(vm->vpmu));
		for (size_t k = 0; k < vm->nvcpus; k++)
			strbuf_addf(&sb, "%s %d=%d %s", k ? "," : "", vm->vcpus[k].index,
				    vm->vcpus[k].tid, vcpu_found_name(vm->vcpus[k].found));
		strbuf_putc(&sb, '\n');
	}
	assert_false(sb.oom);
	return sb.data;
}

/* Asserts what is found in a host. */
static inline void assert_host(const char *name, const char *expected)
{
	struct source *src = host_open(host_dir(name), NULL, 0);
	struct topology topo;
	char *text;

	host_topology(src, TOPOLOGY_BASIC, &topo);
	text = host_text(&topo);
	assert_string_equal(text, expected);
	free(text);
	topology_free(&topo);
	kvm_source.close(src);
}

#endif
