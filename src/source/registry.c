/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The explicit list of sources: a new one is one file and one row here. */
#include <string.h>

#include "source/kvm/kvm.h"
#include "source/source.h"

const struct source_ops *const sources[] = {
	&kvm_source,
	NULL,
};

const struct source_ops *source_find(const char *name)
{
	for (size_t i = 0; sources[i]; i++)
		if (!strcmp(sources[i]->name, name))
			return sources[i];
	return NULL;
}
