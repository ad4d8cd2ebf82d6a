/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plain caller: opens, maps, drains, reads, closes; and the one with a broken ring. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/ring.h"
#include "way.h"

#define CYCLES 0x11 /* PMUv3: CPU_CYCLES */
#define PAGE VPMU_RING_PAGE
#define PATIENCE_MS 20

struct watch {
	struct xenpmu_open open;
	unsigned char *rings;
	struct vpmu_reader *reader;
	unsigned long long received, elsewhere; /* samples; of those, not in their mode */
	unsigned long long stands_for;		/* events, all samples together */
	unsigned wakes;
	struct xenpmu_read *last;		/* of each tally */
	unsigned long long readings, backwards; /* of those, what was less than before */
	uint64_t seed;
};

int cmd_info(char **words)
{
	struct xenpmu_info info = { .version = XENPMU_VERSION };
	long rc = WAY_PMU(XENPMU_INFO, &info);

	(void)words;
	result("info", rc);
	if (rc)
		return 1;
	result("version", info.version);
	result("on", !!(info.flags & XENPMU_INFO_ON));
	result("privileged", !!(info.flags & XENPMU_INFO_PRIVILEGED));
	result("guest_counters", info.guest_counters);
	result("host_counters", info.host_counters);
	result("pcpus", info.pcpus);
	printf("@@ family %s\n@@ why %s\n", info.family, info.why);
	return 0;
}

static unsigned target(const char *word)
{
	return strcmp(word, "xen") ? (unsigned)atoi(word) : XENPMU_DOMID_XEN;
}

static void begin(struct watch *w, unsigned domid, uint64_t period, unsigned frames)
{
	size_t bytes = (size_t)frames * PAGE;

	w->open = (struct xenpmu_open) {
		.version = XENPMU_VERSION,
		.domid = domid,
		.nevents = 1,
		.ring_frames = frames,
		.owner = getpid(),
	};
	w->open.event[0] = (struct vpmu_event) {
		.config = CYCLES,
		.period = period,
		.flags = domid == XENPMU_DOMID_XEN ? VPMU_EVENT_HYP
						   : VPMU_EVENT_USER | VPMU_EVENT_KERNEL,
	};
	if (WAY_PMU(XENPMU_OPEN, &w->open))
		errx(1, "open: %s, event %u", strerror(errno), w->open.bad);
	w->last = calloc(w->open.tallies, sizeof(*w->last));
	if (!w->last)
		err(1, "memory for readings");
	if (!frames)
		return;
	w->rings = way_map(XENPMU_DOMID_XEN, XENPMU_RESOURCE_RING, w->open.handle, 0,
			   frames * w->open.tallies);
	w->reader = calloc(w->open.tallies, sizeof(*w->reader));
	if (!w->rings || !w->reader)
		err(1, "map");
	for (unsigned i = 0; i < w->open.tallies; i++) {
		if (vpmu_reader_init(&w->reader[i], w->rings + i * bytes, bytes))
			errx(1, "ring %u: its header makes no sense", i);
	}
}

static void drain(struct watch *w)
{
	bool xen = w->open.domid == XENPMU_DOMID_XEN;

	for (unsigned t = 0; w->rings && t < w->open.tallies; t++) {
		struct vpmu_reader *r = &w->reader[t];
		uint32_t n = vpmu_reader_waiting(r);

		for (uint32_t i = 0; i < n; i++) {
			struct vpmu_sample s = { 0 };

			if (!vpmu_reader_copy(r, i, &s) || s.vcpu != t ||
			    (s.mode == VPMU_MODE_HYP) != xen || s.event)
				w->elsewhere++;
			w->received++;
			w->stands_for += s.period;
		}
		vpmu_reader_done(r, n);
	}
}

/* One of the rings. */
static void spoil(struct watch *w)
{
	unsigned t = draw(&w->seed) % w->open.tallies;

	way_spoil(w->rings + (size_t)t * w->open.ring_frames * PAGE, w->open.ring_frames,
		  &w->seed);
}

static bool backwards(const struct xenpmu_count *before, const struct xenpmu_count *now)
{
	return now->value < before->value || now->enabled_ns < before->enabled_ns ||
	       now->running_ns < before->running_ns || now->taken < before->taken ||
	       now->lost < before->lost;
}

/* A reading of every tally; those at the same moment as others are tried again. */
static void look(struct watch *w)
{
	for (unsigned t = 0; t < w->open.tallies; t++) {
		struct xenpmu_read read;
		long rc;

		do {
			read = (struct xenpmu_read) {
				.version = XENPMU_VERSION,
				.handle = w->open.handle,
				.tally = t,
			};
			rc = WAY_PMU(XENPMU_READ, &read);
		} while (rc == -EAGAIN);
		if (rc)
			errx(1, "read of tally %u: %ld", t, rc);
		w->readings++;
		w->backwards += backwards(&w->last[t].count[0], &read.count[0]);
		w->last[t] = read;
	}
}

static void tell(const struct watch *w)
{
	uint64_t value = 0, taken = 0, lost = 0, enabled = 0, running = 0;
	uint32_t flags = 0;

	for (unsigned t = 0; t < w->open.tallies; t++) {
		const struct xenpmu_read *read = &w->last[t];

		value += read->count[0].value;
		taken += read->count[0].taken;
		lost += read->count[0].lost;
		enabled += read->count[0].enabled_ns;
		running += read->count[0].running_ns;
		flags |= read->flags;
	}
	result("tallies", w->open.tallies);
	result("readings", w->readings);
	result("backwards", w->backwards);
	result("cycles", value);
	result("taken", taken);
	result("lost", lost);
	result("received", w->received);
	result("enabled_ns", enabled);
	result("running_ns", running);
	result("gone", flags & XENPMU_READ_GONE);
}

/* A mapping outlives the set: nothing is taken any more, and the rings' account is whole.
 */
static void settle(struct watch *w)
{
	uint64_t taken, lost, unaccounted = -w->received;

	for (unsigned t = 0; w->rings && t < w->open.tallies; t++) {
		vpmu_reader_account(&w->reader[t], &taken, &lost);
		unaccounted += taken - lost;
	}
	result("wakes", w->wakes);
	result("received_in_all", w->received);
	result("elsewhere", w->elsewhere);
	result("stands_for", w->stands_for);
	result("unaccounted", (long long)unaccounted);
}

int cmd_watch(char **words)
{
	struct watch w = { .seed = 1 };
	struct xenpmu_close shut = { .version = XENPMU_VERSION };
	const char *mode = words[3];
	char ready[256];
	int fd;

	begin(&w, target(words[0]), strtoull(words[1], NULL, 0), atoi(words[2]));
	snprintf(ready, sizeof(ready), "%s.ready", words[4]);
	fd = open(ready, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	if (fd < 0 || close(fd))
		err(1, "%s", ready);
	while (access(words[4], F_OK)) {
		look(&w);
		if (!strcmp(mode, "woken")) {
			if (way_woken(PATIENCE_MS)) {
				w.wakes++;
				drain(&w);
			}
			continue;
		}
		if (!strcmp(mode, "drain"))
			drain(&w);
		if (!strcmp(mode, "rubbish"))
			spoil(&w);
		usleep(PATIENCE_MS * 1000);
	}
	look(&w);
	tell(&w);
	shut.handle = w.open.handle;
	result("close", WAY_PMU(XENPMU_CLOSE, &shut));
	if (strcmp(mode, "rubbish")) {
		drain(&w);
		settle(&w);
	}
	return 0;
}
