/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/model_use.h"

#include <errno.h>

#include "events/formula.h"

int model_cpu_open(const struct common_options *common, const struct source_ops *ops,
		   struct source *src, const char *name, struct model_cpu *out,
		   struct err *err)
{
	struct cpu_id id;
	int ret;

	*out = (struct model_cpu) { .root.fd = -1,
				    .bare = name || ops->cpu,
				    .lone = !name && ops->lone_turns };
	if (name)
		return event_table_open(name, &out->table, err);
	ret = rootfs_open(&out->root, common_root(common), err);
	if (ret)
		return ret;
	if (ops->cpu)
		ops->cpu(src, &id);
	else
		ret = cpu_identify(&out->root, &id, &out->why);
	if (!ret)
		ret = event_table_load(&id, &out->table, &out->why);
	return ret && ret != -ENOENT ? err_set(err, ret, "%s", out->why.text) : 0;
}

void model_cpu_close(struct model_cpu *cpu)
{
	event_table_free(cpu->table);
	rootfs_close(&cpu->root);
}

int model_use_open(const struct model_cpu *cpu, const char *what, struct model_use *out,
		   struct err *err)
{
	int ret;

	*out = (struct model_use) { 0 };
	ret = profile_model_load(what, &out->model, err);
	if (ret)
		return ret;
	ret = profile_events_make(&out->model, cpu->table, cpu->bare ? NULL : &cpu->root,
				  &out->events, err);
	for (size_t i = 0; !ret && cpu->lone && i < out->events.vcpu.n; i++)
		out->events.vcpu.ev[i].group = -1;
	return ret;
}

void model_use_close(struct model_use *use)
{
	profile_events_free(&use->events);
	profile_model_free(&use->model);
}

const struct profile_input *model_use_lacks(const struct model_use *use, size_t metric)
{
	for (size_t i = 0; i < use->model.ninputs; i++)
		if (formula_uses(use->model.metrics[metric].formula, i) &&
		    !use->events.place[i].n)
			return &use->model.inputs[i];
	return NULL;
}

const char *model_use_why(const struct model_use *use, const struct profile_input *input)
{
	return use->events.need[input - use->model.inputs].words;
}
