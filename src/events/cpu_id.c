/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which CPU: the first entry of /proc/cpuinfo, of x86 and of Arm. */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "events/lookup.h"
#include "events/table.h"

/* The value of "key : value"; false if there is none. */
static bool find_value(const char *text, const char *key, char *out, size_t size)
{
	size_t len = strlen(key);

	for (const char *s = text; s && *s; s = strchr(s, '\n'), s += s != NULL) {
		const char *v = s + len;
		char line[128];

		if (strncmp(s, key, len) || *(v += strspn(v, " \t")) != ':')
			continue;
		v += 1 + strspn(v + 1, " \t");
		str_copy(line, sizeof(line), v);
		line[strcspn(line, "\n")] = '\0';
		str_clean(line);
		return str_copy(out, size, line);
	}
	return false;
}

static bool find_number(const char *text, const char *key, unsigned *out)
{
	char word[32];
	uint64_t value;

	if (!find_value(text, key, word, sizeof(word)) || term_number(word, &value) ||
	    value > UINT16_MAX)
		return false;
	*out = (unsigned)value;
	return true;
}

static bool find_x86(const char *text, struct cpu_id *out)
{
	return find_value(text, "vendor_id", out->vendor, sizeof(out->vendor)) &&
	       find_number(text, "cpu family", &out->family) &&
	       find_number(text, "model", &out->model) &&
	       find_number(text, "stepping", &out->stepping);
}

static bool find_arm(const char *text, struct cpu_id *out)
{
	return find_value(text, "CPU implementer", out->vendor, sizeof(out->vendor)) &&
	       find_number(text, "CPU architecture", &out->family) &&
	       find_number(text, "CPU part", &out->model) &&
	       find_number(text, "CPU revision", &out->stepping);
}

int cpu_identify(const struct rootfs *root, struct cpu_id *out, struct err *err)
{
	char text[4096];
	ssize_t len = rootfs_read_head(root, text, sizeof(text), "proc/cpuinfo");

	*out = (struct cpu_id) { 0 };
	if (len < 0)
		return err_set(err, ENOENT, "cannot read /proc/cpuinfo: %s",
			       err_name((int)len));
	if (find_x86(text, out) || find_arm(text, out))
		return 0;
	return err_set(err, ENOENT,
		       "/proc/cpuinfo tells no CPU: expected vendor_id, cpu family, model "
		       "and stepping, or CPU implementer, architecture, part and revision");
}
