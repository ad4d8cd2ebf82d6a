/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/core/x86_machine.h"

static void raise_interrupt(struct vpmu_vcpu *v)
{
	struct x86_machine *m = v->vm->cookie;

	m->raised[v - m->v]++;
}

static void trap(struct vpmu_vcpu *v, bool on)
{
	(void)v;
	(void)on;
	fail_msg("accesses on x86 always trap");
}

static void wake(struct vpmu_set *set)
{
	(void)set;
}

struct x86_machine *x86_machine_new(struct hw *hw, const struct vpmu_family *family,
				    int host)
{
	static const struct vpmu_upcalls upcalls = { raise_interrupt, trap, wake };
	struct vpmu_config config = { .host_counters = host };
	struct x86_machine *m = calloc(1, sizeof(*m));
	const char *why;

	assert_non_null(m);
	m->hw = hw;
	hw->clock = &m->clock;
	assert_int_equal(vpmu_init(&m->m, family, &upcalls, &config, &hw->hw, &why), 0);
	assert_int_equal(vpmu_pcpu_up(&m->p, &m->m, 0, &hw->hw, &why), 0);
	for (unsigned i = 0; i < 2; i++) {
		vpmu_vm_init(&m->vm[i], &m->m, true, m);
		vpmu_vcpu_init(&m->v[i], &m->vm[i], 0, NULL);
	}
	vpmu_switch_in(&m->p, &m->v[0]);
	return m;
}

void x86_machine_free(struct x86_machine *m)
{
	free(m->hw);
	free(m);
}

void x86_switch(struct x86_machine *m, unsigned i)
{
	struct vpmu_where where = { .mode = VPMU_MODE_KERNEL };

	vpmu_switch_out(&m->p, m->p.runs, &where);
	vpmu_switch_in(&m->p, &m->v[i]);
}

void x86_run(struct x86_machine *m, enum vpmu_mode mode, uint64_t event, uint64_t n)
{
	struct vpmu_where where = { .mode = mode };

	while (n) {
		uint64_t next = m->hw->model->next_overflow(m->hw, mode, event);
		struct hw_event e = { event, next && next < n ? next : n };

		m->hw->model->run(m->hw, mode, &e, 1);
		n -= e.count;
		if (!m->hw->model->irq_line(m->hw))
			continue;
		m->hw->model->ack(m->hw);
		assert_true(vpmu_interrupt(&m->p, &where));
	}
}

enum vpmu_access x86_wrmsr(struct x86_machine *m, uint32_t reg, uint64_t value)
{
	return vpmu_guest_access(&m->p, m->p.runs, reg, true, false, &value);
}

uint64_t x86_rdmsr(struct x86_machine *m, uint32_t reg)
{
	uint64_t value = 0;

	assert_int_equal(vpmu_guest_access(&m->p, m->p.runs, reg, false, false, &value),
			 VPMU_DONE);
	return value;
}

enum vpmu_access x86_access(struct x86_machine *m, uint32_t reg, bool write, bool user)
{
	uint64_t value = 0;

	return vpmu_guest_access(&m->p, m->p.runs, reg, write, user, &value);
}
