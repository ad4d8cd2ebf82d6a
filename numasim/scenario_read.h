/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_SCENARIO_READ_H
#define NUMASIM_SCENARIO_READ_H

/* Reading a scenario, statement by statement: scenario.c and its blocks' files. */

#include "base/lines.h"
#include "numasim/scenario.h"

enum block { BLOCK_NONE, BLOCK_PROGRAM, BLOCK_VM };

struct reading {
	struct scenario *sc; /* the block's program or VM is the last one */
	struct lines lines;
	struct err *err;
	enum block block;
};

struct statement {
	const char *word;
	enum block block; /* in which it may stand */
	int (*read)(struct reading *r);
	size_t words; /* at most; 0: @read says */
};

/* Which of @words word @i is; -EINVAL with words that list them. */
int scenario_word(const struct reading *r, size_t i, const char *const *words, size_t n,
		  const char *what);
/* Word @i as a time, 1us to 10s. */
int scenario_time(const struct reading *r, size_t i, const char *what, uint64_t *out);
/* What the block that ends here lacks. */
int scenario_block_end(struct reading *r);

int scenario_read_program(struct reading *r);
int scenario_read_function(struct reading *r);
int scenario_program_end(struct reading *r);

int scenario_read_vm(struct reading *r);
int scenario_read_vcpus(struct reading *r);
int scenario_read_memory(struct reading *r);
int scenario_read_pin(struct reading *r);
int scenario_read_vm_slice(struct reading *r);
int scenario_read_threads(struct reading *r);
int scenario_vm_end(struct reading *r);

#endif
