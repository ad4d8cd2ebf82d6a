/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sets.h"

#include <xen/cpu.h>
#include <xen/event.h>
#include <xen/smp.h>
#include <xen/xmalloc.h>

#include "glue.h"
#include "valid.h"

/* An open set, or a closed one whose rings are still mapped. */
struct open_set {
	struct vpmu_set set;
	struct vpmu_rings rings;
	struct domain *owner;  /* NULL: closed */
	struct domain *target; /* NULL: the hypervisor, or gone */
	domid_t domid;	       /* the target's */
	bool counting;	       /* known to the core */
	uint64_t mark;	       /* the owner's own */
};

static struct {
	struct open_set *set;
	uint32_t generation;
} slots[VPMU_SLOTS];

/* Half of the slots are out of reach for domains that may only count themselves. */
#define SLOTS_COUNT (VPMU_SLOTS / 2)

static DEFINE_SPINLOCK(sets_lock);

/*
 * No pCPU comes or goes while the lock is held, so that a plan which everyone was told
 * of is in use everywhere. Both are waited for with interrupts on.
 */
static bool sets_begin(void)
{
	if (!get_cpu_maps())
		return false;
	spin_lock(&sets_lock);
	return true;
}

static void sets_end(void)
{
	spin_unlock(&sets_lock);
	put_cpu_maps();
}

static struct vpmu_vm *vm_of(const struct domain *d)
{
	return d ? d->arch.vpmu : NULL;
}

static struct open_set *find(uint32_t handle)
{
	uint32_t slot = vpmu_handle_slot(handle);
	struct open_set *s;

	if (slot >= VPMU_SLOTS || !slots[slot].set)
		return NULL;
	s = slots[slot].set;
	if (handle != vpmu_handle(slot, slots[slot].generation) ||
	    s->owner != current->domain)
		return NULL;
	return s;
}

static void stop(struct open_set *s)
{
	if (!s->counting)
		return;
	vpmu_host_remove(&vpmu_machine, vm_of(s->target), &s->set);
	vpmu_refresh_everywhere();
	s->counting = false;
}

/* False: nobody may have it any more, but its rings are still mapped. */
static bool set_free(struct open_set *s)
{
	if (!vpmu_rings_free(&s->rings))
		return false;
	xfree(s->set.tally);
	xfree(s);
	return true;
}

static void close(unsigned int slot)
{
	struct open_set *s = slots[slot].set;

	stop(s);
	s->owner = NULL;
	if (set_free(s))
		slots[slot].set = NULL;
}

static int set_make(struct open_set **made, const struct domain *d,
		    const struct xenpmu_open *open, unsigned int *bad)
{
	unsigned int n = d ? d->max_vcpus : nr_cpu_ids;
	struct open_set *s;
	int rc;

	if (!vpmu_rings_fit(open->ring_frames, n))
		return -E2BIG;
	s = xzalloc(struct open_set);
	if (!s)
		return -ENOMEM;
	s->set.n = open->nevents;
	memcpy(s->set.event, open->event, sizeof(s->set.event));
	s->set.ntallies = n;
	s->set.cookie = s;
	s->mark = open->owner;
	rc = vpmu_set_check(&vpmu_machine, &s->set, !d, bad);
	if (rc)
		goto fail;
	rc = -ENOMEM;
	s->set.tally = xzalloc_array(struct vpmu_tally, n);
	if (!s->set.tally)
		goto fail;
	rc = vpmu_rings_alloc(&s->rings, open->ring_frames, n);
	for (unsigned int i = 0; !rc && s->rings.frames && i < n; i++) {
		size_t bytes = (size_t)s->rings.frames << PAGE_SHIFT;

		rc = vpmu_ring_init(&s->set.tally[i].ring, s->rings.base + i * bytes,
				    bytes);
	}
	if (rc)
		goto fail;
	*made = s;
	return 0;
fail:
	set_free(s);
	return rc;
}

/* A free slot, or -EMFILE. Closed sets go whose rings nobody maps any more. */
static int slot_take(enum vpmu_may may)
{
	unsigned int mine = 0, n = may == VPMU_MAY_ALL ? VPMU_SLOTS : SLOTS_COUNT;
	int taken = -EMFILE;

	for (unsigned int i = n; i-- > 0;) {
		struct open_set *s = slots[i].set;

		if (s && !s->owner && set_free(s))
			s = slots[i].set = NULL;
		if (!s)
			taken = i;
		else if (s->owner == current->domain)
			mine++;
	}
	return may == VPMU_MAY_COUNT && mine ? -EMFILE : taken;
}

static int set_start(struct open_set *s, struct domain *d, enum vpmu_may may)
{
	int slot, rc;

	/* from here on vpmu_hook_relinquish() finds the set */
	if (d && d->is_dying)
		return -ESRCH;
	slot = slot_take(may);
	if (slot < 0)
		return slot;
	s->owner = current->domain;
	s->target = d;
	s->domid = d ? d->domain_id : DOMID_XEN;
	rc = vpmu_host_add(&vpmu_machine, vm_of(d), &s->set);
	if (rc)
		return rc;
	s->counting = true;
	vpmu_refresh_everywhere();
	slots[slot].set = s;
	slots[slot].generation = vpmu_generation_next(slots[slot].generation);
	return slot;
}

int vpmu_sets_open(struct domain *d, struct xenpmu_open *open, enum vpmu_may may)
{
	unsigned int bad = open->nevents;
	struct open_set *s;
	int rc;

	open->bad = bad;
	rc = set_make(&s, d, open, &bad);
	if (rc) {
		open->bad = bad;
		return rc;
	}
	rc = -ERESTART;
	if (sets_begin()) {
		rc = set_start(s, d, may);
		if (rc >= 0) {
			open->handle = vpmu_handle(rc, slots[rc].generation);
			open->tallies = s->set.ntallies;
		}
		sets_end();
	}
	if (rc < 0)
		set_free(s);
	return rc < 0 ? rc : 0;
}

int vpmu_sets_close(uint32_t handle)
{
	int rc = -ENOENT;

	if (!sets_begin())
		return -ERESTART;
	if (find(handle)) {
		close(vpmu_handle_slot(handle));
		rc = 0;
	}
	sets_end();
	return rc;
}

struct reading {
	const struct vpmu_tally *tally;
	struct vpmu_count count[VPMU_SET_EVENTS];
	int rc;
};

/* On the pCPU that writes the tally, interrupts off: nothing changes meanwhile. */
static void fold_and_copy(void *data)
{
	struct vpmu_pcpu *p = &this_cpu(vpmu_pcpu);
	struct reading *r = data;

	if (p->m)
		vpmu_host_fold(p);
	r->rc = vpmu_tally_read(r->tally, r->count);
}

/* The pCPU that writes this tally; one that is not there if nobody does. */
static unsigned int writer_of(const struct open_set *s, uint32_t tally)
{
	const struct vcpu *v;

	if (!s->counting)
		return nr_cpu_ids;
	if (!s->target)
		return tally;
	v = s->target->vcpu[tally];
	return v && v->is_running ? v->processor : nr_cpu_ids;
}

/* A vCPU may begin to run, or to run elsewhere, just now: then it is asked there. */
#define COPY_TRIES 4

static int copy_tally(const struct open_set *s, uint32_t tally, struct reading *r)
{
	r->tally = &s->set.tally[tally];
	for (unsigned int i = 0; i < COPY_TRIES; i++) {
		unsigned int cpu = writer_of(s, tally);

		if (cpu < nr_cpu_ids && cpu_online(cpu))
			on_selected_cpus(cpumask_of(cpu), fold_and_copy, r, 1);
		else
			r->rc = vpmu_tally_read(r->tally, r->count);
		if (r->rc != -EAGAIN)
			break;
	}
	return r->rc;
}

static int read_tally(const struct open_set *s, struct xenpmu_read *read)
{
	struct reading r;
	int rc;

	if (read->tally >= s->set.ntallies)
		return -EINVAL;
	rc = copy_tally(s, read->tally, &r);
	if (rc)
		return rc;
	read->nevents = s->set.n;
	read->flags = s->counting ? 0 : XENPMU_READ_GONE;
	read->now_ns = vpmu_hw_now(&vpmu_hw);
	memset(read->count, 0, sizeof(read->count));
	for (unsigned int i = 0; i < s->set.n; i++) {
		read->count[i].value = r.count[i].offset.sum;
		read->count[i].enabled_ns = r.count[i].enabled_ns;
		read->count[i].running_ns = r.count[i].running_ns;
		read->count[i].taken = r.count[i].taken;
		read->count[i].lost = r.count[i].lost;
	}
	return 0;
}

int vpmu_sets_read(struct xenpmu_read *read)
{
	const struct open_set *s;
	int rc;

	if (!sets_begin())
		return -ERESTART;
	s = find(read->handle);
	rc = s ? read_tally(s, read) : -ENOENT;
	sets_end();
	return rc;
}

int vpmu_sets_next(struct xenpmu_next *next)
{
	unsigned int i = next->handle ? vpmu_handle_slot(next->handle) + 1 : 0;
	int rc = -ENOENT;

	spin_lock(&sets_lock);
	for (; rc && i < VPMU_SLOTS; i++) {
		const struct open_set *s = slots[i].set;

		if (!s || s->owner != current->domain)
			continue;
		next->handle = vpmu_handle(i, slots[i].generation);
		next->domid = s->domid;
		next->nevents = s->set.n;
		next->owner = s->mark;
		rc = 0;
	}
	spin_unlock(&sets_lock);
	return rc;
}

unsigned int vpmu_sets_on(const struct domain *d, const struct domain *owner)
{
	unsigned int n = 0;

	spin_lock(&sets_lock);
	for (unsigned int i = 0; i < VPMU_SLOTS; i++) {
		const struct open_set *s = slots[i].set;

		if (s && s->counting && s->target == d && (!owner || s->owner == owner))
			n++;
	}
	spin_unlock(&sets_lock);
	return n;
}

struct page_info *vpmu_sets_page(uint32_t handle, uint64_t frame)
{
	struct page_info *page = NULL;
	const struct open_set *s;

	spin_lock(&sets_lock);
	s = find(handle);
	if (s && frame < s->rings.frames * s->rings.nrings) {
		page = mfn_to_page(s->rings.mfn[frame]);
		if (!get_page(page, dom_xen))
			page = NULL;
	}
	spin_unlock(&sets_lock);
	return page;
}

unsigned int vpmu_sets_frames(uint32_t handle)
{
	const struct open_set *s;
	unsigned int n;

	spin_lock(&sets_lock);
	s = find(handle);
	n = s ? s->rings.frames * s->rings.nrings : 0;
	spin_unlock(&sets_lock);
	return n;
}

/*
 * Sets are taken from the core, and every pCPU told, before their owner's vCPUs go.
 * Event channels may be raised from interrupts: x86's vPMU raises this very one so.
 */
void vpmu_sets_wake(struct vpmu_set *set)
{
	const struct open_set *s = set->cookie;

	send_guest_vcpu_virq(s->owner->vcpu[0], VIRQ_XENPMU);
}

/*
 * A domain begins to be destroyed, its vCPUs stopped for good: what it opened is closed,
 * what is open on it stops. Sets cannot come later: set_start() sees is_dying.
 */
int vpmu_hook_relinquish(struct domain *d)
{
	if (!vpmu_on)
		return 0;
	if (!sets_begin())
		return -ERESTART;
	for (unsigned int i = 0; i < VPMU_SLOTS; i++) {
		struct open_set *s = slots[i].set;

		if (s && s->target == d) {
			stop(s);
			s->target = NULL;
		}
		if (s && s->owner == d)
			close(i);
	}
	sets_end();
	return 0;
}
