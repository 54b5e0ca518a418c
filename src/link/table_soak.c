/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the table about minutes of load and rest. */
#include "report.h"

#include "base/text.h"
#include "present/table.h"

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

/* Adds the change of the GPU that changed most, if it shows: "back 55.2 to 54.9 GB/s (GPU 1)". */
static void add_change(struct xb_words *words, size_t quantity, const double (*changes)[2],
                       const struct xb_link_report *report)
{
    char from[32], to[32];
    size_t most = 0;
    for (size_t i = 1; i < report->device_count; i++)
        if (fabs(changes[i][1] - changes[i][0]) > fabs(changes[most][1] - changes[most][0]))
            most = i;
    snprintf(from, sizeof from, "%.*f", quantities[quantity].decimals,
             changes[most][0] / quantities[quantity].scale);
    snprintf(to, sizeof to, "%.*f", quantities[quantity].decimals,
             changes[most][1] / quantities[quantity].scale);
    if (strcmp(from, to) != 0)
        xb_words_add(words, "%s%s %s to %s %s (GPU %u)", words->length > 0 ? ", " : "",
                     quantities[quantity].words, from, to, quantities[quantity].unit,
                     report->devices[most].info.index);
}

#define PRINT(...) xb_lines_print(stream, xb_terminal_prose_columns(stream), __VA_ARGS__)

void xb_link_table_soak(FILE *stream, const struct xb_link_report *report)
{
    const struct xb_link_soak *soak = report->soak;
    struct xb_words minutes = {.length = 0}, tests = {.length = 0};
    char row[XB_SOAK_ROW];
    if (soak == NULL)
        return;
    PRINT("Soak of %.4g min%s, all GPUs at once, from the lowest minute to the highest:",
          soak->took / 60, soak->ended ? "" : " (cut short)");
    fprintf(stream, "GPU %s\n", xb_soak_row(NULL, row));
    for (size_t i = 0; i < soak->device_count; i++)
        fprintf(stream, "%3u %s\n", report->devices[i].info.index,
                xb_soak_row(soak->devices[i].ranges, row));
    if (soak->left_out[0] != '\0')
        PRINT("Left out: %s.", soak->left_out);
    for (size_t i = 0; i < soak->device_count; i++)
        XB_EACH (reason, soak->devices[i].reasons, soak->devices[i].reason_count)
            PRINT("GPU %u was slowed down by %s in %.0f %% of the readings.",
                  report->devices[i].info.index, reason->words,
                  100.0 * reason->looks / soak->devices[i].looks);
    for (size_t q = 0; q < SHOWN; q++) {
        double changes[XB_RUN_DEVICES][2] = {{0}};
        for (size_t i = 0; i < soak->device_count; i++) {
            changes[i][0] = soak->devices[i].ranges[q].first;
            changes[i][1] = soak->devices[i].ranges[q].last;
        }
        add_change(&minutes, q, changes, report);
    }
    for (size_t way = 0; way < XB_LINK_WAYS && soak->ended; way++) {
        double changes[XB_RUN_DEVICES][2] = {{0}};
        for (size_t i = 0; i < soak->device_count; i++) {
            changes[i][1] = report->verdicts[i].ways[way].measured;
            changes[i][0] = soak->devices[i].before[way] > 0 && changes[i][1] > 0
                                ? soak->devices[i].before[way]
                                : changes[i][1];
        }
        add_change(&tests, way, changes, report);
    }
    PRINT("Changed from the first reading to the last: %s; from the first test to the last: %s.",
          minutes.length > 0 ? minutes.text : "nothing", tests.length > 0 ? tests.text : "nothing");
}
