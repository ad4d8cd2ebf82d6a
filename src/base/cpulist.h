/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_CPULIST_H
#define BASE_CPULIST_H

#include <stddef.h>

/* The kernel's list format of CPUs and nodes: "0-3,7". */

#define CPULIST_MAX 8192 /* highest CPU number that is accepted, plus one */

/*
 * Expands @s into a new array of numbers in ascending order of appearance.
 * @out is malloc()ed (NULL when empty), the caller frees it.
 * 0, -EINVAL (not a list), -ERANGE (a number of CPULIST_MAX or more), -ENOMEM.
 */
int cpulist_parse(const char *s, int **out, size_t *count);

#endif
