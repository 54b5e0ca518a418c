/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Measures how fast one thread makes data smaller without loss: `for` by each way that this CPU has
 * and by bits a value, and `lz4` on text. Prints GB/s of the original, the best of some rounds, and
 * how many times smaller it became.
 */
#include "made_data.h"

#include "base/clock.h"
#include "codecs/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES (UINT64_C(64) << 20) /* more than most caches, as a chunk after a chunk is */
#define CHUNK (UINT64_C(4) << 20)
#define ROUNDS 9

struct buffers {
    void *source, *target;
};

static void measure(const char *what, uint64_t (*encode)(const void *, uint64_t, void *),
                    uint64_t bound, struct buffers buffers)
{
    double best = 0;
    uint64_t encoded = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const unsigned char *source = buffers.source;
        unsigned char *target = buffers.target;
        double begin = xb_clock_now();
        encoded = 0;
        for (uint64_t at = 0; at < BYTES; at += CHUNK, source += CHUNK, target += bound)
            encoded += encode(source, CHUNK, target);
        double rate = (double)BYTES / (xb_clock_now() - begin) / 1e9;
        best = rate > best ? rate : best;
    }
    printf("%-24s %7.2f GB/s, %.2f times smaller\n", what, best, (double)BYTES / (double)encoded);
}

int main(void)
{
    static const unsigned widths[] = {0, 4, 8, 11, 16, 24, 32};
    struct buffers buffers = {aligned_alloc(4096, BYTES), aligned_alloc(4096, 2 * BYTES)};
    if (buffers.source == NULL || buffers.target == NULL)
        return 1;
    memset(buffers.target, 1, 2 * BYTES);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        made_integers(buffers.source, BYTES / 4, widths[i]);
        const struct xb_for_way *way;
        for (unsigned number = 0; (way = xb_for_usable(number)) != NULL; number++) {
            char what[64];
            snprintf(what, sizeof what, "for, %u bits, %s", widths[i], way->name);
            measure(what, way->encode, xb_for_bound(CHUNK), buffers);
        }
    }
    made_text(buffers.source, BYTES);
    measure("lz4, text", xb_lz4_encode, xb_lz4_bound(CHUNK), buffers);
    free(buffers.source);
    free(buffers.target);
    return 0;
}
