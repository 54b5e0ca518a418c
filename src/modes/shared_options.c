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

enum xb_status xb_host_memory_supported(const struct xb_case *test, const struct xb_config *config,
                                        const struct xb_device_info *device, struct xb_error *error)
{
    (void)config;
    enum xb_memory memory = xb_host_memory_of(test->variant);
    unsigned needed = memory == XB_MEMORY_REGISTERED       ? XB_CAP_REGISTER
                      : memory == XB_MEMORY_WRITE_COMBINED ? XB_CAP_WRITE_COMBINED
                                                           : 0;
    if ((device->capabilities & needed) == needed)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED, "%s has no %s host memory", device->name,
                   xb_memory_name(memory));
}
