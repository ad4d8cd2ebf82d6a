/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmmprof check: what can be measured here and what not, why, and the remedy. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/plan.h"

static struct {
	struct common_options common;
	struct plan_options plan;
} opt;

static const struct option_row options[] = {
	{ "event", 'e', "EVENTS", OPT_LIST, &opt.plan.events,
	  "Would these fit on every VM?" },
	{ "vm", 0, "VM[:EVENTS]", OPT_LIST, &opt.plan.vms, "Would these fit on this VM?" },
	COMMON_FORMAT(&opt.common),
	COMMON_SOURCE(&opt.common),
	{ 0 },
};

struct row {
	const char *shown_group; /* only in a group's first row */
	const char *group, *id, *question, *verdict;
	char finding[sizeof(((struct capability *)0)->finding)];
	char remedy[sizeof(((struct capability *)0)->remedy)];
};

static const struct column columns[] = {
	COLUMN(struct row, shown_group, "", "Area", FIELD_STR, COL_TEXT_ONLY),
	COLUMN(struct row, group, "group", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct row, id, "id", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct row, question, "question", "Question", FIELD_STR, 0),
	COLUMN(struct row, verdict, "verdict", "Verdict", FIELD_STR, 0),
	COLUMN(struct row, finding, "finding", "Finding", FIELD_TEXT, COL_LAST),
	COLUMN(struct row, remedy, "remedy", "", FIELD_TEXT, COL_DATA_ONLY),
};
static const struct view check_view = { "check", columns, ARRAY_SIZE(columns) };

static void print_rows(struct out *o, const struct capability_list *list)
{
	const char *group = "";

	out_table(o, &check_view);
	for (size_t i = 0; i < list->n; i++) {
		const struct capability *c = &list->v[i];
		struct row row = {
			.shown_group = strcmp(c->group, group) ? c->group : "",
			.group = c->group,
			.id = c->id,
			.question = c->question,
			.verdict = verdict_name(c->verdict),
		};

		memcpy(row.finding, c->finding, sizeof(row.finding));
		memcpy(row.remedy, c->remedy, sizeof(row.remedy));
		group = c->group;
		out_row(o, &row);
	}
	out_end(o);
}

static void print_remedies(struct out *o, const struct capability_list *list)
{
	bool any = false;

	for (size_t i = 0; i < list->n; i++) {
		if (!*list->v[i].remedy)
			continue;
		if (!any)
			out_line(o, "\nWhat would help:");
		any = true;
		out_line(o, "  %s: %s", list->v[i].question, list->v[i].remedy);
	}
}

/* What is lost, in words. */
static const struct {
	unsigned ability;
	const char *words;
} losses[] = {
	{ ABLE_FIND, "not all VMs can be found" },
	{ ABLE_GUEST, "the guest side of KVM's VMs cannot be counted" },
	{ ABLE_KERNEL, "kernel mode cannot be counted" },
	{ ABLE_SAMPLE, "hardware events cannot be sampled" },
	{ ABLE_ASKED, "not all that was asked for can be counted all the time" },
};

static void print_summary(struct out *o, unsigned takes)
{
	struct strbuf words = { 0 };

	if (takes & ABLE_SOFTWARE) {
		out_line(o,
			 "\nNothing can be measured here; the answers marked missing say "
			 "why.");
		return;
	}
	if (takes & ABLE_HARDWARE) {
		out_line(o,
			 "\nSoftware events can be counted here, but no hardware event.");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(losses); i++)
		if (takes & losses[i].ability)
			strbuf_addf(&words, "%s %s", words.len ? ";" : ", but",
				    losses[i].words);
	out_line(o, "\nVMs can be counted%s by hardware events here%s.",
		 takes & ABLE_SAMPLE ? "" : " and sampled", words.len ? words.data : "");
	strbuf_free(&words);
}

static int status_of(unsigned takes)
{
	if (takes & ABLE_SOFTWARE)
		return STATUS_FAILED;
	return takes ? STATUS_PARTIAL : STATUS_OK;
}

/* What is asked for, as the source takes it; *@asks is freed by the caller. */
static int read_asks(struct plan *plan, struct capability_ask **asks, size_t *n,
		     struct err *err)
{
	if (plan_make(&opt.plan, &opt.common, "cycles", false, plan, err))
		return err->code;
	*asks = calloc(plan->ntargets + 1, sizeof(**asks));
	if (!*asks)
		return err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < plan->ntargets; i++)
		(*asks)[(*n)++] = (struct capability_ask) {
			.pattern = plan->targets[i].pattern,
			.events = &plan->targets[i].events,
		};
	if (plan->node_events.n)
		(*asks)[(*n)++] = (struct capability_ask) {
			.nodes = true,
			.events = &plan->node_events,
		};
	return 0;
}

static int check_run(int argc, char **argv)
{
	bool asked = opt.plan.events.n || opt.plan.vms.n;
	const struct out_ops *format;
	struct capability_list list = { 0 };
	struct capability_ask *asks = NULL;
	size_t nasks = 0;
	struct plan plan = { 0 };
	struct err err = { 0 };
	struct out out;
	int status;

	if (argc > 0)
		return command_misused("%s: check takes no words but its options", argv[0]);
	if (common_format(&opt.common, &format))
		return STATUS_USAGE;
	out_init(&out, format, stdout);
	if (plan_open(&opt.plan, &opt.common, &plan, &err) ||
	    (asked && read_asks(&plan, &asks, &nasks, &err))) {
		status = err.code == -EINVAL ? command_misused("%s", err.text)
					     : command_failed(&err);
		goto out;
	}
	if (plan.ops->capabilities(plan.src, asks, nasks, &list, &err)) {
		status = command_failed(&err);
		goto out;
	}
	common_say_host(&out, plan.ops, plan.src);
	print_rows(&out, &list);
	print_remedies(&out, &list);
	print_summary(&out, capability_list_takes(&list));
	status = status_of(capability_list_takes(&list));
out:
	capability_list_free(&list);
	free(asks);
	plan_free(&plan);
	out_free(&out);
	return status;
}

const struct command command_check = {
	.name = "check",
	.summary = "Say what can be measured here, what not, why, and the remedy",
	.usage = "[options]",
	.example = "  vmmprof check                               # this host\n"
		   "  vmmprof check -e cycles,instructions,r1b    # would these fit?\n"
		   "  vmmprof check --vm web:cycles --vm db:r1b   # each its own\n"
		   "  vmmprof check --json | jq 'select(.verdict != \"ok\")'\n",
	.options = options,
	.run = check_run,
};
