/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Queues and events of the fake backend: what they do in the host backend, in virtual time. */
#include "fake_internal.h"

#include "backends/slot_checks.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- virtual time ---- */

/* The time of every queue and event that is open, by address: a table in which each stands where
 * its address says, or behind that. Only the test's thread comes here. */
#define CLOCKS (1u << 17) /* many more than there are ever, so that some places are free */
static struct {
    const void *object;
    double time;
    unsigned number; /* of a queue: 1 for the first of its device */
} clocks[CLOCKS];

static unsigned queue_numbers[XB_FAKE_MAX_DEVICES]; /* of each device's latest queue */

void xb_fake_number_queues_anew(unsigned device)
{
    queue_numbers[device % XB_FAKE_MAX_DEVICES] = 0;
}

static size_t home_of(const void *object)
{
    return (size_t)(((uintptr_t)object >> 4) * 2654435761u % CLOCKS);
}

static size_t clock_of(const void *object)
{
    size_t place = home_of(object);
    while (clocks[place].object != NULL && clocks[place].object != object)
        place = (place + 1) % CLOCKS;
    if (clocks[place].object == NULL) {
        clocks[place].object = object;
        clocks[place].time = 0;
        clocks[place].number = 1;
    }
    return place;
}

/* Those behind it may stand there only because this place was taken: they move up. */
static void forget_clock(const void *object)
{
    if (object == NULL)
        return;
    size_t gap = clock_of(object);
    for (size_t i = (gap + 1) % CLOCKS; clocks[i].object != NULL; i = (i + 1) % CLOCKS) {
        size_t from_home = (i - home_of(clocks[i].object)) % CLOCKS;
        if (from_home < (i - gap) % CLOCKS)
            continue;
        clocks[gap] = clocks[i];
        gap = i;
    }
    clocks[gap].object = NULL;
}

/* When the caller goes on: what it enqueues cannot begin before. It waits for queues only. */
static double host_time;

double xb_fake_host_time(void)
{
    return host_time;
}

/* When each hardware queue of each device is done with what was enqueued. */
static double hardware_time[XB_FAKE_MAX_DEVICES][XB_FAKE_MAX_DEVICES];

void xb_fake_begin_time(void)
{
    host_time = 0;
    memset(hardware_time, 0, sizeof hardware_time);
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* When the hardware queue that carries this one is done; NULL where each has one of its own. */
static double *hardware_time_of(const struct xb_queue *queue)
{
    unsigned device = queue->device->info.index % XB_FAKE_MAX_DEVICES;
    unsigned number = clocks[clock_of(queue)].number;
    if (xb_fake.hardware_queues == 0)
        return NULL;
    return &hardware_time[device][number % xb_fake.hardware_queues % XB_FAKE_MAX_DEVICES];
}

/* When the queue's next operation begins. */
static double begin_of(const struct xb_queue *queue)
{
    const double *hardware = hardware_time_of(queue);
    double ready = later(clocks[clock_of(queue)].time, host_time);
    return hardware != NULL ? later(ready, *hardware) : ready;
}

/* The queue is done with its latest operation then. */
static void end_at(const struct xb_queue *queue, double time)
{
    double *hardware = hardware_time_of(queue);
    clocks[clock_of(queue)].time = time;
    if (hardware != NULL)
        *hardware = time;
}

/* How many operations each device was given since its queue was held, and whether it is. */
static unsigned behind_hold[XB_FAKE_MAX_DEVICES];
static bool is_held[XB_FAKE_MAX_DEVICES];

/* Time that an operation takes on its device's first queue, beside what every operation takes. */
void xb_fake_pass_time(const struct xb_queue *queue, double seconds)
{
    static uint32_t number; /* of the operation */
    unsigned times = xb_fake.queues_are_alike ? 1 : clocks[clock_of(queue)].number;
    unsigned device = queue->device->info.index % XB_FAKE_MAX_DEVICES;
    if (is_held[device] && ++behind_hold[device] > xb_fake.most_behind_hold)
        xb_fake.most_behind_hold = behind_hold[device];
    if (xb_fake.varies)
        seconds *= 1 + (number++ * 2654435761u >> 28) * 1e-4;
    end_at(queue, begin_of(queue) + (xb_fake.operation_s + seconds) * times);
}

static enum xb_status open_queue(struct xb_device *device, bool blocks, struct xb_queue **queue,
                                 struct xb_error *error)
{
    ENTER(queue_open);
    enum xb_status status = (blocks ? xb_host_backend.queue_open_blocking
                                    : xb_host_backend.queue_open)(device, queue, error);
    if (status == XB_OK)
        clocks[clock_of(*queue)].number = ++queue_numbers[device->info.index % XB_FAKE_MAX_DEVICES];
    return status;
}

enum xb_status xb_fake_queue_open(struct xb_device *device, struct xb_queue **queue,
                                  struct xb_error *error)
{
    return open_queue(device, false, queue, error);
}

enum xb_status xb_fake_queue_open_blocking(struct xb_device *device, struct xb_queue **queue,
                                           struct xb_error *error)
{
    return open_queue(device, true, queue, error);
}

void xb_fake_queue_close(struct xb_queue *queue)
{
    forget_clock(queue);
    xb_host_backend.queue_close(queue);
}

/* ---- operations ---- */

/* Device memory is the host's here, so any queue reaches it. */
static enum xb_status move_between_peers(struct xb_queue *queue, struct xb_buffer *target,
                                         uint64_t to, struct xb_buffer *source, uint64_t from,
                                         uint64_t bytes, struct xb_error *error)
{
    XB_TRY(xb_peer_copy_check(queue, target, to, source, from, bytes, error));
    return xb_host_queue_move(queue, (char *)xb_host_buffer_address(target) + to,
                              (const char *)xb_host_buffer_address(source) + from, bytes, error);
}

/* Nothing moves: both sides have the same memory. */
static enum xb_status prefetch(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                               bool to_device, struct xb_error *error)
{
    (void)queue;
    (void)to_device;
    return xb_prefetch_check(buffer, bytes, error);
}

/* What the host backend would be with peers and managed memory, in real time and without faults. */
const struct xb_backend xb_fake_plain = {.queue_copy = xb_host_queue_copy,
                                         .queue_fill = xb_host_queue_fill,
                                         .queue_prefetch = prefetch,
                                         .queue_copy_peer = move_between_peers,
                                         .pieces_open = xb_host_pieces_open,
                                         .pieces_close = xb_host_pieces_close,
                                         .queue_copy_pieces = xb_host_queue_copy_pieces,
                                         .queue_kernel_pieces = xb_host_queue_kernel_pieces,
                                         .graph_open = xb_host_graph_open,
                                         .graph_close = xb_host_graph_close,
                                         .queue_graph = xb_host_queue_graph,
                                         .queue_copy_rows = xb_host_queue_copy_rows,
                                         .file_read = xb_host_file_read,
                                         XB_KERNEL_SLOTS(XB_FILL_SLOT, xb_)};

static void flip_bit(const struct xb_host_work *work)
{
    *(unsigned char *)work->base.target ^= (unsigned char)work->base.times;
}

enum xb_status xb_fake_flip_bit(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t offset,
                                struct xb_error *error)
{
    /* What is sent in and out again must not be put right by the same flip twice. */
    const struct xb_host_work work = {
        .run = flip_bit,
        .base.target = (char *)xb_host_buffer_address(buffer) + offset,
        .base.times = buffer->memory == XB_MEMORY_DEVICE ? 0x10 : 0x20};
    return xb_host_queue_enqueue(queue, &work, error);
}

void xb_fake_note_memory(const struct xb_buffer *target, const struct xb_buffer *source,
                         uint64_t bytes)
{
    const struct xb_buffer *host = target->memory == XB_MEMORY_DEVICE ? source : target;
    if (bytes >= XB_DAMAGE_LEAST)
        xb_fake.copied_memory |= 1u << host->memory;
    if (target->memory != source->memory)
        xb_fake.pcie_bytes[host == target] += xb_fake.pcie_overhead * (double)bytes;
}

enum xb_status xb_fake_queue_copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                  struct xb_buffer *source, uint64_t from, uint64_t bytes,
                                  struct xb_error *error)
{
    ENTER(queue_copy);
    xb_fake_pass_time(queue, (double)bytes * XB_FAKE_SECONDS_PER_BYTE);
    xb_fake_note_memory(target, source, bytes);
    enum xb_status status = xb_damage_queue_copy(queue, target, to, source, from, bytes, error);
    return status == XB_OK && xb_host_queue_blocks(queue) ? xb_fake_queue_wait(queue, error)
                                                          : status;
}

enum xb_status xb_fake_queue_fill(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                  struct xb_pattern pattern, struct xb_error *error)
{
    ENTER(queue_fill);
    return xb_fake_plain.queue_fill(queue, buffer, bytes, pattern, error);
}

enum xb_status xb_fake_queue_check(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                   struct xb_pattern pattern, struct xb_mismatch *mismatch,
                                   struct xb_error *error)
{
    ENTER(queue_check);
    enum xb_status status =
        xb_host_backend.queue_check(queue, buffer, bytes, pattern, mismatch, error);
    if (status == XB_OK && xb_fake.check_is_blind)
        *mismatch = (struct xb_mismatch){0};
    return status;
}

/* The other device whose memory a kernel touches; NULL for none. */
static const struct xb_device *peer_of(const struct xb_queue *queue, const struct xb_buffer *target,
                                       const struct xb_buffer *source)
{
    const struct xb_buffer *const buffers[] = {target, source};
    for (size_t i = 0; i < 2; i++)
        if (buffers[i]->memory == XB_MEMORY_DEVICE && buffers[i]->device != queue->device)
            return buffers[i]->device;
    return NULL;
}

/* A GPU says so when the queue is waited for, and is lost then. */
static enum xb_status check_access(const struct xb_queue *queue, const struct xb_device *peer,
                                   struct xb_error *error)
{
    if (peer == NULL || xb_fake_peer_is_open(queue->device, peer))
        return XB_OK;
    return XB_FAIL(error, XB_ERR_RUNTIME, "device %u has no access to the memory of device %u",
                   queue->device->info.index, peer->info.index);
}

enum xb_status xb_fake_queue_kernel_copy(struct xb_queue *queue, struct xb_buffer *target,
                                         uint64_t to, struct xb_buffer *source, uint64_t from,
                                         uint64_t bytes, enum xb_access access, unsigned together,
                                         struct xb_error *error)
{
    const struct xb_device *peer = peer_of(queue, target, source);
    if (xb_fake_fails("queue_kernel_copy", error) || check_access(queue, peer, error) != XB_OK)
        return error->status;
    xb_fake_pass_time(queue, (double)bytes * (peer != NULL ? XB_FAKE_PEER_SECONDS_PER_BYTE
                                                           : XB_FAKE_SECONDS_PER_BYTE));
    xb_fake_note_memory(target, source, bytes);
    if (bytes >= XB_DAMAGE_LEAST)
        xb_fake.kernel_access |= 1u << access;
    if (together > xb_fake.kernels_together)
        xb_fake.kernels_together = together;
    return xb_damage_queue_kernel_copy(queue, target, to, source, from, bytes, access, together,
                                       error);
}

/* All steps at once: in virtual time a mode may ask for as many as a GPU takes. */
static void leap(const struct xb_host_work *work)
{
    struct xb_compute_leap by = xb_compute_leap_of(work->base.times);
    char *target = work->base.target;
    for (uint64_t left = work->base.bytes; left >= 8; left -= 8, target += 8) {
        unsigned long long word;
        memcpy(&word, target, 8);
        word = word * by.factor + by.addend;
        memcpy(target, &word, 8);
    }
}

static enum xb_status enqueue_kernel(struct xb_queue *queue, const struct xb_kernel *work,
                                     struct xb_error *error)
{
    const struct xb_host_work leaping = {.run = leap, .base = *work};
    if (work->kind != XB_KERNEL_COMPUTE)
        return xb_host_kernels.enqueue(queue, work, error);
    return xb_fake.compute_is_free ? XB_OK : xb_host_queue_enqueue(queue, &leaping, error);
}

const struct xb_kernels xb_fake_kernels = {xb_host_find_address, enqueue_kernel};

enum xb_status xb_fake_queue_compute(struct xb_queue *queue, struct xb_buffer *buffer,
                                     uint64_t offset, uint64_t bytes, uint64_t steps,
                                     struct xb_error *error)
{
    ENTER(queue_compute);
    xb_fake_pass_time(queue, (double)bytes * (double)steps * XB_FAKE_SECONDS_PER_BYTE_AND_STEP);
    return xb_queue_compute(queue, buffer, offset, bytes, steps, error);
}

enum xb_status xb_fake_queue_chain(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                   enum xb_access access, struct xb_error *error)
{
    ENTER(queue_chain);
    return xb_queue_chain(queue, buffer, bytes, access, error);
}

enum xb_status xb_fake_queue_chase(struct xb_queue *queue, struct xb_buffer *chain,
                                   struct xb_buffer *cursor, uint64_t loads, unsigned turn,
                                   bool bulk, struct xb_error *error)
{
    const struct xb_device *peer = peer_of(queue, chain, cursor);
    double seconds = peer != NULL                        ? XB_FAKE_SECONDS_PER_PEER_LOAD
                     : chain->memory == XB_MEMORY_DEVICE ? XB_FAKE_SECONDS_PER_LOAD
                                                         : XB_FAKE_SECONDS_PER_HOST_LOAD;
    if (xb_fake_fails("queue_chase", error) || check_access(queue, peer, error) != XB_OK)
        return error->status;
    xb_fake_pass_time(queue, (double)loads * seconds);
    xb_fake.kernel_access |= (unsigned)bulk << XB_ACCESS_BULK;
    return xb_damage_queue_chase(queue, chain, cursor, loads, turn, bulk, error);
}

enum xb_status xb_fake_queue_decode(struct xb_queue *queue, const struct xb_decoding *decoding,
                                    struct xb_error *error)
{
    ENTER(queue_decode);
    xb_fake_pass_time(queue, (double)decoding->bytes * XB_FAKE_DECODE_SECONDS_PER_BYTE);
    return xb_damage_queue_decode(queue, decoding, error);
}

enum xb_status xb_fake_queue_digest(struct xb_queue *queue, struct xb_buffer *buffer,
                                    uint64_t offset, uint64_t bytes, bool plain,
                                    struct xb_buffer *target, uint64_t target_offset,
                                    struct xb_error *error)
{
    ENTER(queue_digest);
    xb_fake_pass_time(queue, (double)bytes * XB_FAKE_DIGEST_SECONDS_PER_BYTE);
    bytes -= plain && xb_fake.damage != XB_DAMAGE_NONE ? 8 : 0; /* a word is not read */
    return xb_queue_digest(queue, buffer, offset, bytes, plain, target, target_offset, error);
}

enum xb_status xb_fake_queue_count(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                   uint64_t first, struct xb_error *error)
{
    ENTER(queue_count);
    xb_fake_pass_time(queue, (double)bytes * XB_FAKE_DIGEST_SECONDS_PER_BYTE);
    bytes -= xb_fake.damage != XB_DAMAGE_NONE ? 8 : 0;
    return xb_queue_count(queue, buffer, bytes, first, error);
}

enum xb_status xb_fake_queue_prefetch(struct xb_queue *queue, struct xb_buffer *buffer,
                                      uint64_t bytes, bool to_device, struct xb_error *error)
{
    ENTER(queue_prefetch);
    xb_fake_pass_time(queue, (double)bytes * XB_FAKE_PREFETCH_SECONDS_PER_BYTE);
    xb_fake_note_memory(buffer, buffer, bytes);
    return xb_damage_queue_prefetch(queue, buffer, bytes, to_device, error);
}

enum xb_status xb_fake_queue_copy_peer(struct xb_queue *queue, struct xb_buffer *target,
                                       uint64_t to, struct xb_buffer *source, uint64_t from,
                                       uint64_t bytes, struct xb_error *error)
{
    ENTER(queue_copy_peer);
    unsigned source_index = source->device->info.index;
    unsigned target_index = target->device->info.index;
    bool is_bad = xb_fake.bad_pair.from != xb_fake.bad_pair.to &&
                  xb_fake.bad_pair.from == source_index && xb_fake.bad_pair.to == target_index;
    xb_fake_pass_time(queue, (double)bytes * XB_FAKE_PEER_SECONDS_PER_BYTE *
                                 (is_bad ? xb_fake.bad_pair.slowness : 1));
    if (source_index + 1 == xb_fake.retraining_device ||
        target_index + 1 == xb_fake.retraining_device)
        xb_fake.retrained++;
    /* Whoever makes the copy needs the access: with the other's a runtime may stage it unseen. */
    if (!xb_fake_peer_is_open(queue->device,
                              queue->device == target->device ? source->device : target->device))
        xb_fake.staged_by_runtime = true;
    const enum xb_damage *damage = xb_damager.damage;
    xb_damager.damage = is_bad ? &xb_fake.bad_pair.damage : damage;
    enum xb_status status =
        xb_damage_queue_copy_peer(queue, target, to, source, from, bytes, error);
    xb_damager.damage = damage;
    return status;
}

enum xb_status xb_fake_queue_hold(struct xb_queue *queue, struct xb_error *error)
{
    ENTER(queue_hold);
    xb_fake.holds++;
    behind_hold[queue->device->info.index % XB_FAKE_MAX_DEVICES] = 0;
    is_held[queue->device->info.index % XB_FAKE_MAX_DEVICES] = true;
    end_at(queue, later(begin_of(queue), host_time + XB_FAKE_HOLD_S));
    return xb_host_backend.queue_hold(queue, error);
}

void xb_fake_queue_release(struct xb_queue *queue)
{
    is_held[queue->device->info.index % XB_FAKE_MAX_DEVICES] = false;
    xb_host_backend.queue_release(queue);
}

enum xb_status xb_fake_queue_wait_event(struct xb_queue *queue, struct xb_event *event,
                                        struct xb_error *error)
{
    ENTER(queue_wait_event);
    end_at(queue, later(begin_of(queue), clocks[clock_of(event)].time));
    return xb_host_backend.queue_wait_event(queue, event, error);
}

enum xb_status xb_fake_queue_wait(struct xb_queue *queue, struct xb_error *error)
{
    enum xb_status status = xb_host_backend.queue_wait(queue, error); /* a failed wait waited */
    host_time = later(host_time, clocks[clock_of(queue)].time);
    return xb_fake_fails("queue_wait", error) ? error->status : status;
}

/* ---- events ---- */

enum xb_status xb_fake_event_open(struct xb_device *device, struct xb_event **event,
                                  struct xb_error *error)
{
    return xb_fake_fails("event_open", error) ? error->status
                                              : xb_host_backend.event_open(device, event, error);
}

void xb_fake_event_close(struct xb_event *event)
{
    forget_clock(event);
    xb_host_backend.event_close(event);
}

enum xb_status xb_fake_event_record(struct xb_event *event, struct xb_queue *queue,
                                    struct xb_error *error)
{
    ENTER(event_record);
    if (event->device != queue->device)
        return XB_FAIL(error, XB_ERR_USAGE, "an event of device %u on a queue of device %u",
                       event->device->info.index, queue->device->info.index);
    clocks[clock_of(event)].time = begin_of(queue);
    return xb_host_backend.event_record(event, queue, error);
}

enum xb_status xb_fake_event_wait(struct xb_event *event, struct xb_error *error)
{
    enum xb_status status = xb_host_backend.event_wait(event, error); /* a failed wait waited */
    host_time = later(host_time, clocks[clock_of(event)].time);
    return xb_fake_fails("event_wait", error) ? error->status : status;
}

enum xb_status xb_fake_event_elapsed(struct xb_event *start, struct xb_event *stop, double *seconds,
                                     struct xb_error *error)
{
    double unused = 0; /* the host backend checks that both were reached */
    ENTER(event_elapsed);
    if (start->device != stop->device)
        return XB_FAIL(error, XB_ERR_USAGE, "events of devices %u and %u have no common clock",
                       start->device->info.index, stop->device->info.index);
    enum xb_status status = xb_host_backend.event_elapsed(start, stop, &unused, error);
    if (status == XB_OK)
        *seconds = clocks[clock_of(stop)].time - clocks[clock_of(start)].time;
    return status;
}

/* ---- many copies at once ---- */

/* What a graph's copies cost, and which memory they touch. */
struct fake_graph {
    struct xb_graph base;
    struct xb_graph *damaged;
    const struct xb_buffer *target, *source;
    uint64_t bytes;
};

static void pay(const struct xb_queue *queue, const struct xb_buffer *target,
                const struct xb_buffer *source, uint64_t bytes)
{
    xb_fake_pass_time(queue, (double)bytes * XB_FAKE_SECONDS_PER_BYTE);
    xb_fake_note_memory(target, source, bytes);
}

static void pay_for_list(const struct xb_queue *queue, const struct xb_pieces *list)
{
    pay(queue, list->target, list->source, list->bytes);
    if (list->count > xb_fake.most_pieces)
        xb_fake.most_pieces = list->count;
}

enum xb_status xb_fake_pieces_open(struct xb_device *device, struct xb_buffer *target,
                                   struct xb_buffer *source, const struct xb_piece *pieces,
                                   size_t count, struct xb_pieces **list, struct xb_error *error)
{
    ENTER(pieces_open);
    enum xb_status status =
        xb_damage_pieces_open(device, target, source, pieces, count, list, error);
    xb_fake.lists_open += status == XB_OK;
    return status;
}

void xb_fake_pieces_close(struct xb_pieces *list)
{
    xb_fake.lists_open -= list != NULL;
    xb_damage_pieces_close(list);
}

enum xb_status xb_fake_queue_copy_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                         struct xb_error *error)
{
    ENTER(queue_copy_pieces);
    pay_for_list(queue, list);
    return xb_damage_queue_copy_pieces(queue, list, error);
}

enum xb_status xb_fake_queue_kernel_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                           unsigned blocks, bool bulk, struct xb_error *error)
{
    ENTER(queue_kernel_pieces);
    pay_for_list(queue, list);
    if (xb_fake.more_blocks_are_faster && blocks > 0 && blocks < XB_FAKE_MULTIPROCESSORS)
        xb_fake_pass_time(queue, 1e-3 * (XB_FAKE_MULTIPROCESSORS - blocks));
    xb_fake.piece_blocks = blocks;
    xb_fake.kernel_access |= (unsigned)bulk << XB_ACCESS_BULK;
    return xb_damage_queue_kernel_pieces(queue, list, blocks, bulk, error);
}

enum xb_status xb_fake_graph_open(struct xb_queue *queue, struct xb_pieces *list,
                                  struct xb_graph **graph, struct xb_error *error)
{
    ENTER(graph_open);
    struct fake_graph *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to describe a graph");
    enum xb_status status = xb_damage_graph_open(queue, list, &opened->damaged, error);
    if (status != XB_OK) {
        free(opened);
        return status;
    }
    opened->base.device = queue->device;
    opened->target = list->target;
    opened->source = list->source;
    opened->bytes = list->bytes;
    xb_fake.graphs_open++;
    *graph = &opened->base;
    return XB_OK;
}

void xb_fake_graph_close(struct xb_graph *graph)
{
    if (graph == NULL)
        return;
    xb_fake.graphs_open--;
    xb_damage_graph_close(((struct fake_graph *)graph)->damaged);
    free(graph);
}

enum xb_status xb_fake_queue_graph(struct xb_queue *queue, struct xb_graph *graph,
                                   struct xb_error *error)
{
    const struct fake_graph *enqueued = (const struct fake_graph *)graph;
    ENTER(queue_graph);
    pay(queue, enqueued->target, enqueued->source, enqueued->bytes);
    return xb_damage_queue_graph(queue, enqueued->damaged, error);
}

enum xb_status xb_fake_queue_copy_rows(struct xb_queue *queue, struct xb_rows target,
                                       struct xb_rows source, uint64_t bytes, uint64_t count,
                                       struct xb_error *error)
{
    ENTER(queue_copy_rows);
    pay(queue, target.buffer, source.buffer, bytes * count);
    return xb_damage_queue_copy_rows(queue, target, source, bytes, count, error);
}
