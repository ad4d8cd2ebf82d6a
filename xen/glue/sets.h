/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VPMU_SETS_H
#define VPMU_SETS_H

/*
 * The event sets that domains have opened on domains: who owns them, on whom they are,
 * and their sample rings. One lock serialises all of it; none of it is called from
 * interrupts but vpmu_sets_wake(). A set's domain may be destroyed before the set is
 * closed: it then stays readable. -ERESTART (85): a pCPU is just coming or going, to be
 * called again.
 */

#include <xen/mm.h>
#include <xen/sched.h>

#include "core/abi/xenpmu.h"
#include "core/host.h"

/* ---- sample rings */

/* The rings of a set: so many frames each, in pages of DOMID_XEN, mapped side by side. */
struct vpmu_rings {
	unsigned int frames, nrings;
	mfn_t *mfn; /* frames * nrings of them */
	void *base;
};

/* Zeroed pages. 0 or -ENOMEM, nothing kept. None at all where @frames is 0. */
int vpmu_rings_alloc(struct vpmu_rings *r, unsigned int frames, unsigned int nrings);
/* Zeroes and frees them; false: a domain still maps some, to be called again later. */
bool vpmu_rings_free(struct vpmu_rings *r);

/* ---- sets */

/* What the caller may do to the domain that its set is on. */
enum vpmu_may {
	VPMU_MAY_COUNT, /* one set, on itself, no samples: it is not privileged */
	VPMU_MAY_ALL,
};

/*
 * Opens a set on @d (NULL: on the hypervisor) for the current domain. @open is valid
 * (valid.h); its out fields are filled in, bad also where it fails.
 */
int vpmu_sets_open(struct domain *d, struct xenpmu_open *open, enum vpmu_may may);
/* @read, @next: valid, and their out fields filled in. -ENOENT: not one of the caller's. */
int vpmu_sets_read(struct xenpmu_read *read);
int vpmu_sets_next(struct xenpmu_next *next);
int vpmu_sets_close(uint32_t handle);
/* How many are open on @d (NULL: on the hypervisor); @owner not NULL: of that domain. */
unsigned int vpmu_sets_on(const struct domain *d, const struct domain *owner);
/*
 * The page at @frame of the rings of the current domain's set @handle, with a reference;
 * NULL: no such set, or frame.
 */
struct page_info *vpmu_sets_page(uint32_t handle, uint64_t frame);
/* How many frames all rings of that set have; 0: no such set. */
unsigned int vpmu_sets_frames(uint32_t handle);
/* The core's upcall: VIRQ_XENPMU to vCPU 0 of the domain that opened the set. */
void vpmu_sets_wake(struct vpmu_set *set);

#endif
