/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of a socket: perf's uncore PMUs. Each event is opened on every box of its PMU,
 * on those CPUs of the box's cpumask that are of the node, and is the sum of them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cpulist.h"
#include "base/vec.h"
#include "events/boxes.h"
#include "source/kvm/kvm.h"
#include "source/words.h"

struct slot {
	int *fd; /* one for each box and CPU; owned */
	size_t n, cap;
	bool ended;
};

struct node_counters {
	struct counters base;
	size_t n;
	const struct opened *opened;
	struct slot slot[];
};

/* While a node's counters are opened. */
struct opening {
	struct source *src;
	int node;
	const struct event_set *set;
	struct opened *opened;
	struct node_counters *c;
	int *cpus; /* of the node */
	size_t ncpus;
};

static bool is_among(int cpu, const int *cpus, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

/* A kernel without NUMA has no nodes in sysfs: all CPUs are node 0's. */
static int read_cpus(const struct rootfs *root, int node, int **cpus, size_t *n)
{
	char list[4096];
	ssize_t len = rootfs_read(root, list, sizeof(list),
				  "sys/devices/system/node/node%d/cpulist", node);

	if (len < 0 && !node)
		len = rootfs_read(root, list, sizeof(list),
				  "sys/devices/system/cpu/online");
	*cpus = NULL;
	*n = 0;
	return len < 0 ? (int)len : cpulist_parse(list, cpus, n);
}

static int64_t package_of(const struct rootfs *root, int cpu)
{
	int64_t package;

	return rootfs_read_i64(root, &package,
			       "sys/devices/system/cpu/cpu%d/topology/physical_package_id",
			       cpu)
		       ? -1
		       : package;
}

/*
 * How a node's package is counted: where it has other nodes (sub-NUMA clustering, NPS)
 * and the box one CPU for them all, what is counted is the package's. The node with
 * that CPU shows it and says so, the others refer to it.
 */
struct share {
	int64_t package;
	int counted_on; /* the node with a CPU of the cpumask in this package; -1: none */
	bool others;	/* another node of the package has none */
	char nodes[64]; /* all of the package */
};

static void look_at_share(const struct opening *o, const int *mask, size_t nmask,
			  struct share *s)
{
	const struct machine *m = &o->src->machine;
	const struct rootfs *root = &o->src->root;
	size_t used = 0;

	*s = (struct share) { .package = -1, .counted_on = -1 };
	s->package = o->ncpus ? package_of(root, o->cpus[0]) : -1;
	for (size_t i = 0; s->package >= 0 && i < m->nnodes; i++) {
		int *cpus, id = m->nodes[i].id;
		size_t n;
		bool counted = false;

		if (read_cpus(root, id, &cpus, &n))
			continue;
		if (n && package_of(root, cpus[0]) == s->package) {
			for (size_t k = 0; k < nmask; k++)
				counted = counted || is_among(mask[k], cpus, n);
			if (counted && s->counted_on < 0)
				s->counted_on = id;
			s->others = s->others || !counted;
			used += (size_t)snprintf(s->nodes + used, sizeof(s->nodes) - used,
						 "%s%d", used ? ", " : "", id);
			if (used >= sizeof(s->nodes))
				used = sizeof(s->nodes) - 1;
		}
		free(cpus);
	}
}

/* No CPU of any box's mask is on this node. */
static void say_none_here(const struct opening *o, const struct event *ev,
			  const struct event_box *box, struct opened *opened)
{
	struct share s;
	int *mask = NULL;
	size_t n = 0;

	if (cpulist_parse(box->cpumask, &mask, &n))
		n = 0;
	look_at_share(o, mask, n, &s);
	free(mask);
	if (s.counted_on >= 0)
		opened_say(
			opened, READ_UNSUPPORTED,
			"PMU %s counts all of package %lld, nodes %s, at once: see node %d",
			ev->pmu, (long long)s.package, s.nodes, s.counted_on);
	else
		opened_say(opened, READ_UNSUPPORTED,
			   "PMU %s has no box on node %d (it counts on CPUs %.40s)",
			   ev->pmu, o->node, *box->cpumask ? box->cpumask : "none");
}

static void remark_share(const struct opening *o, const int *mask, size_t nmask,
			 struct opened *opened)
{
	struct share s;

	look_at_share(o, mask, nmask, &s);
	if (s.others && opened->state == READ_COUNTED && !*opened->reason)
		opened_say(opened, READ_COUNTED,
			   "counts all of package %lld at once: nodes %s together",
			   (long long)s.package, s.nodes);
}

static bool is_hopeless(int code)
{
	return code == -EMFILE || code == -ENFILE || code == -ENOMEM;
}

/* Event @i on one box's CPU; as the next of its descriptors. */
static int open_one(struct opening *o, size_t i, const struct event_box *box, int cpu)
{
	ssize_t leader = kvm_group_leader(o->set, o->opened, i);
	struct slot *slot = &o->c->slot[i];
	struct perf_want want = { .tid = -1, .cpu = &cpu, .side = SIDE_BOTH };
	struct event ev = o->set->ev[i];
	struct perf_event_attr attr;
	int group = -1, fd;

	ev.type = box->type;
	kvm_perf_attr(&ev, &want, &attr);
	attr.disabled = leader < 0;
	if (leader >= 0 && slot->n < o->c->slot[leader].n)
		group = o->c->slot[leader].fd[slot->n];
	fd = kvm_perf_open(&attr, &ev, &want, group, &o->opened[i]);
	if (fd < 0)
		return fd;
	if (VEC_PUSH(slot->fd, slot->n, slot->cap, fd)) {
		close(fd);
		return -ENOMEM;
	}
	return 0;
}

static void close_slot(struct slot *slot)
{
	for (size_t i = 0; i < slot->n; i++)
		close(slot->fd[i]);
	free(slot->fd);
	*slot = (struct slot) { 0 };
}

/* Event @i on one box; how many of its CPUs are of this node is added to @here. */
static int open_box(struct opening *o, size_t i, const struct event_box *box, size_t *here)
{
	int *mask = NULL, ret = 0;
	size_t n = 0;

	if (cpulist_parse(box->cpumask, &mask, &n))
		n = 0;
	for (size_t k = 0; !ret && k < n; k++)
		if (is_among(mask[k], o->cpus, o->ncpus)) {
			ret = open_one(o, i, box, mask[k]);
			(*here)++;
		}
	if (!ret && *here)
		remark_share(o, mask, n, &o->opened[i]);
	free(mask);
	return ret;
}

/* 0 also if the event cannot be had; -errno if no other could be either. */
static int open_event(struct opening *o, size_t i)
{
	const struct event *ev = &o->set->ev[i];
	struct opened *opened = &o->opened[i];
	struct event_box *boxes;
	size_t n, here = 0;
	int ret = event_boxes(&o->src->root, ev->pmu, &boxes, &n);

	*opened = (struct opened) { .state = READ_COUNTED };
	for (size_t b = 0; !ret && b < n; b++)
		ret = open_box(o, i, &boxes[b], &here);
	/* Some boxes without the others would be a wrong sum. */
	if (ret)
		close_slot(&o->c->slot[i]);
	else if (!n)
		opened_say(opened, READ_UNSUPPORTED, "this kernel shows no PMU %s: %s",
			   ev->pmu, "vmmprof check says which it has");
	else if (!here)
		say_none_here(o, ev, &boxes[0], opened);
	free(boxes);
	return is_hopeless(ret) ? ret : 0;
}

/* Time enabled and running is that of the boxes on average. */
static int read_slot(struct slot *slot, struct reading *r)
{
	uint64_t enabled = 0, running = 0;

	for (size_t i = 0; i < slot->n; i++) {
		uint64_t v[3]; /* value, enabled, running: perf_event_open(2) */
		ssize_t n = slot->ended ? 0 : read(slot->fd[i], v, sizeof(v));

		if (n < 0)
			return -errno;
		if (n < (ssize_t)sizeof(v)) {
			slot->ended = true;
			*r = (struct reading) {
				.state = READ_TAKEN,
				.reason = "the kernel took the counter away: another user "
					  "of this socket's PMU pinned it"
			};
			return 0;
		}
		r->raw += v[0];
		enabled += v[1];
		running += v[2];
	}
	r->enabled_ns = enabled / slot->n;
	r->running_ns = running / slot->n;
	return 0;
}

static int read_node(struct counters *base, struct reading *out)
{
	struct node_counters *c = (struct node_counters *)base;
	int ret = 0;

	for (size_t i = 0; !ret && i < c->n; i++) {
		const struct opened *opened = &c->opened[i];

		out[i] = (struct reading) {
			.state = opened->state,
			.reason = *opened->reason ? opened->reason : NULL,
		};
		if (c->slot[i].n)
			ret = read_slot(&c->slot[i], &out[i]);
	}
	return ret;
}

static int no_vcpu(struct counters *base, uint64_t *guest_ns)
{
	(void)base;
	(void)guest_ns;
	return -EOPNOTSUPP;
}

static void close_node(struct counters *base)
{
	struct node_counters *c = (struct node_counters *)base;

	for (size_t i = 0; i < c->n; i++)
		close_slot(&c->slot[i]);
	free(c);
}

static void enable(const struct node_counters *c, const struct event_set *set)
{
	for (size_t i = 0; i < c->n; i++)
		if (kvm_group_leader(set, c->opened, i) < 0)
			for (size_t k = 0; k < c->slot[i].n; k++)
				ioctl(c->slot[i].fd[k], PERF_EVENT_IOC_ENABLE, 0);
}

int kvm_node_open(struct source *src, int node, const struct event_set *set,
		  struct opened *opened, struct counters **out, struct err *err)
{
	struct opening o = { .src = src, .node = node, .set = set, .opened = opened };
	int ret = 0;

	if (!src->live)
		return err_set(err, EOPNOTSUPP,
			       "a recorded tree has no counters: leave --root out");
	if (read_cpus(&src->root, node, &o.cpus, &o.ncpus))
		return err_set(err, ESRCH, "node %d: this machine has none of that number",
			       node);
	o.c = calloc(1, sizeof(*o.c) + set->n * sizeof(o.c->slot[0]));
	if (o.c) {
		o.c->base = (struct counters) { read_node, no_vcpu, close_node };
		o.c->n = set->n;
		o.c->opened = opened;
	}
	for (size_t i = 0; o.c && !ret && i < set->n; i++)
		ret = open_event(&o, i);
	free(o.cpus);
	if (!o.c || ret) {
		if (o.c)
			close_node(&o.c->base);
		return err_set(err, ret ? ret : ENOMEM, "node %d: %s", node,
			       err_name(ret ? ret : ENOMEM));
	}
	enable(o.c, set);
	*out = &o.c->base;
	return 0;
}
