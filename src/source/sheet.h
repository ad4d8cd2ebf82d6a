/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_SHEET_H
#define SOURCE_SHEET_H

/* A machine's data sheet: by its CPU, from data/machines or
 * data/sheets; what is not there, from sysfs. */

#include "base/rootfs.h"
#include "model/machine.h"
#include "model/window.h"

struct machine_spec;

/* All of a simulated machine's. */
void sheet_of_spec(const struct machine_spec *spec, struct diag_machine *out);
/* The same of a preset (data/machines) or of a file. Errors of machine_spec_load(). */
int sheet_of_preset(const char *what, struct diag_machine *out, struct err *err);
/*
 * Of the machine below @root: latencies and rates of the data sheet for its CPU's family
 * and model, if there is one; nodes, cores, LLC and distances as the kernel tells. What
 * nobody tells is 0; @out->origin says who told. 0; -errno with words: a data sheet of
 * the user's is wrong.
 */
int sheet_read(const struct rootfs *root, const struct machine *machine,
	       struct diag_machine *out, struct err *err);

#endif
