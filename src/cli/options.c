/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/options.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"

#define OPTIONS_MAX 40

static int set_value(const struct option_row *row, const char *arg)
{
	char *end;
	double f;

	switch (row->kind) {
	case OPT_FLAG: *(bool *)row->value = true; return 0;
	case OPT_STRING: *(const char **)row->value = arg; return 0;
	case OPT_LIST: {
		struct string_list *list = row->value;

		return VEC_PUSH(list->v, list->n, list->cap, arg);
	}
	case OPT_U64:
		if (str_count(arg, row->value))
			return command_misused(
				"--%s %s: expected a whole number such as 1000 or 100k",
				row->name, arg);
		return 0;
	case OPT_F64:
		f = strtod(arg, &end);
		if (end == arg || *end || !isfinite(f) || f < 0)
			return command_misused(
				"--%s %s: expected a number such as 10 or 0.5", row->name,
				arg);
		*(double *)row->value = f;
		return 0;
	}
	return 0;
}

int options_parse(const struct command *cmd, int argc, char **argv, bool *help)
{
	struct option longs[OPTIONS_MAX + 2] = { 0 };
	char shorts[3 * OPTIONS_MAX + 4] = "+:h";
	/* A command to run keeps its options: then ours end at the first other word. */
	const char *spec = cmd->takes_command ? shorts : shorts + 1;
	const struct option_row *rows = cmd->options;
	size_t n = 0, s = strlen(shorts);
	int c, index;

	for (; rows[n].name && n < OPTIONS_MAX; n++) {
		longs[n].name = rows[n].name;
		longs[n].has_arg = rows[n].arg ? required_argument : no_argument;
		longs[n].val = 256 + (int)n;
		if (rows[n].letter) {
			shorts[s++] = rows[n].letter;
			if (rows[n].arg)
				shorts[s++] = ':';
		}
	}
	longs[n] = (struct option) { "help", no_argument, NULL, 'h' };
	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, spec, longs, &index)) != -1) {
		const struct option_row *row = NULL;

		if (c == 'h') {
			*help = true;
			return optind;
		}
		if (c == ':') {
			command_misused("%s needs a value", argv[optind - 1]);
			return -1;
		}
		if (c == '?') {
			if (optopt >= 256)
				command_misused("%s: takes no value", argv[optind - 1]);
			else
				command_misused("%s: no such option", argv[optind - 1]);
			return -1;
		}
		for (size_t i = 0; i < n && !row; i++)
			if (c == 256 + (int)i || c == rows[i].letter)
				row = &rows[i];
		if (!row || set_value(row, optarg))
			return -1;
	}
	return optind;
}

void options_help(const struct command *cmd, FILE *f)
{
	fprintf(f, "usage: vmmprof %s %s\n%s\n", cmd->name, cmd->usage, cmd->summary);
	if (cmd->options[0].name)
		fputs("\noptions:\n", f);
	for (const struct option_row *r = cmd->options; r->name; r++) {
		char left[64];

		snprintf(left, sizeof(left), "%c%c%s--%s%s%s", r->letter ? '-' : ' ',
			 r->letter ? r->letter : ' ', r->letter ? ", " : "  ", r->name,
			 r->arg ? " " : "", r->arg ? r->arg : "");
		fprintf(f, "  %-30s %s\n", left, r->help);
	}
	fprintf(f, "\nexamples:\n%s", cmd->example);
}
