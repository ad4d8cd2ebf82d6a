/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "events/parse.h"
#include "events/target.h"

struct making {
	const struct plan_options *opt;
	const char *fallback;
	bool sampling;
	const struct rootfs *root; /* NULL: no kernel stands between, */
	struct event_table *table; /* and events are this table's; owned */
	struct event_set of_all;   /* those of -e that VMs count */
	struct plan *plan;
};

/* ---- the source */

static int add_pid(struct plan *plan, const char *word, struct err *err)
{
	uint64_t pid;

	if (str_u64(word, 10, &pid) || !pid || pid > INT32_MAX)
		return err_set(err, EINVAL,
			       "-p %s: expected process numbers, separated by commas",
			       word);
	if (VEC_PUSH(plan->pids, plan->npids, plan->cappids, (pid_t)pid))
		return err_set(err, ENOMEM, "out of memory");
	return 0;
}

static int add_pids(struct plan *plan, const char *arg, struct err *err)
{
	char *words = strdup(arg), *rest = words, *word;
	int ret = words ? 0 : err_set(err, ENOMEM, "out of memory");

	while (!ret && (word = strsep(&rest, ",")))
		ret = add_pid(plan, word, err);
	free(words);
	return ret;
}

int plan_open(const struct plan_options *opt, const struct common_options *common,
	      struct plan *plan, struct err *err)
{
	int ret = 0;

	if (opt->vms.n && opt->pids.n)
		return err_set(err, EINVAL,
			       "--vm and -p: choose one of them, VMs or plain processes");
	for (size_t i = 0; !ret && i < opt->pids.n; i++)
		ret = add_pids(plan, opt->pids.v[i], err);
	if (!ret)
		ret = common_source(common, plan->npids, &plan->ops, err);
	return ret ? ret
		   : common_open(common, plan->ops, plan->pids, plan->npids, &plan->src,
				 err);
}

/* ---- events */

static int parse(const struct making *m, const char *spec, struct event_set *set,
		 struct err *err)
{
	return m->table ? events_parse_with(spec, m->root, m->table, set, err)
			: events_parse(spec, m->root, set, err);
}

/* Events of -e are every VM's, or every node's. */
static int read_common_events(struct making *m, struct err *err)
{
	struct event_set all = { 0 };
	int ret = 0;

	for (size_t i = 0; !ret && i < m->opt->events.n; i++)
		ret = parse(m, m->opt->events.v[i], &all, err);
	if (!ret && m->sampling)
		ret = events_of_vm(&all, true, err);
	for (size_t i = 0; !ret && i < all.n; i++) {
		struct event_set *to =
			all.ev[i].kind == EVENT_UNCORE ? &m->plan->node_events : &m->of_all;

		if (VEC_PUSH(to->ev, to->n, to->cap, all.ev[i]))
			ret = err_set(err, ENOMEM, "out of memory");
	}
	event_set_free(&all);
	return ret;
}

static int target_events(const struct making *m, const char *own, bool named,
			 struct event_set *out, struct err *err)
{
	int ret = 0;

	if (event_set_append(out, &m->plan->models.vcpu))
		ret = err_set(err, ENOMEM, "out of memory");
	if (!ret && own)
		ret = parse(m, own, out, err);
	if (!ret && event_set_append(out, &m->of_all))
		ret = err_set(err, ENOMEM, "out of memory");
	if (!ret && !out->n && (named || !m->plan->node_events.n))
		ret = parse(m, m->fallback, out, err);
	return ret ? ret : events_of_vm(out, m->sampling, err);
}

static int add_target(struct making *m, const char *pattern, const char *own,
		      struct err *err)
{
	struct plan *plan = m->plan;
	struct target t = { 0 };
	char *copy = pattern ? strdup(pattern) : NULL;
	int ret = target_events(m, own, pattern, &t.events, err);

	if (!ret && !t.events.n)
		return 0; /* only nodes are asked for */
	t.pattern = copy;
	if (!ret && pattern &&
	    (!copy || VEC_PUSH(plan->patterns, plan->npatterns, plan->cappatterns, copy)))
		ret = err_set(err, ENOMEM, "out of memory");
	else if (!ret)
		copy = NULL;
	if (!ret && VEC_PUSH(plan->targets, plan->ntargets, plan->captargets, t))
		ret = err_set(err, ENOMEM, "out of memory");
	if (ret) {
		event_set_free(&t.events);
		free(copy);
	}
	return ret;
}

static int add_vm(struct making *m, const char *arg, struct err *err)
{
	char pattern[128];
	const char *events;
	int ret = target_split(arg, pattern, sizeof(pattern), &events, err);

	return ret ? ret : add_target(m, pattern, events, err);
}

static int add_targets(struct making *m, struct err *err)
{
	const struct plan_options *opt = m->opt;
	int ret = event_set_append(&m->plan->node_events, &m->plan->models.node);

	if (ret)
		err_set(err, ENOMEM, "out of memory");
	else
		ret = read_common_events(m, err);
	for (size_t i = 0; !ret && i < opt->vms.n; i++)
		ret = add_vm(m, opt->vms.v[i], err);
	for (size_t i = 0; !ret && i < m->plan->npids; i++) {
		char pid[16];

		snprintf(pid, sizeof(pid), "%d", m->plan->pids[i]);
		ret = add_target(m, pid, NULL, err);
	}
	if (!ret && !opt->vms.n && !m->plan->npids)
		ret = add_target(m, NULL, NULL, err);
	return ret;
}

int plan_make(const struct plan_options *opt, const struct common_options *common,
	      const char *fallback, bool sampling, struct plan *plan, struct err *err)
{
	struct making m = {
		.opt = opt, .fallback = fallback, .sampling = sampling, .plan = plan
	};
	struct rootfs root = { .fd = -1 };
	struct cpu_id cpu;
	int ret;

	if (plan->ops->cpu) {
		plan->ops->cpu(plan->src, &cpu);
		ret = event_table_load(&cpu, &m.table, err);
	} else {
		m.root = &root;
		ret = rootfs_open(&root, common_root(common), err);
	}
	if (!ret)
		ret = model_set_open(&opt->models, common, plan->ops, plan->src,
				     &plan->models, err);
	if (!ret)
		ret = add_targets(&m, err);
	rootfs_close(&root);
	event_table_free(m.table);
	event_set_free(&m.of_all);
	return ret;
}

void plan_free(struct plan *plan)
{
	for (size_t i = 0; i < plan->ntargets; i++)
		event_set_free(&plan->targets[i].events);
	for (size_t i = 0; i < plan->npatterns; i++)
		free(plan->patterns[i]);
	event_set_free(&plan->node_events);
	model_set_close(&plan->models);
	free(plan->targets);
	free(plan->patterns);
	free(plan->pids);
	if (plan->src)
		plan->ops->close(plan->src);
	*plan = (struct plan) { 0 };
}
