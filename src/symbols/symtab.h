/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYMBOLS_SYMTAB_H
#define SYMBOLS_SYMTAB_H

/* Address to function, from a copy of /proc/kallsyms or from an ELF file. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct symbol {
	uint64_t start;
	uint64_t end;	    /* exclusive; for kallsyms the next symbol's start */
	const char *name;   /* owned by the table */
	const char *module; /* "" for the image itself; owned by the table */
};

struct symtab;

/*
 * Loads @path; the kind is told from its content. ELF: .symtab, else .dynsym,
 * through elfutils. kallsyms: text symbols (t, T, w, W) only; all-zero addresses
 * (kptr_restrict) are refused with the remedy.
 */
int symtab_load(const char *path, struct symtab **out, struct err *err);
/* The same for a file from a list of a process's maps: ELF only. */
int symtab_load_program(const char *path, struct symtab **out, struct err *err);
/* The address for which @offset of the ELF file is linked; false: it is no code. */
bool symtab_address(const struct symtab *tab, uint64_t offset, uint64_t *addr);
/* The symbol that covers @addr, or NULL. */
const struct symbol *symtab_find(const struct symtab *tab, uint64_t addr);
size_t symtab_size(const struct symtab *tab);
/* Are they a kernel's: in the upper half of the address space? */
bool symtab_of_kernel(const struct symtab *tab);
void symtab_free(struct symtab *tab);

/* What ran in one VM: its kernel and programs of it. The tables are others'. */
struct symtabs {
	const struct symtab **v; /* owned */
	size_t n, cap;
};

/* From the first table that covers @addr, or NULL. */
const struct symbol *symtabs_find(const struct symtabs *tabs, uint64_t addr);

#endif
