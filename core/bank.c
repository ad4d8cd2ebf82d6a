/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/bank.h"
#include "core/vpmu.h"

static uint64_t guests(const struct vpmu_pcpu *p)
{
	return p->m->caps.guest;
}

/* The pCPU whose registers are the bank's, where it runs there too. */
static struct vpmu_pcpu *live(const struct vpmu_vcpu *v)
{
	return v->held && v->held == v->on ? v->held : NULL;
}

static uint64_t active(const struct vpmu_vcpu *v)
{
	const struct vpmu *m = v->vm->m;

	return m->family->guest_active(&m->caps, &v->bank);
}

/* ---- overflow */

static uint64_t overflowed(struct vpmu_pcpu *p, uint64_t mask)
{
	if (p->m->caps.topbit)
		mask &= p->armed;
	return mask ? p->m->family->overflowed(&p->hw, &p->m->caps, mask) : 0;
}

void vpmu_bank_take(struct vpmu_pcpu *p, struct vpmu_vcpu *v, uint64_t bits)
{
	if (!bits)
		return;
	v->bank.overflow |= bits;
	v->bank.quiet &= ~bits;
	p->m->family->clear(&p->hw, &p->m->caps, bits);
	p->armed &= ~bits;
	/* The bits must not be seen again by a read that follows. */
	vpmu_hw_sync(&p->hw);
}

static bool line(const struct vpmu_vcpu *v)
{
	const struct vpmu *m = v->vm->m;

	/* In direct mode only what an interrupt is due for is in memory at all. */
	return v->direct ? v->bank.overflow : m->family->guest_line(&m->caps, &v->bank);
}

bool vpmu_line(const struct vpmu_vcpu *v)
{
	return line(v);
}

void vpmu_bank_line(struct vpmu_vcpu *v)
{
	bool up = line(v);

	if (up && !v->line)
		v->vm->m->upcalls->raise(v);
	v->line = up;
}

uint64_t vpmu_bank_overflow(struct vpmu_vcpu *v)
{
	struct vpmu_pcpu *p = live(v);

	if (p && v->direct)
		return v->bank.overflow | overflowed(p, guests(p));
	if (p) {
		/* The interrupt that was on its way will find nothing. */
		vpmu_bank_take(p, v, overflowed(p, v->loaded));
		vpmu_bank_line(v);
	}
	return v->bank.overflow;
}

void vpmu_bank_overflow_change(struct vpmu_vcpu *v, uint64_t set, uint64_t clear)
{
	struct vpmu_pcpu *p = live(v);

	if (p && v->direct)
		p->m->family->clear(&p->hw, &p->m->caps, clear);
	else if (p)
		vpmu_bank_take(p, v, overflowed(p, v->loaded));
	v->bank.overflow = (v->bank.overflow & ~clear) | set;
	vpmu_bank_line(v);
}

void vpmu_bank_interrupt(struct vpmu_pcpu *p, uint64_t bits)
{
	struct vpmu_vcpu *v = p->holds;

	if (!v) {
		p->m->family->clear(&p->hw, &p->m->caps, bits);
		return;
	}
	if (v->direct) {
		vpmu_direct_interrupt(p, v, bits);
		return;
	}
	vpmu_bank_take(p, v, bits);
	vpmu_bank_line(v);
}

/* ---- registers */

static void stop(struct vpmu_pcpu *p, uint64_t counters)
{
	if (!counters)
		return;
	p->m->family->stop(&p->hw, &p->m->caps, counters, p->select);
	p->counting &= ~counters;
}

static void start(struct vpmu_pcpu *p, uint64_t counters)
{
	if (!counters)
		return;
	p->m->family->start(&p->hw, &p->m->caps, counters, p->select);
	p->counting |= counters;
}

static void write_count(struct vpmu_pcpu *p, unsigned counter, uint64_t value)
{
	const struct vpmu_family *family = p->m->family;
	uint64_t bit = 1ULL << counter;

	family->write(&p->hw, &p->m->caps, counter, value);
	if (!p->m->caps.topbit)
		return;
	if (value >> (family->width(&p->m->caps, counter) - 1) & 1)
		p->armed |= bit;
	else
		p->armed &= ~bit;
}

/* The counter is stopped. */
static void aim(struct vpmu_pcpu *p, const struct vpmu_vcpu *v, unsigned counter)
{
	const struct vpmu_family *family = p->m->family;
	uint64_t select = family->guest_select(&p->m->caps, &v->bank, counter);

	if (p->select[counter] == select && !p->m->config.always_switch)
		return;
	family->select(&p->hw, counter, select);
	p->select[counter] = select;
}

static void load(struct vpmu_pcpu *p, struct vpmu_vcpu *v, uint64_t counters)
{
	v->loaded |= counters;
	for (; counters; counters &= counters - 1) {
		unsigned c = (unsigned)__builtin_ctzll(counters);

		aim(p, v, c);
		write_count(p, c, v->bank.count[c]);
	}
}

static void control(struct vpmu_pcpu *p, const struct vpmu_vcpu *v)
{
	const struct vpmu_family *family = p->m->family;
	uint64_t value;

	if (!family->guest_control)
		return;
	value = family->guest_control(&v->bank);
	if (value == p->control && !p->m->config.always_switch)
		return;
	family->control(&p->hw, value);
	p->control = value;
}

static void irqs(struct vpmu_pcpu *p, const struct vpmu_vcpu *v)
{
	uint64_t want = v->bank.irq & guests(p);
	uint64_t on = want & ~p->irqs, off = p->irqs & guests(p) & ~want;

	if (!(on | off))
		return;
	p->m->family->irq(&p->hw, on, off);
	p->irqs = (p->irqs | on) & ~off;
}

/* Makes the hardware do what the bank, which is live here, asks for. */
static void follow(struct vpmu_pcpu *p, struct vpmu_vcpu *v)
{
	uint64_t want = active(v);
	uint64_t idle = p->counting & guests(p) & ~want;

	if (idle) {
		stop(p, idle);
		vpmu_bank_take(p, v, overflowed(p, idle));
	}
	if (want)
		control(p, v);
	load(p, v, (p->m->config.always_switch ? guests(p) : want) & ~v->loaded);
	irqs(p, v);
	start(p, want & ~p->counting);
}

void vpmu_bank_acquire(struct vpmu_pcpu *p, struct vpmu_vcpu *v)
{
	vpmu_bank_evict(p);
	p->holds = v;
	v->in_use = true;
	__atomic_store_n(&v->vm->stirred, true, __ATOMIC_RELAXED);
	__atomic_store_n(&v->held, p, __ATOMIC_RELEASE);
}

static bool needed(const struct vpmu_vcpu *v)
{
	return active(v) || v->vm->m->config.always_switch;
}

void vpmu_bank_apply(struct vpmu_vcpu *v)
{
	struct vpmu_pcpu *p = v->on;

	if (vpmu_direct(p)) {
		/* Between begin and end: end loads it all. */
		vpmu_bank_line(v);
		return;
	}
	if (p->holds != v && needed(v))
		vpmu_bank_acquire(p, v);
	if (p->holds == v)
		follow(p, v);
	vpmu_bank_line(v);
}

uint64_t vpmu_bank_count(struct vpmu_vcpu *v, unsigned counter)
{
	struct vpmu_pcpu *p = live(v);

	if (p && v->loaded >> counter & 1)
		return p->m->family->read(&p->hw, counter);
	return v->bank.count[counter];
}

void vpmu_bank_set_count(struct vpmu_vcpu *v, unsigned counter, uint64_t value)
{
	struct vpmu_pcpu *p = live(v);

	/* What it has overflowed until now, the top bit may be all that tells of. */
	if (p && v->loaded >> counter & 1) {
		if (p->m->caps.topbit) {
			vpmu_bank_take(p, v, overflowed(p, 1ULL << counter));
			vpmu_bank_line(v);
		}
		write_count(p, counter, value);
	}
	v->bank.count[counter] = value;
}

void vpmu_bank_set_select(struct vpmu_vcpu *v, unsigned counter, uint64_t select)
{
	struct vpmu_pcpu *p = live(v);
	uint64_t bit = 1ULL << counter, counting;

	v->bank.select[counter] = select;
	if (!p || !(v->loaded & bit))
		return;
	counting = p->counting & bit;
	stop(p, counting);
	/* It may not be started again, and then nobody asks what it had overflowed. */
	if (counting) {
		vpmu_bank_take(p, v, overflowed(p, bit));
		vpmu_bank_line(v);
	}
	aim(p, v, counter);
	/* Families may keep enables and interrupts in the selection: as they are now. */
	start(p, counting & active(v));
}

/* ---- switches */

void vpmu_bank_out(struct vpmu_pcpu *p, struct vpmu_vcpu *v)
{
	uint64_t counted = p->counting & guests(p), bits;

	if (p->holds != v)
		return;
	if (p->m->config.always_switch) {
		vpmu_bank_evict(p);
	} else if (v->direct) {
		vpmu_direct_out(p, v);
	} else if (counted) {
		stop(p, counted);
		bits = overflowed(p, counted);
		if (!bits)
			return;
		vpmu_bank_take(p, v, bits);
		vpmu_bank_line(v);
	}
}

void vpmu_bank_in(struct vpmu_pcpu *p, struct vpmu_vcpu *v)
{
	if (!v->in_use)
		return;
	if (vpmu_direct(p)) {
		vpmu_direct_in(p, v);
	} else if (p->holds == v) {
		start(p, active(v));
	} else if (needed(v)) {
		vpmu_bank_acquire(p, v);
		follow(p, v);
	} else {
		v->in_use = false;
	}
}

void vpmu_bank_evict(struct vpmu_pcpu *p)
{
	struct vpmu_vcpu *v = p->holds;
	uint64_t counted = p->counting & guests(p), left;

	if (!v)
		return;
	if (v->direct) {
		vpmu_direct_save(p, v);
	} else if (counted) {
		stop(p, counted);
		vpmu_hw_sync(&p->hw);
		vpmu_bank_take(p, v, overflowed(p, counted));
		vpmu_bank_line(v);
	}
	for (left = v->loaded; left; left &= left - 1) {
		unsigned c = (unsigned)__builtin_ctzll(left);

		v->bank.count[c] = p->m->family->read(&p->hw, c);
	}
	v->loaded = 0;
	p->holds = NULL;
	/* Who sees this on another pCPU may run it there. */
	__atomic_store_n(&v->held, NULL, __ATOMIC_RELEASE);
}
