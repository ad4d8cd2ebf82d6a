/* SPDX-License-Identifier: GPL-2.0-or-later */
#define SEED 2
#include "owner.c"
