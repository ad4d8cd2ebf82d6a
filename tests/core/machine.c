/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "tests/core/machine.h"

static void raise(struct vpmu_vcpu *v)
{
	struct machine_vcpu *vcpu = v->cookie;

	vcpu->raised++;
	vcpu->pending = true;
}

static void trap(struct vpmu_vcpu *v, bool on)
{
	struct machine_vcpu *vcpu = v->cookie;
	struct machine *m = vcpu->machine;

	vcpu->untrapped = !on;
	for (unsigned i = 0; i < MACHINE_PCPUS; i++)
		if (m->pcpu[i].runs == vcpu)
			m->pcpu[i].hw->model->trap(m->pcpu[i].hw, on);
}

static void wake(struct vpmu_set *set)
{
	(void)set;
}

static const struct vpmu_upcalls upcalls = { .raise = raise, .trap = trap, .wake = wake };

_Noreturn static void refused(const char *why)
{
	fprintf(stderr, "machine: %s\n", why);
	abort();
}

struct machine *machine_new(const struct hw_armv8_config *hw,
			    const struct vpmu_config *config)
{
	struct machine *m = calloc(1, sizeof(*m));
	const char *why = NULL;

	if (!m)
		refused("no memory");
	m->where = (struct vpmu_where) { .mode = VPMU_MODE_USER, .pc = 0x1000 };
	for (unsigned i = 0; i < MACHINE_PCPUS; i++)
		m->pcpu[i].hw = hw_armv8_new(hw, &m->clock);
	if (vpmu_init(&m->m, &vpmu_armv8, &upcalls, config, &m->pcpu[0].hw->hw, &why))
		refused(why);
	for (unsigned i = 0; i < MACHINE_PCPUS; i++)
		if (vpmu_pcpu_up(&m->pcpu[i].p, &m->m, i, &m->pcpu[i].hw->hw, &why))
			refused(why);
	for (unsigned i = 0; i < MACHINE_VCPUS; i++) {
		m->vcpu[i].machine = m;
		vpmu_vm_init(&m->vcpu[i].vm, &m->m, true, NULL);
		vpmu_vcpu_init(&m->vcpu[i].v, &m->vcpu[i].vm, 0, &m->vcpu[i]);
	}
	return m;
}

void machine_free(struct machine *m)
{
	for (unsigned i = 0; i < MACHINE_PCPUS; i++)
		free(m->pcpu[i].hw);
	free(m);
}

static void switch_in(struct machine_pcpu *pcpu, struct machine_vcpu *vcpu)
{
	struct vpmu_pcpu *holder = vpmu_holder(&vcpu->v);

	if (holder && holder != &pcpu->p)
		vpmu_fetch(holder, &vcpu->v);
	pcpu->runs = vcpu;
	pcpu->hw->model->trap(pcpu->hw, !vcpu->untrapped);
	if (!vpmu_idle_in(&vcpu->v))
		vpmu_switch_in(&pcpu->p, &vcpu->v);
}

void machine_switch(struct machine *m, unsigned pcpu, int vcpu)
{
	struct machine_pcpu *here = &m->pcpu[pcpu];

	if (here->runs && !vpmu_idle_out(&here->runs->v))
		vpmu_switch_out(&here->p, &here->runs->v, &m->where);
	here->runs = NULL;
	here->hw->model->trap(here->hw, true);
	if (vcpu >= 0)
		switch_in(here, &m->vcpu[vcpu]);
}

void machine_interrupt(struct machine *m, unsigned pcpu)
{
	struct machine_pcpu *here = &m->pcpu[pcpu];

	if (!here->hw->model->irq_line(here->hw))
		return;
	m->interrupts++;
	if (!vpmu_interrupt(&here->p, &m->where))
		m->spurious++;
	if (here->hw->model->irq_line(here->hw))
		refused("the interrupt line is still up after the interrupt");
}

void machine_run(struct machine *m, unsigned pcpu, enum vpmu_mode mode, uint64_t event,
		 uint64_t count)
{
	struct hw *hw = m->pcpu[pcpu].hw;

	while (count) {
		uint64_t next = hw->model->next_overflow(hw, mode, event);
		struct hw_event happens = { event, count };

		if (!m->late && next && next < count)
			happens.count = next;
		hw->model->run(hw, mode, &happens, 1);
		count -= happens.count;
		if (!m->late)
			machine_interrupt(m, pcpu);
	}
}

enum vpmu_access machine_access(struct machine *m, unsigned pcpu, enum vpmu_mode mode,
				uint32_t reg, bool write, uint64_t *value)
{
	struct machine_pcpu *here = &m->pcpu[pcpu];

	switch (here->hw->model->guest(here->hw, mode, reg, write, value)) {
	case HW_DONE: return VPMU_DONE;
	case HW_REFUSED: return VPMU_TRAPPED;
	case HW_EXIT: break;
	}
	return vpmu_guest_access(&here->p, &here->runs->v, reg, write,
				 mode == VPMU_MODE_USER, value);
}

uint64_t machine_read(struct machine *m, unsigned pcpu, uint32_t reg)
{
	uint64_t value = 0;

	if (machine_access(m, pcpu, VPMU_MODE_KERNEL, reg, false, &value) != VPMU_DONE)
		refused("a kernel's read is refused");
	return value;
}

void machine_write(struct machine *m, unsigned pcpu, uint32_t reg, uint64_t value)
{
	if (machine_access(m, pcpu, VPMU_MODE_KERNEL, reg, true, &value) != VPMU_DONE)
		refused("a kernel's write is refused");
}

uint64_t machine_writes(struct machine *m, unsigned pcpu)
{
	uint64_t n = m->pcpu[pcpu].hw->writes;

	m->pcpu[pcpu].hw->writes = 0;
	return n;
}

uint64_t machine_reads(struct machine *m, unsigned pcpu)
{
	uint64_t n = m->pcpu[pcpu].hw->reads;

	m->pcpu[pcpu].hw->reads = 0;
	return n;
}
