/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_MODEL_USE_H
#define CLI_MODEL_USE_H

/* A profile model on a machine: what of it can be had there. */

#include "cli/common.h"
#include "events/profile.h"

/* Whose events are looked up: this machine's, the source's or another CPU's. */
struct model_cpu {
	struct rootfs root;
	struct event_table *table; /* NULL: none knows the CPU; then why says so */
	struct err why;
	bool lone; /* there are no groups: source_ops.lone_turns */
	bool bare; /* no kernel stands between: encodings are the CPU's own */
};

/*
 * The CPU below @common's root, or that of the opened @src, if it says which; with
 * @name, any CPU that has an event table. 0 or -errno with words. model_cpu_close() it.
 */
int model_cpu_open(const struct common_options *common, const struct source_ops *ops,
		   struct source *src, const char *name, struct model_cpu *out,
		   struct err *err);
void model_cpu_close(struct model_cpu *cpu);

struct model_use {
	struct profile_model model;
	struct profile_events events;
};

/* By name or path. 0 or -errno with words. model_use_close() it, also if it failed. */
int model_use_open(const struct model_cpu *cpu, const char *what, struct model_use *out,
		   struct err *err);
void model_use_close(struct model_use *use);
/* The first input that a metric lacks here; NULL: it can be had. */
const struct profile_input *model_use_lacks(const struct model_use *use, size_t metric);
/* Why that input cannot be had. */
const char *model_use_why(const struct model_use *use, const struct profile_input *input);

#endif
