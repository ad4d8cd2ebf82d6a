/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_COMMON_H
#define CLI_COMMON_H

/* What most commands share: the choice of format and of source. */

#include "cli/command.h"
#include "cli/out.h"
#include "source/source.h"

/* Filled by COMMON_FORMAT(&common) and COMMON_SOURCE(&common), rows of an option table. */
struct common_options {
	bool json, csv;
	const char *source; /* NULL: the one that fits this machine */
	const char *root;   /* NULL: "/" */
};

/* clang-format off */
#define COMMON_FORMAT(common)                                                       \
	{ "json", 0, NULL, OPT_FLAG, &(common)->json,                               \
	  "JSON Lines: one object per row" },                                       \
	{ "csv", 0, NULL, OPT_FLAG, &(common)->csv, "Comma-separated values" }

#define COMMON_SOURCE(common)                                                       \
	{ "source", 0, "NAME", OPT_STRING, &(common)->source,                       \
	  "Where VMs are: kvm, xen, or sim[:SCENARIO], the built-in host" },        \
	{ "root", 0, "DIR", OPT_STRING, &(common)->root,                            \
	  "Read proc and sys below DIR instead of /" }
/* clang-format on */

/* Stores the format, NULL for text. 0, or STATUS_USAGE after a message. */
int common_format(const struct common_options *common, const struct out_ops **ops);

const char *common_root(const struct common_options *common);
/* The source that the options name, or that fits the machine. 0 or -errno with words. */
int common_source(const struct common_options *common, bool processes,
		  const struct source_ops **ops, struct err *err);
/*
 * Opens it; @pids are plain processes to treat as VMs. 0 or -errno with words.
 * Close with ops->close(*src).
 */
int common_open(const struct common_options *common, const struct source_ops *ops,
		const pid_t *pids, size_t npids, struct source **src, struct err *err);

/*
 * The same for commands that need VMs to work on: where neither a source nor a root was
 * said, and none runs here, it is the built-in host.
 */
int common_open_vms(const struct common_options *common, const struct source_ops **ops,
		    struct source **src, struct err *err);
/* Says on the output's face that the host is a simulated one. */
void common_say_simulated(struct out *out, const char *host);
/* If it is. */
void common_say_host(struct out *out, const struct source_ops *ops,
		     const struct source *src);

#endif
