/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "internal.h"
#include "reader.h"

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>

/* A read is cut into parts of this size, which are under way together. */
#define PART_BYTES (UINT64_C(1) << 20)
#define DEPTH 32u
/* The kernel takes at most 1 GiB as one buffer. A multiple of the parts' size. */
#define BUFFER_BYTES (UINT64_C(512) << 20)
/* More files stay unregistered: kernels have a limit, and the gain is small. */
#define MOST_FILES 1024u

struct xb_uring {
    struct io_uring ring;
    char *memory;
    uint64_t memory_bytes;
    int buffer_error;
    bool has_files;
    bool is_broken; /* what it was asked for may never come: nobody may use it again */
};

/* A part under way. */
struct part {
    char *target;
    uint64_t offset;
    uint64_t bytes;  /* still to be read */
    uint64_t wanted; /* of those, what is no filling up to a whole block */
};

struct work {
    struct xb_uring *ring;
    const struct xb_read *read;
    uint64_t next; /* what is behind it has not been asked for yet, from the read's offset on */
    struct part parts[DEPTH];
    unsigned unused[DEPTH]; /* parts that nobody uses */
    unsigned unused_count;
    unsigned under_way;
    enum xb_status status; /* of the first failure */
    struct xb_error *error;
};

static int register_buffers(struct xb_uring *ring)
{
    uint64_t count = (ring->memory_bytes + BUFFER_BYTES - 1) / BUFFER_BYTES;
    struct iovec *buffers = calloc(count > 0 ? count : 1, sizeof *buffers);
    if (buffers == NULL)
        return ENOMEM;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t left = ring->memory_bytes - i * BUFFER_BYTES;
        buffers[i].iov_base = ring->memory + i * BUFFER_BYTES;
        buffers[i].iov_len = left < BUFFER_BYTES ? left : BUFFER_BYTES;
    }
    int outcome =
        count > 0 ? io_uring_register_buffers(&ring->ring, buffers, (unsigned)count) : -EINVAL;
    free(buffers);
    return outcome < 0 ? -outcome : 0;
}

int xb_uring_open(const struct xb_reader_plan *plan, const int *descriptors, size_t count,
                  struct xb_uring **opened, int *buffer_error)
{
    struct xb_uring *ring = calloc(1, sizeof *ring);
    *opened = NULL;
    *buffer_error = 0;
    if (ring == NULL)
        return ENOMEM;
    int outcome = io_uring_queue_init(DEPTH, &ring->ring, 0);
    if (outcome < 0) {
        free(ring);
        return -outcome;
    }
    ring->memory = plan->memory;
    ring->memory_bytes = plan->memory_bytes;
    *buffer_error = ring->buffer_error = register_buffers(ring);
    ring->has_files = descriptors != NULL && count <= MOST_FILES &&
                      io_uring_register_files(&ring->ring, descriptors, (unsigned)count) == 0;
    *opened = ring;
    return 0;
}

void xb_uring_close(struct xb_uring *ring)
{
    if (ring == NULL)
        return;
    io_uring_queue_exit(&ring->ring);
    free(ring);
}

/* The registered buffer that the part lies in, or -1. */
static int buffer_of(const struct xb_uring *ring, const struct part *part)
{
    uintptr_t begin = (uintptr_t)part->target;
    uintptr_t memory = (uintptr_t)ring->memory;
    if (ring->buffer_error != 0 || begin < memory || begin - memory >= ring->memory_bytes ||
        part->bytes > ring->memory_bytes - (begin - memory))
        return -1;
    uint64_t first = (begin - memory) / BUFFER_BYTES;
    uint64_t last = (begin - memory + part->bytes - 1) / BUFFER_BYTES;
    return first == last ? (int)first : -1; /* one that lies in two is read as any other memory */
}

/* Asks for a part. There is always room: never more than DEPTH are under way. */
static void ask(struct work *work, unsigned index)
{
    struct xb_uring *ring = work->ring;
    const struct xb_read *read = work->read;
    const struct part *part = &work->parts[index];
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->ring);
    int descriptor = ring->has_files ? (int)read->file : read->descriptor;
    int buffer = buffer_of(ring, part);
    if (buffer >= 0)
        io_uring_prep_read_fixed(sqe, descriptor, part->target, (unsigned)part->bytes, part->offset,
                                 buffer);
    else
        io_uring_prep_read(sqe, descriptor, part->target, (unsigned)part->bytes, part->offset);
    if (ring->has_files)
        sqe->flags |= IOSQE_FIXED_FILE;
    io_uring_sqe_set_data64(sqe, index);
    work->under_way++;
}

static void ask_for_more(struct work *work)
{
    const struct xb_read *read = work->read;
    while (work->status == XB_OK && work->next < read->bytes && work->unused_count > 0) {
        unsigned index = work->unused[--work->unused_count];
        uint64_t left = read->bytes - work->next;
        uint64_t wanted = left < PART_BYTES ? left : PART_BYTES;
        uint64_t blocks = (wanted + XB_STORAGE_BLOCK - 1) / XB_STORAGE_BLOCK;
        work->parts[index] = (struct part){.target = read->target + work->next,
                                           .offset = read->offset + work->next,
                                           .bytes = blocks * XB_STORAGE_BLOCK,
                                           .wanted = wanted};
        work->next += wanted;
        ask(work, index);
    }
}

/* What became of a part: `got` bytes, or -errno. */
static void take(struct work *work, unsigned index, int got)
{
    struct part *part = &work->parts[index];
    work->under_way--;
    uint64_t more = got > 0 ? (uint64_t)got : 0;
    if (more < part->wanted)
        more -= more % XB_STORAGE_BLOCK; /* the next read begins on a block too */
    bool is_done = more >= part->wanted || work->status != XB_OK;
    if (!is_done && got < 0 && got != -EINTR && got != -EAGAIN)
        work->status = xb_read_failed(work->read, "io_uring read", -got, part->offset, part->bytes,
                                      work->error);
    else if (!is_done && got >= 0 && more == 0)
        work->status = xb_read_ended(work->read, part->offset + (uint64_t)got, work->error);
    if (is_done || work->status != XB_OK) {
        work->unused[work->unused_count++] = index;
    } else {
        part->target += more;
        part->offset += more;
        part->bytes -= more;
        part->wanted -= more;
        ask(work, index);
    }
}

/* The kernel does not take what it is asked for. What it took before is waited for, because it
 * writes into the caller's memory; what it did not take would go with a later read. */
static void give_up(struct work *work, int code)
{
    unsigned not_taken = io_uring_sq_ready(&work->ring->ring);
    struct io_uring_cqe *done;
    work->ring->is_broken = true;
    if (work->status == XB_OK)
        work->status = xb_read_failed(work->read, "io_uring_submit_and_wait", code,
                                      work->read->offset, work->read->bytes, work->error);
    work->under_way -= not_taken;
    while (work->under_way > 0) {
        int outcome = io_uring_wait_cqe(&work->ring->ring, &done);
        if (outcome == 0) {
            io_uring_cqe_seen(&work->ring->ring, done);
            work->under_way--;
        } else if (outcome != -EINTR && outcome != -EAGAIN)
            return;
    }
}

/* All that was asked for has come when it returns, also after a failure. */
enum xb_status xb_read_by_uring(struct xb_uring *ring, const struct xb_read *read,
                                struct xb_error *error)
{
    struct work work = {.ring = ring, .read = read, .status = XB_OK, .error = error};
    if (ring->is_broken)
        return xb_read_failed(read, "io_uring", EIO, read->offset, read->bytes, error);
    for (unsigned i = 0; i < DEPTH; i++)
        work.unused[work.unused_count++] = i;
    ask_for_more(&work);
    while (work.under_way > 0) {
        int outcome = io_uring_submit_and_wait(&ring->ring, 1);
        if (outcome < 0 && outcome != -EINTR && outcome != -EAGAIN && outcome != -EBUSY) {
            give_up(&work, -outcome);
            break;
        }
        struct io_uring_cqe *done;
        while (io_uring_peek_cqe(&work.ring->ring, &done) == 0) {
            unsigned index = (unsigned)io_uring_cqe_get_data64(done);
            int got = done->res;
            io_uring_cqe_seen(&work.ring->ring, done);
            take(&work, index, got);
        }
        ask_for_more(&work);
    }
    return work.status;
}
