/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "verify.h"

#include "base/parallel.h"
#include "words.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* Parts this large make the cost of handing them to threads negligible. A multiple of a word: only
 * the last part may end within one. */
#define GRAIN (UINT64_C(4) << 20)
/* A check looks at blocks this large, and at the words of a block only where one is wrong. */
#define BLOCK UINT64_C(4096)

struct job {
    unsigned char *out;      /* a fill writes here */
    const unsigned char *in; /* a check or a digest reads here */
    uint64_t offset;
    struct xb_pattern pattern;
    struct xb_compute_leap leap; /* all steps of the pattern at once */
    pthread_mutex_t lock;        /* protects mismatch */
    struct xb_mismatch mismatch;
    _Atomic uint64_t sum; /* of a digest */
};

/* The pattern's byte at `position`, before any step. */
static unsigned char pattern_byte(struct xb_pattern pattern, uint64_t position)
{
    return (unsigned char)(xb_pattern_word(pattern, position / 8) >> (8 * (position % 8)));
}

/* How many bytes, at most `bytes`, lie before the next whole word and are handled one by one. */
static uint64_t head_bytes(uint64_t position, uint64_t bytes)
{
    uint64_t head = (8 - position % 8) % 8;
    return head < bytes ? head : bytes;
}

static void fill_part(void *argument, uint64_t begin, uint64_t end)
{
    const struct job *job = argument;
    unsigned char *out = job->out + begin;
    uint64_t position = job->offset + begin;
    uint64_t left = end - begin;

    for (uint64_t head = head_bytes(position, left); head > 0; head--, left--)
        *out++ = pattern_byte(job->pattern, position++);
    xb_words_fastest()->fill(out, job->pattern, job->leap, position / 8, left / 8);
    out += left / 8 * 8;
    position += left / 8 * 8;
    for (left %= 8; left > 0; left--)
        *out++ = pattern_byte(job->pattern, position++);
}

/* Adds the bytes of [in, in + count) that differ to *found. */
static void compare_bytes(const unsigned char *in, uint64_t position, uint64_t count,
                          struct xb_pattern pattern, struct xb_mismatch *found)
{
    for (uint64_t i = 0; i < count; i++) {
        if (in[i] == pattern_byte(pattern, position + i))
            continue;
        if (found->wrong_bytes++ == 0)
            found->first_offset = position + i;
    }
}

/* Adds the bytes of whole words at `position` that differ to *found. */
static void compare_words(const struct job *job, const unsigned char *in, uint64_t position,
                          uint64_t bytes, struct xb_mismatch *found)
{
    for (uint64_t at = 0; at < bytes; at += 8) {
        unsigned long long word;
        memcpy(&word, in + at, 8);
        word ^= xb_pattern_word(job->pattern, (position + at) / 8) * job->leap.factor +
                job->leap.addend;
        for (unsigned i = 0; word != 0; i++, word >>= 8)
            if ((word & 0xFF) != 0 && found->wrong_bytes++ == 0)
                found->first_offset = position + at + i;
    }
}

/*
 * Adds what is wrong in a block of whole words that did not match. Its bytes are read a second time
 * to count them. Where they are right by then, one stands for what was wrong before, at the block's
 * beginning: it was seen, and it counts.
 */
static void count_block(const struct job *job, const unsigned char *in, uint64_t position,
                        uint64_t bytes, struct xb_mismatch *found)
{
    uint64_t before = found->wrong_bytes;
    compare_words(job, in, position, bytes, found);
    if (found->wrong_bytes == before && found->wrong_bytes++ == 0)
        found->first_offset = position;
}

static void check_part(void *argument, uint64_t begin, uint64_t end)
{
    struct job *job = argument;
    const struct xb_words *words = xb_words_fastest();
    const unsigned char *in = job->in + begin;
    uint64_t position = job->offset + begin;
    uint64_t left = end - begin;
    struct xb_mismatch found = {0};

    uint64_t head = head_bytes(position, left);
    compare_bytes(in, position, head, job->pattern, &found);
    in += head;
    position += head;
    left -= head;
    for (uint64_t block; left >= 8; left -= block, in += block, position += block) {
        block = left < BLOCK ? left / 8 * 8 : BLOCK;
        if (!words->match(in, job->pattern, job->leap, position / 8, block / 8))
            count_block(job, in, position, block, &found);
    }
    compare_bytes(in, position, left, job->pattern, &found);

    if (found.wrong_bytes == 0)
        return;
    pthread_mutex_lock(&job->lock);
    if (job->mismatch.wrong_bytes == 0 || found.first_offset < job->mismatch.first_offset)
        job->mismatch.first_offset = found.first_offset;
    job->mismatch.wrong_bytes += found.wrong_bytes;
    pthread_mutex_unlock(&job->lock);
}

/*
 * A step computes on whole words, so a range with steps must begin at a whole word. All its parts
 * then do, because GRAIN is a multiple of a word.
 */
static struct xb_compute_leap leap_at(uint64_t offset, struct xb_pattern pattern)
{
    assert(pattern.steps == 0 || offset % 8 == 0);
    (void)offset;
    return xb_compute_leap_of(pattern.steps);
}

void xb_host_fill(void *memory, uint64_t offset, uint64_t bytes, struct xb_pattern pattern)
{
    struct job job = {
        .out = memory, .offset = offset, .pattern = pattern, .leap = leap_at(offset, pattern)};
    xb_parallel_for(bytes, GRAIN, fill_part, &job);
}

uint64_t xb_host_read_pages(const void *memory, uint64_t bytes)
{
    const volatile unsigned char *pages = memory;
    uint64_t sum = 0;
    for (uint64_t at = 0; at < bytes; at += XB_HOST_PAGE)
        sum += pages[at];
    return sum;
}

struct xb_mismatch xb_host_check(const void *memory, uint64_t offset, uint64_t bytes,
                                 struct xb_pattern pattern)
{
    struct job job = {.in = memory,
                      .offset = offset,
                      .pattern = pattern,
                      .leap = leap_at(offset, pattern),
                      .lock = PTHREAD_MUTEX_INITIALIZER};
    xb_parallel_for(bytes, GRAIN, check_part, &job);
    return job.mismatch;
}

/* ---- digests ---- */

/* The `rest` bytes behind the last whole word take no step. */
static void add_part(void *argument, uint64_t begin, uint64_t end)
{
    struct job *job = argument;
    unsigned long long word = 0;
    uint64_t rest = end % 8;
    uint64_t sum =
        xb_words_fastest()->sum(job->in + begin, job->leap, begin / 8, (end - begin) / 8);
    memcpy(&word, job->in + end - rest, rest);
    atomic_fetch_add(&job->sum, rest > 0 ? sum + xb_digest_word(word, end / 8) : sum);
}

uint64_t xb_digest_stepped(const void *memory, uint64_t bytes, uint64_t steps)
{
    struct job job = {.in = memory, .leap = xb_compute_leap_of(steps)};
    xb_parallel_for(bytes, GRAIN, add_part, &job);
    return job.sum;
}

uint64_t xb_digest_memory(const void *memory, uint64_t bytes)
{
    return xb_digest_stepped(memory, bytes, 0);
}
