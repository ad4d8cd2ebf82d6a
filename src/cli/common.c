/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common.h"

int common_format(const struct common_options *common, const struct out_ops **ops)
{
	if (common->json && common->csv)
		return command_misused("--json and --csv: choose one of them");
	*ops = common->json ? &out_json : common->csv ? &out_csv : &out_text;
	return 0;
}

const char *common_root(const struct common_options *common)
{
	return common->root ? common->root : "/";
}

int common_source(const struct common_options *common, bool processes,
		  const struct source_ops **ops, struct err *err)
{
	return source_choose(common->source, common_root(common), processes, ops, err);
}

int common_open(const struct common_options *common, const struct source_ops *ops,
		const pid_t *pids, size_t npids, struct source **src, struct err *err)
{
	const struct source_config config = {
		.root = common_root(common),
		.pids = pids,
		.npids = npids,
	};

	return ops->open(&config, src, err);
}
