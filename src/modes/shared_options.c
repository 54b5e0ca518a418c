/* SPDX-License-Identifier: Apache-2.0 */
#include "shared_options.h"

#include "machine/cpu_quota.h"

#include <string.h>

static const char *const host_memory_words[] = {"registered", "alloc", "write-combined", "pageable",
                                                NULL};

const struct xb_option xb_option_host_memory = {
    .name = "host-memory",
    .type = XB_OPTION_CHOICES,
    .argument = "KIND[,KIND]",
    .default_text = "registered",
    .help = "How the host's memory is made: 'registered' by page-locking ordinary memory in huge "
            "pages, 'alloc' by the runtime's allocator, 'write-combined' by the allocator with "
            "caching off for the CPU, 'pageable' (async only) not page-locked at all. One case is "
            "run for each.",
    .choices = host_memory_words,
    .selects = true,
};

enum xb_memory xb_host_memory_of(const char *variant)
{
    if (strcmp(variant, "registered") == 0)
        return XB_MEMORY_REGISTERED;
    if (strcmp(variant, "write-combined") == 0)
        return XB_MEMORY_WRITE_COMBINED;
    if (strcmp(variant, "pageable") == 0)
        return XB_MEMORY_PAGEABLE;
    return XB_MEMORY_PINNED;
}

uint32_t xb_host_memory_capabilities(const struct xb_case *test)
{
    switch (xb_host_memory_of(test->variant)) {
    case XB_MEMORY_REGISTERED:
        return XB_CAP_REGISTER;
    case XB_MEMORY_WRITE_COMBINED:
        return XB_CAP_WRITE_COMBINED;
    default:
        return 0;
    }
}

enum xb_status xb_host_memory_refuse_pageable(const struct xb_case *test, struct xb_error *error)
{
    if (xb_host_memory_of(test->variant) != XB_MEMORY_PAGEABLE)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                   "%s is about page-locked memory; for pageable memory take the modes pageable or "
                   "async",
                   test->mode->name);
}

static const char *const access_words[] = {"sequential", "strided", "random", NULL};

const struct xb_option xb_option_access = {
    .name = "access",
    .type = XB_OPTION_CHOICES,
    .argument = "ORDER[,ORDER]",
    .default_text = "sequential",
    .help = "In which order kernels go through memory: 'sequential', 'strided' (each step goes on "
            "by 512, to another page) or 'random'. A step is a word of 8 bytes from thread to "
            "thread, or a line of 128 bytes if one thread loads alone. One case is run for each.",
    .choices = access_words,
    .selects = true,
};

enum xb_access xb_access_of(const char *variant)
{
    if (strcmp(variant, "strided") == 0)
        return XB_ACCESS_STRIDED;
    return strcmp(variant, "random") == 0 ? XB_ACCESS_RANDOM : XB_ACCESS_SEQUENTIAL;
}

static const char *const by_words[] = {"engine", "kernel", NULL};

const struct xb_option xb_option_by = {
    .name = "by",
    .type = XB_OPTION_CHOICES,
    .argument = "WHAT[,WHAT]",
    .default_text = "engine",
    .help = "What moves the data: 'engine' the runtime's copy, by a copy engine if the device has "
            "one; 'kernel' the device's cores, which load and store every word. One case is run "
            "for each.",
    .choices = by_words,
    .selects = true,
};

bool xb_is_by_kernel(const char *word)
{
    return strcmp(word, "kernel") == 0;
}

const struct xb_option xb_option_threads = {
    .name = "threads",
    .type = XB_OPTION_COUNTS,
    .argument = "N[,N]",
    .default_text = "0",
    .help =
        "How many host threads copy or encode: a number, a list (1,4,16), a range that doubles "
        "(1..16), or 0 for one on each CPU near the device (64 at most, and no more than the "
        "cgroup's CPU limit). Of two or more, one only feeds the device. One case is run for each.",
    .minimum = 0,
    .maximum = XB_CREW_THREADS,
    .selects = true,
};

/* More threads than these are given by number only: each takes room in page-locked memory. */
#define MOST_BY_DEFAULT 64u

unsigned xb_threads_usual(void)
{
    unsigned near = xb_cpus_usable();
    return near < MOST_BY_DEFAULT ? near : MOST_BY_DEFAULT;
}

unsigned xb_threads_of(const struct xb_case *test)
{
    unsigned given = (unsigned)xb_case_setting(test, &xb_option_threads)->count;
    return given > 0 ? given : xb_threads_usual();
}

const struct xb_option xb_option_chunk = {
    .name = "chunk",
    .type = XB_OPTION_SIZES,
    .argument = "SIZE[,SIZE]",
    .default_text = "8M",
    .help = "How much one operation moves; the last chunk may be shorter. A size, a list (64K,8M) "
            "or a range that doubles (64K..8M). One case is run for each.",
    .minimum = 1,
    .maximum = INT64_MAX,
    .selects = true,
};

const struct xb_option xb_option_buffers = {
    .name = "buffers",
    .type = XB_OPTION_COUNTS,
    .argument = "N[,N]",
    .default_text = "4",
    .help =
        "How many chunks are on the device at a time, each with a queue of its own: a number, a "
        "list (2,3,4) or a range that doubles (2..16). One case is run for each.",
    .minimum = 2,
    .maximum = 32,
    .selects = true,
};

#define OFFSET_LIMIT ((UINT64_C(1) << 20) - 1)

const struct xb_option xb_option_host_offset = {
    .name = "host-offset",
    .type = XB_OPTION_SIZES,
    .argument = "BYTES[,BYTES]",
    .default_text = "0",
    .help = "Start the host's buffer this many bytes after a boundary (a page or more): a number, "
            "a list (0,1,64) or a range that doubles (1..256). One case is run for each.",
    .minimum = 0,
    .maximum = OFFSET_LIMIT,
    .selects = true,
};

const struct xb_option xb_option_device_offset = {
    .name = "device-offset",
    .type = XB_OPTION_SIZES,
    .argument = "BYTES[,BYTES]",
    .default_text = "0",
    .help = "Start the device's buffer this many bytes after a boundary (256 bytes or more): a "
            "number, a list (0,1,64) or a range that doubles (1..256). One case is run for each.",
    .minimum = 0,
    .maximum = OFFSET_LIMIT,
    .selects = true,
};

static uint64_t largest_offset(const struct xb_case *test, const struct xb_option *option,
                               const struct xb_config *config)
{
    uint64_t largest = 0;
    if (xb_case_find_setting(test, option) == NULL)
        return 0;
    const struct xb_value *offsets = xb_config_get(config, option->name);
    for (size_t i = 0; i < xb_value_length(offsets); i++)
        if (xb_value_number(offsets, i) > largest)
            largest = xb_value_number(offsets, i);
    return largest;
}

uint64_t xb_largest_offset(const struct xb_case *test, const struct xb_config *config)
{
    uint64_t host = largest_offset(test, &xb_option_host_offset, config);
    uint64_t device = largest_offset(test, &xb_option_device_offset, config);
    return host > device ? host : device;
}

/* Rounded up without adding first: the sum could overflow. */
uint64_t xb_chunk_count(uint64_t bytes, uint64_t chunk)
{
    return bytes / chunk + (bytes % chunk != 0);
}

struct xb_chunk xb_chunk_at(uint64_t bytes, uint64_t chunk, uint64_t index)
{
    uint64_t offset = index * chunk;
    return (struct xb_chunk){.offset = offset,
                             .bytes = bytes - offset < chunk ? bytes - offset : chunk};
}

enum xb_status xb_chunk_check_words(const struct xb_case *test, struct xb_error *error)
{
    uint64_t chunk = xb_case_setting(test, &xb_option_chunk)->count;
    if (chunk % 8 == 0)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--chunk %llu: the kernel of %s works on words of 8 bytes; take a multiple of 8",
                   (unsigned long long)chunk, test->mode->name);
}

/* One iteration cannot be interrupted: so many operations take some seconds to enqueue. */
#define MAX_OPERATIONS UINT64_C(1000000)

enum xb_status xb_chunk_check_count(const struct xb_case *test, const struct xb_option *option,
                                    uint64_t per_chunk, struct xb_error *error)
{
    char size[32];
    char piece[32];
    uint64_t chunk = xb_case_setting(test, option)->count;
    uint64_t count = xb_chunk_count(test->bytes, chunk);
    if (count <= MAX_OPERATIONS / per_chunk)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--%s %s: %s of %s in such chunks takes %llu times %llu operations an "
                   "iteration, and at most %llu are enqueued; take a larger --%s or a smaller "
                   "--size",
                   option->name, xb_size_format(chunk, piece, sizeof piece),
                   xb_size_format(test->bytes, size, sizeof size), test->mode->name,
                   (unsigned long long)count, (unsigned long long)per_chunk,
                   (unsigned long long)MAX_OPERATIONS, option->name);
}

enum xb_status xb_chunk_check(const struct xb_case *test, uint64_t per_chunk,
                              struct xb_error *error)
{
    return xb_chunk_check_count(test, &xb_option_chunk, per_chunk, error);
}
