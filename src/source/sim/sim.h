/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_SIM_SIM_H
#define SOURCE_SIM_SIM_H

#include "source/source.h"

/*
 * The built-in host (numasim/): a simulated machine, its hypervisor and VMs, by the same
 * event sets of core/ as Xen's. While it is open the clock is the simulated host's, and
 * that runs only while the clock is waited for.
 */
extern const struct source_ops sim_source;

#endif
