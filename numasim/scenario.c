/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numasim/scenario.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/data.h"
#include "base/str.h"
#include "base/vec.h"
#include "numasim/scenario_read.h"
#include "numasim/sim.h"

#define MS 1000000000ull

int scenario_word(const struct reading *r, size_t i, const char *const *words, size_t n,
		  const char *what)
{
	struct strbuf sb = { 0 };

	for (size_t k = 0; i < r->lines.n && k < n; k++)
		if (!strcmp(r->lines.word[i], words[k]))
			return (int)k;
	for (size_t k = 0; k < n; k++)
		strbuf_addf(&sb, "%s%s", k ? ", " : "", words[k]);
	lines_bad(&r->lines, r->err, "%s%s%s is not %s: %s", i < r->lines.n ? "\"" : "",
		  i < r->lines.n ? r->lines.word[i] : "nothing", i < r->lines.n ? "\"" : "",
		  what, sb.data ? sb.data : "");
	strbuf_free(&sb);
	return -EINVAL;
}

int scenario_time(const struct reading *r, size_t i, const char *what, uint64_t *out)
{
	static const struct {
		const char *unit;
		double ps;
	} units[] = { { "ns", 1e3 }, { "us", 1e6 }, { "ms", 1e9 }, { "s", 1e12 } };
	const char *word = i < r->lines.n ? r->lines.word[i] : NULL;
	char *end;
	double value;

	if (!word)
		return lines_bad(&r->lines, r->err, "%s is missing", what);
	value = strtod(word, &end);
	for (size_t k = 0; end != word && k < ARRAY_SIZE(units); k++) {
		double ps = value * units[k].ps;

		if (strcmp(end, units[k].unit))
			continue;
		if (!(ps >= 1e6 && ps <= 10e12))
			break;
		*out = (uint64_t)ps;
		return 0;
	}
	return lines_bad(&r->lines, r->err, "\"%s\" is not %s: 200us, 2ms … (1us to 10s)",
			 word, what);
}

static int read_machine(struct reading *r)
{
	struct err why = { 0 };
	int ret;

	if (r->lines.n != 2)
		return lines_bad(&r->lines, r->err,
				 "machine wants a name, a path or one \"line, of, "
				 "statements\" in quotes");
	if (r->sc->machine.nodes)
		return lines_bad(&r->lines, r->err, "a second machine");
	ret = machine_spec_load(r->lines.word[1], &r->sc->machine, &why);
	if (ret == -ENOMEM)
		return err_set(r->err, ret, "%s", why.text);
	return ret ? lines_bad(&r->lines, r->err, "%s", why.text) : 0;
}

static int read_seed(struct reading *r)
{
	return lines_u64(&r->lines, 1, "a seed", 0, UINT64_MAX, &r->sc->seed, r->err);
}

static int read_slice(struct reading *r)
{
	return scenario_time(r, 1, "a time slice", &r->sc->slice_ps);
}

static int read_policy(struct reading *r)
{
	static const char *const names[] = { "pinned", "credit", "xen", "linux" };
	int i = scenario_word(r, 1, names, ARRAY_SIZE(names), "a policy");

	if (i < 0)
		return i;
	r->sc->policy = (enum scenario_policy)i;
	return 0;
}

static const struct statement statements[] = {
	{ "machine", BLOCK_NONE, read_machine, 0 },
	{ "seed", BLOCK_NONE, read_seed, 2 },
	{ "slice", BLOCK_NONE, read_slice, 2 },
	{ "policy", BLOCK_NONE, read_policy, 2 },
	{ "program", BLOCK_NONE, scenario_read_program, 2 },
	{ "function", BLOCK_PROGRAM, scenario_read_function, 0 },
	{ "vm", BLOCK_NONE, scenario_read_vm, 2 },
	{ "vcpus", BLOCK_VM, scenario_read_vcpus, 2 },
	{ "memory", BLOCK_VM, scenario_read_memory, 0 },
	{ "pin", BLOCK_VM, scenario_read_pin, 0 },
	{ "slice", BLOCK_VM, scenario_read_vm_slice, 2 },
	{ "threads", BLOCK_VM, scenario_read_threads, 0 },
};

static int read_statement(struct reading *r)
{
	enum block block = r->lines.indented ? r->block : BLOCK_NONE;
	const char *words[ARRAY_SIZE(statements)];
	size_t n = 0;
	int ret;

	if (r->lines.indented && r->block == BLOCK_NONE)
		return lines_bad(&r->lines, r->err,
				 "an indented line belongs to a program or a vm, and there "
				 "is none above it");
	for (size_t i = 0; i < ARRAY_SIZE(statements); i++) {
		const struct statement *s = &statements[i];

		if (s->block != block)
			continue;
		words[n++] = s->word;
		if (strcmp(r->lines.word[0], s->word))
			continue;
		if (s->words && r->lines.n > s->words)
			return lines_bad(&r->lines, r->err, "\"%s\" is too much here",
					 r->lines.word[s->words]);
		if (block == BLOCK_NONE) {
			ret = scenario_block_end(r);
			if (ret)
				return ret;
		}
		return s->read(r);
	}
	return scenario_word(r, 0, words, n,
			     block == BLOCK_NONE      ? "a statement of a scenario"
			     : block == BLOCK_PROGRAM ? "a statement of a program"
						      : "a statement of a vm");
}

/* Whether the nodes have as much memory as the VMs want there. */
static int memory_fits(struct reading *r)
{
	const struct scenario *sc = r->sc;

	for (unsigned node = 0; node < sc->machine.nodes; node++) {
		double sum = 0;

		for (size_t i = 0; i < sc->nvms; i++)
			sum += sc->vms[i].share[node] * (double)sc->vms[i].bytes;
		if (sum > (double)sc->machine.node_bytes)
			return err_set(r->err, EINVAL,
				       "%s: node %u has %llu MiB of memory, the VMs want "
				       "%.0f MiB of it",
				       r->lines.file, node,
				       (unsigned long long)sc->machine.node_bytes >> 20,
				       sum / (1 << 20));
	}
	return 0;
}

int scenario_parse(const char *name, const char *file, const char *text, size_t size,
		   struct scenario *out, struct err *err)
{
	struct reading r = { .sc = out, .err = err };
	int ret;

	*out = (struct scenario) { .seed = 1, .slice_ps = 2 * MS };
	str_copy(out->name, sizeof(out->name), name);
	lines_begin(&r.lines, file, text, size, 0);
	while ((ret = lines_next(&r.lines, err)) > 0) {
		ret = read_statement(&r);
		if (ret)
			break;
	}
	if (!ret)
		ret = scenario_block_end(&r);
	if (!ret && !out->machine.nodes)
		ret = err_set(err, EINVAL, "%s: no machine: add \"machine nehalem-ep\"",
			      file);
	if (!ret)
		ret = memory_fits(&r);
	if (ret == -ENOMEM)
		err_set(err, ret, "%s: out of memory", file);
	if (ret)
		scenario_free(out);
	return ret;
}

int scenario_load(const char *what, struct scenario *out, struct err *err)
{
	struct data_text text;
	const char *name = strrchr(what, '/');
	int ret;

	*out = (struct scenario) { 0 };
	if (strchr(what, '\n'))
		return scenario_parse("scenario", "scenario", what, strlen(what), out, err);
	ret = data_load("scenarios", what, &text, err);
	if (ret)
		return ret;
	ret = scenario_parse(name ? name + 1 : what, text.file, text.text, text.size, out,
			     err);
	data_text_free(&text);
	return ret;
}

void scenario_free(struct scenario *sc)
{
	for (size_t i = 0; i < sc->nvms; i++) {
		free(sc->vms[i].pin);
		free(sc->vms[i].threads);
	}
	free(sc->vms);
	free(sc->programs);
	free(sc->functions);
	*sc = (struct scenario) { 0 };
}
