/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/cpulist.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"

static int parse_number(const char **s, int *out)
{
	char *end;
	long v;

	if (!isdigit((unsigned char)**s))
		return -EINVAL;
	errno = 0;
	v = strtol(*s, &end, 10);
	if (errno || v >= CPULIST_MAX)
		return -ERANGE;
	*s = end;
	*out = v;
	return 0;
}

int cpulist_parse(const char *s, int **out, size_t *count)
{
	int *v = NULL, first, last, ret = 0;
	size_t n = 0, cap = 0;

	while (*s) {
		ret = parse_number(&s, &first);
		last = first;
		if (!ret && *s == '-') {
			s++;
			ret = parse_number(&s, &last);
		}
		if (!ret && (last < first || (*s && *s != ',')))
			ret = -EINVAL;
		for (int cpu = first; !ret && cpu <= last; cpu++)
			ret = n < CPULIST_MAX ? VEC_PUSH(v, n, cap, cpu) : -ERANGE;
		if (ret)
			goto fail;
		if (*s == ',' && !*++s) {
			ret = -EINVAL;
			goto fail;
		}
	}
	*out = v;
	*count = n;
	return 0;
fail:
	free(v);
	return ret;
}
