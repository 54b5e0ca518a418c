/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct xb_arena;

/* What programs did with their GPUs, and when: from a Chrome trace of PyTorch's profiler (CUDA and
 * ROCm), of --trace or of `explain`, or from an SQLite export of Nsight Systems. */

enum xb_activity_kind {
    XB_ACTIVITY_COPY,   /* by an engine of a GPU, or by a kernel in its place */
    XB_ACTIVITY_FILL,   /* a memset */
    XB_ACTIVITY_KERNEL, /* or a whole graph, where the trace has no kernels of it */
    XB_ACTIVITY_WORK,   /* of a thread of the host, for a stage; only --trace has it and waits */
    XB_ACTIVITY_WAIT,   /* the first of those that are no work of a GPU or a stage */
    XB_ACTIVITY_CALL,   /* of the runtime or the driver */
    XB_ACTIVITY_RANGE,  /* an operator, a line of Python or an NVTX range: what a call belongs to */
};

/* Which way a copy went. */
enum xb_way { XB_WAY_UNKNOWN, XB_WAY_TO_GPU, XB_WAY_BACK, XB_WAY_WITHIN, XB_WAY_PEER, XB_WAY_HOST };

/* The host's memory of a copy between host and GPU. */
enum xb_host_memory {
    XB_HOST_MEMORY_UNKNOWN,
    XB_HOST_MEMORY_PAGEABLE,
    XB_HOST_MEMORY_PINNED,
    XB_HOST_MEMORY_MANAGED, /* moved by the driver */
    XB_HOST_MEMORIES
};

/* What kind of range it is: of several around a call one of each is told. */
enum xb_range_kind { XB_RANGE_OPERATOR, XB_RANGE_MARK, XB_RANGE_LINE, XB_RANGE_KINDS };

struct xb_activity {
    int64_t begin, end; /* nanoseconds of the trace's clock; begin <= end */
    uint64_t bytes; /* 0: the trace does not say. Calls of HIP say it in place of their copies */
    uint32_t link;  /* a call has the number of what it started; 0: none, or not known */
    /* Places in names: of its name, of the stage of a mode (0: of none), and of what stands for
     * the thread of a call or a range, and for the stream of others. */
    uint32_t name, stage, track;
    int16_t device;    /* -1: not known, or none */
    uint8_t kind;      /* enum xb_activity_kind */
    uint8_t way, host; /* enum xb_way and enum xb_host_memory, of copies */
    uint8_t range;     /* enum xb_range_kind, of ranges */
};

/* One program: a process, or a case of --trace. */
struct xb_profile {
    const char *name; /* NULL: not known */
    uint64_t process; /* its number, as the trace has it */
    struct xb_activity *activities;
    size_t count;
    struct xb_named_track {
        uint32_t track; /* as activities have it */
        const char *name;
    } * tracks; /* threads, in the order of the file; of several names of one the last holds */
    size_t track_count;
    const char *problem; /* why nothing of it was seen; NULL: it was */
    uint64_t dropped;    /* records that were lost before they were written */
    bool is_cut; /* the file or the program ended in the middle: the last of it is missing */
};

struct xb_profiles {
    const char *source; /* who recorded it: "PyTorch's profiler" */
    bool is_hip, is_pytorch;
    bool lacks_calls; /* that have numbers: nobody can tell which copies took calls how long */
    struct xb_profile *items;
    size_t count;
    const char **names; /* each once, with what stands for tracks and programs; the first is no
                           name: "" */
    size_t name_count;
    size_t left_out; /* events with impossible times, too long to be read, or no JSON */
    struct xb_arena *memory;
    void *tree; /* of names; profile.c's own, like the rest */
    size_t file_count, activity_count;
};

/* More activities than these are not kept: about 1.5 GB. */
#define XB_PROFILE_ACTIVITIES ((size_t)32 << 20)

/* Adds the programs of a file, gzipped or not by its content, to zeroed *profiles or those of other
 * files: each file has its own, whatever their numbers. Takes memory for activities and names, and
 * not for the text. XB_ERR_USAGE names the file, and the place of what is wrong, or why it cannot
 * be unpacked; a text that ends too early is_cut. XB_ERR_UNSUPPORTED: this build lacks SQLite.
 * XB_ERR_SYSTEM: it cannot be opened. Release *profiles with xb_profiles_free in any case. */
enum xb_status xb_profiles_read(struct xb_profiles *profiles, const char *path,
                                struct xb_error *error);
/* After the last file: puts the activities of each into the order of their beginnings, of those
 * that begin at once the longest first, and sets lacks_calls. */
void xb_profiles_sort(struct xb_profiles *profiles);
void xb_profiles_free(struct xb_profiles *profiles); /* accepts zeroed ones */

/* ---- for readers ---- */

/* The program of this file with that process number, which is made if need be. It may move when
 * another is made. */
struct xb_profile *xb_profiles_find(struct xb_profiles *profiles, uint64_t process);
/* The places of a name, and of a track of this file: a stream of a device, or a thread, whose
 * device is -1. A stream of an unknown device may have the track of a thread. */
uint32_t xb_profiles_name(struct xb_profiles *profiles, const char *text);
uint32_t xb_profiles_track(struct xb_profiles *profiles, uint64_t process, int device,
                           uint64_t number);
/* Gives an activity its name. The number at the end of one goes where it only tells turns or
 * versions apart: "step 17" of an operator or a mark, "cudaMemcpyAsync_v3020" of a call. */
void xb_profiles_call(struct xb_profiles *profiles, struct xb_activity *activity, const char *name);
/* Adds one; false: there are too many. One that ends before it begins is counted in left_out. */
bool xb_profile_add(struct xb_profiles *profiles, struct xb_profile *profile,
                    const struct xb_activity *activity);
/* Way and memory of a copy by a name such as "Memcpy HtoD (Pageable -> Device)". */
void xb_copy_read_name(const char *name, struct xb_activity *copy);

/* Unpacks the next bytes of a file: at most `size`, which is above 0. Returns how many, 0 at the
 * end and where it was cut short, or -1 with the *problem. *unpacker is NULL at first, and released
 * by xb_gzip_end. */
ssize_t xb_gzip_read(void **unpacker, int file, void *bytes, unsigned size, const char **problem);
void xb_gzip_end(void *unpacker);

/* The readers: of Chrome's events in a file, or in a text in memory where `file` is -1 and `path`
 * only for messages; and of nsys. */
enum xb_status xb_events_read(struct xb_profiles *profiles, const char *path, int file,
                              const char *text, size_t length, struct xb_error *error);
enum xb_status xb_nsys_read(struct xb_profiles *profiles, const char *path, int file,
                            struct xb_error *error);
