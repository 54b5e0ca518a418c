/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* What a workspace keeps, and when it gives it up: tests/unit/runs/workspace.txt, whose commands
 * are
 *
 *     hint SIZE               another workspace, for cases of so many bytes
 *     room SIZE               the memory that there is
 *     begin SIZE [BEYOND]     a case of so many bytes, and so much longer are its buffers
 *     MEMORY NUMBER SIZE      borrows that buffer
 *     spread N, place N, share, host N, queues N
 *     fail N                  the so-manyth call from now on fails
 *     history                 the runtime chooses engines by what ran before
 *
 * A buffer or a queue is a letter, in the order in which they appear. */
#include "cases.h"
#include "doubles/fake_backend.h"
#include "measure/plan/case.h"
#include "xferbench/workspace.h"

#define KIB UINT64_C(1024)
#define COUNT 52 /* of letters */

/* The fake backend with a memory of so many bytes; counts what is taken from it. */
static struct {
    struct xb_backend backend;
    struct xb_driver *driver;
    struct xb_device *device;
    struct xb_workspace *workspace;
    uint64_t room, taken;
    uint64_t bytes, beyond; /* of the case: its size, and how much longer its buffers are */
    unsigned made, queues;
    const void *letters[COUNT];
} fake;

static enum xb_status allocate(struct xb_device *device, enum xb_memory memory, uint64_t bytes,
                               struct xb_buffer **buffer, struct xb_error *error)
{
    if (bytes > fake.room - fake.taken)
        return XB_FAIL(error, XB_ERR_MEMORY, "no room");
    enum xb_status status = xb_fake_backend.buffer_allocate(device, memory, bytes, buffer, error);
    fake.taken += status == XB_OK ? bytes : 0;
    fake.made += status == XB_OK;
    return status;
}

/* Another may get its address. */
static void forget(const void *object)
{
    for (size_t i = 0; object != NULL && i < COUNT; i++)
        if (fake.letters[i] == object)
            fake.letters[i] = &fake;
}

static void release(struct xb_buffer *buffer)
{
    fake.taken -= buffer != NULL ? buffer->bytes : 0;
    forget(buffer);
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
    forget(queue);
    xb_fake_backend.queue_close(queue);
}

static void open_device(void)
{
    struct xb_probe probe;
    struct xb_error error;
    xb_fake_reset();
    memset(&fake, 0, sizeof fake);
    fake.backend = xb_fake_backend;
    fake.backend.buffer_allocate = allocate;
    fake.backend.buffer_free = release;
    fake.backend.queue_open = open_queue;
    fake.backend.queue_close = close_queue;
    fake.room = UINT64_MAX;
    assert_int_equal(xb_fake_backend.driver_open(&fake.driver, &probe, &error), XB_OK);
    assert_int_equal(xb_fake_backend.device_open(fake.driver, 0, &fake.device, &error), XB_OK);
    fake.device->backend = &fake.backend;
    fake.workspace = xb_workspace_open(fake.device, 0);
}

static void close_device(void)
{
    if (fake.device == NULL)
        return;
    xb_workspace_close(fake.workspace);
    xb_fake_backend.device_close(fake.device);
    xb_fake_backend.driver_close(fake.driver);
    assert_int_equal(fake.taken, 0);
    assert_int_equal(fake.queues, 0);
    fake.device = NULL;
}

static void begin_paragraph(void)
{
    close_device();
    open_device();
}

/* ---- commands ---- */

static char letter_of(const void *object)
{
    size_t i = 0;
    while (fake.letters[i] != NULL && fake.letters[i] != object)
        assert_true(++i < COUNT);
    fake.letters[i] = object;
    return object != NULL ? (char)((i < 26 ? 'a' : 'A' - 26) + (int)i) : '-';
}

/* In KiB or, where it has a B, in bytes. */
static uint64_t size_of(const char *word)
{
    char *end = NULL;
    uint64_t number = word != NULL ? strtoull(word, &end, 10) : 0;
    return word != NULL && *end == 'B' ? number : number * KIB;
}

/* A buffer of the case's size, and so much more, follows it. */
static void borrow(FILE *out, enum xb_memory memory, unsigned number, uint64_t bytes)
{
    bool follows = bytes == fake.bytes;
    struct xb_buffer *buffer = NULL;
    struct xb_error error;
    enum xb_status status =
        xb_workspace_buffer(fake.workspace, number, memory, bytes + (follows ? fake.beyond : 0),
                            follows, &buffer, &error);
    assert_int_equal(buffer != NULL, status == XB_OK);
    if (status != XB_OK) {
        fprintf(out, "%s", xb_status_name(status));
    } else {
        assert_int_equal(buffer->memory, memory);
        assert_true(buffer->bytes >= bytes);
        fprintf(out, "%c", letter_of(buffer));
    }
}

static void tell_kept(FILE *out)
{
    uint64_t host = xb_workspace_kept(fake.workspace, true);
    uint64_t there = xb_workspace_kept(fake.workspace, false);
    fprintf(out, "; keeps %.6g KiB of the host, %.6g of the device", (double)host / KIB,
            (double)there / KIB);
    if (fake.taken != host + there)
        fprintf(out, ", which are %.6g", (double)fake.taken / KIB);
    fprintf(out, "; %u made\n", fake.made);
}

static void list_queues(FILE *out, size_t count)
{
    struct xb_queue **queues = NULL;
    struct xb_error error;
    enum xb_status status = xb_workspace_queues(fake.workspace, count, &queues, &error);
    fprintf(out, "%s", status == XB_OK ? "" : xb_status_name(status));
    assert_int_equal(queues != NULL, status == XB_OK);
    for (size_t i = 0; status == XB_OK && i < count; i++)
        fprintf(out, "%c", letter_of(queues[i]));
    fprintf(out, "; %u open\n", fake.queues);
}

static void obey(FILE *out, char **words)
{
    struct xb_error error;
    unsigned number = words[1] != NULL ? (unsigned)atoi(words[1]) : 0;
    if (strcmp(words[0], "hint") == 0) {
        xb_workspace_close(fake.workspace);
        fake.workspace = xb_workspace_open(fake.device, size_of(words[1]));
    } else if (strcmp(words[0], "room") == 0) {
        fake.room = number > 0 ? size_of(words[1]) : UINT64_MAX;
    } else if (strcmp(words[0], "begin") == 0) {
        fake.bytes = size_of(words[1]);
        fake.beyond = size_of(words[1] != NULL ? words[2] : NULL);
        xb_workspace_begin(fake.workspace, fake.bytes);
        fprintf(out, "%u queues open", fake.queues);
        tell_kept(out);
    } else if (strcmp(words[0], "spread") == 0) {
        fprintf(out, "%u", xb_workspace_spread(fake.workspace, number, &error));
        tell_kept(out);
    } else if (strcmp(words[0], "place") == 0) {
        xb_workspace_place(fake.workspace, number);
    } else if (strcmp(words[0], "share") == 0) {
        xb_workspace_share(fake.workspace);
    } else if (strcmp(words[0], "host") == 0) {
        fprintf(out, "%c\n", letter_of(xb_workspace_host_buffer(fake.workspace, number)));
    } else if (strcmp(words[0], "queues") == 0) {
        list_queues(out, number);
    } else if (strcmp(words[0], "fail") == 0) {
        xb_fake.fail_at = xb_fake.calls + number;
    } else if (strcmp(words[0], "history") == 0) {
        fake.device->info.engine_by_history = true;
    } else {
        unsigned memory = 0;
        while (strcmp(xb_memory_name((enum xb_memory)memory), words[0]) != 0)
            assert_true(++memory <= XB_MEMORY_MANAGED);
        borrow(out, (enum xb_memory)memory, number, size_of(words[2]));
        tell_kept(out);
    }
}

TEST(what_is_kept_and_given_up)
{
    static const struct verb verbs[] = {{NULL, obey}};
    run_cases("runs/workspace", verbs, begin_paragraph);
    close_device();
    xb_workspace_close(NULL);
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

/* The same buffer is borrowed by that number. */
static void expect_numbered(const struct xb_buffer *buffer, unsigned number, enum xb_memory memory)
{
    struct xb_buffer *same = NULL;
    struct xb_error error;
    assert_int_equal(xb_workspace_buffer(fake.workspace, number, memory, KIB, false, &same, &error),
                     XB_OK);
    assert_ptr_equal(same, buffer);
}

TEST(a_case_takes_what_it_lists)
{
    const struct xb_mode mode = {.buffers = list};
    const struct xb_case test = {.mode = &mode, .bytes = 4 * KIB};
    const struct xb_case largest = {.mode = &mode, .bytes = INT64_MAX};
    struct xb_buffer own = {.bytes = 4 * KIB};
    struct held held = {.own = &own};
    struct xb_error error;
    open_device();
    struct xb_mode_context context = {.test = &test,
                                      .state = &held,
                                      .workspace = fake.workspace,
                                      .peer_workspace = fake.workspace,
                                      .peer_share = {.of = 2, .number = 1}};
    assert_int_equal(xb_case_needs(&test).host_bytes, (5 + 3) * KIB);
    assert_int_equal(xb_case_needs(&test).device_bytes, (3 * 5 + 2) * KIB);
    assert_true(xb_case_needs(&largest).device_bytes == UINT64_MAX);
    xb_workspace_begin(fake.workspace, 4 * KIB);
    assert_int_equal(xb_borrow(&context, NULL, 2, &error), XB_OK);
    assert_int_equal(context.queue_count, 2);
    assert_int_equal(xb_workspace_borrowed(fake.workspace, true), (5 + 3) * KIB);
    assert_int_equal(xb_workspace_borrowed(fake.workspace, false), 2 * 5 * KIB);
    assert_ptr_equal(held.own, &own);
    assert_null(held.none);
    /* Each has the number of its place, and a second pair's buffers come behind the first's. */
    expect_numbered(held.managed, 0, XB_MEMORY_MANAGED);
    expect_numbered(held.ring, 2, XB_MEMORY_PINNED);
    expect_numbered(held.whole, 0, XB_MEMORY_DEVICE);
    expect_numbered(held.peers, 2, XB_MEMORY_DEVICE);
    close_device();
}
