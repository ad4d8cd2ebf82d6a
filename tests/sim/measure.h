/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_SIM_MEASURE_H
#define TESTS_SIM_MEASURE_H

/* The truth about a scenario: it runs again with each cause switched off. */

#include <stdint.h>

#include "base/err.h"
#include "diagnose/diagnose.h"
#include "numasim/sim.h"

struct true_vm {
	char name[64];
	double rate; /* steps of work a second that its vCPUs run, as the host is */
	/* Of each factor: 1 - rate / the rate without it. Below 0: it runs slower then,
	 * as others run faster. */
	double loss[FACTORS];
};

struct truth {
	unsigned nvms;
	struct true_vm vm[SIM_VMS];
};

/* Rates of @window_ns after @warm_ns. 0; -errno with words. */
int measure_truth(const char *what, uint64_t warm_ns, uint64_t window_ns, struct truth *out,
		  struct err *err);
/* Steps a second of each VM as they are, or with @off: of the seconds that its vCPUs run,
 * so that time slices and sleep that begin or end in the window do not matter. */
int measure_rates(const char *what, const struct machine_off *off, uint64_t warm_ns,
		  uint64_t window_ns, double rate[SIM_VMS], struct err *err);
/* Steps of work and ns that its vCPUs ran, of each VM up to now. */
struct progress {
	uint64_t work[SIM_VMS], ran_ns[SIM_VMS];
};
void progress_of(const struct sim *s, struct progress *out);
/* The factor that costs a VM most; *loss: how much. */
enum factor true_top(const struct true_vm *vm, double *loss);

#endif
