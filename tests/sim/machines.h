/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_SIM_MACHINES_H
#define TESTS_SIM_MACHINES_H

/* Programs for tests of the machine: they run on its cores without any hypervisor. */

#include "numasim/truth.h"
#include "tests/sim/loads.h"

/* A preset, or a line of text; fails the test if it cannot be. */
struct machine_spec machine_named(const char *what);
struct machine *machine_of(const struct machine_spec *spec, const struct machine_off *off);

/* ps per access of a pointer chase of @core through @lines lines of @home's memory, the
 * second time it goes through them, or, @cold, the first. */
double chase(struct machine *m, const struct machine_spec *spec, unsigned core,
	     unsigned home, uint64_t lines, bool cold);

/* Sums of an event over all cores, over all nodes, over a node's channels. */
uint64_t cores_sum(const struct machine *m, const struct machine_spec *s, unsigned event);
uint64_t nodes_sum(const struct machine *m, const struct machine_spec *s, unsigned event);
uint64_t channels_sum(const struct machine *m, unsigned node, unsigned event);

/* Fails the test if @value is not @expected, more or less @within of it. */
#define assert_about(value, expected, within)                                              \
	about_at(__FILE__, __LINE__, #value, value, expected, within)
void about_at(const char *file, int line, const char *what, double value, double expected,
	      double within);

#endif
