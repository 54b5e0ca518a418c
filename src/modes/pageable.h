/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "shared_options.h"

/* --target of the mode pageable, for its Reading: whether a copy's first touch is part of it. */
extern const struct xb_option xb_option_target;
