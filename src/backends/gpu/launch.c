/* SPDX-License-Identifier: Apache-2.0 */
/* Launches the kernels of kernels.cuh; fills and checks memory also without them. */
#include "gpu.h"

#include "codecs/codec.h"

#include "backends/slot_checks.h"
#include "backends/verify.h"

#include <stdint.h>

/* Filling and checking use at most this many blocks. They fill any GPU, and each block strides over
 * the rest of the memory. */
#define BLOCKS 1024u
/* Copying and computing use many more blocks than run at once, so that none is left alone for long
 * at the end. */
#define TILES_BLOCKS 65536u
/* How many blocks of a copy a multiprocessor has room for at least, whatever the GPU: 1024 threads
 * (compute capability 7.5 has no more), with up to 64 registers each. */
#define ROOM_FOR_BLOCKS 4u

/* How many items one block copies or computes in one turn. */
#define TILE ((uint64_t)XB_GPU_AT_ONCE * XB_GPU_THREADS)

/* Bytes in an item of the wide copy. */
#define WIDE 16u

/* As many blocks as there is work for, but at least one and at most `most`. */
static unsigned blocks_for(uint64_t items, uint64_t items_a_block, unsigned most)
{
    uint64_t blocks = items / items_a_block + (items % items_a_block != 0);
    return blocks == 0 ? 1 : blocks > most ? most : (unsigned)blocks;
}

/* A kernel's u64 is read from a uint64_t. */
_Static_assert(sizeof(uint64_t) == sizeof(unsigned long long), "arguments have the kernels' sizes");

enum xb_status xb_gpu_launch(struct xb_queue *queue, enum xb_gpu_kernel kernel, unsigned blocks,
                             unsigned threads, void **arguments, const char *what,
                             struct xb_error *error)
{
    const struct xb_gpu_device *device = xb_gpu_device_of(queue->device);
    unsigned shared_bytes = kernel == XB_GPU_BULK ? device->bulk_warps * XB_GPU_BULK_BYTES : 0;
    XB_TRY(xb_gpu_select(queue->device, error));
    return XB_GPU_CALL(error, queue->device,
                       launch(device->kernels[kernel], blocks, threads, shared_bytes, arguments,
                              xb_gpu_stream(queue)),
                       "the kernel that %s could not be launched", what);
}

static bool has_kernels(const struct xb_device *device)
{
    return (device->info.capabilities & XB_CAP_KERNELS) != 0;
}

/* Without kernels the host writes or compares the pattern in a window of pinned memory, and copies
 * move it: slower, and the check relies on the copies that it verifies; the rows say so. It still
 * finds memory that was never written, because that does not match the pattern. */
#define WINDOW_BYTES (UINT64_C(4) << 20)

static enum xb_status open_window(const struct xb_queue *queue, struct xb_buffer **window,
                                  struct xb_error *error)
{
    struct xb_gpu_device *device = (struct xb_gpu_device *)queue->device;
    if (device->window == NULL) {
        XB_TRY(xb_gpu_buffer_allocate(queue->device, XB_MEMORY_PINNED, WINDOW_BYTES,
                                      &device->window, error));
    }
    *window = device->window;
    return XB_OK;
}

static uint64_t part_of(uint64_t bytes, uint64_t offset)
{
    return bytes - offset < WINDOW_BYTES ? bytes - offset : WINDOW_BYTES;
}

static enum xb_status fill_by_host(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                   struct xb_pattern pattern, struct xb_error *error)
{
    struct xb_buffer *window = NULL;
    XB_TRY(open_window(queue, &window, error));
    /* Wait for the copy of every part, because the next part overwrites the window. */
    for (uint64_t offset = 0; offset < bytes; offset += WINDOW_BYTES) {
        uint64_t part = part_of(bytes, offset);
        pattern.steps = 0;
        xb_host_fill(window->host_address, offset, part, pattern);
        XB_TRY(xb_gpu_queue_copy(queue, buffer, offset, window, 0, part, error));
        XB_TRY(xb_gpu_queue_wait(queue, error));
    }
    return XB_OK;
}

static enum xb_status check_by_host(struct xb_queue *queue, struct xb_buffer *buffer,
                                    uint64_t bytes, struct xb_pattern pattern,
                                    struct xb_mismatch *mismatch, struct xb_error *error)
{
    struct xb_buffer *window = NULL;
    struct xb_mismatch found = {.wrong_bytes = 0, .first_offset = UINT64_MAX};
    XB_TRY(open_window(queue, &window, error));
    XB_TRY(xb_gpu_queue_wait(queue, error));
    for (uint64_t offset = 0; offset < bytes; offset += WINDOW_BYTES) {
        uint64_t part = part_of(bytes, offset);
        pattern.steps = 0;
        /* Fill the window with wrong bytes first, so that a copy that moves nothing is found. */
        xb_host_fill(
            window->host_address, offset, part,
            (struct xb_pattern){.seed = pattern.seed, .flip = pattern.flip ^ XB_PATTERN_POISON});
        XB_TRY(xb_gpu_queue_copy(queue, window, 0, buffer, offset, part, error));
        XB_TRY(xb_gpu_queue_wait(queue, error));
        struct xb_mismatch in_part = xb_host_check(window->host_address, offset, part, pattern);
        if (in_part.wrong_bytes > 0 && found.wrong_bytes == 0)
            found.first_offset = in_part.first_offset;
        found.wrong_bytes += in_part.wrong_bytes;
    }
    *mismatch = found;
    return XB_OK;
}

enum xb_status xb_gpu_queue_fill(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                 struct xb_pattern pattern, struct xb_error *error)
{
    XB_TRY(xb_device_range_check(buffer, bytes, error));
    if (!has_kernels(queue->device))
        return fill_by_host(queue, buffer, bytes, pattern, error);
    void *memory = xb_gpu_kernel_address(buffer);
    unsigned long long count = bytes;
    void *arguments[] = {&memory, &count, &pattern};
    return xb_gpu_launch(queue, XB_GPU_FILL, blocks_for(bytes / 8, XB_GPU_THREADS, BLOCKS),
                         XB_GPU_THREADS, arguments, "writes the pattern", error);
}

/* Enqueues three steps: reset the result on the device, check, and copy the result to the host. */
static enum xb_status enqueue_check(struct xb_queue *queue, struct xb_buffer *buffer,
                                    uint64_t bytes, struct xb_pattern pattern,
                                    struct xb_error *error)
{
    const struct xb_gpu_device *device = xb_gpu_device_of(queue->device);
    void *memory = xb_gpu_kernel_address(buffer);
    void *result = device->device_result;
    struct xb_gpu_check *host_result = device->host_result;
    unsigned long long count = bytes;
    void *arguments[] = {&memory, &count, &pattern, &result};
    XB_TRY(xb_gpu_select(queue->device, error));
    *host_result = (struct xb_gpu_check){.wrong_bytes = 0, .first_offset = ~0ULL};
    XB_TRY(XB_GPU_CALL(
        error, queue->device,
        copy(result, host_result, sizeof *host_result, XB_GPU_TO_DEVICE, xb_gpu_stream(queue)),
        "the outcome of a check could not be reset"));
    XB_TRY(xb_gpu_launch(queue, XB_GPU_CHECK, blocks_for(bytes / 8, XB_GPU_THREADS, BLOCKS),
                         XB_GPU_THREADS, arguments, "checks the pattern", error));
    return XB_GPU_CALL(
        error, queue->device,
        copy(host_result, result, sizeof *host_result, XB_GPU_TO_HOST, xb_gpu_stream(queue)),
        "the outcome of a check could not be fetched");
}

enum xb_status xb_gpu_queue_check(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                  struct xb_pattern pattern, struct xb_mismatch *mismatch,
                                  struct xb_error *error)
{
    XB_TRY(xb_device_range_check(buffer, bytes, error));
    if (!has_kernels(queue->device))
        return check_by_host(queue, buffer, bytes, pattern, mismatch, error);
    enum xb_status status = enqueue_check(queue, buffer, bytes, pattern, error);
    /* Wait even after a failure, because the next check uses the same memory for its result. */
    struct xb_error wait_error;
    enum xb_status wait_status = xb_gpu_queue_wait(queue, &wait_error);
    if (status != XB_OK)
        return status;
    if (wait_status != XB_OK) {
        *error = wait_error;
        return wait_status;
    }
    const struct xb_gpu_check *result = xb_gpu_device_of(queue->device)->host_result;
    mismatch->wrong_bytes = result->wrong_bytes;
    mismatch->first_offset = result->first_offset;
    return XB_OK;
}

/* Every block of a bulk copy takes a whole multiprocessor. */
static enum xb_status copy_bulk(struct xb_queue *queue, struct xb_kernel *work,
                                struct xb_error *error)
{
    const struct xb_gpu_device *device = xb_gpu_device_of(queue->device);
    void *no_list = NULL;
    unsigned slot = XB_GPU_BULK_BYTES;
    uint64_t slots = work->bytes / slot + (work->bytes % slot != 0);
    unsigned most = device->multiprocessors / (work->together > 1 ? work->together : 1);
    return xb_gpu_launch(
        queue, XB_GPU_BULK, blocks_for(slots, 1, most > 0 ? most : 1),
        device->bulk_warps * XB_GPU_LANES,
        (void *[]){&work->target, &work->source, &no_list, &slots, &slot, &work->bytes}, "copies",
        error);
}

static enum xb_status copy(struct xb_queue *queue, struct xb_kernel *work, struct xb_error *error)
{
    bool wide = (uintptr_t)work->target % WIDE == 0 && (uintptr_t)work->source % WIDE == 0;
    enum xb_gpu_kernel kernel = work->access == XB_ACCESS_STRIDED  ? XB_GPU_COPY_STRIDED
                                : work->access == XB_ACCESS_RANDOM ? XB_GPU_COPY_RANDOM
                                : wide                             ? XB_GPU_COPY_WIDE
                                                                   : XB_GPU_COPY_WORDS;
    unsigned most = TILES_BLOCKS;
    if (work->together > 1) {
        /* A GPU starts the blocks of a second kernel when all those of the first have been started,
         * so several that are to run together must have room all at once. */
        most = ROOM_FOR_BLOCKS * xb_gpu_device_of(queue->device)->multiprocessors / work->together;
        most = most > 0 ? most : 1;
    }
    return xb_gpu_launch(
        queue, kernel,
        blocks_for(work->bytes / (kernel == XB_GPU_COPY_WIDE ? WIDE : 8), TILE, most),
        XB_GPU_THREADS, (void *[]){&work->target, &work->source, &work->bytes}, "copies", error);
}

static enum xb_status decode(struct xb_queue *queue, struct xb_kernel *work, struct xb_error *error)
{
    enum xb_gpu_kernel kernel =
        (enum xb_gpu_kernel)((unsigned)XB_GPU_WIDEN_FP16 + (unsigned)work->format);
    if (xb_format_is_lossy(work->format)) {
        uint64_t values = work->bytes / 4;
        return xb_gpu_launch(queue, kernel, blocks_for(values / 4, TILE, TILES_BLOCKS),
                             XB_GPU_THREADS, (void *[]){&work->source, &work->target, &values},
                             "widens values", error);
    }
    const bool is_lz4 = kernel == XB_GPU_LZ4;
    uint64_t block_bytes = is_lz4 ? XB_LZ4_BLOCK : 4 * XB_FOR_BLOCK;
    unsigned threads = is_lz4 ? XB_GPU_LZ4_THREADS : XB_GPU_THREADS;
    uint64_t blocks = work->bytes / block_bytes + (work->bytes % block_bytes != 0);
    return xb_gpu_launch(queue, kernel, blocks_for(blocks, threads / XB_GPU_LANES, TILES_BLOCKS),
                         threads,
                         (void *[]){&work->source, &work->source_bytes, &work->target, &work->bytes,
                                    &work->offset, &work->report},
                         "decompresses", error);
}

static enum xb_status enqueue(struct xb_queue *queue, const struct xb_kernel *asked,
                              struct xb_error *error)
{
    const unsigned multiprocessors = xb_gpu_device_of(queue->device)->multiprocessors;
    struct xb_kernel work = *asked; /* a runtime takes the addresses of what is not const */
    uint64_t words = work.bytes / 8;
    unsigned block = 0;
    switch (work.kind) {
    case XB_KERNEL_COPY:
        return work.access == XB_ACCESS_BULK ? copy_bulk(queue, &work, error)
                                             : copy(queue, &work, error);
    case XB_KERNEL_COMPUTE:
        return xb_gpu_launch(queue, XB_GPU_COMPUTE, blocks_for(words, TILE, TILES_BLOCKS),
                             XB_GPU_THREADS, (void *[]){&work.target, &words, &work.times},
                             "computes", error);
    case XB_KERNEL_DIGEST:
        /* Clears the target first, by a kernel of one thread: in the order of the queue, and no
         * copy engine is taken from whoever uses it. All blocks run at the same time. */
        XB_TRY(xb_gpu_launch(queue, XB_GPU_CLEAR, 1, 1, (void *[]){&work.target}, "clears a digest",
                             error));
        return xb_gpu_launch(queue, work.plain ? XB_GPU_SUM : XB_GPU_DIGEST,
                             blocks_for(work.bytes / WIDE, TILE, ROOM_FOR_BLOCKS * multiprocessors),
                             XB_GPU_THREADS, (void *[]){&work.source, &work.bytes, &work.target},
                             "makes a digest", error);
    case XB_KERNEL_COUNT:
        return xb_gpu_launch(queue, XB_GPU_COUNT, blocks_for(words / 2, TILE, TILES_BLOCKS),
                             XB_GPU_THREADS, (void *[]){&work.target, &words, &work.times},
                             "numbers words", error);
    case XB_KERNEL_CHAIN:
        return xb_gpu_launch(queue, XB_GPU_CHAIN,
                             blocks_for(work.bytes / XB_CHAIN_LINE, XB_GPU_THREADS, BLOCKS),
                             XB_GPU_THREADS, (void *[]){&work.target, &work.bytes, &work.access},
                             "writes a chain", error);
    case XB_KERNEL_CHASE:
        /* A block a multiprocessor, of which one works. */
        block = work.turn % multiprocessors;
        return xb_gpu_launch(queue, work.bulk ? XB_GPU_CHASE_BULK : XB_GPU_CHASE, multiprocessors,
                             1, (void *[]){&work.source, &work.target, &work.times, &block},
                             "follows a chain", error);
    case XB_KERNEL_DECODE:
        return decode(queue, &work, error);
    }
    return XB_FAIL(error, XB_ERR_INTERNAL, "there is no kernel %d", (int)work.kind);
}

const struct xb_kernels xb_gpu_kernels = {xb_gpu_find_address, enqueue};

enum xb_status xb_gpu_queue_hold(struct xb_queue *queue, struct xb_error *error)
{
    struct xb_gpu_queue *held = (struct xb_gpu_queue *)queue;
    unsigned number = held->holds + 1;
    unsigned long long limit = xb_gpu_device_of(queue->device)->hold_limit;
    if (held->gate == NULL)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED, "queues of device %u cannot be held: %s",
                       queue->device->info.index,
                       xb_device_lacks(&queue->device->info, XB_CAP_HOLD));
    XB_TRY(xb_gpu_launch(queue, XB_GPU_HOLD, 1, 1, (void *[]){&held->device_gate, &number, &limit},
                         "holds a stream", error));
    held->holds = number;
    return XB_OK;
}
