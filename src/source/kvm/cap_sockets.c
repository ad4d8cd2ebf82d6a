/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of the sockets' side can be had: the CPU's event table, its uncore PMUs. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "events/boxes.h"
#include "events/table.h"
#include "source/kvm/capabilities.h"

/* NULL, with the reason: there is no table for this CPU, or none that can be read. */
static struct event_table *table_here(const struct facts *f, struct err *err)
{
	struct event_table *t = NULL;
	struct cpu_id cpu;

	return cpu_identify(f->root, &cpu, err) || event_table_load(&cpu, &t, err) ? NULL
										   : t;
}

static unsigned count_roles(const struct event_table *t, unsigned from, unsigned to,
			    unsigned *of)
{
	const struct table_event *rows[ROLE_EVENTS];
	const char *why;
	unsigned n = 0;

	*of = 0;
	for (unsigned i = from; i < to; i++) {
		if (role_is_monitored(i))
			continue;
		(*of)++;
		n += event_table_role(t, i, rows, ROLE_EVENTS, &why) > 0;
	}
	return n;
}

void check_table(const struct facts *f, struct capability *c)
{
	struct err err = { 0 };
	struct event_table *t = table_here(f, &err);
	unsigned vcpu, vcpus, node, nodes;

	if (!t) {
		finding(c, VERDICT_LIMITED, 0, "%s", err.text);
		remedy(c, "the form of event tables is in vmmprof-events(7)");
		return;
	}
	vcpu = count_roles(t, 0, ROLE_OF_NODE, &vcpus);
	node = count_roles(t, ROLE_OF_NODE, ROLES, &nodes);
	finding(c, VERDICT_OK, 0, "%s: %u of %u roles of vCPUs, %u of %u of sockets",
		event_table_name(t), vcpu, vcpus, node, nodes);
	event_table_free(t);
}

/* The PMU that row @i is the first of; NULL: it is none of a socket's, or not the first.
 */
static const char *begins(const struct event_table *t, size_t i)
{
	const char *pmu = event_table_row(t, i)->pmu;

	if (!strcmp(pmu, "cpu") || (i && !strcmp(event_table_row(t, i - 1)->pmu, pmu)))
		return NULL;
	return pmu;
}

void check_sockets(const struct facts *f, struct capability *c)
{
	struct event_table *t = table_here(f, NULL);
	struct strbuf there = { 0 }, missing = { 0 };
	const char *driver = NULL;

	for (size_t i = 0; t && i < event_table_size(t); i++) {
		const char *pmu = begins(t, i);
		struct event_box *boxes = NULL;
		size_t n = 0;

		if (!pmu || event_boxes(f->root, pmu, &boxes, &n))
			continue;
		free(boxes);
		if (n) {
			strbuf_addf(&there, "%s%s (%zu)", there.len ? ", " : "", pmu, n);
			continue;
		}
		strbuf_addf(&missing, "%s%s", missing.len ? ", " : "", pmu);
		driver = driver ? driver : event_table_driver(t, pmu);
	}
	if (missing.len)
		finding(c, VERDICT_LIMITED, 0, "%s%s%snot there: %s",
			there.len ? "boxes: " : "", there.len ? there.data : "",
			there.len ? "; " : "", missing.data);
	else if (there.len)
		finding(c, VERDICT_OK, 0, "boxes: %s", there.data);
	if (driver)
		remedy(c,
		       "their drivers are in %s; a host does not give "
		       "them to its VMs",
		       driver);
	strbuf_free(&there);
	strbuf_free(&missing);
	event_table_free(t);
}
