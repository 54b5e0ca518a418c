/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/formats.h"

#ifdef __x86_64__

#include "codecs/narrow_parts.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,f16c")))

TARGET static inline void put(void *target, __m256i bytes)
{
    if (XB_NARROW_STREAMING)
        _mm256_stream_si256(target, bytes);
    else
        _mm256_store_si256(target, bytes);
}

TARGET static inline __m256i pack_fp16(const float *source)
{
    __m128i low = _mm256_cvtps_ph(_mm256_loadu_ps(source), _MM_FROUND_TO_NEAREST_INT);
    __m128i high = _mm256_cvtps_ph(_mm256_loadu_ps(source + 8), _MM_FROUND_TO_NEAREST_INT);
    return _mm256_set_m128i(high, low);
}
XB_DEFINE_NARROW(narrow_fp16, pack_fp16, XB_FORMAT_FP16, uint16_t, 16)

/* Eight bf16, each in the lower half of 32 bits. */
TARGET static inline __m256i bf16_of(__m256 value)
{
    __m256i bits = _mm256_castps_si256(value);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    __m256i sum = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), odd);
    __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(XB_QUIET));
    __m256 is_nan = _mm256_cmp_ps(value, value, _CMP_UNORD_Q);
    sum = _mm256_blendv_epi8(sum, quiet, _mm256_castps_si256(is_nan));
    return _mm256_srli_epi32(sum, 16);
}

TARGET static inline __m256i pack_bf16(const float *source)
{
    __m256i both =
        _mm256_packus_epi32(bf16_of(_mm256_loadu_ps(source)), bf16_of(_mm256_loadu_ps(source + 8)));
    return _mm256_permute4x64_epi64(both, _MM_SHUFFLE(3, 1, 2, 0));
}
XB_DEFINE_NARROW(narrow_bf16, pack_bf16, XB_FORMAT_BF16, uint16_t, 16)

/* The packing instructions work within halves of a vector: puts the parts in their order. */
TARGET static inline __m256i in_order(__m256i packed)
{
    return _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* Eight fp8, each in the lowest byte of 32 bits. narrow_parts.h says how. */
TARGET static inline __m256i fp8_of(const float *source)
{
    __m256 value = _mm256_loadu_ps(source);
    __m256i bits = _mm256_castps_si256(value);
    __m256i magnitude = _mm256_and_si256(bits, _mm256_set1_epi32(0x7FFFFFFF));
    magnitude = _mm256_min_epi32(magnitude, _mm256_set1_epi32(XB_FP8_MOST));
    __m256i exponent = _mm256_and_si256(magnitude, _mm256_set1_epi32(XB_EXPONENT));
    exponent = _mm256_max_epi32(exponent, _mm256_set1_epi32(XB_FP8_LEAST_NORMAL));
    __m256i unit = _mm256_add_epi32(exponent, _mm256_set1_epi32(XB_FP8_TO_UNIT));
    __m256 sum = _mm256_add_ps(_mm256_castsi256_ps(magnitude), _mm256_castsi256_ps(unit));
    __m256i steps = _mm256_sub_epi32(_mm256_castps_si256(sum), unit);
    __m256i base = _mm256_sub_epi32(exponent, _mm256_set1_epi32(XB_FP8_LEAST_NORMAL));
    __m256i small = _mm256_add_epi32(steps, _mm256_srli_epi32(base, 20));
    __m256 is_nan = _mm256_cmp_ps(value, value, _CMP_UNORD_Q);
    small = _mm256_blendv_epi8(small, _mm256_set1_epi32(0x7F), _mm256_castps_si256(is_nan));
    __m256i sign = _mm256_and_si256(_mm256_srli_epi32(bits, 24), _mm256_set1_epi32(0x80));
    return _mm256_or_si256(small, sign);
}

TARGET static inline __m256i pack_fp8(const float *source)
{
    __m256i low = _mm256_packus_epi32(fp8_of(source), fp8_of(source + 8));
    __m256i high = _mm256_packus_epi32(fp8_of(source + 16), fp8_of(source + 24));
    return in_order(_mm256_packus_epi16(low, high));
}
XB_DEFINE_NARROW(narrow_fp8, pack_fp8, XB_FORMAT_FP8, uint8_t, 32)

/* The largest magnitude of a block, as bits; of an infinity or NaN more than any other. */
TARGET static inline uint32_t magnitude_of(const float *source)
{
    __m256i most = _mm256_setzero_si256();
    for (unsigned i = 0; i < XB_INT8_BLOCK; i += 8) {
        __m256i bits = _mm256_castps_si256(_mm256_loadu_ps(source + i));
        most = _mm256_max_epi32(most, _mm256_and_si256(bits, _mm256_set1_epi32(0x7FFFFFFF)));
    }
    __m128i half = _mm_max_epi32(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
    half = _mm_max_epi32(half, _mm_shuffle_epi32(half, _MM_SHUFFLE(1, 0, 3, 2)));
    half = _mm_max_epi32(half, _mm_shuffle_epi32(half, _MM_SHUFFLE(2, 3, 0, 1)));
    return (uint32_t)_mm_cvtsi128_si32(half);
}

/* 32 values times `factor`, to the nearest integer. */
TARGET static inline __m256i int8_of(const float *source, __m256 factor)
{
    __m256i whole[4];
    for (unsigned i = 0; i < 4; i++)
        whole[i] =
            _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(source + (size_t)8 * i), factor));
    return in_order(_mm256_packs_epi16(_mm256_packs_epi32(whole[0], whole[1]),
                                       _mm256_packs_epi32(whole[2], whole[3])));
}

TARGET static void whole_blocks(const float *source, uint64_t blocks, float *scales,
                                signed char *target)
{
    for (uint64_t i = 0; i < blocks; i++, source += XB_INT8_BLOCK, target += XB_INT8_BLOCK) {
        uint32_t most = magnitude_of(source);
        if (most >= XB_INFINITY) {
            xb_narrow_int8_block(source, XB_INT8_BLOCK, scales + i, target);
            continue;
        }
        struct xb_int8_scaling scaling = xb_int8_scaling_of(most);
        scales[i] = scaling.scale;
        __m256 factor = _mm256_set1_ps(scaling.factor);
        put(target, int8_of(source, factor));
        put(target + 32, int8_of(source + 32, factor));
    }
    xb_narrow_finish();
}

XB_DEFINE_WAY(xb_narrow_avx2, "AVX2 and F16C")

#endif
