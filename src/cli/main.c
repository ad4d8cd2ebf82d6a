/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of commands. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/options.h"

/* clang-format off */
const struct command *const commands[] = {
	&command_advise,
	&command_bench,
	&command_check,
	&command_completion,
	&command_diagnose,
	&command_list,
	&command_models,
	&command_record,
	&command_report,
	&command_stat,
	&command_help,
	NULL,
};
/* clang-format on */

static const struct command *find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

/*
 * A file that we write must not become standard output because that was closed:
 * then it is opened the wrong way round, so that writing there fails.
 */
static void fill_standard_fds(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			_exit(STATUS_FAILED);
}

/* Nothing is well that nobody could be told. */
static int flushed(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fputs("vmmprof: standard output: not all could be written: it is closed, or its "
	      "disk is full\n",
	      stderr);
	return STATUS_FAILED;
}

static int run(int argc, char **argv)
{
	const struct command *cmd;
	const char *name = argc > 1 ? argv[1] : "help";
	bool help = false;
	int first;

	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		name = "help";
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		puts("vmmprof " VMMPROF_VERSION);
		return STATUS_OK;
	}
	cmd = find(name);
	if (!cmd)
		return command_misused("%s: no such command", name);
	if (argc < 2)
		return cmd->run(0, argv + 1), STATUS_USAGE;
	command_begin(cmd);
	first = options_parse(cmd, argc - 1, argv + 1, &help);
	if (first < 0)
		return STATUS_USAGE;
	if (help) {
		options_help(cmd, stdout);
		return STATUS_OK;
	}
	return cmd->run(argc - 1 - first, argv + 1 + first);
}

int main(int argc, char **argv)
{
	fill_standard_fds();
	return flushed(run(argc, argv));
}
