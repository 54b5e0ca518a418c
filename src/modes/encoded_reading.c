/* SPDX-License-Identifier: Apache-2.0 */
#include "encoded_reading.h"

#include "encoded.h"
#include "pipeline_figures.h"
#include "sample_data.h"

#include "xferbench/reading.h"

#include <math.h>
#include <string.h>

/* A gain or loss below this is none: the plain copy and the case are not measured in turn. */
#define MATTERS 0.02

/* What is compared: one case and its figures. */
struct seen {
    const struct xb_record_case *test;
    double rate, plain, ratio, speed_up;
    double encode, decode, threads; /* NAN where not known */
    bool is_made;
};

static struct seen look(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return (struct seen){
        .test = test,
        .rate = xb_reading_median(reading, test, &xb_figure_bandwidth),
        .plain = xb_reading_median(reading, test, &xb_figure_plain_bandwidth),
        .ratio = xb_reading_median(reading, test, &xb_figure_ratio),
        .speed_up = xb_reading_median(reading, test, &xb_figure_speed_up),
        .encode = xb_reading_median(reading, test, &xb_figure_encode_rate),
        .decode = xb_reading_median(reading, test, &xb_figure_decode_rate),
        .threads = xb_reading_median(reading, test, &xb_figure_threads),
        .is_made = strcmp(test->variant, "sent") != 0,
    };
}

/* ---- which cases ---- */

static bool same(const struct xb_record_case *a, const struct xb_record_case *b, const char *name)
{
    return strcmp(xb_record_parameter(a, name), xb_record_parameter(b, name)) == 0;
}

/* Whether two cases make the same of the same data. */
static bool same_work(const struct xb_record_case *a, const struct xb_record_case *b)
{
    return strcmp(a->variant, b->variant) == 0 && same(a, b, "codec") &&
           same(a, b, xb_option_data.name);
}

static bool is_meant(const struct xb_reading *reading, const struct xb_record_case *test,
                     int device, uint64_t bytes, const char *mode, const char *variant)
{
    return strcmp(test->mode, mode) == 0 && test->device == device && test->bytes == bytes &&
           (variant == NULL || strcmp(test->variant, variant) == 0) &&
           xb_reading_usable(reading, test) && xb_reading_has(reading, test, &xb_figure_speed_up);
}

/* Whether no other case that does the same work is faster. */
static bool is_fastest(const struct xb_reading *reading, const struct xb_record_case *test,
                       const char *mode)
{
    const struct xb_record *record = xb_reading_record(reading);
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *other = &record->cases[i];
        if (is_meant(reading, other, test->device, test->bytes, mode, NULL) &&
            same_work(other, test) && xb_reading_faster(reading, test, other) != test)
            return false;
    }
    return true;
}

/* ---- sentences ---- */

/* "integers by for", "fp16". */
static void add_subject(struct xb_reading *reading, const struct seen *seen)
{
    const char *data = xb_record_parameter(seen->test, xb_option_data.name);
    const char *codec = xb_record_parameter(seen->test, "codec");
    if (data[0] != '\0' && codec[0] != '\0')
        xb_reading_add(reading, "%s by %s", data, codec);
    else
        xb_reading_add(reading, "%s", seen->test->variant);
    if (seen->is_made && seen->threads > 0)
        xb_reading_add(reading, " with %.0f thread%s", seen->threads, seen->threads > 1 ? "s" : "");
}

static void add_rate(struct xb_reading *reading, const struct seen *seen)
{
    xb_reading_add(reading, " reaches ");
    xb_reading_add_rate(reading, seen->rate);
    xb_reading_add(reading, " GB/s, ");
    xb_reading_add_speed(reading, seen->speed_up);
    xb_reading_add(reading, " as the plain copy (");
    xb_reading_add_rate(reading, seen->plain);
    xb_reading_add(reading, ").");
}

static void add_what_pays(struct xb_reading *reading, const struct seen *seen)
{
    double threads = xb_reading_median(reading, seen->test, &xb_figure_break_even_threads);
    double sends = xb_reading_median(reading, seen->test, &xb_figure_break_even_sends);
    xb_reading_add(reading, " It pays");
    if (seen->is_made && threads > 1)
        xb_reading_add(reading, ", from about %.0f threads on", threads);
    if (!seen->is_made && sends > 1)
        xb_reading_add(reading, " once it is sent %.0f times", sends);
    xb_reading_add(reading, ".");
}

/* Why it does not pay. */
static void add_why_not(struct xb_reading *reading, const struct seen *seen)
{
    xb_reading_add(reading, seen->speed_up < 1 ? " It does not pay: " : " It gains nothing: ");
    if (seen->ratio < 1 + MATTERS) {
        xb_reading_add(reading, "the data does not get smaller (by a factor of %.3f).",
                       seen->ratio);
    } else if (seen->is_made && seen->encode < seen->plain) {
        xb_reading_add(reading, "alone the threads make ");
        xb_reading_add_rate(reading, seen->encode);
        xb_reading_add(reading, " GB/s, less than the link takes as it is");
        xb_reading_add(reading, "; if each further one made as much, %.0f would make enough.",
                       ceil(seen->plain / (seen->encode / seen->threads)));
    } else if (seen->decode < seen->plain) {
        xb_reading_add(reading, "alone the device restores ");
        xb_reading_add_rate(reading, seen->decode);
        xb_reading_add(reading, " GB/s, less than the link takes.");
    } else {
        xb_reading_add(reading, "no stage alone is that slow, together they are.");
    }
}

/* Which stage the whole cannot be faster than. */
static void add_limit(struct xb_reading *reading, const struct seen *seen)
{
    double link = seen->ratio * seen->plain;
    double bound = fmin(link, seen->decode);
    const char *what = link <= seen->decode ? "the link" : "restoring on the device";
    if (seen->is_made && seen->encode < bound) {
        bound = seen->encode;
        what = seen->threads > 1 ? "the threads" : "the thread";
    }
    if (!(bound > 0))
        return;
    xb_reading_add(reading, " The limit is %s: alone ", what);
    xb_reading_add_rate(reading, bound);
    xb_reading_add(reading, " GB/s.");
}

/* What is lost. */
static void add_errors(struct xb_reading *reading, const struct seen *seen)
{
    double most = xb_reading_median(reading, seen->test, &xb_figure_error_max);
    double all = xb_reading_median(reading, seen->test, &xb_figure_error_rms);
    if (most > 0 && all > 0)
        xb_reading_add(reading, " Error: %.2g %% of a value at most, %.2g %% over all.", 100 * most,
                       100 * all);
}

static void say(struct xb_reading *reading, const struct seen *seen)
{
    add_subject(reading, seen);
    add_rate(reading, seen);
    if (seen->speed_up > 1 + MATTERS) {
        add_what_pays(reading, seen);
        add_limit(reading, seen);
    } else {
        add_why_not(reading, seen);
    }
    add_errors(reading, seen);
}

bool xb_encoded_say(struct xb_reading *reading, int device, uint64_t bytes, const char *mode,
                    const char *variant)
{
    const struct xb_record *record = xb_reading_record(reading);
    bool said = false;
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        if (!is_meant(reading, test, device, bytes, mode, variant) ||
            !is_fastest(reading, test, mode))
            continue;
        const struct seen seen = look(reading, test);
        xb_reading_add(reading, "%s", said ? " " : "");
        say(reading, &seen);
        said = true;
    }
    return said;
}
