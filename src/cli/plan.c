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
	struct rootfs root;
	struct plan *plan;
};

static int add_target(struct making *m, const char *pattern, const char *own,
		      struct err *err)
{
	struct target t = { 0 };
	char *copy = pattern ? strdup(pattern) : NULL;
	int ret = own ? events_parse(own, &m->root, &t.events, err) : 0;

	for (size_t i = 0; !ret && i < m->opt->events.n; i++)
		ret = events_parse(m->opt->events.v[i], &m->root, &t.events, err);
	if (!ret && !t.events.n)
		ret = events_parse(m->fallback, &m->root, &t.events, err);
	if (!ret)
		ret = events_of_vm(&t.events, false, err);
	t.pattern = copy;
	if (!ret && pattern &&
	    (!copy ||
	     VEC_PUSH(m->plan->patterns, m->plan->npatterns, m->plan->cappatterns, copy)))
		ret = err_set(err, ENOMEM, "out of memory");
	else if (!ret)
		copy = NULL;
	if (!ret && VEC_PUSH(m->plan->targets, m->plan->ntargets, m->plan->captargets, t))
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

static int add_pid(struct making *m, const char *word, struct err *err)
{
	uint64_t pid;

	if (str_u64(word, 10, &pid) || !pid || pid > INT32_MAX)
		return err_set(err, EINVAL,
			       "-p %s: expected process numbers, separated by commas",
			       word);
	if (VEC_PUSH(m->plan->pids, m->plan->npids, m->plan->cappids, (pid_t)pid))
		return err_set(err, ENOMEM, "out of memory");
	return add_target(m, word, NULL, err);
}

static int add_pids(struct making *m, const char *arg, struct err *err)
{
	char *words = strdup(arg), *rest = words, *word;
	int ret = words ? 0 : err_set(err, ENOMEM, "out of memory");

	while (!ret && (word = strsep(&rest, ",")))
		ret = add_pid(m, word, err);
	free(words);
	return ret;
}

int plan_make(const struct plan_options *opt, const char *fallback, const char *root,
	      struct plan *plan, struct err *err)
{
	struct making m = { .opt = opt, .fallback = fallback, .plan = plan };
	int ret;

	if (opt->vms.n && opt->pids.n)
		return err_set(err, EINVAL,
			       "--vm and -p: choose one of them, VMs or plain processes");
	ret = rootfs_open(&m.root, root, err);
	if (ret)
		return ret;
	for (size_t i = 0; !ret && i < opt->vms.n; i++)
		ret = add_vm(&m, opt->vms.v[i], err);
	for (size_t i = 0; !ret && i < opt->pids.n; i++)
		ret = add_pids(&m, opt->pids.v[i], err);
	if (!ret && !plan->ntargets)
		ret = add_target(&m, NULL, NULL, err);
	rootfs_close(&m.root);
	return ret;
}

void plan_free(struct plan *plan)
{
	for (size_t i = 0; i < plan->ntargets; i++)
		event_set_free(&plan->targets[i].events);
	for (size_t i = 0; i < plan->npatterns; i++)
		free(plan->patterns[i]);
	free(plan->targets);
	free(plan->patterns);
	free(plan->pids);
	*plan = (struct plan) { 0 };
}
