/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdio.h>

#include "cli/command.h"

/*
 * Fills the values of @cmd's table from argv (argv[0] is the command's name).
 * Returns the index of the first word that is no option, or -1 after a message.
 */
int options_parse(const struct command *cmd, int argc, char **argv, bool *help);
/* Prints usage, options and examples. */
void options_help(const struct command *cmd, FILE *f);

#endif
