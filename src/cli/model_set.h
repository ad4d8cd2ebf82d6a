/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_MODEL_SET_H
#define CLI_MODEL_SET_H

/* The models of -m, and their events together. */

#include "cli/model_use.h"

struct model_set {
	struct model_use *use; /* owned, and all below */
	size_t n, cap;
	/* The events of the first model, then those of the second and so on. */
	struct event_set vcpu, node;
};

/*
 * Loads @names, each a comma-separated list, and finds their events on the machine of
 * @src. 0, or -errno with words: -EINVAL: two of one name. model_set_close() it, also if
 * it failed.
 */
int model_set_open(const struct string_list *names, const struct common_options *common,
		   const struct source_ops *ops, struct source *src, struct model_set *out,
		   struct err *err);
void model_set_close(struct model_set *set);

#endif
