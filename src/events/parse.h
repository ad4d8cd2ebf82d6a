/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_PARSE_H
#define EVENTS_PARSE_H

#include "base/err.h"
#include "base/rootfs.h"
#include "events/table.h"
#include "model/event.h"

/*
 * perf's event grammar, see vmmprof-events(7):
 *   cycles  instructions:u  {cycles,instructions}:G  r11a  cpu/event=0x3c,umask=1/k
 *   cache-misses/period=1000/  kvm:kvm_exit  task-clock  LLC-load-misses
 *   uncore_imc/cas_count_read/ (all its boxes)  uncore_imc_0/cas_count_read/ (one)
 *   names of the CPU's event table, role:dram.remote, monitors: llc-occupancy,
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
/*
 * The same with the event table @table instead of that of the CPU below @root. @root NULL:
 * no kernel stands between (the built-in host): PMUs and their fields are the table's.
 */
int events_parse_with(const char *spec, const struct rootfs *root,
		      const struct event_table *table, struct event_set *set,
		      struct err *err);

#endif
