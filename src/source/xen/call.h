/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_XEN_CALL_H
#define SOURCE_XEN_CALL_H

/* The hypercalls, without a toolstack. What Xen answers is copied and checked here. */

#include <stdbool.h>

#include "base/err.h"
#include "base/rootfs.h"
#include "core/abi/xenpmu.h"
#include "source/xen/abi.h"

/* The way into Xen; tests stand in for it. */
struct xen_ops {
	/* @root: of the machine's files. 0 or -errno with words. */
	int (*open)(const struct rootfs *root, bool live, void **ctx, struct err *err);
	void (*close)(void *ctx);
	/* What the hypercall returned, or -errno. */
	long (*call)(void *ctx, unsigned hypercall, const uint64_t arg[5]);
	/* @size bytes at a page's start that stay in memory; NULL: no memory. */
	void *(*buffer)(void *ctx, size_t size);
	void (*unbuffer)(void *ctx, void *buffer, size_t size);
	/* @n frames of a resource, from @frame on; NULL with errno set. */
	void *(*map)(void *ctx, unsigned domid, unsigned type, unsigned id, unsigned frame,
		     unsigned n);
	void (*unmap)(void *ctx, void *frames, unsigned n);
	/* A descriptor that polls readable when Xen raises @virq; -errno. ctx owns it. */
	int (*bind)(void *ctx, unsigned virq);
	/* Takes what has come, so that it can come again. */
	void (*rearm)(void *ctx);
};

extern const struct xen_ops xen_privcmd; /* privcmd.c: /dev/xen */

/* An open way. Zero-initialised: none. */
struct xen {
	const struct xen_ops *ops;
	void *ctx;
	char *buffer;
	uint32_t sysctl, domctl; /* the versions that it speaks */
};

/* 0 or -errno with words; -EPROTONOSUPPORT: a Xen that is not known here. */
int xen_open(const struct xen_ops *ops, const struct rootfs *root, bool live, struct xen *x,
	     struct err *err);
void xen_close(struct xen *x);

/* "4.17.5"; "" if it does not tell. */
void xen_version(struct xen *x, char *out, size_t size);
int xen_physinfo(struct xen *x, struct xen_physinfo *out);
/* The domain with the lowest number from @from on. 1; 0: there is none; -errno. */
int xen_next_domain(struct xen *x, unsigned from, struct xen_domain *out);
int xen_vcpuinfo(struct xen *x, unsigned domid, unsigned vcpu, struct xen_vcpuinfo *out);
/* The pCPUs below @ncpus on which it may run, as a list: "0-3,7". 0 or -errno. */
int xen_affinity(struct xen *x, unsigned domid, unsigned vcpu, unsigned ncpus, char *list,
		 size_t size);
/*
 * A sub-operation of vmmprof's graft on @arg, whose first field is the version (filled
 * in here). 0 or -errno: -ENOSYS where there is no graft.
 */
int xen_pmu(struct xen *x, enum xenpmu_sub_op op, void *arg, size_t size);
/*
 * What an x86 Xen's own virtual PMU is set to, XEN_PMU_MODE_… and XEN_PMU_…_ONLY. 0;
 * -EOPNOTSUPP: it is off; -ENOSYS: this Xen has none; -EPERM: only dom0 may ask.
 */
int xen_own_vpmu(struct xen *x, uint64_t *mode, uint64_t *features);
#define XEN_PMU(x, op, arg) xen_pmu(x, op, arg, sizeof(*(arg)))

#endif
