/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Memory for tests of encoders and decoders. Who includes this defines _POSIX_C_SOURCE 200809L and
 * includes cmocka.h before. */

#include "testing.h"
#include "xferbench/format.h"

/* Exactly so many bytes, aligned as chunks are: AddressSanitizer sees an access behind them. */
static inline void *aligned_bytes(size_t bytes)
{
    void *memory = NULL;
    assert_int_equal(0, posix_memalign(&memory, XB_FORMAT_ALIGNMENT, bytes));
    return memory;
}

static inline unsigned char *aligned_copy(const void *source, size_t bytes)
{
    unsigned char *copy = aligned_bytes(bytes);
    if (bytes > 0)
        memcpy(copy, source, bytes);
    return copy;
}

/* A target between guards, which must stay as they are. */
#define GUARD 128u
#define GUARD_BYTE 0xA5

struct target {
    unsigned char *memory, *bytes;
    size_t size;
};

static inline struct target target_open(size_t size)
{
    struct target target = {aligned_bytes(size + 2 * GUARD), NULL, size};
    target.bytes = target.memory + GUARD;
    memset(target.memory, GUARD_BYTE, size + 2 * GUARD);
    return target;
}

static inline void target_check(const struct target *target)
{
    for (size_t i = 0; i < GUARD; i++) {
        assert_int_equal(GUARD_BYTE, target->memory[i]);
        assert_int_equal(GUARD_BYTE, target->bytes[target->size + i]);
    }
}

static inline void target_close(struct target *target)
{
    target_check(target);
    free(target->memory);
}

/* The same numbers in every run. */
static inline uint32_t made_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

static inline uint32_t word_at(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static inline void put_word(unsigned char *bytes, uint32_t word)
{
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(word >> (8 * i));
}

/* Words, which LZ4 makes smaller, or bytes that it does not. */
static inline void made_bytes(unsigned char *bytes, size_t count, bool text)
{
    uint64_t random = 7;
    static const char *const words[] = {"what ", "is ", "encoded ", "comes ", "back, ", "always "};
    for (size_t at = 0; at < count;) {
        const char *word = words[made_number(&random) % 6];
        for (; text && *word != '\0' && at < count; word++)
            bytes[at++] = (unsigned char)*word;
        if (at < count) /* so that it is never quite the same */
            bytes[at++] = (unsigned char)(made_number(&random) >> (text ? 29 : 0));
    }
}

/* A format without loss. */
struct coder {
    uint64_t (*bound)(uint64_t bytes);
    uint64_t (*encode)(const void *source, uint64_t bytes, void *target);
    void (*decode)(const void *encoded, uint64_t encoded_bytes, void *target, uint64_t bytes,
                   uint64_t offset, struct xb_decode_report *report);
};

/* Encodes and decodes. The caller frees what it became, which is no longer than it must be. */
static inline unsigned char *encode_by(const struct coder *coder, const void *source,
                                       uint64_t bytes, uint64_t *encoded_bytes)
{
    unsigned char *copy = aligned_copy(source, (size_t)bytes);
    uint64_t bound = coder->bound(bytes);
    unsigned char *encoded = aligned_bytes((size_t)bound);
    memset(encoded, 0xA5, (size_t)bound);
    *encoded_bytes = coder->encode(copy, bytes, encoded);
    assert_true(*encoded_bytes <= bound);
    unsigned char *exact = aligned_copy(encoded, (size_t)*encoded_bytes);
    free(encoded);
    struct target target = target_open((size_t)bytes);
    struct xb_decode_report report = {0, XB_NONE_REFUSED};
    coder->decode(exact, *encoded_bytes, target.bytes, bytes, 0, &report);
    assert_int_equal(0, report.refused_blocks);
    assert_true(report.first_refused == XB_NONE_REFUSED);
    assert_memory_equal(copy, target.bytes, (size_t)bytes);
    target_close(&target);
    free(copy);
    return exact;
}
