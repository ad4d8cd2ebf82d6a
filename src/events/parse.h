/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_PARSE_H
#define EVENTS_PARSE_H

#include "base/err.h"
#include "base/rootfs.h"
#include "model/event.h"

/*
 * perf's event grammar, see vmmprof-events(7):
 *   cycles  instructions:u  {cycles,instructions}:G  r11a  cpu/event=0x3c,umask=1/k
 *   cache-misses/period=1000/  kvm:kvm_exit  task-clock  LLC-load-misses
 *   and libpfm4's names, when perf and the kernel know none of that name.
 */

/*
 * Parses a comma-separated list of events and groups and appends it to @set.
 * @root  where sys/bus/event_source and tracefs are read
 * 0, or -EINVAL (not the grammar), -ENOENT (no such event, PMU or term on this
 * machine), -ENOMEM; @err names the piece, the reason and a remedy. On failure
 * @set is as before.
 */
int events_parse(const char *spec, const struct rootfs *root, struct event_set *set,
		 struct err *err);

#endif
