/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/sim/hosts.h"

#include "numasim/sim_impl.h"
#include "tests/unit/test.h"

#define MACHINE                                                                            \
	"machine \"model 6 0x2c, 2 nodes, 2 cores each at 2.93 GHz, uncore 2.66 GHz, "     \
	"L1 32K/8 4 cycles, L2 256K/8 10 cycles, LLC 1M/16 40 cycles inclusive, "          \
	"shared 65 cycles, modified 75 cycles, misses 10, trackers 32/16/12, home 32, "    \
	"3 channels DDR3-1333, efficiency 85%, local 60 ns, remote 100 ns, "               \
	"remote-cache 100 ns, remote-modified 110 ns, link 12.8 GB/s, memory 1G\"\n"
#define PROGRAMS                                                                           \
	"program mixed\n"                                                                  \
	" function walk chase footprint 4M shared instructions 9 write 20% "               \
	"for 700 steps\n"                                                                  \
	" function sum stream footprint 2M parallel 4 instructions 12 for 900 steps\n"     \
	" function clear random footprint 512K shared write 50% kernel instructions 7 "    \
	"for 300 steps\n"                                                                  \
	" function think compute instructions 300 for 40 steps\n"                          \
	"program counters\n"                                                               \
	" function bump counters footprint 64K shared instructions 6 for 500 steps\n"      \
	" function scan stream footprint 3M parallel 8 instructions 15 write 30% "         \
	"for 800 steps\n"
#define VM(name, node, a, b, program)                                                      \
	"vm " name "\n vcpus 2\n memory 64M node " node "\n pin vcpu 0 " a                 \
	"\n pin vcpu 1 " b "\n threads 3 " program " sleep 10% every 200us\n"

struct sim *host_of(const char *scenario)
{
	struct sim *s = NULL;
	struct err err = { 0 };

	if (sim_open(scenario, NULL, &s, &err))
		fail_msg("%s", err.text);
	return s;
}

struct sim *host_shared(void)
{
	return host_of(MACHINE "policy credit\nslice 300us\n" PROGRAMS VM(
		"web", "0", "0,2", "0,2", "mixed") VM("db", "1", "0,2", "0,2", "counters"));
}

struct sim *host_apart(void)
{
	return host_of(MACHINE "policy pinned\n" PROGRAMS VM("web", "0", "0", "1", "mixed")
			       VM("db", "0", "2", "3", "counters"));
}

static void settle(const struct sim *s)
{
	uint64_t at = 0;

	for (unsigned c = 0; c < s->npcpus; c++)
		if (machine_now(s->machine, c) > at)
			at = machine_now(s->machine, c);
	for (unsigned n = 0; n < s->sc.machine.nodes; n++)
		machine_settle(s->machine, n, at);
}

uint64_t core_truth(const struct sim *s, unsigned core, enum core_event event)
{
	settle(s);
	return machine_core_events(s->machine, core)[event];
}

uint64_t cores_truth(const struct sim *s, enum core_event event)
{
	uint64_t sum = 0;

	for (unsigned c = 0; c < s->npcpus; c++)
		sum += core_truth(s, c, event);
	return sum;
}

uint64_t node_truth(const struct sim *s, unsigned node, enum node_event event)
{
	settle(s);
	return machine_node_events(s->machine, node)[event];
}

uint32_t set_on(struct sim *s, int vm, unsigned n, const uint64_t *config, uint64_t period)
{
	uint32_t handle = 0, flags = VPMU_EVENT_USER | VPMU_EVENT_KERNEL;
	struct vpmu_event events[VPMU_SET_EVENTS];
	unsigned bad;
	int ret;

	for (unsigned i = 0; i < n; i++)
		events[i] = (struct vpmu_event) {
			.config = config[i],
			.period = period,
			.flags = vm == SIM_HYPERVISOR ? VPMU_EVENT_HYP : flags,
		};
	ret = sim_set_open(s, vm, events, n, period ? 65536 : 0, &handle, &bad);
	if (ret)
		fail_msg("%d, event %u", ret, bad);
	return handle;
}

struct xenpmu_count set_sum(struct sim *s, uint32_t handle, unsigned n, unsigned event)
{
	struct xenpmu_count sum = { 0 };

	for (unsigned i = 0; i < n; i++) {
		struct xenpmu_count c[VPMU_SET_EVENTS];

		assert_int_equal(sim_set_read(s, handle, i, c), 0);
		sum.value += c[event].value;
		sum.enabled_ns += c[event].enabled_ns;
		sum.running_ns += c[event].running_ns;
		sum.taken += c[event].taken;
		sum.lost += c[event].lost;
	}
	return sum;
}

uint32_t uncore_on(struct sim *s, unsigned node, unsigned n, const uint64_t *config)
{
	uint32_t handle = 0;
	unsigned bad;
	int ret = sim_uncore_open(s, node, config, n, &handle, &bad);

	if (ret)
		fail_msg("%d, event %u", ret, bad);
	return handle;
}
