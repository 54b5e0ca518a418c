/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/formats.h"

#include "for_decode.h"

#include <stddef.h>
#include <string.h>

/* The compiler makes vector code of the loops over lanes where it may use such instructions; the
 * functions below allow it several kinds. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define LANES XB_FOR_LANES
#define ROWS XB_FOR_ROWS

/* How many bits the largest difference to the least value takes. */
ALWAYS_INLINE unsigned measure(const xb_for_word *values, uint32_t *reference)
{
    uint32_t least[LANES], most[LANES];
    memcpy(least, values, sizeof least);
    memcpy(most, values, sizeof most);
    for (unsigned row = 1; row < ROWS; row++) {
        const xb_for_word *in = values + (size_t)row * LANES;
        for (unsigned lane = 0; lane < LANES; lane++) {
            least[lane] = in[lane] < least[lane] ? in[lane] : least[lane];
            most[lane] = in[lane] > most[lane] ? in[lane] : most[lane];
        }
    }
    uint32_t low = least[0], high = most[0];
    for (unsigned lane = 1; lane < LANES; lane++) {
        low = least[lane] < low ? least[lane] : low;
        high = most[lane] > high ? most[lane] : high;
    }
    unsigned bits = high == low ? 0 : 32 - (unsigned)__builtin_clz(high - low);
    *reference = bits == 32 ? 0 : low; /* of 32 bits nothing is won: they are stored */
    return bits;
}

/* Packs a block of less than 32 bits a value. */
ALWAYS_INLINE void pack(const xb_for_word *restrict values, uint32_t reference, unsigned bits,
                        xb_for_word *restrict packed)
{
    uint32_t word[LANES] = {0}; /* of each lane the one that is not full yet */
    unsigned filled = 0;        /* how many of its bits are taken */
    for (unsigned row = 0; row < ROWS; row++) {
        const xb_for_word *in = values + (size_t)row * LANES;
        for (unsigned lane = 0; lane < LANES; lane++)
            word[lane] |= (in[lane] - reference) << filled;
        filled += bits;
        if (filled < 32)
            continue;
        memcpy(packed, word, sizeof word);
        packed += LANES;
        filled -= 32;
        /* The bits that did not fit; where all did, the shift leaves none. */
        for (unsigned lane = 0; lane < LANES; lane++)
            word[lane] = (in[lane] - reference) >> (bits - filled);
    }
}

/* Encodes one block. Returns its bits a value. */
ALWAYS_INLINE unsigned encode_block(const xb_for_word *values, uint32_t *reference,
                                    xb_for_word *packed)
{
    unsigned bits = measure(values, reference);
    if (bits == 32)
        memcpy(packed, values, XB_FOR_BLOCK_BYTES);
    else if (bits > 0)
        pack(values, *reference, bits, packed);
    return bits;
}

/*
 * The last block where it is not whole. An incomplete value gets bytes of 0, and behind the last
 * value stand more of the least one, which make no block wider.
 */
static void complete_block(const void *source, size_t bytes, xb_for_word values[XB_FOR_BLOCK])
{
    size_t count = (bytes + 3) / 4;
    values[count - 1] = 0;
    memcpy(values, source, bytes);
    xb_for_word least = values[0];
    for (size_t i = 1; i < count; i++)
        least = values[i] < least ? values[i] : least;
    for (size_t i = count; i < XB_FOR_BLOCK; i++)
        values[i] = least;
}

ALWAYS_INLINE uint64_t encode(const void *source, uint64_t bytes, void *target)
{
    uint64_t blocks = xb_for_blocks(bytes);
    uint64_t directory = xb_for_directory_bytes(bytes);
    xb_for_word *entry = target;
    unsigned char *packed = (unsigned char *)target + directory;
    uint32_t place = 0;
    for (uint64_t block = 0; block < blocks; block++, entry += 2) {
        const unsigned char *at = (const unsigned char *)source + block * XB_FOR_BLOCK_BYTES;
        uint64_t left = bytes - block * XB_FOR_BLOCK_BYTES;
        xb_for_word *out = (xb_for_word *)(packed + (uint64_t)place * XB_FOR_ROW_BYTES);
        uint32_t reference;
        unsigned bits;
        if (left >= XB_FOR_BLOCK_BYTES) {
            bits = encode_block((const xb_for_word *)at, &reference, out);
        } else {
            xb_for_word values[XB_FOR_BLOCK];
            complete_block(at, (size_t)left, values);
            bits = encode_block(values, &reference, out);
        }
        entry[0] = reference;
        entry[1] = place << XB_FOR_BITS_FIELD | bits;
        place += bits;
    }
    memset(entry, 0, (size_t)(directory - blocks * XB_FOR_ENTRY_BYTES));
    return directory + (uint64_t)place * XB_FOR_ROW_BYTES;
}

uint64_t xb_for_encode_plainly(const void *source, uint64_t bytes, void *target)
{
    return encode(source, bytes, target);
}

static const struct xb_for_way plain = {"plain C", xb_for_encode_plainly};

#if defined(__x86_64__)
#define DEFINE_WAY(suffix, instructions, name)                                                     \
    __attribute__((target(instructions))) static uint64_t encode_##suffix(                         \
        const void *source, uint64_t bytes, void *target)                                          \
    {                                                                                              \
        return encode(source, bytes, target);                                                      \
    }                                                                                              \
    static const struct xb_for_way suffix = {name, encode_##suffix};

DEFINE_WAY(avx2, "avx2", "AVX2")
DEFINE_WAY(avx512, "avx512f", "AVX-512")
#endif

const struct xb_for_way *xb_for_usable(unsigned number)
{
    const struct xb_for_way *usable[4] = {NULL};
    size_t count = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        usable[count++] = &avx512;
    if (__builtin_cpu_supports("avx2"))
        usable[count++] = &avx2;
#endif
    usable[count++] = &plain;
    return number < count ? usable[number] : NULL;
}

uint64_t xb_for_encode(const void *source, uint64_t bytes, void *target)
{
    return xb_for_usable(0)->encode(source, bytes, target);
}

uint64_t xb_for_bound(uint64_t bytes)
{
    return xb_for_directory_bytes(bytes) + xb_for_blocks(bytes) * XB_FOR_BLOCK_BYTES;
}

void xb_for_decode(const void *encoded, uint64_t encoded_bytes, void *target, uint64_t bytes,
                   uint64_t offset, struct xb_decode_report *report)
{
    for (uint64_t block = 0; block < xb_for_blocks(bytes); block++) {
        int restored = 1;
        for (unsigned lane = 0; lane < LANES; lane++)
            restored &= xb_for_decode_lane(encoded, encoded_bytes, target, bytes, block, lane);
        if (!restored)
            xb_decode_refuse(report, offset + block * XB_FOR_BLOCK_BYTES);
    }
}
