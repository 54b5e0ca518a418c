/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_STORAGE_PLAIN_H
#define XFERBENCH_STORAGE_PLAIN_H

#include "files.h"

/* Files without a reader. */

/* Reads [offset, offset + bytes) of a file (its index) in the plainest way there is, to check what
 * other ways gave. Any alignment. Blocks. XB_ERR_RUNTIME with path, offset and errno's name, or
 * that the file ends before. */
XB_MUST_CHECK enum xb_status xb_files_read(const struct xb_files *files, size_t file,
                                           uint64_t offset, void *target, uint64_t bytes,
                                           struct xb_error *error);

/* Opens a file with O_DIRECT for who reads it himself, and closes the descriptor.
 * XB_ERR_UNSUPPORTED where the file system refuses that. */
XB_MUST_CHECK enum xb_status xb_files_open_direct(const struct xb_files *files, size_t file,
                                                  int *descriptor, struct xb_error *error);

#endif
