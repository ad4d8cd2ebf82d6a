/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_MAPS_H
#define RECORD_MAPS_H

/* The files that a process had mapped for execution, as its MMAP records tell. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/symtab.h"

struct map_module {
	char *path;	    /* as recorded; owned */
	char *name;	    /* base name, cleaned; owned */
	struct symtab *tab; /* NULL: not read yet (@tried false), or has none; owned */
	bool tried;
};

struct map {
	uint64_t start, end; /* end exclusive */
	uint64_t offset;     /* of start in the file */
	uint32_t module;
};

/* Zero-initialise; maps_free() empties it. */
struct maps {
	bool read_files; /* the caller's: may the modules' files be opened? */
	struct map *v;	 /* in order of arrival; owned */
	size_t n, cap;
	struct map_module *modules; /* owned */
	size_t nmodules, capmodules;
	/* Once settled: map number owner[i] has [bound[i], bound[i + 1]). */
	uint64_t *bound; /* ascending; owned */
	uint32_t *owner; /* owned */
	size_t nbounds;
};

/* Where an address lies. */
struct map_place {
	const struct symbol *sym; /* NULL: its file is not there, or does not tell */
	const char *module;	  /* base name of the file, or "anon", "vdso" */
	uint64_t bias;		  /* run-time address less the symbol's */
};

/* A later map replaces what it covers of earlier ones. false: out of memory. */
bool maps_add(struct maps *m, uint64_t start, uint64_t len, uint64_t offset,
	      const char *path);
/*
 * Call after the last maps_add(). Reads symbols of the file that is hit, from where it
 * lies now: nothing tells whether it is the one that ran. Only regular files are
 * opened. false: nothing is mapped there, or out of memory.
 */
bool maps_find(struct maps *m, uint64_t addr, struct map_place *place);
void maps_free(struct maps *m);

#endif
