/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which source a command works on: the one rule for all of them. */
#include <errno.h>
#include <string.h>

#include "source/source.h"

static int by_name(const char *name, const struct source_ops **out, struct err *err)
{
	const char *argument = source_argument(name);
	size_t len = strcspn(name, ":");
	struct strbuf names = { 0 };

	for (size_t i = 0; sources[i]; i++) {
		if (strlen(sources[i]->name) == len &&
		    !strncmp(sources[i]->name, name, len)) {
			*out = sources[i];
			strbuf_free(&names);
			if (!argument || sources[i]->argument)
				return 0;
			return err_set(err, EINVAL,
				       "--source %s: nothing follows %s; only sim takes a "
				       "scenario, as in sim:default",
				       name, sources[i]->name);
		}
		strbuf_addf(&names, "%s%s", i ? ", " : "", sources[i]->name);
	}
	err_set(err, ENOENT, "--source %s: no such source; there is: %s", name,
		names.data ? names.data : "");
	strbuf_free(&names);
	return -ENOENT;
}

const char *source_argument(const char *name)
{
	const char *colon = name ? strchr(name, ':') : NULL;

	return colon && colon[1] ? colon + 1 : NULL;
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
