/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of a table as events of this machine. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "events/table_form.h"

/* "cpu" is the core PMU, whatever the kernel calls it; others may be many boxes. */
static int find_pmu(const struct table_event *row, const struct rootfs *root,
		    struct pmu *out, size_t *boxes, struct err *err)
{
	struct pmu *pmus = NULL;
	size_t n = 0;
	bool found = false;
	int ret = pmu_list(root, &pmus, &n);

	*boxes = 0;
	for (size_t i = 0; !ret && i < n; i++) {
		bool is = strcmp(row->pmu, "cpu") ? pmu_is_box(pmus[i].name, row->pmu)
						  : pmus[i].core;

		if (is && !found)
			*out = pmus[i];
		found = found || is;
		*boxes += is;
	}
	free(pmus);
	if (ret)
		return err_set(err, ret, "%s: %s", row->name, err_name(ret));
	if (found)
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "%s: this kernel shows no PMU %s%s%s; in a VM the hypervisor may "
		       "hide it",
		       row->name, row->pmu, row->of->driver ? ": its driver is in " : "",
		       row->of->driver ? row->of->driver : "");
}

/* One field's value, where the kernel has that field. */
static int put_kernel(const struct table_event *row, const struct rootfs *root,
		      const struct pmu *pmu, const char *name, uint64_t value,
		      struct event *out, struct err *err)
{
	struct err why;
	int ret = pmu_field(root, pmu, name, value, out, &why);

	if (ret == NOT_MINE)
		return err_set(err, EOPNOTSUPP, "%s: this kernel's PMU %s has no field %s",
			       row->name, pmu->name, name);
	return ret ? err_set(err, EOPNOTSUPP, "%s: not with this kernel: %s", row->name,
			     why.text)
		   : 0;
}

int table_event_make(const struct table_event *row, const struct rootfs *root,
		     struct event *out, struct err *err)
{
	struct pmu pmu = { .type = PERF_TYPE_RAW, .core = !strcmp(row->pmu, "cpu") };
	const char *at = row->terms;
	char name[64];
	uint64_t value;
	size_t boxes = 1;
	int ret = root ? find_pmu(row, root, &pmu, &boxes, err) : 0;

	if (ret)
		return ret;
	event_init(out);
	str_copy(out->name, sizeof(out->name), row->name);
	out->type = pmu.type;
	out->kind = pmu.core ? EVENT_HARDWARE : EVENT_UNCORE;
	out->scale = row->mean ? row->scale / (double)boxes : row->scale;
	if (!pmu.core)
		str_copy(out->pmu, sizeof(out->pmu), row->pmu);
	while (!ret && table_term(&at, name, sizeof(name), &value) > 0) {
		if (root)
			ret = put_kernel(row, root, &pmu, name, value, out, err);
		else
			pmu_bits_put(&table_field(row->of, name)->bits, value, out);
	}
	return ret;
}
