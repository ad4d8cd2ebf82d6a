/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CHECK_HOST_H
#define CHECK_HOST_H

/* A host for vmmprof check: a tree of files on which all is well until a test changes it,
 * and a PMU that is played. */

#include "source/kvm/capabilities.h"

#define ROOT_CAPS "Name:\tvmmprof\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n"
#define USER_CAPS                                                                          \
	"Name:\tvmmprof\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n"
#define LIMITS                                                                             \
	"Limit  Soft  Hard  Units\nMax open files            1024                 4096   " \
	"              files\n"

struct play {
	int fit, taken;	   /* counters; of these held by someone else */
	int refuse;	   /* errno for every open, 0: none */
	int refuse_kernel; /* errno for kernel mode */
	int refuse_guest;  /* errno for one side only */
	int refuse_samples;
};
extern struct play play;
extern const struct probe_ops played;

void host_put(const char *path, const char *text);
void host_drop(const char *path);
/* Looks at the tree, with a PMU that is played (or none) and what is asked for. */
unsigned host_look(const struct probe_ops *probe, const struct capability_ask *asks,
		   size_t nasks, pid_t pid);
extern struct source *host_src; /* of the last look, and what that found */
extern struct capability_list host_list;
/* Of the last look; NULL: there is none. */
const struct capability *host_find(const char *id);
/* Fails the test if that is not so. */
void host_expect(const char *id, enum verdict verdict, const char *finding_has,
		 const char *remedy_has);

/* A tree with nothing in it. */
void host_empty(void);
/* The tree alone, and with a PMU on which all is well. */
int host_make(void **state);
int host_well(void **state);
int host_remove(void **state);
#define check_test(test) cmocka_unit_test_setup_teardown(test, host_well, host_remove)

#endif
