/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "measure.h"

#include <string.h>

#include "numasim/sim_impl.h"
#include "numasim/truth.h"

#define DEAREST_NS 1000 /* what one event can cost at most, a long queue included */
#define NO_LOSS 0.001

static const struct machine_off without[FACTORS] = {
	[FACTOR_LOCALITY] = { .remote = true },	  [FACTOR_LLC] = { .contention = true },
	[FACTOR_SHARING] = { .sharing = true },	  [FACTOR_MEMORY] = { .memory = true },
	[FACTOR_TRACKERS] = { .trackers = true },
};

void progress_of(const struct sim *s, struct progress *out)
{
	*out = (struct progress) { 0 };
	for (unsigned i = 0; i < sim_vms(s); i++) {
		struct sim_vcpu v;

		out->work[i] = sim_work(s, i);
		for (unsigned k = 0; !sim_vcpu(s, i, k, &v); k++)
			out->ran_ns[i] += v.ran_ns;
	}
}

/* How often each factor had a chance to cost time, up to now. */
struct chances {
	double n[FACTORS];
};

static struct chances chances_of(const struct sim *s)
{
	const struct machine_spec *spec = sim_machine(s);
	struct chances c = { 0 };

	for (unsigned i = 0; i < spec->nodes * spec->cores; i++) {
		const uint64_t *e = machine_core_events(s->machine, i);
		double far = (double)(e[CORE_REMOTE_CACHE] + e[CORE_REMOTE_HITM]);

		c.n[FACTOR_LOCALITY] += far + (double)e[CORE_REMOTE_DRAM];
		c.n[FACTOR_LLC] += (double)e[CORE_LLC_MISS];
		c.n[FACTOR_SHARING] +=
			far + (double)(e[CORE_OTHER_CORE_HIT] + e[CORE_OTHER_CORE_HITM]);
	}
	for (unsigned n = 0; n < spec->nodes; n++) {
		const uint64_t *e = machine_node_events(s->machine, n);

		machine_settle(s->machine, n, s->now);
		c.n[FACTOR_LOCALITY] += (double)e[NODE_LINK_DATA];
		for (int k = NODE_SNOOP_LOCAL_I; k <= NODE_SNOOP_REMOTE_HITM; k++)
			c.n[FACTOR_SHARING] += (double)e[k];
		for (unsigned k = 0; k < NODE_CHANNELS; k++)
			c.n[FACTOR_MEMORY] += (double)(e[NODE_CHANNEL_READS + k] +
						       e[NODE_CHANNEL_WRITES + k]);
		c.n[FACTOR_TRACKERS] +=
			(double)(e[NODE_RT_FULL] + e[NODE_WT_FULL] + e[NODE_PPT_FULL]);
	}
	return c;
}

/* Can @factor have cost any VM anything worth a run without it? */
static bool matters(const struct chances *before, const struct chances *after, int factor,
		    double least_ran_ns)
{
	return (after->n[factor] - before->n[factor]) * DEAREST_NS > NO_LOSS * least_ran_ns;
}

/* Returns for how long the VM that ran least did. */
static double rates_of(struct sim *s, uint64_t warm_ns, uint64_t window_ns, double *rate)
{
	double least = (double)window_ns;
	struct progress before, after;

	sim_run(s, warm_ns);
	progress_of(s, &before);
	sim_run(s, warm_ns + window_ns);
	progress_of(s, &after);
	for (unsigned i = 0; i < sim_vms(s); i++) {
		double ns = (double)(after.ran_ns[i] - before.ran_ns[i]);

		rate[i] = ns > 0 ? (double)(after.work[i] - before.work[i]) / ns * 1e9 : 0;
		if (ns > 0 && ns < least)
			least = ns;
	}
	return least;
}

int measure_rates(const char *what, const struct machine_off *off, uint64_t warm_ns,
		  uint64_t window_ns, double rate[SIM_VMS], struct err *err)
{
	struct sim *s;
	int ret = sim_open(what, off, &s, err);

	if (ret)
		return ret;
	rates_of(s, warm_ns, window_ns, rate);
	sim_free(s);
	return 0;
}

int measure_truth(const char *what, uint64_t warm_ns, uint64_t window_ns, struct truth *out,
		  struct err *err)
{
	double rate[SIM_VMS], least_ran_ns;
	struct chances before, after;
	struct sim *s;
	int ret = sim_open(what, NULL, &s, err);

	if (ret)
		return ret;
	memset(out, 0, sizeof(*out));
	out->nvms = sim_vms(s);
	sim_run(s, warm_ns);
	before = chances_of(s);
	least_ran_ns = rates_of(s, warm_ns, window_ns, rate);
	after = chances_of(s);
	for (unsigned i = 0; i < out->nvms; i++) {
		struct sim_vm vm;

		sim_vm(s, i, &vm);
		memcpy(out->vm[i].name, vm.name, sizeof(vm.name));
		out->vm[i].rate = rate[i];
	}
	sim_free(s);
	for (int f = 0; f < FACTORS; f++) {
		if (!matters(&before, &after, f, least_ran_ns))
			continue;
		ret = measure_rates(what, &without[f], warm_ns, window_ns, rate, err);
		if (ret)
			return ret;
		for (unsigned i = 0; i < out->nvms; i++)
			if (rate[i] > 0)
				out->vm[i].loss[f] = 1 - out->vm[i].rate / rate[i];
	}
	return 0;
}

enum factor true_top(const struct true_vm *vm, double *loss)
{
	int top = 0;

	for (int f = 1; f < FACTORS; f++)
		if (vm->loss[f] > vm->loss[top])
			top = f;
	*loss = vm->loss[top];
	return (enum factor)top;
}
