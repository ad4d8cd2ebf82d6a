/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * numabench: provokes what slows programs down on a NUMA host, one cause at a time, and
 * checks that it happened. For any Linux machine, or inside a VM.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "numabench/native.h"

static const char usage[] =
	"usage: numabench [--list] [--json] [--seconds S] [--llc BYTES] [NAME...]\n"
	"\n"
	"Runs each benchmark calm, then provoked, and prints the time of the victim's\n"
	"accesses. Without NAME: all of them.\n"
	"\n"
	"  --list        what there is\n"
	"  --json        one object a line\n"
	"  --seconds S   how long each half is measured (1)\n"
	"  --llc BYTES   size of the last-level cache, where sysfs does not tell: 8M\n"
	"\n"
	"example: numabench remote memory\n"
	"\n"
	"exit status: 0 all that was claimed happened, 1 failure, 2 usage, 3 something\n"
	"did not happen, or cannot on this machine\n";

struct options {
	bool list, json;
	double seconds;
	uint64_t llc;
};

static int misused(const char *what, const char *value)
{
	fprintf(stderr, "numabench: %s \"%s\"; see numabench --help\n", what, value);
	return 2;
}

/* Bytes as 64, 32K, 8M, 2G. */
static int parse_bytes(const char *text, uint64_t *out)
{
	static const char units[] = "KMG";
	size_t n = strlen(text);
	const char *unit = n ? strchr(units, text[n - 1]) : NULL;
	char digits[24];
	int ret;

	if (n >= sizeof(digits))
		return -1;
	memcpy(digits, text, n + 1);
	if (unit && *unit)
		digits[n - 1] = '\0';
	ret = str_u64(digits, 10, out);
	if (!ret && unit && *unit)
		*out <<= 10 * (unit - units + 1);
	return ret || *out < 1u << 16 || *out > 1ull << 32 ? -1 : 0;
}

/* < 0: go on; else the exit status. */
static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option rows[] = {
		{ "list", no_argument, NULL, 'l' },
		{ "json", no_argument, NULL, 'j' },
		{ "seconds", required_argument, NULL, 's' },
		{ "llc", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	char *end;
	int c;

	while ((c = getopt_long(argc, argv, "h", rows, NULL)) != -1) {
		switch (c) {
		case 'l': o->list = true; break;
		case 'j': o->json = true; break;
		case 's':
			o->seconds = strtod(optarg, &end);
			if (*end || !(o->seconds >= 0.01 && o->seconds <= 3600))
				return misused("--seconds takes 0.01 to 3600, not", optarg);
			break;
		case 'c':
			if (parse_bytes(optarg, &o->llc))
				return misused("--llc takes 64K to 4G, not", optarg);
			break;
		case 'h': fputs(usage, stdout); return 0;
		default: fputs(usage, stderr); return 2;
		}
	}
	return -1;
}

static void list(void)
{
	for (const struct benchmark *b = benchmarks; b->name; b++)
		printf("%-10s %s%s%s\n", b->name, b->what,
		       b->provokes ? "; provokes " : "; provokes nothing",
		       b->provokes ? b->provokes : "");
}

static void print(const struct options *o, const struct benchmark *b,
		  const struct native_result *r, const struct err *err)
{
	struct json j;

	if (!o->json && err) {
		printf("%-10s not run: %s\n", b->name, err->text);
	} else if (!o->json) {
		printf("%-10s %8.2f ns calm %8.2f ns provoked %6.2f times slower  %s\n",
		       b->name, r->calm_ns, r->provoked_ns, r->slower,
		       r->held ? "ok" : "not provoked");
	} else {
		jsonw_init(&j, stdout);
		jsonw_object(&j, NULL);
		jsonw_str(&j, "type", "numabench");
		jsonw_str(&j, "benchmark", b->name);
		jsonw_str(&j, "provokes", b->provokes);
		jsonw_f64(&j, "calm_ns", r->calm_ns);
		jsonw_f64(&j, "provoked_ns", r->provoked_ns);
		jsonw_f64(&j, "slower", r->slower);
		jsonw_f64(&j, "at_least", b->slower);
		jsonw_u64(&j, "others", r->others);
		jsonw_bool(&j, "held", r->held);
		jsonw_str(&j, "reason", err ? err->text : NULL);
		jsonw_end_object(&j);
		jsonw_newline(&j);
	}
	fflush(stdout);
}

/* 0: what it claims happened; 3: it did not, or cannot here; 1: failure. */
static int run_one(const struct options *o, const struct native_machine *m,
		   const struct benchmark *b)
{
	struct native_result r;
	struct err err = { 0 };
	int ret = native_run(m, b, o->seconds, &r, &err);

	print(o, b, &r, ret ? &err : NULL);
	if (ret && ret != -EOPNOTSUPP)
		return 1;
	return ret || !r.held ? 3 : 0;
}

int main(int argc, char **argv)
{
	struct options o = { .seconds = 1 };
	struct native_machine m;
	struct err err = { 0 };
	int status = parse_options(argc, argv, &o);

	if (status >= 0)
		return status;
	for (int i = optind; i < argc; i++)
		if (!benchmark_find(argv[i]))
			return misused("no benchmark is called", argv[i]);
	if (o.list) {
		list();
		return 0;
	}
	if (native_machine_read(o.llc, &m, &err)) {
		fprintf(stderr, "numabench: %s\n", err.text);
		return 1;
	}
	status = 0;
	for (const struct benchmark *b = benchmarks; b->name && status != 1; b++) {
		bool wanted = optind == argc;
		int one;

		for (int i = optind; i < argc; i++)
			wanted = wanted || !strcmp(argv[i], b->name);
		one = wanted ? run_one(&o, &m, b) : 0;
		status = one ? one : status;
	}
	native_machine_free(&m);
	return status;
}
