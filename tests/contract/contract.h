/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Shared between the files of the contract tests. */

#include "xferbench/backend.h"

#include "../unit/sanitized.h"

#include "../unit/testing.h"

/* Not a multiple of a word, a page or a block: ends are where mistakes are. Sanitizers, which look
 * at how memory is reached, get less of it: just more than the 2 MiB by which damaged copies shift.
 */
#define BYTES ((IS_SANITIZED ? UINT64_C(17) << 17 : UINT64_C(5) << 20) + 4099)
#define MANY(count) ((count) / (IS_SANITIZED ? 2 : 1)) /* as many as fit */

/* One backend, opened on its first device, with a queue and a buffer on either side. */
struct fixture {
    const struct xb_backend *backend;
    struct xb_driver *driver;
    struct xb_probe probe;
    struct xb_device *device;
    struct xb_queue *queue;
    struct xb_buffer *there, *pinned;
};

extern const struct xb_backend *tested; /* the backend whose group runs now */

static const struct xb_pattern pattern = {.seed = 12345, .flip = 0};
static const struct xb_pattern poison = {.seed = 12345, .flip = XB_PATTERN_POISON};

/* Fails the test with the error's text. */
void must(enum xb_status status, const struct xb_error *error);

int set_up(void **state);
int tear_down(void **state);
#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* Enqueues filling all of f->there; compares its first bytes with `pattern`. */
void fill(struct fixture *f, struct xb_pattern with);
struct xb_mismatch check(struct fixture *f, uint64_t bytes);

bool can(const struct fixture *f, uint32_t capabilities); /* whether the device has them all */
struct xb_buffer *allocate(struct fixture *f, enum xb_memory memory); /* of BYTES */
void await(struct fixture *f);                                        /* the queue */

/* The other files' tests, over `tested`. Return how many failed. */
int run_kernel_tests(const char *name);
int run_pair_tests(const char *name);
int run_piece_tests(const char *name);
int run_event_tests(const char *name);
int run_decode_tests(const char *name);
int run_digest_tests(const char *name);
int run_file_tests(const char *name);
int run_held_decode_tests(const char *name);
int run_damage_tests(const char *name);
