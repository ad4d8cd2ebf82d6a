/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_CORE_CAMPAIGN_STATE_H
#define TESTS_CORE_CAMPAIGN_STATE_H

/* The state of a running campaign, between campaign.c, campaign_host.c and _check.c. */

#include "tests/core/campaign.h"

enum {
	C_SETS = 2,    /* of each VM, and of the hypervisor */
	C_THREADS = 4, /* of each vCPU; 0 stands for all that is no thread's */
	C_TALLIES = CAMPAIGN_VCPUS > CAMPAIGN_PCPUS ? CAMPAIGN_VCPUS : CAMPAIGN_PCPUS,
	C_RING = 4096 + 16 * sizeof(struct vpmu_sample),
};

/* A set, and what its counts have to be. */
struct c_set {
	struct vpmu_set set;
	bool open;
	bool shares; /* its VM's events have, or had, more than one turn */
	struct vpmu_tally tally[C_TALLIES];
	uint64_t expected[C_TALLIES][VPMU_SET_EVENTS];
	uint64_t last[C_TALLIES][VPMU_SET_EVENTS]; /* as last seen */
	uint64_t received[C_TALLIES];
	uint64_t periods[C_TALLIES][VPMU_SET_EVENTS]; /* of the records received */
	void *ring[C_TALLIES];
	struct vpmu_reader reader[C_TALLIES];
};

struct c_vcpu {
	struct vpmu_vcpu v;
	struct hw *bare;
	int pcpu;     /* where it runs; -1: it does not */
	bool trapped; /* as the core wants it */
	bool told;    /* of its interrupt, since its line was last down */
	struct campaign_result *result;
	struct vpmu_where where;
	/* Threads, by the first event of the VM's first set. */
	struct vpmu_offset thread[C_THREADS];
	uint64_t thread_expected[C_THREADS];
	unsigned current;
	struct vpmu_page page;
};

struct c_vm {
	struct vpmu_vm vm;
	uint32_t serial;
	struct c_vcpu vcpu[CAMPAIGN_VCPUS];
	struct c_set set[C_SETS];
};

struct c_pcpu {
	struct vpmu_pcpu p;
	struct hw *hw;
	bool up;
	bool late; /* its interrupt is on the way, until a step says that it arrives */
	struct c_vcpu *runs;
};

struct campaign {
	const struct campaign_variant *variant;
	struct campaign_result *result;
	struct vpmu m;
	uint64_t clock;
	uint32_t serial;
	unsigned event; /* the next set's first one */
	struct c_pcpu pcpu[CAMPAIGN_PCPUS];
	struct c_vm vm[CAMPAIGN_VMS];
	struct c_set hyp[C_SETS];
};

void c_fail(struct campaign *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline struct c_vm *c_vm_of(struct c_vcpu *v)
{
	return v->v.vm->cookie;
}

/* The events of VM @serial, or of the hypervisor (0), have addresses from here. */
static inline uint64_t c_pc(uint32_t serial, unsigned vcpu)
{
	return (uint64_t)serial << 32 | (uint64_t)vcpu << 24;
}

/* campaign_host.c: the host's part, as a hypervisor has to play it */
void c_begin(struct campaign *c);
void c_end(struct campaign *c);
void c_switch(struct campaign *c, struct c_pcpu *p, struct c_vcpu *to, bool skip);
void c_plug(struct campaign *c, struct c_pcpu *p);
void c_reset_vcpu(struct campaign *c, struct c_vcpu *v);
void c_destroy(struct campaign *c, struct c_vm *vm);
/* @vm NULL: on the hypervisor. */
void c_open(struct campaign *c, struct c_vm *vm, struct c_set *s, uint64_t of);
void c_close(struct campaign *c, struct c_vm *vm, struct c_set *s);
void c_interrupt(struct campaign *c, struct c_pcpu *p, enum vpmu_mode mode);
void c_access(struct campaign *c, struct c_pcpu *p, const struct campaign_access *access);

/* campaign_check.c */
/* @n of event @event ran on @p in @mode: what the oracle makes of it. */
void c_expect(struct campaign *c, struct c_pcpu *p, unsigned event, enum vpmu_mode mode,
	      uint64_t n);
/* An access of @v's guest, on the core and on the bare machine, has to end alike. */
void c_compare(struct campaign *c, struct c_pcpu *p, const struct campaign_access *access);
void c_check_set(struct campaign *c, struct c_vm *vm, struct c_set *s);
/* @look: into the guests' registers too. */
void c_check(struct campaign *c, bool look);
void c_drain(struct campaign *c, struct c_vm *vm, struct c_set *s, uint64_t most);
void c_rubbish(struct c_set *s, uint64_t value);
void c_thread(struct campaign *c, struct c_pcpu *p, unsigned to);

#endif
