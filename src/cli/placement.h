/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_PLACEMENT_H
#define CLI_PLACEMENT_H

/*
 * The way back from moves, and the file that keeps it between two runs of the program:
 * $XDG_STATE_HOME/vmmprof/placement, or ~/.local/state/vmmprof/placement.
 */

#include "base/err.h"
#include "model/move.h"
#include "model/topology.h"

struct way_back {
	struct move *moves; /* owned; in order */
	uint64_t *births;   /* owned; of their VMs */
	size_t n;
	char boot_id[40]; /* of the host that they are of */
	char source[16];  /* ops->name */
	char lacks[200];  /* what they do not restore, in words; "": nothing */
};

/*
 * What undoes @moves, in reverse, as @topo (with TOPOLOGY_THREADS and TOPOLOGY_MEMORY)
 * tells where everything is. 0 or -ENOMEM. way_back_free() @out.
 */
int way_back_find(const struct move *moves, size_t n, const struct topology *topo,
		  const char *source, struct way_back *out);
void way_back_free(struct way_back *w);

/* Replaces the file. 0 or -errno with words. */
int way_back_save(const struct way_back *w, struct err *err);
/*
 * Reads it. 0; -ENOENT with words: nothing was applied; -EPERM: others may have written
 * it; -EINVAL with file and line.
 */
int way_back_load(struct way_back *out, struct err *err);
/* The file's text. 0; -ENOMEM; -EINVAL with file, line and what was expected. */
int way_back_parse(const char *file, const char *text, size_t size, struct way_back *out,
		   struct err *err);
/* Drops the file. */
void way_back_forget(void);
/*
 * Holds what was loaded against what is there now: -ESTALE with words if the host was
 * started anew, or if a VM is another or gone.
 */
int way_back_check(const struct way_back *w, const struct topology *topo,
		   const char *source, struct err *err);

#endif
