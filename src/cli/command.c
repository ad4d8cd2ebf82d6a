/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/command.h"

#include <stdarg.h>
#include <stdio.h>

static const char *current = "";

void command_begin(const struct command *cmd)
{
	current = cmd->name;
}

int command_failed(const struct err *err)
{
	fprintf(stderr, "vmmprof %s: %s\n", current, err->text);
	return STATUS_FAILED;
}

int command_misused(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "vmmprof%s%s: ", *current ? " " : "", current);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nSee: vmmprof %s%s--help\n", current, *current ? " " : "");
	return STATUS_USAGE;
}
