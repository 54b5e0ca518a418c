/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * The rules of backend.h, asserted over every backend of the list that can run here. A backend that
 * cannot is named, not passed over in silence. Kernels and managed memory: contract_kernels.c; many
 * pieces: contract_pieces.c; two devices: contract_pairs.c; holds and events: contract_events.c;
 * decoding: contract_decode.c; digests: contract_digest.c; files: contract_files.c; what the damage
 * is that other tests do: contract_damage.c.
 */
#include "contract.h"

#include "backends/registry.h"
#include "machine/host_memory.h"

#include "../doubles/fake_backend.h"
#include "backends/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct xb_backend *tested;

void must(enum xb_status status, const struct xb_error *error)
{
    char text[1024];
    if (status != XB_OK)
        fail_msg("%s", xb_error_text(error, text, sizeof text));
}

int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct xb_error error;
    assert_non_null(f);
    f->backend = tested;
    must(f->backend->driver_open(&f->driver, &f->probe, &error), &error);
    must(f->backend->device_open(f->driver, 0, &f->device, &error), &error);
    /* First, because the tests call the slots for what a device claims without looking at them. */
    must(xb_registry_check_device(f->backend, &f->device->info, &error), &error);
    must(f->backend->queue_open(f->device, &f->queue, &error), &error);
    must(f->backend->buffer_allocate(f->device, XB_MEMORY_DEVICE, BYTES, &f->there, &error),
         &error);
    must(f->backend->buffer_allocate(f->device, XB_MEMORY_PINNED, BYTES, &f->pinned, &error),
         &error);
    *state = f;
    return 0;
}

int tear_down(void **state)
{
    struct fixture *f = *state;
    f->backend->queue_close(f->queue);
    f->backend->buffer_free(f->there);
    f->backend->buffer_free(f->pinned);
    f->backend->device_close(f->device);
    f->backend->driver_close(f->driver);
    free(f);
    return 0;
}

bool can(const struct fixture *f, uint32_t capabilities)
{
    return (capabilities & ~f->device->info.capabilities) == 0;
}

struct xb_buffer *allocate(struct fixture *f, enum xb_memory memory)
{
    struct xb_buffer *buffer = NULL;
    struct xb_error error;
    must(f->backend->buffer_allocate(f->device, memory, BYTES, &buffer, &error), &error);
    return buffer;
}

void await(struct fixture *f)
{
    struct xb_error error;
    must(f->backend->queue_wait(f->queue, &error), &error);
}

void fill(struct fixture *f, struct xb_pattern with)
{
    struct xb_error error;
    must(f->backend->queue_fill(f->queue, f->there, BYTES, with, &error), &error);
}

struct xb_mismatch check(struct fixture *f, uint64_t bytes)
{
    struct xb_error error;
    struct xb_mismatch mismatch = {.wrong_bytes = 77, .first_offset = 77};
    must(f->backend->queue_check(f->queue, f->there, bytes, pattern, &mismatch, &error), &error);
    return mismatch;
}

/* ---- driver and device ---- */

static void test_probe_says_what_was_found(void **state)
{
    const struct fixture *f = *state;
    assert_ptr_equal(f->driver->backend, f->backend);
    assert_true(f->probe.device_count >= 1);
    assert_true(f->probe.check_count >= 1 && f->probe.check_count <= XB_PROBE_CHECKS);
    for (size_t i = 0; i < f->probe.check_count; i++) {
        assert_true(f->probe.checks[i].ok);
        assert_string_not_equal(f->probe.checks[i].what, "");
        assert_string_not_equal(f->probe.checks[i].found, "");
    }
}

static void test_device_describes_itself(void **state)
{
    const struct fixture *f = *state;
    const struct xb_device_info *info = &f->device->info;
    struct xb_error error;
    uint64_t free_bytes = 0;
    assert_ptr_equal(f->device->backend, f->backend);
    assert_int_equal(info->index, 0);
    assert_string_not_equal(info->name, "");
    assert_true(info->memory_bytes > 0);
    must(f->backend->device_memory(f->device, &free_bytes, &error), &error);
    assert_true(free_bytes > 0 && free_bytes <= info->memory_bytes);
}

static void test_device_out_of_range_fails(void **state)
{
    const struct fixture *f = *state;
    struct xb_device_info info;
    struct xb_device *device = NULL;
    struct xb_error error = {0};
    assert_int_not_equal(f->backend->device_info(f->driver, 4711, &info, &error), XB_OK);
    assert_string_not_equal(error.message, "");
    assert_int_not_equal(f->backend->device_open(f->driver, 4711, &device, &error), XB_OK);
    assert_null(device);
}

/* ---- buffers ---- */

/* Every kind of memory with the capability that it takes. */
static const struct {
    enum xb_memory memory;
    uint32_t capability;
} kinds[] = {
    {XB_MEMORY_DEVICE, 0},
    {XB_MEMORY_PAGEABLE, 0},
    {XB_MEMORY_PINNED, 0},
    {XB_MEMORY_REGISTERED, XB_CAP_REGISTER},
    {XB_MEMORY_WRITE_COMBINED, XB_CAP_WRITE_COMBINED},
    {XB_MEMORY_MAPPED, XB_CAP_MAPPED},
    {XB_MEMORY_MANAGED, XB_CAP_MANAGED},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

static void test_buffers_are_what_was_asked_for(void **state)
{
    const struct fixture *f = *state;
    for (size_t i = 0; i < KINDS; i++) {
        struct xb_buffer *buffer = NULL;
        struct xb_error error = {0};
        enum xb_status status =
            f->backend->buffer_allocate(f->device, kinds[i].memory, BYTES, &buffer, &error);
        if ((kinds[i].capability & ~f->device->info.capabilities) != 0) {
            assert_int_equal(status, XB_ERR_UNSUPPORTED);
            assert_null(buffer);
            continue;
        }
        must(status, &error);
        assert_int_equal(buffer->memory, kinds[i].memory);
        assert_true(buffer->bytes == BYTES);
        assert_ptr_equal(buffer->device, f->device);
        assert_true((buffer->host_address == NULL) == (kinds[i].memory == XB_MEMORY_DEVICE));
        assert_int_equal((uintptr_t)buffer->host_address % 4096, 0);
        if (buffer->host_address != NULL)
            memset(buffer->host_address, 0x5a, BYTES);
        f->backend->buffer_free(buffer);
    }
    f->backend->buffer_free(NULL);
}

/* Whether bytes that are sent from there arrive on the device, and others come back. */
static void expect_crossing(struct fixture *f, struct xb_buffer *host)
{
    struct xb_error error;
    xb_host_fill(host->host_address, 0, BYTES, pattern);
    fill(f, poison);
    must(f->backend->queue_copy(f->queue, f->there, 0, host, 0, BYTES, &error), &error);
    await(f);
    assert_int_equal(check(f, BYTES).wrong_bytes, 0);
    fill(f, poison);
    must(f->backend->queue_copy(f->queue, host, 0, f->there, 0, BYTES, &error), &error);
    await(f);
    assert_int_equal(xb_host_check(host->host_address, 0, BYTES, poison).wrong_bytes, 0);
}

/* Memory of the caller's is locked where it lies, keeps what it holds, and stays when the buffer
 * goes: then it can be locked once more. */
static void test_memory_in_use_is_locked_in_place(void **state)
{
    struct fixture *f = *state;
    struct xb_error error = {0};
    void *memory = NULL;
    if (!can(f, XB_CAP_REGISTER))
        return;
    must(xb_pages_map(BYTES, &memory, &error), &error);
    xb_host_fill(memory, 0, BYTES, pattern);
    for (int times = 0; times < 2; times++) {
        struct xb_buffer *buffer = NULL;
        must(f->backend->buffer_register(f->device, memory, BYTES, &buffer, &error), &error);
        assert_int_equal(buffer->memory, XB_MEMORY_REGISTERED);
        assert_true(buffer->bytes == BYTES);
        assert_ptr_equal(buffer->device, f->device);
        assert_ptr_equal(buffer->host_address, memory);
        assert_int_equal(xb_host_check(memory, 0, BYTES, times == 0 ? pattern : poison).wrong_bytes,
                         0);
        expect_crossing(f, buffer);
        f->backend->buffer_free(buffer);
    }
    assert_int_equal(xb_host_check(memory, 0, BYTES, poison).wrong_bytes, 0);
    xb_pages_unmap(memory, BYTES);
}

static void test_memory_that_begins_on_no_page_is_not_locked(void **state)
{
    struct fixture *f = *state;
    struct xb_buffer *buffer = NULL;
    struct xb_error error = {0};
    char *memory = f->pinned->host_address;
    if (!can(f, XB_CAP_REGISTER))
        return;
    const struct {
        void *address;
        uint64_t bytes;
    } wrong[] = {{NULL, 4096}, {memory + 8, 4096}, {memory, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(f->backend->buffer_register(f->device, wrong[i].address, wrong[i].bytes,
                                                     &buffer, &error),
                         XB_ERR_USAGE);
    assert_null(buffer);
}

/* Small ones too: what a runtime packs together would share pages and lose its alignment. */
static void test_small_buffers_are_aligned_too(void **state)
{
    const struct fixture *f = *state;
    const uint64_t sizes[] = {1, 7, 4096};
    struct xb_buffer *buffers[3];
    struct xb_error error;
    for (size_t i = 0; i < 3; i++) {
        must(
            f->backend->buffer_allocate(f->device, XB_MEMORY_PINNED, sizes[i], &buffers[i], &error),
            &error);
        assert_int_equal((uintptr_t)buffers[i]->host_address % 4096, 0);
        assert_true(buffers[i]->bytes == sizes[i]);
    }
    for (size_t i = 0; i < 3; i++)
        f->backend->buffer_free(buffers[i]);
}

static void test_impossible_allocation_fails(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < KINDS; i++) {
        struct xb_buffer *buffer = NULL;
        struct xb_error error = {0};
        bool has = (kinds[i].capability & ~f->device->info.capabilities) == 0;
        assert_int_equal(f->backend->buffer_allocate(f->device, kinds[i].memory, UINT64_C(1) << 50,
                                                     &buffer, &error),
                         has ? XB_ERR_MEMORY : XB_ERR_UNSUPPORTED);
        assert_null(buffer);
        assert_string_not_equal(error.message, "");
    }
    fill(f, pattern); /* and the device still works */
    assert_int_equal(check(f, BYTES).wrong_bytes, 0);
}

/* ---- fill and check ---- */

static void test_check_finds_what_differs(void **state)
{
    struct fixture *f = *state;
    fill(f, pattern);
    struct xb_mismatch mismatch = check(f, BYTES);
    assert_true(mismatch.wrong_bytes == 0);
    fill(f, poison);
    mismatch = check(f, BYTES);
    assert_true(mismatch.wrong_bytes == BYTES); /* the poison differs in every byte */
    assert_true(mismatch.first_offset == 0);
    for (uint64_t bytes = 1; bytes < 20; bytes++)
        assert_true(check(f, bytes).wrong_bytes == bytes);
}

/* A device is never asked for a computed pattern: it makes one by computing. */
static void test_fill_and_check_take_no_steps(void **state)
{
    struct fixture *f = *state;
    struct xb_pattern stepped = pattern;
    struct xb_mismatch mismatch = {.wrong_bytes = 77};
    struct xb_error error;
    stepped.steps = 5;
    fill(f, stepped);
    assert_true(check(f, BYTES).wrong_bytes == 0);
    must(f->backend->queue_check(f->queue, f->there, BYTES, stepped, &mismatch, &error), &error);
    assert_true(mismatch.wrong_bytes == 0);
}

/* The device's generator against the host's: both sides must mean the same bytes. */
static void test_device_pattern_is_the_hosts(void **state)
{
    struct fixture *f = *state;
    struct xb_error error;
    fill(f, pattern);
    memset(f->pinned->host_address, 0, BYTES);
    must(f->backend->queue_copy(f->queue, f->pinned, 0, f->there, 0, BYTES, &error), &error);
    must(f->backend->queue_wait(f->queue, &error), &error);
    assert_true(xb_host_check(f->pinned->host_address, 0, BYTES, pattern).wrong_bytes == 0);
}

/* One wrong byte, at every place where a mistake in the ends or strides would hide it. */
static void test_check_finds_a_single_byte(void **state)
{
    struct fixture *f = *state;
    const uint64_t places[] = {0, 1, 7, 8, 4095, 4096, BYTES / 2, BYTES - 9, BYTES - 2, BYTES - 1};
    struct xb_error error;
    unsigned char *host = f->pinned->host_address;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        xb_host_fill(host, 0, BYTES, pattern);
        host[places[i]] ^= 0x80;
        fill(f, poison);
        must(f->backend->queue_copy(f->queue, f->there, 0, f->pinned, 0, BYTES, &error), &error);
        struct xb_mismatch mismatch = check(f, BYTES);
        assert_true(mismatch.wrong_bytes == 1);
        assert_true(mismatch.first_offset == places[i]);
    }
}

/* ---- copies ---- */

static void copy_there_and_back(struct fixture *f, struct xb_buffer *host)
{
    struct xb_error error;
    xb_host_fill(host->host_address, 0, BYTES, pattern);
    fill(f, poison);
    must(f->backend->queue_copy(f->queue, f->there, 0, host, 0, BYTES, &error), &error);
    assert_true(check(f, BYTES).wrong_bytes == 0);
    xb_host_fill(host->host_address, 0, BYTES, poison);
    must(f->backend->queue_copy(f->queue, host, 0, f->there, 0, BYTES, &error), &error);
    must(f->backend->queue_wait(f->queue, &error), &error);
    assert_true(xb_host_check(host->host_address, 0, BYTES, pattern).wrong_bytes == 0);
}

static void test_copies_arrive(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < KINDS; i++) {
        struct xb_buffer *host = NULL;
        struct xb_error error;
        if (kinds[i].memory == XB_MEMORY_DEVICE || kinds[i].memory == XB_MEMORY_MANAGED ||
            (kinds[i].capability & ~f->device->info.capabilities) != 0)
            continue;
        must(f->backend->buffer_allocate(f->device, kinds[i].memory, BYTES, &host, &error), &error);
        copy_there_and_back(f, host);
        f->backend->buffer_free(host);
    }
}

static void test_offsets_are_kept(void **state)
{
    struct fixture *f = *state;
    struct xb_error error;
    unsigned char *host = f->pinned->host_address;
    fill(f, pattern);
    memset(host, 0, BYTES);
    must(f->backend->queue_copy(f->queue, f->pinned, 100, f->there, 5000, 777, &error), &error);
    must(f->backend->queue_wait(f->queue, &error), &error);
    assert_int_equal(host[99], 0);
    assert_true(xb_host_check(host + 100, 5000, 777, pattern).wrong_bytes == 0);
    assert_int_equal(host[877], 0);
}

/* From one buffer to another, at odd places, and from one half of a buffer to the other. */
static void test_a_device_copies_within_its_memory(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    const uint64_t half = BYTES / 2;
    struct xb_buffer *source = NULL;
    struct xb_error error;
    const unsigned char *host = f->pinned->host_address;
    must(b->buffer_allocate(f->device, XB_MEMORY_DEVICE, BYTES, &source, &error), &error);
    must(b->queue_fill(f->queue, source, BYTES, pattern, &error), &error);
    fill(f, poison);
    must(b->queue_copy(f->queue, f->there, 101, source, 5003, half, &error), &error);
    must(b->queue_copy(f->queue, f->pinned, 0, f->there, 0, BYTES, &error), &error);
    must(b->queue_wait(f->queue, &error), &error);
    assert_true(xb_host_check(host, 0, 101, poison).wrong_bytes == 0);
    assert_true(xb_host_check(host + 101, 5003, half, pattern).wrong_bytes == 0);
    assert_true(
        xb_host_check(host + 101 + half, 101 + half, BYTES - half - 101, poison).wrong_bytes == 0);
    must(b->queue_copy(f->queue, f->there, 0, source, 0, BYTES, &error), &error);
    assert_true(check(f, BYTES).wrong_bytes == 0);
    must(b->queue_copy(f->queue, f->there, half, f->there, 0, half, &error), &error);
    must(b->queue_copy(f->queue, f->pinned, 0, f->there, 0, BYTES, &error), &error);
    must(b->queue_wait(f->queue, &error), &error);
    assert_true(xb_host_check(host, 0, half, pattern).wrong_bytes == 0);
    assert_true(xb_host_check(host + half, 0, half, pattern).wrong_bytes == 0);
    b->buffer_free(source);
}

static void test_bad_ranges_are_refused(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    struct xb_mismatch mismatch;
    struct xb_error error;
    assert_int_equal(b->queue_copy(f->queue, f->there, 1, f->pinned, 0, BYTES, &error),
                     XB_ERR_USAGE);
    assert_int_equal(b->queue_copy(f->queue, f->there, 0, f->pinned, 1, BYTES, &error),
                     XB_ERR_USAGE);
    assert_int_equal(b->queue_copy(f->queue, f->there, UINT64_MAX, f->pinned, 0, 2, &error),
                     XB_ERR_USAGE);
    assert_int_equal(b->queue_copy(f->queue, f->there, 0, f->there, 0, 8, &error), XB_ERR_USAGE);
    assert_int_equal(b->queue_copy(f->queue, f->there, 7, f->there, 0, 8, &error), XB_ERR_USAGE);
    assert_int_equal(b->queue_copy(f->queue, f->there, 0, f->there, 7, 8, &error), XB_ERR_USAGE);
    assert_int_equal(b->queue_copy(f->queue, f->there, 8, f->there, 0, BYTES, &error),
                     XB_ERR_USAGE);
    assert_int_equal(b->queue_copy(f->queue, f->pinned, 0, f->pinned, 0, 8, &error), XB_ERR_USAGE);
    assert_int_equal(b->queue_fill(f->queue, f->there, BYTES + 1, pattern, &error), XB_ERR_USAGE);
    assert_int_equal(b->queue_fill(f->queue, f->pinned, 8, pattern, &error), XB_ERR_USAGE);
    assert_int_equal(b->queue_check(f->queue, f->there, BYTES + 1, pattern, &mismatch, &error),
                     XB_ERR_USAGE);
    assert_int_equal(b->queue_check(f->queue, f->pinned, 8, pattern, &mismatch, &error),
                     XB_ERR_USAGE);
}

static void test_order_is_kept(void **state)
{
    struct fixture *f = *state;
    struct xb_error error;
    xb_host_fill(f->pinned->host_address, 0, BYTES, pattern);
    for (int i = 0; i < 20; i++)
        fill(f, poison);
    must(f->backend->queue_copy(f->queue, f->there, 0, f->pinned, 0, BYTES, &error), &error);
    assert_true(check(f, BYTES).wrong_bytes == 0);
}

/* To the device once the queue was waited for; back as soon as the call returns. */
static void test_synchronous_copies_arrive(void **state)
{
    static const enum xb_memory memories[] = {XB_MEMORY_PAGEABLE, XB_MEMORY_PINNED};
    struct fixture *f = *state;
    struct xb_queue *blocking = NULL;
    struct xb_error error;
    must(f->backend->queue_open_blocking(f->device, &blocking, &error), &error);
    for (size_t i = 0; i < 2; i++) {
        struct xb_buffer *host = allocate(f, memories[i]);
        xb_host_fill(host->host_address, 0, BYTES, pattern);
        fill(f, poison);
        await(f);
        must(f->backend->queue_copy(blocking, f->there, 0, host, 0, BYTES, &error), &error);
        must(f->backend->queue_wait(blocking, &error), &error);
        struct xb_mismatch found = {.wrong_bytes = 77};
        must(f->backend->queue_check(blocking, f->there, BYTES, pattern, &found, &error), &error);
        assert_true(found.wrong_bytes == 0);
        xb_host_fill(host->host_address, 0, BYTES, poison);
        must(f->backend->queue_copy(blocking, host, 0, f->there, 0, BYTES, &error), &error);
        assert_true(xb_host_check(host->host_address, 0, BYTES, pattern).wrong_bytes == 0);
        f->backend->buffer_free(host);
    }
    f->backend->queue_close(blocking);
}

static void test_a_pool_gives_memory_and_takes_it_back(void **state)
{
    struct fixture *f = *state;
    struct xb_error error;
    if (!can(f, XB_CAP_POOL))
        skip();
    for (int i = 0; i < 3; i++) {
        struct xb_buffer *buffer = NULL;
        must(f->backend->queue_allocate(f->queue, BYTES, &buffer, &error), &error);
        assert_true(buffer->memory == XB_MEMORY_DEVICE && buffer->bytes == BYTES);
        xb_host_fill(f->pinned->host_address, 0, BYTES, pattern);
        must(f->backend->queue_copy(f->queue, buffer, 0, f->pinned, 0, BYTES, &error), &error);
        await(f);
        memset(f->pinned->host_address, 0, BYTES);
        must(f->backend->queue_copy(f->queue, f->pinned, 0, buffer, 0, BYTES, &error), &error);
        await(f);
        assert_true(xb_host_check(f->pinned->host_address, 0, BYTES, pattern).wrong_bytes == 0);
        f->backend->buffer_free(buffer);
    }
    struct xb_buffer *none = NULL;
    assert_int_equal(f->backend->queue_allocate(f->queue, UINT64_C(1) << 50, &none, &error),
                     XB_ERR_MEMORY);
    assert_null(none);
}

static const struct CMUnitTest tests[] = {
    TEST(test_probe_says_what_was_found),
    TEST(test_device_describes_itself),
    TEST(test_device_out_of_range_fails),
    TEST(test_buffers_are_what_was_asked_for),
    TEST(test_memory_in_use_is_locked_in_place),
    TEST(test_memory_that_begins_on_no_page_is_not_locked),
    TEST(test_small_buffers_are_aligned_too),
    TEST(test_impossible_allocation_fails),
    TEST(test_check_finds_what_differs),
    TEST(test_fill_and_check_take_no_steps),
    TEST(test_device_pattern_is_the_hosts),
    TEST(test_check_finds_a_single_byte),
    TEST(test_copies_arrive),
    TEST(test_offsets_are_kept),
    TEST(test_a_device_copies_within_its_memory),
    TEST(test_bad_ranges_are_refused),
    TEST(test_order_is_kept),
    TEST(test_synchronous_copies_arrive),
    TEST(test_a_pool_gives_memory_and_takes_it_back),
};

static bool can_run(const struct xb_backend_entry *entry)
{
    struct xb_driver *driver = NULL;
    struct xb_probe probe;
    struct xb_error error;
    if (entry->backend == NULL) {
        printf("backend %s: not tested, not in this build: %s\n", entry->name,
               entry->absent_reason);
        return false;
    }
    if (entry->backend->driver_open(&driver, &probe, &error) != XB_OK) {
        printf("backend %s: not tested, cannot run here: %s\n", entry->name, error.message);
        return false;
    }
    entry->backend->driver_close(driver);
    return true;
}

static int run_plain_tests(const char *name)
{
    return _cmocka_run_group_tests(name, tests, sizeof tests / sizeof tests[0], NULL, NULL);
}

static const struct {
    const char *name;
    int (*run)(const char *name);
} groups[] = {
    {"plain", run_plain_tests},      {"kernels", run_kernel_tests}, {"pieces", run_piece_tests},
    {"pairs", run_pair_tests},       {"events", run_event_tests},   {"decoding", run_decode_tests},
    {"held", run_held_decode_tests}, {"damage", run_damage_tests},  {"digests", run_digest_tests},
    {"files", run_file_tests},
};

/* With a backend's name: that one alone, and it must run. With a group's behind it: that alone. */
int main(int argc, char **argv)
{
    int failed = 0;
    int ran = 0;
    xb_fake_reset();
    xb_fake.device_count = 2;
    for (const struct xb_backend_entry *entry = xb_backends; entry->name != NULL; entry++) {
        if ((argc > 1 && strcmp(entry->name, argv[1]) != 0) || !can_run(entry))
            continue;
        tested = entry->backend;
        for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
            if (argc > 2 && strcmp(groups[i].name, argv[2]) != 0)
                continue;
            failed += groups[i].run(entry->name);
            ran++;
        }
    }
    return failed == 0 && ran > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
