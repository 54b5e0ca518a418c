/* SPDX-License-Identifier: Apache-2.0 */
#include "verify.h"

#include "base/parallel.h"
#include "words.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* Parts this large make the cost of handing them to threads negligible. A multiple of a word: only
 * the last part may end within one. */
#define GRAIN (UINT64_C(4) << 20)
/* A pattern is written to blocks this large, which stay in the core's cache. */
#define BLOCK_WORDS 512u

struct job {
    const unsigned char *memory; /* of a digest of memory */
    struct xb_pattern pattern;   /* of one of a pattern, with its word that is word 0 */
    uint64_t first;
    struct xb_compute_leap leap; /* what every whole word goes through */
    _Atomic uint64_t sum;
};

static const struct xb_compute_leap no_step = {.factor = 1, .addend = 0};

/* What the `bytes` < 8 behind the last whole word add: they take no step. */
static uint64_t sum_of_rest(const unsigned char *rest, uint64_t index, size_t bytes)
{
    unsigned long long word = 0;
    memcpy(&word, rest, bytes);
    return bytes > 0 ? xb_digest_word(word, index) : 0;
}

static void add_memory(void *argument, uint64_t begin, uint64_t end)
{
    struct job *job = argument;
    uint64_t sum =
        xb_words_fastest()->sum(job->memory + begin, job->leap, begin / 8, end / 8 - begin / 8);
    sum += sum_of_rest(job->memory + end / 8 * 8, end / 8, end % 8);
    atomic_fetch_add(&job->sum, sum);
}

static void add_pattern(void *argument, uint64_t begin, uint64_t end)
{
    struct job *job = argument;
    const struct xb_words *words = xb_words_fastest();
    unsigned char block[8 * BLOCK_WORDS];
    uint64_t sum = 0;
    for (uint64_t index = begin / 8, count; index < end / 8; index += count) {
        count = end / 8 - index < BLOCK_WORDS ? end / 8 - index : BLOCK_WORDS;
        words->fill(block, job->pattern, job->leap, job->first + index, count);
        sum += words->sum(block, no_step, index, count);
    }
    words->fill(block, job->pattern, no_step, job->first + end / 8, 1);
    sum += sum_of_rest(block, end / 8, end % 8);
    atomic_fetch_add(&job->sum, sum);
}

uint64_t xb_digest_stepped(const void *memory, uint64_t bytes, uint64_t steps)
{
    struct job job = {.memory = memory, .leap = xb_compute_leap_of(steps)};
    xb_parallel_for(bytes, GRAIN, add_memory, &job);
    return job.sum;
}

uint64_t xb_digest_memory(const void *memory, uint64_t bytes)
{
    return xb_digest_stepped(memory, bytes, 0);
}

uint64_t xb_digest_pattern(struct xb_pattern pattern, uint64_t offset, uint64_t bytes)
{
    struct job job = {
        .pattern = pattern, .first = offset / 8, .leap = xb_compute_leap_of(pattern.steps)};
    xb_parallel_for(bytes, GRAIN, add_pattern, &job);
    return job.sum;
}
