/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DIAGNOSE_MISPLACED_H
#define DIAGNOSE_MISPLACED_H

/* What placement alone tells, where no counter tells how often memory is read. */

#include "diagnose/diagnose.h"

struct misplaced {
	unsigned runs, memory; /* nodes on which it runs and has memory most */
	double away;	       /* share of its memory that is not where it runs */
};

/*
 * Is most of the VM's memory on nodes other than the one on which it runs most? False too
 * where either is not known.
 */
bool vm_misplaced(const struct diag_window *w, size_t vm, struct misplaced *out);
/* Can remote reads be counted, or told by misses and placement? */
bool vm_reads_counted(const struct diag_vm *vm);

#endif
