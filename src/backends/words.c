/* SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <stddef.h>
#include <string.h>

/* The compiler makes vector code of these loops where it may use such instructions; the functions
 * below allow it several kinds. memcpy and not an assignment, because memory need not be aligned.
 */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE void fill(unsigned char *out, struct xb_pattern pattern, struct xb_compute_leap leap,
                        uint64_t index, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        unsigned long long word = xb_pattern_word(pattern, index + i) * leap.factor + leap.addend;
        memcpy(out + 8 * i, &word, 8);
    }
}

ALWAYS_INLINE bool match(const unsigned char *in, struct xb_pattern pattern,
                         struct xb_compute_leap leap, uint64_t index, uint64_t count)
{
    unsigned long long differing = 0;
    for (uint64_t i = 0; i < count; i++) {
        unsigned long long word;
        memcpy(&word, in + 8 * i, 8);
        differing |= word ^ (xb_pattern_word(pattern, index + i) * leap.factor + leap.addend);
    }
    return differing == 0;
}

ALWAYS_INLINE unsigned long long sum(const unsigned char *in, struct xb_compute_leap leap,
                                     uint64_t index, uint64_t count)
{
    unsigned long long all = 0;
    for (uint64_t i = 0; i < count; i++) {
        unsigned long long word;
        memcpy(&word, in + 8 * i, 8);
        all += xb_digest_word(word * leap.factor + leap.addend, index + i);
    }
    return all;
}

static const struct xb_words plain = {"plain", fill, match, sum};

#if defined(__x86_64__)
#define DEFINE_WAY(suffix, instructions)                                                           \
    __attribute__((target(instructions))) static void fill_##suffix(                               \
        unsigned char *out, struct xb_pattern pattern, struct xb_compute_leap leap,                \
        uint64_t index, uint64_t count)                                                            \
    {                                                                                              \
        fill(out, pattern, leap, index, count);                                                    \
    }                                                                                              \
    __attribute__((target(instructions))) static bool match_##suffix(                              \
        const unsigned char *in, struct xb_pattern pattern, struct xb_compute_leap leap,           \
        uint64_t index, uint64_t count)                                                            \
    {                                                                                              \
        return match(in, pattern, leap, index, count);                                             \
    }                                                                                              \
    __attribute__((target(instructions))) static unsigned long long sum_##suffix(                  \
        const unsigned char *in, struct xb_compute_leap leap, uint64_t index, uint64_t count)      \
    {                                                                                              \
        return sum(in, leap, index, count);                                                        \
    }                                                                                              \
    static const struct xb_words suffix = {instructions, fill_##suffix, match_##suffix,            \
                                           sum_##suffix};

DEFINE_WAY(avx2, "avx2")
DEFINE_WAY(avx512, "avx512dq")
#endif

const struct xb_words *xb_words_usable(unsigned number)
{
    const struct xb_words *usable[4] = {NULL};
    size_t count = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512dq"))
        usable[count++] = &avx512;
    if (__builtin_cpu_supports("avx2"))
        usable[count++] = &avx2;
#endif
    usable[count++] = &plain;
    return number < count ? usable[number] : NULL;
}

const struct xb_words *xb_words_fastest(void)
{
    return xb_words_usable(0);
}
