/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/lookup.h"

struct listing {
	const struct pmu *pmu;
	int (*cb)(void *ctx, const struct event_name *name);
	void *ctx;
};

static int each_alias(void *ctx, const char *alias)
{
	const struct listing *l = ctx;
	char name[160];
	struct event_name en = { name, l->pmu->name, "",
				 l->pmu->core ? EVENT_HARDWARE : EVENT_SOFTWARE };

	snprintf(name, sizeof(name), "%s/%s/", l->pmu->name, alias);
	return l->cb(l->ctx, &en);
}

int events_list(const struct rootfs *root,
		int (*cb)(void *ctx, const struct event_name *name), void *ctx)
{
	struct pmu *pmus;
	size_t n;
	int ret = names_each(cb, ctx);

	if (ret)
		return ret;
	ret = pmu_list(root, &pmus, &n);
	for (size_t i = 0; !ret && i < n; i++) {
		struct listing l = { &pmus[i], cb, ctx };

		if (!pmu_usable(&pmus[i], NULL))
			ret = pmu_each(root, &pmus[i], "events", each_alias, &l);
	}
	free(pmus);
	return ret;
}
