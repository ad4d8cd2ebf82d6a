/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/xen/call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"

/* One page for a call's struct, one for what that points to. */
#define ROOM (2 * XEN_PAGE_BYTES)

static void *payload(const struct xen *x)
{
	return x->buffer + XEN_PAGE_BYTES;
}

static uint64_t address(const void *p)
{
	return (uintptr_t)p;
}

static int sysctl(struct xen *x, struct xen_sysctl *op)
{
	const uint64_t arg[5] = { address(x->buffer) };
	long ret;

	op->interface_version = x->sysctl;
	memcpy(x->buffer, op, sizeof(*op));
	ret = x->ops->call(x->ctx, XEN_HYPERCALL_SYSCTL, arg);
	memcpy(op, x->buffer, sizeof(*op));
	return ret < 0 ? ret : 0;
}

static int domctl(struct xen *x, unsigned domid, struct xen_domctl *op)
{
	const uint64_t arg[5] = { address(x->buffer) };
	long ret;

	op->interface_version = x->domctl;
	op->domain = domid;
	memcpy(x->buffer, op, sizeof(*op));
	ret = x->ops->call(x->ctx, XEN_HYPERCALL_DOMCTL, arg);
	memcpy(op, x->buffer, sizeof(*op));
	return ret < 0 ? ret : 0;
}

int xen_physinfo(struct xen *x, struct xen_physinfo *out)
{
	struct xen_sysctl op = { .cmd = XEN_SYSCTL_PHYSINFO };
	int ret = sysctl(x, &op);

	*out = op.u.physinfo;
	return ret;
}

int xen_vcpuinfo(struct xen *x, unsigned domid, unsigned vcpu, struct xen_vcpuinfo *out)
{
	struct xen_domctl op = { .cmd = XEN_DOMCTL_GETVCPUINFO };
	int ret;

	op.u.vcpuinfo.vcpu = vcpu;
	ret = domctl(x, domid, &op);
	*out = op.u.vcpuinfo;
	return ret;
}

/* One at a time: how much Xen writes of each depends on its version. */
int xen_next_domain(struct xen *x, unsigned from, struct xen_domain *out)
{
	struct xen_sysctl op = { .cmd = XEN_SYSCTL_DOMAINS };
	int ret;

	if (from >= XEN_DOMID_RESERVED)
		return 0;
	op.u.domains.first_domain = from;
	op.u.domains.max_domains = 1;
	op.u.domains.buffer = address(payload(x));
	memset(payload(x), 0, XEN_DOMAIN_ROOM);
	ret = sysctl(x, &op);
	if (ret || !op.u.domains.num_domains)
		return ret;
	memcpy(out, payload(x), sizeof(*out));
	return op.u.domains.num_domains == 1 && out->domain >= from &&
			       out->domain < XEN_DOMID_RESERVED
		       ? 1
		       : -EPROTO;
}

/* Bits as the kernel writes lists of CPUs: "0-3,7". */
static void list_of(const uint8_t *bits, unsigned n, char *list, size_t size)
{
	struct strbuf sb = { 0 };

	for (unsigned i = 0; i < n; i++) {
		unsigned first = i;

		if (!(bits[i / 8] >> i % 8 & 1))
			continue;
		while (i + 1 < n && bits[(i + 1) / 8] >> (i + 1) % 8 & 1)
			i++;
		strbuf_addf(&sb, first == i ? "%s%u" : "%s%u-%u", sb.len ? "," : "", first,
			    i);
	}
	str_copy_list(list, size, sb.data ? sb.data : "");
	strbuf_free(&sb);
}

int xen_affinity(struct xen *x, unsigned domid, unsigned vcpu, unsigned ncpus, char *list,
		 size_t size)
{
	struct xen_domctl op = { .cmd = XEN_DOMCTL_GETVCPUAFFINITY };
	int ret;

	if (ncpus > XEN_PAGE_BYTES * 8)
		ncpus = XEN_PAGE_BYTES * 8;
	op.u.affinity.vcpu = vcpu;
	op.u.affinity.flags = XEN_VCPUAFFINITY_HARD;
	op.u.affinity.hard = (struct xen_bitmap) { address(payload(x)), ncpus };
	memset(payload(x), 0, XEN_PAGE_BYTES);
	ret = domctl(x, domid, &op);
	if (!ret)
		list_of(payload(x), ncpus, list, size);
	return ret;
}

int xen_pmu(struct xen *x, enum xenpmu_sub_op op, void *arg, size_t size)
{
	const uint64_t args[5] = { op, address(x->buffer) };
	const uint32_t version = XENPMU_VERSION;
	long ret;

	memcpy(arg, &version, sizeof(version));
	memcpy(x->buffer, arg, size);
	ret = x->ops->call(x->ctx, XENPMU_OP_HYPERCALL, args);
	memcpy(arg, x->buffer, size);
	return ret < 0 ? ret : 0;
}

static int pmu_param(struct xen *x, unsigned op, uint64_t *val)
{
	struct xen_pmu_params params = { 0 };
	const uint64_t args[5] = { op, address(x->buffer) };
	long ret;

	memcpy(x->buffer, &params, sizeof(params));
	ret = x->ops->call(x->ctx, XENPMU_OP_HYPERCALL, args);
	memcpy(&params, x->buffer, sizeof(params));
	*val = params.val;
	return ret < 0 ? ret : 0;
}

int xen_own_vpmu(struct xen *x, uint64_t *mode, uint64_t *features)
{
	int ret = pmu_param(x, XEN_PMU_MODE_GET, mode);

	return ret ? ret : pmu_param(x, XEN_PMU_FEATURE_GET, features);
}

void xen_version(struct xen *x, char *out, size_t size)
{
	const uint64_t number[5] = { XEN_VERSION_NUMBER };
	const uint64_t extra[5] = { XEN_VERSION_EXTRA, address(x->buffer) };
	long v = x->ops->call(x->ctx, XEN_HYPERCALL_VERSION, number);

	*out = '\0';
	if (v < 0)
		return;
	memset(x->buffer, 0, XEN_VERSION_EXTRA_LEN + 1);
	if (x->ops->call(x->ctx, XEN_HYPERCALL_VERSION, extra) < 0)
		*x->buffer = '\0';
	snprintf(out, size, "%ld.%ld%.*s", v >> 16, v & 0xffff, XEN_VERSION_EXTRA_LEN,
		 x->buffer);
	str_clean(out);
}

/*
 * Xen refuses another version than its own with -EACCES, before it looks at anything
 * else (do_sysctl(), do_domctl()).
 */
static int agree(struct xen *x, struct err *err)
{
	static const uint32_t domctls[] = { 0x17, 0x16, 0x15 };
	struct xen_vcpuinfo vcpu;
	struct xen_physinfo phys;
	char version[48];
	int ret;

	x->sysctl = 0x15;
	ret = xen_physinfo(x, &phys);
	for (size_t i = 0; i < ARRAY_SIZE(domctls) && !ret; i++) {
		x->domctl = domctls[i];
		if (xen_vcpuinfo(x, 0, 0, &vcpu) != -EACCES)
			return 0;
	}
	xen_version(x, version, sizeof(version));
	if (!ret || ret == -EACCES)
		return err_set(err, EPROTONOSUPPORT,
			       "Xen %s: its interface to tools is not one of those known "
			       "here (sysctl 0x15, domctl 0x15 to 0x17: Xen 4.17 to 4.21)",
			       version);
	return err_set(err, ret, "Xen %s does not tell of its domains (%s): %s", version,
		       err_name(ret),
		       ret == -EPERM ? "only the control domain, dom0, may ask"
				     : "sysctl physinfo failed");
}

int xen_open(const struct xen_ops *ops, const struct rootfs *root, bool live, struct xen *x,
	     struct err *err)
{
	int ret;

	*x = (struct xen) { .ops = ops };
	ret = ops->open(root, live, &x->ctx, err);
	if (ret)
		return ret;
	x->buffer = ops->buffer(x->ctx, ROOM);
	ret = x->buffer ? agree(x, err)
			: err_set(err, ENOMEM, "no memory for hypercalls: raise ulimit -l");
	if (ret)
		xen_close(x);
	return ret;
}

void xen_close(struct xen *x)
{
	if (x->buffer)
		x->ops->unbuffer(x->ctx, x->buffer, ROOM);
	if (x->ctx)
		x->ops->close(x->ctx);
	*x = (struct xen) { 0 };
}
