/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RECORD_CASE_NAME_H
#define XFERBENCH_RECORD_CASE_NAME_H

#include "xferbench/record.h"

/* What people call the method of a case: "pinned", "pageable, by a ring"; "mode variant" of one
 * that this build does not know. Plain ASCII, written to `text`. */
const char *xb_method_name(const struct xb_record_case *test, char *text, size_t size);

/* "to the GPU", "back to the host", "both ways", "within the GPU"; of pairs "one way". */
const char *xb_direction_words(const struct xb_record_case *test);

#endif
