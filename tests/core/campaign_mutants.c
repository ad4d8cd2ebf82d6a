/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/core/campaign_mutants.h"
#include "core/offset.h"
#include "core/pmu/armv8_regs.h"
#include "tests/core/campaign_families.h"

static const struct vpmu_family *real; /* of the mutant in use */

/* ---- in a descriptor */

static void clear_nothing(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
			  uint64_t mask)
{
	(void)hw;
	(void)caps;
	(void)mask;
}

static void drop_clear(struct vpmu_family *f)
{
	f->clear = clear_nothing;
}

static unsigned narrow_width(const struct vpmu_caps *caps, unsigned counter)
{
	return real->width(caps, counter) - 1;
}

static void narrow(struct vpmu_family *f)
{
	f->width = narrow_width;
}

static unsigned wide_width(const struct vpmu_caps *caps, unsigned counter)
{
	return real->width(caps, counter) + 1;
}

static void widen(struct vpmu_family *f)
{
	f->width = wide_width;
}

static void stop_nothing(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
			 uint64_t mask, const uint64_t *select)
{
	(void)hw;
	(void)caps;
	(void)mask;
	(void)select;
}

static void forget_stop(struct vpmu_family *f)
{
	f->stop = stop_nothing;
}

static void write_one_more(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
			   unsigned counter, uint64_t value)
{
	real->write(hw, caps, counter,
		    (value + 1) & vpmu_width_mask(real->width(caps, counter)));
}

static void write_wrong(struct vpmu_family *f)
{
	f->write = write_one_more;
}

static void irq_on_only(const struct vpmu_hw *hw, uint64_t on, uint64_t off)
{
	(void)off;
	real->irq(hw, on, 0);
}

static void leave_irqs_on(struct vpmu_family *f)
{
	f->irq = irq_on_only;
}

static uint64_t without_filter(const struct vpmu_caps *caps, const struct vpmu_bank *bank,
			       unsigned counter)
{
	return real->guest_select(caps, bank, counter) & ~(ARMV8_TYPE_P | ARMV8_TYPE_U);
}

static void drop_filter(struct vpmu_family *f)
{
	f->guest_select = without_filter;
}

static bool line_always_enabled(const struct vpmu_caps *caps, const struct vpmu_bank *bank)
{
	(void)caps;
	return bank->overflow;
}

static void ignore_irq_enable(struct vpmu_family *f)
{
	f->guest_line = line_always_enabled;
}

static uint64_t overflowed_but_one(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
				   uint64_t mask)
{
	uint64_t found = real->overflowed(hw, caps, mask);

	return found & (found - 1);
}

static void miss_overflow(struct vpmu_family *f)
{
	f->overflowed = overflowed_but_one;
}

static void reset_nothing(const struct vpmu_caps *caps, struct vpmu_bank *bank)
{
	(void)caps;
	(void)bank;
}

static void forget_reset(struct vpmu_family *f)
{
	f->guest_reset = reset_nothing;
}

static bool blind;

static uint64_t overflowed_unless_blind(const struct vpmu_hw *hw,
					const struct vpmu_caps *caps, uint64_t mask)
{
	return blind ? 0 : real->overflowed(hw, caps, mask);
}

static void may_be_blind(struct vpmu_family *f)
{
	f->overflowed = overflowed_unless_blind;
}

/* ---- by the linker */

static bool evict_skipped, host_out_skipped, bank_out_skipped, to_the_next;

void __real_vpmu_bank_evict(struct vpmu_pcpu *p);
void __wrap_vpmu_bank_evict(struct vpmu_pcpu *p);
void __wrap_vpmu_bank_evict(struct vpmu_pcpu *p)
{
	if (!evict_skipped) {
		__real_vpmu_bank_evict(p);
		return;
	}
	/* Whose registers they are is forgotten, and with it what was in them. */
	if (p->holds)
		p->holds->held = NULL;
	p->holds = NULL;
}

void __real_vpmu_host_out(struct vpmu_pcpu *p, struct vpmu_vcpu *v,
			  const struct vpmu_where *w);
void __wrap_vpmu_host_out(struct vpmu_pcpu *p, struct vpmu_vcpu *v,
			  const struct vpmu_where *w);
void __wrap_vpmu_host_out(struct vpmu_pcpu *p, struct vpmu_vcpu *v,
			  const struct vpmu_where *w)
{
	if (host_out_skipped)
		p->plan = NULL;
	else
		__real_vpmu_host_out(p, v, w);
}

void __real_vpmu_bank_out(struct vpmu_pcpu *p, struct vpmu_vcpu *v);
void __wrap_vpmu_bank_out(struct vpmu_pcpu *p, struct vpmu_vcpu *v);
void __wrap_vpmu_bank_out(struct vpmu_pcpu *p, struct vpmu_vcpu *v)
{
	blind = to_the_next;
	if (!bank_out_skipped)
		__real_vpmu_bank_out(p, v);
	blind = false;
}

/* A late overflow is that of the bank in the registers, whoever runs by now. */
void __real_vpmu_bank_interrupt(struct vpmu_pcpu *p, uint64_t overflowed);
void __wrap_vpmu_bank_interrupt(struct vpmu_pcpu *p, uint64_t overflowed);
void __wrap_vpmu_bank_interrupt(struct vpmu_pcpu *p, uint64_t overflowed)
{
	struct vpmu_vcpu *holds = p->holds;

	if (to_the_next && p->runs && p->runs->vm->guest_pmu)
		p->holds = p->runs;
	__real_vpmu_bank_interrupt(p, overflowed);
	p->holds = holds;
}

const struct campaign_mutant campaign_mutants[] = {
	{ "the clearing of overflows is dropped", campaign_armv8, drop_clear, NULL },
	{ "the clearing of overflows is dropped", campaign_intel, drop_clear, NULL },
	{ "widths are one bit too narrow", campaign_armv8, narrow, NULL },
	{ "widths are one bit too narrow", campaign_amd, narrow, NULL },
	{ "widths are one bit too wide", campaign_intel, widen, NULL },
	{ "stopping is forgotten", campaign_armv8, forget_stop, NULL },
	{ "stopping is forgotten", campaign_intel, forget_stop, NULL },
	{ "stopping is forgotten", campaign_amd, forget_stop, NULL },
	{ "what is restored is one too high", campaign_armv8, write_wrong, NULL },
	{ "interrupts are never turned off", campaign_armv8, leave_irqs_on, NULL },
	{ "a guest's filter is dropped", campaign_armv8, drop_filter, NULL },
	{ "a guest's interrupt needs no enabling", campaign_armv8, ignore_irq_enable,
	  NULL },
	{ "one of several overflows is missed", campaign_amd, miss_overflow, NULL },
	{ "a new VM finds the old one's registers", campaign_armv8, forget_reset, NULL },
	{ "a bank is not saved when it moves", campaign_armv8, NULL, &evict_skipped },
	{ "a bank is not saved when it moves", campaign_amd, NULL, &evict_skipped },
	{ "what a VM counted last is not folded", campaign_intel, NULL, &host_out_skipped },
	{ "a bank counts on while others run", campaign_armv8, NULL, &bank_out_skipped },
	{ "a late interrupt is the next vCPU's", campaign_armv8, may_be_blind,
	  &to_the_next },
	{ NULL, NULL, NULL, NULL },
};

const struct campaign_variant *campaign_plant(const struct campaign_mutant *m,
					      const struct campaign_variant *base)
{
	static struct campaign_variant mutated;
	static struct vpmu_family family;

	for (const struct campaign_mutant *i = campaign_mutants; i->name; i++)
		if (i->flag)
			*i->flag = i == m;
	/* two rows may share a flag */
	if (m && m->flag)
		*m->flag = true;
	if (!m || !m->plant)
		return base;
	real = base->family;
	family = *real;
	m->plant(&family);
	mutated = *base;
	mutated.family = &family;
	return &mutated;
}
