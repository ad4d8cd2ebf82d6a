/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* From embed.S. Our own build made it, so its headers are taken as they are. */
extern const unsigned char guest_elf_start[], guest_elf_end[];

static const Elf64_Ehdr *header(void)
{
	return (const Elf64_Ehdr *)guest_elf_start;
}

static const Elf64_Shdr *section(size_t index)
{
	const Elf64_Shdr *all = (const void *)(guest_elf_start + header()->e_shoff);

	return &all[index];
}

int image_load(void *memory, size_t size)
{
	const Elf64_Phdr *ph = (const void *)(guest_elf_start + header()->e_phoff);

	for (size_t i = 0; i < header()->e_phnum; i++) {
		uint64_t at = ph[i].p_paddr - IMAGE_BASE;

		if (ph[i].p_type != PT_LOAD)
			continue;
		if (at > size || ph[i].p_memsz > size - at)
			return -ENOMEM;
		memcpy((char *)memory + at, guest_elf_start + ph[i].p_offset,
		       ph[i].p_filesz);
	}
	return 0;
}

uint64_t image_symbol(const char *name)
{
	for (size_t i = 0; i < header()->e_shnum; i++) {
		const Elf64_Shdr *sh = section(i);
		const Elf64_Sym *sym;
		const char *names;

		if (sh->sh_type != SHT_SYMTAB)
			continue;
		sym = (const void *)(guest_elf_start + sh->sh_offset);
		names = (const char *)guest_elf_start + section(sh->sh_link)->sh_offset;
		for (size_t k = 0; k < sh->sh_size / sizeof(*sym); k++)
			if (!strcmp(names + sym[k].st_name, name))
				return sym[k].st_value;
	}
	return 0;
}

int image_write(const char *path)
{
	size_t size = guest_elf_end - guest_elf_start;
	FILE *file = fopen(path, "wb");
	int ret = 0;

	if (!file)
		return -errno;
	if (fwrite(guest_elf_start, 1, size, file) != size)
		ret = -EIO;
	if (fclose(file) && !ret)
		ret = -errno;
	return ret;
}
