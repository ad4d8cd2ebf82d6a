/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/rootfs.h"
#include "base/vec.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/report.h"

#define TEXT_ROWS 30 /* where --limit is not given: one screen per section */

static struct {
	struct common_options common;
	struct string_list vms, symbols;
	const char *by;
	bool host, folded;
	uint64_t limit;
	struct report_options opt;
} options = { .limit = UINT64_MAX };

static const struct option_row rows[] = {
	{ "vm", 0, "VM", OPT_LIST, &options.vms, "Only this VM: name, id or pattern" },
	{ "by", 0, "WHAT", OPT_STRING, &options.by, "symbol (default), vcpu or time" },
	{ "event", 'e', "EVENT", OPT_STRING, &options.opt.event, "Only this event" },
	{ "host", 0, NULL, OPT_FLAG, &options.host, "The host's side of the vCPU threads" },
	{ "symbols", 's', "VM=PATH", OPT_LIST, &options.symbols,
	  "A kallsyms copy or ELF file of a VM; host=PATH for --host" },
	{ "folded", 0, NULL, OPT_FLAG, &options.folded,
	  "VM;vCPU;mode;symbol COUNT, for flame graphs" },
	{ "limit", 0, "N", OPT_U64, &options.limit, "Rows per section (text: 30; 0: all)" },
	{ "percent-limit", 0, "P", OPT_F64, &options.opt.percent_limit,
	  "Leave out rows below P percent" },
	COMMON_FORMAT(&options.common),
	{ 0 },
};

/* Symbol files, each loaded once, kept to the end. */
struct loaded {
	char *path;
	struct symtab *tab;
};

struct report {
	struct out out;
	struct recording_info info;
	bool is_recording;
	const char *path; /* of the recording, or of the perf.data file */
	struct loaded *loaded;
	size_t nloaded, caploaded;
	struct strbuf events; /* names that were seen, for a wrong --event */
	size_t nsections;     /* files that were shown */
	bool event_found, partial;
	bool this_boot, this_machine; /* did it record it? */
	bool no_kernel;		      /* its symbols cannot be read */
	uint64_t samples;
};

static int check_options(const struct out_ops **ops)
{
	static const char *const names[] = {
		[BY_SYMBOL] = "symbol",
		[BY_VCPU] = "vcpu",
		[BY_TIME] = "time",
	};
	size_t by = 0;
	int status = common_format(&options.common, ops);

	if (status)
		return status;
	while (options.by && by < ARRAY_SIZE(names) && strcmp(options.by, names[by]))
		by++;
	if (by == ARRAY_SIZE(names))
		return command_misused("--by %s: expected symbol, vcpu or time",
				       options.by);
	if (options.folded && (options.by || options.common.json || options.common.csv))
		return command_misused("--folded is a format of its own: "
				       "leave out --by, --json and --csv");
	options.opt.by = options.folded ? BY_STACK : by;
	if (options.limit == UINT64_MAX && *ops == &out_text && !options.folded)
		options.limit = TEXT_ROWS;
	options.opt.limit = options.limit ? options.limit : UINT64_MAX;
	for (size_t i = 0; i < options.symbols.n; i++) {
		const char *eq = strchr(options.symbols.v[i], '=');

		if (!eq || eq == options.symbols.v[i] || !eq[1])
			return command_misused("--symbols %s: expected VM=PATH",
					       options.symbols.v[i]);
	}
	return 0;
}

static bool lane_named(const struct recording_lane *lane, const char *pattern)
{
	return !strcmp(pattern, lane->vm_id) || !strcmp(pattern, lane->vm_name) ||
	       !fnmatch(pattern, lane->vm_name, 0);
}

static bool lane_wanted(const struct report *rep, const struct recording_lane *lane)
{
	bool by_name = !options.vms.n, has_inside = false;

	for (size_t i = 0; i < options.vms.n && !by_name; i++)
		by_name = lane_named(lane, options.vms.v[i]);
	if (!by_name || options.host)
		return by_name && !lane->inside;
	/* A VM that was recorded from outside only is shown as it was. */
	for (size_t i = 0; i < rep->info.nlanes; i++)
		has_inside |= rep->info.lanes[i].inside &&
			      !strcmp(rep->info.lanes[i].vm_id, lane->vm_id);
	return lane->inside || !has_inside;
}

/* Does @key, the part of --symbols before "=", mean this section? */
static bool key_fits(const char *key, size_t len, const struct report_section *s)
{
	char *pattern = strndup(key, len);
	bool fits;

	if (!pattern)
		return false;
	fits = s->lane && s->lane->inside ? lane_named(s->lane, pattern)
					  : !fnmatch(pattern, report_symbols_key(s), 0);
	free(pattern);
	return fits;
}

/* NULL if it cannot be; valid until the next one is loaded. */
static const struct loaded *load_symbols(struct report *rep, const char *path,
					 struct err *err)
{
	struct loaded item = { 0 };

	for (size_t i = 0; i < rep->nloaded; i++)
		if (!strcmp(rep->loaded[i].path, path))
			return &rep->loaded[i];
	item.path = strdup(path);
	if (!item.path)
		err_set(err, ENOMEM, "%s: out of memory", path);
	else if (!symtab_load(path, &item.tab, err)) {
		if (!VEC_PUSH(rep->loaded, rep->nloaded, rep->caploaded, item))
			return &rep->loaded[rep->nloaded - 1];
		err_set(err, ENOMEM, "%s: out of memory", path);
	}
	symtab_free(item.tab);
	free(item.path);
	return NULL;
}

static void complain(struct report *rep, const struct err *err)
{
	command_failed(err);
	rep->partial = true;
}

static void use_symbols(struct report_section *s, const struct loaded *l)
{
	if (VEC_PUSH(s->symtabs.v, s->symtabs.n, s->symtabs.cap, l->tab))
		return;
	strbuf_add(&s->symbols, l->path, strlen(l->path) + 1);
	if (!s->kernel_symbols && symtab_of_kernel(l->tab))
		s->kernel_symbols = l->path;
}

/*
 * The section's symbols: those that --symbols gives, then those that were copied when
 * it was recorded, a kernel's or programs', of which kind --symbols gives none.
 */
static void choose_symbols(struct report *rep, struct report_section *s)
{
	bool given[2] = { false, false };
	const struct loaded *l;
	struct err err;

	for (size_t i = 0; i < options.symbols.n; i++) {
		const char *arg = options.symbols.v[i], *eq = strchr(arg, '=');

		l = key_fits(arg, eq - arg, s) ? load_symbols(rep, eq + 1, &err) : NULL;
		if (!l)
			continue;
		given[symtab_of_kernel(l->tab)] = true;
		use_symbols(s, l);
	}
	for (size_t i = 0; s->lane && i < rep->info.nsymbols; i++) {
		const struct recording_symbols *copy = &rep->info.symbols[i];
		char *path;

		if (copy->lane != s->lane->id ||
		    asprintf(&path, "%s/%s", rep->path, copy->file) < 0)
			continue;
		l = load_symbols(rep, path, &err);
		if (!l)
			complain(rep, &err); /* addresses are shown instead */
		else if (!given[symtab_of_kernel(l->tab)])
			use_symbols(s, l);
		free(path);
	}
}

/* Did this machine record it, in this boot? Else its files and its kernel are others. */
static void compare_machines(struct report *rep)
{
	const struct machine *m = &rep->info.machine;
	char boot[sizeof(m->boot_id)], name[sizeof(m->hostname)];
	struct rootfs root;

	if (rootfs_open(&root, "/", NULL))
		return;
	rep->this_boot = *m->boot_id &&
			 rootfs_read(&root, boot, sizeof(boot),
				     "proc/sys/kernel/random/boot_id") > 0 &&
			 !strcmp(boot, m->boot_id);
	rep->this_machine =
		rep->this_boot ||
		(rootfs_read(&root, name, sizeof(name), "proc/sys/kernel/hostname") > 0 &&
		 !strcmp(name, m->hostname));
	rootfs_close(&root);
}

/* The host's kernel, of which nobody gave symbols; hidden to others than root. */
static void use_this_kernel(struct report *rep, struct report_section *s)
{
	const struct loaded *l = NULL;
	uint64_t samples = 0;

	if (s->opt->by != BY_SYMBOL && s->opt->by != BY_STACK)
		return;
	for (size_t e = 0; e < perfdata_nevents(s->reader); e++)
		samples += profile_total(s->profile, e).kernel;
	if (!samples || !rep->this_boot || !report_of_host(s) || s->kernel_symbols)
		return;
	if (!rep->no_kernel)
		l = load_symbols(rep, "/proc/kallsyms", NULL);
	rep->no_kernel = !l;
	if (l)
		use_symbols(s, l);
}

/* How many of the file's events were asked for; keeps the books of status_of(). */
static size_t count_events(struct report *rep, const struct report_section *s)
{
	size_t n = 0;

	for (size_t e = 0; e < perfdata_nevents(s->reader); e++) {
		n += report_wants_event(s, e);
		rep->samples += profile_total(s->profile, e).samples;
		strbuf_addf(&rep->events, "%s%s", rep->events.len ? ", " : "",
			    perfdata_event_name(s->reader, e));
	}
	rep->event_found |= n > 0;
	return n;
}

static int show(struct report *rep, struct report_section *s)
{
	struct err err = { 0 };
	size_t nevents;
	int ret;

	choose_symbols(rep, s);
	ret = report_gather(s, &err);
	if (ret) {
		complain(rep, &err);
		goto out;
	}
	use_this_kernel(rep, s);
	nevents = count_events(rep, s);
	if (options.folded && nevents > 1) {
		ret = err_set(&err, EINVAL,
			      "%s: has several events, which do not add up to one "
			      "graph: choose one with --event (%s)",
			      s->path, rep->events.data);
		complain(rep, &err);
		goto out;
	}
	rep->nsections++;
	rep->partial |= *s->problem != '\0';
	ret = report_print(s, &rep->out);
	if (ret) {
		err_set(&err, ret, "%s: out of memory", s->path);
		complain(rep, &err);
	}
out:
	report_section_free(s);
	return ret;
}

static struct report_section make_section(const struct report *rep, size_t lane)
{
	return (struct report_section) {
		.opt = &options.opt,
		.info = rep->is_recording ? &rep->info : NULL,
		.lane = rep->is_recording ? &rep->info.lanes[lane] : NULL,
		.path = rep->path,
		.same_machine = rep->this_machine,
	};
}

static void show_all(struct report *rep)
{
	for (size_t i = 0; i < rep->info.nlanes; i++) {
		struct report_section s = make_section(rep, i);
		char *path;

		if (!lane_wanted(rep, s.lane) ||
		    asprintf(&path, "%s/%s", rep->path, s.lane->file) < 0)
			continue;
		s.path = path;
		show(rep, &s);
		free(path);
	}
	if (!rep->is_recording) {
		struct report_section s = make_section(rep, 0);

		show(rep, &s);
	}
}

static void list_vms(const struct report *rep, struct strbuf *sb)
{
	for (size_t i = 0; i < rep->info.nlanes; i++) {
		const char *name = rep->info.lanes[i].vm_name;
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = !strcmp(rep->info.lanes[k].vm_name, name);
		if (!seen)
			strbuf_addf(sb, "%s%s", sb->len ? ", " : "", name);
	}
	if (!sb->len)
		strbuf_puts(sb, rep->is_recording ? "none"
						  : "none: it is one perf.data file, "
						    "whose symbols are file=PATH");
}

static int no_such_vm(const struct report *rep, const char *option, const char *value)
{
	struct strbuf vms = { 0 };
	int status;

	list_vms(rep, &vms);
	status = command_misused("--%s %s: no such VM in %s; there is: %s", option, value,
				 rep->path, vms.data ? vms.data : "?");
	strbuf_free(&vms);
	return status;
}

/* Each VM that an option names must be there: a typing error is not an empty report. */
static int check_names(struct report *rep)
{
	size_t nlanes = rep->is_recording ? rep->info.nlanes : 1;

	for (size_t v = 0; v < options.vms.n; v++) {
		bool found = false;

		for (size_t i = 0; i < rep->info.nlanes && !found; i++)
			found = lane_named(&rep->info.lanes[i], options.vms.v[v]);
		if (!found)
			return no_such_vm(rep, "vm", options.vms.v[v]);
	}
	for (size_t v = 0; v < options.symbols.n; v++) {
		const char *arg = options.symbols.v[v], *eq = strchr(arg, '=');
		struct err err = { 0 };
		bool found = false;

		for (size_t i = 0; i < nlanes && !found; i++) {
			struct report_section s = make_section(rep, i);

			found = key_fits(arg, eq - arg, &s);
		}
		if (!found)
			return no_such_vm(rep, "symbols", arg);
		if (!load_symbols(rep, eq + 1, &err))
			return command_failed(&err);
	}
	return 0;
}

static int open_path(struct report *rep, const char *path, struct err *err)
{
	struct stat st;

	rep->path = path;
	if (stat(path, &st))
		return err_set(err, errno,
			       "%s: %s; expected a recording (make one with vmmprof "
			       "record) or a perf.data file",
			       path, err_name(errno));
	rep->is_recording = S_ISDIR(st.st_mode);
	return rep->is_recording ? recording_load(path, &rep->info, err) : 0;
}

/* After everything was shown: was it what was asked for? */
static int status_of(const struct report *rep)
{
	if (rep->nsections && options.opt.event && !rep->event_found)
		return command_misused("--event %s: not in %s; there is: %s",
				       options.opt.event, rep->path, rep->events.data);
	if (!rep->nsections && rep->partial)
		return STATUS_FAILED;
	if (!rep->nsections) {
		struct err words;

		err_set(&words, ENOENT,
			options.host ? "%s: has no host side; record it with "
				       "vmmprof record --host"
				     : "%s: no VM was recorded",
			rep->path);
		return command_failed(&words);
	}
	return rep->partial || !rep->samples ? STATUS_PARTIAL : STATUS_OK;
}

static void report_free(struct report *rep)
{
	for (size_t i = 0; i < rep->nloaded; i++) {
		symtab_free(rep->loaded[i].tab);
		free(rep->loaded[i].path);
	}
	free(rep->loaded);
	strbuf_free(&rep->events);
	recording_info_free(&rep->info);
	out_free(&rep->out);
}

static int report_run(int argc, char **argv)
{
	struct report rep = { 0 };
	const struct out_ops *ops;
	struct err err = { 0 };
	int status = check_options(&ops);

	if (status)
		return status;
	if (argc > 1)
		return command_misused("%s: expected one recording", argv[1]);
	out_init(&rep.out, ops, stdout);
	if (open_path(&rep, argc ? argv[0] : RECORDING_DEFAULT, &err)) {
		status = command_failed(&err);
		goto out;
	}
	if (strstr(rep.info.machine.cpu_model, "(simulated)") && !options.folded)
		common_say_simulated(&rep.out, rep.info.machine.cpu_model);
	compare_machines(&rep);
	status = check_names(&rep);
	if (status)
		goto out;
	show_all(&rep);
	status = status_of(&rep);
out:
	report_free(&rep);
	return status;
}

const struct command command_report = {
	.name = "report",
	.summary = "Show where each VM of a recording spent its events",
	.usage = "[options] [RECORDING | FILE.perf.data]",
	.example =
		"  vmmprof report                              # vmmprof.data, by symbol\n"
		"  vmmprof report --vm web --symbols web=web.kallsyms\n"
		"  vmmprof report --by time --event cycles my.recording\n"
		"  vmmprof report --folded | flamegraph.pl > vms.svg\n",
	.options = rows,
	.run = report_run,
};
