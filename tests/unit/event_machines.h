/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_EVENT_MACHINES_H
#define TESTS_UNIT_EVENT_MACHINES_H

#include "test.h"

#include "machine_tree.h"
#include "model/event.h"

/* The machines of tests/trees/events, and the one that the test runs on. */
enum { X86, AMD, ARM, HYBRID, NONE, HERE, MACHINES };
extern struct machine_tree trees[MACHINES];

/* A test group's setup and teardown. */
int make_trees(void **state);
int remove_trees(void **state);

/* @spec is understood on @machine; the caller frees the set. */
struct event_set parse(int machine, const char *spec);
struct event parse_one(int machine, const char *spec);
/* @spec is refused with @code and a sentence that has @words. */
void refused(int machine, const char *spec, int code, const char *words);

#endif
