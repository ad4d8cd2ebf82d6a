/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_MODELS_H
#define CLI_MODELS_H

/* What the files of vmmprof models share. */

#include "cli/model_use.h"
#include "cli/out.h"

/* Rows of models_row() follow, then out_end(). */
void models_begin(struct out *out);
/* @path: of the user's own file; NULL. @missing: what is not here, a line of it. */
void models_row(struct out *out, const struct model_use *use, const char *path,
		struct strbuf *missing);
/* All of one model: its words, inputs and metrics. @what: the name or path it has. */
void models_explain(struct out *out, const struct model_use *use, const char *what);
/* Rows of models_check() follow, then out_end(). */
void models_check_begin(struct out *out);
/*
 * What is wrong or not here of one file or name. STATUS_OK: nothing worse than a warning;
 * STATUS_PARTIAL: an event that it needs cannot be had; STATUS_FAILED: the file is wrong.
 */
int models_check(struct out *out, const struct model_cpu *cpu, const char *what);

#endif
