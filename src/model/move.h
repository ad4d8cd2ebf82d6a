/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MODEL_MOVE_H
#define MODEL_MOVE_H

/* One step from one placement to another. */

enum move_kind {
	MOVE_VCPU,   /* a vCPU may run on @cpus only */
	MOVE_MEMORY, /* the VM's memory goes to @node */
};

struct move {
	enum move_kind kind;
	char vm_id[32];
	int vcpu;	/* index */
	char cpus[256]; /* the kernel's list of pCPUs */
	int node;	/* machine.nodes[].id */
};

#endif
