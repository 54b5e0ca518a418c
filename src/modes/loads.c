/* SPDX-License-Identifier: Apache-2.0 */
/* What a load takes: from the host's memory and from the device's own. */
#include "chase.h"
#include "modes/readings/readings.h"
#include "shared_options.h"

#include <string.h>

static bool is_of_host(const struct xb_case *test)
{
    return test->direction == XB_H2D;
}

static struct xb_needs needs(const struct xb_case *test)
{
    return (struct xb_needs){.host_bytes = is_of_host(test) ? test->bytes : 0,
                             .device_bytes = is_of_host(test) ? 0 : test->bytes};
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    return xb_chase_setup(context, context->workspace,
                          is_of_host(context->test) ? XB_MEMORY_MAPPED : XB_MEMORY_DEVICE,
                          context->workspace, error);
}

/* Whether a case is of loads by that device and in that order. */
static bool is_by(const struct xb_reading *reading, const struct xb_record_case *test, int device,
                  const char *variant)
{
    int reader = test->peer >= 0 ? test->peer : test->device;
    return reader == device && strcmp(test->variant, variant) == 0 &&
           xb_reading_has(reading, test, &xb_figure_load_latency);
}

/* The median of what its loads take from one kind of memory: of all peers', or of its own or the
 * host's. False where there is none. */
static bool find_latency(struct xb_reading *reading, int device, uint64_t bytes,
                         const char *variant, const char *mode, enum xb_direction direction,
                         struct xb_statistics *latency)
{
    const struct xb_record_cases sized = xb_record_of_size(xb_reading_record(reading), bytes);
    for (size_t i = 0; i < sized.count; i++) {
        const struct xb_record_case *test = sized.cases[i];
        if (strcmp(test->mode, mode) == 0 &&
            strcmp(test->direction, xb_direction_name(direction)) == 0 &&
            is_by(reading, test, device, variant))
            xb_reading_collect(reading, xb_reading_median(reading, test, &xb_figure_load_latency));
    }
    return xb_reading_spread(reading, latency);
}

static bool say_in_order(struct xb_reading *reading, int device, uint64_t bytes,
                         const char *variant)
{
    struct xb_statistics own, host, peers;
    bool has_own = find_latency(reading, device, bytes, variant, "loads", XB_D2D, &own);
    bool has_host = find_latency(reading, device, bytes, variant, "loads", XB_H2D, &host);
    bool has_peers = find_latency(reading, device, bytes, variant, "peer-loads", XB_D2D, &peers);
    if (!has_own || (!has_host && !has_peers))
        return false;
    xb_reading_phrase(reading, "A load takes {duration:own_latency} from the GPU's own memory",
                      own.median);
    if (has_host)
        xb_reading_phrase(reading, "{text} {duration:host_latency} from the host's",
                          has_peers ? "," : " and", host.median);
    if (has_peers)
        xb_reading_phrase(reading, " and {duration:peer_latency} from another GPU's", peers.median);
    if (has_peers && peers.n > 1)
        xb_reading_add(reading, " (median of %zu)", peers.n);
    xb_reading_add(reading, ".");
    /* Note the cases of all that is told of an order. */
    const struct xb_record_cases sized = xb_record_of_size(xb_reading_record(reading), bytes);
    for (size_t i = 0; i < sized.count; i++) {
        const struct xb_record_case *test = sized.cases[i];
        bool is_own = strcmp(test->mode, "loads") == 0;
        bool is_of_peer = strcmp(test->mode, "peer-loads") == 0;
        if ((is_own || is_of_peer) && is_by(reading, test, device, variant))
            xb_reading_rests_on(reading, test);
    }
    return true;
}

/* In the first order that has something to compare. */
static bool say(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record_device *own = xb_record_device(xb_reading_record(reading), device);
    if (own == NULL || own->shares_host_memory)
        return false; /* where both are one memory there is nothing to compare */
    for (size_t i = 0; xb_option_access.choices[i] != NULL; i++)
        if (say_in_order(reading, device, bytes, xb_option_access.choices[i]))
            return true;
    return false;
}

const struct xb_mode xb_mode_loads = {
    .name = "loads",
    .summary = "the latency of a load from the host's memory and from the GPU's own",
    .description =
        "One thread follows a chain through memory: each load brings the address of the next and "
        "waits for the one before. h2d goes through page-locked host memory that is mapped into "
        "the device's address space, d2d through the device's own. A sample is 16384 loads, each "
        "of a line of 128 bytes; the figure is the time of one. --size says how much memory the "
        "chain goes through: by default 2 MiB, which most devices' caches hold if it is their own "
        "memory. Sequential loads seldom have to look up where a page lies, random ones in much "
        "memory nearly always. The word of --access is the variant. --mode all has this mode only "
        "with --latency.",
    XB_ALL_BY_DEFAULT(XB_H2D | XB_D2D),
    .names = XB_NAMES({"random", "loads, random"}, {"sequential", "loads in order"}),
    .options = XB_OPTIONS(&xb_option_access),
    .reading = XB_READING({.label = "loads", .code = "XB-LOADS", .say = say}),
    .answer = say,
    .state_bytes = sizeof(struct xb_chase),
    .capabilities = xb_mapped_capabilities,
    .needs = needs,
    .setup = setup,
    .check = xb_chase_check_size,
    XB_CHASE_MODE,
    .verify = xb_chase_verify,
};
