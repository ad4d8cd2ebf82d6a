/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A perf.data file that is whole at every moment: records are appended behind
 * what the header counts, and the header follows round by round.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/perfdata.h"
#include "record/perfdata_write.h"

/* vCPUs whose ids fit between the attrs and the data; more go into the data. */
#define IDS_RESERVED 64

/* What the trailing sample_id of a record is with our sample_type: TID, TIME,
 * CPU and IDENTIFIER, all zero in records that we make. */
#define SAMPLE_ID_SIZE 32

#define FILE_NAME_MAX 4096

/* Where Linux kernels live on the machines that have KVM; more than any text. */
#define KERNEL_HALF 0xffff000000000000ULL
#define KERNEL_TEXT_MAX (128ULL << 20)

static int fail(struct perfdata_writer *w, int code, struct err *err)
{
	const char *remedy = code == -ENOSPC || code == -EDQUOT
				     ? "; what was written before is whole and readable"
				     : "";

	return err_set(err, code, "%s: cannot write: %s%s", w->path, err_name(code),
		       remedy);
}

int perfdata_pwrite(struct perfdata_writer *w, const void *data, size_t size, uint64_t at,
		    struct err *err)
{
	const char *p = data;

	while (size) {
		ssize_t n = pwrite(w->fd, p, size, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail(w, n ? -errno : -ENOSPC, err);
		p += n;
		at += n;
		size -= n;
	}
	return 0;
}

int perfdata_put_header(struct perfdata_writer *w, struct err *err)
{
	const struct perfdata_header header = {
		.magic = PERFDATA_MAGIC,
		.size = sizeof(header),
		.attr_size = sizeof(struct perfdata_attr),
		.attrs = { sizeof(header), w->nevents * sizeof(struct perfdata_attr) },
		.data = { w->data_start, w->end - w->data_start },
		.features = { w->features },
	};

	return perfdata_pwrite(w, &header, sizeof(header), 0, err);
}

static int put_attrs(struct perfdata_writer *w, struct err *err)
{
	for (size_t i = 0; i < w->nevents; i++) {
		const struct perfdata_event *ev = &w->events[i];
		const struct perfdata_attr row = {
			.attr = ev->attr,
			.ids = { ev->ids_at, ev->nids * sizeof(uint64_t) },
		};
		int ret = perfdata_pwrite(w, &row, sizeof(row),
					  sizeof(struct perfdata_header) + i * sizeof(row),
					  err);

		if (ret)
			return ret;
	}
	return 0;
}

static void writer_free(struct perfdata_writer *w)
{
	for (size_t i = 0; w->events && i < w->nevents; i++) {
		free(w->events[i].ids);
		free(w->events[i].name);
	}
	if (w->fd >= 0)
		close(w->fd);
	free(w->events);
	free(w->hostname);
	free(w->cmdline);
	free(w->path);
	free(w);
}

static int copy_config(struct perfdata_writer *w, const char *path,
		       const struct perfdata_config *config)
{
	uint64_t at;

	w->nevents = config->nevents;
	w->path = strdup(path);
	w->hostname = strdup(config->hostname);
	w->cmdline = strdup(config->cmdline);
	w->events = calloc(w->nevents, sizeof(*w->events));
	if (!w->path || !w->hostname || !w->cmdline || !w->events)
		return -ENOMEM;
	w->machine = *config->machine;
	w->machine.nodes = NULL;
	w->machine.nnodes = 0;
	at = sizeof(struct perfdata_header) + w->nevents * sizeof(struct perfdata_attr);
	for (size_t i = 0; i < w->nevents; i++) {
		w->events[i].attr = config->attrs[i];
		w->events[i].attr.size = sizeof(struct perf_event_attr);
		w->events[i].name = strdup(config->names[i]);
		w->events[i].ids_at = at;
		w->events[i].ids_room = IDS_RESERVED;
		at += IDS_RESERVED * sizeof(uint64_t);
		if (!w->events[i].name)
			return -ENOMEM;
	}
	w->data_start = w->end = at;
	return 0;
}

int perfdata_create(const char *path, const struct perfdata_config *config,
		    struct perfdata_writer **out, struct err *err)
{
	struct perfdata_writer *w = calloc(1, sizeof(*w));
	int ret;

	if (!w)
		return err_set(err, ENOMEM, "out of memory");
	w->fd = -1;
	ret = copy_config(w, path, config);
	if (ret) {
		err_set(err, ret, "out of memory");
		goto out;
	}
	w->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (w->fd < 0) {
		ret = err_set(err, errno, "%s: cannot create: %s", path, err_name(errno));
		goto out;
	}
	ret = ftruncate(w->fd, w->data_start) ? fail(w, -errno, err) : put_attrs(w, err);
	if (!ret)
		ret = perfdata_put_header(w, err);
	if (ret)
		unlink(path);
out:
	if (ret)
		writer_free(w);
	else
		*out = w;
	return ret;
}

/* Bytes of whole records among the first @written bytes of the spans. */
static size_t whole_records(const struct iovec *spans, int n, size_t written,
			    uint64_t *samples)
{
	size_t whole = 0, base = 0;

	for (int i = 0; i < n; i++) {
		/* records are 8-aligned, so that a header never crosses two spans */
		while (whole >= base && whole - base < spans[i].iov_len) {
			const struct perf_event_header *h =
				(const void *)((char *)spans[i].iov_base + (whole - base));

			if (whole + h->size > written || !h->size)
				return whole;
			whole += h->size;
			*samples += h->type == PERF_RECORD_SAMPLE;
		}
		base += spans[i].iov_len;
	}
	return whole;
}

static int cut_back(struct perfdata_writer *w, size_t whole, int code, struct err *err)
{
	w->end += whole;
	if (ftruncate(w->fd, w->end) && !code)
		code = -errno;
	/* overwrites bytes that exist: works on a full disk too */
	perfdata_put_header(w, NULL);
	return fail(w, code, err);
}

int perfdata_append(struct perfdata_writer *w, const struct iovec *spans, int n,
		    struct err *err)
{
	struct iovec rest[PERFDATA_SPANS_MAX], *v = rest;
	size_t size = 0, done = 0;
	int left = n;

	if (n > PERFDATA_SPANS_MAX)
		return err_set(err, EINVAL, "%s: %d spans at once, at most %d", w->path, n,
			       PERFDATA_SPANS_MAX);
	memcpy(rest, spans, n * sizeof(*spans));
	for (int i = 0; i < n; i++)
		size += spans[i].iov_len;
	while (done < size) {
		ssize_t got = pwritev(w->fd, v, left, w->end + done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return cut_back(w, whole_records(spans, n, done, &w->salvaged),
					got ? -errno : -ENOSPC, err);
		done += got;
		for (; left && (size_t)got >= v->iov_len; v++, left--)
			got -= v->iov_len;
		if (left) {
			v->iov_base = (char *)v->iov_base + got;
			v->iov_len -= got;
		}
	}
	w->end += size;
	return 0;
}

static int append_one(struct perfdata_writer *w, void *record, size_t size, struct err *err)
{
	const struct iovec span = { record, size };

	return perfdata_append(w, &span, 1, err);
}

/*
 * The ids of event @i no longer fit: twice the room, inside a record of a type
 * that every reader steps over, so that the file stays whole while it grows.
 */
static int move_ids(struct perfdata_writer *w, struct perfdata_event *ev, struct err *err)
{
	const size_t most = (PERFDATA_RECORD_MAX - sizeof(struct perf_event_header)) / 8;
	size_t room = ev->ids_room * 2 < most ? ev->ids_room * 2 : most;
	size_t size = sizeof(struct perf_event_header) + room * sizeof(uint64_t);
	struct perf_event_header *record;
	int ret;

	if (room <= ev->nids)
		return err_set(
			err, E2BIG,
			"%s: more than %zu vCPUs or threads in one file: record fewer "
			"at a time",
			w->path, most);
	record = calloc(1, size);
	if (!record)
		return err_set(err, ENOMEM, "out of memory");
	record->type = RECORD_EVENT_TYPE;
	record->size = size;
	memcpy(record + 1, ev->ids, ev->nids * sizeof(uint64_t));
	ret = append_one(w, record, size, err);
	free(record);
	if (ret)
		return ret;
	ev->ids_at = w->end - room * sizeof(uint64_t);
	ev->ids_room = room;
	return 0;
}

int perfdata_add_ids(struct perfdata_writer *w, const uint64_t *ids, struct err *err)
{
	int ret;

	for (size_t i = 0; i < w->nevents; i++) {
		struct perfdata_event *ev = &w->events[i];

		if (!ids[i])
			continue;
		if (vec_reserve((void **)&ev->ids, &ev->ids_cap, ev->nids + 1,
				sizeof(*ev->ids)))
			return err_set(err, ENOMEM, "out of memory");
		ret = ev->nids == ev->ids_room ? move_ids(w, ev, err) : 0;
		if (!ret)
			ret = perfdata_pwrite(w, &ids[i], sizeof(ids[i]),
					      ev->ids_at + ev->nids * sizeof(ids[i]), err);
		if (ret)
			return ret;
		ev->ids[ev->nids++] = ids[i];
	}
	return put_attrs(w, err);
}

int perfdata_comm(struct perfdata_writer *w, pid_t pid, pid_t tid, const char *name,
		  struct err *err)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char name[112 + SAMPLE_ID_SIZE];
	} r = { .pid = pid, .tid = tid };
	size_t len = strlen(name);

	if (len > 111)
		len = 111;
	memcpy(r.name, name, len);
	r.header.type = PERF_RECORD_COMM;
	r.header.size = offsetof(typeof(r), name) + (len + 8) / 8 * 8 + SAMPLE_ID_SIZE;
	return append_one(w, &r, r.header.size, err);
}

int perfdata_mmap(struct perfdata_writer *w, bool kernel, pid_t pid, pid_t tid,
		  uint64_t addr, uint64_t len, uint64_t pgoff, const char *file,
		  struct err *err)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
		char file[FILE_NAME_MAX + SAMPLE_ID_SIZE];
	} r = { .pid = pid, .tid = tid, .addr = addr, .len = len, .pgoff = pgoff };
	size_t n = strlen(file);

	if (n >= FILE_NAME_MAX)
		n = FILE_NAME_MAX - 1;
	memcpy(r.file, file, n);
	r.header.type = PERF_RECORD_MMAP;
	r.header.misc = kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	r.header.size = offsetof(typeof(r), file) + (n + 8) / 8 * 8 + SAMPLE_ID_SIZE;
	return append_one(w, &r, r.header.size, err);
}

int perfdata_foreign_kernel(struct perfdata_writer *w, const char *symbol, uint64_t text,
			    struct err *err)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
		uint8_t build_id_size, reserved[3];
		char build_id[20];
		uint32_t prot, flags;
		char file[64 + SAMPLE_ID_SIZE];
	} r = {
		.header = { PERF_RECORD_MMAP2,
			    PERF_RECORD_MISC_KERNEL | PERF_RECORD_MISC_MMAP_BUILD_ID,
			    sizeof(r) },
		.pid = -1,
		.addr = text ? text : KERNEL_HALF,
		.len = text ? KERNEL_TEXT_MAX : -KERNEL_HALF - 0x10000,
		.pgoff = text,
		.build_id_size = sizeof(r.build_id),
		.build_id = "not the host kernel",
		.prot = PROT_EXEC,
		.flags = MAP_PRIVATE,
	};

	snprintf(r.file, 64, "[kernel.kallsyms]%.40s", symbol ? symbol : "_text");
	return append_one(w, &r, sizeof(r), err);
}

int perfdata_round(struct perfdata_writer *w, struct err *err)
{
	struct perf_event_header round = { .type = RECORD_FINISHED_ROUND,
					   .size = sizeof(round) };
	int ret = append_one(w, &round, sizeof(round), err);

	return ret ? ret : perfdata_put_header(w, err);
}

int perfdata_finish(struct perfdata_writer *w, struct err *err)
{
	int ret = perfdata_put_features(w, err);

	if (ret) {
		w->features = 0;
		if (ftruncate(w->fd, w->end) == 0)
			perfdata_put_header(w, NULL);
	}
	if (close(w->fd) && !ret)
		ret = fail(w, -errno, err);
	w->fd = -1;
	writer_free(w);
	return ret;
}

uint64_t perfdata_size(const struct perfdata_writer *w)
{
	return w->end;
}

const char *perfdata_path(const struct perfdata_writer *w)
{
	return w->path;
}

uint64_t perfdata_salvaged(const struct perfdata_writer *w)
{
	return w->salvaged;
}
