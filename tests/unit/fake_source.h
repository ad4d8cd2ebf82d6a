/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_FAKE_SOURCE_H
#define TESTS_UNIT_FAKE_SOURCE_H

/*
 * A source whose VMs and counters are what a test says. Tests change the plain
 * structs below between two calls of the session.
 */
#include "source/source.h"

#define FAKE_VMS 8
#define FAKE_VCPUS 8
#define FAKE_EVENTS 16
#define FAKE_NODES 2
#define FAKE_NODE_CPUS 4

struct fake_vcpu {
	int index;
	pid_t tid; /* 0: this place is empty */
	bool thread_unknown;
	int open_fails;		    /* -errno of counters_open(), 0: it works */
	int read_fails;		    /* -errno of counters_read() */
	const char *wrong_in_turns; /* of all its events */
	uint64_t guest_ns;	    /* what vcpu_ran() tells */
	int last_cpu;
	const char *affinity; /* NULL: not known */
	/* What counters_read() tells of event i; state other than READ_COUNTED
	 * before the open: the event cannot be opened. */
	struct reading now[FAKE_EVENTS];
	unsigned opens, closes; /* seen by the source */
	struct event_set set;	/* borrowed: what was asked for at the last open */
};

struct fake_vm {
	const char *id; /* NULL: this place is empty */
	const char *name;
	pid_t pid;
	uint64_t birth;
	enum vm_accel accel;
	uint64_t mem_node[FAKE_NODES];
	struct fake_vcpu vcpus[FAKE_VCPUS];
	int end_fd[2]; /* a pipe; closed at its end: vm_fd() polls readable */
};

struct source {
	struct fake_vm vms[FAKE_VMS];
	unsigned topologies; /* how often one was taken */
	unsigned reads;
	unsigned read_waits_us; /* each, while somebody else has the CPU */
	unsigned ran_asked;	/* how often vcpu_ran() was called */
	int topology_fails;	/* -errno */
	unsigned nodes;		/* of the machine, FAKE_NODE_CPUS pCPUs each */
	struct reading node_now[FAKE_NODES][FAKE_EVENTS];
};

extern const struct source_ops fake_source;

/* Adds a VM with @nvcpus vCPUs; threads are pid + 1 onwards. */
struct fake_vm *fake_vm_add(struct source *src, const char *name, pid_t pid, int nvcpus);
/* Its process ends: vm_fd() becomes readable and the next topology lacks it. */
void fake_vm_end(struct fake_vm *vm);
struct fake_vcpu *fake_vcpu_add(struct fake_vm *vm);
/* Moves event @i of a vCPU on: it was on a counter for @running of @enabled ns. */
void fake_count(struct fake_vcpu *vcpu, size_t i, uint64_t raw, uint64_t enabled,
		uint64_t running);
/* The same of a node. */
void fake_node_count(struct source *src, int node, size_t i, uint64_t raw, uint64_t enabled,
		     uint64_t running);
/* Ends what is still there. */
void fake_end(struct source *src);

#endif
