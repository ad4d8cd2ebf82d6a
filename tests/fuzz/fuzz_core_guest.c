/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What guests can do to their PMU: any access from EL1 and EL0, between events,
 * switches and late interrupts. Each of two vCPUs must see what it would see on a PMU
 * that is all its own, and the host's counters must not notice. The first byte chooses
 * the machine, the rest is what happens.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "tests/core/machine.h"

#define VCPUS 2
#define STEPS 512
#define HOST 5 /* a counter that the host keeps */
#define INST ARMV8_EVENT_INST_RETIRED

struct input {
	const uint8_t *data;
	size_t size;
};

struct world {
	struct machine *m;
	struct hw *bare[VCPUS];
	uint64_t host[MACHINE_PCPUS]; /* what HOST should have counted */
	int runs[MACHINE_PCPUS];
	bool hyp; /* the hypervisor's events are kept from guests */
};

static uint64_t take(struct input *in, unsigned bytes)
{
	uint64_t value = 0;

	for (; bytes && in->size; bytes--, in->size--)
		value = value << 8 | *in->data++;
	return value;
}

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* Both with zero in all registers, which after a reset could hold anything. */
static struct hw *bare_of(struct hw_armv8_config config, uint64_t guests,
			  const uint64_t *clock)
{
	struct vpmu_hw *el2;
	struct hw *hw;

	config.counters = (unsigned)__builtin_popcountll(guests) - 1;
	hw = hw_armv8_new(&config, clock);
	el2 = &hw->hw;
	vpmu_hw_write(el2, ARMV8_PMCR, ARMV8_PMCR_P | ARMV8_PMCR_C);
	vpmu_hw_write(el2, ARMV8_PMCNTENCLR, ~0ULL);
	vpmu_hw_write(el2, ARMV8_PMINTENCLR, ~0ULL);
	vpmu_hw_write(el2, ARMV8_PMOVSCLR, ~0ULL);
	vpmu_hw_write(el2, ARMV8_PMSELR, 0);
	vpmu_hw_write(el2, ARMV8_PMUSERENR, 0);
	for (unsigned c = 0; c < 32; c++)
		vpmu_hw_write(el2, ARMV8_PMEVTYPER(c), 0);
	hw->model->trap(hw, false);
	return hw;
}

static void begin(struct world *w, uint64_t choice)
{
	static const unsigned versions[] = { 1, 4, 5, 6 };
	struct vpmu_config how = {
		.host_counters = -1,
		.direct = choice >> 2 & 1,
		.always_switch = choice >> 3 & 1,
	};
	struct hw_armv8_config hw = {
		.counters = 6,
		.version = versions[choice % 4],
		.unprotected = choice >> 4 & 1 && !how.direct,
	};

	*w = (struct world) { .m = machine_new(&hw, &how), .runs = { -1, -1 } };
	w->hyp = !how.direct || hw.version >= 6;
	for (int v = 0; v < VCPUS; v++)
		w->bare[v] = bare_of(hw, w->m->m.caps.guest, &w->m->clock);
	for (int i = 0; i < MACHINE_PCPUS; i++) {
		const struct vpmu_hw *el2 = &w->m->pcpu[i].hw->hw;

		vpmu_hw_write(el2, ARMV8_PMEVTYPER(HOST), INST);
		vpmu_hw_write(el2, ARMV8_PMCNTENSET, 1 << HOST);
	}
}

static void end(struct world *w)
{
	machine_free(w->m);
	for (int v = 0; v < VCPUS; v++)
		free(w->bare[v]);
}

static uint64_t value_of(struct input *in, uint64_t shape)
{
	switch (shape) {
	case 0: return take(in, 8);
	case 1: return 1ULL << take(in, 1) % 64;
	case 2: return ~0ULL - take(in, 1);
	default: return 0xffffffff - take(in, 1);
	}
}

static uint32_t reg_of(struct input *in)
{
	uint64_t n = take(in, 1);

	if (n < 64)
		return ARMV8_PMEVCNTR(0) + (uint32_t)n;
	if (n < 64 + 24) /* PMCR to PMXEVCNTR, and what is beside them */
		return ARMV8_PMCR + (uint32_t)n - 64;
	if (n < 64 + 32)
		return ARMV8_PMUSERENR + (uint32_t)n - 64 - 24;
	if (n < 64 + 40)
		return ARMV8_PMINTENSET + (uint32_t)n - 64 - 32;
	return (uint32_t)take(in, 2);
}

static void access(struct world *w, struct input *in, unsigned pcpu)
{
	uint32_t reg = reg_of(in);
	uint64_t how = take(in, 1), seen = value_of(in, how >> 2 & 3), expected = seen;
	enum vpmu_mode mode = how & 2 ? VPMU_MODE_USER : VPMU_MODE_KERNEL;
	struct hw *bare;
	bool done;

	if (w->runs[pcpu] < 0)
		return;
	bare = w->bare[w->runs[pcpu]];
	done = machine_access(w->m, pcpu, mode, reg, how & 1, &seen) == VPMU_DONE;
	must(done == (bare->model->guest(bare, mode, reg, how & 1, &expected) == HW_DONE));
	must(seen == expected);
}

static void run(struct world *w, struct input *in, unsigned pcpu)
{
	static const uint64_t events[] = { INST, ARMV8_EVENT_CPU_CYCLES, 0x77, 0 };
	static const enum vpmu_mode modes[] = { VPMU_MODE_USER, VPMU_MODE_KERNEL,
						VPMU_MODE_HYP };
	uint64_t what = take(in, 1);
	struct hw_event event = { events[what % 4], take(in, 2) };
	enum vpmu_mode mode = modes[(what >> 2) % 3];

	if (mode == VPMU_MODE_HYP ? !w->hyp : w->runs[pcpu] < 0)
		return;
	machine_run(w->m, pcpu, mode, event.event, event.count);
	if (mode == VPMU_MODE_HYP)
		return;
	if (event.event == INST)
		w->host[pcpu] += event.count;
	w->bare[w->runs[pcpu]]->model->run(w->bare[w->runs[pcpu]], mode, &event, 1);
}

static void change(struct world *w, unsigned pcpu, int vcpu)
{
	if (vcpu >= 0 && w->runs[!pcpu] == vcpu) {
		machine_switch(w->m, !pcpu, -1);
		w->runs[!pcpu] = -1;
	}
	machine_switch(w->m, pcpu, vcpu);
	w->runs[pcpu] = vcpu;
}

static void check(struct world *w, unsigned pcpu)
{
	const struct vpmu_hw *el2 = &w->m->pcpu[pcpu].hw->hw;
	uint64_t host = w->m->m.caps.host, mdcr = vpmu_hw_read(el2, ARMV8_MDCR_EL2);

	must(vpmu_hw_read(el2, ARMV8_PMEVTYPER(HOST)) == INST);
	must((vpmu_hw_read(el2, ARMV8_PMCNTENSET) & host) == 1 << HOST);
	must(!(vpmu_hw_read(el2, ARMV8_PMINTENSET) & host));
	must(vpmu_hw_read(el2, ARMV8_PMEVCNTR(HOST)) == w->host[pcpu]);
	must(mdcr & ARMV8_MDCR_HPME && (mdcr & ARMV8_MDCR_HPMN) == 4);
	if (w->m->late)
		return;
	machine_interrupt(w->m, pcpu);
	if (w->runs[pcpu] >= 0) {
		struct hw *bare = w->bare[w->runs[pcpu]];
		struct vpmu_vcpu *v = &w->m->vcpu[w->runs[pcpu]].v;

		must(vpmu_line(v) == bare->model->irq_line(bare));
		must(vpmu_line(v) == v->line);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct world w;

	begin(&w, take(&in, 1));
	for (unsigned i = 0; i < STEPS && in.size; i++) {
		uint64_t what = take(&in, 1);
		unsigned pcpu = what >> 3 & 1;

		switch (what & 7) {
		case 5: run(&w, &in, pcpu); break;
		case 6: change(&w, pcpu, (int)(what >> 4) % (VCPUS + 1) - 1); break;
		case 7: w.m->late = !w.m->late; break;
		default: access(&w, &in, pcpu); break;
		}
		check(&w, 0);
		check(&w, 1);
	}
	end(&w);
	return 0;
}
