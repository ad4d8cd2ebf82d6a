/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core/ asks for the C library's header; Xen has all of it here. */
#include <xen/types.h>
