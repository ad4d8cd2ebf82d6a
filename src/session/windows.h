/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SESSION_WINDOWS_H
#define SESSION_WINDOWS_H

/*
 * What a diagnosis looks at, gathered from a source: in each of some windows of time,
 * the readings of every vCPU and every node by role, where vCPUs ran and where memory is.
 */

#include "events/profile.h"
#include "model/note.h"
#include "model/topology.h"
#include "model/window.h"
#include "source/source.h"

struct windows_config {
	const struct source_ops *ops;
	struct source *src;
	/* Which roles are read, by which events. Both must outlive the windows. */
	const struct profile_model *model;
	const struct profile_events *events;
	const struct diag_machine *machine; /* copied */
	uint64_t window_ns;
	int wake_fd; /* ends windows_next()'s wait when it polls readable; -1 */
	void (*note)(void *ctx, const struct note *note);
	void *ctx;
};

struct windows;

/*
 * Opens and starts everything, on every VM: who causes what only shows where all are
 * seen. -ENOENT with words if there is none; other errors as counting_start().
 */
int windows_start(const struct windows_config *config, struct windows **out,
		  struct err *err);
/*
 * Measures one more window. 0; -EINTR: wake_fd ended it, and what was measured of it is
 * a window if it is half of one or the first; -ENODATA: no VM is left; -errno with words.
 */
int windows_next(struct windows *w, struct err *err);
/*
 * Their number, and each of them, oldest first. All are of the same VMs and vCPUs, in the
 * same order: one that was not there has roles without values. They live as long as @w.
 */
size_t windows_count(const struct windows *w);
const struct diag_window *windows_get(const struct windows *w, size_t i);
/* Where everything was when it started, with memory and affinities. */
const struct topology *windows_topology(const struct windows *w);
/* True if something that was asked for has no value in some window: exit status 3. */
bool windows_partial(const struct windows *w);
void windows_free(struct windows *w);

#endif
