/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which source a command works on: the one rule for all of them. */
#include <errno.h>
#include <string.h>

#include "source/source.h"

static int by_name(const char *name, const struct source_ops **out, struct err *err)
{
	struct strbuf names = { 0 };

	for (size_t i = 0; sources[i]; i++) {
		if (!strcmp(sources[i]->name, name)) {
			*out = sources[i];
			strbuf_free(&names);
			return 0;
		}
		strbuf_addf(&names, "%s%s", i ? ", " : "", sources[i]->name);
	}
	err_set(err, ENOENT, "--source %s: no such source; there is: %s", name,
		names.data ? names.data : "");
	strbuf_free(&names);
	return -ENOENT;
}

int source_choose(const char *name, const char *root, bool processes,
		  const struct source_ops **out, struct err *err)
{
	struct rootfs fs;
	size_t i = 0;
	int ret;

	if (name)
		return by_name(name, out, err);
	ret = rootfs_open(&fs, root, err);
	if (ret)
		return ret;
	while (sources[i + 1] && !((!processes || sources[i]->processes) &&
				   (!sources[i]->here || sources[i]->here(&fs))))
		i++;
	rootfs_close(&fs);
	*out = sources[i];
	return 0;
}
