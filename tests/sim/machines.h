/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_SIM_MACHINES_H
#define TESTS_SIM_MACHINES_H

/* Programs for tests of the machine: they run on its cores without any hypervisor. */

#include "numasim/machine.h"
#include "numasim/truth.h"

/* A preset, or a line of text; fails the test if it cannot be. */
struct machine_spec machine_named(const char *what);
struct machine *machine_of(const struct machine_spec *spec, const struct machine_off *off);

/* A line of a node's memory. */
uint64_t line_on(const struct machine_spec *spec, unsigned node, uint64_t n);

/* ps per access of a pointer chase of @core through @lines lines of @home's memory. */
double chase(struct machine *m, const struct machine_spec *spec, unsigned core,
	     unsigned home, uint64_t lines);

#endif
