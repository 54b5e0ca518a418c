/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/codec.h"

#include "codecs/for.h"
#include "codecs/lz4.h"
#include "codecs/narrow.h"
#include "codecs/widen.h"

#include <string.h>

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

static uint64_t narrow(const struct xb_narrow_way *way, enum xb_format format, const void *source,
                       uint64_t bytes, void *target)
{
    way->narrow[format](source, bytes / sizeof(float), target);
    return xb_narrow_bytes(format, bytes / sizeof(float));
}

uint64_t xb_encode(enum xb_format format, const void *source, uint64_t bytes, void *target)
{
    if (format == XB_FORMAT_FOR)
        return xb_for_encode(source, bytes, target);
    if (format == XB_FORMAT_LZ4)
        return xb_lz4_encode(source, bytes, target);
    return narrow(xb_narrow_usable(0), format, source, bytes, target);
}

uint64_t xb_encode_plainly(enum xb_format format, const void *source, uint64_t bytes, void *target)
{
    if (format == XB_FORMAT_FOR)
        return xb_for_encode_plainly(source, bytes, target);
    if (format == XB_FORMAT_LZ4)
        return xb_lz4_encode(source, bytes, target);
    return narrow(&xb_narrow_plain, format, source, bytes, target);
}

const char *xb_encoder_name(enum xb_format format)
{
    if (format == XB_FORMAT_FOR)
        return xb_for_usable(0)->name;
    if (format == XB_FORMAT_LZ4)
        return "liblz4";
    return xb_narrow_usable(0)->name;
}

static void widen_int8(const unsigned char *encoded, float *target, uint64_t values)
{
    const signed char *small = (const signed char *)encoded + xb_int8_values_at(values);
    for (uint64_t i = 0; i < values; i++) {
        float scale;
        memcpy(&scale, encoded + i / XB_INT8_BLOCK * sizeof scale, sizeof scale);
        target[i] = xb_widen_int8(small[i], scale);
    }
}

static float float_of(unsigned bits)
{
    union xb_float_bits both = {.bits = bits};
    return both.value;
}

static void widen_each(enum xb_format format, const unsigned char *encoded, float *target,
                       uint64_t values)
{
    const uint16_t *halves = (const uint16_t *)(const void *)encoded;
    if (format == XB_FORMAT_FP16)
        for (uint64_t i = 0; i < values; i++)
            target[i] = float_of(xb_widen_fp16(halves[i]));
    else if (format == XB_FORMAT_BF16)
        for (uint64_t i = 0; i < values; i++)
            target[i] = float_of(xb_widen_bf16(halves[i]));
    else
        for (uint64_t i = 0; i < values; i++)
            target[i] = float_of(xb_widen_fp8(encoded[i]));
}

/* False: it has not the length of so many values, and nothing was written. */
static bool widen(enum xb_format format, const void *encoded, uint64_t encoded_bytes, float *target,
                  uint64_t values)
{
    if (encoded_bytes != xb_narrow_bytes(format, values))
        return false;
    if (format == XB_FORMAT_INT8)
        widen_int8(encoded, target, values);
    else
        widen_each(format, encoded, target, values);
    return true;
}

void xb_decode(enum xb_format format, const void *encoded, uint64_t encoded_bytes, void *target,
               uint64_t bytes, uint64_t offset, struct xb_decode_report *report)
{
    if (format == XB_FORMAT_FOR) {
        xb_for_decode(encoded, encoded_bytes, target, bytes, offset, report);
    } else if (format == XB_FORMAT_LZ4) {
        xb_lz4_decode(encoded, encoded_bytes, target, bytes, offset, report);
    } else if (!widen(format, encoded, encoded_bytes, target, bytes / sizeof(float))) {
        report->refused_blocks++;
        if (offset < report->first_refused)
            report->first_refused = offset;
    }
}
