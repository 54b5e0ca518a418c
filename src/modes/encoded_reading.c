/* SPDX-License-Identifier: Apache-2.0 */
#include "encoded_reading.h"

#include "encoded.h"
#include "sample_data.h"
#include "stage_figures.h"

#include "xferbench/reading.h"

#include <math.h>
#include <string.h>

/* Data that gets smaller by less than this gets no smaller to speak of. */
#define MATTERS 0.02

/* What is compared: one case and its figures. */
struct seen {
    const struct xb_record_case *test;
    double rate, plain, ratio, speed_up;
    double encode, decode, threads; /* NAN where not known */
    enum xb_reading_order order;    /* to the plain copy */
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
        .order = xb_reading_judge_own(reading, test, &xb_figure_plain_bandwidth),
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

/* Whether no other case that does the same work is faster. Of two that are as fast it is the first.
 */
static bool is_fastest(const struct xb_reading *reading, const struct xb_record_case *test,
                       const char *mode)
{
    const struct xb_record *record = xb_reading_record(reading);
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *other = &record->cases[i];
        if (!is_meant(reading, other, test->device, test->bytes, mode, NULL) ||
            !same_work(other, test))
            continue;
        const struct xb_record_case *first = other < test ? other : test;
        const struct xb_record_case *second = other < test ? test : other;
        if (xb_reading_faster(reading, first, second) != test)
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

/* "110.0 GB/s" */
static void add_gigabytes(struct xb_reading *reading, double rate)
{
    xb_reading_add_rate(reading, rate);
    xb_reading_add(reading, " GB/s");
}

/* The answer, and by how much. */
static void add_answer(struct xb_reading *reading, const struct seen *seen)
{
    static const char *const answers[] = {
        [XB_READING_UNKNOWN] = "may or may not pay (too few samples to tell)",
        [XB_READING_ALIKE] = "and the plain copy differ by no more than the noise",
        [XB_READING_FASTER] = "pays",
        [XB_READING_SLOWER] = "does not pay",
    };
    xb_reading_add(reading, " %s: ", answers[seen->order]);
    xb_reading_add_rate(reading, seen->rate);
    if (seen->order == XB_READING_ALIKE) {
        xb_reading_add(reading, " and ");
        add_gigabytes(reading, seen->plain);
        xb_reading_add(reading, ".");
        return;
    }
    xb_reading_add(reading, " GB/s, ");
    xb_reading_add_speed(reading, seen->speed_up);
    xb_reading_add(reading, " as the plain copy (");
    add_gigabytes(reading, seen->plain);
    xb_reading_add(reading, ").");
}

/* With how many threads or sends it pays. */
static void add_break_even(struct xb_reading *reading, const struct seen *seen)
{
    double threads = xb_reading_median(reading, seen->test, &xb_figure_break_even_threads);
    double sends = xb_reading_median(reading, seen->test, &xb_figure_break_even_sends);
    if (seen->is_made && threads > 0)
        xb_reading_add(reading, " %.0f thread%s enough to be faster.", threads,
                       threads > 1 ? "s are" : " is");
    if (!seen->is_made && sends > 1)
        xb_reading_add(reading, " Compressing once pays after %.0f sends.", sends);
    else if (!seen->is_made && sends > 0)
        xb_reading_add(reading, " Compressing pays with the first send.");
}

/* How many threads would encode as fast as the plain copy goes. Of several one feeds the device and
 * encodes nothing. */
static double threads_wanted(const struct seen *seen)
{
    double encoding = seen->threads > 1 ? seen->threads - 1 : 1;
    return ceil(seen->plain / (seen->encode / encoding)) + 1;
}

/* Why it does not pay, or not for certain, and what to do. */
static void add_why_not(struct xb_reading *reading, const struct seen *seen)
{
    if (seen->ratio < 1 + MATTERS) {
        xb_reading_add(reading, " The data does not get smaller (ratio %.3f): send it as it is.",
                       seen->ratio);
    } else if (seen->is_made && seen->encode < seen->plain) {
        xb_reading_add(reading, " The host is too slow: alone, %s ",
                       seen->threads > 1 ? "the threads encode" : "the thread encodes");
        add_gigabytes(reading, seen->encode);
        xb_reading_add(reading, ". At the same rate each, it takes about %.0f threads.",
                       threads_wanted(seen));
    } else if (seen->decode < seen->plain) {
        xb_reading_add(reading, " The device is too slow: alone, it restores ");
        add_gigabytes(reading, seen->decode);
        xb_reading_add(reading, ".");
    } else if (seen->order == XB_READING_SLOWER) {
        xb_reading_add(reading, " Each stage alone is fast enough; together they are not.");
    }
}

/* Which stage the whole cannot be faster than. */
static void add_limit(struct xb_reading *reading, const struct seen *seen)
{
    double link = seen->ratio * seen->plain;
    double bound = fmin(link, seen->decode);
    const char *what = link <= seen->decode ? "link" : "device, which restores it,";
    if (seen->is_made && seen->encode < bound) {
        bound = seen->encode;
        what = "host, which encodes it,";
    }
    if (!(bound > 0))
        return;
    xb_reading_add(reading, " The %s is the limit: ", what);
    add_gigabytes(reading, bound);
    xb_reading_add(reading, " alone.");
}

/* What is lost. */
static void add_errors(struct xb_reading *reading, const struct seen *seen)
{
    double most = xb_reading_median(reading, seen->test, &xb_figure_error_max);
    double all = xb_reading_median(reading, seen->test, &xb_figure_error_rms);
    if (most > 0 && all > 0)
        xb_reading_add(reading, " Largest error: %.2g %% of a value; over all values: %.2g %%.",
                       100 * most, 100 * all);
}

static void say(struct xb_reading *reading, const struct seen *seen)
{
    bool knows_stages = isfinite(seen->ratio + seen->encode + seen->decode);
    add_subject(reading, seen);
    add_answer(reading, seen);
    if (seen->order == XB_READING_FASTER)
        add_break_even(reading, seen);
    if (seen->order == XB_READING_FASTER && knows_stages)
        add_limit(reading, seen);
    else if (seen->order != XB_READING_UNKNOWN && knows_stages)
        add_why_not(reading, seen);
    add_errors(reading, seen);
}

static void put_numbers(struct xb_reading *reading, const struct seen *seen)
{
    static const struct xb_figure *const told[] = {
        &xb_figure_bandwidth,        &xb_figure_plain_bandwidth,
        &xb_figure_speed_up,         &xb_figure_ratio,
        &xb_figure_encode_rate,      &xb_figure_decode_rate,
        &xb_figure_threads,          &xb_figure_error_max,
        &xb_figure_error_rms,        &xb_figure_break_even_threads,
        &xb_figure_break_even_sends,
    };
    xb_reading_rests_on(reading, seen->test);
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
        xb_reading_number(reading, told[i]->name, xb_reading_median(reading, seen->test, told[i]),
                          told[i]->unit);
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
        if (said)
            xb_reading_next(reading);
        say(reading, &seen);
        put_numbers(reading, &seen);
        said = true;
    }
    return said;
}
