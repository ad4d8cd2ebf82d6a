/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What xl does to domains, without xl: often, and at random. */
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "way.h"

enum {
	DOMCTL_DESTROY = 2,
	DOMCTL_PAUSE = 3,
	DOMCTL_UNPAUSE = 4,
	DOMCTL_SET_AFFINITY = 9,
};

#define DOMAINS 8
#define VCPUS 8 /* of a domain, those that are looked at */
#define PAUSE_US 10000

struct shuffle {
	unsigned domid[DOMAINS], n;
	unsigned pcpus;
	uint64_t *affinity; /* what hypercalls read */
	uint32_t cpu[DOMAINS][VCPUS];
	unsigned pins, moves, pauses;
	uint64_t seed;
};

static long domctl(uint32_t cmd, unsigned domid)
{
	struct xen_domctl op = { .cmd = cmd, .domain = domid };

	return way_domctl(&op);
}

int cmd_destroy(char **words)
{
	long rc = domctl(DOMCTL_DESTROY, atoi(words[0]));

	result("destroy", rc);
	return rc != 0;
}

/* Anything may be gone by now, and a vCPU never have been there; nothing else is right. */
static bool done(const char *what, long rc)
{
	if (rc && rc != -ESRCH && rc != -EINVAL)
		errx(1, "%s: %ld", what, rc);
	return !rc;
}

static void pin(struct shuffle *s, unsigned i, unsigned vcpu, uint64_t pcpus)
{
	struct xen_domctl where = { .cmd = XEN_DOMCTL_GETVCPUINFO, .domain = s->domid[i] };
	struct xen_domctl op = { .cmd = DOMCTL_SET_AFFINITY, .domain = s->domid[i] };

	*s->affinity = pcpus;
	op.u.affinity.vcpu = vcpu;
	op.u.affinity.flags = XEN_VCPUAFFINITY_HARD;
	op.u.affinity.hard = (struct xen_bitmap) { (uintptr_t)s->affinity, s->pcpus };
	s->pins += done("pinning", way_domctl(&op));
	where.u.vcpuinfo.vcpu = vcpu;
	if (!done("asking for a vCPU", way_domctl(&where)))
		return;
	s->moves += where.u.vcpuinfo.cpu != s->cpu[i][vcpu];
	s->cpu[i][vcpu] = where.u.vcpuinfo.cpu;
}

static void pause_one(struct shuffle *s, unsigned i)
{
	/* not itself */
	if (!s->domid[i] || !done("pausing", domctl(DOMCTL_PAUSE, s->domid[i])))
		return;
	usleep(draw(&s->seed) % PAUSE_US);
	done("unpausing", domctl(DOMCTL_UNPAUSE, s->domid[i]));
	s->pauses++;
}

static void step(struct shuffle *s)
{
	unsigned i = draw(&s->seed) % s->n;
	uint64_t what = draw(&s->seed) % 16;

	if (!what)
		pause_one(s, i);
	else /* to one pCPU, often back at once */
		for (uint64_t times = 1 + what % 3; times; times--)
			pin(s, i, draw(&s->seed) % 2, 1ull << draw(&s->seed) % s->pcpus);
	if (draw(&s->seed) % 2)
		usleep(draw(&s->seed) % 16000);
}

int cmd_shuffle(char **words)
{
	struct shuffle s = { .seed = strtoull(words[0], NULL, 0),
			     .affinity = way_buffer(8) };
	struct xenpmu_info info = { .version = XENPMU_VERSION };

	if (WAY_PMU(XENPMU_INFO, &info))
		errx(1, "this Xen has no graft");
	s.pcpus = info.pcpus;
	for (char *word = strtok(words[1], ","); word && s.n < DOMAINS;
	     word = strtok(NULL, ","))
		s.domid[s.n++] = atoi(word);
	while (access(words[2], F_OK))
		step(&s);
	for (unsigned i = 0; i < s.n; i++)
		for (unsigned vcpu = 0; vcpu < 2; vcpu++)
			pin(&s, i, vcpu, (1ull << s.pcpus) - 1);
	result("pins", s.pins);
	result("moves", s.moves);
	result("pauses", s.pauses);
	return 0;
}
