/* SPDX-License-Identifier: Apache-2.0 */
#include "shared_options.h"

#include "machine/host_memory.h"
#include "record/run_options.h"

#include <string.h>

unsigned xb_variant_number(const struct xb_case *test)
{
    const char *const *words = test->mode->variant_option->choices;
    unsigned number = 0;
    while (words[number] != NULL && strcmp(words[number], test->variant) != 0)
        number++;
    return words[number] != NULL ? number : 0;
}

const struct xb_option xb_option_host_memory = {
    XB_CHOICES("host-memory", "KIND", "registered",
               "How the host's memory is made: 'registered' by page-locking ordinary memory in "
               "huge pages, 'alloc' by the runtime's allocator, 'write-combined' by the allocator "
               "with caching off for the CPU, 'pageable' (async only) not page-locked at all.",
               "registered", "alloc", "write-combined", "pageable")};

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
    enum xb_memory memory = xb_host_memory_of(test->variant);
    if (memory == XB_MEMORY_REGISTERED)
        return XB_CAP_REGISTER;
    return memory == XB_MEMORY_WRITE_COMBINED ? XB_CAP_WRITE_COMBINED : 0;
}

uint32_t xb_kernel_capabilities(const struct xb_case *test)
{
    return XB_CAP_KERNELS | xb_host_memory_capabilities(test);
}

uint32_t xb_access_capabilities(const struct xb_case *test)
{
    return XB_CAP_KERNELS | (strcmp(test->variant, "bulk") == 0 ? XB_CAP_BULK : 0);
}

uint32_t xb_mapped_capabilities(const struct xb_case *test)
{
    return XB_CAP_MAPPED | xb_access_capabilities(test);
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

const struct xb_option xb_option_access = {
    XB_CHOICES("access", "ORDER", "sequential",
               "In which order kernels go through memory: 'sequential', 'strided' (each step goes "
               "on by 512, to another page) or 'random'. A step is a word of 8 bytes from thread "
               "to thread, or a line of 128 bytes if one thread loads alone. 'bulk': in order, by "
               "bulk copies of the GPU's TMA engine.",
               "sequential", "strided", "random", "bulk")};

const struct xb_option xb_option_by = {
    XB_CHOICES("by", "WHAT", "engine",
               "What moves the data: 'engine' the runtime's copy, by a copy engine if the device "
               "has one; 'kernel' the device's cores, which load and store every word; 'bulk' bulk "
               "copies of their TMA engines; of local also 'read' and 'write', kernels that only "
               "read or only write.",
               "engine", "kernel", "bulk", "read", "write")};

const struct xb_option xb_option_threads = {
    XB_COUNTS("threads", "0", 0, XB_CREW_THREADS,
              "How many host threads copy or encode: a number, a list (1,4,16), a range that "
              "doubles (1..16), or 0 for one on each CPU near the device (64 at most, and no more "
              "than the cgroup's CPU limit). Of two or more, one only feeds the device.")};

/* More threads than these are given by number only: each takes room in page-locked memory. */
#define MOST_BY_DEFAULT 64u

unsigned xb_threads_usual(void)
{
    return (unsigned)xb_lesser(xb_cpus_usable(), MOST_BY_DEFAULT);
}

unsigned xb_threads_of(const struct xb_case *test)
{
    unsigned given = (unsigned)xb_case_setting(test, &xb_option_threads)->count;
    return given > 0 ? given : xb_threads_usual();
}

const struct xb_option xb_option_chunk = {
    XB_SIZES("chunk", "SIZE", "8M", 1, INT64_MAX,
             "How much one operation moves; the last chunk may be shorter. A size, a list (64K,8M) "
             "or a range that doubles (64K..8M).")};

const struct xb_option xb_option_buffers = {
    XB_COUNTS("buffers", "4", 2, 32,
              "How many chunks are on the device at a time, each with a queue of its own: a "
              "number, a list (2,3,4) or a range that doubles (2..16).")};

#define OFFSET_LIMIT ((UINT64_C(1) << 20) - 1)

const struct xb_option xb_option_host_offset = {
    XB_SIZES("host-offset", "BYTES", "0", 0, OFFSET_LIMIT,
             "Start the host's buffer this many bytes after a boundary (a page or more): a number, "
             "a list (0,1,64) or a range that doubles (1..256).")};

const struct xb_option xb_option_device_offset = {
    XB_SIZES("device-offset", "BYTES", "0", 0, OFFSET_LIMIT,
             "Start the device's buffer this many bytes after a boundary (256 bytes or more): a "
             "number, a list (0,1,64) or a range that doubles (1..256).")};

uint64_t xb_largest_offset(const struct xb_case *test)
{
    const struct xb_option *const sides[] = {&xb_option_host_offset, &xb_option_device_offset};
    uint64_t largest = 0;
    for (int side = 0; side < 2; side++) {
        if (xb_case_find_setting(test, sides[side]) == NULL)
            continue;
        const struct xb_value *offsets = xb_config_get(test->asked->config, sides[side]);
        for (size_t i = 0; i < xb_value_length(offsets); i++)
            largest = xb_larger(largest, xb_value_number(offsets, i));
    }
    return largest;
}

/* Rounded up without adding first: the sum could overflow. */
uint64_t xb_chunk_count(uint64_t bytes, uint64_t chunk)
{
    return bytes / chunk + (bytes % chunk != 0);
}

struct xb_chunk xb_chunk_at(uint64_t bytes, uint64_t chunk, uint64_t index)
{
    uint64_t offset = index * chunk;
    return (struct xb_chunk){.offset = offset, .bytes = xb_lesser(bytes - offset, chunk)};
}

enum xb_status xb_chunk_check_words(const struct xb_case *test, unsigned word,
                                    struct xb_error *error)
{
    uint64_t chunk = xb_case_setting(test, &xb_option_chunk)->count;
    if (chunk % word == 0)
        return XB_OK;
    return XB_FAIL(
        error, XB_ERR_USAGE,
        "--chunk %llu: the kernel of %s works on words of %u bytes; take a multiple of %u",
        (unsigned long long)chunk, test->mode->name, word, word);
}

/* One iteration cannot be interrupted: so many operations take some seconds to enqueue. */
#define MAX_OPERATIONS UINT64_C(1000000)

enum xb_status xb_chunk_check(const struct xb_case *test, const struct xb_option *option,
                              uint64_t per_chunk, struct xb_error *error)
{
    uint64_t chunk = xb_case_setting(test, option)->count;
    uint64_t count = chunk > 0 ? xb_chunk_count(test->bytes, chunk) : 0;
    if (count <= MAX_OPERATIONS / per_chunk)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--%s %s: %s of %s in such chunks takes %llu times %llu operations an "
                   "iteration, and at most %llu are enqueued; take a larger --%s or a smaller "
                   "--size",
                   option->name, XB_SIZE_TEXT(chunk), XB_SIZE_TEXT(test->bytes), test->mode->name,
                   (unsigned long long)count, (unsigned long long)per_chunk,
                   (unsigned long long)MAX_OPERATIONS, option->name);
}

const struct xb_figure xb_figure_in_time = {
    XB_FIGURE_TIME("in_time", "The copies into the device alone")};
const struct xb_figure xb_figure_kernel_time = {XB_FIGURE_TIME("kernel_time", "The kernels alone")};
const struct xb_figure xb_figure_out_time = {
    XB_FIGURE_TIME("out_time", "The copies out of the device alone")};
const struct xb_figure xb_figure_speed_up = {
    XB_FIGURE_GAIN("speed_up", "How many times as fast as the same work done the plain way")};
const struct xb_figure xb_figure_share_of_bound = {XB_FIGURE_GAIN(
    "share_of_bound",
    "The bandwidth divided by that of the slowest stage alone: 1 is the best possible")};
const struct xb_figure xb_figure_serial_time = {
    XB_FIGURE_TIME("serial_time", "The same work, one step after the other")};
const struct xb_figure xb_figure_gpu_busy = {
    XB_FIGURE_GAIN("gpu_busy", "The share of the time in which the device computed: its kernels' "
                               "time alone, divided by the whole")};

void xb_pair_add_link(const struct xb_mode_context *context, struct xb_result *result)
{
    const struct xb_peer_info *reach = &context->destination_reach;
    if (reach->link[0] != '\0')
        xb_result_detail_text(result, "link", "%s", reach->link);
    if (reach->links > 0)
        xb_result_detail_number(result, "links", reach->links);
    if (reach->link_rate > 0)
        xb_result_detail_number(result, "link_rate_bytes_per_second", reach->link_rate);
    if (reach->hops > 0)
        xb_result_detail_number(result, "link_hops", reach->hops);
}
