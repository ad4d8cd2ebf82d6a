/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/*
 * What libFuzzer calls, and replay.c without it. A fuzz_NAME.c defines both;
 * FUZZ_TREES is where the hosts of tests/trees are. A fault is an abort or a
 * sanitizer's report.
 */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
