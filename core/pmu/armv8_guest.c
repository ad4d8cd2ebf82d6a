/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PMUv3 as a guest sees it while its accesses trap: Arm ARM DDI 0487, D17.5. It has the
 * counters below HPMN and the cycle counter. Where the manual leaves a choice
 * (CONSTRAINED UNPREDICTABLE: a counter that is not there, PMXEVCNTR with the cycle
 * counter selected) registers read as zero and ignore writes.
 */
#include "core/bank.h"
#include "core/pmu/armv8.h"
#include "core/vpmu.h"

/* Who may come to a register by what; PMUSERENR allows it to EL0. */
enum need {
	NEED_EN,     /* nothing less than PMUSERENR.EN */
	NEED_SW,     /* or SW */
	NEED_CR,     /* or CR, where it reads */
	NEED_ER,     /* or ER, where it reads */
	NEED_ER_TOO, /* or ER, writes too: PMSELR */
};

static bool user_may(const struct vpmu_vcpu *v, enum need need, bool write)
{
	static const uint64_t other[] = {
		[NEED_SW] = ARMV8_PMUSERENR_SW,
		[NEED_CR] = ARMV8_PMUSERENR_CR,
		[NEED_ER] = ARMV8_PMUSERENR_ER,
		[NEED_ER_TOO] = ARMV8_PMUSERENR_ER,
	};
	uint64_t allowed = v->bank.ctl[ARMV8_CTL_PMUSERENR];

	if (allowed & ARMV8_PMUSERENR_EN)
		return true;
	if (write && need != NEED_SW && need != NEED_ER_TOO)
		return false;
	return allowed & other[need];
}

/* A register: what it is, and which counter, where it is one of many. */
enum what {
	COUNT,	 /* PMEVCNTR<n>, PMXEVCNTR, PMCCNTR */
	FILTER,	 /* PMEVTYPER<n>, PMXEVTYPER, PMCCFILTR */
	NOTHING, /* of a counter that is not there */
	OTHER,
};

struct place {
	enum what what;
	unsigned counter;
	enum need need;
};

static bool programmable(const struct vpmu_vcpu *v, unsigned counter)
{
	return counter < armv8_guest_counters(&v->vm->m->caps);
}

static struct place find(const struct vpmu_vcpu *v, uint32_t reg)
{
	unsigned n = (unsigned)v->bank.ctl[ARMV8_CTL_PMSELR];
	struct place place = { .what = OTHER, .counter = n, .need = NEED_EN };

	if (reg >= ARMV8_PMEVCNTR(0) && reg <= ARMV8_PMCCFILTR) {
		place.counter = (reg - ARMV8_PMEVCNTR(0)) % 32;
		place.what = reg < ARMV8_PMEVTYPER(0) ? COUNT : FILTER;
		/* There is no PMEVCNTR31. */
		if (place.what == COUNT && place.counter == ARMV8_CYCLES)
			place.what = OTHER;
	} else if (reg == ARMV8_PMXEVCNTR) {
		place.what = n == ARMV8_CYCLES ? NOTHING : COUNT;
	} else if (reg == ARMV8_PMXEVTYPER) {
		place.what = FILTER;
	} else if (reg == ARMV8_PMCCNTR) {
		return (struct place) { COUNT, ARMV8_CYCLES, NEED_CR };
	}
	if (place.what == COUNT || place.what == NOTHING)
		place.need = NEED_ER;
	if (place.what != OTHER && place.counter != ARMV8_CYCLES &&
	    !programmable(v, place.counter))
		place.what = NOTHING;
	return place;
}

/* ---- what the descriptor asks */

void armv8_guest_reset(const struct vpmu_caps *caps, struct vpmu_bank *bank)
{
	(void)caps;
	/* UNKNOWN on hardware, but for E, PMUSERENR and PMCCFILTR; zero tells nothing. */
	*bank = (struct vpmu_bank) { .enable = 0 };
}

uint64_t armv8_guest_active(const struct vpmu_caps *caps, const struct vpmu_bank *bank)
{
	(void)caps;
	return bank->ctl[ARMV8_CTL_PMCR] & ARMV8_PMCR_E ? bank->enable : 0;
}

uint64_t armv8_guest_select(const struct vpmu_caps *caps, const struct vpmu_bank *bank,
			    unsigned counter)
{
	(void)caps;
	return armv8_shut_in(bank->select[counter]) |
	       (bank->select[counter] & ARMV8_TYPE_EVENT);
}

uint64_t armv8_guest_control(const struct vpmu_bank *bank)
{
	return ARMV8_PMCR_TRAPPED |
	       (bank->ctl[ARMV8_CTL_PMCR] & (ARMV8_PMCR_D | ARMV8_PMCR_LC | ARMV8_PMCR_LP));
}

bool armv8_guest_line(const struct vpmu_caps *caps, const struct vpmu_bank *bank)
{
	(void)caps;
	return (bank->ctl[ARMV8_CTL_PMCR] & ARMV8_PMCR_E) && bank->overflow & bank->irq;
}

/* ---- reads */

static uint64_t read_pmcr(const struct vpmu_vcpu *v)
{
	const struct vpmu_caps *caps = &v->vm->m->caps;

	return v->bank.ctl[ARMV8_CTL_PMCR] | caps->id[ARMV8_ID_PMCR] |
	       (uint64_t)armv8_guest_counters(caps) << ARMV8_PMCR_N_SHIFT;
}

static enum vpmu_access read_other(struct vpmu_vcpu *v, uint32_t reg, enum need *need,
				   uint64_t *value)
{
	const struct vpmu_caps *caps = &v->vm->m->caps;
	const struct vpmu_bank *bank = &v->bank;

	switch (reg) {
	case ARMV8_PMCR: *value = read_pmcr(v); break;
	case ARMV8_PMCNTENSET:
	case ARMV8_PMCNTENCLR: *value = bank->enable; break;
	case ARMV8_PMINTENSET:
	case ARMV8_PMINTENCLR: *value = bank->irq; break;
	case ARMV8_PMOVSSET:
	case ARMV8_PMOVSCLR: *value = vpmu_bank_overflow(v); break;
	case ARMV8_PMSELR:
		*need = NEED_ER_TOO;
		*value = bank->ctl[ARMV8_CTL_PMSELR];
		break;
	case ARMV8_PMUSERENR: *value = bank->ctl[ARMV8_CTL_PMUSERENR]; break;
	case ARMV8_PMCEID0: *value = caps->id[ARMV8_ID_EVENTS0]; break;
	case ARMV8_PMCEID1: *value = caps->id[ARMV8_ID_EVENTS1]; break;
	case ARMV8_PMMIR:
		if (caps->version < ARMV8_PMUVER_V3P4)
			return VPMU_UNDEFINED;
		*value = caps->id[ARMV8_ID_PMMIR];
		break;
	case ARMV8_PMSWINC: return VPMU_UNDEFINED;
	default: return VPMU_FOREIGN;
	}
	return VPMU_DONE;
}

/* PM…_EL1 have op1 0: not there for EL0 at all. */
static bool of_el1(uint32_t reg)
{
	return reg == ARMV8_PMINTENSET || reg == ARMV8_PMINTENCLR || reg == ARMV8_PMMIR;
}

enum vpmu_access armv8_guest_read(struct vpmu_vcpu *v, uint32_t reg, bool user,
				  uint64_t *value)
{
	struct place place = find(v, reg);
	enum vpmu_access access = VPMU_DONE;
	uint64_t got = 0;

	if (place.what == OTHER)
		access = read_other(v, reg, &place.need, &got);
	if (access != VPMU_DONE)
		return access;
	if (user && of_el1(reg))
		return VPMU_UNDEFINED;
	if (user && reg != ARMV8_PMUSERENR && !user_may(v, place.need, false))
		return VPMU_TRAPPED;
	if (place.what == COUNT)
		got = vpmu_bank_count(v, place.counter);
	else if (place.what == FILTER)
		got = v->bank.select[place.counter];
	*value = got;
	return VPMU_DONE;
}

/* ---- writes */

static void write_pmcr(struct vpmu_vcpu *v, uint64_t value)
{
	uint64_t kept =
		ARMV8_PMCR_E | ARMV8_PMCR_D | ARMV8_PMCR_X | ARMV8_PMCR_DP | ARMV8_PMCR_LC;

	if (v->vm->m->caps.version >= ARMV8_PMUVER_V3P5)
		kept |= ARMV8_PMCR_LP;
	v->bank.ctl[ARMV8_CTL_PMCR] = value & kept;
	if (value & ARMV8_PMCR_P)
		for (unsigned c = 0; programmable(v, c); c++)
			vpmu_bank_set_count(v, c, 0);
	if (value & ARMV8_PMCR_C)
		vpmu_bank_set_count(v, ARMV8_CYCLES, 0);
	vpmu_bank_apply(v);
}

static void write_count(struct vpmu_vcpu *v, unsigned counter, uint64_t value)
{
	if (counter != ARMV8_CYCLES && v->vm->m->caps.width == 32)
		value = (uint32_t)value;
	vpmu_bank_set_count(v, counter, value);
}

static void write_filter(struct vpmu_vcpu *v, unsigned counter, uint64_t value)
{
	uint64_t kept = ARMV8_TYPE_P | ARMV8_TYPE_U | ARMV8_TYPE_NSK | ARMV8_TYPE_NSU |
			ARMV8_TYPE_NSH | ARMV8_TYPE_M;

	if (counter != ARMV8_CYCLES)
		kept |= armv8_type_event(&v->vm->m->caps);
	vpmu_bank_set_select(v, counter, value & kept);
}

static bool counts_here(uint64_t filter, bool user)
{
	if (user)
		return !(filter & ARMV8_TYPE_U) == !(filter & ARMV8_TYPE_NSU);
	return !(filter & ARMV8_TYPE_P) == !(filter & ARMV8_TYPE_NSK);
}

/* Adds one as an event does: where it overflows, a chained counter beside it counts. */
static void increment(struct vpmu_vcpu *v, unsigned counter)
{
	bool wide = v->bank.ctl[ARMV8_CTL_PMCR] & ARMV8_PMCR_LP;
	uint64_t value = vpmu_bank_count(v, counter) + 1;

	write_count(v, counter, value);
	if (wide ? value : (uint32_t)value)
		return;
	vpmu_bank_overflow_change(v, 1ULL << counter, 0);
	counter++;
	if (counter % 2 && !wide && programmable(v, counter) &&
	    (v->bank.select[counter] & ARMV8_TYPE_EVENT) == ARMV8_EVENT_CHAIN &&
	    v->bank.enable >> counter & 1)
		increment(v, counter);
}

/* PMSWINC counts where EL2 may not execute it for its guest: NSH is off. */
static void write_swinc(struct vpmu_vcpu *v, uint64_t value, bool user)
{
	uint64_t which = armv8_guest_active(&v->vm->m->caps, &v->bank) & value;

	for (unsigned c = 0; programmable(v, c); c++)
		if (which >> c & 1 &&
		    (v->bank.select[c] & ARMV8_TYPE_EVENT) == ARMV8_EVENT_SW_INCR &&
		    counts_here(v->bank.select[c], user))
			increment(v, c);
}

/* Who may; FOREIGN: no register of ours. */
static enum vpmu_access may_write_other(uint32_t reg, enum need *need)
{
	switch (reg) {
	case ARMV8_PMSWINC: *need = NEED_SW; return VPMU_DONE;
	case ARMV8_PMSELR: *need = NEED_ER_TOO; return VPMU_DONE;
	case ARMV8_PMCR:
	case ARMV8_PMCNTENSET:
	case ARMV8_PMCNTENCLR:
	case ARMV8_PMINTENSET:
	case ARMV8_PMINTENCLR:
	case ARMV8_PMOVSSET:
	case ARMV8_PMOVSCLR:
	case ARMV8_PMUSERENR: return VPMU_DONE;
	case ARMV8_PMCEID0:
	case ARMV8_PMCEID1:
	case ARMV8_PMMIR: return VPMU_UNDEFINED;
	default: return VPMU_FOREIGN;
	}
}

static void write_other(struct vpmu_vcpu *v, uint32_t reg, uint64_t value, bool user)
{
	struct vpmu_bank *bank = &v->bank;
	uint64_t mask = value & v->vm->m->caps.guest;

	switch (reg) {
	case ARMV8_PMCR: write_pmcr(v, value); break;
	case ARMV8_PMSWINC: write_swinc(v, value, user); break;
	case ARMV8_PMOVSSET: vpmu_bank_overflow_change(v, mask, 0); break;
	case ARMV8_PMOVSCLR: vpmu_bank_overflow_change(v, 0, mask); break;
	case ARMV8_PMSELR: bank->ctl[ARMV8_CTL_PMSELR] = value & ARMV8_PMSELR_SEL; break;
	case ARMV8_PMUSERENR:
		bank->ctl[ARMV8_CTL_PMUSERENR] = value & ARMV8_PMUSERENR_ALL;
		break;
	case ARMV8_PMCNTENSET:
		bank->enable |= mask;
		vpmu_bank_apply(v);
		break;
	case ARMV8_PMCNTENCLR:
		bank->enable &= ~mask;
		vpmu_bank_apply(v);
		break;
	case ARMV8_PMINTENSET:
		bank->irq |= mask;
		vpmu_bank_apply(v);
		break;
	case ARMV8_PMINTENCLR:
		bank->irq &= ~mask;
		vpmu_bank_apply(v);
		break;
	}
}

enum vpmu_access armv8_guest_write(struct vpmu_vcpu *v, uint32_t reg, bool user,
				   uint64_t value)
{
	struct place place = find(v, reg);
	enum vpmu_access access = VPMU_DONE;

	if (place.what == OTHER)
		access = may_write_other(reg, &place.need);
	if (access != VPMU_DONE)
		return access;
	if (user && (of_el1(reg) || reg == ARMV8_PMUSERENR))
		return VPMU_UNDEFINED;
	if (user && !user_may(v, place.need, true))
		return VPMU_TRAPPED;
	if (place.what == COUNT)
		write_count(v, place.counter, value);
	else if (place.what == FILTER)
		write_filter(v, place.counter, value);
	else if (place.what == OTHER)
		write_other(v, reg, value, user);
	return VPMU_DONE;
}
