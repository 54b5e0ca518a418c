/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What xferbench_fake writes about can come from files. */

#include "base/json_read.h"
#include "xferbench/error.h"

/* Ends the program with a message: a case is written wrong. */
_Noreturn void xb_fake_fail(const char *path, const struct xb_error *error);
/* The JSON in that file. */
cJSON *xb_fake_tree_of(const char *path);
