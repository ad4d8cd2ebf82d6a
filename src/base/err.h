/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_ERR_H
#define BASE_ERR_H

/*
 * One way to fail: a function returns 0 or -errno, and, where it takes a
 * struct err, leaves there one sentence that a user can act on: the input,
 * what was expected, the remedy. Library code never prints and never exits.
 */

#define ERR_TEXT 480

struct err {
	int code;	     /* the -errno that was returned, 0 if nothing failed */
	char text[ERR_TEXT]; /* one sentence, no newline, never empty when code != 0 */
};

/*
 * Records a failure and returns -|code|.
 * @err   where to; NULL is allowed and drops the text
 * @code  an errno value, either sign
 * @fmt   printf format of the sentence
 */
int err_set(struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before a sentence that is already there; returns err's code. */
int err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* strerror() for either sign of errno, safe to use in threads. */
const char *err_name(int code);

#endif
