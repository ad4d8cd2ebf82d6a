/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

/*
 * The report of one file: report.c selects, report_gather.c reads,
 * report_print.c shows, report_words.c speaks.
 */

#include "cli/out.h"
#include "record/maps.h"
#include "record/perfdata.h"
#include "record/profile.h"
#include "record/recording.h"
#include "record/thread_names.h"

enum report_by {
	BY_SYMBOL,
	BY_VCPU,
	BY_TIME,
	BY_STACK, /* for flame graphs: VM, vCPU, mode, symbol */
};

struct report_options {
	enum report_by by;
	const char *event;    /* NULL: all */
	uint64_t limit;	      /* rows per section */
	double percent_limit; /* rows below are left out */
};

/* One VM's file, seen from one side. */
struct report_section {
	/* the caller's */
	const struct report_options *opt;
	const struct recording_info *info; /* NULL: a perf.data file of its own */
	const struct recording_lane *lane;
	const char *path; /* of the perf.data */
	struct symtabs symtabs;
	struct strbuf symbols;	    /* their files, as FIELD_LIST has them */
	const char *kernel_symbols; /* of these the first of a kernel; NULL */
	bool same_machine;	    /* that recorded it: its files may be read */
	/* gathered */
	struct perfdata_reader *reader;
	struct profile *profile;
	struct thread_names names;
	struct maps maps;	  /* of the host's processes; by symbol only */
	struct timeline timeline; /* BY_TIME only */
	uint64_t lost, throttled;
	uint64_t truncated; /* bytes at the end that are no whole record */
	bool unfinished;
	char problem[ERR_TEXT]; /* why the rest of the file is not in here; "" */
	bool out_of_memory;
};

/*
 * Reads the file. A file that turns bad in its middle is no failure: what came
 * before is there and @problem tells. 0 or -errno with words.
 */
int report_gather(struct report_section *s, struct err *err);
/* Is this one of the file's events that was asked for? */
bool report_wants_event(const struct report_section *s, size_t event);
void report_section_free(struct report_section *s);

/* 0 or -ENOMEM. */
int report_print(struct report_section *s, struct out *o);

/* Are its addresses the host's: a process, or a VM's host side? */
bool report_of_host(const struct report_section *s);
/* What the file is called in the report: its VM's name, or its own path. */
const char *report_vm_name(const struct report_section *s);
const char *report_view_name(const struct report_section *s); /* inside, host, file */
/* What stands before = in --symbols for this section: the VM's name, "host", "file". */
const char *report_symbols_key(const struct report_section *s);

/* The words around the tables; @rows are those of profile_rows(). */
void report_heading(const struct report_section *s, struct out *o, size_t event);
void report_remarks(const struct report_section *s, struct out *o, size_t event,
		    const struct profile_row *rows, size_t n);
void report_file_remarks(const struct report_section *s, struct out *o);

#endif
