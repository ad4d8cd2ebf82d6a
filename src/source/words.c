/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/words.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/vec.h"

bool opened_say(struct opened *opened, enum reading_state state, const char *fmt, ...)
{
	va_list ap;

	opened->state = state;
	va_start(ap, fmt);
	vsnprintf(opened->reason, sizeof(opened->reason), fmt, ap);
	va_end(ap);
	return false;
}

void finding(struct capability *c, enum verdict verdict, unsigned takes, const char *fmt,
	     ...)
{
	va_list ap;

	c->verdict = verdict;
	c->takes = takes;
	va_start(ap, fmt);
	vsnprintf(c->finding, sizeof(c->finding), fmt, ap);
	va_end(ap);
}

void remedy(struct capability *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->remedy, sizeof(c->remedy), fmt, ap);
	va_end(ap);
}

int questions_ask(const struct question *questions, size_t n, const struct facts *f,
		  struct capability_list *list)
{
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++) {
		struct capability c = {
			.id = questions[i].id,
			.group = questions[i].group,
			.question = questions[i].question,
		};

		questions[i].check(f, &c);
		if (*c.finding)
			ret = VEC_PUSH(list->v, list->n, list->cap, c);
	}
	return ret;
}
