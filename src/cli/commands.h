/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/command.h"

extern const struct command command_advise;	/* advise.c */
extern const struct command command_bench;	/* bench.c */
extern const struct command command_check;	/* check.c */
extern const struct command command_completion; /* completion.c */
extern const struct command command_diagnose;	/* diagnose.c */
extern const struct command command_help;	/* help.c */
extern const struct command command_list;	/* list.c */
extern const struct command command_models;	/* models.c */
extern const struct command command_record;	/* record.c */
extern const struct command command_report;	/* report.c */

extern const struct command command_stat; /* stat.c */

#endif
