/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host: its CPUs and memory nodes, from /proc and /sys/devices/system. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/cpulist.h"
#include "base/vec.h"
#include "source/machine.h"

#define LIST_MAX 4096 /* a CPU or node list of sysfs is at most a page */

/* The value of a line "key : value" in @text, cleaned; false if there is none. */
static bool find_value(const char *text, const char *key, char *out, size_t size)
{
	size_t len = strlen(key);
	const char *s = text;

	while (s && *s) {
		const char *v = s + len;

		if (!strncmp(s, key, len) && *(v += strspn(v, " \t")) == ':') {
			v += 1 + strspn(v + 1, " \t");
			snprintf(out, size, "%.*s", (int)strcspn(v, "\n"), v);
			str_clean(out);
			return true;
		}
		s = strchr(s, '\n');
		s = s ? s + 1 : NULL;
	}
	return false;
}

static void read_cpu_model(const struct rootfs *root, struct machine *m)
{
	char text[4096], implementer[32], part[32];

	/* The first CPU's entry will do: hundreds of them take the kernel a while. */
	if (rootfs_read_head(root, text, sizeof(text), "proc/cpuinfo") < 0)
		return;
	if (find_value(text, "model name", m->cpu_model, sizeof(m->cpu_model)))
		return;
	if (find_value(text, "CPU implementer", implementer, sizeof(implementer)) &&
	    find_value(text, "CPU part", part, sizeof(part)))
		snprintf(m->cpu_model, sizeof(m->cpu_model), "ARM implementer %s part %s",
			 implementer, part);
}

static void read_words(const struct rootfs *root, bool live, struct machine *m)
{
	struct utsname uts;

	if (rootfs_read(root, m->release, sizeof(m->release), "proc/sys/kernel/osrelease") <
	    0)
		*m->release = '\0';
	if (rootfs_read(root, m->hostname, sizeof(m->hostname),
			"proc/sys/kernel/hostname") < 0)
		*m->hostname = '\0';
	if (rootfs_read(root, m->boot_id, sizeof(m->boot_id),
			"proc/sys/kernel/random/boot_id") < 0)
		*m->boot_id = '\0';
	/* Kernels before 6.1 do not have this one. */
	if (rootfs_read(root, m->arch, sizeof(m->arch), "proc/sys/kernel/arch") < 0) {
		*m->arch = '\0';
		if (live && !uname(&uts))
			str_copy(m->arch, sizeof(m->arch), uts.machine);
		else if (str_starts(m->cpu_model, "ARM"))
			str_copy(m->arch, sizeof(m->arch), "aarch64");
		else if (*m->cpu_model)
			str_copy(m->arch, sizeof(m->arch), "x86_64");
	}
	str_clean(m->release);
	str_clean(m->hostname);
	str_clean(m->boot_id);
	str_clean(m->arch);
}

/* Reads a list file of sysfs into numbers; 0 or -errno. */
static int read_list(const struct rootfs *root, const char *path, int **v, size_t *n)
{
	char list[LIST_MAX];
	ssize_t len = rootfs_read(root, list, sizeof(list), "%s", path);

	return len < 0 ? (int)len : cpulist_parse(list, v, n);
}

static void read_cpus(const struct rootfs *root, struct machine *m)
{
	char path[96];
	int *cpus = NULL, *siblings = NULL;
	size_t n = 0, nsiblings = 0;

	if (read_list(root, "sys/devices/system/cpu/online", &cpus, &n) || !n)
		return;
	m->ncpus = n;
	snprintf(path, sizeof(path),
		 "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpus[0]);
	free(cpus);
	if (!read_list(root, path, &siblings, &nsiblings))
		m->threads_per_core = nsiblings;
	free(siblings);
}

static uint64_t mem_total(const char *meminfo, const char *key)
{
	char value[64];

	return find_value(meminfo, key, value, sizeof(value))
		       ? strtoull(value, NULL, 10) << 10
		       : 0;
}

static void read_node(const struct rootfs *root, int id, struct node *node)
{
	char text[4096], key[48];

	node->id = id;
	if (rootfs_read(root, text, sizeof(text), "sys/devices/system/node/node%d/cpulist",
			id) >= 0)
		str_copy_list(node->cpus, sizeof(node->cpus), text);
	if (rootfs_read_head(root, text, sizeof(text),
			     "sys/devices/system/node/node%d/meminfo", id) < 0)
		return;
	snprintf(key, sizeof(key), "Node %d MemTotal", id);
	node->mem_bytes = mem_total(text, key);
}

/* A kernel without NUMA has no nodes in sysfs: the whole machine is node 0. */
static void read_only_node(const struct rootfs *root, struct node *node)
{
	char text[LIST_MAX];

	if (rootfs_read(root, text, sizeof(text), "sys/devices/system/cpu/online") >= 0)
		str_copy_list(node->cpus, sizeof(node->cpus), text);
	if (rootfs_read_head(root, text, sizeof(text), "proc/meminfo") >= 0)
		node->mem_bytes = mem_total(text, "MemTotal");
}

static int read_nodes(const struct rootfs *root, struct machine *m)
{
	int *ids = NULL;
	size_t n = 0;
	bool numa = !read_list(root, "sys/devices/system/node/online", &ids, &n) && n;

	m->nodes = calloc(numa ? n : 1, sizeof(*m->nodes));
	if (!m->nodes) {
		free(ids);
		return -ENOMEM;
	}
	m->nnodes = numa ? n : 1;
	if (!numa)
		read_only_node(root, &m->nodes[0]);
	for (size_t i = 0; numa && i < n; i++)
		read_node(root, ids[i], &m->nodes[i]);
	free(ids);
	return 0;
}

int machine_read(const struct rootfs *root, bool live, struct machine *m)
{
	*m = (struct machine) { 0 };
	read_cpu_model(root, m);
	read_words(root, live, m);
	read_cpus(root, m);
	return read_nodes(root, m);
}

int machine_copy(struct machine *dst, const struct machine *src)
{
	struct node *nodes = calloc(src->nnodes, sizeof(*nodes));

	if (!nodes)
		return -ENOMEM;
	memcpy(nodes, src->nodes, src->nnodes * sizeof(*nodes));
	*dst = *src;
	dst->nodes = nodes;
	return 0;
}
