/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common.h"

#include "base/vec.h"

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
		.argument = source_argument(common->source),
	};

	return ops->open(&config, src, err);
}

static bool has_vms(const struct source_ops *ops, struct source *src)
{
	struct topology topo = { 0 };
	bool any = ops->topology(src, TOPOLOGY_BASIC, &topo, NULL) || topo.nvms ||
		   topo.unreadable;

	topology_free(&topo);
	return any;
}

int common_open_vms(const struct common_options *common, const struct source_ops **ops,
		    struct source **src, struct err *err)
{
	static const struct common_options built_in = { .source = "sim" };
	int ret = common_source(common, false, ops, err);

	if (!ret)
		ret = common_open(common, *ops, NULL, 0, src, err);
	if (ret || common->source || common->root || has_vms(*ops, *src))
		return ret;
	(*ops)->close(*src);
	*src = NULL;
	ret = common_source(&built_in, false, ops, err);
	return ret ? ret : common_open(&built_in, *ops, NULL, 0, src, err);
}

struct host_row {
	bool simulated;
	const char *host;
};

static const struct column host_columns[] = {
	COLUMN(struct host_row, simulated, "simulated", "", FIELD_BOOL, 0),
	COLUMN(struct host_row, host, "host", "", FIELD_STR, 0),
};
static const struct view host_view = { "machine", host_columns, ARRAY_SIZE(host_columns) };

void common_say_host(struct out *out, const struct source_ops *ops,
		     const struct source *src)
{
	if (ops->simulated)
		common_say_simulated(out, ops->simulated(src));
}

void common_say_simulated(struct out *out, const char *host)
{
	const struct host_row row = { true, host };

	if (out->ops == &out_json) {
		out_table(out, &host_view);
		out_row(out, &row);
		out_end(out);
		return;
	}
	if (out->ops == &out_text) {
		out_line(out, "Simulated host: %s\n", row.host);
	} else {
		const struct note note =
			note_make(NOTE_INFO, "", 0, "the host is simulated: %s", row.host);

		out_note(out, &note);
	}
}
