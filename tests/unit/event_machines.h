/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_EVENT_MACHINES_H
#define TESTS_UNIT_EVENT_MACHINES_H

#include "test.h"

#include "base/rootfs.h"
#include "model/event.h"

/* The machines of tests/trees/pmu-*.tree, and the one that the test runs on. */
enum { X86, AMD, ARM, HYBRID, NONE, SHUT, HERE, MACHINES };
extern struct rootfs machines[MACHINES];

/* A test group's setup and teardown. */
int open_machines(void **state);
int close_machines(void **state);

/* @spec is understood on @machine; the caller frees the set. */
struct event_set parse(int machine, const char *spec);
struct event parse_one(int machine, const char *spec);
/* @spec is refused with @code and a sentence that has @words. */
void refused(int machine, const char *spec, int code, const char *words);

#endif
