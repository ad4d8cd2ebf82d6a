/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_RECORDING_H
#define RECORD_RECORDING_H

/*
 * A recording is a directory: recording.db (SQLite: topology, events, series,
 * notes; schema in docs/recording.md) and one perf.data per VM and view.
 */

#include "base/err.h"
#include "model/event.h"
#include "model/note.h"
#include "model/reading.h"
#include "model/topology.h"
#include "record/perfdata.h"

#define RECORDING_DEFAULT "vmmprof.data" /* where record writes and report reads */

struct recording;

/* Creates directory @path; -EEXIST if it is there and not an old recording. An
 * old recording is moved to "@path.old", as perf does. */
int recording_create(const char *path, const struct machine *machine, const char *cmdline,
		     struct recording **out, struct err *err);
/*
 * Registers a VM's file. @inside tells the VM's own view from the host's view.
 * The writer is the caller's to finish with perfdata_finish().
 */
int recording_lane(struct recording *rec, const struct vm *vm, bool inside,
		   const struct event_set *events, const struct perf_event_attr *attrs,
		   int64_t *lane_id, struct perfdata_writer **writer, struct err *err);
int recording_vcpu(struct recording *rec, int64_t lane_id, const struct vm *vm,
		   const struct vcpu *vcpu, struct err *err);
int recording_series(struct recording *rec, int64_t lane_id, uint64_t time_ns, int vcpu,
		     const struct reading *readings, const uint64_t *lost, size_t n,
		     struct err *err);
/* What the lane has so far; kept by the next commit. */
int recording_lane_totals(struct recording *rec, int64_t lane_id, uint64_t samples,
			  uint64_t lost, uint64_t throttled, struct err *err);
/* Copies kallsyms or an ELF file of @vm into the recording, for one lane. */
int recording_symbols(struct recording *rec, int64_t lane_id, const struct vm *vm,
		      const char *path, struct err *err);
/*
 * Gives back the space that is held in reserve, so that a recording whose disk is
 * full can still be finished. Harmless when called twice.
 */
void recording_release_reserve(struct recording *rec);
int recording_note(struct recording *rec, const struct note *note, struct err *err);
/* Commits what was added; called about once a second. */
int recording_commit(struct recording *rec, struct err *err);
/*
 * Writes the end mark with @how ("normally", "disk full"), and closes. The
 * directory is readable even if it fails.
 */
int recording_finish(struct recording *rec, const char *how, struct err *err);

/* ---- reading it back */

struct recording_lane {
	int64_t id;
	char vm_id[32], vm_name[80];
	pid_t pid; /* its process on the host; 0: not known */
	bool inside;
	bool process;	 /* a plain one: it is inside nothing, and its kernel the host's */
	bool hypervisor; /* Xen itself */
	char file[256];	 /* name inside the directory, checked: no slash */
	uint64_t samples, lost, throttled;
};

/* A kallsyms or ELF file that was copied in at record time. */
struct recording_symbols {
	int64_t lane;
	char file[256]; /* as of a lane */
};

struct recording_info {
	char cmdline[512];
	struct machine machine;			  /* nodes not filled */
	uint64_t start_wall_ns, start_ns, end_ns; /* end_ns 0: it was killed */
	char ended[64];		      /* "normally", "disk full"; "" if it was killed */
	struct recording_lane *lanes; /* owned */
	size_t nlanes;
	struct recording_symbols *symbols; /* owned; in the order they were given */
	size_t nsymbols;
	struct note *notes; /* owned */
	size_t nnotes;
};

int recording_load(const char *path, struct recording_info *info, struct err *err);
void recording_info_free(struct recording_info *info);

#endif
