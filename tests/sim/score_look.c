/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tool looks at a scenario, undisturbed or not. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "measure.h"
#include "score.h"
#include "source/sim/state.h"

#define LOST 0.001     /* of all readings */
#define TAKEN_CORE 2   /* counters of every core … */
#define TAKEN_UNCORE 2 /* … and socket that someone else has */

struct sim *look_sim(const struct look_at *l)
{
	return l->g.src->sim;
}

/* Some readings fail; which ones is the same in every run. */
static int read_with_losses(struct counters *c, struct reading *out)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005ull + 1442695040888963407ull;
	if ((double)(state >> 11) / 9007199254740992.0 < LOST)
		return -EAGAIN;
	return hosted_counters_read(c, out);
}

int look_open(struct look_at *l, const char *scenario, const struct score_options *o,
	      struct err *err)
{
	struct common_options common = { 0 };
	int ret;

	*l = (struct look_at) { .options = { o->windows, o->seconds } };
	out_init(&l->out, &out_json, stderr);
	if (asprintf(&l->what, "sim:%s", scenario) < 0)
		return err_set(err, ENOMEM, "out of memory");
	common.source = l->what;
	ret = gather_open(&l->g, &common, &l->options, &l->out, err);
	if (ret)
		return ret;
	l->ops = *l->g.ops;
	l->g.ops = &l->ops;
	if (o->trouble) {
		sim_take_counters(look_sim(l), TAKEN_CORE, TAKEN_UNCORE);
		l->ops.counters_read = read_with_losses;
	}
	clock_wait(NULL, 0, clock_now_ns() + o->warm_ns);
	return 0;
}

static void forget(struct look_at *l)
{
	diag_window_free(&l->all);
	free(l->each);
	l->each = NULL;
	windows_free(l->windows);
	l->windows = NULL;
}

int look_measure(struct look_at *l, struct err *err)
{
	struct sim *s = look_sim(l);
	struct progress before, after;
	size_t n;
	int ret;

	forget(l);
	l->began = sim_now_ns(s);
	progress_of(s, &before);
	ret = gather_windows(&l->g, &l->windows, err);
	if (ret)
		return ret;
	progress_of(s, &after);
	l->ended = sim_now_ns(s);
	for (unsigned i = 0; i < sim_vms(s); i++)
		l->work[i] = (double)(after.work[i] - before.work[i]);
	n = windows_count(l->windows);
	l->each = calloc(n + 1, sizeof(*l->each));
	for (size_t i = 0; l->each && i < n; i++)
		l->each[i] = windows_get(l->windows, i);
	if (!l->each || diag_window_merge(l->each, n, &l->all))
		return err_set(err, ENOMEM, "out of memory");
	return 0;
}

void look_close(struct look_at *l)
{
	forget(l);
	gather_close(&l->g);
	out_free(&l->out);
	free(l->what);
}
