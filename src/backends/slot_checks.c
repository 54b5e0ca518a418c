/* SPDX-License-Identifier: Apache-2.0 */
#include "slot_checks.h"

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

static enum xb_status check_range(const struct xb_buffer *buffer, uint64_t offset, uint64_t bytes,
                                  const char *what, struct xb_error *error)
{
    return REQUIRE(offset <= buffer->bytes && bytes <= buffer->bytes - offset, error,
                   "the %s's range of %llu bytes at %llu leaves its buffer of %llu bytes", what,
                   (unsigned long long)bytes, (unsigned long long)offset,
                   (unsigned long long)buffer->bytes);
}

static enum xb_status check_both_ranges(const struct xb_buffer *target, uint64_t target_offset,
                                        const struct xb_buffer *source, uint64_t source_offset,
                                        uint64_t bytes, struct xb_error *error)
{
    XB_TRY(check_range(target, target_offset, bytes, "target", error));
    return check_range(source, source_offset, bytes, "source", error);
}

/* Refuses a copy within one buffer whose sides have bytes in common. */
static enum xb_status check_apart(const struct xb_buffer *target, uint64_t target_offset,
                                  uint64_t target_bytes, const struct xb_buffer *source,
                                  uint64_t source_offset, uint64_t source_bytes,
                                  struct xb_error *error)
{
    bool apart = target_offset > source_offset ? target_offset - source_offset >= source_bytes
                                               : source_offset - target_offset >= target_bytes;
    return REQUIRE(target != source || apart, error,
                   "a copy of %llu bytes from %llu to %llu of one buffer overlaps itself",
                   (unsigned long long)source_bytes, (unsigned long long)source_offset,
                   (unsigned long long)target_offset);
}

enum xb_status xb_copy_check(const struct xb_queue *queue, const struct xb_buffer *target,
                             uint64_t target_offset, const struct xb_buffer *source,
                             uint64_t source_offset, uint64_t bytes, struct xb_error *error)
{
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
    XB_TRY(check_apart(target, target_offset, bytes, source, source_offset, bytes, error));
    return check_both_ranges(target, target_offset, source, source_offset, bytes, error);
}

enum xb_status xb_device_range_check(const struct xb_buffer *buffer, uint64_t bytes,
                                     struct xb_error *error)
{
    XB_TRY(REQUIRE(buffer->memory == XB_MEMORY_DEVICE || buffer->memory == XB_MEMORY_MANAGED, error,
                   "%s memory is not the device's to fill or check",
                   xb_memory_name(buffer->memory)));
    return check_range(buffer, 0, bytes, "buffer", error);
}

/* Kernels access memory in words. */
static enum xb_status check_offset(uint64_t offset, struct xb_error *error)
{
    return REQUIRE(offset % 8 == 0, error, "a kernel's range begins at %llu, not at a whole word",
                   (unsigned long long)offset);
}

static enum xb_status check_in_reach(const struct xb_queue *queue, const struct xb_buffer *buffer,
                                     struct xb_error *error)
{
    return REQUIRE(
        xb_memory_in_reach(buffer->memory, queue->device) && buffer->device == queue->device, error,
        "a kernel of device %u cannot touch %s memory of device %u", queue->device->info.index,
        xb_memory_name(buffer->memory), buffer->device->info.index);
}

/* Allows another device's memory too: only the runtime knows whether access to that is open. */
static enum xb_status check_in_any_reach(const struct xb_queue *queue,
                                         const struct xb_buffer *buffer, struct xb_error *error)
{
    if (buffer->memory == XB_MEMORY_DEVICE || buffer->memory == XB_MEMORY_MAPPED)
        return XB_OK;
    return check_in_reach(queue, buffer, error);
}

enum xb_status xb_kernel_copy_check(const struct xb_queue *queue, const struct xb_buffer *target,
                                    uint64_t target_offset, const struct xb_buffer *source,
                                    uint64_t source_offset, uint64_t bytes, struct xb_error *error)
{
    XB_TRY(check_in_any_reach(queue, target, error));
    XB_TRY(check_in_any_reach(queue, source, error));
    XB_TRY(check_offset(target_offset, error));
    XB_TRY(check_offset(source_offset, error));
    return check_both_ranges(target, target_offset, source, source_offset, bytes, error);
}

enum xb_status xb_compute_check(const struct xb_queue *queue, const struct xb_buffer *buffer,
                                uint64_t offset, uint64_t bytes, struct xb_error *error)
{
    XB_TRY(check_in_reach(queue, buffer, error));
    XB_TRY(check_offset(offset, error));
    return check_range(buffer, offset, bytes, "buffer", error);
}

enum xb_status xb_digest_check(const struct xb_queue *queue, const struct xb_buffer *buffer,
                               uint64_t offset, uint64_t bytes, const struct xb_buffer *target,
                               uint64_t target_offset, struct xb_error *error)
{
    const struct xb_buffer *const ends[] = {buffer, target};
    const uint64_t offsets[] = {offset, target_offset};
    for (size_t i = 0; i < 2; i++) {
        XB_TRY(REQUIRE(ends[i]->memory == XB_MEMORY_DEVICE, error,
                       "a digest is made of device memory and written to it, not %s memory",
                       xb_memory_name(ends[i]->memory)));
        XB_TRY(check_in_reach(queue, ends[i], error));
        XB_TRY(check_offset(offsets[i], error));
    }
    XB_TRY(check_range(buffer, offset, bytes, "buffer", error));
    XB_TRY(check_range(target, target_offset, 8, "digest", error));
    return check_apart(target, target_offset, 8, buffer, offset, bytes, error);
}

enum xb_status xb_file_read_check(const struct xb_file *file, const struct xb_buffer *buffer,
                                  uint64_t offset, uint64_t bytes, struct xb_error *error)
{
    XB_TRY(REQUIRE(buffer->memory == XB_MEMORY_DEVICE && buffer->device == file->device, error,
                   "device %u reads files to its own device memory, not to %s memory of device %u",
                   file->device->info.index, xb_memory_name(buffer->memory),
                   buffer->device->info.index));
    return check_range(buffer, offset, bytes, "buffer", error);
}

enum xb_status xb_chain_check(const struct xb_queue *queue, const struct xb_buffer *buffer,
                              uint64_t bytes, struct xb_error *error)
{
    XB_TRY(REQUIRE(buffer->memory == XB_MEMORY_DEVICE || buffer->memory == XB_MEMORY_MAPPED, error,
                   "a chain lies in device or mapped memory, not in %s",
                   xb_memory_name(buffer->memory)));
    XB_TRY(check_in_reach(queue, buffer, error));
    XB_TRY(REQUIRE(bytes >= XB_CHAIN_LINE, error, "a chain needs a line of %llu bytes, not %llu",
                   XB_CHAIN_LINE, (unsigned long long)bytes));
    return check_range(buffer, 0, bytes, "chain", error);
}

enum xb_status xb_chase_check(const struct xb_queue *queue, const struct xb_buffer *chain,
                              const struct xb_buffer *cursor, struct xb_error *error)
{
    XB_TRY(REQUIRE(cursor->memory == XB_MEMORY_DEVICE, error,
                   "a cursor lies in device memory, not in %s memory",
                   xb_memory_name(cursor->memory)));
    XB_TRY(check_in_reach(queue, cursor, error));
    XB_TRY(check_range(cursor, 0, 8, "cursor", error));
    if (chain->memory == XB_MEMORY_DEVICE && chain->device != queue->device)
        return check_range(chain, 0, XB_CHAIN_LINE, "chain", error);
    return xb_chain_check(queue, chain, XB_CHAIN_LINE, error);
}

enum xb_status xb_prefetch_check(const struct xb_buffer *buffer, uint64_t bytes,
                                 struct xb_error *error)
{
    XB_TRY(REQUIRE(buffer->memory == XB_MEMORY_MANAGED, error,
                   "only managed memory can be prefetched, not %s",
                   xb_memory_name(buffer->memory)));
    return check_range(buffer, 0, bytes, "buffer", error);
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
    return check_both_ranges(target, target_offset, source, source_offset, bytes, error);
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
        XB_TRY(REQUIRE(piece->bytes > 0, error, "the piece at %llu of the target is empty",
                       piece->target_offset));
        XB_TRY(check_both_ranges(target, piece->target_offset, source, piece->source_offset,
                                 piece->bytes, error));
        XB_TRY(check_apart(target, piece->target_offset, piece->bytes, source, piece->source_offset,
                           piece->bytes, error));
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
                                      struct xb_error *error)
{
    XB_TRY(check_made_for(queue, list->device, "list of pieces", error));
    return xb_kernel_copy_check(queue, list->target, 0, list->source, 0, 0, error);
}

enum xb_status xb_graph_check(const struct xb_queue *queue, const struct xb_graph *graph,
                              struct xb_error *error)
{
    return check_made_for(queue, graph->device, "graph", error);
}

/* Finds how many bytes lie from the first of the first row to the last of the last one. */
static enum xb_status find_span(const struct xb_rows *rows, uint64_t bytes, uint64_t count,
                                const char *what, uint64_t *span, struct xb_error *error)
{
    XB_TRY(REQUIRE(rows->pitch >= bytes, error,
                   "the %s's rows of %llu bytes begin every %llu bytes: they overlap", what,
                   (unsigned long long)bytes, (unsigned long long)rows->pitch));
    XB_TRY(check_range(rows->buffer, rows->offset, bytes, what, error));
    *span = 0;
    if (bytes == 0 || count == 0)
        return XB_OK;
    uint64_t behind = rows->buffer->bytes - rows->offset - bytes;
    XB_TRY(REQUIRE(count - 1 <= behind / rows->pitch, error,
                   "the %s's %llu rows of %llu bytes, one every %llu bytes from %llu on, leave its "
                   "buffer of %llu bytes",
                   what, (unsigned long long)count, (unsigned long long)bytes,
                   (unsigned long long)rows->pitch, (unsigned long long)rows->offset,
                   (unsigned long long)rows->buffer->bytes));
    *span = (count - 1) * rows->pitch + bytes;
    return XB_OK;
}

enum xb_status xb_rows_check(const struct xb_queue *queue, const struct xb_rows *target,
                             const struct xb_rows *source, uint64_t bytes, uint64_t count,
                             struct xb_error *error)
{
    uint64_t target_span = 0, source_span = 0;
    XB_TRY(xb_copy_check(queue, target->buffer, 0, source->buffer, 0, 0, error));
    XB_TRY(find_span(target, bytes, count, "target", &target_span, error));
    XB_TRY(find_span(source, bytes, count, "source", &source_span, error));
    return check_apart(target->buffer, target->offset, target_span, source->buffer, source->offset,
                       source_span, error);
}

enum xb_status xb_decode_check(const struct xb_queue *queue, const struct xb_decoding *decoding,
                               struct xb_error *error)
{
    XB_TRY(REQUIRE((unsigned)decoding->format < XB_FORMATS, error, "there is no format %u",
                   (unsigned)decoding->format));
    const struct {
        const struct xb_buffer *buffer;
        uint64_t offset, bytes;
        const char *what;
    } ranges[] = {
        {decoding->target, decoding->target_offset, decoding->bytes, "target"},
        {decoding->source, decoding->source_offset, decoding->source_bytes, "source"},
        {decoding->report, 0, sizeof(struct xb_decode_report), "report"},
    };
    for (size_t i = 0; i < 3; i++) {
        const struct xb_buffer *buffer = ranges[i].buffer;
        XB_TRY(check_in_reach(queue, buffer, error));
        XB_TRY(check_range(buffer, ranges[i].offset, ranges[i].bytes, ranges[i].what, error));
        XB_TRY(REQUIRE(ranges[i].offset % XB_FORMAT_ALIGNMENT == 0, error,
                       "the %s begins at %llu, not at a multiple of %u", ranges[i].what,
                       (unsigned long long)ranges[i].offset, XB_FORMAT_ALIGNMENT));
    }
    for (size_t i = 0; i < 3; i++) {
        size_t next = (i + 1) % 3;
        uint64_t begin = ranges[i].offset;
        uint64_t other = ranges[next].offset;
        bool apart =
            begin < other ? other - begin >= ranges[i].bytes : begin - other >= ranges[next].bytes;
        XB_TRY(REQUIRE(ranges[i].buffer != ranges[next].buffer || apart, error,
                       "the %s and the %s have bytes in common", ranges[i].what,
                       ranges[next].what));
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
