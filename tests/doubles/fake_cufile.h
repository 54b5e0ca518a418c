/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a test sets, and sees, of the library that stands in for libcufile. */
struct fake_cufile {
    int version;
    int register_code;   /* of a file; 0: it is taken */
    int buffer_code;     /* of memory */
    int cuda_code;       /* beside each of these */
    ssize_t read_result; /* in place of a read, where it is not 0 */
    int read_errno;
    size_t most; /* bytes that one read brings; 0: all */
    bool counts_nothing;
    enum { FAKE_CUFILE_POSIX, FAKE_CUFILE_NVFS, FAKE_CUFILE_P2P } way;
    unsigned nvfs_major, nvfs_control;
    bool crashes_at_end; /* of the process */

    /* Seen: */
    unsigned opened, reads, files, buffers;
    int stats_level;
    bool counting;
    uint64_t counted[3]; /* by way */
};
