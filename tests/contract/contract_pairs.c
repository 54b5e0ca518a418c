/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Two devices, what peers do with each other, and the profiler's ranges. */
#include "contract.h"

#include "../doubles/fake_backend.h"
#include "backends/verify.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Nothing leans on a "current device": work on two is interleaved call by call. */
static void test_two_devices_take_turns(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    struct xb_device *device = NULL;
    struct xb_queue *queue = NULL;
    struct xb_buffer *there = NULL;
    struct xb_buffer *host = NULL;
    struct xb_mismatch mismatch;
    struct xb_error error;
    if (f->probe.device_count < 2)
        skip();
    must(b->device_open(f->driver, 1, &device, &error), &error);
    must(b->queue_open(device, &queue, &error), &error);
    must(b->buffer_allocate(device, XB_MEMORY_DEVICE, BYTES, &there, &error), &error);
    must(b->buffer_allocate(device, XB_MEMORY_PINNED, BYTES, &host, &error), &error);
    xb_host_fill(f->pinned->host_address, 0, BYTES, pattern);
    xb_host_fill(host->host_address, 0, BYTES, poison);
    must(b->queue_fill(queue, there, BYTES, pattern, &error), &error);
    fill(f, poison);
    must(b->queue_copy(queue, there, 0, host, 0, BYTES, &error), &error);
    must(b->queue_copy(f->queue, f->there, 0, f->pinned, 0, BYTES, &error), &error);
    must(b->queue_check(queue, there, BYTES, poison, &mismatch, &error), &error);
    assert_true(mismatch.wrong_bytes == 0);
    assert_true(check(f, BYTES).wrong_bytes == 0);
    b->buffer_free(host);
    b->buffer_free(there);
    b->queue_close(queue);
    b->device_close(device);
}

/* One device being opened in a thread. */
struct opener {
    struct fixture *f;
    unsigned index;
    struct xb_device *device;
    enum xb_status status;
    struct xb_error error;
    pthread_t thread;
};

static void *open_device(void *argument)
{
    struct opener *opener = argument;
    opener->status = opener->f->backend->device_open(opener->f->driver, opener->index,
                                                     &opener->device, &opener->error);
    return NULL;
}

/* Each then works, in the first thread. */
static void test_devices_open_at_the_same_time(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    struct opener openers[4];
    struct xb_error error;
    unsigned count = f->probe.device_count < 4 ? f->probe.device_count : 4;
    if (count < 2)
        skip();
    for (unsigned i = 0; i < count; i++) {
        openers[i] = (struct opener){.f = f, .index = i};
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
        must(b->queue_open(openers[i].device, &queue, &error), &error);
        must(b->buffer_allocate(openers[i].device, XB_MEMORY_DEVICE, BYTES, &there, &error),
             &error);
        must(b->queue_fill(queue, there, BYTES, pattern, &error), &error);
        must(b->queue_check(queue, there, BYTES, pattern, &mismatch, &error), &error);
        assert_true(mismatch.wrong_bytes == 0);
        b->buffer_free(there);
        b->queue_close(queue);
    }
    for (unsigned i = 0; i < count; i++)
        b->device_close(openers[i].device);
}

/* ---- peers ---- */

/* The first device, of the fixture, and the second, with a queue and device memory each. */
struct pair {
    const struct xb_backend *backend;
    struct xb_device *devices[2];
    struct xb_queue *queues[2];
    struct xb_buffer *buffers[2];
    bool access[2]; /* whether [i] can reach the memory of the other */
};

static bool open_pair(struct fixture *f, struct pair *pair)
{
    const struct xb_backend *b = f->backend;
    struct xb_error error;
    if (b->peer_info == NULL || f->probe.device_count < 2)
        return false;
    *pair = (struct pair){.backend = b,
                          .devices = {f->device, NULL},
                          .queues = {f->queue, NULL},
                          .buffers = {f->there, NULL}};
    must(b->device_open(f->driver, 1, &pair->devices[1], &error), &error);
    must(b->queue_open(pair->devices[1], &pair->queues[1], &error), &error);
    must(b->buffer_allocate(pair->devices[1], XB_MEMORY_DEVICE, BYTES, &pair->buffers[1], &error),
         &error);
    for (unsigned i = 0; i < 2; i++) {
        struct xb_peer_info info;
        must(b->peer_info(f->driver, i, 1 - i, &info, &error), &error);
        pair->access[i] = info.can_access;
    }
    return true;
}

/* Twice: the second time there is nothing to do. */
static void open_access(struct pair *pair)
{
    struct xb_error error;
    for (unsigned i = 0; i < 4; i++)
        if (pair->access[i % 2])
            must(pair->backend->peer_open(pair->devices[i % 2], pair->devices[1 - i % 2], &error),
                 &error);
}

static void close_access(struct pair *pair)
{
    for (unsigned i = 0; i < 2; i++)
        if (pair->access[i])
            pair->backend->peer_close(pair->devices[i], pair->devices[1 - i]);
}

static void close_pair(struct pair *pair)
{
    pair->backend->buffer_free(pair->buffers[1]);
    pair->backend->queue_close(pair->queues[1]);
    pair->backend->device_close(pair->devices[1]);
}

static void write_device(struct pair *pair, unsigned device, struct xb_pattern with)
{
    const struct xb_backend *b = pair->backend;
    struct xb_error error;
    must(b->queue_fill(pair->queues[device], pair->buffers[device], BYTES, with, &error), &error);
    must(b->queue_wait(pair->queues[device], &error), &error);
}

static uint64_t count_wrong(struct pair *pair, unsigned device, uint64_t bytes,
                            struct xb_pattern wanted)
{
    struct xb_mismatch mismatch = {.wrong_bytes = 77};
    struct xb_error error;
    must(pair->backend->queue_check(pair->queues[device], pair->buffers[device], bytes, wanted,
                                    &mismatch, &error),
         &error);
    return mismatch.wrong_bytes;
}

/* From one device to the other on a queue of either: every byte, and then all but the last. */
static void copy_between(struct pair *pair, unsigned from, unsigned queue)
{
    const struct xb_backend *b = pair->backend;
    const unsigned to = 1 - from;
    struct xb_error error;
    write_device(pair, from, pattern);
    for (uint64_t left_out = 0; left_out < 2; left_out++) {
        write_device(pair, to, poison);
        must(b->queue_copy_peer(pair->queues[queue], pair->buffers[to], 0, pair->buffers[from], 0,
                                BYTES - left_out, &error),
             &error);
        must(b->queue_wait(pair->queues[queue], &error), &error);
        assert_true(count_wrong(pair, to, BYTES, pattern) == left_out);
    }
}

static void copy_all_ways(struct pair *pair)
{
    for (unsigned i = 0; i < 4; i++)
        copy_between(pair, i / 2, i % 2);
}

static void test_peers_copy_both_ways(void **state)
{
    struct pair pair;
    if (!open_pair(*state, &pair))
        skip();
    open_access(&pair);
    copy_all_ways(&pair);
    close_access(&pair);
    copy_all_ways(&pair); /* through the host then: as right */
    open_access(&pair);   /* what was closed can be opened again */
    copy_all_ways(&pair);
    close_access(&pair);
    close_pair(&pair);
}

static void test_peer_copies_keep_offsets(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    const unsigned char *host = f->pinned->host_address;
    struct pair pair;
    struct xb_error error;
    if (!open_pair(f, &pair))
        skip();
    open_access(&pair);
    write_device(&pair, 0, poison);
    write_device(&pair, 1, pattern);
    must(b->queue_copy_peer(f->queue, f->there, 101, pair.buffers[1], 5003, 777, &error), &error);
    must(b->queue_copy(f->queue, f->pinned, 0, f->there, 0, BYTES, &error), &error);
    must(b->queue_wait(f->queue, &error), &error);
    assert_true(xb_host_check(host, 0, 101, poison).wrong_bytes == 0);
    assert_true(xb_host_check(host + 101, 5003, 777, pattern).wrong_bytes == 0);
    assert_true(xb_host_check(host + 878, 878, BYTES - 878, poison).wrong_bytes == 0);
    close_access(&pair);
    close_pair(&pair);
}

/* ---- kernels of one device on the memory of the other ---- */

static bool has(const struct pair *pair, unsigned device, uint32_t capabilities)
{
    return (capabilities & ~pair->devices[device]->info.capabilities) == 0;
}

/* From one device to the other by a kernel of either: all bytes, and then a range in the middle. */
static void kernel_copies_between(struct pair *pair, unsigned from, unsigned queue)
{
    const struct xb_backend *b = pair->backend;
    const unsigned to = 1 - from;
    struct xb_error error;
    write_device(pair, from, pattern);
    for (uint64_t offset = 0; offset <= 4104; offset += 4104) {
        uint64_t bytes = BYTES - 2 * offset;
        write_device(pair, to, poison);
        must(b->queue_kernel_copy(pair->queues[queue], pair->buffers[to], offset,
                                  pair->buffers[from], offset, bytes, XB_ACCESS_SEQUENTIAL, 1,
                                  &error),
             &error);
        must(b->queue_wait(pair->queues[queue], &error), &error);
        assert_true(count_wrong(pair, to, BYTES, pattern) == BYTES - bytes);
    }
}

/* The same of pieces, which begin anywhere. A queue of the other device does not take the list. */
static void kernel_pieces_between(struct pair *pair, unsigned from, unsigned queue)
{
    const struct xb_backend *b = pair->backend;
    const unsigned to = 1 - from;
    const struct xb_piece pieces[] = {{777, 777, 5003}, {8192, 8192, 65536}, {5781, 5781, 1}};
    struct xb_pieces *list = NULL;
    struct xb_error error;
    write_device(pair, from, pattern);
    write_device(pair, to, poison);
    must(b->pieces_open(pair->devices[queue], pair->buffers[to], pair->buffers[from], pieces, 3,
                        &list, &error),
         &error);
    must(b->queue_kernel_pieces(pair->queues[queue], list, 0, &error), &error);
    must(b->queue_wait(pair->queues[queue], &error), &error);
    assert_true(count_wrong(pair, to, BYTES, pattern) == BYTES - 5003 - 65536 - 1);
    assert_int_equal(b->queue_kernel_pieces(pair->queues[1 - queue], list, 0, &error),
                     XB_ERR_USAGE);
    b->pieces_close(list);
}

static void test_kernels_copy_between_peers(void **state)
{
    struct pair pair;
    if (!open_pair(*state, &pair))
        skip();
    open_access(&pair);
    for (unsigned i = 0; i < 4; i++)
        if (pair.access[i % 2] && has(&pair, i % 2, XB_CAP_KERNELS)) {
            kernel_copies_between(&pair, i / 2, i % 2);
            kernel_pieces_between(&pair, i / 2, i % 2);
        }
    close_access(&pair);
    close_pair(&pair);
}

/* Both devices' kernels work on mapped memory that one of them has allocated. */
static void kernels_meet_in_mapped_memory(struct pair *pair, unsigned owner)
{
    const struct xb_backend *b = pair->backend;
    struct xb_buffer *mapped = NULL;
    struct xb_error error;
    must(b->buffer_allocate(pair->devices[owner], XB_MEMORY_MAPPED, BYTES, &mapped, &error),
         &error);
    write_device(pair, 0, pattern);
    write_device(pair, 1, poison);
    for (unsigned device = 0; device < 2; device++) {
        must(b->queue_kernel_copy(pair->queues[device], device == 0 ? mapped : pair->buffers[1], 0,
                                  device == 0 ? pair->buffers[0] : mapped, 0, BYTES,
                                  XB_ACCESS_SEQUENTIAL, 1, &error),
             &error);
        must(b->queue_wait(pair->queues[device], &error), &error);
    }
    assert_true(count_wrong(pair, 1, BYTES, pattern) == 0);
    b->buffer_free(mapped);
}

static void test_kernels_of_two_devices_meet_in_mapped_memory(void **state)
{
    struct pair pair;
    if (!open_pair(*state, &pair))
        skip();
    if (has(&pair, 0, XB_CAP_KERNELS | XB_CAP_MAPPED) &&
        has(&pair, 1, XB_CAP_KERNELS | XB_CAP_MAPPED))
        for (unsigned owner = 0; owner < 2; owner++)
            kernels_meet_in_mapped_memory(&pair, owner);
    close_pair(&pair);
}

/* Memory that is out of any kernel's reach, or that follows its own device. */
static void test_bad_kernel_copies_between_peers_are_refused(void **state)
{
    const enum xb_memory kinds[] = {XB_MEMORY_PINNED, XB_MEMORY_PAGEABLE, XB_MEMORY_MANAGED};
    struct pair pair;
    if (!open_pair(*state, &pair))
        skip();
    const struct xb_backend *b = pair.backend;
    for (size_t i = 0; i < 3 && has(&pair, 0, XB_CAP_KERNELS); i++) {
        struct xb_buffer *other = NULL;
        struct xb_error error = {0};
        if (kinds[i] == XB_MEMORY_MANAGED && !has(&pair, 1, XB_CAP_MANAGED))
            continue;
        must(b->buffer_allocate(pair.devices[1], kinds[i], 4096, &other, &error), &error);
        assert_int_equal(b->queue_kernel_copy(pair.queues[0], pair.buffers[0], 0, other, 0, 4096,
                                              XB_ACCESS_SEQUENTIAL, 1, &error),
                         XB_ERR_USAGE);
        assert_int_equal(b->queue_kernel_copy(pair.queues[0], other, 0, pair.buffers[0], 0, 4096,
                                              XB_ACCESS_SEQUENTIAL, 1, &error),
                         XB_ERR_USAGE);
        assert_string_not_equal(error.message, "");
        b->buffer_free(other);
    }
    close_pair(&pair);
}

/* Each device follows a chain through the other's memory. */
static void chase_between(struct pair *pair, unsigned owner)
{
    const struct xb_backend *b = pair->backend;
    const unsigned reader = 1 - owner;
    const uint64_t loads = 1234567;
    struct xb_buffer *word = NULL;
    struct xb_error error;
    must(b->buffer_allocate(pair->devices[reader], XB_MEMORY_PINNED, 8, &word, &error), &error);
    uint64_t *offset = word->host_address;
    *offset = xb_chain_offset(XB_ACCESS_RANDOM, BYTES, 0);
    must(b->queue_chain(pair->queues[owner], pair->buffers[owner], BYTES, XB_ACCESS_RANDOM, &error),
         &error);
    must(b->queue_wait(pair->queues[owner], &error), &error);
    must(b->queue_copy(pair->queues[reader], pair->buffers[reader], 0, word, 0, 8, &error), &error);
    must(b->queue_chase(pair->queues[reader], pair->buffers[owner], pair->buffers[reader], loads, 0,
                        &error),
         &error);
    must(b->queue_copy(pair->queues[reader], word, 0, pair->buffers[reader], 0, 8, &error), &error);
    must(b->queue_wait(pair->queues[reader], &error), &error);
    assert_true(*offset == xb_chain_offset(XB_ACCESS_RANDOM, BYTES, loads));
    b->buffer_free(word);
}

static void test_one_thread_follows_a_chain_in_a_peers_memory(void **state)
{
    struct fixture *f = *state;
    struct pair pair;
    if (!open_pair(f, &pair))
        skip();
    open_access(&pair);
    for (unsigned owner = 0; owner < 2; owner++)
        if (pair.access[1 - owner] && has(&pair, 1 - owner, XB_CAP_KERNELS))
            chase_between(&pair, owner);
    close_access(&pair);
    close_pair(&pair);
}

static void test_bad_peer_copies_are_refused(void **state)
{
    struct fixture *f = *state;
    struct pair pair;
    if (!open_pair(f, &pair))
        skip();
    const struct {
        struct xb_buffer *target, *source;
        uint64_t to, from, bytes;
    } bad[] = {
        {f->there, pair.buffers[1], 1, 0, BYTES},
        {f->there, pair.buffers[1], 0, 1, BYTES},
        {f->there, pair.buffers[1], UINT64_MAX, 0, 2},
        {f->there, f->there, 0, 4096, 8}, /* one device */
        {f->pinned, pair.buffers[1], 0, 0, 8},
        {pair.buffers[1], f->pinned, 0, 0, 8},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct xb_error error = {0};
        assert_int_equal(f->backend->queue_copy_peer(f->queue, bad[i].target, bad[i].to,
                                                     bad[i].source, bad[i].from, bad[i].bytes,
                                                     &error),
                         XB_ERR_USAGE);
        assert_string_not_equal(error.message, "");
    }
    close_pair(&pair);
}

/* Copies within a device are of the queue's own memory, and of no other. */
static void test_copies_within_another_device_are_refused(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    struct xb_buffer *other = NULL;
    struct xb_error error = {0};
    struct pair pair;
    if (!open_pair(f, &pair))
        skip();
    must(b->buffer_allocate(pair.devices[1], XB_MEMORY_DEVICE, 64, &other, &error), &error);
    struct xb_buffer *const there = pair.buffers[1];
    assert_int_equal(b->queue_copy(f->queue, there, 0, other, 0, 8, &error), XB_ERR_USAGE);
    assert_int_equal(b->queue_copy(f->queue, f->there, 0, other, 0, 8, &error), XB_ERR_USAGE);
    assert_int_equal(b->queue_copy(f->queue, other, 0, f->there, 0, 8, &error), XB_ERR_USAGE);
    assert_string_not_equal(error.message, "");
    b->buffer_free(other);
    close_pair(&pair);
}

static void test_peer_info_of_no_pair_fails(void **state)
{
    struct fixture *f = *state;
    struct xb_peer_info info;
    struct xb_error error = {0};
    if (f->backend->peer_info == NULL)
        skip();
    assert_int_not_equal(f->backend->peer_info(f->driver, 0, 4711, &info, &error), XB_OK);
    assert_string_not_equal(error.message, "");
    assert_int_not_equal(f->backend->peer_info(f->driver, 4711, 0, &info, &error), XB_OK);
}

/* The second device reads what the held first one writes: it must wait for the other's event. */
static void test_devices_wait_for_each_others_events(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    struct xb_event *event = NULL;
    struct xb_error error;
    struct pair pair;
    if (!open_pair(f, &pair))
        skip();
    open_access(&pair);
    must(b->event_open(f->device, &event, &error), &error);
    write_device(&pair, 0, poison);
    write_device(&pair, 1, poison);
    bool hold = (f->device->info.capabilities & XB_CAP_HOLD) != 0;
    if (hold)
        must(b->queue_hold(f->queue, &error), &error);
    fill(f, pattern);
    must(b->event_record(event, f->queue, &error), &error);
    must(b->queue_wait_event(pair.queues[1], event, &error), &error);
    must(b->queue_copy_peer(pair.queues[1], pair.buffers[1], 0, f->there, 0, BYTES, &error),
         &error);
    if (hold)
        b->queue_release(f->queue);
    assert_true(count_wrong(&pair, 1, BYTES, pattern) == 0);
    must(b->queue_wait(f->queue, &error), &error);
    b->event_close(event);
    close_access(&pair);
    close_pair(&pair);
}

/* ---- profiler ---- */

static void test_ranges_nest(void **state)
{
    struct fixture *f = *state;
    if (f->backend->range_push == NULL)
        skip();
    f->backend->range_push("outer");
    f->backend->profiler_collect(true);
    f->backend->range_push("a name with spaces, and longer than any that a mode would ever need");
    fill(f, pattern);
    f->backend->range_pop();
    f->backend->profiler_collect(false);
    f->backend->range_pop();
    assert_true(check(f, BYTES).wrong_bytes == 0);
}

/* The double's own word on what the tests above have left: nothing open, nothing pushed. */
static void test_the_fake_saw_it_all_closed(void **state)
{
    (void)state;
    if (tested != &xb_fake_backend)
        skip();
    assert_int_equal(xb_fake.peers_open, 0);
    assert_int_equal(xb_fake.range_depth, 0);
    assert_int_equal(xb_fake.lists_open, 0);
    assert_int_equal(xb_fake.graphs_open, 0);
    assert_true(xb_fake.staged_by_runtime); /* by the copies between closing and opening */
}

static const struct CMUnitTest tests[] = {
    TEST(test_two_devices_take_turns),
    TEST(test_devices_open_at_the_same_time),
    TEST(test_peers_copy_both_ways),
    TEST(test_peer_copies_keep_offsets),
    TEST(test_kernels_copy_between_peers),
    TEST(test_kernels_of_two_devices_meet_in_mapped_memory),
    TEST(test_bad_kernel_copies_between_peers_are_refused),
    TEST(test_one_thread_follows_a_chain_in_a_peers_memory),
    TEST(test_bad_peer_copies_are_refused),
    TEST(test_copies_within_another_device_are_refused),
    TEST(test_peer_info_of_no_pair_fails),
    TEST(test_devices_wait_for_each_others_events),
    TEST(test_ranges_nest),
    TEST(test_the_fake_saw_it_all_closed),
};

int run_pair_tests(const char *name)
{
    char group[64];
    snprintf(group, sizeof group, "%s: two devices, ranges", name);
    return _cmocka_run_group_tests(group, tests, sizeof tests / sizeof tests[0], NULL, NULL);
}
