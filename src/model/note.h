/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MODEL_NOTE_H
#define MODEL_NOTE_H

#include <stdint.h>

enum note_kind {
	NOTE_VM_APPEARED,
	NOTE_VM_GONE,
	NOTE_VCPU_APPEARED,
	NOTE_VCPU_GONE,
	NOTE_LOST,	/* samples that found the ring full */
	NOTE_THROTTLED, /* the kernel slowed the event down */
	NOTE_PROBLEM,	/* anything else that makes data incomplete */
	NOTE_INFO,
};

/* Something that happened to the measurement. */
struct note {
	uint64_t time_ns; /* clock_now_ns() */
	enum note_kind kind;
	char vm[80];	/* the VM's name, "" for the whole run */
	uint64_t count; /* lost samples, throttlings; else 0 */
	char text[256]; /* one sentence */
};

/* A note of this moment; what is too long is cut. */
struct note note_make(enum note_kind kind, const char *vm, uint64_t count, const char *fmt,
		      ...) __attribute__((format(printf, 4, 5)));
const char *note_kind_name(enum note_kind kind); /* "vm-gone", "lost" */

#endif
