/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_GATHER_H
#define CLI_GATHER_H

/* What diagnose and advise begin with: a source, what it can tell, windows of it. */

#include "cli/common.h"
#include "cli/model_use.h"
#include "session/windows.h"

struct gather_options {
	uint64_t windows;
	double seconds; /* of each; 0: as the source says */
	bool quiet;	/* the caller tells of the host and of progress */
};

/* The rows of an option table that fill them. */
/* clang-format off */
#define GATHER_OPTIONS(gather)                                                      \
	{ "windows", 'n', "N", OPT_U64, &(gather)->windows,                         \
	  "Look at N windows of time (5)" },                                        \
	{ "window", 'w', "SECONDS", OPT_F64, &(gather)->seconds,                    \
	  "Each so long (1, or as the source needs)" }
/* clang-format on */

#define GATHER_WINDOWS 5
#define GATHER_WINDOWS_MAX 1000

struct gather {
	const struct gather_options *options;
	const struct source_ops *ops;
	struct source *src;
	struct model_cpu cpu;
	struct model_use use; /* of the model "diagnose" */
	struct diag_machine machine;
	struct out *out; /* where notes go */
	int sigfd;
	bool stopped; /* by a signal: no more windows */
};

/* STATUS_OK, or STATUS_USAGE after a message. */
int gather_check(const struct gather_options *options);
/*
 * Opens the source that @common names or that fits, and finds the events that tell the
 * roles; says so if the host is a simulated one. 0 or -errno with words. From here on,
 * SIGINT and SIGTERM end the windows only.
 */
int gather_open(struct gather *g, const struct common_options *common,
		const struct gather_options *options, struct out *out, struct err *err);
/*
 * Measures the windows that were asked for, or fewer if a signal came or the last VM
 * left: 0 then, too, if there is one at least. windows_free() @out.
 */
int gather_windows(struct gather *g, struct windows **out, struct err *err);
void gather_close(struct gather *g);

#endif
