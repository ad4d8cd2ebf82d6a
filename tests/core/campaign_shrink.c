/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/core/campaign.h"

#define PATIENCE 120 /* s, for one try */

void campaign_try(const struct campaign_variant *variant, const struct campaign_step *steps,
		  size_t n, struct campaign_result *result)
{
	struct campaign_result *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
					      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	if (shared == MAP_FAILED)
		abort();
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		abort();
	if (!pid) {
		alarm(PATIENCE);
		campaign_run(variant, steps, n, shared);
		fflush(NULL);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		abort();
	*result = *shared;
	if (WIFSIGNALED(status) || WEXITSTATUS(status)) {
		result->failed = true;
		if (WIFSIGNALED(status))
			snprintf(result->why, sizeof(result->why), "it died of signal %d%s",
				 WTERMSIG(status),
				 WTERMSIG(status) == SIGALRM ? ": it hung" : "");
		else
			snprintf(result->why, sizeof(result->why), "it exited with %d",
				 WEXITSTATUS(status));
	}
	munmap(shared, sizeof(*shared));
}

/* @steps without those from @at on, @gone of them, in @out. */
static size_t without(const struct campaign_step *steps, size_t n, size_t at, size_t gone,
		      struct campaign_step *out)
{
	if (gone > n - at)
		gone = n - at;
	memcpy(out, steps, at * sizeof(*steps));
	memcpy(out + at, steps + at + gone, (n - at - gone) * sizeof(*steps));
	return n - gone;
}

/* One pass over all pieces of @piece steps. */
static size_t pass(const struct campaign_variant *variant, struct campaign_step *steps,
		   size_t n, size_t piece, struct campaign_step *less,
		   struct campaign_result *result)
{
	for (size_t at = 0; at < n;) {
		struct campaign_result now;
		size_t m = without(steps, n, at, piece, less);

		campaign_try(variant, less, m, &now);
		if (!now.failed) {
			at += piece;
			continue;
		}
		/* What comes after the failure is not needed either. */
		n = now.step + 1 < m ? now.step + 1 : m;
		memcpy(steps, less, n * sizeof(*steps));
		*result = now;
	}
	return n;
}

/* Delta debugging (Zeller, Hildebrandt: Simplifying and isolating failure-inducing input)
 */
size_t campaign_shrink(const struct campaign_variant *variant, struct campaign_step *steps,
		       size_t n, struct campaign_result *result)
{
	struct campaign_step *less = malloc(n * sizeof(*less));
	size_t piece, before;

	if (!less)
		abort();
	if (result->step + 1 < n)
		n = result->step + 1;
	for (piece = n / 2; piece > 1; piece /= 2)
		n = pass(variant, steps, n, piece, less, result);
	do {
		before = n;
		n = pass(variant, steps, n, 1, less, result);
	} while (n < before);
	free(less);
	return n;
}
