/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/record_sink.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/vec.h"

struct sink_lane {
	int64_t id;
	struct perfdata_writer *writer;
	struct lane_row row;
	size_t nevents;
	/* Most that any vCPU showed, to explain a lane without samples. */
	uint64_t raw, enabled_ns, running_ns;
};

static void sink_note(void *ctx, const struct note *note)
{
	struct record_sink *s = ctx;
	struct err err = { 0 };

	out_note(s->out, note);
	if (!s->rec) {
		if (VEC_PUSH(s->early, s->nearly, s->capearly, *note))
			err_set(&s->failed, ENOMEM, "out of memory");
		return;
	}
	if (recording_note(s->rec, note, &err) && !s->failed.code)
		s->failed = err;
}

void record_sink_note(struct record_sink *s, struct note note)
{
	sink_note(s, &note);
}

static int make_recording(struct record_sink *s, struct err *err)
{
	struct topology topo = { 0 };
	int ret;

	if (s->rec)
		return 0;
	ret = s->ops->topology(s->src, TOPOLOGY_BASIC, &topo, err);
	if (!ret)
		ret = recording_create(s->path, &topo.machine, s->cmdline, &s->rec, err);
	topology_free(&topo);
	for (size_t i = 0; !ret && i < s->nearly; i++)
		ret = recording_note(s->rec, &s->early[i], err);
	return ret;
}

struct sideband_ctx {
	struct perfdata_writer *writer;
	struct err *err;
};

static int sideband_comm(void *ctx, pid_t pid, pid_t tid, const char *name)
{
	struct sideband_ctx *c = ctx;

	return perfdata_comm(c->writer, pid, tid, name, c->err);
}

static int sideband_mmap(void *ctx, bool kernel, pid_t pid, pid_t tid, uint64_t addr,
			 uint64_t len, uint64_t pgoff, const char *file)
{
	struct sideband_ctx *c = ctx;

	return perfdata_mmap(c->writer, kernel, pid, tid, addr, len, pgoff, file, c->err);
}

static int describe_host(struct record_sink *s, const struct vm *vm, struct sink_lane *lane,
			 struct err *err)
{
	static const struct sideband_ops cb = { sideband_comm, sideband_mmap };
	struct err local = { 0 };
	struct sideband_ctx ctx = { lane->writer, &local };
	int ret = s->ops->sideband ? s->ops->sideband(s->src, vm, &cb, &ctx) : 0;

	if (!local.code) {
		if (ret) /* the source's, and not fatal: addresses stay numbers */
			record_sink_note(
				s,
				note_make(NOTE_PROBLEM, vm->name, 0,
					  "the maps of process %d cannot be read (%s): its "
					  "functions will have no names",
					  vm->pid, err_name(ret)));
		return 0;
	}
	*err = local;
	return local.code;
}

/* The next of the files that --symbols names for @vm, or NULL; *@at starts at 0. */
static const char *next_symbols(const struct record_sink *s, const struct vm *vm,
				size_t *at)
{
	while (*at < s->symbols->n) {
		const char *arg = s->symbols->v[(*at)++], *eq = strchr(arg, '=');
		char pattern[128];

		snprintf(pattern, sizeof(pattern), "%.*s", (int)(eq - arg), arg);
		if (vm_matches(vm, pattern))
			return eq + 1;
	}
	return NULL;
}

/* The first of _stext and _text in a kallsyms copy; 0 if it has neither, as an ELF
 * file has not. */
static uint64_t kernel_text(const char *path, char *symbol, size_t size)
{
	FILE *f = fopen(path, "re");
	char line[512], name[256], type;
	uint64_t addr = 0;
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%" SCNx64 " %c %255s", &addr, &type, name) == 3 &&
			(!strcmp(name, "_stext") || !strcmp(name, "_text"));
	if (f)
		fclose(f);
	str_copy(symbol, size, found ? name : "");
	return found ? addr : 0;
}

static int put_symbol(void *ctx, uint64_t address, uint64_t size, const char *name)
{
	FILE *const *halves = ctx;

	(void)size; /* as in kallsyms, up to the next */
	return fprintf(halves[address >> 63], "%016" PRIx64 " t %s\n", address, name) < 0
		       ? -EIO
		       : 0;
}

/* What the source itself knows: as copies of kallsyms, of the VM's programs and of its
 * kernel. */
static int keep_symbols(struct record_sink *s, const struct vm *vm, struct sink_lane *lane,
			struct err *err)
{
	FILE *halves[2] = { 0 };
	int ret = 0;

	for (int i = 0; !ret && i < 2; i++) {
		int fd = memfd_create("symbols", MFD_CLOEXEC);

		halves[i] = fd < 0 ? NULL : fdopen(fd, "w");
		if (!halves[i] && fd >= 0)
			close(fd);
		ret = halves[i] ? 0 : err_set(err, ENOMEM, "out of memory");
	}
	if (!ret && s->ops->symbols(s->src, vm, put_symbol, halves))
		ret = err_set(err, ENOMEM, "out of memory for the symbols of %s", vm->name);
	for (int i = 0; !ret && i < 2; i++) {
		char path[40];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(halves[i]));
		if (!fflush(halves[i]) && ftell(halves[i]) > 0)
			ret = recording_symbols(s->rec, lane->id, vm, path, err);
	}
	for (int i = 0; i < 2; i++)
		if (halves[i])
			fclose(halves[i]);
	return ret;
}

static int describe_inside(struct record_sink *s, const struct vm *vm,
			   struct sink_lane *lane, struct err *err)
{
	const char *path;
	char symbol[40];
	uint64_t text = 0;
	size_t at = 0;
	int ret = 0;

	while (!ret && (path = next_symbols(s, vm, &at))) {
		text = text ? text : kernel_text(path, symbol, sizeof(symbol));
		ret = recording_symbols(s->rec, lane->id, vm, path, err);
	}
	if (!ret && s->ops->symbols)
		ret = keep_symbols(s, vm, lane, err);
	if (!ret)
		ret = perfdata_foreign_kernel(lane->writer, text ? symbol : NULL, text,
					      err);
	return ret ? ret
		   : perfdata_comm(lane->writer, vm_key(vm), vm_key(vm), vm->name, err);
}

bool record_disk_full(int code)
{
	return code == -ENOSPC || code == -EDQUOT || code == -EFBIG;
}

/* Once the disk is full nothing more is sampled; finishing gets the reserve. */
static int checked(struct record_sink *s, int ret)
{
	s->broken = s->broken || ret;
	if (record_disk_full(ret) && s->rec)
		recording_release_reserve(s->rec);
	return ret;
}

static int sink_open(void *ctx, const struct vm *vm, bool inside,
		     const struct event_set *events, const struct perf_event_attr *attrs,
		     void **out, struct err *err)
{
	struct record_sink *s = ctx;
	struct sink_lane *lane;
	int ret = make_recording(s, err);

	if (ret)
		return ret;
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return err_set(err, ENOMEM, "out of memory");
	ret = recording_lane(s->rec, vm, inside, events, attrs, &lane->id, &lane->writer,
			     err);
	if (ret) {
		free(lane);
		return ret;
	}
	lane->nevents = events->n;
	str_copy(lane->row.vm, sizeof(lane->row.vm), vm->name);
	lane->row.view = vm->accel == ACCEL_NONE ? "process" : inside ? "inside" : "host";
	str_copy(lane->row.file, sizeof(lane->row.file), perfdata_path(lane->writer));
	*out = lane;
	return checked(s, inside && vm->accel != ACCEL_NONE
				  ? describe_inside(s, vm, lane, err)
				  : describe_host(s, vm, lane, err));
}

static int sink_vcpu(void *ctx, void *handle, const struct vm *vm, const struct vcpu *vcpu,
		     const uint64_t *ids, struct err *err)
{
	struct record_sink *s = ctx;
	struct sink_lane *lane = handle;
	char name[112];
	int ret = perfdata_add_ids(lane->writer, ids, err);

	if (!ret && vm->accel != ACCEL_NONE) {
		snprintf(name, sizeof(name), "%s/vcpu%d", vm->name, vcpu->index);
		ret = perfdata_comm(lane->writer, vm_key(vm), vcpu_key(vcpu), name, err);
	}
	return checked(s, ret ? ret : recording_vcpu(s->rec, lane->id, vm, vcpu, err));
}

static int sink_write(void *ctx, void *handle, const struct iovec *spans, int n,
		      struct err *err)
{
	struct sink_lane *lane = handle;

	return checked(ctx, perfdata_append(lane->writer, spans, n, err));
}

static int sink_round(void *ctx, void *handle, struct err *err)
{
	struct sink_lane *lane = handle;

	return checked(ctx, perfdata_round(lane->writer, err));
}

static int sink_series(void *ctx, void *handle, uint64_t time_ns, int vcpu,
		       const struct reading *readings, const uint64_t *lost,
		       struct err *err)
{
	struct record_sink *s = ctx;
	struct sink_lane *lane = handle;

	for (size_t i = 0; i < lane->nevents; i++) {
		if (readings[i].raw > lane->raw)
			lane->raw = readings[i].raw;
		if (readings[i].enabled_ns > lane->enabled_ns)
			lane->enabled_ns = readings[i].enabled_ns;
		if (readings[i].running_ns > lane->running_ns)
			lane->running_ns = readings[i].running_ns;
	}
	return checked(s, recording_series(s->rec, lane->id, time_ns, vcpu, readings, lost,
					   lane->nevents, err));
}

static int sink_totals(void *ctx, void *handle, const struct sampling_totals *so_far,
		       struct err *err)
{
	struct record_sink *s = ctx;
	struct sink_lane *lane = handle;

	return checked(s, recording_lane_totals(s->rec, lane->id, so_far->samples,
						so_far->lost, so_far->throttled, err));
}

static const char *why_empty(const struct sink_lane *lane)
{
	if (!lane->enabled_ns)
		return "its threads did not run";
	if (!lane->running_ns)
		return "no counter was free for its events: see vmmprof check, or ask for "
		       "fewer events";
	if (lane->raw)
		return "fewer events happened than one period: sample more often (-c, -F)";
	return "its threads ran but the counter did not move: see vmmprof check, or try "
	       "-e cpu-clock";
}

static int sink_close(void *ctx, void *handle, const struct sampling_totals *totals,
		      struct err *err)
{
	struct record_sink *s = ctx;
	struct sink_lane *lane = handle;
	/* a write that failed half way left whole records that the session gave up */
	uint64_t samples = totals->samples + perfdata_salvaged(lane->writer);
	struct err second;
	int ret, ret2;

	if (!samples && !s->broken)
		record_sink_note(s, note_make(NOTE_PROBLEM, lane->row.vm, 0,
					      "no samples: %s", why_empty(lane)));
	lane->row.size = perfdata_size(lane->writer);
	ret = perfdata_finish(lane->writer, err);
	ret2 = recording_lane_totals(s->rec, lane->id, samples, totals->lost,
				     totals->throttled, ret ? &second : err);
	lane->row.samples = samples;
	lane->row.lost = totals->lost;
	lane->row.throttled = totals->throttled;
	if (VEC_PUSH(s->rows, s->nrows, s->caprows, lane->row) && !ret && !ret2)
		ret = err_set(err, ENOMEM, "out of memory");
	free(lane);
	return ret ? ret : ret2;
}

const struct sample_sink record_sink_ops = {
	.lane_open = sink_open,
	.lane_vcpu = sink_vcpu,
	.lane_write = sink_write,
	.lane_round = sink_round,
	.lane_series = sink_series,
	.lane_totals = sink_totals,
	.lane_close = sink_close,
	.note = sink_note,
};

int record_sink_commit(struct record_sink *s, struct err *err)
{
	if (s->failed.code) {
		*err = s->failed;
		return err->code;
	}
	return s->rec ? checked(s, recording_commit(s->rec, err)) : 0;
}

void record_sink_free(struct record_sink *s)
{
	free(s->early);
	free(s->rows);
}
