/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the table about minutes of load and rest. */
#include "report.h"

#include "base/text.h"
#include "present/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct {
    const char *words, *unit, *title;
    double scale;
    int decimals, width; /* in a row */
} quantities[] = {
    [XB_SOAK_TO_GPU] = {"to the GPU", "GB/s", "TO GPU", 1e9, 1, 9},
    [XB_SOAK_BACK] = {"back", "GB/s", "BACK GB/s", 1e9, 1, 9},
    [XB_SOAK_KERNELS] = {"beside kernels", "GB/s", "KERNELS", 1e9, 1, 9},
    [XB_SOAK_PEER] = {"to other GPUs", "GB/s", "PEERS", 1e9, 0, 7},
    [XB_SOAK_TEMPERATURE] = {"temperature", "C", "DEG C", 1, 0, 5},
    [XB_SOAK_POWER] = {"power", "W", "WATTS", 1, 0, 7},
    [XB_SOAK_SM_CLOCK] = {"SM clock", "MHz", "SM MHz", 1, 0, 9},
};
#define SHOWN (sizeof quantities / sizeof quantities[0])

const char *xb_soak_row(const struct xb_soak_range *ranges, char row[XB_SOAK_ROW])
{
    size_t length = 0;
    for (size_t q = 0; q < SHOWN; q++) {
        const struct xb_soak_range *range = ranges != NULL ? &ranges[q] : NULL;
        const double giga = 1e9 / quantities[q].scale; /* of which the text is made */
        char text[72] = "-";
        if (range == NULL)
            snprintf(text, sizeof text, "%s", quantities[q].title);
        else if (range->count > 0)
            (void)xb_link_range_text(giga * range->least, giga * range->most,
                                     quantities[q].decimals, text);
        char *to = strstr(text, " to ");
        if (to != NULL) { /* "54.1-55.2" */
            memmove(to + 1, to + 4, strlen(to + 4) + 1);
            *to = '-';
        }
        length += (size_t)snprintf(row + length, XB_SOAK_ROW - length, "%-*s",
                                   q + 1 < SHOWN ? quantities[q].width + 1 : 0, text);
        length = length < XB_SOAK_ROW ? length : XB_SOAK_ROW - 1;
    }
    return row;
}

const char *xb_soak_time(double seconds, char text[24])
{
    if (seconds < 60)
        snprintf(text, 24, "%.3g s", seconds);
    else
        snprintf(text, 24, seconds < 7200 ? "%.3g min" : "%.3g h",
                 seconds / (seconds < 7200 ? 60 : 3600));
    return text;
}

/* How much the GPU changed that changed most. */
struct change {
    double from, to;
    unsigned gpu;
};

static void consider(struct change *most, double from, double to, unsigned gpu)
{
    if (from > 0 && to > 0 && fabs(to - from) > fabs(most->to - most->from))
        *most = (struct change){from, to, gpu};
}

#define SHOWS 0.02 /* a smaller change of a quantity is no news */

/* Adds "back 55.2 to 52.9 GB/s (GPU 1)", if it is so much. */
static void add_change(struct xb_words *words, size_t quantity, const struct change *most)
{
    char from[32], to[32];
    const double scale = quantities[quantity].scale;
    snprintf(from, sizeof from, "%.*f", quantities[quantity].decimals, most->from / scale);
    snprintf(to, sizeof to, "%.*f", quantities[quantity].decimals, most->to / scale);
    if (strcmp(from, to) != 0 && fabs(most->to - most->from) >= SHOWS * most->from)
        xb_words_add(words, "%s%s %s to %s %s (GPU %u)", words->length > 0 ? ", " : "",
                     quantities[quantity].words, from, to, quantities[quantity].unit, most->gpu);
}

#define PRINT(...) xb_lines_print(stream, xb_terminal_prose_columns(stream), __VA_ARGS__)

/* What was counted under load, and whether wrong bits of healthy links may explain it. */
static void tell_errors(FILE *stream, const struct xb_link_report *report)
{
    struct xb_words words = {.length = 0};
    bool is_usual = true;
    for (size_t i = 0; i < report->soak->device_count; i++) {
        const struct xb_soak_device *device = &report->soak->devices[i];
        const struct xb_link_facts *facts = &device->facts;
        uint64_t count = 0;
        if (!xb_link_errors(facts, &count) || count == 0)
            continue;
        xb_words_add(&words, "%s GPU %u %" PRIu64 "%s%s", words.length > 0 ? "," : "",
                     report->devices[i].info.index, count, words.length > 0 ? "" : " error",
                     words.length > 0 ? "" : XB_PLURAL(count));
        is_usual = is_usual && (double)count <= XB_HEALTHY_RATE * device->load_seconds &&
                   facts->errors.nonfatal + facts->errors.fatal + facts->rises[XB_PCIE_NONFATAL] +
                           facts->rises[XB_PCIE_FATAL] +
                           facts->nvlinks.rises[XB_NVLINK_RECOVERIES] +
                           facts->nvlinks.rises[XB_NVLINK_FAILED_RECOVERIES] ==
                       0;
    }
    if (words.length > 0)
        PRINT("Counted under load:%s%s.", words.text,
              is_usual ? ": rare wrong bits are normal, up to 0.6 a second" : "");
}

void xb_link_table_soak(FILE *stream, const struct xb_link_report *report)
{
    const struct xb_link_soak *soak = report->soak;
    struct xb_words slowed = {.length = 0}, minutes = {.length = 0}, tests = {.length = 0};
    char row[XB_SOAK_ROW];
    if (soak == NULL)
        return;
    PRINT("Soak of %s%s that test, lowest to highest; all GPUs, both ways at once:",
          XB_SOAK_TIME(soak->took), soak->ended ? " before" : " (cut short) after");
    fprintf(stream, "GPU %s\n", xb_soak_row(NULL, row));
    for (size_t i = 0; i < soak->device_count; i++)
        fprintf(stream, "%3u %s\n", report->devices[i].info.index,
                xb_soak_row(soak->devices[i].ranges, row));
    if (soak->left_out[0] != '\0')
        PRINT("Left out: %s.", soak->left_out);
    for (size_t i = 0; i < soak->device_count; i++)
        XB_EACH (reason, soak->devices[i].reasons, soak->devices[i].reason_count)
            xb_words_add(&slowed, "%sGPU %u by %s %.0f %%", slowed.length > 0 ? ", " : "",
                         report->devices[i].info.index, reason->words,
                         100.0 * reason->looks / soak->devices[i].looks);
    if (slowed.length > 0)
        PRINT("Slowed down: %s of the time.", slowed.text);
    tell_errors(stream, report);
    for (size_t q = 0; q < SHOWN; q++) {
        struct change minute = {.from = 0}, test = {.from = 0};
        for (size_t i = 0; i < soak->device_count; i++) {
            const struct xb_soak_device *device = &soak->devices[i];
            const unsigned gpu = report->devices[i].info.index;
            consider(&minute, device->ranges[q].first, device->ranges[q].last, gpu);
            if (q < XB_LINK_WAYS && soak->ended)
                consider(&test, device->before[q], report->verdicts[i].ways[q].measured, gpu);
        }
        add_change(&minutes, q, &minute);
        add_change(&tests, q, &test);
    }
    PRINT("Changed by %.0f %% or more from the first reading to the last: %s%s%s.", 100 * SHOWS,
          minutes.length > 0 ? minutes.text : "nothing",
          soak->ended ? "; from the first test to the last: " : "",
          !soak->ended       ? ""
          : tests.length > 0 ? tests.text
                             : "nothing");
}
