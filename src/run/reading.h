/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_READING_H
#define XFERBENCH_RUN_READING_H

#include "xferbench/record.h"

#include <stdio.h>

/*
 * What the figures of a record mean, for a person: how much of its link each device reached, then
 * the Reading (xferbench/reading.h). Speaks only of cases that were measured in full, verified and
 * large, compares only cases of one device and size, and prints nothing where there is nothing to
 * say. XB_ERR_MEMORY only.
 */
XB_MUST_CHECK enum xb_status xb_reading_print(FILE *stream, const struct xb_record *record,
                                              struct xb_error *error);

#endif
