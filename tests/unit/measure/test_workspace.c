/* SPDX-License-Identifier: Apache-2.0 */
/* What a workspace keeps, and when it gives it up. */
#include "measure/plan/case.h"
#include "xferbench/workspace.h"

#include "doubles/fake_backend.h"

#include <stdlib.h>

#include "testing.h"

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, take_down)

#define KIB UINT64_C(1024)

/* The fake backend with a memory of so many bytes; counts what is taken from it. */
static struct {
    struct xb_backend backend;
    struct xb_driver *driver;
    struct xb_device *device;
    struct xb_workspace *workspace;
    uint64_t room, taken;
    uint64_t bytes, beyond; /* of the case: its size, and how much longer its buffers are */
    unsigned allocations, queues;
} fake;

static enum xb_status allocate(struct xb_device *device, enum xb_memory memory, uint64_t bytes,
                               struct xb_buffer **buffer, struct xb_error *error)
{
    if (bytes > fake.room - fake.taken)
        return XB_FAIL(error, XB_ERR_MEMORY, "no room");
    enum xb_status status = xb_fake_backend.buffer_allocate(device, memory, bytes, buffer, error);
    if (status == XB_OK) {
        fake.taken += bytes;
        fake.allocations++;
    }
    return status;
}

static void release(struct xb_buffer *buffer)
{
    if (buffer != NULL)
        fake.taken -= buffer->bytes;
    xb_fake_backend.buffer_free(buffer);
}

static enum xb_status open_queue(struct xb_device *device, struct xb_queue **queue,
                                 struct xb_error *error)
{
    enum xb_status status = xb_fake_backend.queue_open(device, queue, error);
    fake.queues += status == XB_OK;
    return status;
}

static void close_queue(struct xb_queue *queue)
{
    fake.queues--;
    xb_fake_backend.queue_close(queue);
}

static int set_up(NO_STATE)
{
    struct xb_probe probe;
    struct xb_error error;
    xb_fake_reset();
    fake.backend = xb_fake_backend;
    fake.backend.buffer_allocate = allocate;
    fake.backend.buffer_free = release;
    fake.backend.queue_open = open_queue;
    fake.backend.queue_close = close_queue;
    fake.room = UINT64_MAX;
    fake.taken = fake.bytes = fake.beyond = 0;
    fake.allocations = 0;
    fake.queues = 0;
    if (xb_fake_backend.driver_open(&fake.driver, &probe, &error) != XB_OK ||
        xb_fake_backend.device_open(fake.driver, 0, &fake.device, &error) != XB_OK)
        return -1;
    fake.device->backend = &fake.backend;
    fake.workspace = xb_workspace_open(fake.device, 0);
    return 0;
}

static int take_down(NO_STATE)
{
    xb_workspace_close(fake.workspace);
    xb_fake_backend.device_close(fake.device);
    xb_fake_backend.driver_close(fake.driver);
    return fake.taken == 0 && fake.queues == 0 ? 0 : -1;
}

/* Another workspace in place of the first. */
static void open_with_hint(uint64_t hint)
{
    xb_workspace_close(fake.workspace);
    fake.workspace = xb_workspace_open(fake.device, hint);
}

static void begin(uint64_t bytes)
{
    fake.bytes = bytes;
    fake.beyond = 0;
    xb_workspace_begin(fake.workspace, bytes);
}

/* A buffer of the case's size, and so much more, follows it. */
static enum xb_status borrow(unsigned number, enum xb_memory memory, uint64_t bytes,
                             struct xb_buffer **buffer, struct xb_error *error)
{
    bool follows = bytes == fake.bytes;
    return xb_workspace_buffer(fake.workspace, number, memory, bytes + (follows ? fake.beyond : 0),
                               follows, buffer, error);
}

static struct xb_buffer *get(unsigned number, enum xb_memory memory, uint64_t bytes)
{
    struct xb_buffer *buffer = NULL;
    struct xb_error error = {0};
    if (borrow(number, memory, bytes, &buffer, &error) != XB_OK)
        fail_msg("%s", error.message);
    assert_int_equal(buffer->memory, memory);
    assert_true(buffer->bytes >= bytes);
    return buffer;
}

static void expect_no_memory(unsigned number, enum xb_memory memory, uint64_t bytes)
{
    struct xb_buffer *buffer = (struct xb_buffer *)&fake;
    struct xb_error error;
    assert_int_equal(borrow(number, memory, bytes, &buffer, &error), XB_ERR_MEMORY);
    assert_int_equal(error.status, XB_ERR_MEMORY);
    assert_ptr_equal(buffer, &fake);
}

/* Of which `managed` bytes are one and the same on both sides. */
static void expect_kept_with(uint64_t host, uint64_t device, uint64_t managed)
{
    assert_int_equal(xb_workspace_kept(fake.workspace, true), host);
    assert_int_equal(xb_workspace_kept(fake.workspace, false), device);
    assert_int_equal(fake.taken, host + device - managed);
}

static void expect_kept(uint64_t host, uint64_t device)
{
    expect_kept_with(host, device, 0);
}

FIXTURE_TEST(test_buffers_are_independent)
{
    struct xb_buffer *buffers[2 * XB_WORKSPACE_BUFFERS];
    for (unsigned i = 0; i < XB_WORKSPACE_BUFFERS; i++) {
        buffers[2 * i] = get(i, XB_MEMORY_PINNED, (i + 1) * KIB);
        buffers[2 * i + 1] = get(i, XB_MEMORY_DEVICE, (i + 1) * 16 * KIB);
    }
    for (unsigned i = 0; i < 2 * XB_WORKSPACE_BUFFERS; i++)
        for (unsigned k = 0; k < i; k++)
            assert_ptr_not_equal(buffers[i], buffers[k]);
    const uint64_t all = XB_WORKSPACE_BUFFERS * (XB_WORKSPACE_BUFFERS + 1) / 2 * KIB;
    expect_kept(all, 16 * all);
    for (unsigned i = 0; i < XB_WORKSPACE_BUFFERS; i++) {
        assert_ptr_equal(get(i, XB_MEMORY_PINNED, KIB), buffers[2 * i]);
        assert_ptr_equal(get(i, XB_MEMORY_DEVICE, KIB), buffers[2 * i + 1]);
    }
}

/* The n-th placement begins with the n-th host buffer; the device's are the same in all. */
FIXTURE_TEST(test_placements_move_on_by_a_buffer)
{
    struct xb_error error;
    struct xb_buffer *hosts[XB_PLACEMENTS + 1];
    begin(64 * KIB);
    hosts[0] = get(0, XB_MEMORY_REGISTERED, 64 * KIB);
    hosts[1] = get(1, XB_MEMORY_REGISTERED, 64 * KIB);
    struct xb_buffer *device = get(0, XB_MEMORY_DEVICE, 64 * KIB);
    assert_int_equal(xb_workspace_spread(fake.workspace, XB_PLACEMENTS, &error), XB_PLACEMENTS);
    assert_int_equal(fake.allocations, 2 + 1 + XB_PLACEMENTS - 1);
    for (unsigned i = 1; i < XB_PLACEMENTS; i++) {
        xb_workspace_place(fake.workspace, i);
        assert_ptr_equal(get(0, XB_MEMORY_REGISTERED, 64 * KIB), hosts[i]);
        hosts[i + 1] = get(1, XB_MEMORY_REGISTERED, 64 * KIB);
        for (unsigned k = 0; k <= i; k++)
            assert_ptr_not_equal(hosts[i + 1], hosts[k]);
        assert_ptr_equal(xb_workspace_host_buffer(fake.workspace, 0), hosts[i]);
        assert_ptr_equal(get(0, XB_MEMORY_DEVICE, 64 * KIB), device);
    }
    assert_int_equal(fake.allocations, 2 + 1 + XB_PLACEMENTS - 1);
    begin(64 * KIB); /* and the next case begins with the first */
    assert_ptr_equal(get(0, XB_MEMORY_REGISTERED, 64 * KIB), hosts[0]);
}

/* A case without host memory has one, and none has more than are wanted. */
FIXTURE_TEST(test_placements_are_as_many_as_there_is_use_for)
{
    struct xb_error error;
    begin(KIB);
    get(0, XB_MEMORY_DEVICE, KIB);
    assert_int_equal(xb_workspace_spread(fake.workspace, XB_PLACEMENTS, &error), 1);
    get(0, XB_MEMORY_PINNED, KIB);
    assert_int_equal(xb_workspace_spread(fake.workspace, 1, &error), 1);
    assert_int_equal(xb_workspace_spread(fake.workspace, 3, &error), 3);
    assert_int_equal(fake.allocations, 4);
}

/* Smaller is large enough, in this case and the next. */
FIXTURE_TEST(test_memory_is_kept)
{
    struct xb_buffer *buffer = get(0, XB_MEMORY_REGISTERED, 64 * KIB);
    begin(0);
    assert_ptr_equal(get(0, XB_MEMORY_REGISTERED, 1), buffer);
    begin(0);
    assert_ptr_equal(get(0, XB_MEMORY_REGISTERED, 64 * KIB), buffer);
    assert_int_equal(fake.allocations, 1);
    expect_kept(64 * KIB, 0);
}

FIXTURE_TEST(test_larger_replaces_smaller)
{
    get(1, XB_MEMORY_DEVICE, 64 * KIB);
    get(1, XB_MEMORY_DEVICE, 64 * KIB + 1);
    expect_kept(0, 64 * KIB + 1);
    assert_int_equal(fake.allocations, 2);
}

FIXTURE_TEST(test_another_kind_replaces_it)
{
    static const enum xb_memory kinds[] = {XB_MEMORY_PAGEABLE,   XB_MEMORY_PINNED,
                                           XB_MEMORY_REGISTERED, XB_MEMORY_WRITE_COMBINED,
                                           XB_MEMORY_MAPPED,     XB_MEMORY_MANAGED};
    get(0, XB_MEMORY_DEVICE, KIB);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        get(0, kinds[i], 64 * KIB);
        uint64_t managed = kinds[i] == XB_MEMORY_MANAGED ? 64 * KIB : 0;
        /* the one before is gone; the other side stays */
        expect_kept_with(64 * KIB, KIB + managed, managed);
    }
}

FIXTURE_TEST(test_hint_is_what_is_allocated)
{
    open_with_hint(64 * KIB);
    expect_kept(0, 0);
    begin(1);
    struct xb_buffer *buffer = get(0, XB_MEMORY_PINNED, 1);
    get(2, XB_MEMORY_DEVICE, 65 * KIB); /* more than the hint */
    expect_kept(64 * KIB, 65 * KIB);
    assert_ptr_equal(get(0, XB_MEMORY_PINNED, 64 * KIB), buffer);
    get(1, XB_MEMORY_PINNED, 5 * KIB); /* not the case's size: a ring, say */
    expect_kept(69 * KIB, 65 * KIB);
    get(3, XB_MEMORY_MANAGED, KIB); /* its pages are on either side */
    expect_kept_with(70 * KIB, 66 * KIB, KIB);
}

/* Where the hint does not fit, what is asked for may. */
FIXTURE_TEST(test_hint_is_only_that)
{
    open_with_hint(64 * KIB);
    fake.room = 100 * KIB;
    begin(KIB);
    struct xb_buffer *first = get(0, XB_MEMORY_PINNED, KIB);
    get(1, XB_MEMORY_PINNED, KIB);
    expect_kept(65 * KIB, 0);
    assert_ptr_equal(get(0, XB_MEMORY_PINNED, KIB), first); /* borrowed: not given up for it */
}

/* Several pairs have room for what they ask for and no more. */
FIXTURE_TEST(test_what_is_shared_is_no_larger_than_asked_for)
{
    open_with_hint(64 * KIB);
    begin(KIB);
    get(0, XB_MEMORY_PINNED, KIB);
    get(0, XB_MEMORY_DEVICE, KIB);
    expect_kept(64 * KIB, 64 * KIB);
    fake.room = 67 * KIB;
    begin(KIB);
    xb_workspace_share(fake.workspace);
    expect_kept(64 * KIB, 0);
    get(0, XB_MEMORY_PINNED, KIB);
    for (unsigned i = 0; i < 3; i++)
        get(i, XB_MEMORY_DEVICE, KIB);
    expect_kept(64 * KIB, 3 * KIB);
    fake.room = UINT64_MAX;
    begin(2 * KIB); /* a case of one alone */
    get(1, XB_MEMORY_DEVICE, 2 * KIB);
    expect_kept(64 * KIB, 66 * KIB);
}

/* What the case that runs has not borrowed makes room; what it has stays. */
FIXTURE_TEST(test_idle_memory_makes_room)
{
    fake.room = 100 * KIB;
    get(0, XB_MEMORY_PINNED, 30 * KIB);
    get(1, XB_MEMORY_PINNED, 30 * KIB);
    get(0, XB_MEMORY_DEVICE, 30 * KIB);
    begin(0);
    struct xb_buffer *borrowed = get(1, XB_MEMORY_PINNED, 30 * KIB);
    get(3, XB_MEMORY_DEVICE, 70 * KIB);
    expect_kept(30 * KIB, 70 * KIB);
    assert_ptr_equal(get(1, XB_MEMORY_PINNED, 30 * KIB), borrowed);
    expect_no_memory(2, XB_MEMORY_PINNED, KIB); /* all is borrowed now */
    expect_kept(30 * KIB, 70 * KIB);
}

FIXTURE_TEST(test_what_does_not_fit_leaves_the_number_usable)
{
    fake.room = 10 * KIB;
    get(0, XB_MEMORY_DEVICE, 10 * KIB);
    expect_no_memory(0, XB_MEMORY_DEVICE, 11 * KIB);
    expect_kept(0, 0);
    get(0, XB_MEMORY_DEVICE, 10 * KIB);
    expect_kept(0, 10 * KIB);
}

/* Any other failure is passed on, without a second try. */
FIXTURE_TEST(test_other_failures_are_passed_on)
{
    struct xb_buffer *buffer = NULL;
    struct xb_error error;
    xb_fake.fail_at = xb_fake.calls + 1;
    assert_int_equal(borrow(0, XB_MEMORY_PINNED, KIB, &buffer, &error), XB_ERR_RUNTIME);
    assert_int_equal(xb_fake.calls, xb_fake.fail_at);
    assert_null(buffer);
    get(0, XB_MEMORY_PINNED, KIB);
}

FIXTURE_TEST(test_host_buffer_is_that_of_the_case)
{
    assert_null(xb_workspace_host_buffer(fake.workspace, 0));
    get(1, XB_MEMORY_PINNED, KIB);
    get(0, XB_MEMORY_DEVICE, KIB);
    assert_null(xb_workspace_host_buffer(fake.workspace, 0));
    struct xb_buffer *first = get(0, XB_MEMORY_PINNED, KIB);
    assert_ptr_equal(xb_workspace_host_buffer(fake.workspace, 0), first);
    begin(0); /* another case: one without host memory, say */
    assert_null(xb_workspace_host_buffer(fake.workspace, 0));
    expect_kept(2 * KIB, KIB);
}

FIXTURE_TEST(test_queues_are_the_same_every_time)
{
    struct xb_queue **queues = NULL;
    struct xb_error error;
    assert_int_equal(xb_workspace_queues(fake.workspace, 2, &queues, &error), XB_OK);
    struct xb_queue *first[2] = {queues[0], queues[1]};
    assert_ptr_not_equal(first[0], first[1]);
    begin(0);
    assert_int_equal(xb_workspace_queues(fake.workspace, 1, &queues, &error), XB_OK);
    assert_ptr_equal(queues[0], first[0]);
    assert_int_equal(fake.queues, 2);
    assert_int_equal(xb_workspace_queues(fake.workspace, 5, &queues, &error), XB_OK);
    assert_int_equal(fake.queues, 5);
    assert_memory_equal(queues, first, sizeof first);
}

/* What ran on a queue chooses its copy engine, so no case has a queue of the case before. */
FIXTURE_TEST(test_queues_with_a_history_are_not_kept)
{
    struct xb_queue **queues = NULL;
    struct xb_error error;
    fake.device->info.engine_by_history = true;
    assert_int_equal(xb_workspace_queues(fake.workspace, 2, &queues, &error), XB_OK);
    struct xb_queue *first = queues[0];
    assert_int_equal(xb_workspace_queues(fake.workspace, 1, &queues, &error), XB_OK);
    assert_ptr_equal(queues[0], first); /* within a case they are the same */
    begin(0);
    assert_int_equal(fake.queues, 0);
    assert_int_equal(xb_workspace_queues(fake.workspace, 1, &queues, &error), XB_OK);
    assert_int_equal(fake.queues, 1);
}

/* Those that opened before one failed are kept, and not opened again. */
FIXTURE_TEST(test_queues_that_fail_leave_the_others)
{
    struct xb_queue **queues = NULL;
    struct xb_error error;
    xb_fake.fail_at = xb_fake.calls + 3;
    assert_int_equal(xb_workspace_queues(fake.workspace, 4, &queues, &error), XB_ERR_RUNTIME);
    assert_null(queues);
    assert_int_equal(fake.queues, 2);
    assert_int_equal(xb_workspace_queues(fake.workspace, 4, &queues, &error), XB_OK);
    assert_int_equal(fake.queues, 4);
}

/* Of the case's own size and of the hint's, not of others; until the next case begins. */
FIXTURE_TEST(test_a_case_can_have_room_beyond)
{
    struct xb_error error;
    open_with_hint(16 * KIB);
    begin(4 * KIB);
    fake.beyond = KIB;
    get(0, XB_MEMORY_PAGEABLE, 4 * KIB);
    get(0, XB_MEMORY_DEVICE, 4 * KIB);
    get(1, XB_MEMORY_DEVICE, 2 * KIB);
    expect_kept(17 * KIB, 19 * KIB);
    assert_int_equal(xb_workspace_spread(fake.workspace, 2, &error), 2);
    expect_kept(34 * KIB, 19 * KIB);
    begin(16 * KIB);
    get(0, XB_MEMORY_DEVICE, 16 * KIB);
    assert_int_equal(fake.allocations, 4); /* what is there is long enough without more room */
    fake.beyond = 2 * KIB;
    get(0, XB_MEMORY_DEVICE, 16 * KIB);
    expect_kept(34 * KIB, 20 * KIB);
}

/* Without the hint, if need be; never without the room. */
FIXTURE_TEST(test_room_beyond_is_needed)
{
    open_with_hint(16 * KIB);
    fake.room = 5 * KIB;
    begin(4 * KIB);
    fake.beyond = KIB + 1;
    expect_no_memory(0, XB_MEMORY_PAGEABLE, 4 * KIB);
    fake.beyond = KIB;
    get(0, XB_MEMORY_PAGEABLE, 4 * KIB);
    expect_kept(5 * KIB, 0);
}

/* ---- what a case takes ---- */

struct held {
    struct xb_buffer *managed, *whole, *own, *none, *ring, *peers;
};

static void list(const struct xb_case *test, struct xb_buffers *all)
{
    all->beyond = KIB;
    xb_take(all, XB_OF_CASE, XB_MEMORY_MANAGED, test->bytes, offsetof(struct held, managed));
    xb_take(all, XB_OF_CASE, XB_MEMORY_DEVICE, test->bytes, offsetof(struct held, whole));
    xb_take(all, XB_OF_CASE, XB_MEMORY_DEVICE, test->bytes, offsetof(struct held, own));
    xb_take(all, XB_FIXED, XB_MEMORY_PINNED, 0, offsetof(struct held, none));
    xb_take(all, XB_FIXED, XB_MEMORY_PINNED, 3 * KIB, offsetof(struct held, ring));
    xb_take(all, XB_COUNTED, XB_MEMORY_DEVICE, 2 * KIB, 0);
    xb_take(all, XB_OF_PEER, XB_MEMORY_DEVICE, test->bytes, offsetof(struct held, peers));
}

FIXTURE_TEST(test_a_case_takes_what_it_lists)
{
    const struct xb_mode mode = {.buffers = list};
    const struct xb_case test = {.mode = &mode, .bytes = 4 * KIB};
    const struct xb_case largest = {.mode = &mode, .bytes = INT64_MAX};
    struct xb_buffer own = {.bytes = 4 * KIB};
    struct held held = {.own = &own};
    struct xb_mode_context context = {.test = &test,
                                      .state = &held,
                                      .workspace = fake.workspace,
                                      .peer_workspace = fake.workspace,
                                      .peer_share = {.of = 2, .number = 1}};
    struct xb_error error;
    assert_int_equal(xb_case_needs(&test).host_bytes, (5 + 3) * KIB);
    assert_int_equal(xb_case_needs(&test).device_bytes, (3 * 5 + 2) * KIB);
    assert_true(xb_case_needs(&largest).device_bytes == UINT64_MAX);
    begin(4 * KIB);
    fake.beyond = KIB;
    assert_int_equal(xb_borrow(&context, NULL, 2, &error), XB_OK);
    assert_int_equal(context.queue_count, 2);
    assert_int_equal(xb_workspace_borrowed(fake.workspace, true), (5 + 3) * KIB);
    assert_int_equal(xb_workspace_borrowed(fake.workspace, false), 2 * 5 * KIB);
    assert_ptr_equal(held.own, &own);
    assert_null(held.none);
    /* Each has the number of its place, and a second pair's buffers come behind the first's. */
    assert_ptr_equal(held.managed, get(0, XB_MEMORY_MANAGED, 4 * KIB));
    assert_ptr_equal(held.ring, get(2, XB_MEMORY_PINNED, 3 * KIB));
    assert_ptr_equal(held.whole, get(0, XB_MEMORY_DEVICE, 4 * KIB));
    assert_ptr_equal(held.peers, get(2, XB_MEMORY_DEVICE, 4 * KIB));
}

TEST(none_is_closed)
{
    xb_workspace_close(NULL);
}
