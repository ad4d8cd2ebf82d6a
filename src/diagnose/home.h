/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DIAGNOSE_HOME_H
#define DIAGNOSE_HOME_H

/* Which nodes' memory a VM reads. */

#include "diagnose/host.h"
#include "diagnose/reads.h"

/*
 * Fills in f->home: counted as local and remote; which remote node, and all of it for a
 * vCPU that @moved, one that ran on several nodes, as the VM's memory lies.
 */
void flow_home(struct flow *f, const struct diag_vm *vm, unsigned nodes,
	       const struct reads *r, bool moved);
/* No counter of it tells its reads of memory, but a monitor tells the bytes that it moved
 * from and to memory (resctrl: Linux, Documentation/arch/x86/resctrl.rst, mbm_total_bytes,
 * mbm_local_bytes). */
bool vcpu_by_bytes(const struct diag_vcpu *vcpu);
/* The lines that one of these moved from and to the memory of @node. */
double vcpu_moved(const struct diag_vm *vm, const struct diag_vcpu *vcpu, unsigned nodes,
		  unsigned node);

#endif
