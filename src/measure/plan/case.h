/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/mode.h"

/*
 * Gives the case, whose mode and variant are set, one combination of the values that its parameters
 * have in `config`, counted from 0; the last parameter's values come fastest. False where there are
 * no more combinations. Without a configuration (NULL) they are all that there can be: each word of
 * CHOICES that name them; other parameters are left out.
 */
bool xb_case_set(struct xb_case *test, size_t combination, const struct xb_config *config);

/* Whether any machine can run the case's variant and words: mode->check_variant. */
bool xb_case_can_be(const struct xb_case *test);

/* Memory that a case takes while it runs, in bytes: the sums of its mode's `buffers`, of a pair's
 * devices the larger. Managed memory counts on both sides. Saturates. */
struct xb_needs {
    uint64_t host_bytes, device_bytes;
};
struct xb_needs xb_case_needs(const struct xb_case *test);

/* Whether kernels of the device make its copies, or a part of them. */
bool xb_case_is_by_kernel(const struct xb_case *test);

/* Whether it uses the device of that index; a sum uses none. */
bool xb_case_concerns(const struct xb_case *test, unsigned index);

/* Whether both have their host memory on the same NUMA node: one that is named, or near the device.
 */
bool xb_case_same_node(const struct xb_case *a, const struct xb_case *b);

/* Whether both are of one mode, variant, direction, size, parameters and NUMA node. They may be of
 * different devices. */
bool xb_case_alike(const struct xb_case *a, const struct xb_case *b);

/* Whether both take the same way through the same devices: of one mode, variant, parameters and
 * NUMA node, and both ways at once or not. h2d and d2h are one link; sizes may differ. */
bool xb_case_same_path(const struct xb_case *a, const struct xb_case *b);

#define XB_CASE_SETTINGS_TEXT 200 /* room for xb_case_settings_text's text */

/* " by kernel piece 64 KiB": those of its parameters that take lists which do not go without
 * saying; "" for none. */
const char *xb_case_settings_text(const struct xb_case *test, char *text, size_t size);

/* Room for the texts of xb_case_place_text and xb_case_transfer_text. */
#define XB_CASE_PLACE_TEXT 96

/* "host:0 > gpu:0 1 GiB", "gpu:0 > gpu:1 256 MiB by kernel": as --transfer has it. */
const char *xb_case_transfer_text(const struct xb_case *test, char *text);

/* "device 0", "device 0 to 1, NUMA node 1", "at the same time", "transfer 2: gpu:0 > gpu:1 1 GiB".
 */
const char *xb_case_place_text(const struct xb_case *test, char *text);

/* "pinned registered h2d 1 GiB device 0", and before the direction what xb_case_settings_text says.
 */
const char *xb_case_text(const struct xb_case *test, char *text, size_t size);
