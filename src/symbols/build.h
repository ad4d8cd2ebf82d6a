/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYMBOLS_BUILD_H
#define SYMBOLS_BUILD_H

/* A table under construction: loaders add symbols in any order, then it is sealed. */

#include <stdbool.h>

#include "symbols/symtab.h"

#define SYMBOLS_FILE_MAX (256u << 20) /* bytes of kallsyms, or of an ELF string table */

/* Of several names for one address the one of the highest rank is kept. */
enum symbol_rank {
	RANK_LOCAL,
	RANK_WEAK,
	RANK_GLOBAL,
};

struct symbol_draft {
	uint64_t start, end;   /* end 0: unknown */
	uint64_t limit;	       /* its code ends here, exclusive; UINT64_MAX: unknown */
	uint32_t name, module; /* offsets in the pool */
	enum symbol_rank rank;
};

/* Code of an ELF file: where in the file, and the address it is linked for. */
struct symbol_segment {
	uint64_t offset, size, addr;
};

#define SYMBOLS_SEGMENTS_MAX 64 /* linkers make one or two */

struct symtab {
	struct symbol_segment segment[SYMBOLS_SEGMENTS_MAX];
	size_t nsegment;
	struct symbol *sym; /* ascending, not overlapping */
	size_t nsym;
	char *pool; /* every name, NUL-terminated */
	size_t pool_len, pool_cap;
	struct symbol_draft *draft; /* NULL once sealed */
	size_t ndraft, capdraft;
};

/* Loaders; @fd is at no particular position and stays the caller's. */
int symtab_load_elf(struct symtab *tab, int fd, const char *path, struct err *err);
int symtab_load_kallsyms(struct symtab *tab, int fd, const char *path, struct err *err);

/* Appends @len bytes and a NUL to the pool; *at is where. 0, -ENOMEM or -EFBIG. */
int symtab_add_name(struct symtab *tab, const char *name, size_t len, uint32_t *at);
/* 0 or -ENOMEM. */
int symtab_add(struct symtab *tab, const struct symbol_draft *draft);

#endif
