/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/placement.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpulist.h"
#include "base/lines.h"
#include "base/str.h"
#include "base/vec.h"

#define FORM "vmmprof-placement"
#define VERSION 1
#define BYTES_MAX (1u << 20)
#define MOVES_MAX 100000

/* ---- from moves to the way back */

/* What is no whole list of pCPUs cannot be gone back to. */
static bool is_cpulist(const char *list)
{
	int *cpus = NULL;
	size_t n = 0;
	bool ok = !cpulist_parse(list, &cpus, &n) && n;

	free(cpus);
	return ok;
}

static const struct vcpu *vcpu_of(const struct vm *vm, int index)
{
	for (size_t i = 0; i < vm->nvcpus; i++)
		if (vm->vcpus[i].index == index)
			return &vm->vcpus[i];
	return NULL;
}

/* Index of the node with most of its memory; -1: not known. *spread: there are others. */
static int memory_node(const struct vm *vm, bool *spread)
{
	int best = -1;

	*spread = false;
	for (size_t i = 0; vm->mem_node && i < vm->nmem_node; i++) {
		if (!vm->mem_node[i])
			continue;
		*spread = best >= 0;
		if (best < 0 || vm->mem_node[i] > vm->mem_node[best])
			best = (int)i;
	}
	return best;
}

static bool undo_of(const struct move *move, const struct vm *vm,
		    const struct topology *topo, struct move *back, char *lacks,
		    size_t size)
{
	const struct vcpu *vcpu = vcpu_of(vm, move->vcpu);
	bool spread;
	int node;

	*back = *move;
	if (move->kind == MOVE_VCPU) {
		if (!vcpu || !is_cpulist(vcpu->affinity)) {
			snprintf(lacks, size,
				 "which pCPUs vCPU %d of %s could run on is not known",
				 move->vcpu, vm->name);
			return false;
		}
		str_copy(back->cpus, sizeof(back->cpus), vcpu->affinity);
		return true;
	}
	node = memory_node(vm, &spread);
	if (node < 0) {
		snprintf(lacks, size, "where memory of %s was is not known", vm->name);
		return false;
	}
	back->node = topo->machine.nodes[node].id;
	if (spread)
		snprintf(lacks, size,
			 "memory of %s was on several nodes: all of it goes to node %d, "
			 "where most was",
			 vm->name, back->node);
	return true;
}

int way_back_find(const struct move *moves, size_t n, const struct topology *topo,
		  const char *source, struct way_back *out)
{
	*out = (struct way_back) { 0 };
	out->moves = calloc(n + 1, sizeof(*out->moves));
	out->births = calloc(n + 1, sizeof(*out->births));
	if (!out->moves || !out->births) {
		way_back_free(out);
		return -ENOMEM;
	}
	str_copy(out->boot_id, sizeof(out->boot_id), topo->machine.boot_id);
	str_copy(out->source, sizeof(out->source), source);
	for (size_t i = n; i-- > 0;) {
		const struct vm *vm = topology_vm(topo, moves[i].vm_id);

		if (!vm || !undo_of(&moves[i], vm, topo, &out->moves[out->n], out->lacks,
				    sizeof(out->lacks)))
			continue;
		out->births[out->n++] = vm->birth;
	}
	return 0;
}

void way_back_free(struct way_back *w)
{
	free(w->moves);
	free(w->births);
	*w = (struct way_back) { 0 };
}

/* ---- the file */

static bool state_path(char *out, size_t size, bool make)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char folder[PATH_MAX];
	int n;

	if (state && *state == '/')
		n = snprintf(folder, sizeof(folder), "%s/vmmprof", state);
	else if (home && *home == '/')
		n = snprintf(folder, sizeof(folder), "%s/.local/state/vmmprof", home);
	else
		return false;
	if (n < 0 || (size_t)n >= sizeof(folder))
		return false;
	for (char *s = folder + 1; make && *s; s++)
		if (*s == '/') {
			*s = '\0';
			mkdir(folder, 0700);
			*s = '/';
		}
	if (make)
		mkdir(folder, 0700);
	n = snprintf(out, size, "%s/placement", folder);
	return n > 0 && (size_t)n < size;
}

static int no_place(struct err *err)
{
	return err_set(err, ENOENT,
		       "neither XDG_STATE_HOME nor HOME names a directory: the old "
		       "placement cannot be kept there for --undo");
}

static void write_back(const struct way_back *w, FILE *f)
{
	fprintf(f, "# where VMs were before vmmprof advise --apply\n");
	fprintf(f, FORM " %d\nboot %s\nsource %s\n", VERSION,
		*w->boot_id ? w->boot_id : "unknown", w->source);
	for (size_t i = 0; i < w->n; i++) {
		const struct move *m = &w->moves[i];

		if (m->kind == MOVE_VCPU)
			fprintf(f, "vcpu %s %" PRIu64 " %d %s\n", m->vm_id, w->births[i],
				m->vcpu, m->cpus);
		else
			fprintf(f, "memory %s %" PRIu64 " %d\n", m->vm_id, w->births[i],
				m->node);
	}
}

int way_back_save(const struct way_back *w, struct err *err)
{
	char path[PATH_MAX], fresh[PATH_MAX + 8];
	FILE *f = NULL;
	int fd, ret = 0;

	if (!state_path(path, sizeof(path), true))
		return no_place(err);
	snprintf(fresh, sizeof(fresh), "%s.XXXXXX", path);
	fd = mkostemp(fresh, O_CLOEXEC);
	if (fd >= 0)
		f = fdopen(fd, "w");
	if (!f) {
		ret = err_set(err, errno, "%s: cannot be written: %s", path,
			      err_name(errno));
		if (fd >= 0)
			close(fd);
		return ret;
	}
	write_back(w, f);
	if (fflush(f) || fsync(fd) || ferror(f))
		ret = errno ? -errno : -EIO;
	if (fclose(f) && !ret)
		ret = -errno;
	if (!ret && rename(fresh, path))
		ret = -errno;
	if (ret) {
		unlink(fresh);
		err_set(err, ret, "%s: cannot be written: %s", path, err_name(ret));
	}
	return ret;
}

void way_back_forget(void)
{
	char path[PATH_MAX];

	if (state_path(path, sizeof(path), false))
		unlink(path);
}

/* ---- reading it: what others may have written is not believed */

static int slurp(const char *path, struct strbuf *text, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), ret = 0;
	struct stat st;

	if (fd < 0)
		return errno == ENOENT
			       ? err_set(err, ENOENT,
					 "%s: there is none: no placement was changed by "
					 "--apply, or it was undone",
					 path)
			       : err_set(err, errno, "%s: cannot be read: %s", path,
					 err_name(errno));
	if (fstat(fd, &st))
		ret = err_set(err, errno, "%s: %s", path, err_name(errno));
	else if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022)
		ret = err_set(err, EPERM,
			      "%s: expected a file that is yours and that nobody else may "
			      "write: remove it",
			      path);
	else if (st.st_size > BYTES_MAX)
		ret = err_set(err, EFBIG, "%s: expected at most 1 MiB", path);
	while (!ret) {
		char part[4096];
		ssize_t n = read(fd, part, sizeof(part));

		if (n < 0)
			ret = err_set(err, errno, "%s: %s", path, err_name(errno));
		if (n <= 0 || text->len > BYTES_MAX)
			break;
		strbuf_add(text, part, (size_t)n);
	}
	close(fd);
	return ret ? ret : text->oom ? err_set(err, ENOMEM, "out of memory") : 0;
}

static int read_words(const struct lines *l, size_t n, const char *form, struct err *err)
{
	return l->n == n ? 0 : lines_bad(l, err, "expected %s", form);
}

static int read_vm(const struct lines *l, struct move *m, uint64_t *birth, struct err *err)
{
	if (!*l->word[1] || !str_copy(m->vm_id, sizeof(m->vm_id), l->word[1]))
		return lines_bad(l, err, "\"%.40s\": expected the id of a VM", l->word[1]);
	return lines_u64(l, 2, "when the VM began", 0, UINT64_MAX, birth, err);
}

static int read_move(const struct lines *l, struct move *m, uint64_t *birth,
		     struct err *err)
{
	uint64_t number = 0;
	int ret;

	m->kind = !strcmp(l->word[0], "vcpu") ? MOVE_VCPU : MOVE_MEMORY;
	ret = m->kind == MOVE_VCPU ? read_words(l, 5, "vcpu VM BEGAN INDEX PCPUS", err)
				   : read_words(l, 4, "memory VM BEGAN NODE", err);
	if (!ret)
		ret = read_vm(l, m, birth, err);
	if (!ret)
		ret = lines_u64(l, 3,
				m->kind == MOVE_VCPU ? "a vCPU's index" : "a node's number",
				0, 65535, &number, err);
	if (ret || m->kind == MOVE_MEMORY) {
		m->node = (int)number;
		return ret;
	}
	m->vcpu = (int)number;
	if (!is_cpulist(l->word[4]) || !str_copy(m->cpus, sizeof(m->cpus), l->word[4]))
		return lines_bad(l, err, "%.40s: expected a list of pCPUs", l->word[4]);
	return 0;
}

static int read_statement(const struct lines *l, struct way_back *w, size_t *cap,
			  struct err *err)
{
	const char *what = l->word[0];
	struct move m = { 0 };
	uint64_t birth = 0;
	size_t births = *cap;
	int ret;

	if (!strcmp(what, "boot") || !strcmp(what, "source")) {
		bool boot = *what == 'b';

		if (l->n != 2 ||
		    !str_copy(boot ? w->boot_id : w->source,
			      boot ? sizeof(w->boot_id) : sizeof(w->source), l->word[1]))
			return lines_bad(l, err, "expected %s and one word", what);
		return 0;
	}
	if (strcmp(what, "vcpu") && strcmp(what, "memory"))
		return lines_bad(l, err, "%.40s: expected boot, source, vcpu or memory",
				 what);
	if (w->n == MOVES_MAX)
		return lines_bad(l, err, "expected at most %d moves", MOVES_MAX);
	ret = read_move(l, &m, &birth, err);
	if (ret)
		return ret;
	if (vec_reserve((void **)&w->births, &births, w->n + 1, sizeof(*w->births)) ||
	    vec_reserve((void **)&w->moves, cap, w->n + 1, sizeof(*w->moves)))
		return err_set(err, ENOMEM, "out of memory");
	w->moves[w->n] = m;
	w->births[w->n++] = birth;
	return 0;
}

static int read_form(struct lines *l, struct err *err)
{
	int ret = lines_next(l, err);

	if (ret < 0)
		return ret;
	if (!ret)
		return err_set(err, EINVAL, "%s: expected " FORM " %d, it is empty",
			       l->file, VERSION);
	return l->n != 2 || strcmp(l->word[0], FORM) || strcmp(l->word[1], "1")
		       ? lines_bad(l, err, "expected " FORM " %d", VERSION)
		       : 0;
}

int way_back_parse(const char *file, const char *text, size_t size, struct way_back *out,
		   struct err *err)
{
	struct lines l;
	size_t cap = 0;
	int ret;

	*out = (struct way_back) { 0 };
	lines_begin(&l, file, text, size, 0);
	ret = read_form(&l, err);
	while (!ret && (ret = lines_next(&l, err)) == 1)
		ret = read_statement(&l, out, &cap, err);
	if (ret)
		way_back_free(out);
	return ret;
}

int way_back_load(struct way_back *out, struct err *err)
{
	struct strbuf text = { 0 };
	char path[PATH_MAX];
	int ret;

	*out = (struct way_back) { 0 };
	if (!state_path(path, sizeof(path), false))
		return no_place(err);
	ret = slurp(path, &text, err);
	if (!ret)
		ret = way_back_parse(path, text.len ? text.data : "", text.len, out, err);
	strbuf_free(&text);
	return ret;
}

int way_back_check(const struct way_back *w, const struct topology *topo,
		   const char *source, struct err *err)
{
	if (strcmp(w->source, source))
		return err_set(err, ESTALE,
			       "the placement that was kept is of --source %s, not %s",
			       w->source, source);
	if (*topo->machine.boot_id && strcmp(w->boot_id, topo->machine.boot_id))
		return err_set(err, ESTALE,
			       "this host was started anew since --apply: there is nothing "
			       "to go back to");
	for (size_t i = 0; i < w->n; i++) {
		const struct vm *vm = topology_vm(topo, w->moves[i].vm_id);

		if (!vm || vm->birth != w->births[i])
			return err_set(err, ESTALE,
				       "VM %s has ended since --apply: the placement that "
				       "was kept is not that of who runs now",
				       w->moves[i].vm_id);
	}
	return 0;
}
