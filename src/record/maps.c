/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/maps.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "base/vec.h"

#define NONE UINT32_MAX

/* "libc.so.6" of its path, "anon" of "//anon", "vdso" of "[vdso]". */
static char *module_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash && slash[1] ? slash + 1 : path;
	size_t len = strlen(name);
	char *copy;

	if (*name == '[' && name[len - 1] == ']' && len > 2) {
		name++;
		len -= 2;
	}
	copy = strndup(name, len);
	if (copy)
		str_clean(copy);
	return copy;
}

/* Maps of one file mostly come one after the other. */
static bool use_module(struct maps *m, const char *path, uint32_t *module)
{
	struct map_module item = { 0 };

	*module = m->nmodules - 1;
	if (m->nmodules && !strcmp(m->modules[*module].path, path))
		return true;
	item.path = strdup(path);
	item.name = module_name(path);
	if (!item.path || !item.name ||
	    VEC_PUSH(m->modules, m->nmodules, m->capmodules, item)) {
		free(item.path);
		free(item.name);
		return false;
	}
	*module = m->nmodules - 1;
	return true;
}

bool maps_add(struct maps *m, uint64_t start, uint64_t len, uint64_t offset,
	      const char *path)
{
	struct map map = { .start = start, .offset = offset };

	if (!len || __builtin_add_overflow(start, len, &map.end) || m->n == NONE)
		return true;
	return use_module(m, path, &map.module) && !VEC_PUSH(m->v, m->n, m->cap, map);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* How many bounds are at or below @addr. */
static size_t bounds_to(const struct maps *m, uint64_t addr)
{
	size_t lo = 0, hi = m->nbounds;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->bound[mid] <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The first piece from @i on that has no owner; the way there gets shorter. */
static uint32_t unowned(uint32_t *next, uint32_t i)
{
	while (next[i] != i)
		i = next[i] = next[next[i]];
	return i;
}

/* Newest maps first, each takes the pieces that have no owner yet. */
static bool settle(struct maps *m)
{
	size_t n = 0;
	uint32_t *next;

	if (m->nbounds || !m->n || m->n > NONE / 2 - 1)
		return m->nbounds;
	m->bound = calloc(2 * m->n, sizeof(*m->bound));
	m->owner = calloc(2 * m->n, sizeof(*m->owner));
	next = calloc(2 * m->n, sizeof(*next));
	if (!m->bound || !m->owner || !next) {
		free(m->bound);
		free(m->owner);
		free(next);
		m->bound = NULL;
		m->owner = NULL;
		return false;
	}
	for (size_t i = 0; i < m->n; i++) {
		m->bound[2 * i] = m->v[i].start;
		m->bound[2 * i + 1] = m->v[i].end;
	}
	qsort(m->bound, 2 * m->n, sizeof(*m->bound), compare);
	for (size_t i = 0; i < 2 * m->n; i++)
		if (!n || m->bound[n - 1] != m->bound[i])
			m->bound[n++] = m->bound[i];
	m->nbounds = n;
	for (size_t i = 0; i < n; i++) {
		m->owner[i] = NONE;
		next[i] = i;
	}
	for (size_t k = m->n; k--;) {
		uint32_t i = unowned(next, bounds_to(m, m->v[k].start) - 1);

		for (; m->bound[i] < m->v[k].end; i = unowned(next, i)) {
			m->owner[i] = k;
			next[i] = i + 1;
		}
	}
	free(next);
	return true;
}

/* Names come from the recording: a device is not even opened. */
static void read_module(struct map_module *mod)
{
	struct stat st;

	mod->tried = true;
	if (*mod->path == '/' && !stat(mod->path, &st) && S_ISREG(st.st_mode) && st.st_size)
		symtab_load_program(mod->path, &mod->tab, NULL);
}

bool maps_find(struct maps *m, uint64_t addr, struct map_place *place)
{
	const struct map *map;
	struct map_module *mod;
	uint64_t vaddr;
	size_t i;

	if (!settle(m))
		return false;
	i = bounds_to(m, addr);
	if (!i || m->owner[i - 1] == NONE)
		return false;
	map = &m->v[m->owner[i - 1]];
	mod = &m->modules[map->module];
	if (m->read_files && !mod->tried)
		read_module(mod);
	*place = (struct map_place) { .module = mod->name };
	if (mod->tab &&
	    symtab_address(mod->tab, map->offset + (addr - map->start), &vaddr)) {
		place->sym = symtab_find(mod->tab, vaddr);
		place->bias = addr - vaddr;
	}
	return true;
}

void maps_free(struct maps *m)
{
	for (size_t i = 0; i < m->nmodules; i++) {
		symtab_free(m->modules[i].tab);
		free(m->modules[i].path);
		free(m->modules[i].name);
	}
	free(m->modules);
	free(m->v);
	free(m->bound);
	free(m->owner);
	*m = (struct maps) { 0 };
}
