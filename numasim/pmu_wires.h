/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_PMU_WIRES_H
#define NUMASIM_PMU_WIRES_H

/*
 * What a PMU's event selections are wired to: which of the machine's raw counts
 * (events.h) add up to what the counter counts.
 */

#include <stdbool.h>
#include <stdint.h>

#define WIRE_RAW 16

struct wire {
	uint64_t counters; /* of the PMU, that can count it */
	unsigned n;	   /* 0: it never happens here */
	uint8_t raw[WIRE_RAW];
};

/*
 * @config: event, unit mask, edge, inversion, count mask, as in PERFEVTSEL (a fixed
 * counter's: 0xc0, 0x3c, 0x300; the uncore's: 0xff). @model: the CPU's, of family 6;
 * 0x1a has Nehalem's events, all others Westmere's. False: there is no such event on
 * that CPU, or this machine does not model it: of edge, inversion and count mask it has
 * what makes cycles of requests in flight, no more.
 */
bool wire_core(unsigned model, uint32_t config, struct wire *out);
bool wire_uncore(unsigned model, uint32_t config, struct wire *out);

#endif
