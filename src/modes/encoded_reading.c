/* SPDX-License-Identifier: Apache-2.0 */
#include "encoded.h"
#include "readings.h"
#include "sample_data.h"
#include "stage_figures.h"

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

/* ---- which cases ---- */

/* Equal are two cases that make the same of the same data. */
static int by_work(const struct xb_record_case *a, const struct xb_record_case *b,
                   const void *argument)
{
    int order = strcmp(a->variant, b->variant);
    (void)argument;
    if (order == 0)
        order = strcmp(xb_record_parameter(a, "codec"), xb_record_parameter(b, "codec"));
    return order != 0 ? order
                      : strcmp(xb_record_parameter(a, xb_option_data.name),
                               xb_record_parameter(b, xb_option_data.name));
}

/* What is spoken of; `variant` may be NULL for any. */
struct meant {
    int device;
    const char *mode, *variant;
};

static bool is_meant(const struct xb_reading *reading, const struct xb_record_case *test,
                     const void *argument)
{
    const struct meant *meant = argument;
    return strcmp(test->mode, meant->mode) == 0 && test->device == meant->device &&
           (meant->variant == NULL || strcmp(test->variant, meant->variant) == 0) &&
           xb_reading_usable(reading, test) && xb_reading_has(reading, test, &xb_figure_speed_up);
}

/* ---- sentences ---- */

/* The answer, and by how much. */
static void add_answer(struct xb_reading *reading, const struct seen *seen)
{
    static const char *const answers[] = {
        [XB_READING_UNKNOWN] = "may or may not pay (too few samples to tell)",
        [XB_READING_ALIKE] = "and the plain copy differ by no more than the noise",
        [XB_READING_FASTER] = "pays",
        [XB_READING_SLOWER] = "does not pay",
    };
    xb_reading_phrase(reading, " {text}: {rate}", answers[seen->order], seen->rate);
    if (seen->order == XB_READING_ALIKE)
        xb_reading_phrase(reading, " and {rate} GB/s.", seen->plain);
    else
        xb_reading_phrase(reading, " GB/s, {speed} as the plain copy ({rate} GB/s).",
                          seen->speed_up, seen->plain);
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

/* Why it does not pay, or not for certain, and what to do. */
static void add_why_not(struct xb_reading *reading, const struct seen *seen)
{
    if (seen->ratio < 1 + MATTERS) {
        xb_reading_add(reading, " The data does not get smaller (ratio %.3f): send it as it is.",
                       seen->ratio);
    } else if (seen->is_made && seen->encode < seen->plain) {
        /* How many threads would encode as fast as the plain copy goes. Of several one feeds the
         * device and encodes nothing. */
        double encoding = seen->threads > 1 ? seen->threads - 1 : 1;
        double wanted = ceil(seen->plain / (seen->encode / encoding)) + 1;
        xb_reading_phrase(reading, " The host is too slow: alone, {text} {rate} GB/s.",
                          seen->threads > 1 ? "the threads encode" : "the thread encodes",
                          seen->encode);
        xb_reading_add(reading, " At the same rate each, it takes about %.0f threads.", wanted);
    } else if (seen->decode < seen->plain) {
        xb_reading_phrase(reading, " The device is too slow: alone, it restores {rate} GB/s.",
                          seen->decode);
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
    if (bound > 0)
        xb_reading_phrase(reading, " The {text} is the limit: {rate} GB/s alone.", what, bound);
}

static void say(struct xb_reading *reading, const struct seen *seen)
{
    static const struct xb_figure *const told[] = {
        &xb_figure_bandwidth,        &xb_figure_plain_bandwidth,
        &xb_figure_speed_up,         &xb_figure_ratio,
        &xb_figure_encode_rate,      &xb_figure_decode_rate,
        &xb_figure_threads,          &xb_figure_error_max,
        &xb_figure_error_rms,        &xb_figure_break_even_threads,
        &xb_figure_break_even_sends,
    };
    const struct xb_record_case *test = seen->test;
    const char *data = xb_record_parameter(test, xb_option_data.name);
    const char *codec = xb_record_parameter(test, "codec");
    double most = xb_reading_median(reading, test, &xb_figure_error_max);
    double all = xb_reading_median(reading, test, &xb_figure_error_rms);
    bool knows_stages = isfinite(seen->ratio + seen->encode + seen->decode);
    /* "integers by for with 8 threads", "fp16". */
    if (data[0] != '\0' && codec[0] != '\0')
        xb_reading_add(reading, "%s by %s", data, codec);
    else
        xb_reading_add(reading, "%s", test->variant);
    if (seen->is_made && seen->threads > 0)
        xb_reading_add(reading, " with %.0f thread%s", seen->threads, seen->threads > 1 ? "s" : "");
    add_answer(reading, seen);
    if (seen->order == XB_READING_FASTER)
        add_break_even(reading, seen);
    if (seen->order == XB_READING_FASTER && knows_stages)
        add_limit(reading, seen);
    else if (seen->order != XB_READING_UNKNOWN && knows_stages)
        add_why_not(reading, seen);
    if (most > 0 && all > 0) /* what is lost */
        xb_reading_add(reading, " Largest error: %.2g %% of a value; over all values: %.2g %%.",
                       100 * most, 100 * all);
    xb_reading_rests_on(reading, test);
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
        xb_reading_number(reading, told[i]->name, xb_reading_median(reading, test, told[i]),
                          told[i]->unit);
}

bool xb_encoded_say(struct xb_reading *reading, int device, uint64_t bytes, const char *mode,
                    const char *variant)
{
    const struct meant meant = {device, mode, variant};
    const struct xb_record_cases all = xb_reading_group(reading, bytes, is_meant, by_work, &meant);
    for (size_t i = 0, behind = 0; i < all.count; i = behind) {
        const struct xb_record_case *best = all.cases[i];
        behind = i + xb_cases_equal(all.cases + i, all.count - i, by_work, NULL);
        for (size_t k = i; k < behind; k++)
            best = xb_reading_faster(reading, best, all.cases[k]);
        const struct seen seen = {
            .test = best,
            .rate = xb_reading_median(reading, best, &xb_figure_bandwidth),
            .plain = xb_reading_median(reading, best, &xb_figure_plain_bandwidth),
            .ratio = xb_reading_median(reading, best, &xb_figure_ratio),
            .speed_up = xb_reading_median(reading, best, &xb_figure_speed_up),
            .encode = xb_reading_median(reading, best, &xb_figure_encode_rate),
            .decode = xb_reading_median(reading, best, &xb_figure_decode_rate),
            .threads = xb_reading_median(reading, best, &xb_figure_threads),
            .order = xb_reading_judge_own(reading, best, &xb_figure_plain_bandwidth),
            .is_made = strcmp(best->variant, "sent") != 0,
        };
        if (i > 0)
            xb_reading_next(reading);
        say(reading, &seen);
    }
    return all.count > 0;
}
