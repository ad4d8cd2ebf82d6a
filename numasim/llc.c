/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numasim/machine_impl.h"

bool llc_drop_owners(const struct machine *m, struct node *n, const struct llc *l,
		     uint32_t slot)
{
	uint32_t owners = *llc_meta(m, l, slot) >> META_OWNER_SHIFT,
		 line = l->line[slot] - 1;
	bool written = false;

	for (; owners; owners &= owners - 1)
		written |= core_drop(&n->cores[__builtin_ctz(owners)], line);
	return written;
}

/* Not recently used, from a random way on. */
static uint32_t victim(const struct machine *m, struct node *n, const struct llc *l,
		       uint32_t set)
{
	uint32_t unused = ~l->used[set] & m->all_ways, from;

	n->random = n->random * 6364136223846793005u + 1442695040888963407u;
	from = unused & UINT32_MAX << ((n->random >> 32) * m->spec.llc.ways >> 32);
	return (uint32_t)__builtin_ctz(from ? from : unused);
}

void llc_out(const struct machine *m, struct node *n, struct llc *l, uint32_t slot)
{
	static const uint8_t event[] = {
		[LINE_M] = NODE_LINES_OUT_M,
		[LINE_E] = NODE_LINES_OUT_E,
		[LINE_S] = NODE_LINES_OUT_S,
		[LINE_F] = NODE_LINES_OUT_F,
	};

	n->events[event[*llc_meta(m, l, slot) & META_STATE]]++;
	l->line[slot] = 0;
	*llc_meta(m, l, slot) = 0;
}

uint32_t llc_make_room(struct machine *m, struct node *n, struct llc *l, uint32_t line,
		       uint64_t at, uint64_t *wait)
{
	const uint32_t set = llc_set(m, line), first = set * 2 * m->stride;
	const uint32_t empty = match(l->line + first, m->stride, 0, 0) & m->all_ways;
	uint32_t slot, old, meta;

	if (empty)
		return first + (uint32_t)__builtin_ctz(empty);
	slot = first + victim(m, n, l, set);
	old = l->line[slot] - 1;
	if (*llc_meta(m, l, slot) & META_OWNERS)
		llc_drop_owners(m, n, l, slot);
	meta = *llc_meta(m, l, slot);
	llc_out(m, n, l, slot);
	if ((meta & META_STATE) == LINE_M) {
		uint64_t begin = tracker_begin(&n->wt, at);

		*wait += begin - at;
		n->events[NODE_WT_TO_RTID]++;
		tracker_end(
			&n->wt, begin,
			memory_write(m, n->index, meta >> META_HOME_SHIFT & 7, old, begin));
	}
	return slot;
}

void machine_forget(struct machine *m, uint64_t line, uint64_t count)
{
	for (uint64_t end = line + count; line < end; line++) {
		uint8_t nodes = m->pages[line / PAGE_LINES];

		if (!nodes)
			line |= PAGE_LINES - 1; /* on to the next page */
		for (; nodes; nodes &= (uint8_t)(nodes - 1)) {
			struct node *n = &m->nodes[__builtin_ctz(nodes)];
			struct llc *l = llc_of_page(m, n, (uint32_t)line);
			uint32_t slot = llc_find(m, l, (uint32_t)line);

			if (slot == NO_SLOT)
				continue;
			llc_drop_owners(m, n, l, slot);
			llc_out(m, n, l, slot);
		}
	}
}
