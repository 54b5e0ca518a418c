/* SPDX-License-Identifier: Apache-2.0 */
#include "proof.h"

#include "backends/verify.h"
#include "measure/result.h"

#include <stdio.h>
#include <string.h>

#define WINDOWS 16u
#define WINDOW_BYTES UINT64_C(4096)

struct xb_pattern xb_proof_before(unsigned long long seed)
{
    return (struct xb_pattern){.seed = seed};
}

struct xb_pattern xb_proof_after(unsigned long long seed)
{
    return (struct xb_pattern){.seed = seed, .flip = XB_PATTERN_POISON};
}

struct xb_pattern xb_proof_around(unsigned long long seed)
{
    return (struct xb_pattern){.seed = seed + (1ULL << 38)};
}

enum xb_status xb_copy_and_wait(struct xb_queue *queue, struct xb_buffer *target,
                                uint64_t target_offset, struct xb_buffer *source,
                                uint64_t source_offset, uint64_t bytes, struct xb_error *error)
{
    const struct xb_backend *backend = queue->device->backend;
    XB_TRY(backend->queue_copy(queue, target, target_offset, source, source_offset, bytes, error));
    return backend->queue_wait(queue, error);
}

enum xb_status xb_proof_fill(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                             struct xb_pattern pattern, struct xb_error *error)
{
    const struct xb_backend *backend = queue->device->backend;
    if (buffer->memory != XB_MEMORY_DEVICE) {
        xb_host_fill(buffer->host_address, 0, bytes, pattern);
        return XB_OK;
    }
    XB_TRY(backend->queue_fill(queue, buffer, bytes, pattern, error));
    return backend->queue_wait(queue, error);
}

void xb_proof_add(struct xb_mismatch *found, const struct xb_mismatch *more)
{
    if (more->wrong_bytes == 0)
        return;
    if (found->wrong_bytes == 0)
        found->first_offset = more->first_offset;
    found->wrong_bytes += more->wrong_bytes;
}

void xb_proof_bytes(const void *is, const void *should, uint64_t bytes, uint64_t offset,
                    struct xb_mismatch *found)
{
    const unsigned char *here = is, *there = should;
    uint64_t before = found->wrong_bytes;
    if (memcmp(is, should, bytes) == 0)
        return;
    for (uint64_t i = 0; i < bytes; i++)
        if (here[i] != there[i] && found->wrong_bytes++ == 0)
            found->first_offset = offset + i;
    if (found->wrong_bytes == before && found->wrong_bytes++ == 0)
        found->first_offset = offset;
}

enum xb_status xb_proof_check(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                              struct xb_pattern pattern, struct xb_mismatch *found,
                              struct xb_error *error)
{
    struct xb_mismatch here = {0};
    if (buffer->memory != XB_MEMORY_DEVICE)
        here = xb_host_check(buffer->host_address, 0, bytes, pattern);
    else
        XB_TRY(queue->device->backend->queue_check(queue, buffer, bytes, pattern, &here, error));
    xb_proof_add(found, &here);
    return XB_OK;
}

/* Points *window at bytes of one side, counted from its offset, that the CPU can read: in place, or
 * fetched into `room`. */
static enum xb_status look(const struct xb_proof_side *side, uint64_t start, uint64_t bytes,
                           struct xb_buffer *room, const unsigned char **window,
                           struct xb_error *error)
{
    if (side->buffer->memory != XB_MEMORY_DEVICE) {
        *window = (unsigned char *)side->buffer->host_address + side->offset + start;
        return XB_OK;
    }
    *window = room->host_address;
    return xb_copy_and_wait(side->queue, room, 0, side->buffer, side->offset + start, bytes, error);
}

/* Compares all windows. Each of `room` has room for one window of one side, if that is on a device.
 */
static enum xb_status compare_windows(const struct xb_proof_side *a, const struct xb_proof_side *b,
                                      uint64_t bytes, struct xb_buffer *const room[2],
                                      struct xb_mismatch *found, struct xb_error *error)
{
    uint64_t window = bytes < WINDOW_BYTES ? bytes : WINDOW_BYTES;
    for (unsigned i = 0; i < WINDOWS; i++) {
        uint64_t start = (bytes - window) / (WINDOWS - 1) * i;
        const unsigned char *here = NULL;
        const unsigned char *there = NULL;
        if (i + 1 == WINDOWS)
            start = bytes - window;
        XB_TRY(look(a, start, window, room[0], &here, error));
        XB_TRY(look(b, start, window, room[1], &there, error));
        xb_proof_bytes(there, here, window, start, found);
    }
    return XB_OK;
}

/* Has the device make room for a window of that side, if that is on a device: else *room is NULL.
 */
static enum xb_status make_room(struct xb_device *device, const struct xb_proof_side *side,
                                struct xb_buffer **room, struct xb_error *error)
{
    *room = NULL;
    if (side->buffer->memory != XB_MEMORY_DEVICE)
        return XB_OK;
    return device->backend->buffer_allocate(device, XB_MEMORY_PINNED, WINDOW_BYTES, room, error);
}

enum xb_status xb_proof_compare(const struct xb_proof_side *a, const struct xb_proof_side *b,
                                uint64_t bytes, struct xb_mismatch *found, struct xb_error *error)
{
    struct xb_device *device = a->queue->device;
    struct xb_buffer *room[2] = {NULL, NULL};
    enum xb_status status = make_room(device, a, &room[0], error);
    if (status == XB_OK)
        status = make_room(device, b, &room[1], error);
    if (status == XB_OK)
        status = compare_windows(a, b, bytes, room, found, error);
    for (int i = 0; i < 2; i++)
        device->backend->buffer_free(room[i]);
    return status;
}

enum xb_status xb_proof_check_round(const struct xb_proof_side *side, uint64_t bytes,
                                    struct xb_pattern pattern, uint64_t from,
                                    struct xb_mismatch *found, struct xb_error *error)
{
    struct xb_device *device = side->queue->device;
    struct xb_buffer *room = NULL;
    enum xb_status status = bytes > 0 ? make_room(device, side, &room, error) : XB_OK;
    for (uint64_t start = 0; status == XB_OK && start < bytes; start += WINDOW_BYTES) {
        uint64_t window = bytes - start < WINDOW_BYTES ? bytes - start : WINDOW_BYTES;
        const unsigned char *here = NULL;
        status = look(side, start, window, room, &here, error);
        if (status != XB_OK)
            break;
        struct xb_mismatch more = xb_host_check(here, from + start, window, pattern);
        xb_proof_add(found, &more);
    }
    device->backend->buffer_free(room);
    return status;
}

/* How many words' steps are taken one by one. */
#define SPOTS 16u

void xb_proof_check_steps(const void *source, const void *target, uint64_t bytes, uint64_t steps,
                          struct xb_mismatch *found)
{
    uint64_t words = bytes / 8;
    for (uint64_t i = 0; i < SPOTS && words > 0; i++) {
        uint64_t at = 8 * (i + 1 == SPOTS ? words - 1 : words / SPOTS * i);
        unsigned long long word;
        memcpy(&word, (const char *)source + at, 8);
        for (uint64_t step = 0; step < steps; step++)
            word = xb_compute_step(word);
        if (memcmp(&word, (const char *)target + at, 8) != 0) {
            struct xb_mismatch spot = {.wrong_bytes = 1, .first_offset = at};
            xb_proof_add(found, &spot);
        }
    }
}

const char *xb_proof_reader(const struct xb_device *device)
{
    return (device->info.capabilities & XB_CAP_KERNELS) != 0 ? "device" : "host, by copies back";
}

void xb_proof_conclude(struct xb_result *result, const struct xb_mismatch *all,
                       const struct xb_mismatch *windows)
{
    result->row.verified =
        all->wrong_bytes == 0 && windows->wrong_bytes == 0 ? XB_VERIFIED_TRUE : XB_VERIFIED_FALSE;
    if (all->wrong_bytes != 0)
        snprintf(result->reason, sizeof result->reason,
                 "%llu of %llu bytes are wrong after the copy, the first at %llu",
                 (unsigned long long)all->wrong_bytes, (unsigned long long)result->test.bytes,
                 (unsigned long long)all->first_offset);
    else if (windows->wrong_bytes != 0)
        snprintf(result->reason, sizeof result->reason,
                 "the pattern is right, but the two buffers differ at byte %llu: the check itself "
                 "is broken",
                 (unsigned long long)windows->first_offset);
}

void xb_proof_conclude_steps(struct xb_result *result, const struct xb_buffer *source,
                             const struct xb_buffer *target, uint64_t steps)
{
    const struct xb_case *test = &result->test;
    struct xb_pattern expected = xb_proof_after(test->seed);
    struct xb_mismatch spots = {0};
    expected.steps = steps;
    xb_result_detail_number(result, "compute_steps", (double)steps);
    xb_result_detail_text(result, "verified_by", "host");
    struct xb_mismatch all = xb_host_check(target->host_address, 0, test->bytes, expected);
    xb_proof_check_steps(source->host_address, target->host_address, test->bytes, steps, &spots);
    xb_proof_conclude(result, &all, &spots);
}
