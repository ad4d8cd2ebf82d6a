/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/fdlimit.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <sys/resource.h>

/* For pipes, files and directories that come and go beside what was asked for. */
#define SPARE 32

int fdlimit_read(struct fdlimit *out)
{
	struct rlimit lim;
	DIR *dir;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		return -errno;
	*out = (struct fdlimit) { .soft = lim.rlim_cur, .hard = lim.rlim_max };
	dir = opendir("/proc/self/fd");
	if (!dir)
		return -errno;
	while (readdir(dir))
		out->in_use++;
	closedir(dir);
	out->in_use -= 3; /* ".", ".." and the directory itself */
	return 0;
}

void fdlimit_raise(void)
{
	struct rlimit lim;

	if (!getrlimit(RLIMIT_NOFILE, &lim))
		setrlimit(RLIMIT_NOFILE, &(struct rlimit) { lim.rlim_max, lim.rlim_max });
}

int fdlimit_reserve(uint64_t more, struct err *err)
{
	struct fdlimit now;
	uint64_t need;
	int ret = fdlimit_read(&now);

	if (ret)
		return err_set(err, ret, "cannot read the limit of open files: %s",
			       err_name(ret));
	need = now.in_use + more + SPARE;
	if (need <= now.soft)
		return 0;
	if (need <= now.hard &&
	    !setrlimit(RLIMIT_NOFILE, &(struct rlimit) { now.hard, now.hard }))
		return 0;
	if (!setrlimit(RLIMIT_NOFILE, &(struct rlimit) { need, need }))
		return 0; /* root may go beyond the hard limit */
	return err_set(err, EMFILE,
		       "%" PRIu64 " file descriptors are needed and this process may have "
		       "%" PRIu64 ": raise the limit (ulimit -n %" PRIu64
		       ", or LimitNOFILE= of its service), or ask for fewer VMs or events",
		       need, now.hard, need);
}
