/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common.h"

#include <errno.h>

int common_format(const struct common_options *common, const struct out_ops **ops)
{
	if (common->json && common->csv)
		return command_misused("--json and --csv: choose one of them");
	*ops = common->json ? &out_json : common->csv ? &out_csv : &out_text;
	return 0;
}

int common_open(const struct common_options *common, const pid_t *pids, size_t npids,
		const struct source_ops **ops, struct source **src, struct err *err)
{
	const struct source_config config = {
		.root = common->root ? common->root : "/",
		.pids = pids,
		.npids = npids,
	};

	*ops = common->source ? source_find(common->source) : sources[0];
	if (!*ops)
		return err_set(err, ENOENT, "--source %s: no such source; there is: %s",
			       common->source, sources[0]->name);
	return (*ops)->open(&config, src, err);
}
