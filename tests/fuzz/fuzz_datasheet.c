/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * datasheet_parse(): what it accepts has no number that a model cannot use; what it
 * refuses it tells with a place and leaves alone.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "source/datasheet.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag_machine m = { 0 };
	const struct diag_machine none = { 0 };
	struct err err = { 0 };
	int ret = datasheet_parse("d", (const char *)data, size, &m, &err);
	const double *number[] = { &m.core_hz,	 &m.uncore_hz,	     &m.llc_bytes,
				   &m.l2_bytes,	 &m.llc_ns,	     &m.local_ns,
				   &m.remote_ns, &m.shared_ns,	     &m.modified_ns,
				   &m.mem_rate,	 &m.remote_cache_ns, &m.remote_modified_ns,
				   &m.link_rate };

	if (ret && (ret != -EINVAL || err.code != ret || strncmp(err.text, "d:", 2) ||
		    memcmp(&m, &none, sizeof(m))))
		abort();
	for (size_t i = 0; i < sizeof(number) / sizeof(*number); i++)
		if (!isfinite(*number[i]) || *number[i] < 0)
			abort();
	if (m.remote_ns < m.local_ns)
		abort();
	return 0;
}
