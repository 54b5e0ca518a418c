/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CORE_FILE_TEXT_H
#define XFERBENCH_CORE_FILE_TEXT_H

#include "xferbench/error.h"

#include <stdbool.h>

/*
 * Reads a whole file of at most `largest` bytes into *text, with a closing zero; release it with
 * free(3). A regular file, or with `pipes` also a pipe, whose writer is waited for; anything else
 * is refused without being opened, and so is a regular file that changes meanwhile: XB_ERR_USAGE.
 * XB_ERR_SYSTEM, XB_ERR_MEMORY. Every message begins with the path.
 */
XB_MUST_CHECK enum xb_status xb_file_text_read(const char *path, size_t largest, bool pipes,
                                               char **text, size_t *length, struct xb_error *error);

#endif
