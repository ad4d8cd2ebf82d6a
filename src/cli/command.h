/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

/* A command is one file and one row in main.c; its options are one table. */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Scripts can rely on these; see vmmprof(1). */
enum exit_status {
	STATUS_OK = 0,	    /* everything that was asked for was done and measured */
	STATUS_FAILED = 1,  /* nothing useful was done; a message says why */
	STATUS_USAGE = 2,   /* the command line is wrong */
	STATUS_PARTIAL = 3, /* done, but something asked for could not be measured */
};

enum option_kind {
	OPT_FLAG,   /* bool */
	OPT_STRING, /* const char *: the last one wins */
	OPT_LIST,   /* struct string_list: every one is kept */
	OPT_U64,    /* uint64_t; accepts K, M, G suffixes */
	OPT_F64,    /* double, seconds and the like; not negative */
};

struct string_list {
	const char **v; /* owned; the strings are argv's */
	size_t n, cap;
};

struct option_row {
	const char *name; /* long name, without dashes */
	char letter;	  /* 0: none */
	const char *arg;  /* NULL for a flag; "VM:EVENTS" as help shows it */
	enum option_kind kind;
	void *value;
	const char *help; /* one line */
};

struct command {
	const char *name;
	const char *summary;		   /* one line for `vmmprof help` */
	const char *usage;		   /* what follows the name */
	const char *example;		   /* lines of commands with a comment each */
	const struct option_row *options;  /* ends with name NULL */
	int (*run)(int argc, char **argv); /* what is left after the options */
	bool takes_command;		   /* "-- COMMAND" may follow */
};

extern const struct command *const commands[]; /* NULL-terminated; main.c */

/* From here on, messages carry the command's name. */
void command_begin(const struct command *cmd);
/* Tells a failure on stderr, "vmmprof stat: …", and returns STATUS_FAILED. */
int command_failed(const struct err *err);
/* The same for the command line; adds where help is; returns STATUS_USAGE. */
int command_misused(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
