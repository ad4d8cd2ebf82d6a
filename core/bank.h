/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CORE_BANK_H
#define CORE_BANK_H

/*
 * Bank mode: the guest's counters in the hardware. A bank is held by a pCPU from the
 * first time it counts there until another vCPU needs the counters or the vCPU goes to
 * another pCPU; while held and its vCPU not running, its counters stand still in the
 * registers. It is live while held and running.
 */

#include <stdbool.h>
#include <stdint.h>

struct vpmu_pcpu;
struct vpmu_vcpu;

/* At a switch. Neither does anything for a bank that never counted. */
void vpmu_bank_out(struct vpmu_pcpu *p, struct vpmu_vcpu *v);
void vpmu_bank_in(struct vpmu_pcpu *p, struct vpmu_vcpu *v);
/* Takes the registers of the bank that @p holds back into memory; @p holds none then. */
void vpmu_bank_evict(struct vpmu_pcpu *p);

/*
 * For the families' guest_read() and guest_write(), @v running: a counter's value now,
 * and changes that take effect at once in the hardware where the bank is live.
 */
uint64_t vpmu_bank_count(struct vpmu_vcpu *v, unsigned counter);
void vpmu_bank_set_count(struct vpmu_vcpu *v, unsigned counter, uint64_t value);
void vpmu_bank_set_select(struct vpmu_vcpu *v, unsigned counter, uint64_t select);
/* After a change of bank->enable, irq, or ctl: starts and stops what it asks for. */
void vpmu_bank_apply(struct vpmu_vcpu *v);
/* Overflow bits as of now; clearing and setting them. */
uint64_t vpmu_bank_overflow(struct vpmu_vcpu *v);
void vpmu_bank_overflow_change(struct vpmu_vcpu *v, uint64_t set, uint64_t clear);
/* Raises the guest's interrupt if its line is up and was not told yet. */
void vpmu_bank_line(struct vpmu_vcpu *v);
/*
 * The physical interrupt, the guest's part: @overflowed counters of the bank that is
 * live on @p are taken over into its status, and its line is told.
 */
void vpmu_bank_interrupt(struct vpmu_pcpu *p, uint64_t overflowed);

/* ---- for core/ itself */

/* @v, which runs on @p, holds the counters of @p from here on; nothing is loaded yet. */
void vpmu_bank_acquire(struct vpmu_pcpu *p, struct vpmu_vcpu *v);
/* @bits have overflowed in the hardware: they are taken over, and cleared there. */
void vpmu_bank_take(struct vpmu_pcpu *p, struct vpmu_vcpu *v, uint64_t bits);

/*
 * Direct access (core/direct.c), where vpmu_config says so and the family can. While it
 * holds its counters, a vCPU has all of its PMU in the registers and does not trap,
 * unless an interrupt waits in bank->overflow: that is not put back into the hardware,
 * or the line to the pCPU would stay up, but shown to the guest by traps until it has
 * cleared it.
 */
bool vpmu_direct(const struct vpmu_pcpu *p);
void vpmu_direct_out(struct vpmu_pcpu *p, struct vpmu_vcpu *v);
void vpmu_direct_in(struct vpmu_pcpu *p, struct vpmu_vcpu *v);
/* Before it is evicted: all into memory, traps on. It may be running. */
void vpmu_direct_save(struct vpmu_pcpu *p, struct vpmu_vcpu *v);
/* Around a trapped access of @v to @reg: memory is right between them. */
void vpmu_direct_begin(struct vpmu_pcpu *p, struct vpmu_vcpu *v, uint32_t reg, bool user);
void vpmu_direct_end(struct vpmu_pcpu *p, struct vpmu_vcpu *v);
/* The overflows that @v, which holds the counters of @p, is to be told of. */
void vpmu_direct_interrupt(struct vpmu_pcpu *p, struct vpmu_vcpu *v, uint64_t bits);

#endif
