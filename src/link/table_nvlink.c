/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* The lines of the table about NVLinks. What they counted during the test and since boot are told
 * apart: only the first says something of the links as they are. */
#include "table_nvlink.h"

#include "base/note.h"
#include "base/text.h"

#include <inttypes.h>

/* "26.56 GB/s each way", of all active links; nothing where no rate is known. */
static void add_rates(struct xb_words *words, const struct xb_device_health *health)
{
    double least = 0;
    double most = 0;
    char text[32];
    for (size_t i = 0; i < XB_NVLINKS; i++) {
        double rate = health->nvlinks[i].rate;
        if (rate > most)
            most = rate;
        if (rate > 0 && (least <= 0 || rate < least))
            least = rate;
    }
    if (most <= 0)
        return;
    xb_words_add(words, ", each %s", xb_rate_text(least, text, sizeof text));
    if (most > least)
        xb_words_add(words, " to %s", xb_rate_text(most, text, sizeof text));
    xb_words_add(words, " GB/s each way");
}

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

static void print_since_boot(FILE *stream, int width, const struct xb_device_health *health)
{
    struct xb_words words = {.length = 0};
    bool counted[XB_NVLINK_COUNTERS] = {false};
    uint64_t sums[XB_NVLINK_COUNTERS] = {0};
    for (size_t i = 0; i < XB_NVLINKS; i++) {
        for (size_t j = 0; j < XB_NVLINK_COUNTERS; j++) {
            if (!health->nvlinks[i].counted[j])
                continue;
            counted[j] = true;
            sums[j] += health->nvlinks[i].counts[j];
        }
    }
    add_counts(&words, counted, sums);
    if (words.length > 0)
        xb_note_print(stream, "", width, "since boot: %s", words.text);
}

void xb_link_table_nvlinks(FILE *stream, int width, const struct xb_device_health *after,
                           const struct xb_nvlink_facts *facts)
{
    struct xb_words words = {.length = 0};
    if (!after->nvlinks_known)
        return;
    xb_words_add(&words, "%u active, %u inactive", after->nvlinks_active, after->nvlinks_inactive);
    add_rates(&words, after);
    xb_note_print(stream, "NVLink", width, "%s", words.text);
    if (xb_nvlink_facts_known(facts)) {
        words = (struct xb_words){.length = 0};
        add_counts(&words, facts->counted, facts->rises);
        add_links(&words, facts);
        xb_note_print(stream, "", width, "during the test: %s", words.text);
    }
    print_since_boot(stream, width, after);
}
