/* SPDX-License-Identifier: GPL-2.0-or-later */
#define ACCESSES 250000
#include "random.c"
