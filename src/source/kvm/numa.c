/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory per node from /proc/PID/numa_maps (the kernel's show_numa_map() in
 * fs/proc/task_mmu.c): one line per mapping, with N<node>=<pages> and, at the
 * end, kernelpagesize_kB=<size of those pages>.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/kvm/discover.h"

/* Which of machine.nodes has this id; -1 if none. */
static int node_index(const struct machine *m, int id)
{
	for (size_t i = 0; i < m->nnodes; i++)
		if (m->nodes[i].id == id)
			return i;
	return -1;
}

/* The size comes after the pages: one look for it, one for them. */
static uint64_t page_bytes(const char *line)
{
	static const char key[] = " kernelpagesize_kB=";
	const char *s = strstr(line, key);
	uint64_t kb = s ? strtoull(s + strlen(key), NULL, 10) : 0;

	return (kb ? kb : 4) << 10;
}

/* File names cannot imitate a field: the kernel escapes blanks and "=" in them. */
static void add_line(const struct machine *m, const char *line, uint64_t *nodes)
{
	uint64_t bytes = page_bytes(line);
	const char *s = line;

	while ((s = strstr(s, " N"))) {
		int id, end = 0, i;
		unsigned long long pages;

		s += 2;
		if (sscanf(s, "%d=%llu%n", &id, &pages, &end) != 2 || id < 0)
			continue;
		i = node_index(m, id);
		if (i >= 0)
			nodes[i] += pages * bytes;
		s += end;
	}
}

/* A kernel without NUMA has no numa_maps, but all memory is on the one node. */
static int read_statm(const struct source *src, pid_t pid, uint64_t *node)
{
	long page = src->live ? sysconf(_SC_PAGESIZE) : 4096;
	unsigned long long size, resident;
	char buf[128];
	ssize_t n = rootfs_read(&src->root, buf, sizeof(buf), "proc/%d/statm", pid);

	if (n < 0)
		return n;
	if (sscanf(buf, "%llu %llu", &size, &resident) != 2)
		return -EINVAL;
	*node = resident * page;
	return 0;
}

int numa_read(const struct source *src, struct vm *vm)
{
	struct strbuf sb = { 0 };
	size_t n = src->machine.nnodes;
	uint64_t *nodes = calloc(n, sizeof(*nodes));
	char *rest, *line;
	int ret;

	if (!nodes)
		return -ENOMEM;
	ret = rootfs_slurp(&src->root, &sb, "proc/%d/numa_maps", vm->pid);
	if (ret == -ENOENT && n == 1)
		ret = read_statm(src, vm->pid, nodes);
	rest = sb.data;
	while (!ret && (line = strsep(&rest, "\n")))
		add_line(&src->machine, line, nodes);
	strbuf_free(&sb);
	if (!ret) {
		vm->mem_node = nodes;
		vm->nmem_node = n;
		return 0;
	}
	free(nodes);
	vm_problem(
		vm,
		"memory per node is not known: numa_maps of process %d cannot be read: %s",
		vm->pid, err_name(ret));
	return ret == -ENOMEM ? ret : 0;
}
