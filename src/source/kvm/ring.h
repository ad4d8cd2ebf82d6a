/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_KVM_RING_H
#define SOURCE_KVM_RING_H

/*
 * A perf ring, shown as it is: only record headers are looked at. Where the VM's
 * own view is wanted, records are copied once, into the stage, and the CPU mode is
 * changed there: until Linux 6.14 a write to the ring's own pages is a SIGBUS
 * (kernel/events/core.c, perf_mmap_fault). Layout and barriers:
 * perf_event_open(2), "MMAP layout".
 */

#include "source/source.h"

struct ring {
	struct perf_event_mmap_page *page; /* NULL: there is no ring */
	char *data;			   /* behind page */
	size_t size;			   /* of data, a power of two */
	uint64_t tail;			   /* first byte not yet released */
	uint64_t walked;		   /* records before it were looked at */
	uint64_t resume;		   /* not 0: bytes up to here make no sense */
	char *stage; /* as large as data: the VM's own view is made here; or NULL */
	/*
	 * A guest's CPU mode is told by its address, the second u64 of a sample: the upper
	 * half is the kernel's on x86-64 (Documentation/arch/x86/x86_64/mm.rst).
	 */
	bool by_address;
};

/* See source_ops.sampler_peek: may be called again before ring_release(). */
int ring_peek(struct ring *r, struct iovec spans[2], struct sampler_tally *tally);
void ring_release(struct ring *r);

#endif
