/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words and the few operations that plain data needs. */
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/event.h"
#include "model/note.h"
#include "model/reading.h"
#include "model/role.h"
#include "model/topology.h"

static const char *word(const char *const *words, size_t n, unsigned i)
{
	return i < n && words[i] ? words[i] : "unknown";
}

const char *vm_accel_name(enum vm_accel accel)
{
	static const char *const words[] = { "kvm", "tcg",	 "process",
					     "xen", "simulated", "hypervisor" };

	return word(words, ARRAY_SIZE(words), accel);
}

int vcpu_key(const struct vcpu *vcpu)
{
	return vcpu->found == FOUND_HYPERVISOR ? vcpu->index + 1 : vcpu->tid;
}

const struct vcpu *vm_vcpu(const struct vm *vm, int key)
{
	for (size_t i = 0; vm && i < vm->nvcpus; i++)
		if (vcpu_key(&vm->vcpus[i]) == key)
			return &vm->vcpus[i];
	return NULL;
}

int vm_key(const struct vm *vm)
{
	return vm->pid ? vm->pid : 1;
}

const char *vcpu_found_name(enum vcpu_found found)
{
	static const char *const words[] = { "not found", "debugfs", "syscall",	  "name",
					     "observed",  "thread",  "hypervisor" };

	return word(words, ARRAY_SIZE(words), found);
}

const char *vpmu_kind_name(enum vpmu_kind kind)
{
	static const char *const words[] = { "unknown",	 "none",   "perf",
					     "mediated", "unused", "used" };

	return word(words, ARRAY_SIZE(words), kind);
}

bool event_is_level(const struct event *ev)
{
	return ev->kind == EVENT_MONITOR && ev->config == ROLE_LLC_OCCUPANCY;
}

const char *event_side_name(enum event_side side)
{
	static const char *const words[] = { "default", "guest", "host", "both" };

	return word(words, ARRAY_SIZE(words), side);
}

void event_modifiers(const struct event *ev, char out[static EVENT_MODIFIERS])
{
	bool modes = ev->exclude_user || ev->exclude_kernel || ev->exclude_hv;
	char *p = out;

	*p++ = ':';
	if (modes && !ev->exclude_user)
		*p++ = 'u';
	if (modes && !ev->exclude_kernel)
		*p++ = 'k';
	if (modes && !ev->exclude_hv)
		*p++ = 'h';
	if (ev->exclude_idle)
		*p++ = 'I';
	for (unsigned i = 0; i < ev->precise && i < 3; i++)
		*p++ = 'p';
	if (p == out + 1)
		p = out;
	*p = '\0';
}

const char *reading_state_name(enum reading_state state)
{
	static const char *const words[] = {
		[READ_COUNTED] = "counted",
		[READ_SCALED] = "scaled",
		[READ_SUSPECT] = "suspect",
		[READ_UNDEFINED] = "undefined",
		[READ_NOT_SCHEDULED] = "not-scheduled",
		[READ_TAKEN] = "taken",
		[READ_INVISIBLE] = "invisible",
		[READ_DENIED] = "denied",
		[READ_UNSUPPORTED] = "unsupported",
	};

	return word(words, ARRAY_SIZE(words), state);
}

const char *note_kind_name(enum note_kind kind)
{
	static const char *const words[] = {
		[NOTE_VM_APPEARED] = "vm-appeared",
		[NOTE_VM_GONE] = "vm-gone",
		[NOTE_VCPU_APPEARED] = "vcpu-appeared",
		[NOTE_VCPU_GONE] = "vcpu-gone",
		[NOTE_LOST] = "lost",
		[NOTE_THROTTLED] = "throttled",
		[NOTE_PROBLEM] = "problem",
		[NOTE_INFO] = "info",
	};

	return word(words, ARRAY_SIZE(words), kind);
}

struct note note_make(enum note_kind kind, const char *vm, uint64_t count, const char *fmt,
		      ...)
{
	struct note note = { .time_ns = clock_now_ns(), .kind = kind, .count = count };
	va_list ap;

	str_copy(note.vm, sizeof(note.vm), vm);
	va_start(ap, fmt);
	vsnprintf(note.text, sizeof(note.text), fmt, ap);
	va_end(ap);
	return note;
}

bool reading_has_value(enum reading_state state)
{
	return state <= READ_SUSPECT;
}

double reading_coverage(const struct reading *r)
{
	return r->enabled_ns ? (double)r->running_ns / r->enabled_ns : 1.0;
}

void event_set_free(struct event_set *set)
{
	free(set->ev);
	*set = (struct event_set) { 0 };
}

int event_set_append(struct event_set *dst, const struct event_set *src)
{
	int base = 0;

	for (size_t i = 0; i < dst->n; i++)
		if (dst->ev[i].group >= base)
			base = dst->ev[i].group + 1;
	for (size_t i = 0; i < src->n; i++) {
		struct event ev = src->ev[i];

		if (ev.group >= 0)
			ev.group += base;
		if (VEC_PUSH(dst->ev, dst->n, dst->cap, ev))
			return -ENOMEM;
	}
	return 0;
}

void vm_free(struct vm *vm)
{
	free(vm->vcpus);
	free(vm->mem_node);
	*vm = (struct vm) { 0 };
}

void topology_free(struct topology *topo)
{
	for (size_t i = 0; i < topo->nvms; i++)
		vm_free(&topo->vms[i]);
	free(topo->vms);
	free(topo->machine.nodes);
	*topo = (struct topology) { 0 };
}

static bool vm_is(const struct vm *vm, const char *what)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", vm->pid);
	return !strcmp(vm->id, what) || !strcmp(vm->name, what) ||
	       (vm->pid && !strcmp(pid, what));
}

bool vm_matches(const struct vm *vm, const char *pattern)
{
	return vm_is(vm, pattern) || fnmatch(pattern, vm->name, 0) == 0;
}

const struct vm *topology_vm(const struct topology *topo, const char *id)
{
	for (size_t i = 0; i < topo->nvms; i++)
		if (!strcmp(topo->vms[i].id, id))
			return &topo->vms[i];
	return NULL;
}

const struct vm *topology_find(const struct topology *topo, const char *what)
{
	for (size_t i = 0; i < topo->nvms; i++)
		if (vm_is(&topo->vms[i], what))
			return &topo->vms[i];
	return NULL;
}
