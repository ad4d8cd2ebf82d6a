/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Would these events fit? By opening them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/hosted/set.h"

#define RING_BYTES 8192 /* rings as small as they come: they are closed at once */

struct tried {
	size_t targets, events;
	struct strbuf wrong;
	bool turns;
};

/* An event that says no side is the VM's own, or the hypervisor's. */
static int with_sides(const struct event_set *in, enum hosted_kind kind,
		      struct event_set *out)
{
	int ret = event_set_append(out, in);

	for (size_t i = 0; i < out->n; i++)
		if (out->ev[i].side == SIDE_DEFAULT)
			out->ev[i].side =
				kind == HOSTED_HYPERVISOR ? SIDE_HOST : SIDE_GUEST;
	return ret;
}

static bool sampled(const struct event_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->ev[i].period || set->ev[i].freq)
			return true;
	return false;
}

/* The same holds for many VMs: it need not be told of each. */
static void say_once(struct strbuf *wrong, const char *event, const char *reason)
{
	char words[320];

	snprintf(words, sizeof(words), "%s: %s", event, reason);
	if (!wrong->len || !strstr(wrong->data, words))
		strbuf_addf(wrong, "%s%s", wrong->len ? "; " : "", words);
}

/* Opens it all for a moment, on a target that answers to it. */
static int try_ask(struct hosted *h, const struct hosted_target *t,
		   const struct event_set *asked, struct tried *tried)
{
	struct event_set set = { 0 };
	struct opened *opened = calloc(asked->n + 1, sizeof(*opened));
	struct hosted_set *open = NULL;
	struct err err = { 0 };
	int ret = opened ? with_sides(asked, t->kind, &set) : -ENOMEM;

	if (!ret)
		ret = hosted_set_get(h, t, &set, sampled(&set) ? RING_BYTES : 0, opened,
				     &open, &err);
	if (!ret) {
		tried->targets++;
		tried->events += set.n;
	}
	for (size_t i = 0; !ret && i < set.n; i++)
		if (opened[i].state != READ_COUNTED &&
		    h->ops->told(t, &set.ev[i]) == TOLD_NOTHING)
			say_once(&tried->wrong, set.ev[i].name, opened[i].reason);
	tried->turns = tried->turns || (!ret && hosted_set_turns(open));
	if (open) {
		hosted_set_stop(open);
		hosted_set_put(open);
	}
	event_set_free(&set);
	free(opened);
	return ret == -ENOMEM ? ret : 0;
}

static int try_nodes(struct hosted *h, const struct topology *topo,
		     const struct event_set *asked, struct tried *tried)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < topo->machine.nnodes; i++) {
		const struct hosted_target t = {
			.kind = HOSTED_NODE,
			.id = (unsigned)topo->machine.nodes[i].id,
			.name = "node",
		};

		ret = try_ask(h, &t, asked, tried);
	}
	return ret;
}

static int try_vms(struct hosted *h, const struct topology *topo,
		   const struct capability_ask *ask, struct tried *tried)
{
	struct hosted_target t;
	int ret = 0;

	for (size_t i = 0; !ret && i < topo->nvms; i++) {
		if (ask->pattern && !vm_matches(&topo->vms[i], ask->pattern))
			continue;
		h->ops->target(&topo->vms[i], &t);
		ret = try_ask(h, &t, ask->events, tried);
	}
	return ret;
}

void hosted_check_asked(struct hosted *h, const struct topology *topo,
			const struct capability_ask *asks, size_t nasks,
			struct capability *c)
{
	struct tried tried = { 0 };
	int ret = 0;

	if (!nasks)
		return;
	for (size_t i = 0; !ret && i < nasks; i++)
		ret = asks[i].nodes ? try_nodes(h, topo, asks[i].events, &tried)
				    : try_vms(h, topo, &asks[i], &tried);
	if (ret)
		finding(c, VERDICT_UNKNOWN, ABLE_ASKED, "out of memory");
	else if (!tried.targets)
		finding(c, VERDICT_MISSING, ABLE_ASKED, "no %s answers to that name",
			h->ops->vm);
	else if (tried.wrong.len)
		finding(c, VERDICT_LIMITED, ABLE_ASKED, "%s", tried.wrong.data);
	else if (tried.turns)
		finding(c, VERDICT_LIMITED, ABLE_ASKED,
			"%zu events on %zu targets can be counted, by turns: they are more "
			"than the host's counters",
			tried.events, tried.targets);
	else
		finding(c, VERDICT_OK, 0, "%zu events on %zu targets fit, all at once",
			tried.events, tried.targets);
	strbuf_free(&tried.wrong);
}
