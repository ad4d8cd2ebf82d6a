/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/xen/xenstore.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A store that does not run leaves the kernel's device silent for ever. */
#define PATIENCE_MS 200
#define PAYLOAD_MAX 4096 /* XENSTORE_PAYLOAD_MAX */

enum { XS_READ = 2, XS_ERROR = 16 };

struct xs_message {
	uint32_t type, req_id, tx_id, len;
};

static int open_socket(const struct rootfs *root, const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d/%s", root->fd,
		 path);
	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	close(fd);
	return -ENOENT;
}

int xenstore_open(const struct rootfs *root)
{
	int fd = open_socket(root, "var/run/xenstored/socket");

	if (fd < 0)
		fd = open_socket(root, "run/xenstored/socket");
	if (fd >= 0)
		return fd;
	fd = openat(root->fd, "dev/xen/xenbus", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* A store that ends while we speak is no reason to end with it. */
static ssize_t put_some(int fd, const void *data, size_t size)
{
	ssize_t n = send(fd, data, size, MSG_NOSIGNAL);

	return n < 0 && errno == ENOTSOCK ? write(fd, data, size) : n;
}

/* A question is short: there is room for it, and the device's poll tells only of answers.
 */
static int put(int fd, const void *data, size_t size)
{
	ssize_t n = put_some(fd, data, size);

	return n == (ssize_t)size ? 0 : n < 0 ? -errno : -EPROTO;
}

static int get(int fd, void *data, size_t size)
{
	char *p = data;

	while (size) {
		struct pollfd wait = { fd, POLLIN, 0 };
		int ready = poll(&wait, 1, PATIENCE_MS);
		ssize_t n = ready > 0 ? read(fd, p, size) : 0;

		if (n <= 0)
			return !ready ? -ETIMEDOUT : ready < 0 || n < 0 ? -errno : -EPROTO;
		p += n;
		size -= n;
	}
	return 0;
}

/* Errors have names on the wire. */
static int error_of(const char *name)
{
	return !strcmp(name, "ENOENT") ? -ENOENT : !strcmp(name, "EACCES") ? -EACCES : -EIO;
}

int xenstore_read(int fd, const char *path, char *value, size_t size)
{
	struct xs_message message = { .type = XS_READ, .len = strlen(path) + 1 };
	char payload[PAYLOAD_MAX + 1];
	int ret = put(fd, &message, sizeof(message));

	if (!ret)
		ret = put(fd, path, message.len);
	if (!ret)
		ret = get(fd, &message, sizeof(message));
	if (!ret && (message.len > PAYLOAD_MAX ||
		     (message.type != XS_READ && message.type != XS_ERROR)))
		ret = -EPROTO;
	if (!ret)
		ret = get(fd, payload, message.len);
	if (ret)
		return ret;
	payload[message.len] = '\0';
	if (message.type == XS_ERROR)
		return error_of(payload);
	str_copy(value, size, payload);
	str_clean(value);
	return 0;
}
