/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* The lines of the table about a GPU's links: those of its path, and its NVLinks. */
#include "format.h"

#include "base/text.h"
#include "present/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *xb_link_lanes_text(struct xb_lanes lanes, char *text, size_t size)
{
    if (lanes.speed_gts > 0 && lanes.width > 0)
        return xb_lanes_text(lanes.speed_gts, lanes.width, text, size);
    snprintf(text, size, "-");
    return text;
}

const char *xb_link_range_text(double low, double high, int decimals, char text[XB_LINK_RANGE])
{
    char least[32], most[32];
    snprintf(least, sizeof least, "%.*f", decimals, low / 1e9);
    snprintf(most, sizeof most, "%.*f", decimals, high / 1e9);
    bool is_one = strcmp(least, most) == 0;
    snprintf(text, XB_LINK_RANGE, "%s%s%s", least, is_one ? "" : " to ", is_one ? "" : most);
    return text;
}

/* ---- the path: a row for each link, the device's own first ---- */

static const struct xb_table_column columns[] = {
    {.title = "LINK, GPU first"},
    {.title = "UNDER LOAD", .brief = "LOAD"},
    {.title = "BEST", .turn = 2},
    {.title = "AT REST", .turn = 1},
    {.title = ""},
};

static void put_lanes(struct xb_table *table, struct xb_lanes lanes)
{
    char text[64];
    xb_table_cell(table, XB_COLOUR_NONE, "%s", xb_link_lanes_text(lanes, text, sizeof text));
}

static void add_hop(struct xb_table *table, const struct xb_link_hop *hop, bool is_bottleneck)
{
    char changes[32] = "";
    bool is_marked = is_bottleneck || hop->on_package;
    if (hop->changes > 0)
        snprintf(changes, sizeof changes, "%s%u change%s", is_marked ? ", " : "", hop->changes,
                 hop->changes == 1 ? "" : "s");
    xb_table_row(table);
    xb_table_cell(table, XB_COLOUR_NONE, "%s - %s", hop->lower,
                  hop->has_upper ? hop->upper : "(no bridge seen)");
    put_lanes(table, hop->load);
    put_lanes(table, hop->best);
    put_lanes(table, hop->at_rest);
    xb_table_cell(table, is_bottleneck ? XB_COLOUR_WARNING : XB_COLOUR_NONE, "%s%s%s",
                  is_bottleneck ? "bottleneck" : "", hop->on_package ? "on package" : "", changes);
}

enum xb_status xb_link_table_path(FILE *stream, const struct xb_verdict *verdict,
                                  struct xb_error *error)
{
    const struct xb_link_hop *hops = verdict->facts.hops;
    size_t count = verdict->facts.hop_count;
    char label[32], indent[32];
    if (count == 0) {
        NOTE("path", "sysfs does not show the GPU");
        return XB_OK;
    }
    struct xb_table *table = xb_table_new();
    snprintf(label, sizeof label, "  %-*s", XB_LINK_LABEL, "path");
    snprintf(indent, sizeof indent, "%*s", XB_LINK_LABEL + 2, "");
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        xb_table_add_column(table, &columns[i]);
    /* That a single link limits the path goes without saying. */
    for (size_t i = 0; i < count; i++)
        add_hop(table, &hops[i], count > 1 && i == verdict->bottleneck && hops[i].load.width > 0);
    enum xb_status status = xb_table_print(
        stream, table, &(struct xb_table_look){.label = label, .indent = indent}, error);
    xb_table_free(table);
    return status;
}

/* ---- NVLinks: what they counted during the test and since boot is told apart, because only the
 * first says something of the links as they are ---- */

/* "0 replays, 3 recoveries": the counters that are known. */
static void add_counts(struct xb_words *words, const bool counted[XB_NVLINK_COUNTERS],
                       const uint64_t counts[XB_NVLINK_COUNTERS])
{
    const char *separator = "";
    for (enum xb_nvlink_counter i = 0; i < XB_NVLINK_COUNTERS; i++) {
        if (!counted[i])
            continue;
        xb_words_add(words, "%s%" PRIu64 " %s", separator, counts[i],
                     xb_nvlink_counter_words(i, counts[i]));
        separator = ", ";
    }
}

/* The links that counted anything during the test. */
static void add_links(struct xb_words *words, const struct xb_nvlink_facts *facts)
{
    for (size_t i = 0; i < XB_NVLINKS; i++) {
        const struct xb_nvlink_seen *link = &facts->links[i];
        bool rose[XB_NVLINK_COUNTERS];
        bool any = false;
        for (size_t j = 0; j < XB_NVLINK_COUNTERS; j++) {
            rose[j] = link->rises[j] > 0;
            any = any || rose[j];
        }
        if (any)
            xb_words_add(words, "; link %zu: ", i);
        add_counts(words, rose, link->rises);
    }
}

void xb_link_table_nvlinks(FILE *stream, const struct xb_device_health *after,
                           const struct xb_nvlink_facts *facts)
{
    struct xb_words words = {.length = 0};
    bool counted[XB_NVLINK_COUNTERS] = {false};
    uint64_t since_boot[XB_NVLINK_COUNTERS] = {0};
    double slowest = INFINITY, fastest = 0;
    char range[XB_LINK_RANGE];
    if (!after->nvlinks_known)
        return;
    for (size_t i = 0; i < XB_NVLINKS; i++)
        if (after->nvlinks[i].rate > 0) {
            slowest = fmin(slowest, after->nvlinks[i].rate);
            fastest = fmax(fastest, after->nvlinks[i].rate);
        }
    if (fastest > 0)
        xb_words_add(&words, ", each %s GB/s each way",
                     xb_link_range_text(slowest, fastest, 2, range));
    NOTE("NVLink", "%u active, %u inactive%s", after->nvlinks_active, after->nvlinks_inactive,
         words.text);
    if (xb_nvlink_facts_known(facts)) {
        words = (struct xb_words){.length = 0};
        add_counts(&words, facts->counted, facts->rises);
        add_links(&words, facts);
        NOTE("", "during the test: %s", words.text);
    }
    for (size_t i = 0; i < XB_NVLINKS; i++)
        for (size_t j = 0; j < XB_NVLINK_COUNTERS; j++)
            if (after->nvlinks[i].counted[j]) {
                counted[j] = true;
                since_boot[j] += after->nvlinks[i].counts[j];
            }
    words = (struct xb_words){.length = 0};
    add_counts(&words, counted, since_boot);
    if (words.length > 0)
        NOTE("", "since boot: %s", words.text);
}
