/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "symbols/symtab.h"

static int load(const void *data, size_t len, struct symtab **tab, struct err *err)
{
	char path[] = "/tmp/vmmprof-test-XXXXXX";
	int ret, fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
	close(fd);
	ret = symtab_load(path, tab, err);
	unlink(path);
	return ret;
}

static struct symtab *good(const void *data, size_t len)
{
	struct symtab *tab = NULL;
	struct err err = { 0 };

	if (load(data, len, &tab, &err))
		fail_msg("%s", err.text);
	return tab;
}

static void refuse(const void *data, size_t len, const char *words)
{
	struct symtab *tab = NULL;
	struct err err = { 0 };

	assert_int_equal(load(data, len, &tab, &err), -EINVAL);
	if (!strstr(err.text, words))
		fail_msg("expected \"%s\" in: %s", words, err.text);
}

static const char *at(const struct symtab *tab, uint64_t addr)
{
	const struct symbol *s = symtab_find(tab, addr);

	return s ? s->name : "(none)";
}

static const char kallsyms[] = "0000000000000000 A fixed_percpu_data\n"
			       "ffffffff81000000 T startup_64\n"
			       "ffffffff81000000 T _stext\n"
			       "ffffffff81000000 t a_local_alias\n"
			       "ffffffff81000100 t do_work\n"
			       "ffffffff81000180 D some_data\n"
			       "ffffffff81000200 W weak_one\n"
			       "ffffffff81000200 T __strong_one\n"
			       "ffffffff81000300 t $x\n"
			       "ffffffff81000400 T last\n"
			       "ffffffffc0002100 t mod_b\t[virtio_net]\n"
			       "ffffffffc0002000 t mod_a\t[virtio_net]\n"
			       "ffffffffc0009000 t other\t[bad\033name]\n";

static void kallsyms_gives_functions_modules_and_ends(void **state)
{
	struct symtab *tab = good(kallsyms, sizeof(kallsyms) - 1);
	const struct symbol *s;

	(void)state;
	assert_string_equal(at(tab, 0xffffffff80ffffff), "(none)");
	assert_string_equal(at(tab, 0xffffffff810000ff), "startup_64");
	s = symtab_find(tab, 0xffffffff81000180);
	assert_non_null(s);
	assert_string_equal(s->name, "do_work");
	assert_string_equal(s->module, "");
	assert_true(s->end == 0xffffffff81000200);
	assert_string_equal(at(tab, 0xffffffff810003ff), "__strong_one");
	assert_string_equal(at(tab, 0xffffffff81000fff), "last");
	/* What follows is another module: the last function ends with its page. */
	assert_string_equal(at(tab, 0xffffffff81001000), "(none)");
	s = symtab_find(tab, 0xffffffffc00020ff);
	assert_non_null(s);
	assert_string_equal(s->name, "mod_a");
	assert_string_equal(s->module, "virtio_net");
	assert_string_equal(at(tab, 0xffffffffc0002100), "mod_b");
	assert_string_equal(symtab_find(tab, 0xffffffffc0009000)->module, "bad?name");
	assert_int_equal(symtab_size(tab), 7);
	symtab_free(tab);
}

static void the_best_alias_wins_in_any_order(void **state)
{
	static const char one[] = "10 t zz\n10 W weak\n10 T __good\n10 T good\n10 T goof\n";
	static const char two[] = "10 T goof\n10 T good\n10 T __good\n10 W weak\n10 t zz\n";
	struct symtab *a = good(one, sizeof(one) - 1), *b = good(two, sizeof(two) - 1);

	(void)state;
	assert_string_equal(at(a, 0x10), "good");
	assert_string_equal(at(b, 0x10), "good");
	assert_int_equal(symtab_size(b), 1);
	symtab_free(a);
	symtab_free(b);
}

static void kallsyms_that_hide_or_lie_are_refused_with_words(void **state)
{
	static const char hidden[] = "0000000000000000 T _text\n0000000000000000 t x\n";
	static const char no_text[] = "ffffffff81000000 D data\n";
	static const char nul[] = "ffffffff81000000 T a\0b\n";
	static char line[300000];

	(void)state;
	refuse(hidden, sizeof(hidden) - 1, "kptr_restrict");
	refuse(no_text, sizeof(no_text) - 1, "no text symbols");
	refuse("", 0, "no text symbols");
	refuse("hello world\n", 12, "line 1 is not of a kallsyms file");
	refuse("10 T a\n10 TT b\n", 15, "line 2");
	refuse("12345678901234567 T a\n", 22, "line 1");
	refuse("10 T\n", 5, "line 1");
	refuse(nul, sizeof(nul) - 1, "line 1");
	memset(line, 'a', sizeof(line));
	refuse(line, sizeof(line), "line 1");
}

static void two_hundred_thousand_symbols_are_each_found(void **state)
{
	struct strbuf sb = { 0 };
	struct symtab *tab;
	char name[32];

	(void)state;
	for (uint64_t i = 0; i < 200000; i++)
		strbuf_addf(&sb, "%016lx t function_%lu%s\n", 0xffffffff81000000 + 64 * i,
			    i, i < 150000 ? "" : "\t[module]");
	tab = good(sb.data, sb.len);
	assert_int_equal(symtab_size(tab), 200000);
	for (uint64_t i = 0; i < 200000; i += 7) {
		snprintf(name, sizeof(name), "function_%lu", i);
		assert_string_equal(at(tab, 0xffffffff81000000 + 64 * i + 63), name);
	}
	symtab_free(tab);
	strbuf_free(&sb);
}

/* A little ELF file: null, .text at 0x1000 (0x1000 long), .symtab, .strtab. */
struct little_elf {
	Elf64_Ehdr ehdr;
	Elf64_Shdr shdr[4];
	Elf64_Sym sym[8];
	char str[64];
	Elf64_Phdr phdr[2];
};

#define NAMES "\0main\0helper\0$x\0inner\0alias\0data\0huge\0"

static struct little_elf make_elf(void)
{
	const unsigned char func = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			    local = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
			    label = ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE);
	struct little_elf e = {
		.ehdr = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
				       EV_CURRENT },
			  .e_type = ET_EXEC,
			  .e_machine = EM_X86_64,
			  .e_version = EV_CURRENT,
			  .e_ehsize = sizeof(Elf64_Ehdr),
			  .e_shentsize = sizeof(Elf64_Shdr),
			  .e_shoff = offsetof(struct little_elf, shdr),
			  .e_shnum = 4,
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phoff = offsetof(struct little_elf, phdr),
			  .e_phnum = 2 },
		.shdr = { { 0 },
			  { .sh_type = SHT_PROGBITS,
			    .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			    .sh_addr = 0x1000,
			    .sh_size = 0x1000 },
			  { .sh_type = SHT_SYMTAB,
			    .sh_link = 3,
			    .sh_offset = offsetof(struct little_elf, sym),
			    .sh_size = sizeof(e.sym),
			    .sh_entsize = sizeof(Elf64_Sym),
			    .sh_addralign = 8 },
			  { .sh_type = SHT_STRTAB,
			    .sh_offset = offsetof(struct little_elf, str),
			    .sh_size = sizeof(e.str),
			    .sh_addralign = 1 } },
		.sym = { { 0 },
			 { 1, func, 0, 1, 0x1000, 0x100 },	   /* main */
			 { 6, local, 0, 1, 0x1200, 0 },		   /* helper */
			 { 13, label, 0, 1, 0x1204, 0 },	   /* $x */
			 { 16, label, 0, 1, 0x1040, 0 },	   /* inner */
			 { 22, local, 0, 1, 0x1000, 0x200 },	   /* alias */
			 { 28, func, 0, 1, 0x5000, 8 },		   /* data: outside .text */
			 { 33, func, 0, 1, 0x1f00, UINT64_MAX } }, /* huge */
		.phdr = { { .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = 0x300 },
			  { .p_type = PT_LOAD,
			    .p_flags = PF_R | PF_X,
			    .p_offset = 0x200,
			    .p_vaddr = 0x1000,
			    .p_filesz = 0x800 } },
	};

	memcpy(e.str, NAMES, sizeof(NAMES));
	return e;
}

static void elf_gives_functions_of_executable_sections(void **state)
{
	struct little_elf e = make_elf();
	struct symtab *tab = good(&e, sizeof(e));

	(void)state;
	assert_string_equal(at(tab, 0x1000), "main"); /* not the longer local alias */
	assert_string_equal(at(tab, 0x103f), "main");
	assert_string_equal(at(tab, 0x1041), "inner"); /* a label splits it */
	assert_string_equal(at(tab, 0x1208), "helper");
	assert_string_equal(at(tab, 0x5000), "(none)");
	assert_string_equal(at(tab, 0x1fff), "huge"); /* ends with its section */
	assert_string_equal(at(tab, 0x2000), "(none)");
	assert_int_equal(symtab_size(tab), 4);
	symtab_free(tab);
}

static void an_offset_in_the_file_becomes_the_address_of_its_code(void **state)
{
	struct little_elf e = make_elf();
	struct symtab *tab = good(&e, sizeof(e));
	uint64_t addr = 0;

	(void)state;
	assert_true(symtab_address(tab, 0x400, &addr));
	assert_int_equal(addr, 0x1200);
	assert_string_equal(at(tab, addr), "helper");
	assert_true(symtab_address(tab, 0x200, &addr)); /* data end at 0x300: not code */
	assert_int_equal(addr, 0x1000);
	assert_false(symtab_address(tab, 0x1ff, &addr));
	assert_false(symtab_address(tab, 0xa00, &addr));
	symtab_free(tab);
}

static void a_program_is_never_read_as_kallsyms(void **state)
{
	char path[] = "/tmp/vmmprof-test-XXXXXX";
	struct symtab *tab = NULL;
	struct err err = { 0 };
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, kallsyms, sizeof(kallsyms) - 1), sizeof(kallsyms) - 1);
	close(fd);
	assert_int_equal(symtab_load_program(path, &tab, &err), -EINVAL);
	assert_non_null(strstr(err.text, "not a whole ELF file"));
	unlink(path);
}

static void elf_of_other_kinds_is_refused_with_words(void **state)
{
	struct little_elf e = make_elf();

	(void)state;
	e.ehdr.e_type = ET_REL;
	refuse(&e, sizeof(e), "object file");
	e = make_elf();
	e.shdr[2].sh_type = SHT_PROGBITS;
	refuse(&e, sizeof(e), "no symbol table");
	e = make_elf();
	e.shdr[1].sh_flags = SHF_ALLOC;
	refuse(&e, sizeof(e), "no function symbols");
	e = make_elf();
	e.shdr[3].sh_size = UINT64_MAX;
	refuse(&e, sizeof(e), "cannot be read");
	refuse(&e, 10, "not a whole ELF file");
}

/* Any byte of the file may be any value: no crash, no read out of bounds. */
static void elf_with_wrong_bytes_is_survived(void **state)
{
	static const unsigned char values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	struct little_elf original = make_elf();

	(void)state;
	for (size_t i = 4; i < sizeof(original); i++) {
		for (size_t v = 0; v < sizeof(values); v++) {
			struct little_elf e = original;
			struct symtab *tab = NULL;

			((unsigned char *)&e)[i] = values[v];
			if (load(&e, sizeof(e), &tab, NULL) == 0) {
				symtab_find(tab, 0x1000);
				symtab_free(tab);
			}
		}
	}
	for (size_t len = 0; len < sizeof(original); len++) {
		struct symtab *tab = NULL;

		if (load(&original, len, &tab, NULL) == 0)
			symtab_free(tab);
	}
}

static void this_program_finds_its_own_functions(void **state)
{
	struct symtab *tab = NULL;
	struct err err;
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	bool found = false;

	(void)state;
	assert_true(n > 0);
	self[n] = '\0';
	assert_int_equal(symtab_load(self, &tab, &err), 0);
	for (uint64_t a = 0; a < 1 << 20 && !found; a++)
		found = !strcmp(at(tab, a), "this_program_finds_its_own_functions");
	assert_true(found);
	symtab_free(tab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kallsyms_gives_functions_modules_and_ends),
		cmocka_unit_test(the_best_alias_wins_in_any_order),
		cmocka_unit_test(kallsyms_that_hide_or_lie_are_refused_with_words),
		cmocka_unit_test(two_hundred_thousand_symbols_are_each_found),
		cmocka_unit_test(elf_gives_functions_of_executable_sections),
		cmocka_unit_test(an_offset_in_the_file_becomes_the_address_of_its_code),
		cmocka_unit_test(a_program_is_never_read_as_kallsyms),
		cmocka_unit_test(elf_of_other_kinds_is_refused_with_words),
		cmocka_unit_test(elf_with_wrong_bytes_is_survived),
		cmocka_unit_test(this_program_finds_its_own_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
