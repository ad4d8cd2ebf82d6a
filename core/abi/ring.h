/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CORE_ABI_RING_H
#define CORE_ABI_RING_H

/*
 * A ring of samples as producer (hypervisor) and consumer (host's user space) share
 * it: one header page, then a power of two of records. Single producer, single
 * consumer. The producer publishes @head after the records; the consumer gives back
 * by @tail. The producer keeps its own state elsewhere and believes nothing here:
 * a @tail that makes no sense only costs the consumer its samples.
 */

#include <stdint.h>

#define VPMU_RING_MAGIC 0x676e69726d706d76ULL /* "vmpmring", little-endian */
#define VPMU_RING_VERSION 1
#define VPMU_RING_PAGE 4096

/* Who was interrupted. */
enum vpmu_mode {
	VPMU_MODE_USER = 1,
	VPMU_MODE_KERNEL = 2,
	VPMU_MODE_HYP = 3,
};

struct vpmu_sample {
	uint16_t size;	/* of this record: sizeof(struct vpmu_sample) in version 1 */
	uint8_t mode;	/* enum vpmu_mode */
	uint8_t event;	/* index into the set */
	uint32_t pcpu;	/* where it ran */
	uint32_t vcpu;	/* index within its VM; of the target "xen": the pCPU */
	uint32_t flags; /* VPMU_SAMPLE_… */
	uint64_t time;	/* ns, the hypervisor's clock */
	uint64_t pc;
	uint64_t period; /* events that it stands for */
};
#define VPMU_SAMPLE_LATE                                                                   \
	1u /* noticed behind the event: at a switch, and pc is where the vCPU left off;    \
	    * of the target "xen", in a guest, and pc is the hypervisor's way out */

struct vpmu_ring_page {
	uint64_t magic;
	uint32_t version;
	uint32_t record_size;
	uint32_t records; /* a power of two */
	uint32_t zero;
	uint64_t zeros[5];
	/* written by the producer, on a cache line of its own */
	uint64_t head;	/* records ever published; a record lies at head % records */
	uint64_t taken; /* samples ever taken: published + lost */
	uint64_t lost;	/* those that found the ring full */
	uint64_t line[5];
	/* written by the consumer */
	uint64_t tail; /* records ever consumed */
};

#endif
