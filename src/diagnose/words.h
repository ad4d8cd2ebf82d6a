/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DIAGNOSE_WORDS_H
#define DIAGNOSE_WORDS_H

#include "diagnose/host.h"

/* False: a reading that @factor needs has no value; @why says which. @node -1: on any of
 * the VM's. */
bool factor_measured(const struct host *h, size_t vm, int node, enum factor factor,
		     char *why, size_t size);
/* Which counters and formula, with numbers. */
void factor_evidence(const struct host *h, size_t vm, int node, enum factor factor,
		     char *out, size_t size);
/* Of a factor that was not measured, what comes nearest to it; "": nothing does. */
void factor_proxy(const struct host *h, size_t vm, int node, enum factor factor, char *out,
		  size_t size);
/* The answer of a finished result. */
void result_sentence(const struct host *h, const struct diag_result *r, char *out,
		     size_t size);

#endif
