/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer's target for the decoders of the formats without loss: whatever the bytes are, a
 * decoder reads nothing outside them and writes nothing outside its target. Both are exactly as
 * large as they are told to be, so that AddressSanitizer sees one byte too far. What it restored
 * is then encoded, and comes back.
 *
 * An input: a byte for the format, three for the length of the original, lowest first, and the
 * chunk.
 */
#define _POSIX_C_SOURCE 200809L /* posix_memalign */
#include "codecs/formats.h"
#include "codecs/lz4_decode.h"
#include "target.h"

#include <string.h>

#define HEADER 4
#define MOST (XB_LZ4_BLOCK + 5000u) /* two blocks of one format, several of the other */

struct format {
    uint64_t (*bound)(uint64_t bytes);
    uint64_t (*encode)(const void *source, uint64_t bytes, void *target);
    void (*decode)(const void *encoded, uint64_t encoded_bytes, void *target, uint64_t bytes,
                   uint64_t offset, struct xb_decode_report *report);
};

/* As a kernel would: the lanes go through a block, here one after the other. */
static void decode_by_lanes(const void *encoded, uint64_t encoded_bytes, void *target,
                            uint64_t bytes, uint64_t offset, struct xb_decode_report *report)
{
    for (uint64_t block = 0; block < xb_lz4_blocks(bytes); block++)
        for (unsigned lane = 0; lane < 32; lane++)
            (void)xb_lz4_decode_block(encoded, encoded_bytes, target, bytes, block, lane, 32);
    xb_lz4_decode(encoded, encoded_bytes, target, bytes, offset, report);
}

static const struct format formats[] = {{xb_for_bound, xb_for_encode, xb_for_decode},
                                        {xb_lz4_bound, xb_lz4_encode, decode_by_lanes}};

/* Exactly so many bytes, of 0. */
static void *memory(size_t bytes)
{
    void *memory = NULL;
    require(posix_memalign(&memory, XB_FORMAT_ALIGNMENT, bytes) == 0, "there is memory");
    memset(memory, 0, bytes);
    return memory;
}

static void check_report(const struct xb_decode_report *report, uint64_t bytes)
{
    require((report->refused_blocks == 0) == (report->first_refused == XB_NONE_REFUSED),
            "a refused block is told with its offset");
    require(report->refused_blocks == 0 || report->first_refused < bytes,
            "a refused block is inside the target");
}

static void check_round_trip(const struct format *format, const void *original, size_t bytes)
{
    void *encoded = memory((size_t)format->bound(bytes));
    uint64_t encoded_bytes = format->encode(original, bytes, encoded);
    require(encoded_bytes <= format->bound(bytes), "an encoded chunk is within its bound");
    void *restored = memory(bytes);
    struct xb_decode_report report = {0, XB_NONE_REFUSED};
    format->decode(encoded, encoded_bytes, restored, bytes, 0, &report);
    require(report.refused_blocks == 0, "what was encoded is valid");
    require(memcmp(original, restored, bytes) == 0, "what was encoded comes back");
    free(restored);
    free(encoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEADER)
        return 0;
    const struct format *format = &formats[data[0] % (sizeof formats / sizeof *formats)];
    size_t bytes = ((size_t)data[1] | (size_t)data[2] << 8 | (size_t)data[3] << 16) % MOST + 1;
    void *chunk = memory(size - HEADER);
    memcpy(chunk, data + HEADER, size - HEADER);
    void *target = memory(bytes);
    struct xb_decode_report report = {0, XB_NONE_REFUSED};
    format->decode(chunk, size - HEADER, target, bytes, 0, &report);
    check_report(&report, bytes);
    free(chunk);
    check_round_trip(format, target, bytes);
    free(target);
    return 0;
}
