/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions about the PMU: is there one, how many counters, which events. */
#include <string.h>

#include "events/list.h"
#include "events/parse.h"
#include "source/kvm/capabilities.h"

#define BY_HARDWARE (ABLE_HARDWARE | ABLE_GUEST | ABLE_SAMPLE)

/* Linux sets this flag when CPUID says that a hypervisor is present (x86). */
static bool under_hypervisor(const struct facts *f)
{
	struct strbuf text = { 0 };
	bool is = !rootfs_slurp(f->root, &text, "proc/cpuinfo") && text.data &&
		  (strstr(text.data, " hypervisor ") || strstr(text.data, " hypervisor\n"));

	strbuf_free(&text);
	return is;
}

static bool under_xen(const struct facts *f)
{
	char type[16];

	return rootfs_read(f->root, type, sizeof(type), "sys/hypervisor/type") > 0 &&
	       !strcmp(type, "xen");
}

static const char *how_to_get_a_pmu(const struct facts *f)
{
	if (!under_xen(f))
		return "give this VM a vPMU: qemu -cpu host,pmu=on; libvirt <features><pmu "
		       "state='on'/></features>; in a cloud a bare-metal type";
	if (!strcmp(f->topo.machine.arch, "x86_64"))
		return "boot Xen with vpmu=1";
	return "build Xen with vmmprof's graft (xen/graft), boot it with vpmu=1, and give "
	       "this domain vpmu=1";
}

void check_pmu(const struct facts *f, struct capability *c)
{
	if (*f->pmus) {
		finding(c, VERDICT_OK, 0, "%s", f->pmus);
		return;
	}
	if (f->paranoid == INT64_MIN) {
		finding(c, VERDICT_MISSING, BY_HARDWARE,
			"this kernel has no perf events, so no PMU driver either");
		return;
	}
	if (under_hypervisor(f)) {
		finding(c, VERDICT_MISSING, BY_HARDWARE,
			"no PMU: this machine is itself a VM, and its hypervisor gives it "
			"none");
		remedy(c, "%s. Until then use software events: -e task-clock,page-faults",
		       how_to_get_a_pmu(f));
		return;
	}
	finding(c, VERDICT_MISSING, BY_HARDWARE,
		"the kernel found no core PMU on this machine");
	remedy(c,
	       "dmesg | grep -iE 'perf|pmu' says why; %s. Until then use software "
	       "events: -e task-clock,page-faults",
	       !strcmp(f->topo.machine.arch, "x86_64")
		       ? "a newer kernel may know this CPU"
		       : "the device tree or ACPI must describe the PMU, and a hypervisor "
			 "must offer it");
}

void check_counters(const struct facts *f, struct capability *c)
{
	const struct probe_counters *p = &f->counters;

	if ((!*f->pmus && !p->fit) || !f->can_perf)
		return; /* told by other rows */
	if (!f->probe) {
		finding(c, VERDICT_UNKNOWN, 0, "counters are tried on a live machine only");
	} else if (!p->fit) {
		finding(c, VERDICT_MISSING, BY_HARDWARE, "cycles does not open: %s",
			p->first.reason);
		if (p->first.state == READ_UNSUPPORTED)
			remedy(c, "the PMU is listed but does not count: look into dmesg | "
				  "grep -iE 'perf|pmu'");
	} else if (!p->free) {
		finding(c, VERDICT_MISSING, BY_HARDWARE,
			"%d fit, none is free: others hold all counters", p->fit);
		remedy(c,
		       "end other users of counters (perf, oprofile, a guest's vPMU), or "
		       "sysctl kernel.nmi_watchdog=0");
	} else if (p->free < p->fit) {
		finding(c, VERDICT_LIMITED, 0, "%d fit, %d free now: others hold %d",
			p->fit, p->free, p->fit - p->free);
		remedy(c, "sysctl kernel.nmi_watchdog=0, and end other users of counters "
			  "(perf, a guest's vPMU)");
	} else {
		finding(c, VERDICT_OK, 0, "%d; with more, events take turns and are scaled",
			p->fit);
	}
}

void check_watchdog(const struct facts *f, struct capability *c)
{
	int64_t on;
	bool takes_none = f->counters.fit && f->counters.free == f->counters.fit;

	if (!*f->pmus || rootfs_read_i64(f->root, &on, "proc/sys/kernel/nmi_watchdog"))
		return;
	if (!on) {
		finding(c, VERDICT_OK, 0, "off: holds no counter");
	} else if (takes_none) {
		finding(c, VERDICT_OK, 0, "on, but all %d counters are free",
			f->counters.fit);
	} else {
		finding(c, VERDICT_LIMITED, 0, "on: it holds one counter of every CPU");
		remedy(c, "sysctl kernel.nmi_watchdog=0 frees it while you measure");
	}
}

static const struct event cycles = {
	.name = "cycles",
	.kind = EVENT_HARDWARE,
	.type = PERF_TYPE_HARDWARE,
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.group = -1,
	.scale = 1,
};

/* cycles in the modes that we may count. */
static struct event allowed_cycles(const struct facts *f)
{
	struct event ev = cycles;

	ev.exclude_kernel = ev.exclude_hv = !f->can_kernel;
	return ev;
}

void check_guest_side(const struct facts *f, struct capability *c)
{
	struct event ev = allowed_cycles(f);
	struct opened opened;

	if (!f->counters.fit)
		return;
	probe_event(f->probe, &ev, SIDE_GUEST, false, &opened);
	if (opened.state == READ_COUNTED)
		finding(c, VERDICT_OK, 0, "guest and host side are told apart");
	else
		finding(c, VERDICT_MISSING, ABLE_GUEST, "%s: %s",
			reading_state_name(opened.state), opened.reason);
}

/* Only where the kernel is at fault: el0.c says how. */
void check_guest_user(const struct facts *f, struct capability *c)
{
	if (!*f->pmus || !el0_kernel_faulty(f->root, &f->topo.machine))
		return;
	finding(c, VERDICT_LIMITED, 0,
		"this kernel gets it wrong when events take turns or are sampled by "
		"frequency: the guest's side misses it, the host's side counts it");
	remedy(c, "Linux 6.6 or newer; until then no more events than counters, record -c "
		  "PERIOD, or kernel mode only (modifier k)");
}

void check_sampling(const struct facts *f, struct capability *c)
{
	struct event ev = allowed_cycles(f);
	struct opened opened;

	if (!f->counters.fit)
		return;
	ev.period = 1000000;
	probe_event(f->probe, &ev, SIDE_GUEST, true, &opened);
	if (opened.state != READ_COUNTED)
		probe_event(f->probe, &ev, SIDE_BOTH, true, &opened);
	if (opened.state == READ_COUNTED)
		finding(c, VERDICT_OK, 0,
			"the PMU interrupts: hardware events can be sampled%s",
			cpl_kernel_faulty(&f->topo.machine)
				? "; guests' kernel mode is told by the address (64-bit "
				  "guests): KVM of Linux 5.17 to 6.6 does not tell"
				: "");
	else
		finding(c, VERDICT_MISSING, ABLE_SAMPLE, "%s: %s",
			reading_state_name(opened.state), opened.reason);
}

struct tried {
	const struct facts *f;
	struct strbuf open;    /* perf's names that open */
	struct event_set seen; /* encodings of perf's names: aliases count once */
	int own;	       /* of the PMU's own events, so many open */
	int shut;
};

static bool alias(const struct event_set *seen, const struct event *ev)
{
	for (size_t i = 0; i < seen->n; i++)
		if (seen->ev[i].type == ev->type && seen->ev[i].config == ev->config)
			return true;
	return false;
}

static void try_event(struct tried *t, const struct event_name *name, struct event *ev)
{
	struct opened opened;

	ev->exclude_kernel = ev->exclude_hv = !t->f->can_kernel;
	probe_event(t->f->probe, ev, SIDE_BOTH, false, &opened);
	if (opened.state != READ_COUNTED)
		t->shut++;
	else if (*name->pmu)
		t->own++;
	else
		strbuf_addf(&t->open, "%s%s", t->open.len ? " " : "", name->name);
}

static int try_name(void *ctx, const struct event_name *name)
{
	struct tried *t = ctx;
	struct event_set set = { 0 };
	int rc = 0;

	if (name->kind != EVENT_HARDWARE)
		return 0;
	if (events_parse(name->name, t->f->root, &set, NULL) || !set.n) {
		t->shut++;
	} else if (*name->pmu || !alias(&t->seen, &set.ev[0])) {
		try_event(t, name, &set.ev[0]);
		if (!*name->pmu)
			rc = event_set_append(&t->seen, &set);
	}
	event_set_free(&set);
	return rc;
}

void check_events(const struct facts *f, struct capability *c)
{
	struct tried t = { .f = f };

	if (!f->counters.fit)
		return;
	if (events_list(f->root, try_name, &t) || t.open.oom)
		finding(c, VERDICT_UNKNOWN, 0, "out of memory");
	else
		finding(c, t.open.len || t.own ? VERDICT_OK : VERDICT_MISSING, 0,
			"%d of the PMU's own and: %s; %d others do not open", t.own,
			t.open.len ? t.open.data : "none", t.shut);
	strbuf_free(&t.open);
	event_set_free(&t.seen);
}

static int hardware_events(const struct event_set *set)
{
	int n = 0;

	for (size_t i = 0; i < set->n; i++)
		n += set->ev[i].kind == EVENT_HARDWARE;
	return n;
}

/* The VM (NULL: any) that more hardware events are asked for than for any other. */
static int most_asked(const struct facts *f, const struct vm **most)
{
	int max = 0;

	*most = NULL;
	for (size_t v = 0; v < f->topo.nvms; v++) {
		const struct vm *vm = &f->topo.vms[v];
		int n = 0;

		for (size_t i = 0; i < f->nasks; i++)
			if (!f->asks[i].pattern || vm_matches(vm, f->asks[i].pattern))
				n += hardware_events(f->asks[i].events);
		if (n > max) {
			max = n;
			*most = vm;
		}
	}
	for (size_t i = 0; !*most && i < f->nasks; i++)
		if (hardware_events(f->asks[i].events) > max)
			max = hardware_events(f->asks[i].events);
	return max;
}

/* The first asked event that does not open; false if all do. */
static bool refused(const struct facts *f, struct capability *c)
{
	for (size_t i = 0; i < f->nasks; i++)
		for (size_t k = 0; k < f->asks[i].events->n; k++) {
			const struct event *ev = &f->asks[i].events->ev[k];
			enum event_side side = ev->side ? ev->side : SIDE_GUEST;
			struct opened opened;

			if (f->asks[i].nodes) {
				finding(c, VERDICT_UNKNOWN, ABLE_ASKED,
					"%s: what sockets count is tried by stat only",
					ev->name);
				return true;
			}
			probe_event(f->probe, ev, side, false, &opened);
			if (opened.state == READ_COUNTED)
				continue;
			finding(c, VERDICT_MISSING, ABLE_ASKED, "%s is %s: %s", ev->name,
				reading_state_name(opened.state), opened.reason);
			return true;
		}
	return false;
}

void check_asked(const struct facts *f, struct capability *c)
{
	const struct vm *vm;
	int free = f->counters.free;
	int n = most_asked(f, &vm);

	if (!f->nasks)
		return;
	for (size_t i = 0; i < f->nasks; i++) {
		bool met = !f->asks[i].pattern;

		for (size_t v = 0; v < f->topo.nvms && !met; v++)
			met = vm_matches(&f->topo.vms[v], f->asks[i].pattern);
		if (!met) {
			finding(c, VERDICT_MISSING, ABLE_ASKED, "no VM answers to \"%s\"",
				f->asks[i].pattern);
			remedy(c, "vmmprof list shows the VMs of this host");
			return;
		}
	}
	if (!f->probe) {
		finding(c, VERDICT_UNKNOWN, 0, "events are tried on a live machine only");
	} else if (refused(f, c)) {
		return;
	} else if (n && !free) {
		finding(c, VERDICT_MISSING, ABLE_ASKED,
			"no counter is free for %d hardware events", n);
	} else if (n > free) {
		finding(c, VERDICT_LIMITED, ABLE_ASKED,
			"%s wants %d hardware events, %d counters are free: each counts "
			"about %d %% of the time and is scaled, with an error bound",
			vm ? vm->name : "a VM", n, free, 100 * free / n);
		remedy(c,
		       "ask for at most %d hardware events per VM to have them all exact",
		       free);
	} else {
		finding(c, VERDICT_OK, 0,
			"%d hardware events per VM at most, %d counters free", n, free);
	}
}
