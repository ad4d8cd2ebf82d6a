/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "symbols/build.h"

#define PAGE 4096

int symtab_add_name(struct symtab *tab, const char *name, size_t len, uint32_t *at)
{
	if (tab->pool_len + len + 1 > 2 * (size_t)SYMBOLS_FILE_MAX)
		return -EFBIG;
	if (vec_reserve((void **)&tab->pool, &tab->pool_cap, tab->pool_len + len + 1, 1))
		return -ENOMEM;
	*at = tab->pool_len;
	memcpy(tab->pool + tab->pool_len, name, len);
	tab->pool[tab->pool_len + len] = '\0';
	tab->pool_len += len + 1;
	return 0;
}

int symtab_add(struct symtab *tab, const struct symbol_draft *draft)
{
	return VEC_PUSH(tab->draft, tab->ndraft, tab->capdraft, *draft);
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/*
 * Ascending address; aliases best first, by rules that leave no choice to the
 * order of the file: global before weak before local, a known size before
 * none, the longer one, fewer leading underscores, the alphabet.
 */
static int compare_drafts(const void *a, const void *b, void *pool)
{
	const struct symbol_draft *x = a, *y = b;
	const char *nx = (char *)pool + x->name, *ny = (char *)pool + y->name;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	if (underscores(nx) != underscores(ny))
		return underscores(nx) < underscores(ny) ? -1 : 1;
	return strcmp(nx, ny);
}

/*
 * Where @d ends. Symbols nested in others split them: an address belongs to the
 * one that starts last. A symbol of unknown size ends where the next one of its
 * module starts; if none follows, at the end of its page.
 */
static uint64_t end_of(const struct symtab *tab, const struct symbol_draft *d,
		       const struct symbol_draft *next)
{
	uint64_t end = d->end && d->end < d->limit ? d->end : d->limit;
	uint64_t page_end = (d->start | (PAGE - 1)) + 1;

	if (!d->end && d->limit == UINT64_MAX && page_end &&
	    (!next || strcmp(tab->pool + d->module, tab->pool + next->module) != 0))
		end = page_end;
	return next && next->start < end ? next->start : end;
}

/* Names come from a guest and end on terminals. */
static void clean_pool(struct symtab *tab)
{
	for (size_t i = 0; i < tab->pool_len; i++) {
		unsigned char c = tab->pool[i];

		if ((c && c < 0x20) || c == 0x7f)
			tab->pool[i] = '?';
	}
}

/* Sorts the drafts and keeps the best of those with one address. */
static void settle(struct symtab *tab)
{
	bool sorted = true;
	size_t n = 0;

	for (size_t i = 1; i < tab->ndraft && sorted; i++)
		sorted = tab->draft[i - 1].start < tab->draft[i].start;
	if (!sorted)
		qsort_r(tab->draft, tab->ndraft, sizeof(*tab->draft), compare_drafts,
			tab->pool);
	for (size_t i = 0; i < tab->ndraft; i++)
		if (!n || tab->draft[i].start != tab->draft[n - 1].start)
			tab->draft[n++] = tab->draft[i];
	tab->ndraft = n;
}

static int seal(struct symtab *tab)
{
	clean_pool(tab);
	settle(tab);
	tab->sym = calloc(tab->ndraft + 1, sizeof(*tab->sym));
	if (!tab->sym)
		return -ENOMEM;
	for (size_t i = 0; i < tab->ndraft; i++) {
		const struct symbol_draft *d = &tab->draft[i];

		tab->sym[i] = (struct symbol) {
			.start = d->start,
			.end = end_of(tab, d, i + 1 < tab->ndraft ? d + 1 : NULL),
			.name = tab->pool + d->name,
			.module = tab->pool + d->module,
		};
	}
	tab->nsym = tab->ndraft;
	free(tab->draft);
	tab->draft = NULL;
	return 0;
}

static int load(struct symtab *tab, int fd, const char *path, bool only_elf,
		struct err *err)
{
	char magic[4] = { 0 };
	uint32_t none; /* offset 0: no module */
	bool elf;
	int ret;

	if (read(fd, magic, sizeof(magic)) < 0)
		return err_set(err, errno, "%s: cannot read: %s", path, err_name(errno));
	if (symtab_add_name(tab, "", 0, &none))
		return err_set(err, ENOMEM, "%s: out of memory", path);
	elf = only_elf || !memcmp(magic, "\177ELF", 4);
	ret = elf ? symtab_load_elf(tab, fd, path, err)
		  : symtab_load_kallsyms(tab, fd, path, err);
	if (!ret && seal(tab))
		ret = err_set(err, ENOMEM, "%s: out of memory", path);
	return ret;
}

static int open_and_load(const char *path, bool only_elf, struct symtab **out,
			 struct err *err)
{
	struct symtab *tab;
	struct stat st;
	int ret, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return err_set(err, errno, "%s: cannot open: %s", path, err_name(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(
			err, EINVAL,
			"%s: not a regular file; expected a copy of /proc/kallsyms or "
			"an ELF file such as vmlinux",
			path);
	}
	tab = calloc(1, sizeof(*tab));
	ret = tab ? load(tab, fd, path, only_elf, err)
		  : err_set(err, ENOMEM, "%s: out of memory", path);
	close(fd);
	if (ret) {
		symtab_free(tab);
		return ret;
	}
	*out = tab;
	return 0;
}

int symtab_load(const char *path, struct symtab **out, struct err *err)
{
	return open_and_load(path, false, out, err);
}

int symtab_load_program(const char *path, struct symtab **out, struct err *err)
{
	return open_and_load(path, true, out, err);
}

bool symtab_address(const struct symtab *tab, uint64_t offset, uint64_t *addr)
{
	for (size_t i = 0; i < tab->nsegment; i++) {
		const struct symbol_segment *s = &tab->segment[i];

		if (offset >= s->offset && offset - s->offset < s->size) {
			*addr = s->addr + (offset - s->offset);
			return true;
		}
	}
	return false;
}

const struct symbol *symtab_find(const struct symtab *tab, uint64_t addr)
{
	size_t lo = 0, hi = tab->nsym;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (tab->sym[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && addr < tab->sym[lo - 1].end ? &tab->sym[lo - 1] : NULL;
}

size_t symtab_size(const struct symtab *tab)
{
	return tab->nsym;
}

bool symtab_of_kernel(const struct symtab *tab)
{
	return tab->nsym && tab->sym[tab->nsym - 1].start >> 63;
}

const struct symbol *symtabs_find(const struct symtabs *tabs, uint64_t addr)
{
	const struct symbol *sym = NULL;

	for (size_t i = 0; i < tabs->n && !sym; i++)
		sym = symtab_find(tabs->v[i], addr);
	return sym;
}

void symtab_free(struct symtab *tab)
{
	if (!tab)
		return;
	free(tab->sym);
	free(tab->pool);
	free(tab->draft);
	free(tab);
}
