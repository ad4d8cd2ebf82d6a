/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine_tree.h"

#include <err.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			err(1, "%s", path);
		*slash = '/';
	}
}

static void add_file(const char *dir, const char *name, const char *content)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	make_parents(path);
	f = fopen(path, "w");
	if (!f || fputs(content, f) < 0 || fclose(f))
		err(1, "%s", path);
}

void machine_tree_create(struct machine_tree *tree, const char *list)
{
	FILE *f = fopen(list, "r");
	char line[1024], *equals;
	struct err error = { 0 };

	strcpy(tree->dir, "/tmp/vmmprof-tree-XXXXXX");
	if (!f || !mkdtemp(tree->dir))
		err(1, "%s", f ? tree->dir : list);
	while (fgets(line, sizeof(line), f)) {
		equals = strstr(line, " = ");
		if (*line == '#')
			continue;
		if (!equals)
			errx(1, "%s: expected \"path = content\": %s", list, line);
		*equals = '\0';
		add_file(tree->dir, line, equals + 3);
	}
	fclose(f);
	if (rootfs_open(&tree->root, tree->dir, &error))
		errx(1, "%s", error.text);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void machine_tree_remove(struct machine_tree *tree)
{
	rootfs_close(&tree->root);
	nftw(tree->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
