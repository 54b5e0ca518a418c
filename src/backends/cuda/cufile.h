/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/backend.h"

#include <sys/types.h>

/* NVIDIA's library for reading files to a GPU's memory (GPUDirect Storage), opened for the first
 * file. Types and numbers are from its public interface (GPUDirect Storage cuFile API Reference
 * Guide; statistics of version 1.15, of CUDA 13.0): a toolkit may come without its header. */

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

/* The library's functions: result, field, name, parameters, and what is lost without it; "" if it
 * is required. */
#define XB_CUFILE_FUNCTIONS(X)                                                                     \
    X(struct xb_cufile_outcome, open_driver, cuFileDriverOpen, (void), "")                         \
    X(struct xb_cufile_outcome, properties, cuFileDriverGetProperties,                             \
      (struct xb_cufile_properties * properties), "")                                              \
    X(struct xb_cufile_outcome, handle_register, cuFileHandleRegister,                             \
      (void **handle, struct xb_cufile_descriptor *descriptor), "")                                \
    X(void, handle_deregister, cuFileHandleDeregister, (void *handle), "")                         \
    X(struct xb_cufile_outcome, buffer_register, cuFileBufRegister,                                \
      (const void *base, size_t bytes, int flags), "")                                             \
    X(struct xb_cufile_outcome, buffer_deregister, cuFileBufDeregister, (const void *base), "")    \
    X(ssize_t, read, cuFileRead,                                                                   \
      (void *handle, void *base, size_t bytes, off_t file_offset, off_t offset), "")               \
    X(struct xb_cufile_outcome, version, cuFileGetVersion, (int *version), "the version")          \
    X(struct xb_cufile_outcome, set_stats_level, cuFileSetStatsLevel, (int level),                 \
      "the way of reads")                                                                          \
    X(struct xb_cufile_outcome, stats_start, cuFileStatsStart, (void), "the way of reads")         \
    X(struct xb_cufile_outcome, counts, cuFileGetStatsL3, (struct xb_cufile_counts * counts),      \
      "the way of reads")
struct xb_cufile {
/* NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define X(result, field, symbol, parameters, lost) result(*field) parameters;
    XB_CUFILE_FUNCTIONS(X)
#undef X
};

/* Finds the library's path, or NULL. Looks at file names and opens nothing: less than a
 * millisecond, once. Any thread. */
const char *xb_cufile_path(void);

/* Opens the library and its driver once, for as long as the process lives, and has it count its
 * reads. At its end the process skips what atexit() got before this call. Any thread; may take
 * long. XB_ERR_UNSUPPORTED, each time again, with what the library or the loader said. */
enum xb_status xb_cufile_open(struct xb_error *error);

/* ---- reads, on the calling thread's current device ---- */

/* How many reads of this process went which way, since the library was opened. */
struct xb_cufile_ways {
    bool known;
    uint64_t p2p, nvfs, posix;
};

/* One file. The caller sets `base`. */
struct xb_cufile_reads {
    struct xb_file base;
    void *handle;
    struct xb_cufile_ways before; /* when the file was opened */
};

enum xb_status xb_cufile_reads_open(struct xb_cufile_reads *reads, int descriptor,
                                    struct xb_error *error);
void xb_cufile_reads_close(struct xb_cufile_reads *reads);
/* Reads to base + offset of memory of `length` bytes that was allocated at `base`, and tells the
 * library of it first. Any thread. */
enum xb_status xb_cufile_reads_read(struct xb_cufile_reads *reads, uint64_t file_offset, void *base,
                                    uint64_t length, uint64_t offset, uint64_t bytes,
                                    struct xb_error *error);
enum xb_status xb_cufile_reads_way(struct xb_cufile_reads *reads, struct xb_file_way *way,
                                   struct xb_error *error);
/* Before such memory is freed; costs next to nothing where the library does not know of it. */
void xb_cufile_forget(const void *base);
