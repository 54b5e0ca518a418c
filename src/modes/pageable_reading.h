/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_PAGEABLE_READING_H
#define XFERBENCH_MODES_PAGEABLE_READING_H

#include "xferbench/mode.h"

/* What the mode `pageable` can say in the Reading. */
extern const struct xb_reading_line xb_pageable_reading[];

/* For say_first_thing of the mode. */
bool xb_pageable_say_first_thing(struct xb_reading *reading, const struct xb_record_case *slow);

#endif
