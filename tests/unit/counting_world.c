/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <string.h>

#include "base/vec.h"
#include "counting_world.h"

static void counted(void *ctx, const struct count *count)
{
	struct world *w = ctx;
	struct seen *s = &w->seen[w->nseen++];

	assert_true(w->nseen < ARRAY_SIZE(w->seen));
	*s = (struct seen) { .vcpu = count->vcpu,
			     .node = count->node,
			     .side = count->side,
			     .interval_ns = count->interval_ns,
			     .r = count->reading };
	str_copy(s->vm, sizeof(s->vm), count->vm_name ? count->vm_name : "a node");
	str_copy(s->event, sizeof(s->event), count->event->name);
	str_copy(s->reason, sizeof(s->reason), s->r.reason ? s->r.reason : "");
}

static void noted(void *ctx, const struct note *note)
{
	strbuf_addf(&((struct world *)ctx)->notes, "%s: %s\n", note->vm, note->text);
}

static const struct counting_ops cb = { counted, noted };

struct event world_events[] = {
	{ .name = "cycles", .kind = EVENT_HARDWARE, .group = -1, .must_move = true },
	{ .name = "misses", .kind = EVENT_HARDWARE, .config = 1, .group = -1 },
};
const struct target everything = { NULL, { world_events, 2, 2 } };

int world_start(struct world *w, const struct target *targets, size_t n, struct err *err)
{
	const struct counting_config config = {
		.ops = &fake_source,
		.src = &w->src,
		.targets = targets,
		.ntargets = n,
		.side = w->side ? w->side : SIDE_GUEST,
		.per_vcpu = w->per_vcpu,
		.node_events = w->node_events,
		.cb = &cb,
		.ctx = w,
	};

	return counting_start(&config, &w->c, err);
}

void world_interval(struct world *w)
{
	w->nseen = 0;
	assert_int_equal(counting_interval(w->c, NULL), 0);
}

void world_totals(struct world *w)
{
	w->nseen = 0;
	counting_totals(w->c);
}

const struct seen *world_find(const struct world *w, const char *vm, int vcpu,
			      const char *event)
{
	for (size_t i = 0; i < w->nseen; i++)
		if (!strcmp(w->seen[i].vm, vm) && w->seen[i].vcpu == vcpu &&
		    !strcmp(w->seen[i].event, event))
			return &w->seen[i];
	fail_msg("no count of %s, vCPU %d, %s", vm, vcpu, event);
	return NULL;
}

void world_end(struct world *w)
{
	counting_free(w->c);
	fake_end(&w->src);
	strbuf_free(&w->notes);
}

void world_notes(struct world *w, const char *text)
{
	strbuf_puts(&w->notes, "");
	assert_string_equal(w->notes.data, text);
	strbuf_reset(&w->notes);
}
