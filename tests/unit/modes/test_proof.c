/* SPDX-License-Identifier: Apache-2.0 */
/* The second opinion on copied data: windows of two buffers, compared byte by byte. */
#include "modes/proof.h"
#include "testing.h"

#define BYTES (100 * 4096 + 37) /* no window but the last reaches its last bytes */

static void free_nothing(struct xb_buffer *buffer)
{
    assert_null(buffer); /* host memory is read in place */
}

static struct xb_mismatch compare(size_t wrong)
{
    static unsigned char one[BYTES], other[BYTES];
    static const struct xb_backend backend = {.buffer_free = free_nothing};
    struct xb_device device = {.backend = &backend};
    struct xb_queue queue = {.device = &device};
    struct xb_buffer buffers[2] = {{.memory = XB_MEMORY_PAGEABLE, .host_address = one},
                                   {.memory = XB_MEMORY_PAGEABLE, .host_address = other}};
    const struct xb_proof_side sides[2] = {{&queue, &buffers[0], 0}, {&queue, &buffers[1], 0}};
    struct xb_mismatch found = {0};
    struct xb_error error;
    memset(other, 0, sizeof other);
    other[wrong] = 1;
    assert_int_equal(xb_proof_compare(&sides[0], &sides[1], BYTES, &found, &error), XB_OK);
    return found;
}

static unsigned char *mended; /* right again once it was compared; NULL: nothing is */

#define MENDING(compare)                                                                           \
    int __real_##compare(const void *one, const void *other, size_t bytes);                        \
    int __wrap_##compare(const void *one, const void *other, size_t bytes);                        \
    int __wrap_##compare(const void *one, const void *other, size_t bytes)                         \
    {                                                                                              \
        int difference = __real_##compare(one, other, bytes);                                      \
        if (mended != NULL)                                                                        \
            *mended = 0;                                                                           \
        return difference;                                                                         \
    }
MENDING(memcmp)
MENDING(bcmp) /* which a compiler may take for it */

TEST(what_was_wrong_once_is_wrong)
{
    unsigned char is[64] = {[9] = 1}, should[64] = {0};
    struct xb_mismatch found = {0};
    mended = &is[9];
    xb_proof_bytes(is, should, sizeof is, 1000, &found);
    mended = NULL;
    assert_int_equal(is[9], 0);
    assert_int_equal(found.wrong_bytes, 1);
    assert_int_equal(found.first_offset, 1000);
}

TEST(the_last_window_ends_with_the_data)
{
    static const size_t seen[] = {0, 4095, BYTES - 4096, BYTES - 1};
    (void)state;
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        struct xb_mismatch found = compare(seen[i]);
        assert_int_equal(found.wrong_bytes, 1);
        assert_int_equal(found.first_offset, seen[i]);
    }
    assert_int_equal(compare(4096).wrong_bytes, 0); /* between two windows */
}
