/* SPDX-License-Identifier: GPL-2.0-or-later */
/* way_back_parse(): what it accepts are moves that can be made; what it refuses it tells
 * with a place. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "cli/placement.h"
#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

static void check(const struct move *m)
{
	int *cpus = NULL;
	size_t n = 0;

	if (!memchr(m->vm_id, 0, sizeof(m->vm_id)) || !*m->vm_id || m->vcpu < 0 ||
	    m->node < 0)
		abort();
	if (m->kind == MOVE_VCPU && (cpulist_parse(m->cpus, &cpus, &n) || !n))
		abort();
	free(cpus);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct way_back back;
	struct err err = { 0 };
	int ret = way_back_parse("p", (const char *)data, size, &back, &err);

	if (ret && (ret != -EINVAL || err.code != ret || strncmp(err.text, "p:", 2)))
		abort();
	for (size_t i = 0; !ret && i < back.n; i++)
		check(&back.moves[i]);
	if (!ret)
		way_back_free(&back);
	return 0;
}
