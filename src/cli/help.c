/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"

static int help_run(int argc, char **argv)
{
	for (size_t i = 0; argc > 0 && commands[i]; i++)
		if (!strcmp(commands[i]->name, argv[0])) {
			options_help(commands[i], stdout);
			return STATUS_OK;
		}
	if (argc > 0)
		return command_misused("%s: no such command", argv[0]);
	puts("usage: vmmprof COMMAND [options]\n"
	     "Every VM its own hardware events, on the same cores, at the same time.\n\n"
	     "commands:");
	for (size_t i = 0; commands[i]; i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	puts("\nvmmprof COMMAND --help shows options and examples.");
	return STATUS_OK;
}

static const struct option_row no_options[] = { { 0 } };

const struct command command_help = {
	.name = "help",
	.summary = "Show the commands, or one command's options",
	.usage = "[COMMAND]",
	.example = "  vmmprof help stat\n",
	.options = no_options,
	.run = help_run,
};
