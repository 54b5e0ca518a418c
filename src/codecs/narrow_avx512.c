/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/formats.h"

#ifdef __x86_64__

#include "codecs/narrow_parts.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw")))

TARGET static inline void put(void *target, __m512i bytes)
{
    if (XB_NARROW_STREAMING)
        _mm512_stream_si512(target, bytes);
    else
        _mm512_store_si512(target, bytes);
}

TARGET static inline __m512i pack_fp16(const float *source)
{
    __m256i low = _mm512_cvtps_ph(_mm512_loadu_ps(source), _MM_FROUND_TO_NEAREST_INT);
    __m256i high = _mm512_cvtps_ph(_mm512_loadu_ps(source + 16), _MM_FROUND_TO_NEAREST_INT);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
XB_DEFINE_NARROW(narrow_fp16, pack_fp16, XB_FORMAT_FP16, uint16_t, 32)

/* Sixteen bf16, each in the lower half of 32 bits. */
TARGET static inline __m512i bf16_of(const float *source)
{
    __m512 value = _mm512_loadu_ps(source);
    __m512i bits = _mm512_castps_si512(value);
    __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    __m512i sum = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), odd);
    __mmask16 is_nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
    sum = _mm512_mask_or_epi32(sum, is_nan, bits, _mm512_set1_epi32(XB_QUIET));
    return _mm512_srli_epi32(sum, 16);
}

TARGET static inline __m512i pack_bf16(const float *source)
{
    /* The packing instructions work within quarters of a vector. */
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    return _mm512_permutexvar_epi64(order,
                                    _mm512_packus_epi32(bf16_of(source), bf16_of(source + 16)));
}
XB_DEFINE_NARROW(narrow_bf16, pack_bf16, XB_FORMAT_BF16, uint16_t, 32)

/* Puts in order what was packed twice. */
TARGET static inline __m512i in_order(__m512i packed)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_permutexvar_epi32(order, packed);
}

/* Sixteen fp8, each in the lowest byte of 32 bits. narrow_parts.h says how. */
TARGET static inline __m512i fp8_of(const float *source)
{
    __m512 value = _mm512_loadu_ps(source);
    __m512i bits = _mm512_castps_si512(value);
    __m512i magnitude = _mm512_and_si512(bits, _mm512_set1_epi32(0x7FFFFFFF));
    magnitude = _mm512_min_epi32(magnitude, _mm512_set1_epi32(XB_FP8_MOST));
    __m512i exponent = _mm512_and_si512(magnitude, _mm512_set1_epi32(XB_EXPONENT));
    exponent = _mm512_max_epi32(exponent, _mm512_set1_epi32(XB_FP8_LEAST_NORMAL));
    __m512i unit = _mm512_add_epi32(exponent, _mm512_set1_epi32(XB_FP8_TO_UNIT));
    __m512 sum = _mm512_add_ps(_mm512_castsi512_ps(magnitude), _mm512_castsi512_ps(unit));
    __m512i steps = _mm512_sub_epi32(_mm512_castps_si512(sum), unit);
    __m512i base = _mm512_sub_epi32(exponent, _mm512_set1_epi32(XB_FP8_LEAST_NORMAL));
    __m512i small = _mm512_add_epi32(steps, _mm512_srli_epi32(base, 20));
    __mmask16 is_nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
    small = _mm512_mask_mov_epi32(small, is_nan, _mm512_set1_epi32(0x7F));
    __m512i sign = _mm512_and_si512(_mm512_srli_epi32(bits, 24), _mm512_set1_epi32(0x80));
    return _mm512_or_si512(small, sign);
}

TARGET static inline __m512i pack_fp8(const float *source)
{
    __m512i low = _mm512_packus_epi32(fp8_of(source), fp8_of(source + 16));
    __m512i high = _mm512_packus_epi32(fp8_of(source + 32), fp8_of(source + 48));
    return in_order(_mm512_packus_epi16(low, high));
}
XB_DEFINE_NARROW(narrow_fp8, pack_fp8, XB_FORMAT_FP8, uint8_t, 64)

/* The largest magnitude of a block, as bits; of an infinity or NaN more than any other. */
TARGET static inline uint32_t magnitude_of(const __m512 values[4])
{
    __m512i most = _mm512_setzero_si512();
    for (unsigned i = 0; i < 4; i++) {
        __m512i bits = _mm512_castps_si512(values[i]);
        most = _mm512_max_epu32(most, _mm512_and_si512(bits, _mm512_set1_epi32(0x7FFFFFFF)));
    }
    return _mm512_reduce_max_epu32(most);
}

TARGET static void whole_blocks(const float *source, uint64_t blocks, float *scales,
                                signed char *target)
{
    for (uint64_t i = 0; i < blocks; i++, source += XB_INT8_BLOCK, target += XB_INT8_BLOCK) {
        __m512 values[4];
        for (unsigned j = 0; j < 4; j++)
            values[j] = _mm512_loadu_ps(source + (size_t)16 * j);
        uint32_t most = magnitude_of(values);
        if (most >= XB_INFINITY) {
            xb_narrow_int8_block(source, XB_INT8_BLOCK, scales + i, target);
            continue;
        }
        struct xb_int8_scaling scaling = xb_int8_scaling_of(most);
        scales[i] = scaling.scale;
        __m512 factor = _mm512_set1_ps(scaling.factor);
        __m512i whole[4];
        for (unsigned j = 0; j < 4; j++)
            whole[j] = _mm512_cvtps_epi32(_mm512_mul_ps(values[j], factor));
        put(target, in_order(_mm512_packs_epi16(_mm512_packs_epi32(whole[0], whole[1]),
                                                _mm512_packs_epi32(whole[2], whole[3]))));
    }
    xb_narrow_finish();
}

XB_DEFINE_WAY(xb_narrow_avx512, "AVX-512")

#endif
