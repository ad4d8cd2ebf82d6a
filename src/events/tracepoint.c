/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SYSTEM:EVENT by the id that tracefs shows: Documentation/trace/events.rst. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/vec.h"
#include "events/lookup.h"

static const char *const mounts[] = { "sys/kernel/tracing", "sys/kernel/debug/tracing" };

/* No event of that system: which name is close? */
static int no_such_event(const struct rootfs *root, const char *mount, const char *system,
			 const char *event, struct err *err)
{
	DIR *dir = rootfs_opendir(root, "%s/events/%s", mount, system);
	struct dirent *entry;
	struct nearest near;
	char hint[96];

	nearest_init(&near, event);
	while (dir && (entry = readdir(dir)))
		if (name_is_file(entry->d_name))
			nearest_offer(&near, entry->d_name);
	if (dir)
		closedir(dir);
	nearest_say(&near, hint, sizeof(hint));
	return err_set(err, ENOENT, "%s:%.60s: this kernel has no such tracepoint%s%s%s%s",
		       system, event, hint, *hint ? "" : "; it has those of /",
		       *hint ? "" : mount, *hint ? "" : "/events");
}

/* Why nothing could be looked up, for when no other place knows the name either. */
static void say_why(const struct rootfs *root, const char *system, const char *event,
		    int error, struct err *err)
{
	if (error == -EACCES || error == -EPERM)
		err_set(err, ENOENT,
			"%s:%s: tracepoints cannot be looked up, tracefs is not "
			"readable for you; run as root, or give your group access: "
			"mount -o remount,mode=750,gid=GROUP /sys/kernel/tracing",
			system, event);
	else if (!rootfs_exists(root, "%s/events", mounts[0]) &&
		 !rootfs_exists(root, "%s/events", mounts[1]))
		err_set(err, ENOENT,
			"%s:%s: tracepoints cannot be looked up, tracefs is not "
			"mounted; as root: mount -t tracefs tracefs /sys/kernel/tracing",
			system, event);
}

static int lookup(const struct rootfs *root, const char *system, const char *event,
		  struct event *ev, struct err *err)
{
	int64_t id = -1;
	int error = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		int ret = rootfs_read_i64(root, &id, "%s/events/%s/%s/id", mounts[i],
					  system, event);

		if (!ret && id >= 0) {
			ev->type = PERF_TYPE_TRACEPOINT;
			ev->config = id;
			ev->kind = EVENT_TRACEPOINT;
			return 0;
		}
		if (rootfs_exists(root, "%s/events/%s", mounts[i], system) &&
		    ret == -ENOENT)
			return no_such_event(root, mounts[i], system, event, err);
		if (ret != -ENOENT)
			error = ret ? ret : -EINVAL;
	}
	say_why(root, system, event, error, err);
	return NOT_MINE;
}

int tracepoint_resolve(const struct rootfs *root, char *head, struct event *ev, char **mods,
		       struct err *err)
{
	char *event = strchr(head, ':'), *rest;
	int ret = NOT_MINE;

	*mods = NULL;
	if (!root || !event || event[1] == ':' || !event[1])
		return NOT_MINE;
	rest = strchr(event + 1, ':');
	*event++ = '\0';
	if (rest)
		*rest = '\0';
	if (rootfs_exists(root, "%s/events/%s", mounts[0], head) && strpbrk(event, "*?["))
		ret = err_set(err, EINVAL,
			      "%s:%s: name each tracepoint, patterns are not taken", head,
			      event);
	else if (name_is_file(head) && name_is_file(event))
		ret = lookup(root, head, event, ev, err);
	event[-1] = ':';
	if (rest && ret)
		*rest = ':';
	else if (rest)
		*mods = rest + 1;
	return ret;
}
