/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/model_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static int add(const struct model_cpu *cpu, const char *name, struct model_set *set,
	       struct err *err)
{
	struct model_use use;
	int ret = model_use_open(cpu, name, &use, err);

	for (size_t i = 0; !ret && i < set->n; i++)
		if (!strcmp(set->use[i].model.name, use.model.name))
			ret = err_set(err, EINVAL, "-m %s: this model is asked for twice",
				      name);
	if (!ret && !use.events.vcpu.n && !use.events.node.n)
		ret = err_set(err, ENOENT, "-m %s: none of its events can be had here: %s",
			      name,
			      use.model.ninputs ? use.events.need[0].words : "it has none");
	if (!ret && (event_set_append(&set->vcpu, &use.events.vcpu) ||
		     event_set_append(&set->node, &use.events.node) ||
		     VEC_PUSH(set->use, set->n, set->cap, use)))
		ret = err_set(err, ENOMEM, "%s", err_name(ENOMEM));
	if (ret)
		model_use_close(&use);
	return ret;
}

static int add_list(const struct model_cpu *cpu, const char *list, struct model_set *set,
		    struct err *err)
{
	char *words = strdup(list), *rest = words, *word;
	int ret = words ? 0 : err_set(err, ENOMEM, "%s", err_name(ENOMEM));

	while (!ret && (word = strsep(&rest, ",")))
		ret = add(cpu, word, set, err);
	free(words);
	return ret;
}

int model_set_open(const struct string_list *names, const struct common_options *common,
		   const struct source_ops *ops, struct source *src, struct model_set *out,
		   struct err *err)
{
	struct model_cpu cpu;
	int ret = 0;

	*out = (struct model_set) { 0 };
	if (!names->n)
		return 0;
	ret = model_cpu_open(common, ops, src, NULL, &cpu, err);
	for (size_t i = 0; !ret && i < names->n; i++)
		ret = add_list(&cpu, names->v[i], out, err);
	model_cpu_close(&cpu);
	return ret;
}

void model_set_close(struct model_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		model_use_close(&set->use[i]);
	free(set->use);
	event_set_free(&set->vcpu);
	event_set_free(&set->node);
	*set = (struct model_set) { 0 };
}
