/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What others have open in Xen: how many sets; and their rings, written over. */
#include <err.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/ring.h"
#include "way.h"

#define PAUSE_US 2000

void way_spoil(void *ring, unsigned frames, uint64_t *seed)
{
	volatile struct vpmu_ring_page *page = ring;
	volatile uint64_t *words = ring;

	for (unsigned i = 0; i < 64; i++) {
		size_t at = draw(seed) % (frames * VPMU_RING_PAGE / sizeof(*words));

		words[at] = draw(seed);
	}
	page->tail = draw(seed) >> draw(seed) % 64;
	page->head = draw(seed) >> draw(seed) % 64;
	page->records = draw(seed);
}

int cmd_sets(char **words)
{
	struct xenpmu_next next = { .version = XENPMU_VERSION };
	long long n = 0;

	(void)words;
	while (!WAY_PMU(XENPMU_NEXT, &next))
		n++;
	result("sets", n);
	return 0;
}

int cmd_spoil(char **words)
{
	struct xenpmu_next next = { .version = XENPMU_VERSION };
	unsigned domid = atoi(words[0]), frames = atoi(words[1]);
	uint64_t seed = 1;
	void *ring;

	do {
		if (WAY_PMU(XENPMU_NEXT, &next))
			errx(1, "nothing is open on domain %u", domid);
	} while (next.domid != domid);
	ring = way_map(XENPMU_DOMID_XEN, XENPMU_RESOURCE_RING, next.handle, 0, frames);
	if (!ring)
		err(1, "map");
	while (access(words[2], F_OK)) {
		way_spoil(ring, frames, &seed);
		usleep(PAUSE_US);
	}
	way_unmap(ring, frames);
	return 0;
}
