/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Two devices, what peers do with each other, and the profiler's ranges. */
#include "contract.h"

#include "../doubles/fake_backend.h"

#include <pthread.h>

struct group pair_tests = {"pairs", "two devices, ranges", false, 0, {}};
#define OWN_GROUP pair_tests

/* One device being opened in a thread. */
struct opener {
    unsigned index;
    struct xb_device *device;
    enum xb_status status;
    struct xb_error error;
    pthread_t thread;
};

static void *open_device(void *argument)
{
    struct opener *opener = argument;
    opener->status = tested->device_open(f->driver, opener->index, &opener->device, &opener->error);
    return NULL;
}

/* Each then works, in the first thread. */
TEST(devices_open_at_the_same_time)
{
    struct opener openers[4];
    unsigned count = f->probe.device_count < 4 ? f->probe.device_count : 4;
    if (count < 2)
        skip();
    for (unsigned i = 0; i < count; i++) {
        openers[i] = (struct opener){.index = i};
        assert_int_equal(pthread_create(&openers[i].thread, NULL, open_device, &openers[i]), 0);
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(openers[i].thread, NULL);
    for (unsigned i = 0; i < count; i++) {
        struct xb_queue *queue = NULL;
        struct xb_buffer *there = NULL;
        struct xb_mismatch mismatch;
        must(openers[i].status, &openers[i].error);
        assert_int_equal(openers[i].device->info.index, i);
        MUST(queue_open, openers[i].device, &queue);
        MUST(buffer_allocate, openers[i].device, XB_MEMORY_DEVICE, BYTES, &there);
        MUST(queue_fill, queue, there, BYTES, pattern);
        MUST(queue_check, queue, there, BYTES, pattern, &mismatch);
        assert_true(mismatch.wrong_bytes == 0);
        tested->buffer_free(there);
        tested->queue_close(queue);
    }
    for (unsigned i = 0; i < count; i++)
        tested->device_close(openers[i].device);
}

/* ---- peers ---- */

/* The first device, of the fixture, and the second, with a queue and device memory each. */
static struct xb_device *devices[2];
static struct xb_queue *queues[2];
static struct xb_buffer *buffers[2];
static bool access[2]; /* whether [i] can reach the memory of the other */
static bool is_open;   /* the access */

static bool open_pair(void)
{
    if (tested->peer_info == NULL || f->probe.device_count < 2)
        return false;
    devices[0] = f->device;
    queues[0] = f->queue;
    buffers[0] = f->there;
    MUST(device_open, f->driver, 1, &devices[1]);
    assert_ptr_equal(devices[1]->backend, tested);
    MUST(queue_open, devices[1], &queues[1]);
    MUST(buffer_allocate, devices[1], XB_MEMORY_DEVICE, BYTES, &buffers[1]);
    for (unsigned i = 0; i < 2; i++) {
        struct xb_peer_info info;
        MUST(peer_info, f->driver, i, 1 - i, &info);
        access[i] = info.can_access;
    }
    return true;
}
#define NEEDS_PAIR                                                                                 \
    if (!open_pair())                                                                              \
    skip()

/* Twice: the second time there is nothing to do. */
static void open_access(void)
{
    for (unsigned i = 0; i < 4; i++)
        if (access[i % 2])
            MUST(peer_open, devices[i % 2], devices[1 - i % 2]);
    is_open = true;
}

static void close_access(void)
{
    for (unsigned i = 0; i < 2; i++)
        if (is_open && access[i])
            tested->peer_close(devices[i], devices[1 - i]);
    is_open = false;
}

static int close_pair(void **state)
{
    if (devices[1] != NULL) {
        close_access();
        tested->buffer_free(buffers[1]);
        tested->queue_close(queues[1]);
        tested->device_close(devices[1]);
    }
    devices[1] = NULL;
    return tear_down(state);
}
#define PAIR_TEST(name) TEST_OF(pair_tests, name, close_pair)

static void write_device(unsigned device, struct xb_pattern with)
{
    MUST(queue_fill, queues[device], buffers[device], BYTES, with);
    MUST(queue_wait, queues[device]);
}

static uint64_t count_wrong(unsigned device, uint64_t bytes, struct xb_pattern wanted)
{
    struct xb_mismatch mismatch = {.wrong_bytes = 77};
    MUST(queue_check, queues[device], buffers[device], bytes, wanted, &mismatch);
    return mismatch.wrong_bytes;
}

/* Nothing leans on a "current device": work on two is interleaved call by call. */
PAIR_TEST(two_devices_take_turns)
{
    struct xb_buffer *host = NULL;
    NEEDS_PAIR;
    MUST(buffer_allocate, devices[1], XB_MEMORY_PINNED, BYTES, &host);
    xb_host_fill(f->pinned->host_address, 0, BYTES, pattern);
    xb_host_fill(host->host_address, 0, BYTES, poison);
    MUST(queue_fill, queues[1], buffers[1], BYTES, pattern);
    fill(poison);
    MUST(queue_copy, queues[1], buffers[1], 0, host, 0, BYTES);
    copy(f->there, 0, f->pinned, 0, BYTES);
    assert_true(count_wrong(1, BYTES, poison) == 0);
    assert_true(check(BYTES).wrong_bytes == 0);
    tested->buffer_free(host);
}

/* From one device to the other on a queue of either: every byte, and then all but the last. */
static void copy_between(unsigned from, unsigned queue)
{
    const unsigned to = 1 - from;
    write_device(from, pattern);
    for (uint64_t left_out = 0; left_out < 2; left_out++) {
        write_device(to, poison);
        MUST(queue_copy_peer, queues[queue], buffers[to], 0, buffers[from], 0, BYTES - left_out);
        MUST(queue_wait, queues[queue]);
        assert_true(count_wrong(to, BYTES, pattern) == left_out);
    }
}

static void copy_all_ways(void)
{
    for (unsigned i = 0; i < 4; i++)
        copy_between(i / 2, i % 2);
}

PAIR_TEST(peers_copy_both_ways)
{
    NEEDS_PAIR;
    open_access();
    copy_all_ways();
    close_access();
    copy_all_ways(); /* through the host then: as right */
    open_access();   /* what was closed can be opened again */
    copy_all_ways();
}

PAIR_TEST(peer_copies_keep_offsets)
{
    NEEDS_PAIR;
    open_access();
    write_device(0, poison);
    write_device(1, pattern);
    MUST(queue_copy_peer, f->queue, f->there, 101, buffers[1], 5003, 777);
    expect_range(bring_back(), 101, 5003, 777);
}

/* ---- kernels of one device on the memory of the other ---- */

static bool has(unsigned device, uint32_t capabilities)
{
    return (capabilities & ~devices[device]->info.capabilities) == 0;
}

/* From one device to the other by a kernel of either: all bytes, and then a range in the middle. */
static void kernel_copies_between(unsigned from, unsigned queue)
{
    const unsigned to = 1 - from;
    write_device(from, pattern);
    for (uint64_t offset = 0; offset <= 4104; offset += 4104) {
        uint64_t bytes = BYTES - 2 * offset;
        write_device(to, poison);
        MUST(queue_kernel_copy, queues[queue], buffers[to], offset, buffers[from], offset, bytes,
             XB_ACCESS_SEQUENTIAL, 1);
        MUST(queue_wait, queues[queue]);
        assert_true(count_wrong(to, BYTES, pattern) == BYTES - bytes);
    }
}

/* The same of pieces, which begin anywhere. A queue of the other device does not take the list. */
static void kernel_pieces_between(unsigned from, unsigned queue)
{
    const unsigned to = 1 - from;
    const struct xb_piece pieces[] = {{777, 777, 5003}, {8192, 8192, 65536}, {5781, 5781, 1}};
    struct xb_pieces *list = NULL;
    write_device(from, pattern);
    write_device(to, poison);
    MUST(pieces_open, devices[queue], buffers[to], buffers[from], pieces, 3, &list);
    MUST(queue_kernel_pieces, queues[queue], list, 0, false);
    MUST(queue_wait, queues[queue]);
    assert_true(count_wrong(to, BYTES, pattern) == BYTES - 5003 - 65536 - 1);
    REFUSED(queue_kernel_pieces, queues[1 - queue], list, 0, false);
    tested->pieces_close(list);
}

PAIR_TEST(kernels_copy_between_peers)
{
    NEEDS_PAIR;
    open_access();
    for (unsigned i = 0; i < 4; i++)
        if (access[i % 2] && has(i % 2, XB_CAP_KERNELS)) {
            kernel_copies_between(i / 2, i % 2);
            kernel_pieces_between(i / 2, i % 2);
        }
}

/* Both devices' kernels work on mapped memory that one of them has allocated. */
static void kernels_meet_in_mapped_memory(unsigned owner)
{
    struct xb_buffer *mapped = NULL;
    MUST(buffer_allocate, devices[owner], XB_MEMORY_MAPPED, BYTES, &mapped);
    write_device(0, pattern);
    write_device(1, poison);
    for (unsigned device = 0; device < 2; device++) {
        MUST(queue_kernel_copy, queues[device], device == 0 ? mapped : buffers[1], 0,
             device == 0 ? buffers[0] : mapped, 0, BYTES, XB_ACCESS_SEQUENTIAL, 1);
        MUST(queue_wait, queues[device]);
    }
    assert_true(count_wrong(1, BYTES, pattern) == 0);
    tested->buffer_free(mapped);
}

PAIR_TEST(kernels_of_two_devices_meet_in_mapped_memory)
{
    NEEDS_PAIR;
    if (has(0, XB_CAP_KERNELS | XB_CAP_MAPPED) && has(1, XB_CAP_KERNELS | XB_CAP_MAPPED))
        for (unsigned owner = 0; owner < 2; owner++)
            kernels_meet_in_mapped_memory(owner);
}

/* Memory that is out of any kernel's reach, or that follows its own device. */
PAIR_TEST(bad_kernel_copies_between_peers_are_refused)
{
    const enum xb_memory kinds[] = {XB_MEMORY_PINNED, XB_MEMORY_PAGEABLE, XB_MEMORY_MANAGED};
    const enum xb_access order = XB_ACCESS_SEQUENTIAL;
    NEEDS_PAIR;
    for (size_t i = 0; i < 3 && has(0, XB_CAP_KERNELS); i++) {
        struct xb_buffer *other = NULL;
        if (kinds[i] == XB_MEMORY_MANAGED && !has(1, XB_CAP_MANAGED))
            continue;
        MUST(buffer_allocate, devices[1], kinds[i], 4096, &other);
        REFUSED(queue_kernel_copy, queues[0], buffers[0], 0, other, 0, 4096, order, 1);
        REFUSED(queue_kernel_copy, queues[0], other, 0, buffers[0], 0, 4096, order, 1);
        tested->buffer_free(other);
    }
}

/* Each device follows a chain through the other's memory. */
static void chase_between(unsigned owner)
{
    const unsigned reader = 1 - owner;
    const uint64_t loads = 1234567;
    struct xb_buffer *word = NULL;
    MUST(buffer_allocate, devices[reader], XB_MEMORY_PINNED, 8, &word);
    uint64_t *offset = word->host_address;
    *offset = xb_chain_offset(XB_ACCESS_RANDOM, BYTES, 0);
    MUST(queue_chain, queues[owner], buffers[owner], BYTES, XB_ACCESS_RANDOM);
    MUST(queue_wait, queues[owner]);
    MUST(queue_copy, queues[reader], buffers[reader], 0, word, 0, 8);
    MUST(queue_chase, queues[reader], buffers[owner], buffers[reader], loads, 0, false);
    MUST(queue_copy, queues[reader], word, 0, buffers[reader], 0, 8);
    MUST(queue_wait, queues[reader]);
    assert_true(*offset == xb_chain_offset(XB_ACCESS_RANDOM, BYTES, loads));
    tested->buffer_free(word);
}

PAIR_TEST(one_thread_follows_a_chain_in_a_peers_memory)
{
    NEEDS_PAIR;
    open_access();
    for (unsigned owner = 0; owner < 2; owner++)
        if (access[1 - owner] && has(1 - owner, XB_CAP_KERNELS))
            chase_between(owner);
}

PAIR_TEST(bad_peer_copies_are_refused)
{
    NEEDS_PAIR;
    const struct {
        struct xb_buffer *target, *source;
        uint64_t to, from, bytes;
    } bad[] = {
        {f->there, buffers[1], 1, 0, BYTES},      {f->there, buffers[1], 0, 1, BYTES},
        {f->there, buffers[1], UINT64_MAX, 0, 2}, {f->there, f->there, 0, 4096, 8}, /* one device */
        {f->pinned, buffers[1], 0, 0, 8},         {buffers[1], f->pinned, 0, 0, 8},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        REFUSED(queue_copy_peer, f->queue, bad[i].target, bad[i].to, bad[i].source, bad[i].from,
                bad[i].bytes);
}

/* Copies within a device are of the queue's own memory, and of no other. */
PAIR_TEST(copies_within_another_device_are_refused)
{
    struct xb_buffer *other = NULL;
    NEEDS_PAIR;
    MUST(buffer_allocate, devices[1], XB_MEMORY_DEVICE, 64, &other);
    REFUSED(queue_copy, f->queue, buffers[1], 0, other, 0, 8);
    REFUSED(queue_copy, f->queue, f->there, 0, other, 0, 8);
    REFUSED(queue_copy, f->queue, other, 0, f->there, 0, 8);
    tested->buffer_free(other);
}

TEST(peer_info_of_no_pair_fails)
{
    struct xb_peer_info info;
    if (tested->peer_info == NULL)
        skip();
    FAILS(XB_OK, peer_info, f->driver, 0, 4711, &info);
    FAILS(XB_OK, peer_info, f->driver, 4711, 0, &info);
}

/* The second device reads what the held first one writes: it must wait for the other's event. */
PAIR_TEST(devices_wait_for_each_others_events)
{
    struct xb_event *event = NULL;
    NEEDS_PAIR;
    open_access();
    MUST(event_open, f->device, &event);
    write_device(0, poison);
    write_device(1, poison);
    if (can(XB_CAP_HOLD))
        hold();
    fill(pattern);
    MUST(event_record, event, f->queue);
    MUST(queue_wait_event, queues[1], event);
    MUST(queue_copy_peer, queues[1], buffers[1], 0, f->there, 0, BYTES);
    if (can(XB_CAP_HOLD))
        release();
    assert_true(count_wrong(1, BYTES, pattern) == 0);
    await();
    tested->event_close(event);
}

/* ---- profiler ---- */

TEST(ranges_nest)
{
    if (tested->range_push == NULL)
        skip();
    tested->range_push("outer");
    tested->profiler_collect(true);
    tested->range_push("a name with spaces, and longer than any that a mode would ever need");
    fill(pattern);
    tested->range_pop();
    tested->profiler_collect(false);
    tested->range_pop();
    assert_true(check(BYTES).wrong_bytes == 0);
}

/* The double's own word on what the tests above have left: nothing open, nothing pushed. */
TEST(the_fake_saw_it_all_closed)
{
    if (tested != &xb_fake_backend)
        skip();
    assert_int_equal(xb_fake.peers_open, 0);
    assert_int_equal(xb_fake.range_depth, 0);
    assert_int_equal(xb_fake.lists_open, 0);
    assert_int_equal(xb_fake.graphs_open, 0);
    assert_true(xb_fake.staged_by_runtime); /* by the copies between closing and opening */
}
