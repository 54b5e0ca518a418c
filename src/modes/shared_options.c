/* SPDX-License-Identifier: Apache-2.0 */
#include "shared_options.h"

#include <string.h>

static const char *const host_memory_words[] = {"alloc", "registered", "write-combined", NULL};

const struct xb_option xb_option_host_memory = {
    .name = "host-memory",
    .type = XB_OPTION_CHOICES,
    .argument = "KIND[,KIND]",
    .default_text = "alloc",
    .help = "How page-locked host memory is made: 'alloc' by the runtime's allocator, 'registered' "
            "by page-locking ordinary memory, 'write-combined' by the allocator with caching off "
            "for the CPU. One case is run for each.",
    .choices = host_memory_words,
};

enum xb_memory xb_host_memory_of(const char *variant)
{
    if (strcmp(variant, "registered") == 0)
        return XB_MEMORY_REGISTERED;
    if (strcmp(variant, "write-combined") == 0)
        return XB_MEMORY_WRITE_COMBINED;
    return XB_MEMORY_PINNED;
}

uint32_t xb_host_memory_capabilities(const char *variant)
{
    switch (xb_host_memory_of(variant)) {
    case XB_MEMORY_REGISTERED:
        return XB_CAP_REGISTER;
    case XB_MEMORY_WRITE_COMBINED:
        return XB_CAP_WRITE_COMBINED;
    default:
        return 0;
    }
}
