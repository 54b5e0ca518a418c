/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* The operations of the host backend's queues. A "kernel" is a loop over words in the queue's
 * thread: one core visits them in the order in which a device's threads would. */
#include "host.h"

#include "codecs/codec.h"

#include "backends/slot_checks.h"
#include "backends/verify.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void run_move(const struct xb_host_work *work)
{
    memcpy(work->base.target, work->base.source, work->base.bytes);
}

static void run_fill(const struct xb_host_work *work)
{
    xb_host_fill(work->base.target, 0, work->base.bytes, work->pattern);
}

/* In an order that the compiler knows, so that it is not decided anew for every word. */
static inline __attribute__((always_inline)) void copy_words(const struct xb_kernel *work,
                                                             enum xb_access access)
{
    char *target = work->target;
    const char *source = work->source;
    uint64_t words = work->bytes / 8;
    for (uint64_t turn = 0; turn < words; turn++) {
        uint64_t offset = 8 * xb_access_word(access, words, turn);
        memcpy(target + offset, source + offset, 8);
    }
    memcpy(target + 8 * words, source + 8 * words, work->bytes % 8);
}

static void run_copy(const struct xb_host_work *work)
{
    if (work->base.access == XB_ACCESS_SEQUENTIAL || work->base.access == XB_ACCESS_BULK)
        run_move(work);
    else if (work->base.access == XB_ACCESS_STRIDED)
        copy_words(&work->base, XB_ACCESS_STRIDED);
    else
        copy_words(&work->base, XB_ACCESS_RANDOM);
}

/* Computes every step instead of leaping over them, because the time of the steps is measured. */
static void run_compute(const struct xb_host_work *work)
{
    char *target = work->base.target;
    for (uint64_t left = work->base.bytes; left >= 8; left -= 8, target += 8) {
        unsigned long long word;
        memcpy(&word, target, 8);
        for (uint64_t step = 0; step < work->base.times; step++)
            word = xb_compute_step(word);
        memcpy(target, &word, 8);
    }
}

static void run_digest(const struct xb_host_work *work)
{
    uint64_t digest = xb_digest_memory(work->base.source, work->base.bytes);
    memcpy(work->base.target, &digest, sizeof digest);
}

static void run_sum(const struct xb_host_work *work)
{
    uint64_t sum = 0;
    for (uint64_t at = 0; at < work->base.bytes; at += 8) {
        uint64_t word = 0, left = work->base.bytes - at;
        memcpy(&word, work->base.source + at, left < 8 ? left : 8);
        sum += word;
    }
    memcpy(work->base.target, &sum, sizeof sum);
}

static void run_count(const struct xb_host_work *work)
{
    for (uint64_t i = 0; i < work->base.bytes / 8; i++)
        memcpy(work->base.target + 8 * i, &(uint64_t){work->base.times + i}, 8);
}

static void run_chain(const struct xb_host_work *work)
{
    xb_chain_write(work->base.target, work->base.target, work->base.bytes, work->base.access);
}

static void run_chase(const struct xb_host_work *work)
{
    const char *chain = work->base.source;
    uint64_t *cursor = (uint64_t *)(void *)work->base.target;
    const void *next = chain + *cursor;
    for (uint64_t left = work->base.times; left > 0; left--)
        next = *(const void *const *)next;
    *cursor = (uint64_t)((const char *)next - chain);
}

static void run_decode(const struct xb_host_work *work)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const struct xb_kernel *base = &work->base;
    struct xb_decode_report own = {.first_refused = XB_NONE_REFUSED};
    xb_decode(base->format, base->source, base->source_bytes, base->target, base->bytes,
              base->offset, &own);
    if (own.refused_blocks == 0)
        return;
    /* Queues that decode at the same time may share the report. */
    pthread_mutex_lock(&mutex);
    base->report->refused_blocks += own.refused_blocks;
    if (own.first_refused < base->report->first_refused)
        base->report->first_refused = own.first_refused;
    pthread_mutex_unlock(&mutex);
}

static char *address_at(const struct xb_buffer *buffer, uint64_t offset)
{
    return (char *)xb_host_buffer_address(buffer) + offset;
}

enum xb_status xb_host_find_address(const struct xb_device *device, const struct xb_buffer *buffer,
                                    uint64_t offset, char **address, struct xb_error *error)
{
    (void)device;
    (void)error;
    *address = address_at(buffer, offset);
    return XB_OK;
}

/* Enqueues the work that has these fields. */
#define ENQUEUE(queue, error, ...)                                                                 \
    xb_host_queue_enqueue((queue), &(const struct xb_host_work){__VA_ARGS__}, (error))

/* Each queue has a thread of its own, and Linux says where it runs: `together` and `turn` choose
 * nothing. */
static enum xb_status enqueue_kernel(struct xb_queue *queue, const struct xb_kernel *work,
                                     struct xb_error *error)
{
    static void (*const runs[])(const struct xb_host_work *work) = {
        [XB_KERNEL_COPY] = run_copy,     [XB_KERNEL_COMPUTE] = run_compute,
        [XB_KERNEL_DIGEST] = run_digest, [XB_KERNEL_CHAIN] = run_chain,
        [XB_KERNEL_CHASE] = run_chase,   [XB_KERNEL_DECODE] = run_decode,
        [XB_KERNEL_COUNT] = run_count};
    return ENQUEUE(queue, error, .run = work->plain ? run_sum : runs[work->kind], .base = *work);
}

const struct xb_kernels xb_host_kernels = {xb_host_find_address, enqueue_kernel};

enum xb_status xb_host_queue_move(struct xb_queue *queue, void *target, const void *source,
                                  uint64_t bytes, struct xb_error *error)
{
    return ENQUEUE(queue, error, .run = run_move,
                   .base = {.target = target, .source = (char *)source, .bytes = bytes});
}

enum xb_status xb_host_queue_copy(struct xb_queue *queue, struct xb_buffer *target,
                                  uint64_t target_offset, struct xb_buffer *source,
                                  uint64_t source_offset, uint64_t bytes, struct xb_error *error)
{
    XB_TRY(xb_copy_check(queue, target, target_offset, source, source_offset, bytes, error));
    XB_TRY(xb_host_queue_move(queue, address_at(target, target_offset),
                              address_at(source, source_offset), bytes, error));
    return xb_host_queue_blocks(queue) ? xb_host_queue_wait(queue, error) : XB_OK;
}

enum xb_status xb_host_queue_fill(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                  struct xb_pattern pattern, struct xb_error *error)
{
    XB_TRY(xb_device_range_check(buffer, bytes, error));
    pattern.steps = 0;
    return ENQUEUE(queue, error, .run = run_fill, .pattern = pattern,
                   .base = {.target = address_at(buffer, 0), .bytes = bytes});
}

enum xb_status xb_host_queue_check(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                   struct xb_pattern pattern, struct xb_mismatch *mismatch,
                                   struct xb_error *error)
{
    XB_TRY(xb_device_range_check(buffer, bytes, error));
    XB_TRY(xb_host_queue_wait(queue, error));
    pattern.steps = 0;
    *mismatch = xb_host_check(address_at(buffer, 0), 0, bytes, pattern);
    return XB_OK;
}

/* Many copies at once. A batch, a kernel and a graph do the same: one operation in which the
 * queue's thread copies piece after piece. They save the operations of the single copies. */

/* A graph is such a list too, of its own, so that the one it was made of may be closed before. */
struct host_pieces {
    union {
        struct xb_pieces base;
        struct xb_graph graph;
    };
    struct xb_piece pieces[];
};
_Static_assert(offsetof(struct xb_pieces, device) == offsetof(struct xb_graph, device),
               "a list and a graph begin alike");

enum xb_status xb_host_pieces_open(struct xb_device *device, struct xb_buffer *target,
                                   struct xb_buffer *source, const struct xb_piece *pieces,
                                   size_t count, struct xb_pieces **list, struct xb_error *error)
{
    XB_TRY(xb_pieces_check(target, source, pieces, count, error));
    struct host_pieces *opened = calloc(1, sizeof *opened + count * sizeof *pieces);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a list of %zu pieces", count);
    opened->base =
        (struct xb_pieces){.device = device, .target = target, .source = source, .count = count};
    memcpy(opened->pieces, pieces, count * sizeof *pieces);
    for (size_t i = 0; i < count; i++)
        opened->base.bytes += pieces[i].bytes;
    *list = &opened->base;
    return XB_OK;
}

void xb_host_pieces_close(struct xb_pieces *list)
{
    free(list);
}

static void run_pieces(const struct xb_host_work *work)
{
    char *target = work->base.target;
    const char *source = work->base.source;
    for (uint64_t i = 0; i < work->count; i++)
        memcpy(target + work->pieces[i].target_offset, source + work->pieces[i].source_offset,
               work->pieces[i].bytes);
}

static void run_rows(const struct xb_host_work *work)
{
    char *target = work->base.target;
    const char *source = work->base.source;
    for (uint64_t row = 0; row < work->count; row++)
        memcpy(target + row * work->target_pitch, source + row * work->source_pitch,
               work->base.bytes);
}

static enum xb_status enqueue(struct xb_queue *queue, const struct xb_pieces *list,
                              struct xb_error *error)
{
    return ENQUEUE(
        queue, error, .run = run_pieces, .count = list->count,
        .pieces = ((const struct host_pieces *)list)->pieces,
        .base = {.target = address_at(list->target, 0), .source = address_at(list->source, 0)});
}

enum xb_status xb_host_queue_copy_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                         struct xb_error *error)
{
    XB_TRY(xb_copy_pieces_check(queue, list, error));
    return enqueue(queue, list, error);
}

enum xb_status xb_host_queue_kernel_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                           unsigned blocks, bool bulk, struct xb_error *error)
{
    (void)blocks; /* a queue's thread has one core, whatever is asked for */
    XB_TRY(xb_kernel_pieces_check(queue, list, bulk, error));
    return enqueue(queue, list, error);
}

enum xb_status xb_host_graph_open(struct xb_queue *queue, struct xb_pieces *list,
                                  struct xb_graph **graph, struct xb_error *error)
{
    struct xb_pieces *own = NULL;
    XB_TRY(xb_copy_pieces_check(queue, list, error));
    XB_TRY(xb_host_pieces_open(list->device, list->target, list->source,
                               ((const struct host_pieces *)list)->pieces, list->count, &own,
                               error));
    *graph = &((struct host_pieces *)own)->graph;
    return XB_OK;
}

void xb_host_graph_close(struct xb_graph *graph)
{
    free(graph);
}

enum xb_status xb_host_queue_graph(struct xb_queue *queue, struct xb_graph *graph,
                                   struct xb_error *error)
{
    XB_TRY(xb_graph_check(queue, graph, error));
    return enqueue(queue, &((const struct host_pieces *)graph)->base, error);
}

enum xb_status xb_host_queue_copy_rows(struct xb_queue *queue, struct xb_rows target,
                                       struct xb_rows source, uint64_t bytes, uint64_t count,
                                       struct xb_error *error)
{
    XB_TRY(xb_rows_check(queue, &target, &source, bytes, count, error));
    return ENQUEUE(queue, error, .run = run_rows, .count = count, .target_pitch = target.pitch,
                   .source_pitch = source.pitch,
                   .base = {.target = address_at(target.buffer, target.offset),
                            .source = address_at(source.buffer, source.offset),
                            .bytes = bytes});
}
