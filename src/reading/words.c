/* SPDX-License-Identifier: Apache-2.0 */
/* What every line of the Reading is made of: the cases that it may speak of, and its words. */
#define _GNU_SOURCE /* locale_t, in base/text.h */
#include "internal.h"

#include "base/text.h"
#include "measure/mode_list.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- cases ---- */

const struct xb_record *xb_reading_record(const struct xb_reading *reading)
{
    return reading->record;
}

double xb_reading_median(const struct xb_reading *reading, const struct xb_record_case *test,
                         const struct xb_figure *figure)
{
    return test != NULL ? xb_record_median(reading->record, test, figure->name) : (double)NAN;
}

double xb_reading_bandwidth(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return xb_reading_median(reading, test, &xb_figure_bandwidth);
}

bool xb_reading_has(const struct xb_reading *reading, const struct xb_record_case *test,
                    const struct xb_figure *figure)
{
    struct xb_record_summary summary = xb_record_summarize(reading->record, test);
    return summary.status == XB_RESULT_OK && summary.verified == XB_VERIFIED_TRUE &&
           summary.ok > summary.cut && xb_reading_median(reading, test, figure) > 0;
}

bool xb_reading_usable(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return !test->latency && test->bytes >= XB_LARGE_BYTES &&
           xb_reading_has(reading, test, &xb_figure_bandwidth);
}

/* The first process's row that counts; a usable case has one. */
static const struct xb_record_row *row_of(const struct xb_reading *reading,
                                          const struct xb_record_case *test)
{
    for (size_t i = 0; i < reading->record->process_count; i++) {
        const struct xb_record_row *row = &test->rows[i];
        if (row->is_there && row->status == XB_RESULT_OK && !row->is_cut)
            return row;
    }
    return NULL;
}

uint64_t xb_reading_bytes_moved(const struct xb_reading *reading, const struct xb_record_case *test)
{
    const struct xb_record_row *row = row_of(reading, test);
    return row != NULL ? row->bytes_moved : 0;
}

bool xb_reading_device_timed(const struct xb_reading *reading, const struct xb_record_case *test)
{
    const struct xb_record_row *row = row_of(reading, test);
    return row != NULL && row->timer != NULL && strcmp(row->timer, "device-event") == 0;
}

bool xb_reading_goes(const struct xb_record_case *test, enum xb_direction direction)
{
    return strcmp(test->direction, xb_direction_name(direction)) == 0;
}

bool xb_reading_alone(const struct xb_record_case *test)
{
    return !test->simultaneous && test->device >= 0 && test->peer < 0;
}

bool xb_reading_one_way(const struct xb_reading *reading, const struct xb_record_case *test)
{
    const struct xb_mode *mode = xb_mode_find(test->mode);
    return xb_reading_alone(test) && (mode == NULL || !mode->only_named) &&
           (xb_reading_goes(test, XB_H2D) || xb_reading_goes(test, XB_D2H)) &&
           xb_reading_usable(reading, test) && xb_reading_bytes_moved(reading, test) == test->bytes;
}

bool xb_reading_crosses_link(const struct xb_reading *reading, const struct xb_record_case *test)
{
    const struct xb_mode *mode = xb_mode_find(test->mode);
    return xb_reading_one_way(reading, test) && xb_reading_device_timed(reading, test) &&
           (mode == NULL || !mode->crosses_otherwise);
}

const struct xb_record_case *xb_reading_faster(const struct xb_reading *reading,
                                               const struct xb_record_case *a,
                                               const struct xb_record_case *b)
{
    if (a == NULL || b == NULL)
        return a == NULL ? b : a;
    return xb_reading_bandwidth(reading, b) > xb_reading_bandwidth(reading, a) ? b : a;
}

const struct xb_record_case *xb_reading_best(const struct xb_reading *reading, int device,
                                             uint64_t bytes, enum xb_direction direction,
                                             const char *mode, const char *variant)
{
    const struct xb_record_case *best = NULL;
    for (size_t i = 0; i < reading->record->case_count; i++) {
        const struct xb_record_case *test = &reading->record->cases[i];
        if (test->device == device && test->bytes == bytes && xb_reading_alone(test) &&
            xb_reading_goes(test, direction) && strcmp(test->mode, mode) == 0 &&
            (variant == NULL || strcmp(test->variant, variant) == 0) &&
            xb_reading_usable(reading, test))
            best = xb_reading_faster(reading, best, test);
    }
    return best;
}

const struct xb_record_case *xb_reading_fastest(const struct xb_reading *reading, int device,
                                                uint64_t bytes, xb_reading_choice *is_one)
{
    const struct xb_record_case *best = NULL;
    for (size_t i = 0; i < reading->record->case_count; i++) {
        const struct xb_record_case *test = &reading->record->cases[i];
        if (test->device == device && test->bytes == bytes && is_one(reading, test))
            best = xb_reading_faster(reading, best, test);
    }
    return best;
}

void xb_reading_collect(struct xb_reading *reading, double value)
{
    if (reading->status == XB_OK)
        reading->status = xb_samples_add(&reading->collected, value, reading->error);
}

bool xb_reading_spread(struct xb_reading *reading, struct xb_statistics *spread)
{
    size_t count = reading->collected.count;
    reading->collected.count = 0;
    if (count == 0 || reading->status != XB_OK)
        return false;
    *spread = xb_statistics_of(reading->collected.values, count);
    return true;
}

/* ---- words ---- */

void xb_reading_add(struct xb_reading *reading, const char *format, ...)
{
    struct xb_words *words = &reading->words;
    size_t room = sizeof words->text - words->length;
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(words->text + words->length, room, format, arguments);
    va_end(arguments);
    if (more > 0)
        words->length += (size_t)more < room ? (size_t)more : room - 1;
}

void xb_reading_add_rate(struct xb_reading *reading, double rate)
{
    char digits[32];
    xb_reading_add(reading, "%s", xb_rate_text(rate, digits, sizeof digits));
}

void xb_reading_add_duration(struct xb_reading *reading, double seconds)
{
    char text[32];
    xb_reading_add(reading, "%s", xb_duration_format(seconds, text, sizeof text));
}

void xb_reading_add_factor(struct xb_reading *reading, double factor)
{
    int decimals = factor < 10 ? 2 : factor < 100 ? 1 : 0; /* three digits */
    xb_reading_add(reading, "%.*f times", decimals, factor);
}

void xb_reading_add_speed(struct xb_reading *reading, double factor)
{
    if (factor < 0.995) {
        xb_reading_add_share(reading, factor);
        xb_reading_add(reading, " ");
    } else if (factor >= 1.005) {
        xb_reading_add_factor(reading, factor);
        xb_reading_add(reading, " ");
    }
    xb_reading_add(reading, "as fast");
}

void xb_reading_add_share(struct xb_reading *reading, double share)
{
    if (share < 0.001)
        xb_reading_add(reading, "less than 0.1 %%");
    else
        xb_reading_add(reading, "%.*f %%", share < 0.1 ? 1 : 0, 100 * share);
}

void xb_reading_add_share_of_time(struct xb_reading *reading, double share)
{
    xb_reading_add_share(reading, share < 1 ? share : 1);
    xb_reading_add(reading, " of the time");
}

void xb_reading_add_name(struct xb_reading *reading, const struct xb_record_case *test)
{
    const struct xb_mode *mode = xb_mode_find(test->mode);
    bool has_variants = mode == NULL || mode->variant_option != NULL;
    xb_reading_rests_on(reading, test);
    xb_reading_add(reading, "%s%s%s", test->mode, has_variants ? " " : "",
                   has_variants ? test->variant : "");
}

/* ---- one way to move data against another ---- */

/* " (54.00 and 7.500 GB/s).", and whose clock that was by where the clocks differ. */
static void add_rates(struct xb_reading *reading, const struct xb_record_case *a,
                      const struct xb_record_case *b)
{
    bool by_device = xb_reading_device_timed(reading, a);
    bool differ = by_device != xb_reading_device_timed(reading, b);
    xb_reading_add(reading, " (%s", differ && !by_device ? "by the host's clock " : "");
    xb_reading_add_rate(reading, xb_reading_bandwidth(reading, a));
    xb_reading_add(reading, " and%s ", differ && by_device ? ", by the host's clock," : "");
    xb_reading_add_rate(reading, xb_reading_bandwidth(reading, b));
    xb_reading_add(reading, " GB/s).");
}

/* "prefetch_bandwidth_h2d": a number of that way, as a program knows it. */
static void put_rate(struct xb_reading *reading, struct xb_reading_way way,
                     const struct xb_record_case *test)
{
    char name[64];
    snprintf(name, sizeof name, "%s_bandwidth_%s", way.variant != NULL ? way.variant : way.mode,
             test->direction);
    for (char *c = name; *c != '\0'; c++)
        *c = (char)(*c == '-' ? '_' : *c);
    xb_reading_number(reading, name, xb_reading_bandwidth(reading, test), XB_UNIT_RATE);
}

static bool compare_one_way(struct xb_reading *reading, int device, uint64_t bytes,
                            enum xb_direction direction, struct xb_reading_way way,
                            struct xb_reading_way other, const char *before)
{
    const struct xb_record_case *a =
        xb_reading_best(reading, device, bytes, direction, way.mode, way.variant);
    const struct xb_record_case *b =
        xb_reading_best(reading, device, bytes, direction, other.mode, other.variant);
    if (a == NULL || b == NULL)
        return false;
    double ratio = xb_reading_bandwidth(reading, a) / xb_reading_bandwidth(reading, b);
    xb_reading_add(reading, "%s, ", before);
    xb_reading_add_name(reading, a);
    xb_reading_add(reading, " is ");
    xb_reading_add_speed(reading, ratio);
    xb_reading_add(reading, " as ");
    xb_reading_add_name(reading, b);
    add_rates(reading, a, b);
    xb_reading_number(reading, direction == XB_H2D ? "ratio_h2d" : "ratio_d2h", ratio,
                      XB_UNIT_RATIO);
    put_rate(reading, way, a);
    put_rate(reading, other, b);
    return true;
}

bool xb_reading_compare(struct xb_reading *reading, int device, uint64_t bytes,
                        struct xb_reading_way way, struct xb_reading_way other)
{
    bool to = compare_one_way(reading, device, bytes, XB_H2D, way, other, "Host to device");
    bool from = compare_one_way(reading, device, bytes, XB_D2H, way, other,
                                to ? " Device to host" : "Device to host");
    return to || from;
}
