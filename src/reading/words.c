/* SPDX-License-Identifier: Apache-2.0 */
/* The words that every line of the Reading is made of. */
#define _GNU_SOURCE /* locale_t, in base/text.h */
#include "internal.h"

#include "backends/registry.h"
#include "base/text.h"
#include "record/mode_list.h"
#include "record/shown_parameters.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

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

/* Passes a number on to the words, which are dropped if it is none (xb_reading_keep). */
static double needed(struct xb_reading *reading, double number)
{
    reading->lacks_figure = reading->lacks_figure || !isfinite(number);
    return number;
}

void xb_reading_add_rate(struct xb_reading *reading, double rate)
{
    char digits[32];
    xb_reading_add(reading, "%s", xb_rate_text(needed(reading, rate), digits, sizeof digits));
}

void xb_reading_add_whole(struct xb_reading *reading, double number)
{
    xb_reading_add(reading, "%.0f", needed(reading, number));
}

void xb_reading_add_size(struct xb_reading *reading, uint64_t bytes)
{
    char text[32];
    xb_reading_add(reading, "%s", xb_size_format(bytes, text, sizeof text));
}

void xb_reading_add_duration(struct xb_reading *reading, double seconds)
{
    char text[32];
    xb_reading_add(reading, "%s", xb_duration_format(needed(reading, seconds), text, sizeof text));
}

void xb_reading_add_factor(struct xb_reading *reading, double factor)
{
    int decimals = factor < 10 ? 2 : factor < 100 ? 1 : 0; /* three digits */
    xb_reading_add(reading, "%.*f times", decimals, needed(reading, factor));
}

void xb_reading_add_speed(struct xb_reading *reading, double factor)
{
    if (needed(reading, factor) < 0.995) {
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
    if (needed(reading, share) < 0.001)
        xb_reading_add(reading, "less than 0.1 %%");
    else
        xb_reading_add(reading, "%.*f %%", share < 0.1 ? 1 : 0, 100 * share);
}

void xb_reading_add_share_of_time(struct xb_reading *reading, double share)
{
    xb_reading_add_share(reading, needed(reading, share) < 1 ? share : 1);
    xb_reading_add(reading, " of the time");
}

/* " with chunk 8 MiB, streams 2": what tells the case from others of its mode. That a buffer is 0
 * bytes off a boundary goes without saying. */
static void add_parameters(struct xb_reading *reading, const struct xb_record_case *test,
                           const char *but)
{
    const char *before = " with ";
    for (size_t i = 0; i < test->parameter_count; i++) {
        const char *name = test->parameters[i].name;
        char text[64];
        const char *value = xb_parameter_text(test, name, text, sizeof text);
        bool is_nothing =
            value != NULL && strcmp(value, "0") == 0 && xb_parameter_is_size(test, name);
        if (value == NULL || is_nothing || strcmp(name, XB_RECORD_GROUP) == 0 ||
            (but != NULL && strcmp(name, but) == 0) ||
            !xb_parameter_differs(&reading->parameters, test, name))
            continue;
        xb_reading_add(reading, "%s%s %s", before, name, value);
        before = ", ";
    }
}

static void add_mode(struct xb_reading *reading, const struct xb_record_case *test)
{
    const struct xb_mode *mode = xb_mode_find(test->mode);
    bool has_variants = mode == NULL || mode->variant_option != NULL;
    xb_reading_rests_on(reading, test);
    xb_reading_add(reading, "%s%s%s", test->mode, has_variants ? " " : "",
                   has_variants ? test->variant : "");
}

void xb_reading_add_name(struct xb_reading *reading, const struct xb_record_case *test)
{
    xb_reading_add_name_but(reading, test, NULL);
}

void xb_reading_add_name_but(struct xb_reading *reading, const struct xb_record_case *test,
                             const char *but)
{
    add_mode(reading, test);
    add_parameters(reading, test, but);
}

void xb_reading_add_way(struct xb_reading *reading, const struct xb_record_case *test)
{
    add_mode(reading, test);
    xb_reading_add(reading, " %s", test->direction);
    add_parameters(reading, test, NULL);
}

/* ---- what a program calls ---- */

const char *xb_reading_call(const struct xb_reading *reading, enum xb_call call)
{
    static const char *const any[XB_CALLS] = {
        [XB_CALL_ALLOCATE_PINNED] = "cudaMallocHost() or hipHostMalloc()",
        [XB_CALL_PIN] = "cudaHostRegister() or hipHostRegister()",
        [XB_CALL_COPY_ASYNC] = "cudaMemcpyAsync() or hipMemcpyAsync()",
        [XB_CALL_PREFETCH] = "cudaMemPrefetchAsync() or hipMemPrefetchAsync()",
        [XB_CALL_COPY_BATCH] = "cudaMemcpyBatchAsync() or hipMemcpyBatchAsync()",
        [XB_CALL_ALLOCATE_MAPPED] = "cudaHostAlloc() or hipHostMalloc()",
        [XB_CALL_COPY_PEER] = "cudaMemcpyPeerAsync() or hipMemcpyPeerAsync()",
        [XB_CALL_ENABLE_PEER] = "cudaDeviceEnablePeerAccess() or hipDeviceEnablePeerAccess()",
    };
    const char *name = reading->record->backend;
    const struct xb_backend_entry *entry = name != NULL ? xb_backend_find(name) : NULL;
    bool has = entry != NULL && entry->backend != NULL && entry->backend->calls != NULL;
    return has ? entry->backend->calls[call] : any[call];
}

/* ---- one way to move data against another ---- */

static bool clocks_differ(const struct xb_reading *reading, const struct xb_record_case *a,
                          const struct xb_record_case *b)
{
    return xb_reading_device_timed(reading, a) != xb_reading_device_timed(reading, b);
}

/* " (54.00 and 7.500 GB/s).", and whose clock that was by where the clocks differ. */
static void add_rates(struct xb_reading *reading, const struct xb_record_case *a,
                      const struct xb_record_case *b)
{
    bool by_device = xb_reading_device_timed(reading, a);
    bool differ = clocks_differ(reading, a, b);
    xb_reading_phrase(
        reading, " ({text}{rate} and{text} {rate} GB/s).",
        differ && !by_device ? "by the host's clock " : "", xb_reading_bandwidth(reading, a),
        differ && by_device ? ", by the host's clock," : "", xb_reading_bandwidth(reading, b));
}

/* "pinned_bandwidth_h2d", "prefetch_bandwidth_h2d": a number of a way, by its mode or its variant.
 */
static void put_rate(struct xb_reading *reading, struct xb_reading_way way, bool by_variant,
                     const struct xb_record_case *test)
{
    char name[64];
    snprintf(name, sizeof name, "%s_bandwidth_%s",
             by_variant && way.variant != NULL ? way.variant : way.mode, test->direction);
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
    if (xb_reading_judge(reading, a, b) == XB_READING_ALIKE)
        xb_reading_phrase(reading, "{text}, {name} and {name} differ by no more than the noise",
                          before, a, b);
    else
        xb_reading_phrase(reading, "{text}, {name} is {speed} as {name}", before, a, ratio, b);
    add_rates(reading, a, b);
    xb_reading_number(reading, direction == XB_H2D ? "ratio_h2d" : "ratio_d2h", ratio,
                      XB_UNIT_RATIO);
    bool by_variant = strcmp(way.mode, other.mode) == 0;
    put_rate(reading, way, by_variant, a);
    put_rate(reading, other, by_variant, b);
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

bool xb_reading_try(struct xb_reading *reading, const struct xb_record_case *slow,
                    struct xb_reading_way way, const char *what)
{
    enum xb_direction direction = xb_reading_goes(slow, XB_H2D) ? XB_H2D : XB_D2H;
    const struct xb_record_case *test =
        xb_reading_best(reading, slow->device, slow->bytes, direction, way.mode, way.variant);
    if (test == NULL || xb_reading_judge(reading, test, slow) != XB_READING_FASTER)
        return false;
    double ratio = xb_reading_bandwidth(reading, test) / xb_reading_bandwidth(reading, slow);
    xb_reading_phrase(reading, " Try first: {text}, {factor} as fast", what, ratio);
    if (clocks_differ(reading, test, slow))
        add_rates(reading, test, slow);
    else
        xb_reading_add(reading, ".");
    xb_reading_number(reading, "first_thing_ratio", ratio, XB_UNIT_RATIO);
    xb_reading_rests_on(reading, test);
    return true;
}
