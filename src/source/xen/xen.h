/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_XEN_XEN_H
#define SOURCE_XEN_XEN_H

#include "source/source.h"
#include "source/xen/call.h"

/*
 * Domains of Xen, seen from dom0 by hypercalls alone: the hypervisor tells of domains and
 * vCPUs, and, with vmmprof's graft, has one event set per domain, and for itself.
 */
extern const struct source_ops xen_source;
/* The same on another way into Xen. */
int xen_source_open(const struct xen_ops *ops, const struct source_config *config,
		    struct source **out, struct err *err);

#endif
