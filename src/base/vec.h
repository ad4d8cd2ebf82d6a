/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/*
 * Growing arrays as three plain fields: T *v; size_t nv, capv.
 * VEC_PUSH() appends a copy of @item; 0 or -ENOMEM (the array is then intact).
 */
static inline int vec_reserve(void **data, size_t *cap, size_t need, size_t elem)
{
	size_t n = *cap ? *cap : 8;
	void *p;

	if (need <= *cap)
		return 0;
	while (n < need)
		n *= 2;
	p = reallocarray(*data, n, elem);
	if (!p)
		return -ENOMEM;
	*data = p;
	*cap = n;
	return 0;
}

#define VEC_PUSH(v, n, cap, item)                                                          \
	(vec_reserve((void **)&(v), &(cap), (n) + 1, sizeof(*(v)))                         \
		 ? -ENOMEM                                                                 \
		 : ((v)[(n)++] = (item), 0))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
