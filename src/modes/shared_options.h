/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "measure/engine/crew.h"
#include "measure/result.h"

/* What modes share. Results, workspaces and options come with it. */

/* An option that makes a case of each of its values: of words, which stand last, or of numbers.
 * `usual` is what it has by default. */
#define XB_CASES_OF(kind, named, value, usual, what)                                               \
    .name = (named), .type = (kind), .argument = value "[," value "]", .default_text = (usual),    \
    .help = what " One case is run for each.", .selects = true
#define XB_CHOICES(named, word, usual, what, ...)                                                  \
    XB_CASES_OF(XB_OPTION_CHOICES, named, word, usual, what), .choices = (const char *const[])     \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define XB_SIZES(named, size, usual, least, most, what)                                            \
    XB_CASES_OF(XB_OPTION_SIZES, named, size, usual, what), .minimum = (least), .maximum = (most)
#define XB_COUNTS(named, usual, least, most, what)                                                 \
    XB_CASES_OF(XB_OPTION_COUNTS, named, "N", usual, what), .minimum = (least), .maximum = (most)

/* The place of a case's variant among the words of its mode's option, which an enum has in the same
 * order; 0 for none of them. */
unsigned xb_variant_number(const struct xb_case *test);

/* Options that more than one mode takes. --host-memory: how the host side's memory is made. Its
 * words are the modes' variants. */
extern const struct xb_option xb_option_host_memory;

/* The memory behind a word of --host-memory. */
enum xb_memory xb_host_memory_of(const char *variant);

/* A mode's `capabilities`: what a device needs to make the variant's memory. */
uint32_t xb_host_memory_capabilities(const struct xb_case *test);
/* The same with kernels, also of a mode whose variants are other words; what kernels need whose
 * variants are those of --access; and the same for kernels that reach host memory in place. */
uint32_t xb_kernel_capabilities(const struct xb_case *test);
uint32_t xb_access_capabilities(const struct xb_case *test);
uint32_t xb_mapped_capabilities(const struct xb_case *test);

/* XB_ERR_UNSUPPORTED for the word 'pageable', in a mode that is about page-locked memory. */
enum xb_status xb_host_memory_refuse_pageable(const struct xb_case *test, struct xb_error *error);

/* --access: the order in which kernels go through memory. Its words are the modes' variants, in the
 * order of enum xb_access. */
extern const struct xb_option xb_option_access;
extern const struct xb_option xb_option_by;      /* --by: what moves the data */
extern const struct xb_option xb_option_chunk;   /* --chunk: how much one operation moves */
extern const struct xb_option xb_option_buffers; /* --buffers: so many chunks on the device */
extern const struct xb_option xb_option_threads; /* --threads: how many host threads there are */

/* How many a case has of which --threads is a parameter; and those of a case that says 0. */
unsigned xb_threads_of(const struct xb_case *test);
unsigned xb_threads_usual(void);

/* --host-offset, --device-offset: how far behind its boundary the memory on that side begins. */
extern const struct xb_option xb_option_host_offset, xb_option_device_offset;

/* Options and a figure of one mode alone, which its Reading knows too. --touched of managed: how
 * many percent of the memory are touched, and --touch-order in which order; the way without faults:
 * all of it prefetched, and then touched as much. --target of pageable: whether a copy's first
 * touch is part of it. */
extern const struct xb_option xb_option_touched, xb_option_touch_order, xb_option_target;
/* --gpu-memory of pinned: where the memory on the device comes from. --call of pinned and pageable:
 * whether it is the runtime's synchronous call that copies. */
extern const struct xb_option xb_option_gpu_memory, xb_option_call;
extern const struct xb_figure xb_figure_full_copy_time; /* of managed, of double-buffer, and */
extern const struct xb_figure xb_figure_copies_time;    /* of resident: */
extern const struct xb_figure xb_figure_resident_time, xb_figure_round_trip_time,
    xb_figure_trip_cost;
extern const struct xb_figure xb_figure_bandwidth_after_h2d; /* of pinned */

/* How much behind the data is watched where it may begin off a boundary: a page, which is more than
 * a copy that rounds its end up could reach. */
#define XB_WATCHED_BYTES UINT64_C(4096)

/* The largest offset that any case of the run has on either side; 0 in a mode of which they are no
 * parameters. All cases have room for it, so that all use the same memory: where that lies must not
 * make a difference between one offset and another. */
uint64_t xb_largest_offset(const struct xb_case *test);

/* context->sample_seconds of a path that is faster than the link to the host: 256 MiB within an
 * H200's memory take 0.1 ms, 1 GiB to another over NVLink 2.7 ms. Starting and ending a sample
 * takes 10 us, 30 us where both devices copy (bench/results/h200-x2/peer-sizes.json: the time by
 * size is a straight line that does not meet 0), which would be a visible part of it. */
#define XB_FAST_SAMPLE_S 10e-3

/* For `verify` of a pair: adds what is known of the link that the data took from the source to the
 * destination. */
void xb_pair_add_link(const struct xb_mode_context *context, struct xb_result *result);

/* Defines what a mode, or a reference of it, enqueues: `part` with these arguments. */
#define XB_SUBMIT(name, part, ...)                                                                 \
    static enum xb_status name(struct xb_mode_context *context, struct xb_error *error)            \
    {                                                                                              \
        return part(context, __VA_ARGS__, error);                                                  \
    }

/* Defines a figure of one mode alone, a TIME, RATE, NUMBER or GAIN (figure.h), by its name. */
#define XB_OWN_FIGURE(kind, name, what)                                                            \
    static const struct xb_figure name = {XB_FIGURE_##kind(#name, what)}

/* For a mode with stages: one of them alone, as a part of its line (stage.h). */
#define XB_STAGE_ALONE(stage) (&(const struct xb_line_part){.stages = 1u << (stage)})

/* What no mode is without: its state, and these hooks. */
#define XB_HOOKS(type, its_buffers, its_setup, its_prepare, its_submit, its_verify)                \
    .state_bytes = sizeof(type), .buffers = (its_buffers), .setup = (its_setup),                   \
    .prepare = (its_prepare), .submit = (its_submit), .verify = (its_verify)

static inline uint64_t xb_larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t xb_rounded_up(uint64_t bytes, uint64_t boundary)
{
    return (bytes + boundary - 1) / boundary * boundary;
}

/* How many chunks `bytes` makes; the last may be shorter. */
uint64_t xb_chunk_count(uint64_t bytes, uint64_t chunk);

/* Chunk `index` of `bytes`: its offset and length. */
struct xb_chunk {
    uint64_t offset, bytes;
};
struct xb_chunk xb_chunk_at(uint64_t bytes, uint64_t chunk, uint64_t index);

/* For check_options of a mode whose parameter it is and whose kernels work on chunks: XB_ERR_USAGE
 * where these are no whole words of so many bytes. */
enum xb_status xb_chunk_check_words(const struct xb_case *test, unsigned word,
                                    struct xb_error *error);

/* The same where an iteration of `per_chunk` operations a chunk would be seconds of enqueuing that
 * nothing can interrupt. The option is a size: --chunk, or another for which 0 is no chunk. */
enum xb_status xb_chunk_check(const struct xb_case *test, const struct xb_option *option,
                              uint64_t per_chunk, struct xb_error *error);

/* For verify of a mode that needs much of the host's memory, of XB_HOST_RATE_FROM bytes or more:
 * adds host_memory_rate, which is measured in the first such case of a device and node in a run, in
 * less than a tenth of a second; nothing where there is too little memory for it, or the mode does
 * not declare the figure. */
#define XB_HOST_RATE_FROM (UINT64_C(16) << 20)
extern const struct xb_figure xb_figure_host_memory_rate;
void xb_host_rate_tell(const struct xb_mode_context *context, struct xb_result *result);

/* Each stage alone. */
extern const struct xb_figure xb_figure_in_time, xb_figure_kernel_time, xb_figure_out_time;
/* The same work one step after the other; and the kernels alone, by the whole. */
extern const struct xb_figure xb_figure_serial_time, xb_figure_gpu_busy;
/* How many times as fast as the plain way, and how near to what the slowest stage allows. */
extern const struct xb_figure xb_figure_speed_up, xb_figure_share_of_bound;
