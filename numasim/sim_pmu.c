/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters of sim.h. */
#include "numasim/pmu.h"
#include "numasim/sim.h"
#include "numasim/sim_impl.h"

void sim_pmu_info(const struct sim *s, struct sim_pmu_info *out)
{
	pmu_info(s->pmu, out);
}

int sim_set_open(struct sim *s, int vm, const struct vpmu_event *events, unsigned n,
		 size_t ring_bytes, uint32_t *handle, unsigned *bad)
{
	return pmu_set_open(s->pmu, vm, events, n, ring_bytes, handle, bad);
}

int sim_set_read(struct sim *s, uint32_t handle, unsigned vcpu,
		 struct xenpmu_count out[VPMU_SET_EVENTS])
{
	return pmu_set_read(s->pmu, handle, vcpu, out);
}

void *sim_set_ring(struct sim *s, uint32_t handle, unsigned vcpu, size_t *bytes)
{
	return pmu_set_ring(s->pmu, handle, vcpu, bytes);
}

void sim_set_close(struct sim *s, uint32_t handle)
{
	pmu_set_close(s->pmu, handle);
}

int sim_uncore_open(struct sim *s, unsigned node, const uint64_t *config, unsigned n,
		    uint32_t *handle, unsigned *bad)
{
	return pmu_uncore_open(s->pmu, node, config, n, handle, bad);
}

int sim_uncore_read(struct sim *s, uint32_t handle, struct xenpmu_count *out)
{
	return pmu_uncore_read(s->pmu, handle, out);
}

void sim_uncore_close(struct sim *s, uint32_t handle)
{
	pmu_uncore_close(s->pmu, handle);
}

void sim_take_counters(struct sim *s, unsigned core, unsigned uncore)
{
	pmu_take_counters(s->pmu, core, uncore);
}
