/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory: one address for both sides, and pages that move because somebody touches them,
 * because they are asked to, or not at all. */
#include "proof.h"
#include "shared_options.h"

#include "backends/verify.h"
#include "reading/reading.h"

#include <string.h>

static const struct xb_option option_managed = {
    XB_CHOICES("managed", "HOW", "fault,prefetch",
               "How managed memory gets to the other side: 'fault': whoever touches a page fetches "
               "it; 'prefetch': the runtime moves it on request; 'advise': it is told to stay on "
               "the host, and the device reads or writes it there.",
               "fault", "prefetch", "advise")};

enum how { HOW_FAULT, HOW_PREFETCH, HOW_ADVISE };

struct state {
    enum how how;
    bool to_device;
    struct xb_buffer *managed;
    struct xb_buffer *device; /* what the device's kernels read into or write from */
};

static uint32_t capabilities(const struct xb_case *test)
{
    (void)test;
    return XB_CAP_MANAGED | XB_CAP_KERNELS;
}

static struct xb_needs needs(const struct xb_case *test)
{
    return (struct xb_needs){.host_bytes = test->bytes, .device_bytes = 2 * test->bytes};
}

static enum xb_status check(const struct xb_mode_context *context, struct xb_error *error)
{
    if (xb_variant_number(context->test) != HOW_FAULT || !context->device->info.coherent_with_host)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                   "this device and the host reach each other's memory in place: touching a page "
                   "need not move it, so there is nothing to time");
}

static enum xb_status prefetch(const struct xb_mode_context *context, bool to_device,
                               struct xb_error *error)
{
    const struct state *state = context->state;
    return context->device->backend->queue_prefetch(context->queues[0], state->managed,
                                                    context->test->bytes, to_device, error);
}

/* Puts the pages back to the side that the direction starts from. With `advise` they never leave
 * the host. */
static enum xb_status restore(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    if (state->how == HOW_ADVISE)
        return XB_OK;
    XB_TRY(prefetch(context, !state->to_device, error));
    return context->device->backend->queue_wait(context->queues[0], error);
}

/* Writes the pattern to managed memory, on the side that the direction starts from. The CPU fetches
 * every page that it writes, several threads at a time: nothing has to be put back for it. */
static enum xb_status fill_managed(struct xb_mode_context *context, struct xb_pattern pattern,
                                   struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    if (state->to_device || state->how == HOW_ADVISE) {
        xb_host_fill(state->managed->host_address, 0, context->test->bytes, pattern);
        return XB_OK;
    }
    XB_TRY(restore(context, error));
    XB_TRY(backend->queue_fill(context->queues[0], state->managed, context->test->bytes, pattern,
                               error));
    return backend->queue_wait(context->queues[0], error);
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    const struct xb_case *test = context->test;
    struct xb_pattern before = xb_proof_before(test->seed);
    state->how = xb_variant_number(test);
    state->to_device = test->direction == XB_H2D;
    context->operations_per_iteration = 1;
    /* The CPU faults inside submit itself, where only the host's clock can time it. */
    context->host_timed = state->how == HOW_FAULT && !state->to_device;
    XB_TRY(XB_BORROW(context, 1, error, {&state->managed, 0, XB_MEMORY_MANAGED, test->bytes, false},
                     {&state->device, 0, XB_MEMORY_DEVICE, test->bytes, false}));
    XB_TRY(context->device->backend->buffer_advise(
        state->managed, state->how == HOW_ADVISE ? XB_ADVICE_STAY_ON_HOST : XB_ADVICE_NONE, error));
    XB_TRY(fill_managed(context, before, error));
    return xb_proof_fill(context->queues[0], state->device, test->bytes, before, error);
}

/* Whether the device's buffer is one end of the copy. Else managed memory is both ends. */
static bool has_device_end(const struct state *state)
{
    return state->how == HOW_ADVISE || (state->how == HOW_FAULT && state->to_device);
}

/* Writes the other pattern to the device's buffer, or to managed memory where that is both ends:
 * nothing that arrives from now on is at the target yet. */
static enum xb_status prepare(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    struct xb_pattern after = xb_proof_after(context->test->seed);
    if (has_device_end(state))
        return xb_proof_fill(context->queues[0], state->device, context->test->bytes, after, error);
    return fill_managed(context, after, error);
}

/* What the target holds once a timed iteration has put it right. */
static struct xb_pattern expected(const struct xb_mode_context *context)
{
    const struct state *state = context->state;
    return has_device_end(state) && state->to_device ? xb_proof_before(context->test->seed)
                                                     : xb_proof_after(context->test->seed);
}

static enum xb_status submit(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    uint64_t bytes = context->test->bytes;
    if (state->how == HOW_PREFETCH)
        return prefetch(context, state->to_device, error);
    if (state->to_device)
        return backend->queue_kernel_copy(context->queues[0], state->device, 0, state->managed, 0,
                                          bytes, XB_ACCESS_SEQUENTIAL, 1, error);
    if (state->how == HOW_ADVISE)
        return backend->queue_kernel_copy(context->queues[0], state->managed, 0, state->device, 0,
                                          bytes, XB_ACCESS_SEQUENTIAL, 1, error);
    /* One thread reads a byte of each page: one that is on the device faults and is fetched. */
    const volatile unsigned char *memory = state->managed->host_address;
    for (uint64_t at = 0; at < bytes; at += 4096)
        (void)memory[at];
    return XB_OK;
}

/* Checks every byte of the target: the device's buffer, or managed memory as the far side sees it.
 */
static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    const struct state *state = context->state;
    struct xb_mismatch all = {0};
    struct xb_mismatch windows = {0};
    struct xb_queue *queue = context->queues[0];
    uint64_t bytes = context->test->bytes;
    if (state->to_device && state->how == HOW_PREFETCH)
        XB_TRY(context->device->backend->queue_check(queue, state->managed, bytes,
                                                     expected(context), &all, error));
    else
        XB_TRY(xb_proof_check(queue, state->to_device ? state->device : state->managed, bytes,
                              expected(context), &all, error));
    if (has_device_end(state)) {
        const struct xb_proof_side here = {queue, state->managed, 0};
        const struct xb_proof_side there = {queue, state->device, 0};
        XB_TRY(xb_proof_compare(&here, &there, bytes, &windows, error));
    }
    xb_result_detail_text(result, "verified_by", state->to_device ? "device" : "host");
    if (context->host_timed)
        xb_result_detail_text(result, "clock", "host: the CPU takes the faults, one read a page");
    xb_proof_conclude(result, &all, &windows);
    return XB_OK;
}

/* The workspace keeps the memory for other cases, and these expect none of this case's advice. */
static void teardown(struct xb_mode_context *context)
{
    const struct state *state = context->state;
    struct xb_error ignored;
    if (state->managed != NULL && state->how == HOW_ADVISE)
        (void)!context->device->backend->buffer_advise(state->managed, XB_ADVICE_NONE, &ignored);
}

static const struct xb_reading_way by_prefetch = {"managed", "prefetch"};
static const struct xb_reading_way by_fault = {"managed", "fault"};

static bool say_prefetching(struct xb_reading *reading, int device, uint64_t bytes)
{
    struct xb_reading_gain gain;
    if (!xb_reading_compare(reading, device, bytes, by_prefetch, by_fault, &gain))
        return false;
    if (gain.most >= XB_WORTH_SAYING)
        xb_reading_remedy(reading, XB_EFFORT_CALL, gain.most,
                          "Prefetch managed memory before it is used: %s. %s does that.",
                          gain.words, xb_reading_call(reading, XB_CALL_PREFETCH));
    return true;
}

/* What to do stands with the comparison of the two. */
static void say_first_thing(struct xb_reading *reading, const struct xb_record_case *slow)
{
    struct xb_reading_gain ignored;
    if (strcmp(slow->variant, by_fault.variant) == 0)
        (void)xb_reading_try(reading, slow, by_prefetch, &ignored);
}

const struct xb_mode xb_mode_managed = {
    .name = "managed",
    .summary = "memory with one address for both sides, moved by faults, on request or not at all",
    .description =
        "Moves managed (unified) memory. fault: h2d is a kernel that reads pages lying on the "
        "host (and writes what it read to device memory); d2h is one CPU thread that reads a byte "
        "of every page lying on the device, timed by the host's clock. prefetch: the runtime "
        "moves the pages on request. advise: the pages are told to stay on the host, and a kernel "
        "reads or writes them there across the link. Putting the pages back between iterations is "
        "not timed. Never asks for more than half of the device's free memory.",
    .calls = "cudaMallocManaged() (hipMallocManaged). prefetch: cudaMemPrefetchAsync() "
             "(hipMemPrefetchAsync) before the kernel. advise: cudaMemAdvise() (hipMemAdvise), "
             "with the host as the preferred location and accessed by the GPU.",
    XB_ALL_BY_DEFAULT(XB_H2D | XB_D2H),
    .variant_option = &option_managed,
    .names = XB_NAMES({"fault", "managed, on faults"}, {"prefetch", "managed, prefetch"},
                      {"advise", "managed, advise"}),
    .options = XB_OPTIONS(&option_managed),
    .reading = XB_READING({.label = "managed", .code = "XB-PREFETCH", .say = say_prefetching}),
    .say_first_thing = say_first_thing,
    .crosses_otherwise = true,
    XB_HOOKS(struct state, needs, setup, prepare, submit, verify),
    .capabilities = capabilities,
    .check = check,
    .restore = restore,
    .teardown = teardown,
};
