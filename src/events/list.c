/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/list.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "events/lookup.h"

struct listing {
	const struct pmu *pmu;
	const char *family; /* without a box's number */
	int (*cb)(void *ctx, const struct event_name *name);
	void *ctx;
};

static int each_alias(void *ctx, const char *alias)
{
	const struct listing *l = ctx;
	char name[160];
	struct event_name en = { name, l->pmu->name, "",
				 l->pmu->core	       ? EVENT_HARDWARE
				 : l->pmu->socket_wide ? EVENT_UNCORE
						       : EVENT_SOFTWARE };

	snprintf(name, sizeof(name), "%s/%s/", l->family, alias);
	return l->cb(l->ctx, &en);
}

/* uncore_imc of uncore_imc_3: all boxes of a socket's PMU have the same events. */
static void family_of(const struct pmu *pmu, char *out, size_t size)
{
	size_t len;

	str_copy(out, size, pmu->name);
	len = strlen(out);
	while (pmu->socket_wide && len && isdigit((unsigned char)out[len - 1]))
		len--;
	if (len && out[len - 1] == '_')
		out[len - 1] = '\0';
}

int events_list(const struct rootfs *root,
		int (*cb)(void *ctx, const struct event_name *name), void *ctx)
{
	char family[64], last[64] = "";
	struct pmu *pmus;
	size_t n;
	int ret = names_each(cb, ctx);

	ret = ret ? ret : monitor_each(cb, ctx);
	if (ret)
		return ret;
	ret = pmu_list(root, &pmus, &n);
	for (size_t i = 0; !ret && i < n; i++) {
		struct listing l = { &pmus[i], family, cb, ctx };

		family_of(&pmus[i], family, sizeof(family));
		if (strcmp(family, last) && !pmu_usable(&pmus[i], NULL))
			ret = pmu_each(root, &pmus[i], "events", each_alias, &l);
		str_copy(last, sizeof(last), family);
	}
	free(pmus);
	return ret;
}
