/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/codec.h"

#include "codecs/formats.h"
#include "codecs/lz4_decode.h"
#include "codecs/widen.h"

#include <stddef.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

/* ---- `lz4` ---- */

uint64_t xb_lz4_bound(uint64_t bytes)
{
    /* Blocks that are stored are as long as they were, and but for the last one need no padding. */
    return xb_lz4_directory_bytes(bytes) + bytes;
}

/* Appends a block at `end`, an offset from `begin`. Returns the entry of the directory that tells
 * where the next one may begin, and adds to the block's own whether it is stored. */
static uint32_t encode_block(const char *source, unsigned size, unsigned char *begin, uint32_t end,
                             xb_lz4_word *entry)
{
    uint32_t at = (end + XB_LZ4_BLOCK_ALIGNMENT - 1) & ~(XB_LZ4_BLOCK_ALIGNMENT - 1);
    memset(begin + end, 0, at - end);
    /* With room for one byte less than it has, liblz4 gives up where it would not get smaller. */
    unsigned length = size > 1 ? xb_lz4_compress(source, size, begin + at, size - 1) : 0;
    *entry = end;
    if (length > 0)
        return at + length;
    *entry |= XB_LZ4_STORED;
    memcpy(begin + at, source, size);
    return at + size;
}

uint64_t xb_lz4_encode(const void *source, uint64_t bytes, void *target)
{
    uint64_t directory = xb_lz4_directory_bytes(bytes);
    xb_lz4_word *entry = target;
    unsigned char *begin = (unsigned char *)target + directory;
    uint32_t end = 0;
    memset(target, 0, (size_t)directory);
    for (uint64_t at = 0; at < bytes; at += XB_LZ4_BLOCK) {
        uint64_t left = bytes - at;
        unsigned size = left < XB_LZ4_BLOCK ? (unsigned)left : XB_LZ4_BLOCK;
        end = encode_block((const char *)source + at, size, begin, end, entry++);
    }
    *entry = end;
    return directory + end;
}

void xb_lz4_decode(const void *encoded, uint64_t encoded_bytes, void *target, uint64_t bytes,
                   uint64_t offset, struct xb_decode_report *report)
{
    for (uint64_t block = 0; block < xb_lz4_blocks(bytes); block++) {
        if (!xb_lz4_decode_block(encoded, encoded_bytes, target, bytes, block, 0, 1))
            xb_decode_refuse(report, offset + block * XB_LZ4_BLOCK);
    }
}

/* ---- lossy formats ---- */

#ifdef __x86_64__
/* Not every compiler has a word for it in __builtin_cpu_supports. A hypervisor may take long to
 * answer this instruction, so it is asked once. Threads that ask at once get the same answer. */
static bool has_f16c(void)
{
    static _Atomic signed char known = -1;
    if (known < 0) {
        unsigned a, b, c = 0, d;
        known = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
    }
    return known > 0;
}
#endif

const struct xb_narrow_way *xb_narrow_usable(unsigned number)
{
    const struct xb_narrow_way *usable[3] = {NULL};
    size_t count = 0;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
        usable[count++] = &xb_narrow_avx512;
    if (__builtin_cpu_supports("avx2") && has_f16c())
        usable[count++] = &xb_narrow_avx2;
#endif
    usable[count++] = &xb_narrow_plain;
    return number < count ? usable[number] : NULL;
}

/* ---- a chunk in any format ---- */

static const char *const names[XB_FORMATS] = {"fp16", "bf16", "int8", "fp8", "for", "lz4"};

const char *xb_format_name(enum xb_format format)
{
    return names[format];
}

bool xb_format_is_lossy(enum xb_format format)
{
    return format < XB_NARROW_FORMATS;
}

uint64_t xb_encoded_bound(enum xb_format format, uint64_t bytes)
{
    if (format == XB_FORMAT_FOR)
        return xb_for_bound(bytes);
    if (format == XB_FORMAT_LZ4)
        return xb_lz4_bound(bytes);
    return xb_narrow_bytes(format, bytes / sizeof(float));
}

uint64_t xb_encode(enum xb_format format, const void *source, uint64_t bytes, void *target)
{
    if (format == XB_FORMAT_FOR)
        return xb_for_encode(source, bytes, target);
    if (format == XB_FORMAT_LZ4)
        return xb_lz4_encode(source, bytes, target);
    xb_narrow_usable(0)->narrow[format](source, bytes / sizeof(float), target);
    return xb_narrow_bytes(format, bytes / sizeof(float));
}

uint64_t xb_encode_plainly(enum xb_format format, const void *source, uint64_t bytes, void *target)
{
    if (format == XB_FORMAT_FOR)
        return xb_for_encode_plainly(source, bytes, target);
    if (format == XB_FORMAT_LZ4)
        return xb_lz4_encode(source, bytes, target);
    xb_narrow_plain.narrow[format](source, bytes / sizeof(float), target);
    return xb_narrow_bytes(format, bytes / sizeof(float));
}

const char *xb_encoder_name(enum xb_format format)
{
    if (format == XB_FORMAT_FOR)
        return xb_for_usable(0)->name;
    if (format == XB_FORMAT_LZ4)
        return "liblz4";
    return xb_narrow_usable(0)->name;
}

static float float_of(unsigned bits)
{
    union xb_float_bits both = {.bits = bits};
    return both.value;
}

static void widen(enum xb_format format, const unsigned char *encoded, float *target,
                  uint64_t values)
{
    const uint16_t *halves = (const uint16_t *)(const void *)encoded;
    for (uint64_t i = 0; format == XB_FORMAT_FP16 && i < values; i++)
        target[i] = float_of(xb_widen_fp16(halves[i]));
    for (uint64_t i = 0; format == XB_FORMAT_BF16 && i < values; i++)
        target[i] = float_of(xb_widen_bf16(halves[i]));
    for (uint64_t i = 0; format == XB_FORMAT_FP8 && i < values; i++)
        target[i] = float_of(xb_widen_fp8(encoded[i]));
    for (uint64_t i = 0; format == XB_FORMAT_INT8 && i < values; i++) {
        float scale;
        memcpy(&scale, encoded + i / XB_INT8_BLOCK * sizeof scale, sizeof scale);
        target[i] = xb_widen_int8((signed char)encoded[xb_int8_values_at(values) + i], scale);
    }
}

void xb_decode(enum xb_format format, const void *encoded, uint64_t encoded_bytes, void *target,
               uint64_t bytes, uint64_t offset, struct xb_decode_report *report)
{
    if (format == XB_FORMAT_FOR) {
        xb_for_decode(encoded, encoded_bytes, target, bytes, offset, report);
    } else if (format == XB_FORMAT_LZ4) {
        xb_lz4_decode(encoded, encoded_bytes, target, bytes, offset, report);
    } else if (encoded_bytes == xb_narrow_bytes(format, bytes / sizeof(float))) {
        widen(format, encoded, target, bytes / sizeof(float));
    } else {
        xb_decode_refuse(report, offset);
    }
}
