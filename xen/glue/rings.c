/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pages of sample rings, and how a domain maps them. They belong to DOMID_XEN, as
 * Xen's trace buffers do: any control domain can map them, itself and the hypervisor
 * can be what is sampled, and a page which is still mapped somewhere is kept from the
 * heap by its reference count (xen/arch/arm/p2m.c: set_foreign_p2m_entry() takes one,
 * p2m_put_l3_page() drops it).
 */
#include <xen/event.h>
#include <xen/guest_access.h>
#include <xen/hypercall.h>
#include <xen/mm.h>
#include <xen/p2m-common.h>
#include <xen/sched.h>
#include <xen/vmap.h>
#include <xen/xmalloc.h>

#include "acquire.h"
#include "glue.h"
#include "sets.h"

/* The references that we hold ourselves: of the allocation, and one to drop it by. */
#define OUR_REFERENCES 2

static void page_free(struct page_info *page)
{
	put_page_alloc_ref(page);
	put_page(page);
}

static struct page_info *page_alloc(void)
{
	struct page_info *page = alloc_domheap_page(dom_xen, MEMF_no_refcount);

	/* nobody else knows of it: this does not fail */
	if (page && !get_page(page, dom_xen)) {
		ASSERT_UNREACHABLE();
		return NULL;
	}
	return page;
}

int vpmu_rings_alloc(struct vpmu_rings *r, unsigned int frames, unsigned int nrings)
{
	unsigned int n = frames * nrings, i = 0;

	if (n == 0)
		return 0;
	r->mfn = xmalloc_array(mfn_t, n);
	if (!r->mfn)
		return -ENOMEM;
	for (; i < n; i++) {
		struct page_info *page = page_alloc();

		if (!page)
			goto fail;
		r->mfn[i] = page_to_mfn(page);
	}
	r->base = vmap(r->mfn, n);
	if (!r->base)
		goto fail;
	memset(r->base, 0, (size_t)n << PAGE_SHIFT);
	r->frames = frames;
	r->nrings = nrings;
	return 0;
fail:
	while (i-- > 0)
		page_free(mfn_to_page(r->mfn[i]));
	XFREE(r->mfn);
	return -ENOMEM;
}

/*
 * Samples are not left to whom the heap gives the page next: Xen does not clear what it
 * takes back from a living domain, and DOMID_XEN lives.
 */
bool vpmu_rings_free(struct vpmu_rings *r)
{
	unsigned int n = r->frames * r->nrings, i;

	for (i = 0; i < n; i++) {
		const struct page_info *page = mfn_to_page(r->mfn[i]);

		if ((page->count_info & PGC_count_mask) != OUR_REFERENCES)
			return false;
	}
	if (n == 0)
		return true;
	memset(r->base, 0, (size_t)n << PAGE_SHIFT);
	vunmap(r->base);
	for (i = 0; i < n; i++)
		page_free(mfn_to_page(r->mfn[i]));
	xfree(r->mfn);
	return true;
}

static int map_frame(const xen_mem_acquire_resource_t *xmar, unsigned int i)
{
	struct page_info *page;
	xen_pfn_t gfn;
	int rc;

	if (copy_from_guest_offset(&gfn, xmar->frame_list, i, 1))
		return -EFAULT;
	page = vpmu_sets_page(xmar->id, xmar->frame + i);
	if (!page)
		return -EINVAL;
	rc = set_foreign_p2m_entry(current->domain, dom_xen, gfn, page_to_mfn(page));
	put_page(page);
	return rc;
}

static long frames_told(xen_mem_acquire_resource_t *xmar,
			XEN_GUEST_HANDLE_PARAM(xen_mem_acquire_resource_t) arg)
{
	if (xmar->nr_frames)
		return -EINVAL;
	xmar->nr_frames = vpmu_sets_frames(xmar->id);
	if (!xmar->nr_frames)
		return -EINVAL;
	return copy_field_to_guest(arg, xmar, nr_frames) ? -EFAULT : 0;
}

/*
 * XENMEM_acquire_resource as far as rings go; answers as the rest of it does, and is
 * continued from where it was preempted, as the rest of it is. What may be mapped was
 * settled when the set was opened: the handle is of use to its owner only.
 */
bool vpmu_hook_acquire(xen_mem_acquire_resource_t *xmar,
		       XEN_GUEST_HANDLE_PARAM(xen_mem_acquire_resource_t) arg,
		       unsigned long start, int *result)
{
	unsigned int i = start;
	long rc = 0;

	if (!vpmu_on || xmar->type != XENPMU_RESOURCE_RING)
		return false;
	if (xmar->domid != DOMID_XEN)
		rc = -ESRCH;
	else if (guest_handle_is_null(xmar->frame_list))
		rc = frames_told(xmar, arg);
	else if (start >= xmar->nr_frames ||
		 xmar->nr_frames > UINT_MAX >> MEMOP_EXTENT_SHIFT)
		rc = -EINVAL;
	else
		do {
			if (i != start && hypercall_preempt_check()) {
				rc = hypercall_create_continuation(
					__HYPERVISOR_memory_op, "lh",
					XENMEM_acquire_resource |
						((unsigned long)i << MEMOP_EXTENT_SHIFT),
					arg);
				break;
			}
			rc = map_frame(xmar, i);
			/* -EIO: some of them are mapped */
			if (rc && i)
				rc = -EIO;
		} while (!rc && ++i < xmar->nr_frames);
	*result = rc;
	return true;
}
