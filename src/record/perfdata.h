/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_PERFDATA_H
#define RECORD_PERFDATA_H

/*
 * perf.data files (linux/tools/perf/Documentation/perf.data-file-format.txt),
 * written while they grow so that they can be read at any moment, and read
 * with every field checked: a file is hostile until proved otherwise.
 */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/err.h"
#include "model/event.h"
#include "model/machine.h"
#include "model/sample.h"

/* ---- writing */

struct perfdata_writer;

struct perfdata_config {
	const struct perf_event_attr *attrs; /* as opened, one per event */
	const char *const *names;	     /* one per event */
	size_t nevents;
	const struct machine *machine; /* arch, CPUs, release for the header */
	const char *hostname;	       /* the VM's name */
	const char *cmdline;	       /* the command that made it, "" if unknown */
};

/* Creates @path (fails with -EEXIST if it exists) with an empty, valid file. */
int perfdata_create(const char *path, const struct perfdata_config *config,
		    struct perfdata_writer **out, struct err *err);
/* Adds the ids of one more vCPU; ids[nevents], 0 where an event is not open. */
int perfdata_add_ids(struct perfdata_writer *w, const uint64_t *ids, struct err *err);
#define PERFDATA_SPANS_MAX 1024 /* IOV_MAX */
/*
 * Appends whole records with one writev(), @n <= PERFDATA_SPANS_MAX. On failure the
 * file is cut back to the last whole record that was written; -ENOSPC and the like.
 */
int perfdata_append(struct perfdata_writer *w, const struct iovec *spans, int n,
		    struct err *err);
/* Appends PERF_RECORD_COMM naming a thread. */
int perfdata_comm(struct perfdata_writer *w, pid_t pid, pid_t tid, const char *name,
		  struct err *err);
/* Appends PERF_RECORD_MMAP of executable code: @kernel for a kernel's text (pid -1). */
int perfdata_mmap(struct perfdata_writer *w, bool kernel, pid_t pid, pid_t tid,
		  uint64_t addr, uint64_t len, uint64_t pgoff, const char *file,
		  struct err *err);
/*
 * Appends PERF_RECORD_MMAP2 for a kernel that is not the one that will read the
 * file. A made-up build id keeps perf from naming its addresses after its own
 * kernel's functions; perf report --kallsyms FILE takes no notice of build ids.
 * @symbol, @text  a symbol and its address in the kernel's kallsyms ("_stext"), so
 * that perf can check FILE; NULL, 0: not known, all kernel addresses are mapped
 */
int perfdata_foreign_kernel(struct perfdata_writer *w, const char *symbol, uint64_t text,
			    struct err *err);
/* PERF_RECORD_FINISHED_ROUND, and the header's data size brought up to date. */
int perfdata_round(struct perfdata_writer *w, struct err *err);
/* Writes the feature sections and closes. The file is readable even if this fails. */
int perfdata_finish(struct perfdata_writer *w, struct err *err);

const char *perfdata_path(const struct perfdata_writer *w);
/* Bytes that the file has by now. */
uint64_t perfdata_size(const struct perfdata_writer *w);
/* Samples of a failed perfdata_append() that are in the file all the same. */
uint64_t perfdata_salvaged(const struct perfdata_writer *w);

/* ---- reading */

struct perfdata_reader;

struct perfdata_visitor {
	/* false stops the walk */
	bool (*sample)(void *ctx, const struct sample *sample);
	bool (*comm)(void *ctx, pid_t pid, pid_t tid, const char *name);
	/* code that a process mapped, not a kernel's; of the values none is checked */
	bool (*mmap)(void *ctx, pid_t pid, uint64_t addr, uint64_t len, uint64_t offset,
		     const char *path);
	bool (*lost)(void *ctx, uint64_t count);
	bool (*throttle)(void *ctx, uint64_t time_ns);
};

/* Opens the file and checks its header. -EINVAL with words where it is malformed. */
int perfdata_open(const char *path, struct perfdata_reader **out, struct err *err);
/* The same on memory that the caller keeps alive (fuzzing, tests). */
int perfdata_open_memory(const void *data, size_t size, struct perfdata_reader **out,
			 struct err *err);
size_t perfdata_nevents(const struct perfdata_reader *r);
const struct perf_event_attr *perfdata_attr(const struct perfdata_reader *r, size_t i);
/* The event's name, from the file's features or made from its attr; never NULL. */
const char *perfdata_event_name(const struct perfdata_reader *r, size_t i);
/* True if whoever wrote the file did not live to enter the data's size. */
bool perfdata_unfinished(const struct perfdata_reader *r);
/*
 * Walks all records in file order. A file cut short is not an error (a recording
 * may have been killed): *truncated (NULL: not wanted) tells how many bytes at
 * the end are no whole record, or are promised by the header and not there.
 * -EINVAL with words and offset at the first malformed record; what came before
 * it was visited. lost() is called once, at the end: kernel and perf may count
 * the same losses both in LOST and in LOST_SAMPLES records, so the larger counts.
 */
int perfdata_walk(struct perfdata_reader *r, const struct perfdata_visitor *v, void *ctx,
		  uint64_t *truncated, struct err *err);
void perfdata_close(struct perfdata_reader *r);

#endif
