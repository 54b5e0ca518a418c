/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_SHARED_OPTIONS_H
#define XFERBENCH_MODES_SHARED_OPTIONS_H

#include "xferbench/mode.h"

/* Options that more than one mode takes. */

/* --host-memory: how page-locked host memory is made. Its words are the modes' variants. */
extern const struct xb_option xb_option_host_memory;

/* The memory behind a word of --host-memory. */
enum xb_memory xb_host_memory_of(const char *variant);

/* A mode's `check`: whether the device can make the variant's memory. */
enum xb_status xb_host_memory_supported(const struct xb_case *test, const struct xb_config *config,
                                        const struct xb_device_info *device,
                                        struct xb_error *error);

#endif
