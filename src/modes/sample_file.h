/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_SAMPLE_FILE_H
#define XFERBENCH_MODES_SAMPLE_FILE_H

#include "xferbench/error.h"

/* XB_ERR_USAGE with the path where it is no regular file, is empty, or cannot be opened. */
XB_MUST_CHECK enum xb_status xb_sample_file_check(const char *path, struct xb_error *error);

/* Fills memory with the file's bytes, again and again where it is shorter. XB_ERR_SYSTEM with the
 * path where it cannot be read or became shorter meanwhile; XB_ERR_USAGE as above. */
XB_MUST_CHECK enum xb_status xb_sample_file_fill(const char *path, void *memory, uint64_t bytes,
                                                 struct xb_error *error);

#endif
