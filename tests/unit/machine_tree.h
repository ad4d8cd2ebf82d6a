/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_MACHINE_TREE_H
#define TESTS_UNIT_MACHINE_TREE_H

#include "base/rootfs.h"

/*
 * /sys of another machine, from a list of lines "path = content" ('#': comment),
 * laid out in a directory of its own.
 */
struct machine_tree {
	char dir[64];
	struct rootfs root;
};

/* Ends the program with a message if it cannot. */
void machine_tree_create(struct machine_tree *tree, const char *list);
void machine_tree_remove(struct machine_tree *tree);

#endif
