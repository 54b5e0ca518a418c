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

#include "../doubles/damage.h"
#include "../doubles/fake_backend.h"

const struct xb_backend *tested;
struct fixture *f;

struct group plain_tests = {"plain", NULL, false, 0, {}};
#define OWN_GROUP plain_tests

void add_to_group(struct group *group, struct CMUnitTest test)
{
    if (group->count == COUNT_OF(group->tests))
        abort();
    group->tests[group->count++] = test;
}

void must(enum xb_status status, const struct xb_error *error)
{
    char text[1024];
    if (status != XB_OK)
        fail_msg("%s", xb_error_text(error, text, sizeof text));
}

void must_fail(enum xb_status expected, enum xb_status status, const struct xb_error *error)
{
    if (expected != XB_OK)
        assert_int_equal(status, expected);
    assert_int_not_equal(status, XB_OK);
    assert_string_not_equal(error->message, "");
}

int set_up(NO_STATE)
{
    static struct fixture fixture;
    struct xb_error error;
    f = &fixture;
    MUST(driver_open, &f->driver, &f->probe);
    MUST(device_open, f->driver, 0, &f->device);
    /* First, because the tests call the slots for what a device claims without looking at them. */
    must(xb_registry_check_device(tested, &f->device->info, &error), &error);
    MUST(queue_open, f->device, &f->queue);
    f->there = allocate(XB_MEMORY_DEVICE);
    f->pinned = allocate(XB_MEMORY_PINNED);
    return 0;
}

int tear_down(NO_STATE)
{
    xb_damaged_how = XB_DAMAGE_NONE;
    tested->queue_close(f->queue);
    tested->buffer_free(f->there);
    tested->buffer_free(f->pinned);
    tested->device_close(f->device);
    tested->driver_close(f->driver);
    return 0;
}

bool can(uint32_t capabilities)
{
    return (capabilities & ~f->device->info.capabilities) == 0;
}

struct xb_buffer *allocate(enum xb_memory memory)
{
    struct xb_buffer *buffer = NULL;
    MUST(buffer_allocate, f->device, memory, BYTES, &buffer);
    return buffer;
}

void fill(struct xb_pattern with)
{
    MUST(queue_fill, f->queue, f->there, BYTES, with);
}

void copy(struct xb_buffer *target, uint64_t to, struct xb_buffer *source, uint64_t from,
          uint64_t bytes)
{
    MUST(queue_copy, f->queue, target, to, source, from, bytes);
}

void hold(void)
{
    MUST(queue_hold, f->queue);
}

void release(void)
{
    tested->queue_release(f->queue);
}

void await(void)
{
    MUST(queue_wait, f->queue);
}

const unsigned char *bring_back(void)
{
    copy(f->pinned, 0, f->there, 0, BYTES);
    await();
    return f->pinned->host_address;
}

void place_word(struct xb_buffer *buffer, uint64_t word)
{
    memcpy(f->pinned->host_address, &word, sizeof word);
    copy(buffer, 0, f->pinned, 0, sizeof word);
    await();
}

uint64_t word_of(struct xb_buffer *buffer, uint64_t offset)
{
    uint64_t word;
    copy(f->pinned, 0, buffer, offset, sizeof word);
    await();
    memcpy(&word, f->pinned->host_address, sizeof word);
    return word;
}

struct xb_mismatch check(uint64_t bytes)
{
    struct xb_mismatch mismatch = {.wrong_bytes = 77, .first_offset = 77};
    MUST(queue_check, f->queue, f->there, bytes, pattern, &mismatch);
    return mismatch;
}

void expect_range(const unsigned char *memory, uint64_t to, uint64_t from, uint64_t bytes)
{
    const uint64_t end = to + bytes;
    EXPECT_BYTES(memory, 0, to, poison);
    EXPECT_BYTES(memory + to, from, bytes, pattern);
    EXPECT_BYTES(memory + end, end, BYTES - end, poison);
}

/* ---- driver and device ---- */

TEST(probe_says_what_was_found)
{
    assert_ptr_equal(f->driver->backend, tested);
    assert_true(f->probe.device_count >= 1);
    assert_true(f->probe.check_count >= 1 && f->probe.check_count <= XB_PROBE_CHECKS);
    for (size_t i = 0; i < f->probe.check_count; i++) {
        assert_true(f->probe.checks[i].ok);
        assert_string_not_equal(f->probe.checks[i].what, "");
        assert_string_not_equal(f->probe.checks[i].found, "");
    }
}

TEST(device_describes_itself)
{
    const struct xb_device_info *info = &f->device->info;
    uint64_t free_bytes = 0;
    assert_ptr_equal(f->device->backend, tested);
    assert_int_equal(info->index, 0);
    assert_string_not_equal(info->name, "");
    assert_true(info->memory_bytes > 0);
    MUST(device_memory, f->device, &free_bytes);
    assert_true(free_bytes > 0 && free_bytes <= info->memory_bytes);
}

TEST(device_out_of_range_fails)
{
    struct xb_device_info info;
    struct xb_device *device = NULL;
    FAILS(XB_OK, device_info, f->driver, 4711, &info);
    FAILS(XB_OK, device_open, f->driver, 4711, &device);
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

TEST(buffers_are_what_was_asked_for)
{
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct xb_buffer *buffer = NULL;
        if (!can(kinds[i].capability)) {
            FAILS(XB_ERR_UNSUPPORTED, buffer_allocate, f->device, kinds[i].memory, BYTES, &buffer);
            assert_null(buffer);
            continue;
        }
        buffer = allocate(kinds[i].memory);
        assert_int_equal(buffer->memory, kinds[i].memory);
        assert_true(buffer->bytes == BYTES);
        assert_ptr_equal(buffer->device, f->device);
        assert_true((buffer->host_address == NULL) == (kinds[i].memory == XB_MEMORY_DEVICE));
        assert_int_equal((uintptr_t)buffer->host_address % 4096, 0);
        if (buffer->host_address != NULL)
            memset(buffer->host_address, 0x5a, BYTES);
        tested->buffer_free(buffer);
    }
    tested->buffer_free(NULL);
}

/* Bytes that are sent from there arrive on the device, and come back. */
static void copy_there_and_back(struct xb_buffer *host)
{
    xb_host_fill(host->host_address, 0, BYTES, pattern);
    fill(poison);
    copy(f->there, 0, host, 0, BYTES);
    assert_true(check(BYTES).wrong_bytes == 0);
    xb_host_fill(host->host_address, 0, BYTES, poison);
    copy(host, 0, f->there, 0, BYTES);
    await();
    EXPECT_BYTES(host->host_address, 0, BYTES, pattern);
}

/* Memory of the caller's is locked where it lies, keeps what it holds, and stays when the buffer
 * goes: then it can be locked once more. */
TEST(memory_in_use_is_locked_in_place)
{
    struct xb_error error;
    void *memory = NULL;
    NEEDS(XB_CAP_REGISTER);
    must(xb_pages_map(BYTES, &memory, &error), &error);
    xb_host_fill(memory, 0, BYTES, pattern);
    for (int times = 0; times < 2; times++) {
        struct xb_buffer *buffer = NULL;
        MUST(buffer_register, f->device, memory, BYTES, &buffer);
        assert_int_equal(buffer->memory, XB_MEMORY_REGISTERED);
        assert_true(buffer->bytes == BYTES);
        assert_ptr_equal(buffer->device, f->device);
        assert_ptr_equal(buffer->host_address, memory);
        EXPECT_BYTES(memory, 0, BYTES, pattern);
        copy_there_and_back(buffer);
        tested->buffer_free(buffer);
        EXPECT_BYTES(memory, 0, BYTES, pattern);
    }
    xb_pages_unmap(memory, BYTES);
}

TEST(memory_that_begins_on_no_page_is_not_locked)
{
    struct xb_buffer *buffer = NULL;
    char *memory = f->pinned->host_address;
    NEEDS(XB_CAP_REGISTER);
    REFUSED(buffer_register, f->device, NULL, 4096, &buffer);
    REFUSED(buffer_register, f->device, memory + 8, 4096, &buffer);
    REFUSED(buffer_register, f->device, memory, 0, &buffer);
    assert_null(buffer);
}

/* Small ones too: what a runtime packs together would share pages and lose its alignment. */
TEST(small_buffers_are_aligned_too)
{
    const uint64_t sizes[] = {1, 7, 4096};
    struct xb_buffer *buffers[3];
    for (size_t i = 0; i < 3; i++) {
        MUST(buffer_allocate, f->device, XB_MEMORY_PINNED, sizes[i], &buffers[i]);
        assert_int_equal((uintptr_t)buffers[i]->host_address % 4096, 0);
        assert_true(buffers[i]->bytes == sizes[i]);
    }
    for (size_t i = 0; i < 3; i++)
        tested->buffer_free(buffers[i]);
}

TEST(impossible_allocation_fails)
{
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct xb_buffer *buffer = NULL;
        FAILS(can(kinds[i].capability) ? XB_ERR_MEMORY : XB_ERR_UNSUPPORTED, buffer_allocate,
              f->device, kinds[i].memory, UINT64_C(1) << 50, &buffer);
        assert_null(buffer);
    }
    fill(pattern); /* and the device still works */
    assert_int_equal(check(BYTES).wrong_bytes, 0);
}

/* ---- fill and check ---- */

TEST(check_finds_what_differs)
{
    fill(pattern);
    struct xb_mismatch mismatch = check(BYTES);
    assert_true(mismatch.wrong_bytes == 0);
    fill(poison);
    mismatch = check(BYTES);
    assert_true(mismatch.wrong_bytes == BYTES); /* the poison differs in every byte */
    assert_true(mismatch.first_offset == 0);
    for (uint64_t bytes = 1; bytes < 20; bytes++)
        assert_true(check(bytes).wrong_bytes == bytes);
}

/* A device is never asked for a computed pattern: it makes one by computing. */
TEST(fill_and_check_take_no_steps)
{
    struct xb_pattern stepped = pattern;
    struct xb_mismatch mismatch = {.wrong_bytes = 77};
    stepped.steps = 5;
    fill(stepped);
    assert_true(check(BYTES).wrong_bytes == 0);
    MUST(queue_check, f->queue, f->there, BYTES, stepped, &mismatch);
    assert_true(mismatch.wrong_bytes == 0);
}

/* The device's generator against the host's: both sides must mean the same bytes. */
TEST(device_pattern_is_the_hosts)
{
    fill(pattern);
    memset(f->pinned->host_address, 0, BYTES);
    EXPECT_BYTES(bring_back(), 0, BYTES, pattern);
}

/* One wrong byte, at every place where a mistake in the ends or strides would hide it. */
TEST(check_finds_a_single_byte)
{
    const uint64_t places[] = {0, 1, 7, 8, 4095, 4096, BYTES / 2, BYTES - 9, BYTES - 2, BYTES - 1};
    unsigned char *host = f->pinned->host_address;
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        xb_host_fill(host, 0, BYTES, pattern);
        host[places[i]] ^= 0x80;
        fill(poison);
        copy(f->there, 0, f->pinned, 0, BYTES);
        struct xb_mismatch mismatch = check(BYTES);
        assert_true(mismatch.wrong_bytes == 1);
        assert_true(mismatch.first_offset == places[i]);
    }
}

/* ---- copies ---- */

/* Whether bytes that are sent from there arrive on the device, and come back. */
TEST(copies_arrive)
{
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (kinds[i].memory == XB_MEMORY_DEVICE || kinds[i].memory == XB_MEMORY_MANAGED ||
            !can(kinds[i].capability))
            continue;
        struct xb_buffer *host = allocate(kinds[i].memory);
        copy_there_and_back(host);
        tested->buffer_free(host);
    }
}

TEST(offsets_are_kept)
{
    unsigned char *host = f->pinned->host_address;
    fill(pattern);
    xb_host_fill(host, 0, BYTES, poison);
    copy(f->pinned, 100, f->there, 5000, 777);
    await();
    expect_range(host, 100, 5000, 777);
}

/* From one buffer to another, at odd places, and from one half of a buffer to the other. */
TEST(a_device_copies_within_its_memory)
{
    const uint64_t half = BYTES / 2;
    struct xb_buffer *source = allocate(XB_MEMORY_DEVICE);
    MUST(queue_fill, f->queue, source, BYTES, pattern);
    fill(poison);
    copy(f->there, 101, source, 5003, half);
    expect_range(bring_back(), 101, 5003, half);
    copy(f->there, 0, source, 0, BYTES);
    assert_true(check(BYTES).wrong_bytes == 0);
    copy(f->there, half, f->there, 0, half);
    const unsigned char *host = bring_back();
    EXPECT_BYTES(host, 0, half, pattern);
    EXPECT_BYTES(host + half, 0, half, pattern);
    tested->buffer_free(source);
}

TEST(bad_ranges_are_refused)
{
    struct xb_buffer *there = f->there, *pinned = f->pinned;
    struct xb_mismatch mismatch;
    const struct {
        struct xb_buffer *target;
        uint64_t to;
        struct xb_buffer *source;
        uint64_t from, bytes;
    } bad[] = {
        {there, 1, pinned, 0, BYTES},      {there, 0, pinned, 1, BYTES},
        {there, UINT64_MAX, pinned, 0, 2}, {there, 0, there, 0, 8},
        {there, 7, there, 0, 8},           {there, 0, there, 7, 8},
        {there, 8, there, 0, BYTES},       {pinned, 0, pinned, 0, 8},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        REFUSED(queue_copy, f->queue, bad[i].target, bad[i].to, bad[i].source, bad[i].from,
                bad[i].bytes);
    REFUSED(queue_fill, f->queue, there, BYTES + 1, pattern);
    REFUSED(queue_fill, f->queue, pinned, 8, pattern);
    REFUSED(queue_check, f->queue, there, BYTES + 1, pattern, &mismatch);
    REFUSED(queue_check, f->queue, pinned, 8, pattern, &mismatch);
}

TEST(order_is_kept)
{
    xb_host_fill(f->pinned->host_address, 0, BYTES, pattern);
    for (int i = 0; i < 20; i++)
        fill(poison);
    copy(f->there, 0, f->pinned, 0, BYTES);
    assert_true(check(BYTES).wrong_bytes == 0);
}

/* To the device once the queue was waited for; back as soon as the call returns. */
TEST(synchronous_copies_arrive)
{
    static const enum xb_memory memories[] = {XB_MEMORY_PAGEABLE, XB_MEMORY_PINNED};
    struct xb_queue *blocking = NULL;
    MUST(queue_open_blocking, f->device, &blocking);
    for (size_t i = 0; i < 2; i++) {
        struct xb_buffer *host = allocate(memories[i]);
        xb_host_fill(host->host_address, 0, BYTES, pattern);
        fill(poison);
        await();
        MUST(queue_copy, blocking, f->there, 0, host, 0, BYTES);
        MUST(queue_wait, blocking);
        struct xb_mismatch found = {.wrong_bytes = 77};
        MUST(queue_check, blocking, f->there, BYTES, pattern, &found);
        assert_true(found.wrong_bytes == 0);
        xb_host_fill(host->host_address, 0, BYTES, poison);
        MUST(queue_copy, blocking, host, 0, f->there, 0, BYTES);
        EXPECT_BYTES(host->host_address, 0, BYTES, pattern);
        tested->buffer_free(host);
    }
    tested->queue_close(blocking);
}

TEST(a_pool_gives_memory_and_takes_it_back)
{
    struct xb_buffer *none = NULL;
    NEEDS(XB_CAP_POOL);
    for (int i = 0; i < 3; i++) {
        struct xb_buffer *buffer = NULL;
        MUST(queue_allocate, f->queue, BYTES, &buffer);
        assert_true(buffer->memory == XB_MEMORY_DEVICE && buffer->bytes == BYTES);
        xb_host_fill(f->pinned->host_address, 0, BYTES, pattern);
        copy(buffer, 0, f->pinned, 0, BYTES);
        await();
        memset(f->pinned->host_address, 0, BYTES);
        copy(f->pinned, 0, buffer, 0, BYTES);
        await();
        EXPECT_BYTES(f->pinned->host_address, 0, BYTES, pattern);
        tested->buffer_free(buffer);
    }
    FAILS(XB_ERR_MEMORY, queue_allocate, f->queue, UINT64_C(1) << 50, &none);
    assert_null(none);
}

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

static struct group *const groups[] = {
    &plain_tests,  &kernel_tests, &piece_tests,        &pair_tests,
    &event_tests,  &decode_tests, &held_decode_tests,  &damage_tests,
    &digest_tests, &file_tests,   &damaged_file_tests,
};

static int run_group(const struct group *group, const char *backend)
{
    const struct xb_backend *undamaged = tested;
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", backend, group->what != NULL ? ": " : "",
             group->what != NULL ? group->what : "");
    xb_damager.damage = &xb_damaged_how;
    if (group->is_damaged && tested != &xb_fake_backend) /* that damages by itself */
        tested = xb_damaged_wrap(undamaged);
    int failed = _cmocka_run_group_tests(name, group->tests, group->count, NULL, NULL);
    tested = undamaged;
    return failed;
}

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
        for (size_t i = 0; i < COUNT_OF(groups); i++) {
            if (argc > 2 && strcmp(groups[i]->name, argv[2]) != 0)
                continue;
            failed += run_group(groups[i], entry->name);
            ran++;
        }
    }
    return failed == 0 && ran > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
