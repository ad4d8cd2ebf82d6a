/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/window.h"

#include <stdlib.h>
#include <string.h>

void diag_window_free(struct diag_window *w)
{
	for (size_t i = 0; i < w->nvms; i++)
		free(w->vms[i].vcpus);
	free(w->vms);
	memset(w, 0, sizeof(*w));
}
