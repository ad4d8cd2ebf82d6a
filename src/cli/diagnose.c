/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmmprof diagnose: what holds each VM back. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/diagnose_view.h"
#include "cli/gather.h"

static struct {
	struct common_options common;
	struct gather_options gather;
	struct string_list vms;
	const char *svg;
} opt = { .gather.windows = GATHER_WINDOWS };

static int write_svg(const struct diagnose_view *v, struct err *err)
{
	FILE *f = fopen(opt.svg, "we");
	struct strbuf text = { 0 };
	int ret = 0;

	if (!f)
		return err_set(err, errno, "--svg %s: cannot be written: %s", opt.svg,
			       err_name(errno));
	diagnose_svg(v, &text);
	if (text.oom)
		ret = err_set(err, ENOMEM, "out of memory");
	else if (fwrite(text.data, 1, text.len, f) != text.len)
		ret = err_set(err, EIO, "--svg %s: not all could be written: %s", opt.svg,
			      err_name(errno));
	if (fclose(f) && !ret)
		ret = err_set(err, EIO, "--svg %s: not all could be written: %s", opt.svg,
			      err_name(errno));
	strbuf_free(&text);
	return ret;
}

/* All windows as one. 0 or -ENOMEM with words. */
static int merge(const struct windows *w, struct diag_window *out, struct err *err)
{
	size_t n = windows_count(w);
	const struct diag_window **all = calloc(n + 1, sizeof(*all));
	int ret = all ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < n; i++)
		all[i] = windows_get(w, i);
	if (!ret)
		ret = diag_window_merge(all, n, out);
	free(all);
	return ret ? err_set(err, ret, "out of memory") : 0;
}

static int show(const struct windows *w, struct out *out, struct err *err)
{
	struct diag_window window = { 0 };
	struct diagnosis d = { 0 };
	size_t *order = NULL;
	struct diagnose_view v = { out, &window, &d, &windows_topology(w)->machine };
	int ret = merge(w, &window, err), status = STATUS_FAILED;

	if (!ret && diagnose(&window, &d))
		ret = err_set(err, ENOMEM, "out of memory");
	if (!ret)
		order = calloc(d.nvms + 1, sizeof(*order));
	if (!ret && !order)
		ret = err_set(err, ENOMEM, "out of memory");
	if (!ret) {
		v.order = order;
		v.n = diagnose_order(&d, windows_topology(w), &window, opt.vms.v, opt.vms.n,
				     order);
		if (!v.n)
			ret = err_set(err, ENOENT,
				      "%s: no VM has this name, id or process number; "
				      "vmmprof list shows those that run",
				      opt.vms.n ? opt.vms.v[0] : "VM");
	}
	if (!ret) {
		diagnose_show(&v, windows_topology(w));
		status = windows_partial(w) || diagnose_partial(&v) ? STATUS_PARTIAL
								    : STATUS_OK;
		if (opt.svg)
			ret = write_svg(&v, err);
	}
	free(order);
	diagnosis_free(&d);
	diag_window_free(&window);
	return ret ? command_failed(err) : status;
}

static int diagnose_run(int argc, char **argv)
{
	const struct out_ops *format;
	struct gather g;
	struct windows *w = NULL;
	struct err err = { 0 };
	struct out out;
	int status;

	if (argc)
		return command_misused("%s: not an option; --vm %s shows one VM", argv[0],
				       argv[0]);
	status = gather_check(&opt.gather);
	if (!status)
		status = common_format(&opt.common, &format);
	if (status)
		return status;
	out_init(&out, format, stdout);
	if (gather_open(&g, &opt.common, &opt.gather, &out, &err)) {
		status = command_failed(&err);
	} else {
		status = gather_windows(&g, &w, &err) ? command_failed(&err)
						      : show(w, &out, &err);
		windows_free(w);
		gather_close(&g);
	}
	out_free(&out);
	return status;
}

static const struct option_row options[] = {
	{ "vm", 0, "VM", OPT_LIST, &opt.vms,
	  "Show this VM only (id, pid, name, pattern); all are measured" },
	GATHER_OPTIONS(&opt.gather),
	{ "svg", 0, "FILE", OPT_STRING, &opt.svg, "Write the stacks to FILE as a picture" },
	COMMON_FORMAT(&opt.common),
	COMMON_SOURCE(&opt.common),
	{ 0 },
};

const struct command command_diagnose = {
	.name = "diagnose",
	.summary = "Say which NUMA resource holds each VM back, and who causes it",
	.usage = "[options]",
	.example = "  vmmprof diagnose                         # every VM, worst first\n"
		   "  vmmprof diagnose --vm 'web*' --windows 20 --svg web.svg\n"
		   "  vmmprof diagnose --source sim --json | jq -r .sentence\n",
	.options = options,
	.run = diagnose_run,
};
