/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The explicit list of sources: a new one is one file and one row here. */
#include "source/kvm/kvm.h"
#include "source/sim/sim.h"
#include "source/source.h"
#include "source/xen/xen.h"

const struct source_ops *const sources[] = {
	&xen_source,
	&sim_source,
	&kvm_source,
	NULL,
};
