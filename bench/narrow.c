/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Measures how fast one thread makes float32 values smaller, by format, by way and by the kind of
 * stores, into a target of 1 MiB that is used again and again, as a ring of staging buffers is, and
 * into one of 256 MiB. src/codecs/narrow_*.c choose their stores by the result. Prints JSON with
 * the best of several rounds.
 *
 * narrow --prove: instead, every way against plain C for all 2^32 values, and that plain C never
 * gives a larger value less. tests/unit/test_narrow.c proves what lies between two neighbours.
 */
#include "codecs/codec.h"
#include "codecs/formats.h"
#include "codecs/widen.h"
#include "machine/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 7
#define LARGE (UINT64_C(256) << 20)
#define SMALL (UINT64_C(1) << 20)
#define SOURCE (4 * LARGE)

/* CMakeLists.txt builds the vector ways once with each kind of stores. */
#ifdef __x86_64__
extern const struct xb_narrow_way xb_narrow_avx2_0, xb_narrow_avx2_1;
extern const struct xb_narrow_way xb_narrow_avx512_0, xb_narrow_avx512_1;
#endif

static const struct variant {
    const struct xb_narrow_way *product; /* the same way as it stands in the program */
    const struct xb_narrow_way *way;
    const char *stores;
} variants[] = {
    {&xb_narrow_plain, &xb_narrow_plain, "ordinary"},
#ifdef __x86_64__
    {&xb_narrow_avx2, &xb_narrow_avx2_0, "ordinary"},
    {&xb_narrow_avx2, &xb_narrow_avx2_1, "streaming"},
    {&xb_narrow_avx512, &xb_narrow_avx512_0, "ordinary"},
    {&xb_narrow_avx512, &xb_narrow_avx512_1, "streaming"},
#endif
};
#define VARIANTS (sizeof variants / sizeof *variants)

static bool is_usable(const struct xb_narrow_way *way)
{
    const struct xb_narrow_way *usable;
    for (unsigned i = 0; (usable = xb_narrow_usable(i)) != NULL; i++)
        if (usable == way)
            return true;
    return false;
}

static void *allocate(uint64_t bytes)
{
    void *memory = aligned_alloc(4096, bytes);
    if (memory == NULL) {
        fprintf(stderr, "narrow: no memory for %llu MiB\n", (unsigned long long)(bytes >> 20));
        exit(EXIT_FAILURE);
    }
    memset(memory, 0, bytes); /* so that no page is missing when it is measured */
    return memory;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static const uint64_t targets[] = {SMALL, LARGE};
static double best[XB_NARROW_FORMATS][VARIANTS][2]; /* GB/s of float32 */

static void measure_one(int format, size_t variant, size_t target_index, const float *source,
                        void *target)
{
    uint64_t size = format == XB_FORMAT_FP16 || format == XB_FORMAT_BF16 ? 2 : 1;
    uint64_t all = LARGE / size;
    uint64_t chunk = targets[target_index] / size;
    double begin = now();
    for (uint64_t done = 0; done < all; done += chunk)
        variants[variant].way->narrow[format](source + done, chunk, target);
    double rate = (double)all * sizeof(float) / (now() - begin) * 1e-9;
    double *kept = &best[format][variant][target_index];
    *kept = rate > *kept ? rate : *kept;
}

/* In turn, so that other work on the machine does not meet one of them alone. */
static void measure(const float *source, void *target)
{
    for (unsigned round = 0; round < ROUNDS; round++)
        for (int format = 0; format < XB_NARROW_FORMATS; format++)
            for (size_t i = 0; i < VARIANTS; i++)
                for (size_t j = 0; j < 2 && is_usable(variants[i].product); j++)
                    measure_one(format, i, j, source, target);
}

static void print_rates(void)
{
    struct xb_host_facts facts;
    xb_host_facts_read(&facts);
    printf("{\n  \"cpu\": \"%s\",\n  \"rates\": [", facts.cpu_model);
    const char *separator = "\n";
    for (int format = 0; format < XB_NARROW_FORMATS; format++)
        for (size_t i = 0; i < VARIANTS; i++) {
            if (!is_usable(variants[i].product))
                continue;
            printf("%s    {\"format\": \"%s\", \"way\": \"%s\", \"stores\": \"%s\", ", separator,
                   xb_format_name((enum xb_format)format), variants[i].way->name,
                   variants[i].stores);
            printf("\"gbps_1_mib\": %.2f, \"gbps_256_mib\": %.2f}", best[format][i][0],
                   best[format][i][1]);
            separator = ",\n";
        }
    printf("\n  ]\n}\n");
}

static void measure_all(void)
{
    float *source = allocate(SOURCE);
    void *target = allocate(LARGE + LARGE / 8); /* with the scales of int8 */
    for (uint64_t i = 0; i < SOURCE / sizeof *source; i++)
        source[i] = (float)(i * 2654435761u % 20011) / 1000 - 10;
    measure(source, target);
    print_rates();
    free(target);
    free(source);
}

#define PART (UINT64_C(1) << 20) /* values that are proved at once */

/* Whether what plain C made of `PART` ascending magnitudes with one sign ascends too. `*last`: the
 * last of the part before. */
static bool ascends(enum xb_format format, const void *made, unsigned *last)
{
    const uint16_t *halves = made;
    const uint8_t *bytes = made;
    for (uint64_t i = 0; i < PART; i++) {
        unsigned code = format == XB_FORMAT_FP8 ? bytes[i] : halves[i];
        if (code < *last)
            return false;
        *last = code;
    }
    return true;
}

/* All 2^32 values; false: the first that is wrong is told. */
static bool prove(enum xb_format format, float *source, void *made, void *expected)
{
    unsigned last = 0;
    for (uint64_t first = 0; first < UINT64_C(1) << 32; first += PART) {
        for (uint64_t i = 0; i < PART; i++) {
            uint32_t bits = (uint32_t)(first + i);
            memcpy(source + i, &bits, sizeof bits);
        }
        uint64_t bytes = xb_encode_plainly(format, source, PART * sizeof *source, expected);
        bool is_finite = (first & 0x7FFFFFFFu) < 0x7F800000u;
        if (is_finite && !ascends(format, expected, &last)) {
            printf("%s: plain C does not ascend from %08llx on\n", xb_format_name(format),
                   (unsigned long long)first);
            return false;
        }
        for (size_t i = 0; i < VARIANTS; i++) {
            if (!is_usable(variants[i].product))
                continue;
            variants[i].way->narrow[format](source, PART, made);
            if (memcmp(made, expected, bytes) != 0) {
                printf("%s: %s with %s stores differs from plain C from %08llx on\n",
                       xb_format_name(format), variants[i].way->name, variants[i].stores,
                       (unsigned long long)first);
                return false;
            }
        }
    }
    printf("%s: all ways give the same for all 2^32 values\n", xb_format_name(format));
    return true;
}

static int prove_all(void)
{
    float *source = allocate(PART * sizeof(float));
    void *made = allocate(PART * sizeof(float));
    void *expected = allocate(PART * sizeof(float));
    bool proved = prove(XB_FORMAT_FP16, source, made, expected) &&
                  prove(XB_FORMAT_BF16, source, made, expected) &&
                  prove(XB_FORMAT_FP8, source, made, expected);
    free(expected);
    free(made);
    free(source);
    return proved ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--prove") == 0)
        return prove_all();
    if (argc > 1) {
        fprintf(stderr, "usage: narrow [--prove]\n");
        return EXIT_FAILURE;
    }
    measure_all();
    return EXIT_SUCCESS;
}
