/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "fake_cufile.h"

#include "backends/cuda/cufile.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fake_cufile fake_cufile;

/* At the end of the process; also as what the library gives to atexit() when it opens. */
__attribute__((destructor)) static void end(void)
{
    if (fake_cufile.crashes_at_end)
        abort();
}

#define OUTCOME(first)                                                                             \
    (struct xb_cufile_outcome)                                                                     \
    {                                                                                              \
        .code = (first), .cuda_code = (first) != 0 ? fake_cufile.cuda_code : 0                     \
    }

struct xb_cufile_outcome cuFileDriverOpen(void)
{
    fake_cufile.opened++;
    return OUTCOME(atexit(end) != 0 ? 5011 : 0);
}

struct xb_cufile_outcome cuFileDriverGetProperties(struct xb_cufile_properties *properties)
{
    properties->nvfs.major = fake_cufile.nvfs_major;
    properties->nvfs.minor = 20;
    properties->nvfs.control = fake_cufile.nvfs_control;
    return OUTCOME(0);
}

struct xb_cufile_outcome cuFileGetVersion(int *version)
{
    *version = fake_cufile.version;
    return OUTCOME(0);
}

struct xb_cufile_outcome cuFileHandleRegister(void **handle, struct xb_cufile_descriptor *file)
{
    if (fake_cufile.register_code != 0 || file->type != 1 || file->operations != NULL)
        return OUTCOME(fake_cufile.register_code);
    fake_cufile.files++;
    *handle = (void *)(intptr_t)file->file.descriptor;
    return OUTCOME(0);
}

void cuFileHandleDeregister(void *handle)
{
    (void)handle;
    fake_cufile.files--;
}

struct xb_cufile_outcome cuFileBufRegister(const void *base, size_t bytes, int flags)
{
    if (fake_cufile.buffer_code != 0 || base == NULL || bytes == 0 || flags != 0)
        return OUTCOME(fake_cufile.buffer_code);
    fake_cufile.buffers++;
    return OUTCOME(0);
}

struct xb_cufile_outcome cuFileBufDeregister(const void *base)
{
    (void)base;
    fake_cufile.buffers--;
    return OUTCOME(0);
}

ssize_t cuFileRead(void *handle, void *base, size_t bytes, off_t from, off_t to)
{
    fake_cufile.reads++;
    if (fake_cufile.read_result != 0) {
        errno = fake_cufile.read_errno;
        return fake_cufile.read_result;
    }
    if (fake_cufile.counting)
        fake_cufile.counted[fake_cufile.way]++;
    size_t count = fake_cufile.most > 0 && bytes > fake_cufile.most ? fake_cufile.most : bytes;
    return pread((int)(intptr_t)handle, (char *)base + to, count, from);
}

struct xb_cufile_outcome cuFileSetStatsLevel(int level)
{
    fake_cufile.stats_level = level;
    return OUTCOME(0);
}

struct xb_cufile_outcome cuFileStatsStart(void)
{
    fake_cufile.counting = fake_cufile.stats_level > 0;
    return OUTCOME(0);
}

struct xb_cufile_outcome cuFileGetStatsL3(struct xb_cufile_counts *counts)
{
    if (fake_cufile.stats_level != 3 || fake_cufile.counts_nothing)
        return OUTCOME(5022);
    memset(counts, 0, sizeof *counts);
    counts->gpu_count = 2;
    counts->gpus[0].posix_reads = fake_cufile.counted[FAKE_CUFILE_POSIX];
    counts->gpus[1].nvfs_reads = fake_cufile.counted[FAKE_CUFILE_NVFS];
    counts->gpus[1].p2p_reads = fake_cufile.counted[FAKE_CUFILE_P2P];
    return OUTCOME(0);
}
