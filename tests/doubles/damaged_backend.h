/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "damage.h"

/*
 * A backend like `inner`, name and all, whose copies and prefetches take xb_damaged_how. Its
 * objects are the inner one's own; those that carry a table carry this one. There is one such
 * table: wrapping another backend changes it, so nothing of the first may be open then. It is used
 * by one thread.
 */
const struct xb_backend *xb_damaged_wrap(const struct xb_backend *inner);

extern enum xb_damage xb_damaged_how;
