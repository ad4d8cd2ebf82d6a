/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MODEL_MACHINE_H
#define MODEL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The host. Everything that could not be read is 0, empty or -1. */
struct node {
	int id;
	char cpus[1024];    /* the kernel's list, "0-3,8-11" */
	uint64_t mem_bytes; /* MemTotal */
};

struct machine {
	char arch[16];	  /* as uname -m says: x86_64, aarch64 */
	char release[80]; /* kernel release */
	char hostname[80];
	char boot_id[40];    /* random/boot_id: its kernel's addresses hold for one boot */
	char cpu_model[128]; /* "AMD EPYC 7763 …", "ARM implementer 0x41 part 0xd0c" */
	int ncpus;	     /* online */
	int threads_per_core;
	struct node *nodes; /* owned; ascending id */
	size_t nnodes;
};

#endif
