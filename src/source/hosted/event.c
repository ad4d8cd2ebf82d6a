/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events, modes and periods that a hypervisor's event sets know, or in words why not. */
#include <stdio.h>

#include "source/hosted/hosted.h"

bool hosted_number(const struct hosted_generic *table, size_t n, const struct event *ev,
		   uint64_t *number)
{
	for (size_t i = 0; i < n; i++)
		if (table[i].type == ev->type && table[i].config == ev->config) {
			*number = table[i].number;
			return true;
		}
	return false;
}

/* An event that counts in none of the modes there are. */
static bool refuse_modes(const struct hosted_ops *ops, bool itself, struct opened *opened)
{
	if (itself)
		return opened_say(opened, READ_UNSUPPORTED,
				  "%s itself runs in one mode: leave u and k out, or say h",
				  ops->who);
	if (!ops->self)
		return opened_say(opened, READ_UNSUPPORTED,
				  "of a %s's modes there are u and k only", ops->vm);
	return opened_say(opened, READ_UNSUPPORTED,
			  "of a %s's modes there are u and k; %s itself (h) is the target "
			  "%s",
			  ops->vm, ops->who, ops->self);
}

/* What the hypervisor does for a VM. */
static bool refuse_host_side(const struct hosted_ops *ops, struct opened *opened)
{
	if (!ops->self)
		return opened_say(opened, READ_UNSUPPORTED,
				  "%s counts what a %s does inside, and nothing of what "
				  "it does for it: leave H out",
				  ops->who, ops->vm);
	return opened_say(opened, READ_UNSUPPORTED,
			  "what %s does for a %s is not counted with it: %s as a whole is "
			  "the target %s, as in --vm %s:cycles",
			  ops->who, ops->vm, ops->who, ops->self, ops->self);
}

bool hosted_modes(const struct hosted_ops *ops, const struct hosted_target *t,
		  const struct event *ev, uint32_t *flags, struct opened *opened)
{
	bool itself = t->kind == HOSTED_HYPERVISOR;

	if (itself && ev->side != SIDE_HOST)
		return opened_say(opened, READ_UNSUPPORTED,
				  "%s runs no guest mode of its own: leave G out",
				  ops->who);
	if (!itself && ev->side != SIDE_GUEST)
		return refuse_host_side(ops, opened);
	if (ev->precise || ev->exclude_idle || ev->pinned)
		return opened_say(opened, READ_UNSUPPORTED,
				  "%s's counters know the modifiers u and k%s%s only: "
				  "leave %s out",
				  ops->who, ops->self ? ", and h of the target " : "",
				  ops->self ? ops->self : "",
				  ev->precise	     ? "p"
				  : ev->exclude_idle ? "I"
						     : "D");
	*flags = itself ? (ev->exclude_hv ? 0 : VPMU_EVENT_HYP)
			: (ev->exclude_user ? 0 : VPMU_EVENT_USER) |
				  (ev->exclude_kernel ? 0 : VPMU_EVENT_KERNEL);
	return *flags ? true : refuse_modes(ops, itself, opened);
}

bool hosted_period(const struct hosted_ops *ops, const struct event *ev, uint64_t *period,
		   struct opened *opened)
{
	if (ev->freq)
		return opened_say(opened, READ_UNSUPPORTED,
				  "%s takes a sample every so many events, and knows no "
				  "rate: say -c N or period=N instead of a frequency",
				  ops->who);
	*period = ev->period	  ? ev->period
		  : ev->must_move ? ops->period_frequent
				  : ops->period_others;
	if (*period < VPMU_PERIOD_MIN || *period > VPMU_PERIOD_MAX)
		return opened_say(
			opened, READ_UNSUPPORTED,
			"%s takes a sample every %u to %llu events, not every %llu",
			ops->who, VPMU_PERIOD_MIN, VPMU_PERIOD_MAX,
			(unsigned long long)*period);
	if (!ev->period)
		snprintf(opened->reason, sizeof(opened->reason),
			 "sampled every %llu events: %s knows no rate; -c N chooses "
			 "another period",
			 (unsigned long long)*period, ops->who);
	return true;
}
