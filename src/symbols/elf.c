/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of an ELF file, through libelf: elf(5). */
#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "symbols/build.h"

struct loader {
	struct symtab *tab;
	Elf *elf;
	const char *path;
	struct err *err;
	uint32_t strings; /* where the string table starts in the pool */
	size_t strings_len;
};

static int bad_elf(const struct loader *l, const char *what)
{
	return err_set(l->err, EINVAL,
		       "%s: %s; expected an executable or library such as "
		       "vmlinux, not stripped",
		       l->path, what);
}

static Elf_Scn *find_table(Elf *elf, uint32_t type, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, shdr) && shdr->sh_type == type)
			return scn;
	return NULL;
}

/* The bytes of an uncompressed section in the file, NULL if it has none. */
static Elf_Data *section_data(Elf_Scn *scn)
{
	GElf_Shdr shdr;
	Elf_Data *data;

	if (!scn || !gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS ||
	    shdr.sh_flags & SHF_COMPRESSED || shdr.sh_size > SYMBOLS_FILE_MAX)
		return NULL;
	data = elf_getdata(scn, NULL);
	return data && data->d_buf && data->d_size ? data : NULL;
}

/* Labels of the assembler and Arm's mapping symbols are no functions. */
static bool is_function(const GElf_Sym *sym, const char *name)
{
	unsigned char type = GELF_ST_TYPE(sym->st_info);

	if (type != STT_FUNC && type != STT_NOTYPE && type != STT_GNU_IFUNC)
		return false;
	return *name && *name != '$' && strncmp(name, ".L", 2) != 0;
}

static enum symbol_rank rank_of(const GElf_Sym *sym)
{
	switch (GELF_ST_BIND(sym->st_info)) {
	case STB_LOCAL: return RANK_LOCAL;
	case STB_WEAK: return RANK_WEAK;
	}
	return RANK_GLOBAL;
}

static int take_symbol(struct loader *l, const GElf_Sym *sym, uint32_t section)
{
	struct symbol_draft d = { .start = sym->st_value, .rank = rank_of(sym) };
	Elf_Scn *scn = elf_getscn(l->elf, section);
	GElf_Shdr shdr;

	if (sym->st_name >= l->strings_len)
		return 0;
	d.name = l->strings + sym->st_name;
	if (!is_function(sym, l->tab->pool + d.name) || !scn || !gelf_getshdr(scn, &shdr))
		return 0;
	if (!(shdr.sh_flags & SHF_EXECINSTR) || d.start < shdr.sh_addr ||
	    d.start - shdr.sh_addr >= shdr.sh_size ||
	    __builtin_add_overflow(shdr.sh_addr, shdr.sh_size, &d.limit))
		return 0;
	if (sym->st_size && __builtin_add_overflow(d.start, sym->st_size, &d.end))
		d.end = d.limit;
	return symtab_add(l->tab, &d)
		       ? err_set(l->err, ENOMEM, "%s: out of memory", l->path)
		       : 0;
}

static int take_table(struct loader *l, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *syms = section_data(scn);
	Elf_Data *strings = section_data(elf_getscn(l->elf, shdr->sh_link));
	size_t entry = gelf_fsize(l->elf, ELF_T_SYM, 1, EV_CURRENT);
	int ret = 0;

	if (!syms || !strings || !entry)
		return bad_elf(l, "its symbol table cannot be read");
	l->strings_len = strings->d_size;
	if (symtab_add_name(l->tab, strings->d_buf, strings->d_size, &l->strings))
		return err_set(l->err, ENOMEM, "%s: out of memory", l->path);
	for (size_t i = 1; i < syms->d_size / entry && !ret; i++) {
		GElf_Sym sym;

		if (!gelf_getsym(syms, (int)i, &sym) || sym.st_shndx == SHN_UNDEF ||
		    sym.st_shndx >= SHN_LORESERVE)
			continue;
		ret = take_symbol(l, &sym, sym.st_shndx);
	}
	return ret;
}

static void take_segments(struct loader *l)
{
	struct symtab *tab = l->tab;
	GElf_Phdr p;
	size_t n;

	if (elf_getphdrnum(l->elf, &n))
		return;
	for (size_t i = 0; i < n && tab->nsegment < SYMBOLS_SEGMENTS_MAX; i++)
		if (gelf_getphdr(l->elf, (int)i, &p) && p.p_type == PT_LOAD &&
		    p.p_flags & PF_X)
			tab->segment[tab->nsegment++] =
				(struct symbol_segment) { p.p_offset, p.p_filesz,
							  p.p_vaddr };
}

static int load(struct loader *l)
{
	GElf_Ehdr ehdr;
	GElf_Shdr shdr;
	Elf_Scn *scn;

	if (!l->elf || elf_kind(l->elf) != ELF_K_ELF || !gelf_getehdr(l->elf, &ehdr))
		return bad_elf(l, "not a whole ELF file");
	if (ehdr.e_type != ET_EXEC && ehdr.e_type != ET_DYN)
		return bad_elf(
			l, "an ELF file of another type (an object file has no addresses)");
	take_segments(l);
	scn = find_table(l->elf, SHT_SYMTAB, &shdr);
	if (!scn)
		scn = find_table(l->elf, SHT_DYNSYM, &shdr);
	if (!scn)
		return bad_elf(l, "has no symbol table");
	return take_table(l, scn, &shdr);
}

int symtab_load_elf(struct symtab *tab, int fd, const char *path, struct err *err)
{
	struct loader l = { .tab = tab, .path = path, .err = err };
	int ret;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return err_set(err, ENOSYS, "%s: libelf is too old to read it", path);
	/* Not mapped: the file may shrink while it is read. */
	l.elf = elf_begin(fd, ELF_C_READ, NULL);
	ret = load(&l);
	elf_end(l.elf);
	if (!ret && !tab->ndraft)
		ret = bad_elf(&l, "has no function symbols");
	return ret;
}
