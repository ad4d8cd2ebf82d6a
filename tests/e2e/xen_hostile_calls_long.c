/* SPDX-License-Identifier: GPL-2.0-or-later */
#define CALLS 500000
#include "xen_hostile_calls.c"
