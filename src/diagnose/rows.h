/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DIAGNOSE_ROWS_H
#define DIAGNOSE_ROWS_H

/* What the fitted model says of each VM on each node, with the errors of the readings
 * carried through it. */

#include "diagnose/host.h"

#define ROW_ALL DIAG_NODES /* of a VM's rows: all nodes together */
#define ROWS_OF_VM (DIAG_NODES + 1)

struct row {
	double cycles, stall, rest;
	double part[FACTORS]; /* of stall */
	double loss[FACTORS];
};
#define ROW_NUMBERS (sizeof(struct row) / sizeof(double))

struct rows {
	struct row *row;   /* owned; VM by VM, ROWS_OF_VM each */
	struct row *error; /* owned; half widths */
	unsigned long evaluations;
};

/* A reading of that role has an error. */
bool window_uncertain(const struct diag_window *w, int role);
/* @h: fitted to @window as it is. 0, -ENOMEM. */
int rows_fill(struct rows *rows, struct host *h, const struct diag_window *window);
void rows_free(struct rows *rows);

#endif
