/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "measure.h"

#include <string.h>

#include "numasim/truth.h"

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

static void rates_of(struct sim *s, uint64_t warm_ns, uint64_t window_ns, double *rate)
{
	struct progress before, after;

	sim_run(s, warm_ns);
	progress_of(s, &before);
	sim_run(s, warm_ns + window_ns);
	progress_of(s, &after);
	for (unsigned i = 0; i < sim_vms(s); i++) {
		double ns = (double)(after.ran_ns[i] - before.ran_ns[i]);

		rate[i] = ns > 0 ? (double)(after.work[i] - before.work[i]) / ns * 1e9 : 0;
	}
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
	double rate[SIM_VMS];
	struct sim *s;
	int ret = sim_open(what, NULL, &s, err);

	if (ret)
		return ret;
	memset(out, 0, sizeof(*out));
	out->nvms = sim_vms(s);
	rates_of(s, warm_ns, window_ns, rate);
	for (unsigned i = 0; i < out->nvms; i++) {
		struct sim_vm vm;

		sim_vm(s, i, &vm);
		memcpy(out->vm[i].name, vm.name, sizeof(vm.name));
		out->vm[i].rate = rate[i];
	}
	sim_free(s);
	for (int f = 0; f < FACTORS; f++) {
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
