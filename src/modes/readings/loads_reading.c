/* SPDX-License-Identifier: Apache-2.0 */
/* Says in the Reading what a load takes, from the GPU's own memory, the host's and another GPU's.
 */
#include "modes/loads.h"
#include "modes/shared_options.h"
#include "readings.h"

#include <string.h>

enum source { OWN, HOST, PEERS, SOURCES };

/* From where a case of loads by that device and in that order loads; SOURCES: it is none. */
static enum source source_of(const struct xb_reading *reading, const struct xb_record_case *test,
                             int device, const char *variant)
{
    bool of_peer = strcmp(test->mode, "peer-loads") == 0;
    if ((!of_peer && strcmp(test->mode, "loads") != 0) || strcmp(test->variant, variant) != 0 ||
        (of_peer ? test->peer : test->device) != device ||
        !xb_reading_has(reading, test, &xb_figure_load_latency))
        return SOURCES;
    bool of_host = strcmp(test->direction, xb_direction_name(XB_H2D)) == 0;
    return of_peer ? PEERS : of_host ? HOST : OWN;
}

/* Compares the medians of what loads take from one kind of memory each. */
static bool say_in_order(struct xb_reading *reading, int device, uint64_t bytes,
                         const char *variant)
{
    const struct xb_record_cases sized = xb_record_of_size(xb_reading_record(reading), bytes);
    struct xb_statistics latency[SOURCES];
    bool has[SOURCES];
    for (enum source source = OWN; source < SOURCES; source++) {
        for (size_t i = 0; i < sized.count; i++)
            if (source_of(reading, sized.cases[i], device, variant) == source)
                xb_reading_collect(
                    reading, xb_reading_median(reading, sized.cases[i], &xb_figure_load_latency));
        has[source] = xb_reading_spread(reading, &latency[source]);
    }
    if (!has[OWN] || (!has[HOST] && !has[PEERS]))
        return false;
    xb_reading_phrase(reading, "A load takes {duration:own_latency} from the GPU's own memory",
                      latency[OWN].median);
    if (has[HOST])
        xb_reading_phrase(reading, "{text} {duration:host_latency} from the host's",
                          has[PEERS] ? "," : " and", latency[HOST].median);
    if (has[PEERS])
        xb_reading_phrase(reading, " and {duration:peer_latency} from another GPU's",
                          latency[PEERS].median);
    if (has[PEERS] && latency[PEERS].n > 1)
        xb_reading_add(reading, " (median of %zu)", latency[PEERS].n);
    xb_reading_add(reading, ".");
    for (size_t i = 0; i < sized.count; i++)
        if (source_of(reading, sized.cases[i], device, variant) != SOURCES)
            xb_reading_rests_on(reading, sized.cases[i]);
    return true;
}

/* In the first order that has something to compare. */
bool xb_loads_say(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record_device *own = xb_record_device(xb_reading_record(reading), device);
    if (own == NULL || own->shares_host_memory)
        return false; /* where both are one memory there is nothing to compare */
    for (size_t i = 0; xb_option_access.choices[i] != NULL; i++)
        if (say_in_order(reading, device, bytes, xb_option_access.choices[i]))
            return true;
    return false;
}

/* In the first order that was measured. */
bool xb_peer_loads_answer(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record_cases sized = xb_record_of_size(xb_reading_record(reading), bytes);
    const char *order = NULL;
    struct xb_statistics latency;
    (void)device;
    for (size_t i = 0; i < sized.count; i++) {
        const struct xb_record_case *test = sized.cases[i];
        if (!xb_reading_has(reading, test, &xb_figure_load_latency) ||
            (order != NULL && strcmp(test->variant, order) != 0))
            continue;
        order = test->variant;
        xb_reading_collect(reading, xb_reading_median(reading, test, &xb_figure_load_latency));
    }
    if (!xb_reading_spread(reading, &latency))
        return false;
    xb_reading_phrase(reading, "A load from another GPU's memory takes {duration}", latency.median);
    if (latency.n > 1)
        xb_reading_add(reading, " (median of %zu pairs)", latency.n);
    xb_reading_add(reading, ".");
    return true;
}
