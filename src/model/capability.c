/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/capability.h"

#include <stdlib.h>

void capability_list_free(struct capability_list *list)
{
	free(list->v);
	*list = (struct capability_list) { 0 };
}

unsigned capability_list_takes(const struct capability_list *list)
{
	unsigned takes = 0;

	for (size_t i = 0; i < list->n; i++)
		takes |= list->v[i].takes;
	return takes;
}

const char *verdict_name(enum verdict verdict)
{
	static const char *const words[] = { "ok", "limited", "missing", "unknown" };

	return words[verdict];
}
