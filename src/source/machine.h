/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_MACHINE_H
#define SOURCE_MACHINE_H

/* The machine that Linux runs on, as /proc and /sys tell of it. */

#include "base/rootfs.h"
#include "model/machine.h"

/* What could not be read stays 0 or empty; 0 or -ENOMEM. @live: uname(2) may be asked. */
int machine_read(const struct rootfs *root, bool live, struct machine *machine);
int machine_copy(struct machine *dst, const struct machine *src);

#endif
