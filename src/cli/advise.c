/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmmprof advise: which move would help, by how much; and doing it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/advise_view.h"
#include "cli/commands.h"
#include "cli/gather.h"

#define LEAST 5 /* percent */
#define MOVES 64
#define ARRIVED 0.95 /* of a VM's memory: some of it may be pinned where it is */
#define MOST_SETTLES 10

static struct {
	struct common_options common;
	struct gather_options gather;
	double least; /* percent */
	uint64_t moves;
	bool apply, undo, bold;
} opt = { .gather.windows = GATHER_WINDOWS, .least = LEAST, .moves = MOVES };

/* A run's windows, and all of them as one. */
struct look {
	struct windows *windows;
	const struct diag_window **each; /* owned */
	struct diag_window all;
};

static int look(struct gather *g, struct look *l, struct err *err)
{
	int ret = gather_windows(g, &l->windows, err);
	size_t n = ret ? 0 : windows_count(l->windows);

	l->each = calloc(n + 1, sizeof(*l->each));
	if (!ret && !l->each)
		ret = err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; !ret && i < n; i++)
		l->each[i] = windows_get(l->windows, i);
	if (!ret && diag_window_merge(l->each, n, &l->all))
		ret = err_set(err, ENOMEM, "out of memory");
	return ret;
}

static void look_free(struct look *l)
{
	diag_window_free(&l->all);
	free(l->each);
	windows_free(l->windows);
}

/* Is there a tool that moves memory of VMs like these? */
static bool can_move_memory(const struct gather *g, const struct topology *topo)
{
	const struct move memory = { .kind = MOVE_MEMORY,
				     .node = topo->machine.nnodes
						     ? topo->machine.nodes[0].id
						     : 0 };
	struct strbuf command = { 0 };
	bool can = g->ops->move;

	for (size_t i = 0; !can && g->ops->say_move && i < topo->nvms; i++) {
		g->ops->say_move(g->src, &topo->vms[i], &memory, &command);
		can = command.len;
	}
	strbuf_free(&command);
	return can;
}

static int find_advice(const struct gather *g, const struct look *l, struct advice *out,
		       struct err *err)
{
	const struct topology *topo = windows_topology(l->windows);
	const struct advise_config config = { .least = opt.least / 100,
					      .bold = opt.bold,
					      .most_moves = (unsigned)opt.moves,
					      .move_memory = can_move_memory(g, topo),
					      .move_vcpus = true };
	const char *cpus[DIAG_NODES] = { 0 };
	size_t nodes = topo->machine.nnodes;

	for (size_t i = 0; i < nodes && i < DIAG_NODES; i++)
		cpus[i] = topo->machine.nodes[i].cpus;
	if (advise(l->each, windows_count(l->windows), &config, cpus, out))
		return err_set(err, ENOMEM, "out of memory");
	/* The diagnosis numbers nodes, the host may name them otherwise. */
	for (size_t i = 0; i < out->nmoves; i++)
		if (out->moves[i].node >= 0 && (size_t)out->moves[i].node < nodes)
			out->moves[i].node = topo->machine.nodes[out->moves[i].node].id;
	return 0;
}

static int make_moves(const struct gather *g, const struct topology *topo,
		      const struct move *moves, size_t n, struct err *err)
{
	int ret = 0;

	if (!g->ops->move)
		return err_set(err, EOPNOTSUPP,
			       "--source %s moves nothing itself: the commands above do",
			       g->ops->name);
	for (size_t i = 0; !ret && i < n; i++) {
		const struct vm *vm = topology_find(topo, moves[i].vm_id);

		if (vm)
			ret = g->ops->move(g->src, vm, &moves[i], err);
		if (ret)
			err_prefix(err, "move %zu of %zu", i + 1, n);
	}
	return ret;
}

/* Share of a VM's memory that is on the node with this id. */
static double memory_on(const struct topology *topo, const char *vm_id, int node)
{
	const struct vm *vm = topology_find(topo, vm_id);
	double there = 0, all = 0;

	for (size_t i = 0; vm && vm->mem_node && i < vm->nmem_node; i++) {
		all += vm->mem_node[i];
		if (topo->machine.nodes[i].id == node)
			there = vm->mem_node[i];
	}
	return all > 0 ? there / all : 1;
}

static int memory_arrived(const struct gather *g, const struct move *moves, size_t n,
			  bool *arrived, struct err *err)
{
	struct topology topo = { 0 };
	int ret = g->ops->topology(g->src, TOPOLOGY_MEMORY, &topo, err);

	*arrived = true;
	for (size_t i = 0; !ret && i < n; i++)
		if (moves[i].kind == MOVE_MEMORY &&
		    memory_on(&topo, moves[i].vm_id, moves[i].node) < ARRIVED)
			*arrived = false;
	topology_free(&topo);
	return ret;
}

/* Caches fill and memory is on its way: windows until then do not count. */
static int settle_and_look(struct gather *g, const struct move *moves, size_t n,
			   struct look *l, struct err *err)
{
	bool arrived = false;
	int ret = 0;

	for (int i = 0; !ret && !arrived && i < MOST_SETTLES; i++) {
		struct look unsettled = { 0 };

		ret = look(g, &unsettled, err);
		look_free(&unsettled);
		if (!ret)
			ret = memory_arrived(g, moves, n, &arrived, err);
	}
	return ret ? ret : look(g, l, err);
}

static int go_back(struct gather *g, const struct look *before, const struct way_back *back,
		   struct err *err)
{
	struct look after = { 0 };
	int ret =
		make_moves(g, windows_topology(before->windows), back->moves, back->n, err);

	if (!ret)
		ret = settle_and_look(g, back->moves, back->n, &after, err);
	if (!ret)
		advise_show_outcome(g->out, &before->all, &after.all, NULL);
	look_free(&after);
	return ret;
}

/* The moves are made. With --undo they are taken back whatever comes: nothing else would.
 */
static int show_outcome(struct gather *g, const struct look *before,
			const struct advice *advice, const struct way_back *back,
			struct err *err)
{
	struct look after = { 0 };
	int ret = settle_and_look(g, advice->moves, advice->nmoves, &after, err);

	if (!ret) {
		advise_show_outcome(g->out, &before->all, &after.all, &advice->prediction);
		if (opt.undo)
			ret = go_back(g, before, back, err);
		else if (!g->ops->simulated)
			out_line(g->out, "\nvmmprof advise --undo takes it back.");
	} else {
		err_prefix(err, opt.undo ? "the moves were made and taken back"
					 : "the moves are made");
		if (opt.undo)
			make_moves(g, windows_topology(before->windows), back->moves,
				   back->n, err);
	}
	look_free(&after);
	return ret;
}

static int apply(struct gather *g, const struct look *before, const struct advice *advice,
		 const struct way_back *back, struct err *err)
{
	int ret = 0;

	if (!g->ops->simulated && !opt.undo && g->ops->move)
		ret = way_back_save(back, err);
	if (!ret)
		ret = make_moves(g, windows_topology(before->windows), advice->moves,
				 advice->nmoves, err);
	return ret ? ret : show_outcome(g, before, advice, back, err);
}

static int run_advice(struct gather *g, struct err *err)
{
	struct way_back back = { 0 };
	struct advice advice = { 0 };
	struct look before = { 0 };
	int status = STATUS_OK, ret = look(g, &before, err);

	if (!ret)
		ret = find_advice(g, &before, &advice, err);
	if (!ret && way_back_find(advice.moves, advice.nmoves,
				  windows_topology(before.windows), g->ops->name, &back))
		ret = err_set(err, ENOMEM, "out of memory");
	if (!ret) {
		status = windows_partial(before.windows) ? STATUS_PARTIAL : STATUS_OK;
		advise_show(g->out, &before.all, &advice);
		if (advice.nmoves)
			advise_show_moves(g->out, g->ops, g->src,
					  windows_topology(before.windows), &advice, &back);
		if (advice.nmoves && opt.apply && !g->stopped)
			ret = apply(g, &before, &advice, &back, err);
	}
	way_back_free(&back);
	advice_free(&advice);
	look_free(&before);
	return ret ? command_failed(err) : status;
}

/* What an earlier run applied. */
static int run_undo(struct gather *g, struct err *err)
{
	struct way_back back = { 0 };
	struct topology topo = { 0 };
	int ret;

	if (g->ops->simulated)
		return err_set(err, EOPNOTSUPP,
			       "what --source %s shows ends with the program: --apply "
			       "--undo does both in one run",
			       g->ops->name),
		       command_failed(err);
	ret = way_back_load(&back, err);
	if (!ret)
		ret = g->ops->topology(g->src, TOPOLOGY_BASIC, &topo, err);
	if (!ret)
		ret = way_back_check(&back, &topo, g->ops->name, err);
	if (!ret)
		ret = make_moves(g, &topo, back.moves, back.n, err);
	if (!ret) {
		way_back_forget();
		out_line(g->out, "%zu moves taken back.", back.n);
	}
	topology_free(&topo);
	way_back_free(&back);
	return ret ? command_failed(err) : STATUS_OK;
}

static int check_options(int argc, char **argv)
{
	if (argc)
		return command_misused("%s: not an option", argv[0]);
	if (!opt.moves || opt.moves > 100000)
		return command_misused("--moves %llu: expected 1 to 100000",
				       (unsigned long long)opt.moves);
	if (opt.least > 1000)
		return command_misused("--least %g: expected a percentage", opt.least);
	return gather_check(&opt.gather);
}

static int advise_run(int argc, char **argv)
{
	const struct out_ops *format;
	struct gather g;
	struct err err = { 0 };
	struct out out;
	int status = check_options(argc, argv);

	if (!status)
		status = common_format(&opt.common, &format);
	if (status)
		return status;
	out_init(&out, format, stdout);
	if (gather_open(&g, &opt.common, &opt.gather, &out, &err)) {
		status = command_failed(&err);
	} else {
		status = opt.undo && !opt.apply ? run_undo(&g, &err) : run_advice(&g, &err);
		gather_close(&g);
	}
	out_free(&out);
	return status;
}

static const struct option_row options[] = {
	{ "apply", 0, NULL, OPT_FLAG, &opt.apply,
	  "Make the moves, measure again, tell what was gained" },
	{ "undo", 0, NULL, OPT_FLAG, &opt.undo,
	  "Go back to before the last --apply; with it: at its end" },
	{ "bold", 0, NULL, OPT_FLAG, &opt.bold,
	  "Advise too what gains, though by how much is known badly" },
	{ "least", 0, "PERCENT", OPT_F64, &opt.least,
	  "Advise nothing that gains less (5)" },
	{ "moves", 0, "N", OPT_U64, &opt.moves, "Advise at most N moves (64)" },
	GATHER_OPTIONS(&opt.gather),
	COMMON_FORMAT(&opt.common),
	COMMON_SOURCE(&opt.common),
	{ 0 },
};

const struct command command_advise = {
	.name = "advise",
	.summary = "Find the move of vCPUs or memory that gains most, and make it",
	.usage = "[options]",
	.example = "  vmmprof advise                       # the move, as commands\n"
		   "  vmmprof advise --apply               # make it, measure again\n"
		   "  vmmprof advise --bold --apply        # also what is less certain\n"
		   "  vmmprof advise --undo                # go back\n"
		   "  vmmprof advise --source sim --apply --undo\n",
	.options = options,
	.run = advise_run,
};
