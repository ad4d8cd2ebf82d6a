/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modifiers: the letters after ':' or the closing slash. */
#include <errno.h>
#include <string.h>

#include "base/vec.h"
#include "events/lookup.h"

enum {
	MOD_U = 1 << 0,
	MOD_K = 1 << 1,
	MOD_HV = 1 << 2,
	MOD_G = 1 << 3,
	MOD_H = 1 << 4,
	MOD_I = 1 << 5,
	MOD_D = 1 << 6,
	MOD_P = 1 << 7,
	MODES = MOD_U | MOD_K | MOD_HV,
	SIDES = MOD_G | MOD_H,
};

static const struct {
	char letter;
	unsigned bit;
	const char *refused; /* why perf's letter is not taken; NULL: it is */
} letters[] = {
	{ 'u', MOD_U, NULL },
	{ 'k', MOD_K, NULL },
	{ 'h', MOD_HV, NULL },
	{ 'G', MOD_G, NULL },
	{ 'H', MOD_H, NULL },
	{ 'I', MOD_I, NULL },
	{ 'D', MOD_D, NULL },
	{ 'p', MOD_P, NULL },
	{ 'P', 0, "the highest precision depends on the CPU; say p, pp or ppp" },
	{ 'S', 0, "leader sampling is not supported; count the other events with stat" },
	{ 'W', 0,
	  "groups are not broken up; events outside braces are scheduled one by one" },
	{ 'e', 0,
	  "exclusive use of the PMU would starve the other VMs; use D to pin an event" },
	{ 'b', 0, "counting by BPF programs is not supported; leave the b out" },
};

int mods_parse(const char *text, struct mods *mods, struct err *err)
{
	*mods = (struct mods) { 0 };
	if (!*text)
		return err_set(err, EINVAL,
			       "no modifier follows the ':'; expected some of "
			       "u k h G H I D p, as in cycles:u");
	for (; *text; text++) {
		size_t i = 0;

		while (i < ARRAY_SIZE(letters) && letters[i].letter != *text)
			i++;
		if (i == ARRAY_SIZE(letters))
			return err_set(err, EINVAL,
				       "'%c' is no modifier; expected some of "
				       "u k h G H I D p",
				       *text);
		if (letters[i].refused)
			return err_set(err, EINVAL, "modifier %c: %s", *text,
				       letters[i].refused);
		if ((mods->seen & letters[i].bit) && letters[i].bit != MOD_P)
			return err_set(err, EINVAL, "modifier %c is given twice", *text);
		mods->seen |= letters[i].bit;
		mods->precise += letters[i].bit == MOD_P;
		if (mods->precise > 3)
			return err_set(err, EINVAL,
				       "at most ppp: there are three levels of "
				       "precision");
	}
	return 0;
}

static enum event_side side_of(unsigned seen)
{
	static const enum event_side sides[] = { SIDE_DEFAULT, SIDE_GUEST, SIDE_HOST,
						 SIDE_BOTH };

	return sides[!!(seen & MOD_G) + 2 * !!(seen & MOD_H)];
}

/*
 * intel_guest_get_msrs() of arch/x86/events/intel/core.c takes counters with
 * PEBS off the CPU while a guest runs; AMD's IBS knows no guest mode. perf
 * therefore turns :p into :pH without a word; here it is to be written.
 */
static int apply_precise(unsigned precise, struct event *ev, struct err *err)
{
	if (precise > 3)
		return err_set(err, EINVAL, "%s: at most ppp, the group's p included",
			       ev->name);
	if (precise && (ev->kind != EVENT_HARDWARE || ev->side != SIDE_HOST))
		return err_set(
			err, EINVAL,
			"%s: precise sampling (p) works for hardware events "
			"on the host side only, CPUs switch it off while a guest runs; "
			"leave p out, or add H",
			ev->name);
	ev->precise = precise;
	return 0;
}

int mods_apply(const struct mods *own, const struct mods *group, bool leader,
	       struct event *ev, struct err *err)
{
	unsigned seen = own->seen | group->seen;

	if (ev->kind == EVENT_UNCORE || ev->kind == EVENT_MONITOR) {
		ev->side = SIDE_BOTH;
		if (!own->seen)
			return 0;
		return err_set(
			err, EINVAL,
			"%s: this knows no modes and no sides: leave its modifiers out",
			ev->name);
	}
	if (seen & MODES) {
		ev->exclude_user = !(seen & MOD_U);
		ev->exclude_kernel = !(seen & MOD_K);
		ev->exclude_hv = !(seen & MOD_HV);
	}
	ev->exclude_idle = seen & MOD_I;
	if ((own->seen & MOD_D) && !leader)
		return err_set(err, EINVAL,
			       "%s: only a group as a whole can be pinned; write "
			       "{...}:D",
			       ev->name);
	ev->pinned = (seen & MOD_D) && leader;
	if (ev->kind == EVENT_HARDWARE) {
		if (seen & SIDES)
			ev->side = side_of(seen);
	} else {
		if (own->seen & SIDES)
			return err_set(
				err, EINVAL,
				"%s: the kernel counts this on the vCPU's "
				"thread and knows no guest or host side; leave G and H "
				"out",
				ev->name);
		ev->side = SIDE_BOTH;
	}
	return apply_precise(
		own->precise + (ev->kind == EVENT_HARDWARE ? group->precise : 0), ev, err);
}
