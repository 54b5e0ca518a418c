/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "damaged_backend.h"

enum xb_damage xb_damaged_how;

static const struct xb_backend *inside;
static struct xb_backend table;

static enum xb_status driver_open(struct xb_driver **driver, struct xb_probe *probe,
                                  struct xb_error *error)
{
    enum xb_status status = inside->driver_open(driver, probe, error);
    if (status == XB_OK)
        (*driver)->backend = &table;
    return status;
}

static void driver_close(struct xb_driver *driver)
{
    if (driver != NULL)
        driver->backend = inside;
    inside->driver_close(driver);
}

/* Several operations stand in for one, and as many must fit behind a hold. */
static void describe(struct xb_device_info *info)
{
    info->held_operations /= XB_DAMAGE_OPERATIONS;
}

static enum xb_status device_info(struct xb_driver *driver, unsigned index,
                                  struct xb_device_info *info, struct xb_error *error)
{
    enum xb_status status = inside->device_info(driver, index, info, error);
    if (status == XB_OK)
        describe(info);
    return status;
}

static enum xb_status device_open(struct xb_driver *driver, unsigned index,
                                  struct xb_device **device, struct xb_error *error)
{
    enum xb_status status = inside->device_open(driver, index, device, error);
    if (status != XB_OK)
        return status;
    (*device)->backend = &table;
    describe(&(*device)->info);
    return XB_OK;
}

static void device_close(struct xb_device *device)
{
    if (device != NULL)
        device->backend = inside;
    inside->device_close(device);
}

static void buffer_free(struct xb_buffer *buffer)
{
    xb_damage_forget(buffer);
    inside->buffer_free(buffer);
}

static enum xb_status queue_fill(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                 struct xb_pattern pattern, struct xb_error *error)
{
    xb_damage_note_fill(buffer, bytes, pattern);
    return inside->queue_fill(queue, buffer, bytes, pattern, error);
}

static enum xb_status queue_compute(struct xb_queue *queue, struct xb_buffer *buffer,
                                    uint64_t offset, uint64_t bytes, uint64_t steps,
                                    struct xb_error *error)
{
    xb_damage_note_write(buffer);
    return inside->queue_compute(queue, buffer, offset, bytes, steps, error);
}

static enum xb_status queue_chain(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                  enum xb_access access, struct xb_error *error)
{
    xb_damage_note_write(buffer);
    return inside->queue_chain(queue, buffer, bytes, access, error);
}

static enum xb_status queue_chase(struct xb_queue *queue, struct xb_buffer *chain,
                                  struct xb_buffer *cursor, uint64_t loads, unsigned turn,
                                  struct xb_error *error)
{
    return xb_damage_chase(xb_damaged_how, inside, queue, chain, cursor, loads, turn, error);
}

static enum xb_status queue_copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                 struct xb_buffer *source, uint64_t from, uint64_t bytes,
                                 struct xb_error *error)
{
    const struct xb_damaged_copy copy = {
        inside, queue, target, to, source, from, bytes, XB_DAMAGED_COPY, XB_ACCESS_SEQUENTIAL, 1};
    return xb_damage_copy(xb_damaged_how, &copy, error);
}

static enum xb_status queue_kernel_copy(struct xb_queue *queue, struct xb_buffer *target,
                                        uint64_t to, struct xb_buffer *source, uint64_t from,
                                        uint64_t bytes, enum xb_access access, unsigned together,
                                        struct xb_error *error)
{
    const struct xb_damaged_copy copy = {
        inside, queue, target, to, source, from, bytes, XB_DAMAGED_KERNEL_COPY, access, together};
    return xb_damage_copy(xb_damaged_how, &copy, error);
}

static enum xb_status queue_copy_peer(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                      struct xb_buffer *source, uint64_t from, uint64_t bytes,
                                      struct xb_error *error)
{
    const struct xb_damaged_copy copy = {
        inside, queue, target, to, source, from, bytes, XB_DAMAGED_PEER_COPY, XB_ACCESS_SEQUENTIAL,
        1};
    return xb_damage_copy(xb_damaged_how, &copy, error);
}

static enum xb_status queue_prefetch(struct xb_queue *queue, struct xb_buffer *buffer,
                                     uint64_t bytes, bool to_device, struct xb_error *error)
{
    return xb_damage_prefetch(xb_damaged_how, inside, queue, buffer, bytes, to_device, error);
}

static enum xb_status queue_decode(struct xb_queue *queue, const struct xb_decoding *decoding,
                                   struct xb_error *error)
{
    return xb_damage_decode(xb_damaged_how, inside, queue, decoding, error);
}

static enum xb_status queue_digest(struct xb_queue *queue, struct xb_buffer *buffer,
                                   uint64_t offset, uint64_t bytes, struct xb_buffer *target,
                                   uint64_t target_offset, struct xb_error *error)
{
    xb_damage_note_write(target);
    return inside->queue_digest(queue, buffer, offset, bytes, target, target_offset, error);
}

static enum xb_status file_read(struct xb_file *file, uint64_t file_offset,
                                struct xb_buffer *buffer, uint64_t offset, uint64_t bytes,
                                struct xb_error *error)
{
    return xb_damage_file_read(xb_damaged_how, inside, file, file_offset, buffer, offset, bytes,
                               error);
}

static enum xb_status pieces_open(struct xb_device *device, struct xb_buffer *target,
                                  struct xb_buffer *source, const struct xb_piece *pieces,
                                  size_t count, struct xb_pieces **list, struct xb_error *error)
{
    return xb_damage_pieces_open(inside, device, target, source, pieces, count, list, error);
}

static enum xb_status queue_copy_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                        struct xb_error *error)
{
    return xb_damage_copy_pieces(xb_damaged_how, queue, list, error);
}

static enum xb_status queue_kernel_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                          unsigned blocks, struct xb_error *error)
{
    return xb_damage_kernel_pieces(xb_damaged_how, queue, list, blocks, error);
}

static enum xb_status queue_graph(struct xb_queue *queue, struct xb_graph *graph,
                                  struct xb_error *error)
{
    return xb_damage_graph(xb_damaged_how, queue, graph, error);
}

static enum xb_status queue_copy_rows(struct xb_queue *queue, struct xb_rows target,
                                      struct xb_rows source, uint64_t bytes, uint64_t count,
                                      struct xb_error *error)
{
    return xb_damage_rows(xb_damaged_how, inside, queue, target, source, bytes, count, error);
}

/* Takes the place of a slot that is there: the others have none of it. */
#define WRAP_WITH(slot, function)                                                                  \
    if (inner->slot != NULL)                                                                       \
    table.slot = function
#define WRAP(slot) WRAP_WITH(slot, slot)

const struct xb_backend *xb_damaged_wrap(const struct xb_backend *inner)
{
    inside = inner;
    table = *inner; /* with those slots that need no help, and those that are not there */
    WRAP(driver_open);
    WRAP(driver_close);
    WRAP(device_info);
    WRAP(device_open);
    WRAP(device_close);
    WRAP(buffer_free);
    WRAP(queue_copy);
    WRAP(queue_fill);
    WRAP(queue_kernel_copy);
    WRAP(queue_compute);
    WRAP(queue_chain);
    WRAP(queue_chase);
    WRAP(queue_copy_peer);
    WRAP(queue_prefetch);
    WRAP(queue_decode);
    WRAP(queue_digest);
    WRAP(file_read);
    WRAP(pieces_open);
    WRAP_WITH(pieces_close, xb_damage_pieces_close);
    WRAP(queue_copy_pieces);
    WRAP(queue_kernel_pieces);
    WRAP_WITH(graph_open, xb_damage_graph_open);
    WRAP_WITH(graph_close, xb_damage_graph_close);
    WRAP(queue_graph);
    WRAP(queue_copy_rows);
    return &table;
}
