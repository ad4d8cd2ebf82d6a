/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmmprof completion: completions for a shell, out of the tables of commands. */
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "cli/commands.h"
#include "source/source.h"

/* Words of @cmd's options, "-e --event …"; with_arg: only those that take a value. */
static void put_options(const struct command *cmd, bool with_arg)
{
	const char *gap = "";

	for (const struct option_row *r = cmd->options; r->name; r++) {
		if (with_arg && !r->arg)
			continue;
		if (r->letter)
			printf("%s-%c", gap, r->letter);
		printf("%s--%s", r->letter ? " " : gap, r->name);
		gap = " ";
	}
	if (!with_arg)
		printf("%s--help", gap);
}

static void put_commands(void)
{
	for (size_t i = 0; commands[i]; i++)
		printf("%s%s", i ? " " : "", commands[i]->name);
}

/*
 * VMs are asked for only where a VM is due: `vmmprof list` is quick, yet not
 * free. compgen -W expands what it gets, and a VM's name is other people's
 * choice: names of more than plain characters are left out.
 */
static void put_bash(void)
{
	puts("# bash completion for vmmprof: eval \"$(vmmprof completion bash)\"\n"
	     "_vmmprof_vms()\n"
	     "{\n"
	     "\tvmmprof list --csv 2>/dev/null | awk -F, '\n"
	     "\t\tNR == 1 { for (i = 1; i <= NF; i++) if ($i == \"vm\") n = i }\n"
	     "\t\tNR > 1 && n && $n ~ /^[A-Za-z0-9._-]+$/ { print $n }' | sort -u\n"
	     "}\n"
	     "_vmmprof()\n"
	     "{\n"
	     "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
	     "\tlocal options='' values=''\n"
	     "\tCOMPREPLY=()");
	printf("\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	       "\t\tCOMPREPLY=($(compgen -W '");
	put_commands();
	puts(" --help --version' -- \"$word\"))\n"
	     "\t\treturn\n"
	     "\tfi\n"
	     "\tcase ${COMP_WORDS[1]} in");
	for (size_t i = 0; commands[i]; i++) {
		printf("\t%s) options='", commands[i]->name);
		put_options(commands[i], false);
		printf("' values='");
		put_options(commands[i], true);
		puts("' ;;");
	}
	printf("\tesac\n"
	       "\tif [ \"${COMP_WORDS[1]}\" = help ]; then\n"
	       "\t\tCOMPREPLY=($(compgen -W '");
	put_commands();
	printf("' -- \"$word\"))\n"
	       "\telif [ \"$before\" = --source ]; then\n"
	       "\t\tCOMPREPLY=($(compgen -W '");
	for (size_t i = 0; sources[i]; i++)
		printf("%s%s", i ? " " : "", sources[i]->name);
	puts("' -- \"$word\"))\n"
	     "\telif [ \"$before\" = --vm ]; then\n"
	     "\t\tcompopt -o nospace\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$(_vmmprof_vms)\" -- \"$word\"))\n"
	     "\telif [[ \" $values \" == *\" $before \"* ]]; then\n"
	     "\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n"
	     "\telif [[ $word == -* ]]; then\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
	     "\telse\n"
	     "\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n"
	     "\tfi\n"
	     "}\n"
	     "complete -F _vmmprof vmmprof");
}

/* zsh runs bash completions; it needs to be told. */
static void put_zsh(void)
{
	puts("# zsh completion for vmmprof: eval \"$(vmmprof completion zsh)\"\n"
	     "autoload -U +X compinit && compinit\n"
	     "autoload -U +X bashcompinit && bashcompinit");
	put_bash();
}

static const struct {
	const char *name;
	void (*put)(void);
} shells[] = {
	{ "bash", put_bash },
	{ "zsh", put_zsh },
};

static int completion_run(int argc, char **argv)
{
	for (size_t i = 0; argc == 1 && i < ARRAY_SIZE(shells); i++)
		if (!strcmp(argv[0], shells[i].name)) {
			shells[i].put();
			return STATUS_OK;
		}
	return command_misused("%s: expected one shell, bash or zsh",
			       argc ? argv[argc - 1] : "completion");
}

static const struct option_row no_options[] = { { 0 } };

const struct command command_completion = {
	.name = "completion",
	.summary = "Print completions for bash or zsh",
	.usage = "bash|zsh",
	.example = "  eval \"$(vmmprof completion bash)\"   # in ~/.bashrc\n",
	.options = no_options,
	.run = completion_run,
};
