/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_DATASHEET_H
#define SOURCE_DATASHEET_H

/* The files of data/sheets: what a CPU's machines do when they are idle. */

#include "base/err.h"
#include "model/window.h"

/*
 * Fills in what the sheet says; the rest of @out stays as it is. The form is described in
 * data/sheets/README.md. 0; -EINVAL with file, line and what was expected: @out is
 * unchanged then.
 */
int datasheet_parse(const char *file, const char *text, size_t size,
		    struct diag_machine *out, struct err *err);
/* The same of @name's, the user's own first. Errors of data_load(), too. */
int datasheet_load(const char *name, struct diag_machine *out, struct err *err);

#endif
