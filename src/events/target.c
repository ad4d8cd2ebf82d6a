/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/target.h"

#include <errno.h>

int target_split(const char *arg, char *pattern, size_t size, const char **events,
		 struct err *err)
{
	const char *s = arg;
	size_t n = 0;

	while (*s && *s != ':') {
		size_t take = 1;

		if (s[0] == '\\' && s[1] == ':')
			s++;
		else if (s[0] == '\\' && s[1])
			take = 2;
		if (n + take >= size)
			return err_set(err, EINVAL,
				       "%.40s...: a VM's name or pattern has fewer "
				       "than %zu characters",
				       arg, size);
		while (take--)
			pattern[n++] = *s++;
	}
	pattern[n] = '\0';
	if (!n)
		return err_set(err, EINVAL,
			       "\"%.40s\": expected a VM's name, id or pattern before "
			       "the ':', as in web:cycles or '*:cycles'",
			       arg);
	*events = *s ? s + 1 : NULL;
	if (*events && !**events)
		return err_set(err, EINVAL,
			       "\"%.40s\": expected events after the ':', as in "
			       "%.40s:cycles; leave the ':' out for the default events",
			       arg, pattern);
	return 0;
}
