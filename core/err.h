/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CORE_ERR_H
#define CORE_ERR_H

/* Errors as the core returns them, negated: the numbers of Linux and of Xen. */
enum vpmu_err {
	VPMU_EAGAIN = 11,
	VPMU_EBUSY = 16,
	VPMU_ENODEV = 19,
	VPMU_EINVAL = 22,
	VPMU_ENOSPC = 28,
	VPMU_EOPNOTSUPP = 95,
};

#endif
