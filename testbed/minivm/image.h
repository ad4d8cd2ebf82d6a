/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's code: an ELF file linked at fixed addresses and carried inside minivm. */
#ifndef MINIVM_IMAGE_H
#define MINIVM_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#define IMAGE_BASE 0x40000000ull /* guest physical, as in guest-*.lds */
#define IMAGE_SIZE 0x100000ull	 /* what is kept for code and page tables */
#define IMAGE_DATA (IMAGE_BASE + IMAGE_SIZE)

/* Copies the loadable segments into guest memory, which begins at IMAGE_BASE. */
int image_load(void *memory, size_t size);

/* A function's address, or 0 where there is none of that name. */
uint64_t image_symbol(const char *name);

/* Writes the ELF file, for a profiler that wants the guest's symbols. */
int image_write(const char *path);

#endif
