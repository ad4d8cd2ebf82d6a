/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A symbol file, kallsyms or ELF (libelf reads it with us). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "symbols/symtab.h"

static void check(const struct symtab *tab, uint64_t addr)
{
	const struct symbol *s = symtab_find(tab, addr);

	if (!s)
		return;
	if (addr < s->start || addr >= s->end || strlen(s->name) > 1 << 20 ||
	    strlen(s->module) > 1 << 20)
		abort();
	if (symtab_find(tab, s->start) != s)
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symtab *tab = NULL;
	struct err err = { 0 };
	char path[40];
	int fd = memfd_create("symbols", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (symtab_load(path, &tab, &err) && (err.code >= 0 || !*err.text))
		abort();
	for (size_t i = 0; tab && i + 8 <= size && i < 4096; i += 8) {
		uint64_t addr;

		memcpy(&addr, data + i, sizeof(addr));
		check(tab, addr);
		check(tab, UINT64_C(0xffffffff81000000) + i);
	}
	symtab_free(tab);
	close(fd);
	return 0;
}
