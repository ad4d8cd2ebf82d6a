/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef E2E_XENPMU_WAY_H
#define E2E_XENPMU_WAY_H

/*
 * HYPERVISOR_xenpmu_op by hand, from dom0: nothing that a caller could do wrong is put
 * right here. Whatever fails that a test does not ask for ends the program.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/abi/xenpmu.h"
#include "source/xen/abi.h"

#define HYPERCALL_MEMORY 12

/* Opens the way in; ends the program where there is none. */
void way_open(void);
/* One hypercall; -errno as Xen gives it. */
long way_call(unsigned hypercall, uint64_t a0, uint64_t a1);
/* @size bytes that Xen may write to, at a page's start; never freed. */
void *way_buffer(size_t size);
/* A sub-operation on a struct, which goes in and comes back by a buffer of its own. */
long way_pmu(unsigned op, void *arg, size_t size);
#define WAY_PMU(op, arg) way_pmu(op, arg, sizeof(*(arg)))
/* A struct xen_domctl of a version that this Xen speaks, the same way. */
long way_domctl(struct xen_domctl *op);
/* Frames of a resource; NULL with errno. */
void *way_map(unsigned domid, unsigned type, unsigned id, unsigned frame, unsigned n);
void way_unmap(void *frames, unsigned n);

/* Writes rubbish over the pages of a ring, and over what its producer looks at most. */
void way_spoil(void *ring, unsigned frames, uint64_t *seed);

/* Whether VIRQ_XENPMU comes within so long; the first call binds it. */
bool way_woken(int ms);

/* "@@ NAME VALUE" */
void result(const char *name, long long value);
/* xorshift64*: the same seed, the same numbers. */
uint64_t draw(uint64_t *seed);

/* The commands of the program. */
int cmd_info(char **words);
int cmd_watch(char **words);
int cmd_abuse(char **words);
int cmd_random(char **words);
int cmd_destroy(char **words);
int cmd_shuffle(char **words);
int cmd_sets(char **words);
int cmd_spoil(char **words);

#endif
