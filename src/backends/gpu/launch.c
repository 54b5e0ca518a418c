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
    XB_TRY(xb_gpu_select(queue->device, error));
    return XB_GPU_CALL(error, queue->device,
                       launch(xb_gpu_device_of(queue->device)->kernels[kernel], blocks, threads,
                              arguments, xb_gpu_stream(queue)),
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
    void *memory = xb_gpu_kernel_address(buffer, 0);
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
    void *memory = xb_gpu_kernel_address(buffer, 0);
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

enum xb_status xb_gpu_queue_kernel_copy(struct xb_queue *queue, struct xb_buffer *target,
                                        uint64_t target_offset, struct xb_buffer *source,
                                        uint64_t source_offset, uint64_t bytes,
                                        enum xb_access access, unsigned together,
                                        struct xb_error *error)
{
    XB_TRY(xb_kernel_copy_check(queue, target, target_offset, source, source_offset, bytes, error));
    char *to = NULL;
    char *from = NULL;
    XB_TRY(xb_gpu_find_kernel_address(queue->device, target, target_offset, &to, error));
    XB_TRY(xb_gpu_find_kernel_address(queue->device, source, source_offset, &from, error));
    bool wide = (uintptr_t)to % WIDE == 0 && (uintptr_t)from % WIDE == 0;
    enum xb_gpu_kernel kernel = access == XB_ACCESS_STRIDED  ? XB_GPU_COPY_STRIDED
                                : access == XB_ACCESS_RANDOM ? XB_GPU_COPY_RANDOM
                                : wide                       ? XB_GPU_COPY_WIDE
                                                             : XB_GPU_COPY_WORDS;
    unsigned most = TILES_BLOCKS;
    if (together > 1) {
        /* A GPU starts the blocks of a second kernel when all those of the first have been started,
         * so several that are to run together must have room all at once. */
        most = ROOM_FOR_BLOCKS * xb_gpu_device_of(queue->device)->multiprocessors / together;
        most = most > 0 ? most : 1;
    }
    return xb_gpu_launch(queue, kernel,
                         blocks_for(bytes / (kernel == XB_GPU_COPY_WIDE ? WIDE : 8), TILE, most),
                         XB_GPU_THREADS, (void *[]){&to, &from, &bytes}, "copies", error);
}

enum xb_status xb_gpu_queue_compute(struct xb_queue *queue, struct xb_buffer *buffer,
                                    uint64_t offset, uint64_t bytes, uint64_t steps,
                                    struct xb_error *error)
{
    XB_TRY(xb_compute_check(queue, buffer, offset, bytes, error));
    char *memory = xb_gpu_kernel_address(buffer, offset);
    uint64_t words = bytes / 8;
    return xb_gpu_launch(queue, XB_GPU_COMPUTE, blocks_for(words, TILE, TILES_BLOCKS),
                         XB_GPU_THREADS, (void *[]){&memory, &words, &steps}, "computes", error);
}

/* Clears the target first, by a kernel of one thread: in the order of the queue, and no copy engine
 * is taken from whoever uses it. All blocks run at the same time. */
enum xb_status xb_gpu_queue_digest(struct xb_queue *queue, struct xb_buffer *buffer,
                                   uint64_t offset, uint64_t bytes, struct xb_buffer *target,
                                   uint64_t target_offset, struct xb_error *error)
{
    XB_TRY(xb_digest_check(queue, buffer, offset, bytes, target, target_offset, error));
    char *memory = xb_gpu_kernel_address(buffer, offset);
    char *digest = xb_gpu_kernel_address(target, target_offset);
    unsigned long long count = bytes;
    void *cleared[] = {&digest};
    void *arguments[] = {&memory, &count, &digest};
    XB_TRY(xb_gpu_launch(queue, XB_GPU_CLEAR, 1, 1, cleared, "clears a digest", error));
    unsigned most = ROOM_FOR_BLOCKS * xb_gpu_device_of(queue->device)->multiprocessors;
    return xb_gpu_launch(queue, XB_GPU_DIGEST, blocks_for(bytes / WIDE, TILE, most), XB_GPU_THREADS,
                         arguments, "makes a digest", error);
}

enum xb_status xb_gpu_queue_chain(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                  enum xb_access access, struct xb_error *error)
{
    XB_TRY(xb_chain_check(queue, buffer, bytes, error));
    void *memory = xb_gpu_kernel_address(buffer, 0);
    if (buffer->host_address != NULL) {
        xb_chain_write(buffer->host_address, memory, bytes, access);
        return XB_OK;
    }
    return xb_gpu_launch(queue, XB_GPU_CHAIN,
                         blocks_for(bytes / XB_CHAIN_LINE, XB_GPU_THREADS, BLOCKS), XB_GPU_THREADS,
                         (void *[]){&memory, &bytes, &access}, "writes a chain", error);
}

enum xb_status xb_gpu_queue_chase(struct xb_queue *queue, struct xb_buffer *chain,
                                  struct xb_buffer *cursor, uint64_t loads, unsigned turn,
                                  struct xb_error *error)
{
    XB_TRY(xb_chase_check(queue, chain, cursor, error));
    void *first = xb_gpu_kernel_address(chain, 0);
    void *position = xb_gpu_kernel_address(cursor, 0);
    /* A block a multiprocessor, of which one works. */
    unsigned blocks = xb_gpu_device_of(queue->device)->multiprocessors;
    unsigned block = turn % blocks;
    return xb_gpu_launch(queue, XB_GPU_CHASE, blocks, 1,
                         (void *[]){&first, &position, &loads, &block}, "follows a chain", error);
}

enum xb_status xb_gpu_queue_decode(struct xb_queue *queue, const struct xb_decoding *decoding,
                                   struct xb_error *error)
{
    XB_TRY(xb_decode_check(queue, decoding, error));
    char *source = xb_gpu_kernel_address(decoding->source, decoding->source_offset);
    char *target = xb_gpu_kernel_address(decoding->target, decoding->target_offset);
    void *report = xb_gpu_kernel_address(decoding->report, 0);
    uint64_t source_bytes = decoding->source_bytes;
    uint64_t bytes = decoding->bytes;
    uint64_t offset = decoding->target_offset;
    enum xb_gpu_kernel kernel =
        (enum xb_gpu_kernel)((unsigned)XB_GPU_WIDEN_FP16 + (unsigned)decoding->format);
    if (xb_format_is_lossy(decoding->format)) {
        uint64_t values = bytes / 4;
        return xb_gpu_launch(queue, kernel, blocks_for(values / 4, TILE, TILES_BLOCKS),
                             XB_GPU_THREADS, (void *[]){&source, &target, &values}, "widens values",
                             error);
    }
    const bool is_lz4 = kernel == XB_GPU_LZ4;
    uint64_t block_bytes = is_lz4 ? XB_LZ4_BLOCK : 4 * XB_FOR_BLOCK;
    unsigned threads = is_lz4 ? XB_GPU_LZ4_THREADS : XB_GPU_THREADS;
    uint64_t blocks = bytes / block_bytes + (bytes % block_bytes != 0);
    return xb_gpu_launch(queue, kernel, blocks_for(blocks, threads / XB_GPU_LANES, TILES_BLOCKS),
                         threads,
                         (void *[]){&source, &source_bytes, &target, &bytes, &offset, &report},
                         "decompresses", error);
}

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
