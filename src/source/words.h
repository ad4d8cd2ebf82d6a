/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_WORDS_H
#define SOURCE_WORDS_H

/* What sources say in words: of events that they open, and to `vmmprof check`. */

#include "source/source.h"

/* What became of an event, and why. False, for who refuses it to return. */
bool opened_say(struct opened *opened, enum reading_state state, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Fills what a question found out; @takes: the abilities that are lost by it. */
void finding(struct capability *c, enum verdict verdict, unsigned takes, const char *fmt,
	     ...) __attribute__((format(printf, 4, 5)));
void remedy(struct capability *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

struct facts; /* that a source's questions look at: each source defines its own */

/* One question of `vmmprof check`; one that does not arise leaves the finding empty. */
struct question {
	const char *id, *group, *question;
	void (*check)(const struct facts *f, struct capability *c);
};

/* Adds the answers that there are to @list. 0 or -ENOMEM. */
int questions_ask(const struct question *questions, size_t n, const struct facts *f,
		  struct capability_list *list);

#endif
