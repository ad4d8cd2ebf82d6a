/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define PATIENCE_S 5 /* for a COMMAND to end on SIGTERM */

/* Waits for the word to go; tells why exec failed through the same socket. */
static void run_child(int sock, char **argv, const sigset_t *mask)
{
	int why;
	char c;

	if (read(sock, &c, 1) != 1)
		_exit(0); /* the run did not start */
	if (mask)
		sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	why = errno;
	if (write(sock, &why, sizeof(why)) < 0)
		_exit(126);
	_exit(127);
}

int child_prepare(struct child *c, char **argv, const sigset_t *mask, struct err *err)
{
	int sock[2];

	*c = (struct child) { .name = argv[0], .hold = -1 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock))
		return err_set(err, errno, "%s: cannot be started: %s", argv[0],
			       err_name(errno));
	c->pid = fork();
	if (c->pid < 0) {
		c->pid = 0;
		close(sock[0]);
		close(sock[1]);
		return err_set(err, errno, "%s: cannot be started: %s", argv[0],
			       err_name(errno));
	}
	if (!c->pid) {
		close(sock[0]);
		run_child(sock[1], argv, mask);
	}
	close(sock[1]);
	c->hold = sock[0];
	return 0;
}

int child_release(struct child *c, struct err *err)
{
	int why = 0;
	ssize_t n = write(c->hold, "", 1) == 1 ? 1 : -1;

	while (n > 0 && (n = read(c->hold, &why, sizeof(why))) < 0 && errno == EINTR)
		n = 1; /* its end may be the signal that interrupts */
	close(c->hold);
	c->hold = -1;
	if (n == sizeof(why))
		return err_set(err, why, "%s: cannot be run: %s", c->name, err_name(why));
	return n < 0 ? err_set(err, EPIPE, "%s: ended before it ran", c->name) : 0;
}

static bool note_end(struct child *c, int options)
{
	int status;
	pid_t pid;

	do
		pid = waitpid(c->pid, &status, options);
	while (pid < 0 && errno == EINTR);
	if (!pid)
		return false;
	c->over = true;
	c->status = pid < 0		? 0
		    : WIFEXITED(status) ? WEXITSTATUS(status)
					: 128 + WTERMSIG(status);
	return true;
}

bool child_over(struct child *c)
{
	return c->pid && (c->over || note_end(c, WNOHANG));
}

/* Waits for its end, which its SIGCHLD may hasten, but not for ever. */
static void wait_for_end(struct child *c)
{
	const uint64_t patience = clock_real_ns() + PATIENCE_S * 1000000000ull;

	while (!note_end(c, WNOHANG) && clock_real_ns() < patience)
		poll(NULL, 0, 20);
	if (c->over)
		return;
	fprintf(stderr, "vmmprof: %s: did not end within %d s of SIGTERM, and was killed\n",
		c->name, PATIENCE_S);
	kill(c->pid, SIGKILL);
	note_end(c, 0);
}

void child_end(struct child *c)
{
	if (!c->pid)
		return;
	if (c->hold >= 0)
		close(c->hold); /* it was never let go, and leaves by itself */
	else if (!child_over(c))
		kill(c->pid, SIGTERM);
	c->hold = -1;
	if (!c->over) {
		wait_for_end(c);
		c->status = 0;
	}
}

bool signal_ignored(int sig)
{
	struct sigaction sa;

	return !sigaction(sig, NULL, &sa) && sa.sa_handler == SIG_IGN;
}
