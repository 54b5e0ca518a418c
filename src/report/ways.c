/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* text.h */
#include "ways.h"

#include "base/text.h"
#include "machine/pcie.h"
#include "record/mode_list.h"
#include "record/rows.h"
#include "xferbench/units.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a case says ---- */

bool xb_way_is_rate(const struct xb_record_case *test)
{
    return strcmp(xb_mode_main_figure(test->mode, test->latency)->unit, XB_UNIT_SECONDS) != 0;
}

bool xb_way_value(const struct xb_record *record, const struct xb_record_case *test,
                  struct xb_statistics *value)
{
    const struct xb_figure *figure = xb_mode_main_figure(test->mode, test->latency);
    double unit = xb_way_is_rate(test) ? 1e9 : 1e-6;
    if (!xb_record_describe(record, test, figure->name, value) || !(value->median > 0))
        return false;
    value->median /= unit;
    value->ci95_low = value->has_interval ? value->ci95_low / unit : (double)NAN;
    value->ci95_high = value->has_interval ? value->ci95_high / unit : (double)NAN;
    return true;
}

const char *xb_way_unit(const struct xb_record_case *test)
{
    return xb_way_is_rate(test) ? "GB/s" : "us";
}

void xb_way_put_interval(struct xb_page *page, double low, double high)
{
    xb_page_cell_if(page, isfinite(low), "%s to %s", XB_DECIMAL_TEXT(low), XB_DECIMAL_TEXT(high));
}

const char *xb_way_name(struct xb_page *page, const struct xb_ways *ways,
                        const struct xb_record_case *test)
{
    struct xb_words words = {.length = 0};
    char text[64];
    xb_words_add(&words, "%.60s %.60s", test->mode, test->variant);
    for (size_t i = 0; i < ways->parameters.count; i++) {
        const char *name = ways->parameters.names[i];
        const char *value = xb_parameter_text(test, name, text, sizeof text);
        if (value != NULL && xb_parameter_differs(&ways->parameters, test, name))
            xb_words_add(&words, ", %.60s %.60s", name, value);
    }
    if (xb_case_is_of_pairs(test))
        xb_words_add(&words, ", %s", xb_device_text(ways->record, test, text, sizeof text));
    return xb_page_print(page, "%s", words.text);
}

/* ---- groups ---- */

static bool same_group(const struct xb_record_case *a, const struct xb_record_case *b)
{
    bool pairs = xb_case_is_of_pairs(a);
    return strcmp(a->direction, b->direction) == 0 && a->simultaneous == b->simultaneous &&
           pairs == xb_case_is_of_pairs(b) && (pairs || a->device == b->device) &&
           xb_way_is_rate(a) == xb_way_is_rate(b);
}

#define POINTER sizeof(void *) /* to a case */

/* False where memory is short. */
static bool add_case(struct xb_ways *ways, const struct xb_record_case *test)
{
    size_t at = 0;
    while (at < ways->count && !same_group(ways->groups[at].first, test))
        at++;
    if (at == XB_WAY_GROUPS) {
        ways->left_out++;
        return true;
    }
    struct xb_way_group *group = &ways->groups[at];
    group->first = at < ways->count ? group->first : test;
    ways->count += at == ways->count;
    at = 0;
    while (at < group->count && xb_cases_order(group->ways[at].cases[0], test, XB_BUT_SIZE) != 0)
        at++;
    if (at == XB_WAYS) {
        group->left_out++;
        return true;
    }
    struct xb_way *way = &group->ways[at];
    /* It doubles: at 1, 2, 4 there is no room for the next. */
    if ((way->count & (way->count - 1)) == 0) {
        size_t room = way->count == 0 ? 1 : 2 * way->count;
        const struct xb_record_case **cases = realloc(way->cases, room * POINTER);
        if (cases == NULL)
            return false;
        way->cases = cases;
    }
    group->count += at == group->count;
    way->cases[way->count++] = test;
    return true;
}

static int by_size(const void *a, const void *b)
{
    uint64_t left = (*(const struct xb_record_case *const *)a)->bytes;
    uint64_t right = (*(const struct xb_record_case *const *)b)->bytes;
    return (left > right) - (left < right);
}

static void free_ways(struct xb_ways *ways)
{
    for (size_t g = 0; ways->groups != NULL && g < ways->count; g++)
        for (size_t i = 0; i < ways->groups[g].count; i++)
            free(ways->groups[g].ways[i].cases);
    free(ways->groups);
    *ways = (struct xb_ways){.record = NULL};
}

/* The record must outlive *ways. XB_ERR_MEMORY only; then nothing is left to free. */
static enum xb_status make_ways(const struct xb_record *record, struct xb_ways *ways,
                                struct xb_error *error)
{
    struct xb_statistics value;
    *ways = (struct xb_ways){.record = record,
                             .parameters = xb_parameters_that_differ(record),
                             .groups = calloc(XB_WAY_GROUPS, sizeof *ways->groups)};
    bool ok = ways->groups != NULL;
    for (size_t i = 0; ok && i < record->case_count; i++)
        if (xb_way_value(record, &record->cases[i], &value))
            ok = add_case(ways, &record->cases[i]);
    if (!ok) {
        free_ways(ways);
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the pictures of a report");
    }
    for (size_t g = 0; g < ways->count; g++)
        for (size_t i = 0; i < ways->groups[g].count; i++)
            qsort(ways->groups[g].ways[i].cases, ways->groups[g].ways[i].count, POINTER, by_size);
    return XB_OK;
}

/* "host to device" */
static const char *path_name(const struct xb_record_case *test)
{
    static const struct {
        const char *direction, *alone, *between; /* between: from device to device */
    } names[] = {{"h2d", "host to device", "host to device"},
                 {"d2h", "device to host", "device to host"},
                 {"bidir", "both ways at once", "both ways at once between devices"},
                 {"d2d", "within the device", "from device to device"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(test->direction, names[i].direction) == 0)
            return xb_case_is_of_pairs(test) ? names[i].between : names[i].alone;
    return test->direction;
}

const char *xb_way_group_name(struct xb_page *page, const struct xb_ways *ways,
                              const struct xb_way_group *group)
{
    const struct xb_record_case *test = group->first;
    struct xb_words words = {.length = 0};
    size_t devices = 0;
    (void)xb_record_devices(ways->record, &devices);
    xb_words_add(&words, "%s%.60s", xb_way_is_rate(test) ? "" : "latency, ", path_name(test));
    if (!xb_case_is_of_pairs(test)) {
        if (xb_record_is_sum(test))
            xb_words_add(&words, ", sum of all devices");
        else if (devices > 1)
            xb_words_add(&words, ", device %d", test->device);
    }
    if (test->simultaneous && !xb_record_is_sum(test))
        xb_words_add(&words, ", beside others");
    words.text[0] = (char)toupper((unsigned char)words.text[0]);
    return xb_page_print(page, "%s", words.text);
}

uint64_t xb_way_group_largest(const struct xb_way_group *group)
{
    uint64_t most = 0;
    for (size_t i = 0; i < group->count; i++) {
        uint64_t bytes = group->ways[i].cases[group->ways[i].count - 1]->bytes;
        most = bytes > most ? bytes : most;
    }
    return most;
}

uint64_t xb_way_group_smallest(const struct xb_way_group *group)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < group->count; i++) {
        uint64_t bytes = group->ways[i].cases[0]->bytes;
        least = bytes < least ? bytes : least;
    }
    return least;
}

const struct xb_record_case *xb_way_case(const struct xb_way *way, uint64_t bytes)
{
    for (size_t i = 0; i < way->count; i++)
        if (way->cases[i]->bytes == bytes)
            return way->cases[i];
    return NULL;
}

/* ---- the link ---- */

/* The device over whose link all of the case's data goes; NULL: there is none. */
static const struct xb_record_device *device_of(const struct xb_record *record,
                                                const struct xb_record_case *test)
{
    bool host = strcmp(test->direction, "d2d") != 0;
    if (!host || !xb_way_is_rate(test) || test->simultaneous || test->device < 0 ||
        xb_case_is_of_pairs(test))
        return NULL;
    const struct xb_record_device *device = xb_record_device(record, test->device);
    return device != NULL && !device->shares_host_memory ? device : NULL;
}

/* The raw rate of the link that the case's data takes, in GB/s, of both ways together where it goes
 * both; 0: not known. */
static double raw_rate_of(const struct xb_record *record, const struct xb_record_case *test)
{
    const struct xb_record_device *device = device_of(record, test);
    if (device == NULL || !device->link_known)
        return 0;
    double each = xb_pcie_raw_rate(device->link_speed_gts, device->link_width) / 1e9;
    return strcmp(test->direction, "bidir") == 0 ? 2 * each : each;
}

size_t xb_way_group_levels(const struct xb_ways *ways, const struct xb_way_group *group,
                           struct xb_plot_level *levels)
{
    const struct xb_record_device *device = device_of(ways->record, group->first);
    const char *direction = group->first->direction;
    double raw = raw_rate_of(ways->record, group->first);
    double ceiling = 0;
    size_t count = 0;
    if (device != NULL && device->ceiling.known) {
        double to = device->ceiling.h2d / 1e9;
        double from = device->ceiling.d2h / 1e9;
        ceiling = strcmp(direction, "h2d") == 0   ? to
                  : strcmp(direction, "d2h") == 0 ? from
                                                  : to + from;
    }
    if (raw > 0)
        levels[count++] = (struct xb_plot_level){"raw rate", raw};
    if (ceiling > 0)
        levels[count++] = (struct xb_plot_level){"link's ceiling", ceiling};
    return count;
}

static bool is_above_raw(const struct xb_record *record, const struct xb_way *way)
{
    for (size_t i = 0; i < way->count; i++) {
        struct xb_statistics value;
        double raw = raw_rate_of(record, way->cases[i]);
        if (raw > 0 && xb_way_value(record, way->cases[i], &value) && value.median > raw)
            return true;
    }
    return false;
}

/* Says what the levels mean, where any group has one, and what to think of a way above the raw
 * rate. */
static void write_levels(struct xb_page *page, const struct xb_ways *ways)
{
    struct xb_plot_level levels[XB_WAY_LEVELS];
    bool any = false;
    bool any_above = false;
    for (size_t g = 0; g < ways->count; g++) {
        const struct xb_way_group *group = &ways->groups[g];
        any = any || xb_way_group_levels(ways, group, levels) > 0;
        for (size_t i = 0; !any_above && i < group->count; i++)
            any_above = is_above_raw(ways->record, &group->ways[i]);
    }
    if (!any)
        return;
    xb_page_remark(page,
                   "Raw rate: what the link moves, the headers of its packets included. Link's "
                   "ceiling: the most that is left for a program's data.%s",
                   any_above ? " A way above the raw rate sends less than all of its data over the "
                               "link, or the link was read when it was slower."
                             : "");
}

size_t xb_ways_write(struct xb_page *page, const struct xb_record *record,
                     bool (*passes)(const struct xb_way_group *group), xb_way_group_write *write)
{
    struct xb_ways ways;
    if (make_ways(record, &ways, &page->error) != XB_OK)
        return 0;
    bool any = false;
    for (size_t i = 0; i < ways.count; i++)
        any = any || passes(&ways.groups[i]);
    if (any)
        write_levels(page, &ways);
    for (size_t i = 0; i < ways.count && page->error.status == XB_OK; i++)
        if (passes(&ways.groups[i]))
            write(page, &ways, &ways.groups[i]);
    size_t left_out = any ? ways.left_out : 0;
    free_ways(&ways);
    return left_out;
}
