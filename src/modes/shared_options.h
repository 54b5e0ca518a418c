/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_SHARED_OPTIONS_H
#define XFERBENCH_MODES_SHARED_OPTIONS_H

#include "xferbench/mode.h"

/* Options that more than one mode takes. */

/* --host-memory: how page-locked host memory is made. Its words are the modes' variants. */
extern const struct xb_option xb_option_host_memory;

/* The memory behind a word of --host-memory. */
enum xb_memory xb_host_memory_of(const char *variant);

/* A mode's `capabilities`: what a device needs to make the variant's memory. */
uint32_t xb_host_memory_capabilities(const char *variant);

#endif
