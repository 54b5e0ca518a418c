/* SPDX-License-Identifier: Apache-2.0 */
#include "slot_checks.h"

#include "slots.h"

#include "codecs/codec.h"

/* XB_OK where a call keeps a rule, else XB_ERR_USAGE with the message. */
#define REQUIRE(is_kept, error, ...)                                                               \
    ((is_kept) ? XB_OK : XB_FAIL((error), XB_ERR_USAGE, __VA_ARGS__))

/* The least page of every system that runtimes lock memory on. */
#define PAGE 4096u

enum xb_status xb_register_check(const void *address, uint64_t bytes, struct xb_error *error)
{
    return REQUIRE(address != NULL && (uintptr_t)address % PAGE == 0 && bytes > 0, error,
                   "memory of %llu bytes at %p cannot be page-locked: it begins on no page",
                   (unsigned long long)bytes, address);
}

enum xb_status xb_capability_check(const struct xb_device *device, uint32_t capability,
                                   const char *what, struct xb_error *error)
{
    if ((device->info.capabilities & capability) != 0)
        return XB_OK;
    const char *reason = xb_device_lacks(&device->info, capability);
    return XB_FAIL(error, XB_ERR_UNSUPPORTED, "device %u has %s%s%s", device->info.index, what,
                   reason[0] != '\0' ? ": " : "", reason);
}

/* What a call touches of a buffer, and what messages call that. */
struct part {
    const char *what;
    const struct xb_buffer *buffer;
    uint64_t offset, bytes;
};

static inline enum xb_status check_range(const struct part *part, struct xb_error *error)
{
    const struct xb_buffer *buffer = part->buffer;
    return REQUIRE(part->offset <= buffer->bytes && part->bytes <= buffer->bytes - part->offset,
                   error, "the %s's range of %llu bytes at %llu leaves its buffer of %llu bytes",
                   part->what, (unsigned long long)part->bytes, (unsigned long long)part->offset,
                   (unsigned long long)buffer->bytes);
}
#define CHECK_RANGE(error, ...) check_range(&(const struct part){__VA_ARGS__}, (error))

static inline enum xb_status check_apart(const struct part *one, const struct part *other,
                                         struct xb_error *error)
{
    bool apart = one->offset > other->offset ? one->offset - other->offset >= other->bytes
                                             : other->offset - one->offset >= one->bytes;
    return REQUIRE(one->buffer != other->buffer || apart, error,
                   "the %s at %llu and the %s at %llu of one buffer have bytes in common",
                   one->what, (unsigned long long)one->offset, other->what,
                   (unsigned long long)other->offset);
}

/* Checks what kernels of the queue's device touch, in words. `by_any`: also another device's memory
 * that they may reach: only the runtime knows whether access to that is open. */
static enum xb_status check_kernel(const struct xb_queue *queue, bool by_any,
                                   const struct part *parts, size_t count, struct xb_error *error)
{
    XB_TRY(xb_capability_check(queue->device, XB_CAP_KERNELS, "no kernels", error));
    for (size_t i = 0; i < count; i++) {
        const struct xb_buffer *buffer = parts[i].buffer;
        bool is_shared = buffer->memory == XB_MEMORY_DEVICE || buffer->memory == XB_MEMORY_MAPPED;
        XB_TRY(REQUIRE(
            (by_any && is_shared) || (xb_memory_in_reach(buffer->memory, queue->device) &&
                                      buffer->device == queue->device),
            error, "a kernel of device %u cannot touch %s memory of device %u",
            queue->device->info.index, xb_memory_name(buffer->memory), buffer->device->info.index));
        XB_TRY(REQUIRE(parts[i].offset % 8 == 0, error,
                       "a kernel's range begins at %llu, not at a whole word",
                       (unsigned long long)parts[i].offset));
        XB_TRY(check_range(&parts[i], error));
    }
    return XB_OK;
}
/* Whether kernels of the queue's device can have their engine copy, if that is wanted. */
static enum xb_status check_bulk(const struct xb_queue *queue, bool bulk, struct xb_error *error)
{
    return bulk ? xb_capability_check(queue->device, XB_CAP_BULK, "no bulk copies", error) : XB_OK;
}

#define CHECK_KERNEL(queue, by_any, error, ...)                                                    \
    check_kernel((queue), (by_any), (const struct part[]){__VA_ARGS__},                            \
                 sizeof((const struct part[]){__VA_ARGS__}) / sizeof(struct part), (error))

enum xb_status xb_copy_check(const struct xb_queue *queue, const struct xb_buffer *target,
                             uint64_t target_offset, const struct xb_buffer *source,
                             uint64_t source_offset, uint64_t bytes, struct xb_error *error)
{
    const struct part to = {"target", target, target_offset, bytes};
    const struct part from = {"source", source, source_offset, bytes};
    const struct xb_buffer *const ends[] = {target, source};
    size_t on_device = 0;
    for (size_t i = 0; i < 2; i++) {
        if (ends[i]->memory != XB_MEMORY_DEVICE)
            continue;
        on_device++;
        XB_TRY(REQUIRE(ends[i]->device == queue->device, error,
                       "a queue of device %u does not copy to or from the memory of device %u",
                       queue->device->info.index, ends[i]->device->info.index));
    }
    XB_TRY(REQUIRE(on_device > 0 && target->memory != XB_MEMORY_MANAGED &&
                       source->memory != XB_MEMORY_MANAGED,
                   error,
                   "a copy goes between host and device memory or within the device's, not from %s "
                   "to %s",
                   xb_memory_name(source->memory), xb_memory_name(target->memory)));
    XB_TRY(check_apart(&to, &from, error));
    XB_TRY(check_range(&to, error));
    return check_range(&from, error);
}

enum xb_status xb_peer_copy_check(const struct xb_queue *queue, const struct xb_buffer *target,
                                  uint64_t target_offset, const struct xb_buffer *source,
                                  uint64_t source_offset, uint64_t bytes, struct xb_error *error)
{
    XB_TRY(REQUIRE(
        target->memory == XB_MEMORY_DEVICE && source->memory == XB_MEMORY_DEVICE &&
            target->device != source->device &&
            (queue->device == target->device || queue->device == source->device),
        error, "a peer copy goes between the memories of two devices, one of them the queue's"));
    XB_TRY(CHECK_RANGE(error, "target", target, target_offset, bytes));
    return CHECK_RANGE(error, "source", source, source_offset, bytes);
}

enum xb_status xb_device_range_check(const struct xb_buffer *buffer, uint64_t bytes,
                                     struct xb_error *error)
{
    XB_TRY(REQUIRE(buffer->memory == XB_MEMORY_DEVICE || buffer->memory == XB_MEMORY_MANAGED, error,
                   "%s memory is not the device's to fill or check",
                   xb_memory_name(buffer->memory)));
    return CHECK_RANGE(error, "buffer", buffer, 0, bytes);
}

enum xb_status xb_prefetch_check(const struct xb_buffer *buffer, uint64_t bytes,
                                 struct xb_error *error)
{
    XB_TRY(REQUIRE(buffer->memory == XB_MEMORY_MANAGED, error,
                   "only managed memory can be prefetched, not %s",
                   xb_memory_name(buffer->memory)));
    return CHECK_RANGE(error, "buffer", buffer, 0, bytes);
}

enum xb_status xb_file_read_check(const struct xb_file *file, const struct xb_buffer *buffer,
                                  uint64_t offset, uint64_t bytes, struct xb_error *error)
{
    XB_TRY(REQUIRE(buffer->memory == XB_MEMORY_DEVICE && buffer->device == file->device, error,
                   "device %u reads files to its own device memory, not to %s memory of device %u",
                   file->device->info.index, xb_memory_name(buffer->memory),
                   buffer->device->info.index));
    return CHECK_RANGE(error, "buffer", buffer, offset, bytes);
}

/* Pieces that do not overlap fit in their buffer together. This finds many lists in which they do,
 * and keeps the sum of their bytes from overflowing. */
static enum xb_status check_room(const struct xb_buffer *buffer, uint64_t before, uint64_t bytes,
                                 const char *what, struct xb_error *error)
{
    return REQUIRE(before <= buffer->bytes && bytes <= buffer->bytes - before, error,
                   "pieces overlap: the %s of %llu bytes has no room for all", what,
                   (unsigned long long)buffer->bytes);
}

enum xb_status xb_pieces_check(const struct xb_buffer *target, const struct xb_buffer *source,
                               const struct xb_piece *pieces, size_t count, struct xb_error *error)
{
    uint64_t bytes = 0;
    XB_TRY(REQUIRE(count > 0, error, "a list of pieces has none"));
    for (size_t i = 0; i < count; i++) {
        const struct xb_piece *piece = &pieces[i];
        const struct part to = {"target", target, piece->target_offset, piece->bytes};
        const struct part from = {"source", source, piece->source_offset, piece->bytes};
        XB_TRY(REQUIRE(piece->bytes > 0, error, "the piece at %llu of the target is empty",
                       piece->target_offset));
        XB_TRY(check_range(&to, error));
        XB_TRY(check_range(&from, error));
        XB_TRY(check_apart(&to, &from, error));
        XB_TRY(check_room(target, bytes, piece->bytes, "target", error));
        XB_TRY(check_room(source, bytes, piece->bytes, "source", error));
        bytes += piece->bytes;
    }
    return XB_OK;
}

/* What is made ready for one device is not enqueued on another. */
static enum xb_status check_made_for(const struct xb_queue *queue, const struct xb_device *device,
                                     const char *what, struct xb_error *error)
{
    return REQUIRE(device == queue->device, error,
                   "a queue of device %u does not take a %s of device %u",
                   queue->device->info.index, what, device->info.index);
}

enum xb_status xb_copy_pieces_check(const struct xb_queue *queue, const struct xb_pieces *list,
                                    struct xb_error *error)
{
    XB_TRY(check_made_for(queue, list->device, "list of pieces", error));
    return xb_copy_check(queue, list->target, 0, list->source, 0, 0, error);
}

enum xb_status xb_kernel_pieces_check(const struct xb_queue *queue, const struct xb_pieces *list,
                                      bool bulk, struct xb_error *error)
{
    XB_TRY(check_made_for(queue, list->device, "list of pieces", error));
    XB_TRY(check_bulk(queue, bulk, error));
    return CHECK_KERNEL(queue, true, error, {"target", list->target, 0, 0},
                        {"source", list->source, 0, 0});
}

enum xb_status xb_graph_check(const struct xb_queue *queue, const struct xb_graph *graph,
                              struct xb_error *error)
{
    return check_made_for(queue, graph->device, "graph", error);
}

/* Finds what lies from the first byte of the first row to the last of the last one. */
static enum xb_status find_span(const struct xb_rows *rows, uint64_t bytes, uint64_t count,
                                const char *what, struct part *span, struct xb_error *error)
{
    *span = (struct part){what, rows->buffer, rows->offset, 0};
    XB_TRY(REQUIRE(rows->pitch >= bytes, error,
                   "the %s's rows of %llu bytes begin every %llu bytes: they overlap", what,
                   (unsigned long long)bytes, (unsigned long long)rows->pitch));
    XB_TRY(CHECK_RANGE(error, what, rows->buffer, rows->offset, bytes));
    if (bytes == 0 || count == 0)
        return XB_OK;
    uint64_t behind = rows->buffer->bytes - rows->offset - bytes;
    XB_TRY(REQUIRE(count - 1 <= behind / rows->pitch, error,
                   "the %s's %llu rows of %llu bytes, one every %llu bytes from %llu on, leave its "
                   "buffer of %llu bytes",
                   what, (unsigned long long)count, (unsigned long long)bytes,
                   (unsigned long long)rows->pitch, (unsigned long long)rows->offset,
                   (unsigned long long)rows->buffer->bytes));
    span->bytes = (count - 1) * rows->pitch + bytes;
    return XB_OK;
}

enum xb_status xb_rows_check(const struct xb_queue *queue, const struct xb_rows *target,
                             const struct xb_rows *source, uint64_t bytes, uint64_t count,
                             struct xb_error *error)
{
    struct part to, from;
    XB_TRY(xb_copy_check(queue, target->buffer, 0, source->buffer, 0, 0, error));
    XB_TRY(find_span(target, bytes, count, "target", &to, error));
    XB_TRY(find_span(source, bytes, count, "source", &from, error));
    return check_apart(&to, &from, error);
}

enum xb_status xb_decode_check(const struct xb_queue *queue, const struct xb_decoding *decoding,
                               struct xb_error *error)
{
    XB_TRY(REQUIRE((unsigned)decoding->format < XB_FORMATS, error, "there is no format %u",
                   (unsigned)decoding->format));
    const struct part parts[] = {
        {"target", decoding->target, decoding->target_offset, decoding->bytes},
        {"source", decoding->source, decoding->source_offset, decoding->source_bytes},
        {"report", decoding->report, 0, sizeof(struct xb_decode_report)},
    };
    XB_TRY(check_kernel(queue, false, parts, 3, error));
    for (size_t i = 0; i < 3; i++) {
        XB_TRY(REQUIRE(parts[i].offset % XB_FORMAT_ALIGNMENT == 0, error,
                       "the %s begins at %llu, not at a multiple of %u", parts[i].what,
                       (unsigned long long)parts[i].offset, XB_FORMAT_ALIGNMENT));
        XB_TRY(check_apart(&parts[i], &parts[(i + 1) % 3], error));
    }
    if (!xb_format_is_lossy(decoding->format))
        return XB_OK;
    XB_TRY(REQUIRE(decoding->bytes % 4 == 0, error, "%llu bytes are no whole float32 values",
                   (unsigned long long)decoding->bytes));
    uint64_t bytes = xb_encoded_bound(decoding->format, decoding->bytes);
    return REQUIRE(decoding->source_bytes == bytes, error, "%llu bytes become %llu in %s, not %llu",
                   (unsigned long long)decoding->bytes, (unsigned long long)bytes,
                   xb_format_name(decoding->format), (unsigned long long)decoding->source_bytes);
}

/* ---- kernels ---- */

static enum xb_status find(const struct xb_queue *queue, const struct part *part, char **address,
                           struct xb_error *error)
{
    return queue->device->backend->kernels->find_address(queue->device, part->buffer, part->offset,
                                                         address, error);
}

/* Enqueues the work on these parts of buffers; `from` NULL: it has no source. */
static enum xb_status enqueue(struct xb_queue *queue, struct xb_kernel work, const struct part *to,
                              const struct part *from, struct xb_error *error)
{
    XB_TRY(find(queue, to, &work.target, error));
    if (from != NULL)
        XB_TRY(find(queue, from, &work.source, error));
    return queue->device->backend->kernels->enqueue(queue, &work, error);
}
#define KERNEL(...) ((struct xb_kernel){__VA_ARGS__})

enum xb_status xb_queue_kernel_copy(struct xb_queue *queue, struct xb_buffer *target,
                                    uint64_t target_offset, struct xb_buffer *source,
                                    uint64_t source_offset, uint64_t bytes, enum xb_access access,
                                    unsigned together, struct xb_error *error)
{
    const struct part to = {"target", target, target_offset, bytes};
    const struct part from = {"source", source, source_offset, bytes};
    XB_TRY(CHECK_KERNEL(queue, true, error, to, from));
    XB_TRY(check_bulk(queue, access == XB_ACCESS_BULK, error));
    return enqueue(
        queue,
        KERNEL(.kind = XB_KERNEL_COPY, .bytes = bytes, .access = access, .together = together), &to,
        &from, error);
}

enum xb_status xb_queue_compute(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t offset,
                                uint64_t bytes, uint64_t steps, struct xb_error *error)
{
    const struct part part = {"buffer", buffer, offset, bytes};
    XB_TRY(CHECK_KERNEL(queue, false, error, part));
    return enqueue(queue, KERNEL(.kind = XB_KERNEL_COMPUTE, .bytes = bytes, .times = steps), &part,
                   NULL, error);
}

enum xb_status xb_queue_digest(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t offset,
                               uint64_t bytes, bool plain, struct xb_buffer *target,
                               uint64_t target_offset, struct xb_error *error)
{
    const struct part parts[] = {{"buffer", buffer, offset, bytes},
                                 {"digest", target, target_offset, 8}};
    for (size_t i = 0; i < 2; i++)
        XB_TRY(REQUIRE(parts[i].buffer->memory == XB_MEMORY_DEVICE, error,
                       "a digest is made of device memory and written to it, not %s memory",
                       xb_memory_name(parts[i].buffer->memory)));
    XB_TRY(check_kernel(queue, false, parts, 2, error));
    XB_TRY(check_apart(&parts[1], &parts[0], error));
    return enqueue(queue, KERNEL(.kind = XB_KERNEL_DIGEST, .bytes = bytes, .plain = plain),
                   &parts[1], &parts[0], error);
}

enum xb_status xb_queue_count(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                              uint64_t first, struct xb_error *error)
{
    const struct part part = {"buffer", buffer, 0, bytes};
    XB_TRY(xb_device_range_check(buffer, bytes, error));
    XB_TRY(CHECK_KERNEL(queue, false, error, part));
    return enqueue(queue, KERNEL(.kind = XB_KERNEL_COUNT, .bytes = bytes, .times = first), &part,
                   NULL, error);
}

static enum xb_status check_chain(const struct xb_queue *queue, const struct part *part,
                                  struct xb_error *error)
{
    XB_TRY(REQUIRE(part->buffer->memory == XB_MEMORY_DEVICE ||
                       part->buffer->memory == XB_MEMORY_MAPPED,
                   error, "a chain lies in device or mapped memory, not in %s",
                   xb_memory_name(part->buffer->memory)));
    XB_TRY(REQUIRE(part->bytes >= XB_CHAIN_LINE, error,
                   "a chain needs a line of %llu bytes, not %llu", XB_CHAIN_LINE,
                   (unsigned long long)part->bytes));
    return check_kernel(queue, false, part, 1, error);
}

enum xb_status xb_queue_chain(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                              enum xb_access access, struct xb_error *error)
{
    const struct part part = {"chain", buffer, 0, bytes};
    char *seen = NULL;
    XB_TRY(check_chain(queue, &part, error));
    if (buffer->host_address == NULL)
        return enqueue(queue, KERNEL(.kind = XB_KERNEL_CHAIN, .bytes = bytes, .access = access),
                       &part, NULL, error);
    XB_TRY(find(queue, &part, &seen, error));
    xb_chain_write(buffer->host_address, seen, bytes, access);
    return XB_OK;
}

enum xb_status xb_queue_chase(struct xb_queue *queue, struct xb_buffer *chain,
                              struct xb_buffer *cursor, uint64_t loads, unsigned turn, bool bulk,
                              struct xb_error *error)
{
    const struct part from = {"chain", chain, 0, XB_CHAIN_LINE}, to = {"cursor", cursor, 0, 8};
    XB_TRY(REQUIRE(cursor->memory == XB_MEMORY_DEVICE, error,
                   "a cursor lies in device memory, not in %s memory",
                   xb_memory_name(cursor->memory)));
    XB_TRY(CHECK_KERNEL(queue, false, error, to));
    bool is_others = chain->memory == XB_MEMORY_DEVICE && chain->device != queue->device;
    XB_TRY(is_others ? check_range(&from, error) : check_chain(queue, &from, error));
    XB_TRY(check_bulk(queue, bulk, error));
    return enqueue(queue,
                   KERNEL(.kind = XB_KERNEL_CHASE, .times = loads, .turn = turn, .bulk = bulk), &to,
                   &from, error);
}

enum xb_status xb_queue_decode(struct xb_queue *queue, const struct xb_decoding *decoding,
                               struct xb_error *error)
{
    const struct part to = {"target", decoding->target, decoding->target_offset, 0};
    const struct part from = {"source", decoding->source, decoding->source_offset, 0};
    const struct part report = {"report", decoding->report, 0, 0};
    char *address = NULL;
    XB_TRY(xb_decode_check(queue, decoding, error));
    XB_TRY(find(queue, &report, &address, error));
    return enqueue(queue,
                   KERNEL(.kind = XB_KERNEL_DECODE, .format = decoding->format,
                          .bytes = decoding->bytes, .source_bytes = decoding->source_bytes,
                          .offset = decoding->target_offset, .report = (void *)address),
                   &to, &from, error);
}
