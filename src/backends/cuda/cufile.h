/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/backend.h"

#include <sys/types.h>

/*
 * NVIDIA's library for reading files to a GPU's memory (GPUDirect Storage). It is opened at run
 * time, when the first file is. Types and numbers are from its public interface (GPUDirect Storage
 * cuFile API Reference Guide; the statistics are those of version 1.15, of CUDA 13.0). They are
 * declared here because a toolkit may come without its header.
 */

#define XB_CUFILE_SUCCESS 0
#define XB_CUFILE_CUDA_ERROR 5011               /* then the second code says which */
#define XB_CUFILE_DESCRIPTOR 1                  /* CU_FILE_HANDLE_TYPE_OPAQUE_FD */
#define XB_CUFILE_ALLOW_COMPATIBILITY (1u << 1) /* of nvfs.control */
#define XB_CUFILE_GPUS 16
#define XB_CUFILE_ALL_COUNTS 3 /* the level of statistics that counts ways */

/* CUfileError_t */
struct xb_cufile_outcome {
    int code;
    int cuda_code; /* CUresult */
};

/* CUfileDescr_t */
struct xb_cufile_descriptor {
    int type;
    union {
        int descriptor;
        void *other;
    } file;
    const void *operations; /* of a file system in user space; NULL */
};

/* CUfileDrvProps_t */
struct xb_cufile_properties {
    struct {
        unsigned major, minor; /* of the kernel's driver nvidia-fs; 0 where it is not loaded */
        size_t poll_threshold, max_direct;
        unsigned file_systems, control;
    } nvfs;
    unsigned features, device_cache, buffer_cache, device_pinned, batch, batch_timeout;
    unsigned reserved[64]; /* for what a later version adds */
};

/* CUfilePerGpuStats_t */
struct xb_cufile_gpu_counts {
    char uuid[16];
    uint64_t read_bytes, rate, utilization, duration;
    uint64_t reads, p2p_reads, nvfs_reads, posix_reads;
    uint64_t rest[21];
};

/* CUfileStatsLevel3_t */
struct xb_cufile_counts {
    uint64_t whole[128]; /* of all GPUs together: CUfileStatsLevel2_t */
    uint32_t gpu_count;
    struct xb_cufile_gpu_counts gpus[XB_CUFILE_GPUS];
    uint64_t reserved[512]; /* for what a later version adds */
};

/* The library's functions. Those behind `read` may be NULL. */
struct xb_cufile {
    struct xb_cufile_outcome (*open_driver)(void);
    struct xb_cufile_outcome (*properties)(struct xb_cufile_properties *properties);
    struct xb_cufile_outcome (*handle_register)(void **handle,
                                                struct xb_cufile_descriptor *descriptor);
    void (*handle_deregister)(void *handle);
    struct xb_cufile_outcome (*buffer_register)(const void *base, size_t bytes, int flags);
    struct xb_cufile_outcome (*buffer_deregister)(const void *base);
    ssize_t (*read)(void *handle, void *base, size_t bytes, off_t file_offset, off_t offset);
    struct xb_cufile_outcome (*version)(int *version);
    struct xb_cufile_outcome (*set_stats_level)(int level);
    struct xb_cufile_outcome (*stats_start)(void);
    struct xb_cufile_outcome (*counts)(struct xb_cufile_counts *counts);
};

/* ---- cufile.c ---- */

/* The library's path, or NULL where there is none. Looks at file names and opens nothing, which
 * takes less than a millisecond, once; any thread may call it. */
const char *xb_cufile_path(void);

/*
 * Opens the library and its driver, once, and has it count its reads. It stays open as long as the
 * process lives. At its end the process skips what atexit() got before this call. Any thread may
 * call this. May take long. XB_ERR_UNSUPPORTED, each time again,
 * with what the library or the loader said.
 */
enum xb_status xb_cufile_open(const struct xb_cufile **library, struct xb_error *error);

/* XB_OK, or fills *error with `what` failed, the call, the code, and the code's name.
 * XB_ERR_UNSUPPORTED for a code that means: not here, or not this file. */
enum xb_status xb_cufile_status(struct xb_cufile_outcome what_came, const char *call,
                                const char *what, struct xb_error *error);

/* ---- cufile_reads.c: on the calling thread's current device ---- */

/* How many reads of this process went which way, since the library was opened. */
struct xb_cufile_ways {
    bool known;
    uint64_t p2p, nvfs, posix;
};

/* One file. */
struct xb_cufile_reads {
    const struct xb_cufile *library;
    void *handle;
    struct xb_cufile_ways before; /* when the file was opened */
};

enum xb_status xb_cufile_reads_open(struct xb_cufile_reads *reads, int descriptor,
                                    struct xb_error *error);
void xb_cufile_reads_close(struct xb_cufile_reads *reads);
/* Reads to base + offset of memory that was allocated at `base`, in `length` bytes. The library
 * learns of that memory when it is first read to. Any thread. */
enum xb_status xb_cufile_reads_read(struct xb_cufile_reads *reads, uint64_t file_offset, void *base,
                                    uint64_t length, uint64_t offset, uint64_t bytes,
                                    struct xb_error *error);
enum xb_status xb_cufile_reads_way(struct xb_cufile_reads *reads, struct xb_file_way *way,
                                   struct xb_error *error);
/* Before such memory is freed; costs next to nothing where the library does not know of it. */
void xb_cufile_forget(const void *base);
