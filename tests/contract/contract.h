/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Shared between the files of the contract tests. */

#include "xferbench/backend.h"

#include "../unit/sanitized.h"
#include "../unit/testing.h"
#include "backends/verify.h"

/* Not a multiple of a word, a page or a block: ends are where mistakes are. Sanitizers, which look
 * at how memory is reached, get less of it: just more than the 2 MiB by which damaged copies shift.
 */
#define BYTES ((IS_SANITIZED ? UINT64_C(17) << 17 : UINT64_C(5) << 20) + 4099)
#define MANY(count) ((count) / (IS_SANITIZED ? 2 : 1)) /* as many as fit */

/* One backend, opened on its first device, with a queue and a buffer of BYTES on either side. */
struct fixture {
    struct xb_driver *driver;
    struct xb_probe probe;
    struct xb_device *device;
    struct xb_queue *queue;
    struct xb_buffer *there, *pinned;
};
extern struct fixture *f;               /* of the test that runs now */
extern const struct xb_backend *tested; /* the backend whose group runs now */

static const struct xb_pattern pattern = {.seed = 12345, .flip = 0};
static const struct xb_pattern poison = {.seed = 12345, .flip = XB_PATTERN_POISON};

/* Fails the test with the error's text. */
void must(enum xb_status status, const struct xb_error *error);
/* Fails the test if the call did not fail so, and with a message. XB_OK: any failure will do. */
void must_fail(enum xb_status expected, enum xb_status status, const struct xb_error *error);

/* A slot of the backend is called, and must do as it is told. */
#define MUST(slot, ...)                                                                            \
    do {                                                                                           \
        struct xb_error error_;                                                                    \
        must(tested->slot(__VA_ARGS__, &error_), &error_);                                         \
    } while (0)
/* It must fail. */
#define FAILS(status, slot, ...)                                                                   \
    do {                                                                                           \
        struct xb_error error_ = {0};                                                              \
        must_fail(status, tested->slot(__VA_ARGS__, &error_), &error_);                            \
    } while (0)
#define REFUSED(slot, ...) FAILS(XB_ERR_USAGE, slot, __VA_ARGS__)

/* That part of the pattern lies there, byte for byte. */
#define EXPECT_BYTES(memory, place, bytes, of)                                                     \
    assert_true(xb_host_check(memory, place, bytes, of).wrong_bytes == 0)

/* Skips the test on a device that cannot do all of this. */
#define NEEDS(capabilities)                                                                        \
    if (!can(capabilities))                                                                        \
    skip()
bool can(uint32_t capabilities);

int set_up(void **state);
int tear_down(void **state); /* whatever damage was asked for is over, too */

/* The tests of one file, or some of them. */
struct group {
    const char *name, *what;
    bool is_damaged; /* over the backend whose copies can be damaged */
    size_t count;
    struct CMUnitTest tests[24];
};
extern struct group plain_tests, kernel_tests, pair_tests, piece_tests, event_tests, decode_tests,
    held_decode_tests, digest_tests, file_tests, damaged_file_tests, damage_tests;
void add_to_group(struct group *group, struct CMUnitTest test);

/* A test of a group: TEST(what_holds) { ... }. A file defines OWN_GROUP, and OWN_END if what ends
 * its tests is not tear_down. */
#define TEST_OF(group, name, end)                                                                  \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        add_to_group(&(group),                                                                     \
                     (struct CMUnitTest)cmocka_unit_test_setup_teardown(name, set_up, end));       \
    }                                                                                              \
    static void name(NO_STATE)
#undef TEST
#define TEST(name) TEST_OF(OWN_GROUP, name, tear_down)

/* On f->queue: enqueues filling all of f->there, or copying. */
void fill(struct xb_pattern with);
void copy(struct xb_buffer *target, uint64_t to, struct xb_buffer *source, uint64_t from,
          uint64_t bytes);
void hold(void);
void release(void);
void await(void);
/* All of f->there where the CPU sees it, which is in f->pinned. */
const unsigned char *bring_back(void);
/* The first word of a buffer, written; one of its words, read. */
void place_word(struct xb_buffer *buffer, uint64_t word);
uint64_t word_of(struct xb_buffer *buffer, uint64_t offset);
/* Compares the first bytes of f->there with the pattern. */
struct xb_mismatch check(uint64_t bytes);
/* The memory has a range of the pattern in poison. */
void expect_range(const unsigned char *memory, uint64_t to, uint64_t from, uint64_t bytes);

struct xb_buffer *allocate(enum xb_memory memory); /* of BYTES, on f->device */
