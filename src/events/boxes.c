/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/boxes.h"

#include <stdlib.h>

#include "base/vec.h"
#include "events/lookup.h"

int event_boxes(const struct rootfs *root, const char *pmu, struct event_box **out,
		size_t *n)
{
	struct pmu *pmus;
	size_t all, cap = 0;
	int ret = pmu_list(root, &pmus, &all);

	*out = NULL;
	*n = 0;
	for (size_t i = 0; !ret && i < all; i++) {
		struct event_box box = { .type = pmus[i].type };

		if (!pmus[i].socket_wide || !pmu_is_box(pmus[i].name, pmu))
			continue;
		str_copy(box.name, sizeof(box.name), pmus[i].name);
		if (rootfs_read(root, box.cpumask, sizeof(box.cpumask),
				"sys/bus/event_source/devices/%s/cpumask", box.name) < 0)
			*box.cpumask = '\0';
		ret = VEC_PUSH(*out, *n, cap, box);
	}
	free(pmus);
	if (ret) {
		free(*out);
		*out = NULL;
		*n = 0;
	}
	return ret;
}
