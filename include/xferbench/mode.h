/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODE_H
#define XFERBENCH_MODE_H

#include "xferbench/backend.h"
#include "xferbench/options.h"

struct xb_workspace;
struct xb_result;

enum xb_direction {
    XB_H2D = 1u << 0, /* host to device */
    XB_D2H = 1u << 1  /* device to host */
};

/* "h2d", "d2h". */
const char *xb_direction_name(enum xb_direction direction);

/* One thing to measure: mode x variant x direction x size x device. */
struct xb_case {
    const struct xb_mode *mode;
    const char *variant; /* never NULL; lives as long as the configuration */
    enum xb_direction direction;
    uint64_t bytes;          /* moved by one iteration */
    unsigned device;         /* index in its backend */
    unsigned long long seed; /* of the pattern, different for every case of a run */
};

/* Memory a case takes while it runs, in bytes. */
struct xb_needs {
    uint64_t host_bytes;
    uint64_t device_bytes;
};

/* What a mode has to work with during one case. The runner owns it all. */
struct xb_mode_context {
    const struct xb_case *test;
    const struct xb_config *config;
    struct xb_device *device;
    struct xb_workspace *workspace;
    void *state; /* mode->state_bytes, zeroed before setup */

    /* Set by setup: */
    struct xb_queue **queues;          /* borrowed from the workspace; [0] carries the clock */
    size_t queue_count;                /* 1 or more */
    uint64_t operations_per_iteration; /* how many operations submit enqueues */
    bool hold;                         /* whether the queues may be held while submit enqueues */
};

/*
 * A transfer strategy. The runner owns loops, warm-up, clocks, statistics and stopping; a mode says
 * what one iteration is. For one case the runner calls, in this order: check, setup, submit
 * (warm-up, any number of times), prepare, submit (timed, any number of times), verify, teardown.
 */
struct xb_mode {
    const char *name;        /* "pinned" */
    const char *summary;     /* one line */
    const char *description; /* what is measured and what is left out, for --help MODE */
    unsigned directions;     /* bits of enum xb_direction */
    /* The option whose words are this mode's variants; NULL: one variant, named `variant`. */
    const struct xb_option *variant_option;
    const char *variant;
    const struct xb_option *const *options; /* rows of its own, ends with NULL; NULL: none */
    size_t state_bytes;

    /* What a device must be able to do for a variant: bits of enum xb_capability. A device that
     * cannot gets a skipped row. Pure. NULL: nothing beyond the mandatory slots. */
    uint32_t (*capabilities)(const char *variant);
    /* Memory the case takes. Pure. */
    struct xb_needs (*needs)(const struct xb_case *test, const struct xb_config *config);
    /*
     * Whether the case makes sense otherwise: XB_OK; XB_ERR_UNSUPPORTED with the reason as the
     * message for a skipped row; any other error for an error row. May be NULL. Allocates nothing.
     */
    enum xb_status (*check)(const struct xb_case *test, const struct xb_config *config,
                            const struct xb_device_info *device, struct xb_error *error);
    /* Takes memory and queues from the workspace and writes the data. Not timed. */
    enum xb_status (*setup)(struct xb_mode_context *context, struct xb_error *error);
    /* After warm-up: makes every byte of the target wrong until a timed copy puts it right. */
    enum xb_status (*prepare)(struct xb_mode_context *context, struct xb_error *error);
    /*
     * Enqueues exactly one iteration: test->bytes moved once. Timed. Work on a queue other than
     * queues[0] needs no ordering of its own against the clock: the runner forks and joins them.
     */
    enum xb_status (*submit)(struct xb_mode_context *context, struct xb_error *error);
    /*
     * Checks the target after the last iteration: fills result->verified and, where that is not
     * true, result->reason with what is wrong. May add warnings and details that the row should
     * carry. Data that is wrong is no error of the call.
     */
    enum xb_status (*verify)(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error);
    /* Undoes setup, also a partial one. May be NULL: what came from the workspace goes back to it
     * by itself. */
    void (*teardown)(struct xb_mode_context *context);
};

#endif
