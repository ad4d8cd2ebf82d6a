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

int events_of_vm(const struct event_set *set, bool sampling, struct err *err)
{
	for (size_t i = 0; i < set->n; i++) {
		const struct event *ev = &set->ev[i];

		if (ev->kind == EVENT_UNCORE)
			return err_set(err, EINVAL,
				       "%s: PMU %s counts for a whole socket or device and "
				       "knows no VMs, so its events are counted per node, "
				       "by stat -e",
				       ev->name, ev->pmu);
		if (sampling && ev->kind == EVENT_MONITOR)
			return err_set(err, EINVAL,
				       "%s: no counter tells it, so it cannot be sampled",
				       ev->name);
	}
	return 0;
}
