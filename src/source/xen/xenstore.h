/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_XEN_XENSTORE_H
#define SOURCE_XEN_XENSTORE_H

/*
 * Xenstore, for the names of domains; protocol: xen/include/public/io/xs_wire.h.
 * It need not run: then domains have numbers only.
 */

#include "base/rootfs.h"

/* A descriptor to talk to it, the daemon's socket or the kernel's device; -errno. */
int xenstore_open(const struct rootfs *root);
/*
 * Reads @path into @value, terminated and cleaned of control characters. 0; -ENOENT
 * and the like, as xenstore says; -ETIMEDOUT, -EPROTO: it is not to be talked to.
 */
int xenstore_read(int fd, const char *path, char *value, size_t size);

#endif
