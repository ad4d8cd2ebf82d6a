/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmmprof models: profile models: which there are, what they need, are they right. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/data.h"
#include "base/vec.h"
#include "cli/commands.h"
#include "cli/model_use.h"
#include "cli/models.h"
#include "events/formula.h"

static struct {
	struct common_options common;
	bool check;
	const char *import, *cpu;
} opt;

/* ---- the list */

struct listing {
	struct out *out;
	const struct model_cpu *cpu;
	struct strbuf missing; /* for people: what is not whole here, and why */
	int status;
};

static int list_one(void *ctx, const char *name, const char *path)
{
	struct listing *l = ctx;
	struct model_use use;
	struct err err = { 0 };

	if (model_use_open(l->cpu, path ? path : name, &use, &err))
		l->status = command_failed(&err);
	else
		models_row(l->out, &use, path, &l->missing);
	model_use_close(&use);
	return 0;
}

static int list(struct out *out, const struct model_cpu *cpu)
{
	struct listing l = { .out = out, .cpu = cpu, .status = STATUS_OK };
	int ret;

	models_begin(out);
	ret = data_each("models", list_one, &l);
	out_end(out);
	if (l.missing.len) {
		l.missing.data[l.missing.len - 1] = '\0';
		out_line(out, "\nnot whole here:\n%s", l.missing.data);
	}
	if (!cpu->table)
		out_line(out, "\n%s", cpu->why.text);
	out_line(out,
		 "\nvmmprof models NAME explains one; vmmprof stat -m NAME measures it.");
	strbuf_free(&l.missing);
	return ret ? STATUS_FAILED : l.status;
}

/* ---- checking and importing */

static int check_one(void *ctx, const char *name, const char *path)
{
	struct listing *l = ctx;
	int status = models_check(l->out, l->cpu, path ? path : name);

	/* A wrong file is worse than one whose events are not here. */
	if (status == STATUS_FAILED || l->status == STATUS_OK)
		l->status = status;
	return 0;
}

static int check(struct out *out, const struct model_cpu *cpu, char **files, int n)
{
	struct listing l = { .out = out, .cpu = cpu, .status = STATUS_OK };

	models_check_begin(out);
	for (int i = 0; i < n; i++)
		check_one(&l, files[i], NULL);
	if (!n)
		data_each("models", check_one, &l);
	out_end(out);
	if (!cpu->table)
		out_line(out, "%s", cpu->why.text);
	return l.status;
}

static int import(const char *path)
{
	struct profile_model model = { 0 };
	struct strbuf sb = { 0 };
	struct data_text text;
	struct err err = { 0 };
	int ret = data_read(path, &text, &err), status = STATUS_OK;

	if (ret)
		return command_failed(&err);
	ret = profile_model_import_likwid(text.file, text.text, text.size, &model, &err);
	if (!ret)
		profile_model_write(&model, &sb);
	if (!ret && sb.oom)
		ret = err_set(&err, ENOMEM, "%s: %s", path, err_name(ENOMEM));
	if (ret)
		status = command_failed(&err);
	else
		fputs(sb.data, stdout);
	strbuf_free(&sb);
	profile_model_free(&model);
	data_text_free(&text);
	return status;
}

/* ---- the command */

static int explain(struct out *out, const struct model_cpu *cpu, char **names, int n)
{
	int status = STATUS_OK;

	for (int i = 0; i < n; i++) {
		struct model_use use;
		struct err err = { 0 };

		if (i)
			out_line(out, "%s", "");
		if (model_use_open(cpu, names[i], &use, &err))
			status = command_failed(&err);
		else
			models_explain(out, &use, names[i]);
		model_use_close(&use);
	}
	if (!cpu->table)
		out_line(out, "\n%s", cpu->why.text);
	return status;
}

static int run_on(struct source *src, const struct source_ops *ops,
		  const struct out_ops *format, char **argv, int argc)
{
	struct model_cpu cpu;
	struct err err = { 0 };
	struct out out;
	int status;

	if (model_cpu_open(&opt.common, ops, src, opt.cpu, &cpu, &err)) {
		status = command_failed(&err);
	} else {
		out_init(&out, format, stdout);
		status = opt.check ? check(&out, &cpu, argv, argc)
			 : argc	   ? explain(&out, &cpu, argv, argc)
				   : list(&out, &cpu);
		out_free(&out);
	}
	model_cpu_close(&cpu);
	return status;
}

static int models_run(int argc, char **argv)
{
	const struct source_ops *ops;
	const struct out_ops *format;
	struct source *src = NULL;
	struct err err = { 0 };
	int status = common_format(&opt.common, &format);

	if (status)
		return status;
	if (opt.import && (argc || opt.check))
		return command_misused("--import-likwid takes one file and nothing else");
	if (opt.import)
		return import(opt.import);
	if (common_source(&opt.common, false, &ops, &err))
		return command_failed(&err);
	/* Only a source with a CPU of its own needs to be asked. */
	if (ops->cpu && common_open(&opt.common, ops, NULL, 0, &src, &err))
		return command_failed(&err);
	status = run_on(src, ops, format, argv, argc);
	if (src)
		ops->close(src);
	return status;
}

static const struct option_row options[] = {
	{ "check", 0, NULL, OPT_FLAG, &opt.check,
	  "Are these files right, and can their events be had?" },
	{ "import-likwid", 0, "FILE", OPT_STRING, &opt.import,
	  "Print a performance group of LIKWID as a model" },
	{ "cpu", 0, "TABLE", OPT_STRING, &opt.cpu,
	  "As if on a CPU of this event table: nehalem-ep" },
	COMMON_FORMAT(&opt.common),
	COMMON_SOURCE(&opt.common),
	{ 0 },
};

const struct command command_models = {
	.name = "models",
	.summary = "List, explain, check and import profile models",
	.usage = "[NAME...] [--check [FILE...]] [--import-likwid FILE] [--json | --csv]",
	.example = "  vmmprof models                        # which there are\n"
		   "  vmmprof models locality               # what it shows and needs\n"
		   "  vmmprof models --check mine.model\n"
		   "  vmmprof models --import-likwid MEM.txt > mem.model\n",
	.options = options,
	.run = models_run,
};
