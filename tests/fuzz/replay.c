/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives each file of a corpus to a fuzz target once: a test for any compiler. */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "fuzz.h"

int main(int argc, char **argv)
{
	struct rootfs corpus;
	struct strbuf sb = { 0 };
	struct dirent *entry;
	struct err error;
	int files = 0;
	DIR *dir;

	if (argc != 2)
		errx(2, "usage: %s CORPUS", argv[0]);
	LLVMFuzzerInitialize(&argc, &argv);
	if (rootfs_open(&corpus, argv[1], &error))
		errx(1, "%s", error.text);
	dir = rootfs_opendir(&corpus, ".");
	while (dir && (entry = readdir(dir))) {
		if (entry->d_type == DT_DIR)
			continue;
		strbuf_reset(&sb);
		if (rootfs_slurp(&corpus, &sb, "%s", entry->d_name))
			errx(1, "%s: cannot read it", entry->d_name);
		/* Named before it runs: the last name printed is the one that failed. */
		printf("# %s\n", entry->d_name);
		fflush(stdout);
		LLVMFuzzerTestOneInput((const uint8_t *)sb.data, sb.len);
		files++;
	}
	if (dir)
		closedir(dir);
	strbuf_free(&sb);
	rootfs_close(&corpus);
	if (!files)
		errx(1, "%s: no inputs in this corpus", argv[1]);
	return 0;
}
