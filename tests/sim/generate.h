/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_SIM_GENERATE_H
#define TESTS_SIM_GENERATE_H

#include <stdint.h>

#include "base/str.h"

/*
 * A plausible scenario (vmmprof-scenarios(5)) as text, from a seed: one of the presets,
 * one to eight VMs, anything from an idle host to one that chokes. What is wrong with
 * it, if anything, is for others to find out: it is drawn, not designed, from continuous
 * distributions that make each kind of trouble about as frequent as the others.
 * 0; -ENOMEM.
 */
int generate_scenario(uint64_t seed, struct strbuf *out);

#endif
