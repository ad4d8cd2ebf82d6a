/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_TARGET_H
#define EVENTS_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "model/event.h"

/*
 * Splits --vm PATTERN[:EVENTS] at its first colon: web:cycles,instructions,
 * web*:{cycles,instructions}:G, 12345:r11a, web. A colon in the pattern itself
 * is written "\:"; any other backslash stays, for fnmatch(3).
 * @pattern  receives the pattern, @size bytes
 * @events   set to the events inside @arg, NULL if none are said
 * 0, or -EINVAL with words.
 */
int target_split(const char *arg, char *pattern, size_t size, const char **events,
		 struct err *err);

/*
 * -EINVAL with words if an event of @set cannot be counted or sampled of a VM, because it
 * is a socket's; @sampling: or because it is told by a monitor, which knows no samples.
 */
int events_of_vm(const struct event_set *set, bool sampling, struct err *err);

#endif
