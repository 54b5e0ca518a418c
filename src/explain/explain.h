/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "advise/model.h"
#include "trace/profile.h"

#include <stdio.h>

/* Where the time of somebody's program goes, and what its copies would take in other ways. */

/* What works at the same time as others do. */
enum xb_lane {
    XB_LANE_TO_GPU,
    XB_LANE_BACK,
    XB_LANE_AMONG, /* copies within a GPU and between GPUs, and fills */
    XB_LANE_KERNELS,
    XB_LANE_HOST, /* threads that work for a stage; only --trace tells of them */
    XB_LANES
};

#define XB_EXPLAIN_BINS 40

struct xb_lane_use {
    size_t count;
    uint64_t bytes;
    double busy;                    /* seconds in which it did anything */
    double shares[XB_EXPLAIN_BINS]; /* of equal parts of the time: how busy it was */
};

struct xb_gpu_use {
    int device; /* -1: not known */
    struct xb_lane_use lanes[XB_LANES];
    double copying; /* seconds in which it copied and did not compute */
    double neither;
};

/* A copy is small up to here: what it takes is mostly its start. */
#define XB_EXPLAIN_SMALL (UINT64_C(64) << 10)

/* Where copies come from, by enum xb_range_kind the outermost operator and the innermost mark and
 * line around the call, and the call: "cudaMemcpyAsync". NULL: none, or not known. */
enum { XB_ORIGIN_CALL = XB_RANGE_KINDS, XB_ORIGINS };

/* Copies that come from one place, go one way and use one kind of memory. Times are seconds. */
struct xb_copy_group {
    enum xb_way way;
    enum xb_host_memory host;
    const char *origin[XB_ORIGINS];
    size_t count;
    uint64_t bytes; /* 0: the trace does not say */
    double seconds; /* on the GPU */
    double exposed; /* of that: no kernel ran on the GPU meanwhile */
    double blocked; /* their calls took so long while no kernel ran; NAN: not known */
    double first;   /* the first of them took so long */
    size_t runs;    /* rows of them without a kernel between */
    size_t returns; /* to the GPU: as large as what came back just before, after a kernel */
    bool lacks_bytes;
    /* What they would take; NAN: it cannot be said, or is no remedy for them. */
    double pinned, batched, kept;
};

/* Calls that make or release memory between the first deed of the GPU and the last. */
struct xb_setup_group {
    const char *call;
    size_t count;
    double seconds;
};

/* What could be better: what is easily changed comes first. */
enum xb_fault {
    XB_FAULT_PAGEABLE, /* the group's memory is not page-locked */
    XB_FAULT_SMALL,    /* many small copies */
    XB_FAULT_SETUP,    /* memory is made or page-locked in the loop */
    XB_FAULT_SERIAL,   /* copies wait for kernels, and kernels for copies */
    XB_FAULT_RETURNS,  /* data leaves the GPU, and as much comes again */
    XB_FAULTS
};

struct xb_fault_found {
    enum xb_fault fault;
    int group;                   /* of PAGEABLE, SMALL and RETURNS: its place; else -1 */
    struct xb_setup_group setup; /* of SETUP */
    double seconds;              /* that it takes now, */
    double predicted;            /* and without the fault; NAN: cannot be said */
};

#define XB_EXPLAIN_GROUPS 200 /* with names; what is of more places is in groups without */
#define XB_EXPLAIN_GPUS 64

struct xb_explanation {
    const struct xb_profiles *profiles;
    const struct xb_profile *profile;
    double window; /* seconds from the first deed of the GPU to the end of the last; 0: none */
    struct xb_gpu_use *gpus;
    size_t gpu_count;
    struct xb_copy_group *groups; /* the most exposed first */
    size_t group_count;
    struct xb_fault_found *faults; /* first those before SERIAL; of these what takes most first */
    size_t fault_count;
    bool is_one_stream; /* all copies and kernels are on one */
    bool uses_managed;  /* memory that moves without copies is made */
    /* The trace does not say these of all copies between host and GPU. */
    bool lacks_bytes, lacks_memory;
    uint64_t chunk; /* SERIAL: its prediction is of chunks of so many bytes; 0: of the copies */
};

/* Explains all programs, which are sorted. `costs` of the GPU that ran them tell what copies would
 * take; NULL: nothing is known of them. What it finds lies in *memory. */
struct xb_explanation *xb_explain(const struct xb_profiles *profiles, const struct xb_costs *costs,
                                  struct xb_arena **memory);

/* What was looked at, for whoever writes. */
struct xb_explain_source {
    const struct xb_profiles *profiles;
    const char *path;   /* of the trace; NULL: a program was run */
    char *const *words; /* its command line; ends with NULL */
    double wall;        /* seconds that it ran */
    int exit_code;      /* as a shell has it */
    const char *with;   /* the file whose results tell what copies take; NULL: none */
    bool is_measured;   /* they were measured now */
};

enum xb_status xb_explain_print(FILE *stream, const struct xb_explain_source *source,
                                const struct xb_explanation *explanations, size_t count,
                                struct xb_error *error);
/* docs/explain.schema.json */
enum xb_status xb_explain_json_write(FILE *stream, const struct xb_explain_source *source,
                                     const struct xb_explanation *explanations, size_t count,
                                     struct xb_error *error);
