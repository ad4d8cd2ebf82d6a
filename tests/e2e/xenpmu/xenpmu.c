/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "way.h"

static const struct {
	const char *name;
	int words;
	int (*run)(char **words);
	const char *help;
} commands[] = {
	{ "info", 0, cmd_info, "info: what Xen tells of the PMU" },
	{ "watch", 5, cmd_watch,
	  "watch DOMID|xen PERIOD FRAMES drain|woken|full|rubbish UNTIL: samples cycles "
	  "into rings of so many FRAMES until the file UNTIL is there; UNTIL.ready is "
	  "made when it has begun" },
	{ "abuse", 1, cmd_abuse, "abuse DOMID: each thing that a caller can do wrong" },
	{ "random", 3, cmd_random, "random SEED N DOMID: N calls of random arguments" },
	{ "sets", 0, cmd_sets, "sets: how many sets are open in Xen" },
	{ "spoil", 3, cmd_spoil,
	  "spoil DOMID FRAMES UNTIL: writes rubbish over the first ring, of so many "
	  "FRAMES, of another program's set on DOMID, until the file UNTIL is there" },
	{ "destroy", 1, cmd_destroy, "destroy DOMID" },
	{ "shuffle", 3, cmd_shuffle,
	  "shuffle SEED DOMID,DOMID… UNTIL: pins vCPUs of these domains to pCPUs at "
	  "random, and pauses the domains, until the file UNTIL is there" },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (argc < 2 || strcmp(argv[1], commands[i].name) != 0 ||
		    argc != 2 + commands[i].words)
			continue;
		way_open();
		return commands[i].run(argv + 2);
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(stderr, "xenpmu %s\n", commands[i].help);
	return 2;
}
