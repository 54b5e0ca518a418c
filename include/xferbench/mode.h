/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/backend.h"
#include "xferbench/figure.h"

struct xb_config;
struct xb_line_part;
struct xb_option;
struct xb_run_options;
struct xb_run;
struct xb_buffers;
struct xb_stage;
struct xb_store;
struct xb_workspace;
struct xb_result;
struct xb_reading;
struct xb_record_case;

enum xb_direction {
    XB_H2D = 1u << 0,  /* host to device */
    XB_D2H = 1u << 1,  /* device to host */
    XB_D2D = 1u << 2,  /* device to device, which for a mode without pairs is the same one */
    XB_BIDIR = 1u << 3 /* both ways at once: host and device, or for a pair of devices both */
};
#define XB_DIRECTIONS 4

/* "h2d", "d2h", "d2d", "bidir"; "mixed" for 0, which the sum of a set of transfers has. */
const char *xb_direction_name(enum xb_direction direction);

#define XB_NO_PEER (-1)

/* What pairs that run at the same time have in common: the device where all begin, or all end, or
 * nothing. Or a set of transfers, each of its own mode and size (--transfer). */
enum xb_group {
    XB_GROUP_NONE,
    XB_GROUP_ONE_TO_ALL,
    XB_GROUP_ALL_TO_ONE,
    XB_GROUP_ALL_TO_ALL,
    XB_GROUP_SET
};

/* "one-to-all", "all-to-one", "all-to-all"; NULL for none and for a set. */
const char *xb_group_name(enum xb_group group);

/* What a case has of a parameter of its mode (struct xb_parameter). */
struct xb_setting {
    const struct xb_option *option;
    const char *word; /* of CHOICES one word, of TEXT all; lives as long as the configuration */
    uint64_t count;   /* of COUNT and SIZE; of COUNTS and SIZES one number */
};
#define XB_CASE_SETTINGS 12

/* One thing to measure: mode x variant x parameters x direction x size x device(s). */
struct xb_case {
    const struct xb_mode *mode;
    const char *variant; /* never NULL; lives as long as the configuration */
    /* One for each parameter that matters for the variant, in the mode's order. */
    struct xb_setting settings[XB_CASE_SETTINGS];
    size_t setting_count;
    enum xb_direction direction;
    uint64_t bytes;  /* what --size says: moved once by one iteration, for bidir once each way */
    unsigned device; /* index in its backend; of a pair the source */
    int peer;        /* index of a pair's destination, else XB_NO_PEER */
    bool latency;    /* single operations, for percentiles of their time */
    /* One of several that run at the same time. They stand side by side in a run's results: first
     * the row of all of them (`sum`), then one row a device, or a pair. A sum has no device; that
     * of pairs has the device that they have in common, if any. */
    bool simultaneous;
    bool sum;
    enum xb_group group; /* of what runs at the same time */
    unsigned transfer;   /* which of a set it is, from 1; else 0 */
    /* The NUMA node that --numa names for its host memory and the threads that work on it. Without
     * one both are near the device. A case without host memory has none. */
    bool has_node;
    unsigned node;                      /* the OS's number */
    unsigned long long seed;            /* of the pattern, different for every case of a run */
    const struct xb_run_options *asked; /* of the run; lives as long as it does */
};

/* --pairs, which every mode of pairs has: the plan reads it. */
extern const struct xb_option xb_option_pairs;

/* Returns what the case has of that option. Aborts unless it is a parameter of the mode that
 * matters for the variant: it is a bug. */
const struct xb_setting *xb_case_setting(const struct xb_case *test,
                                         const struct xb_option *option);

/* Whether that option has that word; false where it is no such parameter. */
bool xb_case_is(const struct xb_case *test, const struct xb_option *option, const char *word);

/* Returns NULL, instead of aborting, where the option is no such parameter. */
const struct xb_setting *xb_case_find_setting(const struct xb_case *test,
                                              const struct xb_option *option);

struct xb_mode_context;

/* Queues that are timed apart from the whole: one direction of a case that goes both ways. */
struct xb_span {
    const struct xb_figure *figure; /* a rate */
    size_t first_queue, queue_count;
    uint64_t bytes; /* that one iteration moves on them */
};
#define XB_SPANS 2

#define XB_OWN_BUFFERS 2

/* How many of the cases that run at the same time use a device, and which of them this one is, from
 * 0. A case alone has {1, 0}. */
struct xb_share {
    unsigned of, number;
};

/* What a mode has to work with during one case. The runner owns it all. */
struct xb_mode_context {
    const struct xb_case *test;
    struct xb_device *device;
    struct xb_workspace *workspace;
    struct xb_store *store; /* files that are made, kept from case to case (storage/files.h) */
    /* A pair's destination; else NULL. */
    struct xb_device *peer_device;
    struct xb_workspace *peer_workspace;
    /* Pairs that run at the same time share a device and its workspace: each takes its own buffers
     * and queues there. */
    struct xb_share share, peer_share;
    /* How many of the cases that run at the same time copy by kernels on the device that carries
     * this one's clock. Known once all are set up. */
    unsigned kernels_together;
    /* What the source can do with the destination's memory, and the other way round. */
    struct xb_peer_info source_reach, destination_reach;
    void *state;                  /* mode->state_bytes, zeroed before setup */
    struct xb_line *line;         /* of a mode with stages, from xb_line_open on */
    struct xb_recorder *recorder; /* while an iteration is recorded, else NULL; the runner's own */
    const struct xb_run *run;     /* the runner's own */

    /* Set by setup: */
    struct xb_queue **queues;          /* [0] carries the clock */
    size_t queue_count;                /* 1 or more */
    uint64_t operations_per_iteration; /* how many operations submit enqueues */
    bool hold;                         /* whether the queues may be held while submit enqueues */
    /* How many seconds a sample lasts at least, by repeating the iteration; 0: a millisecond. For a
     * path so fast that starting and ending a sample would be a visible part of it. */
    double sample_seconds;
    /* The host's clock times the case, because calls of the host are part of what is measured:
     * until submit returns or, with host_waits, until the queues are done. Samples are then of one
     * iteration. */
    bool host_timed, host_waits;
    /* Samples are of one iteration: the next would begin before it is done, or before restore has
     * put back what it moved. */
    bool one_iteration;
    /* Host memory that the mode allocated itself. The runner looks up where it lies before verify,
     * as for the workspace's buffers, and the row tells of the first. NULL: none, or no more. */
    const struct xb_buffer *own_buffers[XB_OWN_BUFFERS];
    /* Bytes of what was borrowed for the proof or for tuning alone: no cost of the method. */
    uint64_t proof_host_bytes, proof_device_bytes;
    bool costs_elsewhere;      /* other processes work for it: what it costs is not told */
    uint64_t own_device_bytes; /* device memory that the mode allocated itself: a cost too */
    struct xb_span spans[XB_SPANS];
    size_t span_count;    /* 0 where only the whole is timed */
    uint64_t bytes_moved; /* by one iteration; set to test->bytes before setup */
};

/* Enqueues one iteration of something. */
typedef enum xb_status xb_submit(struct xb_mode_context *context, struct xb_error *error);

/* For setup, once the queues are set: reads the seconds that one iteration of `submit` takes on the
 * device, the least of a few. Restores nothing. Blocks. XB_ERR_STOPPED where the run is to stop. */
enum xb_status xb_mode_time(struct xb_mode_context *context, xb_submit *submit, double *seconds,
                            struct xb_error *error);

/* Which clock times a reference: that of its case's samples, the host's or the device's. */
enum xb_clock { XB_CLOCK_OF_CASE, XB_CLOCK_OF_DEVICE, XB_CLOCK_OF_HOST };

/* A measurement to compare the mode's own with: the same work done another way, or a part of it.
 * Taken between warm-up and samples, by the same rules, with fewer repetitions. */
struct xb_reference {
    /* Its time in seconds, or the rate at which it moves `bytes`. */
    const struct xb_figure *figure;
    xb_submit *submit; /* no more operations than context->operations_per_iteration */
    /* For a mode with stages, in place of `submit`: the part of its line that runs. */
    const struct xb_line_part *part;
    enum xb_clock clock; /* the host's: until the queues are done */
    /* A conclusion rests on the difference from the case: the reference has one repetition that
     * does not count, then as many samples as an interval takes. */
    bool has_interval;
    /* What one iteration moves, where that is a part. NULL: context->bytes_moved. */
    uint64_t (*bytes)(const struct xb_mode_context *context);
    /* Enqueues on queues[0] untimed work right before each repetition, or NULL. Such a reference
     * shows how earlier work changes the case itself: for a case of one queue. It gets a new queue
     * on which nothing ran before, and as many samples as an interval takes; prepare and verify
     * prove its data. */
    xb_submit *before;
    /* Whether this case has the reference. NULL: every case has it. */
    bool (*is_wanted)(const struct xb_mode_context *context);
};

/* An option that is part of a case's identity, like its variant and size: every row has it, and
 * `compare` tells cases apart by it. One that takes several values (CHOICES, SIZES, COUNTS) gives a
 * case for each (xb_case_setting). */
struct xb_parameter {
    /* COUNT, SIZE, TEXT, CHOICES, SIZES, or COUNTS, with a default. Tables do not name the first
     * default value of a list. Files older than the option count as having that. */
    const struct xb_option *option;
    const char *variant; /* that it matters for (of several each has a row); NULL: all of them */
};

/* What a mode can say under one label of the Reading, with the functions of reading.h. A mode of
 * pairs has `say_of_pairs`, any other has `say`. */
struct xb_reading_line {
    const char *label; /* "pinning"; at most 12 characters */
    const char *code;  /* "XB-PINNING": what a file calls what is said here (docs/reading.md) */
    /* Says something of one device at one size (reading->device, reading->bytes): adds whole
     * sentences (xb_tell), or nothing. Asked for the largest size first, until there is an answer.
     * The Reading adds device and size where they are needed. */
    void (*say)(struct xb_reading *reading);
    /* Says something of all sizes of a device together, such as from which size on something pays.
     * The Reading names no size before it, and does not choose lengths: this does
     * (xb_reading_next_size). */
    void (*say_of_sizes)(struct xb_reading *reading);
    /* Says something of all pairs at once, for each direction (reading->direction). */
    void (*say_of_pairs)(struct xb_reading *reading);
    const void *about; /* for the function, where several lines have the same */
};

struct xb_mode_part {
    const char *title; /* "IN" */
    const struct xb_figure *figure;
};

struct xb_variant_name {
    const char *variant, *name; /* "ring", "pageable, by a ring" */
};

/* For a mode that runs all of its directions by default. */
#define XB_ALL_BY_DEFAULT(all) .directions = (all), .by_default = (all)
/* The lists of a mode, each with the end that it needs. NULL is an empty list. */
#define XB_OPTIONS(...) ((const struct xb_option *const[]){__VA_ARGS__, NULL})
#define XB_PARAMETERS(...) ((const struct xb_parameter[]){__VA_ARGS__, {NULL, NULL}})
#define XB_NAMES(...) ((const struct xb_variant_name[]){__VA_ARGS__, {NULL, NULL}})
#define XB_FIGURES(...) ((const struct xb_figure *const[]){__VA_ARGS__, NULL})
#define XB_PARTS(...) ((const struct xb_mode_part[]){__VA_ARGS__, {NULL, NULL}})
#define XB_REFERENCES(...) ((const struct xb_reference[]){__VA_ARGS__, {.figure = NULL}})
#define XB_READING(...) ((const struct xb_reading_line[]){__VA_ARGS__, {.label = NULL}})

/*
 * A transfer strategy. The runner owns loops, warm-up, clocks, statistics and stopping; a mode says
 * what one iteration is. Before anything is measured the runner calls check_options for every case.
 * For each case it calls, in this order: check, setup, submit (warm-up, any number of times), the
 * references' submits, prepare, submit (timed, any number of times), verify, teardown. Where a
 * case's time depends on where the host's memory lies, it repeats everything from setup on, but for
 * the references, with other host memory.
 */
struct xb_mode {
    const char *name;        /* "pinned" */
    const char *summary;     /* one line */
    const char *description; /* what is measured and what is left out, for --help MODE */
    /* What a program calls to move data like this, for help and documents: CUDA's names, HIP's
     * where they differ, and PyTorch's. NULL: nothing. */
    const char *calls;
    unsigned directions; /* bits of enum xb_direction that it knows */
    unsigned by_default; /* those that are run when no --direction is given */
    bool pairs;          /* its cases are of ordered pairs of devices */
    /* Several devices, or pairs one way, can start together, because submit never blocks; except in
     * the variant `only_alone` (NULL: no exception). */
    bool simultaneous;
    const char *only_alone;
    /* The option whose words are this mode's variants; NULL: one variant, named `variant`. */
    const struct xb_option *variant_option;
    const char *variant;
    /* The variants with which it makes one of a set of transfers (--transfer); NULL: it makes none
     * so. One mode does for each kind of ends. */
    struct {
        const char *by_engine, *by_kernel;
    } transfers;
    /* What people call its variants, where mode and word together do not say it. */
    const struct xb_variant_name *names;
    const struct xb_option *const *options; /* rows of its own, and */
    const struct xb_parameter *parameters;  /* those of them that make a case */
    /* Its figures beside the runner's, also those of its references and spans. A mode that is about
     * preparing declares xb_figure_setup_time too, and verify adds its samples: the runner takes
     * none. */
    const struct xb_figure *const *figures;
    /* The figure that people ask the mode for: a time or a rate that every case has. NULL: the
     * bandwidth or the latency. */
    const struct xb_figure *headline;
    const struct xb_mode_part *parts; /* what that is made of, each a column of its own */
    /* For a mode that is about a latency and moves no data worth a rate: that latency, one of
     * `figures`, in seconds. verify adds its samples. Its cases are latency cases without --latency
     * too, when it is named; `--mode all` takes them with --latency only. They have neither a
     * bandwidth nor the latencies of a copy. NULL for any other mode. */
    const struct xb_figure *latency;
    /* --mode all leaves it out, and no row is compared with other modes': it answers another
     * question than how fast a buffer moves. */
    bool only_named;
    /* The size of its cases without --size; 0: the default of --size. */
    uint64_t bytes_by_default;
    /* Returns that size where its options decide it, such as the length of a file that they name;
     * 0: bytes_by_default counts. NULL: they never decide it. */
    uint64_t (*bytes_of_options)(const struct xb_run_options *asked);
    /* Returns the size of a case that its parameters decide, with or without --size: its cases are
     * then measured from the smallest up; 0: they do not. NULL: they never do. */
    uint64_t (*bytes_of_case)(const struct xb_case *test);
    /* Gives options of the mode that were left open the defaults that others imply. NULL: none. */
    enum xb_status (*imply)(struct xb_config *config, bool size_given, struct xb_error *error);
    /* Whether a grid is asked for: cases by the hundred, each short, of which some are left out for
     * what others came to. NULL: never. */
    bool (*is_grid)(const struct xb_config *config);
    const struct xb_reading_line *reading; /* what it can say in the Reading */
    /* Says what a run of this mode alone comes to: adds one or two sentences of 160 characters at
     * most, which name device and size only where they are the answer; or nothing: then the fastest
     * cases are the answer. Asked as `say` is; a mode of pairs gets device -1. May be NULL. */
    void (*answer)(struct xb_reading *reading);
    /* Says what to try first if a case of the mode is far below the best way: gives the statement
     * that says so a remedy, if no other statement has it, and the number of xb_reading_try
     * (reading.h). NULL: nothing. */
    void (*say_first_thing)(struct xb_reading *reading, const struct xb_record_case *slow);
    /* The variant by which a program copies that did nothing for its copies; NULL: none. */
    const char *ordinary;
    /* Only the link limits its copies one way: if they are far below, something is wrong with
     * it. */
    bool shows_link;
    /* An iteration does not move its bytes across the link exactly once (the runtime moves them
     * when it likes, or they are made smaller), so its time says nothing about the link. */
    bool crosses_otherwise;
    size_t state_bytes;

    /* Returns what a case asks of a device: bits of enum xb_capability. A device that lacks one
     * gets a skipped row. `test` has only mode, variant and the words of CHOICES that have a list.
     * Pure. NULL: nothing beyond the mandatory slots. */
    uint32_t (*capabilities)(const struct xb_case *test);
    /* Checks whether any machine can run the variant: XB_OK, or XB_ERR_UNSUPPORTED with the reason
     * for a skipped row; `list` leaves it out. `test` is as above. Pure. NULL: all can be run. */
    enum xb_status (*check_variant)(const struct xb_case *test, struct xb_error *error);
    /* Lists with xb_take (workspace.h) the buffers that the case takes: what it needs of memory is
     * their sum, and setup borrows them. `all` is empty. Pure. */
    void (*buffers)(const struct xb_case *test, struct xb_buffers *all);
    /* Checks whether the options allow the case on any machine; XB_ERR_USAGE with what to give
     * instead ends the command before anything is measured or written. `test` has only mode,
     * variant, settings, bytes, direction and what is asked. Pure. May be NULL. */
    enum xb_status (*check_options)(const struct xb_case *test, struct xb_error *error);
    /* Checks whether the case makes sense on this device: XB_OK; XB_ERR_UNSUPPORTED with the reason
     * for a skipped row; any other error for an error row. May be NULL. Allocates nothing. */
    enum xb_status (*check)(const struct xb_mode_context *context, struct xb_error *error);
    /* Borrows memory and queues from the workspace and writes the data. Not timed. */
    enum xb_status (*setup)(struct xb_mode_context *context, struct xb_error *error);
    /* The stages that an item of its line goes through, in order; ends with a name of NULL. Only
     * the first may be the host's. Its submit is xb_line_submit. NULL: no line. */
    const struct xb_stage *stages;
    const struct xb_reference *references;
    /* Called before every repetition, warm-up included: puts back what the last one moved, or makes
     * wrong what it left, and waits for it. Not timed. A case that needs this before every
     * iteration has samples of one (one_iteration, host_waits). NULL: an iteration can follow the
     * other. */
    enum xb_status (*restore)(struct xb_mode_context *context, struct xb_error *error);
    /* Called after warm-up, and once more for each reference with something before it: makes every
     * byte of the target wrong until a timed copy puts it right, unless restore does. */
    enum xb_status (*prepare)(struct xb_mode_context *context, struct xb_error *error);
    /* Enqueues exactly one iteration: context->bytes_moved moved once. Timed. Queues other than
     * queues[0] need no ordering against the clock: the runner forks and joins them. */
    xb_submit *submit;
    /* Checks the target after the last iteration: fills result->verified and, unless that is true,
     * result->reason with what is wrong. result->bandwidth and what was sampled of result->figures
     * are complete by then: may compute figures from them (xb_result_compute), and add details and
     * warnings. Wrong data is no error of the call. Also called, without a sample yet, after a
     * reference with something before it. */
    enum xb_status (*verify)(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error);
    /* Undoes setup, also a partial one. May be NULL: what the workspace lent goes back by
     * itself. */
    void (*teardown)(struct xb_mode_context *context);
};
