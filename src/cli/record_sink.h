/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_RECORD_SINK_H
#define CLI_RECORD_SINK_H

/* Joins a sampling session with a recording: the sink that writes it. */

#include "cli/command.h"
#include "cli/out.h"
#include "record/recording.h"
#include "session/sampling.h"

/* One row of the table at the end. */
struct lane_row {
	char vm[80];
	const char *view; /* "inside", "host", "process" */
	uint64_t samples, lost, throttled, size;
	char file[256];
};

struct record_sink {
	const struct source_ops *ops;
	struct source *src;
	const char *path; /* of the recording */
	const char *cmdline;
	const struct string_list *symbols; /* VM=PATH */
	struct out *out;
	struct recording *rec; /* NULL until the first lane: no file for a run that fails */
	struct note *early;    /* notes from before */
	size_t nearly, capearly;
	struct lane_row *rows; /* of lanes that are closed */
	size_t nrows, caprows;
	struct err failed; /* of a note, which cannot fail where it is told */
	bool broken;	   /* a write failed: an empty lane needs no other reason */
};

extern const struct sample_sink record_sink_ops; /* ctx: struct record_sink * */

/* A note to the recording and to the user. */
void record_sink_note(struct record_sink *s, struct note note);
/* Is this -errno what a full disk, quota or file size limit looks like? */
bool record_disk_full(int code);
/* Once a second: commits. */
int record_sink_commit(struct record_sink *s, struct err *err);
void record_sink_free(struct record_sink *s);

#endif
