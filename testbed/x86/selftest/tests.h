/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SELFTEST_TESTS_H
#define SELFTEST_TESTS_H

/* Of a program, what it is for: all.c, memory/memory.c. */
void test_all(void);

/* Each on the CPU that calls it, while another may do the same. */
void test_counting(void); /* counting.c */
void test_events(void);
void test_faults(void);	   /* faults.c */
void test_sampling(void);  /* sampling.c */
void test_registers(void); /* registers.c */
void test_guest(void);	   /* guest.c */

/* Some memory that programs may write, of this CPU's own. */
void *scratch(void);
/* Nothing is mapped from there on for a page at least, nor before. */
#define UNMAPPED 0x100001000

#endif
