/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fdlimit.h"
#include "base/str.h"
#include "base/vec.h"

#define SCAN_PERIOD_NS 1000000000u
#define SOON_NS 100000000u /* a vCPU is there whose thread may show at any moment */
#define SKIPS_MAX 9	   /* scans in a row that a source may answer by "unchanged" */
#define SCAN_SHARE 200	   /* a scan may cost 1/200 of the time between two */

struct known_vcpu {
	int key; /* vcpu_key(); 0: its thread is not known, and that was said */
	int index;
	pid_t tid;
	bool seen;
};

struct known_vm {
	char id[32], name[80];
	pid_t pid;
	uint64_t birth;
	int fd; /* readable when its process has ended; -1 */
	bool seen, fresh;
	struct event_set events;
	struct known_vcpu *vcpus;
	size_t nvcpus, capvcpus;
};

struct watch {
	const struct source_ops *ops;
	struct source *src;
	const struct target *targets;
	size_t ntargets;
	bool *matched; /* per target: a VM answered to it once */
	const struct watch_ops *cb;
	void *ctx;
	struct topology topo;
	struct known_vm *vms;
	size_t nvms, capvms;
	int epfd;
	bool started;
	unsigned skips;
	uint64_t due_ns;
};

static void tell(struct watch *w, struct note note)
{
	w->cb->note(w->ctx, &note);
}

int watch_create(const struct source_ops *ops, struct source *src,
		 const struct target *targets, size_t ntargets, const struct watch_ops *cb,
		 void *ctx, struct watch **out, struct err *err)
{
	struct watch *w;
	int ret = fdlimit_reserve(0, err); /* without any, no process looks like a VM */

	if (ret)
		return ret;
	w = calloc(1, sizeof(*w));
	if (w)
		w->matched = calloc(ntargets + 1, sizeof(*w->matched));
	if (!w || !w->matched) {
		free(w);
		return err_set(err, ENOMEM, "out of memory");
	}
	w->ops = ops;
	w->src = src;
	w->targets = targets;
	w->ntargets = ntargets;
	w->cb = cb;
	w->ctx = ctx;
	w->epfd = epoll_create1(EPOLL_CLOEXEC);
	*out = w;
	return 0;
}

static bool same_event(const struct event *a, const struct event *b)
{
	return a->type == b->type && a->config == b->config && a->config1 == b->config1 &&
	       a->config2 == b->config2 && a->side == b->side && a->group == b->group &&
	       a->exclude_user == b->exclude_user &&
	       a->exclude_kernel == b->exclude_kernel && a->exclude_hv == b->exclude_hv &&
	       a->exclude_idle == b->exclude_idle && a->precise == b->precise &&
	       a->period == b->period && a->freq == b->freq && !strcmp(a->name, b->name);
}

/* Events outside groups that two targets both ask for are counted once. */
static int add_events(struct event_set *dst, const struct event_set *src)
{
	struct event_set fresh = { 0 };
	int ret = 0;

	for (size_t i = 0; !ret && i < src->n; i++) {
		bool there = false;

		for (size_t k = 0; src->ev[i].group < 0 && k < dst->n; k++)
			there = there || same_event(&src->ev[i], &dst->ev[k]);
		if (!there)
			ret = VEC_PUSH(fresh.ev, fresh.n, fresh.cap, src->ev[i]);
	}
	if (!ret)
		ret = event_set_append(dst, &fresh);
	event_set_free(&fresh);
	return ret;
}

/* The union of the events of all targets that @vm answers to; whether any did. */
static int wanted_events(struct watch *w, const struct vm *vm, struct event_set *events,
			 bool *wanted)
{
	int ret = 0;

	*wanted = false;
	for (size_t i = 0; !ret && i < w->ntargets; i++) {
		const struct target *t = &w->targets[i];

		if (t->pattern && !vm_matches(vm, t->pattern))
			continue;
		*wanted = true;
		w->matched[i] = true;
		ret = add_events(events, &t->events);
	}
	return ret;
}

static bool has_ended(const struct known_vm *vm)
{
	struct pollfd p = { .fd = vm->fd, .events = POLLIN };

	return vm->fd >= 0 && poll(&p, 1, 0) > 0;
}

static void forget_vm(struct watch *w, struct known_vm *vm)
{
	if (vm->fd >= 0)
		close(vm->fd); /* leaves the epoll set with it */
	free(vm->vcpus);
	event_set_free(&vm->events);
	*vm = w->vms[--w->nvms];
}

static struct known_vm *find_known(struct watch *w, const struct vm *vm)
{
	for (size_t i = 0; i < w->nvms; i++)
		if (!strcmp(w->vms[i].id, vm->id) && w->vms[i].pid == vm->pid &&
		    w->vms[i].birth == vm->birth)
			return &w->vms[i];
	return NULL;
}

/* " (thread 1234)"; nothing where none stands behind the vCPU. */
static const char *thread_words(pid_t tid, char words[static 48])
{
	snprintf(words, 48, tid ? " (thread %d)" : "", tid);
	return words;
}

/* "process 1234"; the VM's id where none stands behind it. */
static const char *process_words(const struct known_vm *vm, char words[static 48])
{
	snprintf(words, 48, "process %d", vm->pid);
	return vm->pid ? words : vm->id;
}

static void lose_vcpu(struct watch *w, struct known_vm *vm, size_t i, bool say)
{
	struct known_vcpu gone = vm->vcpus[i];
	char words[48];

	/* the order stays that of the topology: both are walked side by side */
	vm->nvcpus--;
	memmove(&vm->vcpus[i], &vm->vcpus[i + 1], (vm->nvcpus - i) * sizeof(gone));
	if (!gone.key)
		return;
	w->cb->vcpu_gone(w->ctx, vm->id, gone.key);
	if (say)
		tell(w, note_make(NOTE_VCPU_GONE, vm->name, 0, "vCPU %d ended%s",
				  gone.index, thread_words(gone.tid, words)));
}

static void lose_vm(struct watch *w, struct known_vm *vm)
{
	char words[48];
	bool runs = vm->fd >= 0 && !has_ended(vm);

	tell(w, note_make(NOTE_VM_GONE, vm->name, 0, "VM ended (%s%s)",
			  process_words(vm, words),
			  runs	    ? " still runs"
			  : vm->pid ? " exited"
				    : ""));
	while (vm->nvcpus)
		lose_vcpu(w, vm, 0, false);
	w->cb->vm_gone(w->ctx, vm->id);
	forget_vm(w, vm);
}

/* Those without a thread are told by their numbers. */
static bool same_vcpu(const struct known_vcpu *known, const struct vcpu *v)
{
	int key = vcpu_key(v);

	return known->key == key && (key || known->index == v->index);
}

/* Marks what the new topology still has, and takes leave of the rest. */
static void find_losses(struct watch *w)
{
	for (size_t i = 0; i < w->nvms; i++) {
		w->vms[i].seen = false;
		for (size_t k = 0; k < w->vms[i].nvcpus; k++)
			w->vms[i].vcpus[k].seen = false;
	}
	for (size_t i = 0; i < w->topo.nvms; i++) {
		struct known_vm *vm = find_known(w, &w->topo.vms[i]);
		size_t pos = 0;

		if (!vm || w->topo.vms[i].ended || has_ended(vm))
			continue; /* a zombie may still be listed */
		vm->seen = true;
		for (size_t k = 0; k < w->topo.vms[i].nvcpus; k++) {
			const struct vcpu *v = &w->topo.vms[i].vcpus[k];

			/* Both lists stand in the same order until something changes. */
			for (size_t n = 0; n < vm->nvcpus; n++, pos++) {
				struct known_vcpu *known = &vm->vcpus[pos % vm->nvcpus];

				if (!same_vcpu(known, v))
					continue;
				known->seen = true;
				pos++;
				break;
			}
		}
	}
	for (size_t i = w->nvms; i-- > 0;) {
		if (!w->vms[i].seen) {
			lose_vm(w, &w->vms[i]);
			continue;
		}
		for (size_t k = w->vms[i].nvcpus; k-- > 0;)
			if (!w->vms[i].vcpus[k].seen)
				lose_vcpu(w, &w->vms[i], k, true);
	}
}

/* 0 also if @vm is none of ours; *out is NULL then. */
static int adopt_vm(struct watch *w, const struct vm *vm, struct known_vm **out)
{
	struct known_vm new = { .pid = vm->pid, .birth = vm->birth, .fresh = true };
	char words[48];
	bool wanted;
	int ret = wanted_events(w, vm, &new.events, &wanted);

	*out = NULL;
	new.fd = -1;
	if (ret || !wanted || vm->ended)
		goto out;
	str_copy(new.id, sizeof(new.id), vm->id);
	str_copy(new.name, sizeof(new.name), vm->name);
	new.fd = w->ops->vm_fd ? w->ops->vm_fd(w->src, vm) : -1;
	if (new.fd == -ESRCH || has_ended(&new))
		goto out;
	ret = VEC_PUSH(w->vms, w->nvms, w->capvms, new);
	if (ret)
		goto out;
	if (new.fd >= 0)
		epoll_ctl(w->epfd, EPOLL_CTL_ADD, new.fd,
			  &(struct epoll_event) { .events = EPOLLIN });
	*out = &w->vms[w->nvms - 1];
	if (w->started)
		tell(w, note_make(NOTE_VM_APPEARED, new.name, 0,
				  "VM started (%s), measured from here on",
				  process_words(&new, words)));
	return 0;
out:
	if (new.fd >= 0)
		close(new.fd);
	event_set_free(&new.events);
	return ret;
}

static bool knows_vcpu(struct known_vm *vm, const struct vcpu *v)
{
	for (size_t i = 0; i < vm->nvcpus; i++)
		if (same_vcpu(&vm->vcpus[i], v))
			return true;
	return false;
}

static int gain_vcpu(struct watch *w, struct known_vm *known, const struct vm *vm,
		     const struct vcpu *v)
{
	struct known_vcpu new = { vcpu_key(v), v->index, v->tid, false };
	char words[48];
	int ret = VEC_PUSH(known->vcpus, known->nvcpus, known->capvcpus, new);

	if (ret)
		return ret;
	if (!new.key) {
		tell(w, note_make(NOTE_PROBLEM, known->name, 0,
				  "vCPU %d is not measured: its thread is not known so far",
				  v->index));
		return 0;
	}
	if (!known->fresh)
		tell(w, note_make(NOTE_VCPU_APPEARED, known->name, 0,
				  "vCPU %d appeared%s, measured from here on", v->index,
				  thread_words(v->tid, words)));
	w->cb->vcpu_appeared(w->ctx, vm, v, &known->events);
	return 0;
}

static int find_gains(struct watch *w)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < w->topo.nvms; i++) {
		const struct vm *vm = &w->topo.vms[i];
		struct known_vm *known = find_known(w, vm);
		size_t before;

		if (!known)
			ret = adopt_vm(w, vm, &known);
		if (ret || !known)
			continue;
		before = known->nvcpus;
		for (size_t k = 0; !ret && k < vm->nvcpus; k++) {
			bool in_place = k < before && known->vcpus[k].key &&
					known->vcpus[k].key == vcpu_key(&vm->vcpus[k]);

			if (!in_place && !knows_vcpu(known, &vm->vcpus[k]))
				ret = gain_vcpu(w, known, vm, &vm->vcpus[k]);
		}
		known->fresh = false;
	}
	return ret;
}

int watch_scan(struct watch *w, struct err *err)
{
	uint64_t start = clock_spent_ns(), cost, period;
	struct topology topo = { 0 };
	int ret = w->ops->topology(w->src, TOPOLOGY_BASIC, &topo, err);

	if (ret) {
		topology_free(&topo);
		return ret;
	}
	topology_free(&w->topo);
	w->topo = topo;
	cost = clock_spent_ns() - start;
	find_losses(w);
	ret = find_gains(w);
	w->started = true;
	w->skips = 0;
	period = watch_unknown(w) ? SOON_NS : SCAN_PERIOD_NS;
	w->due_ns =
		clock_now_ns() + (cost * SCAN_SHARE > period ? cost * SCAN_SHARE : period);
	return ret ? err_set(err, ret, "out of memory for the list of VMs") : 0;
}

static bool vm_ended(const struct watch *w)
{
	struct pollfd p = { .fd = w->epfd, .events = POLLIN };

	return w->epfd >= 0 && poll(&p, 1, 0) > 0;
}

/* A scan that is due need not be made where the source knows a cheaper answer. */
static bool may_skip(struct watch *w)
{
	return w->ops->unchanged && !watch_unknown(w) && w->skips < SKIPS_MAX &&
	       w->ops->unchanged(w->src);
}

int watch_poll(struct watch *w, struct err *err)
{
	uint64_t now = clock_now_ns();

	if (vm_ended(w))
		return watch_scan(w, err);
	if (now < w->due_ns)
		return 0;
	if (!may_skip(w))
		return watch_scan(w, err);
	w->skips++;
	w->due_ns = now + SCAN_PERIOD_NS;
	return 0;
}

uint64_t watch_due_ns(const struct watch *w)
{
	return w->due_ns;
}

int watch_fd(const struct watch *w)
{
	return w->epfd;
}

const struct topology *watch_topology(const struct watch *w)
{
	return &w->topo;
}

size_t watch_vms(const struct watch *w)
{
	return w->nvms;
}

static size_t unknown(const struct known_vm *vm)
{
	size_t n = 0;

	for (size_t k = 0; k < vm->nvcpus; k++)
		n += !vm->vcpus[k].key;
	return n;
}

size_t watch_unknown(const struct watch *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->nvms; i++)
		n += unknown(&w->vms[i]);
	return n;
}

size_t watch_unknown_of(const struct watch *w, const char *vm_id)
{
	for (size_t i = 0; i < w->nvms; i++)
		if (!strcmp(w->vms[i].id, vm_id))
			return unknown(&w->vms[i]);
	return 0;
}

const char *watch_unmatched(const struct watch *w)
{
	for (size_t i = 0; i < w->ntargets; i++)
		if (w->targets[i].pattern && !w->matched[i])
			return w->targets[i].pattern;
	return NULL;
}

int watch_say_nothing(const struct watch *w, struct err *err)
{
	const char *pattern = watch_unmatched(w);

	if (pattern)
		return err_set(err, ENOENT,
			       "%s: no VM has this name, id or process number; vmmprof "
			       "list shows those that run",
			       pattern);
	if (watch_unknown(w))
		return err_set(err, ENOENT,
			       "no vCPU of the VMs that were found has a known thread: "
			       "vmmprof list says why");
	if (w->topo.unreadable)
		return err_set(err, ENOENT,
			       "no VM found, but %zu processes may not be looked into: run "
			       "as root, and see vmmprof check",
			       w->topo.unreadable);
	return err_set(err, ENOENT,
		       "no VM found: none runs here; -p PID takes a plain process, "
		       "--source sim the built-in host's VMs; vmmprof check says what this "
		       "machine can do");
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	while (w->nvms)
		forget_vm(w, &w->vms[w->nvms - 1]);
	if (w->epfd >= 0)
		close(w->epfd);
	topology_free(&w->topo);
	free(w->vms);
	free(w->matched);
	free(w);
}
