/* SPDX-License-Identifier: Apache-2.0 */
/* One copy between the memories of two devices: directly, or staged through the host. */
#include "modes/readings/readings.h"
#include "proof.h"
#include "shared_options.h"

#include <assert.h>
#include <string.h>

static const struct xb_option option_path = {XB_CHOICES(
    "peer-path", "PATH", "direct-read,direct-write,staged",
    "How data gets from device to device: 'direct-read' fetched by the destination, 'direct-write' "
    "sent by the source, 'staged' in chunks of --chunk through page-locked host memory.",
    "direct-read", "direct-write", "staged")};

XB_OWN_FIGURE(RATE, bandwidth_there,
              "Both ways at once: the part from the first device to the second");
XB_OWN_FIGURE(RATE, bandwidth_back,
              "Both ways at once: the part from the second device to the first");

enum path { PATH_READ, PATH_WRITE, PATH_STAGED };

/* How many chunks of a staged copy the host has room for at a time. */
#define RING 4

/* What the case has of one of the two devices. */
struct end {
    struct xb_device *device;
    struct xb_queue *own[2]; /* of pairs that run at the same time the first is for no other */
    struct xb_queue *idle;   /* for work that is not timed; any pair's */
    bool opened;             /* direct access to the other end's memory */
};

/* One direction: from one device's buffer to the other's. */
struct way {
    const struct end *from, *to;
    struct xb_buffer *source, *target;
    unsigned long long seed;
    /* Only a staged copy has: */
    struct xb_buffer *ring;
    struct xb_event *filled[RING];  /* recorded by the source: a chunk is on the host */
    struct xb_event *emptied[RING]; /* recorded by the destination: the chunk has left it */
};

struct state {
    enum path path;
    bool by_kernel;
    enum xb_access access; /* of a kernel */
    uint64_t bytes, chunk;
    struct end ends[2]; /* the source and the destination of the first way */
    struct way ways[XB_SPANS];
    size_t way_count;
    struct xb_queue *queues[2 * XB_SPANS];
};

static bool is_by_kernel(const struct xb_case *test)
{
    return !xb_case_is(test, &xb_option_by, "engine");
}

static bool is_bulk(const struct xb_case *test)
{
    return xb_case_is(test, &xb_option_by, "bulk");
}

static uint32_t capabilities(const struct xb_case *test)
{
    if (!is_by_kernel(test))
        return 0;
    return XB_CAP_KERNELS | (is_bulk(test) ? XB_CAP_BULK : 0) |
           (xb_variant_number(test) == PATH_STAGED ? XB_CAP_MAPPED : 0);
}

/* On either device the source is the first of its buffers and the target the second. */
static void buffers(const struct xb_case *test, struct xb_buffers *all)
{
    bool is_staged = xb_variant_number(test) == PATH_STAGED;
    uint64_t back = test->direction == XB_BIDIR ? test->bytes : 0; /* of the second way */
    uint64_t ring =
        is_staged ? RING * xb_lesser(xb_case_setting(test, &xb_option_chunk)->count, test->bytes)
                  : 0;
    enum xb_memory memory = is_by_kernel(test) ? XB_MEMORY_MAPPED : XB_MEMORY_PINNED;
    xb_take(all, XB_OF_CASE, XB_MEMORY_DEVICE, test->bytes, offsetof(struct state, ways[0].source));
    xb_take(all, XB_OF_PEER, XB_MEMORY_DEVICE, back, offsetof(struct state, ways[1].source));
    xb_take(all, XB_OF_PEER, XB_MEMORY_DEVICE, test->bytes, offsetof(struct state, ways[0].target));
    xb_take(all, XB_OF_CASE, XB_MEMORY_DEVICE, back, offsetof(struct state, ways[1].target));
    xb_take(all, XB_FIXED, memory, ring, offsetof(struct state, ways[0].ring));
    xb_take(all, XB_FIXED, memory, back > 0 ? ring : 0, offsetof(struct state, ways[1].ring));
}

static enum xb_status check_variant(const struct xb_case *test, struct xb_error *error)
{
    if (!xb_case_is(test, &xb_option_by, "read") && !xb_case_is(test, &xb_option_by, "write"))
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                   "peer copies: kernels that only read or only write are of the mode local");
}

static enum xb_status check_options(const struct xb_case *test, struct xb_error *error)
{
    if (xb_variant_number(test) != PATH_STAGED)
        return XB_OK;
    if (is_by_kernel(test))
        XB_TRY(xb_chunk_check_words(test, is_bulk(test) ? XB_BULK_BYTES : 8, error));
    return xb_chunk_check(test, &xb_option_chunk, test->direction == XB_BIDIR ? 12 : 6, error);
}

static enum xb_status check(const struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_case *test = context->test;
    enum path path = xb_variant_number(test);
    bool both = test->direction == XB_BIDIR;
    if (path == PATH_STAGED)
        return XB_OK;
    if (((path == PATH_READ || both) && !context->destination_reach.can_access) ||
        ((path == PATH_WRITE || both) && !context->source_reach.can_access))
        return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                       "devices %u and %d cannot reach each other's memory directly (peer access "
                       "is not possible between them)",
                       test->device, test->peer);
    return XB_OK;
}

static enum xb_status open_end(struct end *end, struct xb_device *device,
                               struct xb_workspace *workspace, unsigned share,
                               struct xb_error *error)
{
    struct xb_queue **queues = NULL;
    end->device = device;
    XB_TRY(xb_workspace_queues(workspace, (size_t)share + 2, &queues, error));
    end->idle = queues[0];
    memcpy(end->own, queues + share, sizeof end->own);
    return XB_OK;
}

/* A way has one queue, of the device that copies; a staged way has one queue of each device. */
static enum xb_status set_up_way(struct xb_mode_context *context, size_t index,
                                 struct xb_error *error)
{
    struct state *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    struct way *way = &state->ways[index];
    size_t per_way = state->path == PATH_STAGED ? 2 : 1;
    struct xb_queue **queues = &state->queues[index * per_way];
    assert(index < 2);
    way->from = &state->ends[index];
    way->to = &state->ends[1 - index];
    way->seed = context->test->seed + ((unsigned long long)index << 39);
    queues[0] = (state->path == PATH_READ ? way->to : way->from)->own[index];
    if (state->way_count > 1)
        context->spans[context->span_count++] =
            (struct xb_span){.figure = index == 0 ? &bandwidth_there : &bandwidth_back,
                             .first_queue = index * per_way,
                             .queue_count = per_way,
                             .bytes = state->bytes};
    if (state->path != PATH_STAGED)
        return XB_OK;
    queues[1] = way->to->own[index];
    for (int i = 0; i < RING; i++) {
        XB_TRY(backend->event_open(way->from->device, &way->filled[i], error));
        XB_TRY(backend->event_open(way->to->device, &way->emptied[i], error));
    }
    return XB_OK;
}

/* Fills the source of each way, or the target with what is not sent, until a timed copy puts it
 * right. */
static enum xb_status fill(struct xb_mode_context *context, bool targets, struct xb_error *error)
{
    const struct state *state = context->state;
    for (size_t i = 0; i < state->way_count; i++) {
        const struct way *way = &state->ways[i];
        XB_TRY(targets ? xb_proof_fill(way->to->idle, way->target, state->bytes,
                                       xb_proof_after(way->seed), error)
                       : xb_proof_fill(way->from->idle, way->source, state->bytes,
                                       xb_proof_before(way->seed), error));
    }
    return XB_OK;
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    state->path = xb_variant_number(context->test);
    state->by_kernel = is_by_kernel(context->test);
    state->access = is_bulk(context->test) ? XB_ACCESS_BULK : XB_ACCESS_SEQUENTIAL;
    state->bytes = context->test->bytes;
    const bool is_staged = state->path == PATH_STAGED;
    if (is_staged)
        state->chunk = xb_case_setting(context->test, &xb_option_chunk)->count;
    state->way_count = context->test->direction == XB_BIDIR ? 2 : 1;
    context->bytes_moved = state->way_count * state->bytes;
    context->hold = true;
    context->sample_seconds = is_staged ? 0 : XB_FAST_SAMPLE_S;
    /* A staged chunk takes two copies, and two records and two waits to order them. */
    context->operations_per_iteration =
        state->way_count * (is_staged ? 6 * xb_chunk_count(state->bytes, state->chunk) : 1);
    context->queues = state->queues;
    context->queue_count = state->way_count * (is_staged ? 2 : 1);
    XB_TRY(open_end(&state->ends[0], context->device, context->workspace, context->share.number,
                    error));
    XB_TRY(open_end(&state->ends[1], context->peer_device, context->peer_workspace,
                    context->peer_share.number, error));
    XB_TRY(xb_borrow(context, NULL, 0, error));
    for (size_t i = 0; i < state->way_count; i++)
        XB_TRY(set_up_way(context, i, error));
    /* Each device that makes copies has direct access to the one at the other end. */
    for (int i = 0; i < 2 && !is_staged; i++) {
        if (state->way_count == 1 && state->path != (i == 0 ? PATH_WRITE : PATH_READ))
            continue;
        XB_TRY(context->device->backend->peer_open(state->ends[i].device, state->ends[1 - i].device,
                                                   error));
        state->ends[i].opened = true;
    }
    return fill(context, false, error);
}

XB_SUBMIT(prepare, fill, true)

/* Enqueues one copy, by what the case is about. */
static enum xb_status enqueue(const struct xb_mode_context *context, struct xb_queue *queue,
                              struct xb_buffer *target, uint64_t to, struct xb_buffer *source,
                              uint64_t from, uint64_t bytes, struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_backend *backend = queue->device->backend;
    /* In a pair that stages both ways each device has a copy in either. */
    unsigned ways = state->path == PATH_STAGED ? (unsigned)state->way_count : 1;
    if (state->by_kernel)
        return backend->queue_kernel_copy(queue, target, to, source, from, bytes, state->access,
                                          ways * context->kernels_together, error);
    return (state->path == PATH_STAGED ? backend->queue_copy : backend->queue_copy_peer)(
        queue, target, to, source, from, bytes, error);
}

/* Copies one chunk into the ring as soon as its slot there is empty, and out as soon as that is
 * filled. */
static enum xb_status stage_chunk(const struct xb_mode_context *context, const struct way *way,
                                  struct xb_queue *const queues[2], uint64_t index,
                                  struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_backend *backend = way->from->device->backend;
    struct xb_chunk chunk = xb_chunk_at(state->bytes, state->chunk, index);
    size_t slot = index % RING;
    uint64_t at = slot * xb_lesser(state->chunk, state->bytes);
    XB_TRY(backend->queue_wait_event(queues[0], way->emptied[slot], error));
    XB_TRY(
        enqueue(context, queues[0], way->ring, at, way->source, chunk.offset, chunk.bytes, error));
    XB_TRY(backend->event_record(way->filled[slot], queues[0], error));
    XB_TRY(backend->queue_wait_event(queues[1], way->filled[slot], error));
    XB_TRY(
        enqueue(context, queues[1], way->target, chunk.offset, way->ring, at, chunk.bytes, error));
    return backend->event_record(way->emptied[slot], queues[1], error);
}

static enum xb_status submit(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    const bool is_staged = state->path == PATH_STAGED;
    uint64_t chunks = is_staged ? xb_chunk_count(state->bytes, state->chunk) : 1;
    for (uint64_t c = 0; c < chunks; c++)
        for (size_t i = 0; i < state->way_count; i++) {
            const struct way *way = &state->ways[i];
            XB_TRY(is_staged ? stage_chunk(context, way, &state->queues[2 * i], c, error)
                             : enqueue(context, state->queues[i], way->target, 0, way->source, 0,
                                       state->bytes, error));
        }
    return XB_OK;
}

static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    const struct state *state = context->state;
    struct xb_mismatch all = {0};
    struct xb_mismatch windows = {0};
    for (size_t i = 0; i < state->way_count; i++) {
        const struct way *way = &state->ways[i];
        const struct xb_proof_side here = {way->from->idle, way->source, 0};
        const struct xb_proof_side there = {way->to->idle, way->target, 0};
        XB_TRY(xb_proof_check(there.queue, way->target, state->bytes, xb_proof_before(way->seed),
                              &all, error));
        XB_TRY(xb_proof_compare(&here, &there, state->bytes, &windows, error));
    }
    xb_result_detail_text(result, "verified_by", "%s", xb_proof_reader(context->peer_device));
    if (state->path != PATH_STAGED) /* which goes through the host, not over the link */
        xb_pair_add_link(context, result);
    xb_proof_conclude(result, &all, &windows);
    return XB_OK;
}

static void teardown(struct xb_mode_context *context)
{
    struct state *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    for (size_t w = 0; w < XB_SPANS; w++)
        for (int i = 0; i < RING; i++) {
            backend->event_close(state->ways[w].emptied[i]);
            backend->event_close(state->ways[w].filled[i]);
        }
    for (int i = 0; i < 2; i++)
        if (state->ends[i].opened)
            backend->peer_close(state->ends[i].device, state->ends[1 - i].device);
}

const struct xb_mode xb_mode_peer = {
    .name = "peer",
    .summary = "one copy between the memories of two GPUs, direct or staged through the host",
    .description =
        "For every ordered pair of devices, copies a buffer from the first to the second. "
        "direct-read: peer access is on, and the destination fetches the data. direct-write: the "
        "source sends it. staged: in chunks of --chunk through a ring of page-locked host memory, "
        "one device's copy into it overlapping the other's out of it. Each by copy engine or, "
        "with --by kernel, by the device's cores, which load and store every word, or with --by "
        "bulk by their TMA engines. bidir goes "
        "both ways at the same time. No path stands in for another: the direct variants skip a "
        "pair without direct access. The device that makes the first copy has the clock. With "
        "--simultaneous all pairs that begin at one device copy at the same time (one-to-all), "
        "then all that end there (all-to-one), then all pairs (all-to-all), each between its own "
        "buffers; staged ones do not.",
    .calls = "cudaDeviceEnablePeerAccess() and cudaMemcpyPeerAsync() (hipDeviceEnablePeerAccess, "
             "hipMemcpyPeerAsync), or a kernel that uses the other GPU's pointer. PyTorch: "
             "tensor.to('cuda:1').",
    XB_ALL_BY_DEFAULT(XB_D2D | XB_BIDIR),
    .pairs = true,
    .simultaneous = true,
    .only_alone = "staged",
    .variant_option = &option_path,
    .transfers = {.by_engine = "direct-write", .by_kernel = "direct-write"},
    .names = XB_NAMES({"direct-read", "peer, direct read"}, {"direct-write", "peer, direct write"},
                      {"staged", "peer, through the host"}),
    .options = XB_OPTIONS(&option_path, &xb_option_by, &xb_option_pairs, &xb_option_chunk),
    .parameters = XB_PARAMETERS({&xb_option_by, NULL}, {&xb_option_chunk, "staged"}),
    .figures = XB_FIGURES(&bandwidth_there, &bandwidth_back),
    .reading = xb_peer_reading,
    .answer = xb_peer_answer,
    XB_HOOKS(struct state, buffers, setup, prepare, submit, verify),
    .capabilities = capabilities,
    .check_options = check_options,
    .check_variant = check_variant,
    .check = check,
    .teardown = teardown,
};
