/* SPDX-License-Identifier: Apache-2.0 */
#include "modes/encoded.h"
#include "modes/sample_data.h"
#include "readings.h"

#include <ctype.h>
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

/* Equal are two cases that make the same of the same data. */
static int by_work(const struct xb_record_case *a, const struct xb_record_case *b,
                   const void *argument)
{
    static const char *const same[] = {"codec", "data"};
    int order = strcmp(a->variant, b->variant);
    (void)argument;
    for (int i = 0; order == 0 && i < 2; i++)
        order = strcmp(xb_record_parameter(a, same[i]), xb_record_parameter(b, same[i]));
    return order;
}

/* "integers packed with FOR by 16 threads", "fp16 in place of float32 by 16 threads". */
static const char *work_of(const struct seen *seen, struct xb_words *words)
{
    const char *data = xb_record_parameter(seen->test, xb_option_data.name);
    xb_words_add(words, data[0] != '\0' ? "%s packed with " : "%s in place of float32",
                 data[0] != '\0' ? data : seen->test->variant);
    for (const char *c = xb_record_parameter(seen->test, "codec"); *c != '\0'; c++)
        xb_words_add(words, "%c", toupper((unsigned char)*c)); /* a name, and no word like "for" */
    if (seen->is_made && seen->threads > 0)
        xb_words_add(words, " by %.0f thread%s", seen->threads, seen->threads > 1 ? "s" : "");
    return words->text;
}

/* "integers packed with FOR: worth it, 2.8 times as fast as the plain copy (155 and 54.4 GB/s)." */
static void add_answer(struct xb_reading *reading, const struct seen *seen)
{
    static const char *const answers[] = {
        [XB_READING_UNKNOWN] = "too noisy to tell from the plain copy",
        [XB_READING_ALIKE] = "no faster than the plain copy, within the noise",
        [XB_READING_FASTER] = "worth it, {speed} as the plain copy",
        [XB_READING_SLOWER] = "not worth it, {speed} as the plain copy",
    };
    struct xb_words words = {.length = 0};
    xb_tell(reading, "Sending {text}: ", work_of(seen, &words));
    xb_tell(reading, answers[seen->order], seen->speed_up);
    xb_tell(reading, " ({rate} and {rate} GB/s).", seen->rate, seen->plain);
}

/* Why it does not pay, or not for certain, and what to do. */
static void add_why_not(struct xb_reading *reading, const struct seen *seen)
{
    if (seen->ratio < 1 + MATTERS) {
        xb_words_add(&reading->words, " The data gets no smaller (ratio %.3f): send it as it is.",
                     seen->ratio);
    } else if (seen->is_made && seen->encode < seen->plain) {
        /* How many threads would encode as fast as the plain copy goes. One of several feeds the
         * device and encodes nothing. */
        double encoding = seen->threads > 1 ? seen->threads - 1 : 1;
        double wanted = ceil(seen->plain / (seen->encode / encoding)) + 1;
        xb_tell(reading,
                " The host is too slow, {rate} GB/s alone; about {whole} threads would do.",
                seen->encode, wanted);
    } else if (seen->decode < seen->plain) {
        xb_tell(reading, " The GPU is too slow: it restores {rate} GB/s alone.", seen->decode);
    } else if (seen->order == XB_READING_SLOWER) {
        xb_tell(reading, " Each stage alone is fast enough; together they are not.");
    }
}

static void say(struct xb_reading *reading, const struct seen *seen)
{
    const struct xb_record_case *test = seen->test;
    double most = xb_reading_median(reading, test, &xb_figure_error_max);
    double all = xb_reading_median(reading, test, &xb_figure_error_rms);
    bool knows_stages = isfinite(seen->ratio + seen->encode + seen->decode);
    add_answer(reading, seen);
    if (seen->order == XB_READING_FASTER) {
        /* With how many threads or sends it pays; and the stage that the whole cannot be faster
         * than. */
        double count = xb_reading_median(reading, test,
                                         seen->is_made ? &xb_figure_break_even_threads
                                                       : &xb_figure_break_even_sends);
        double link = seen->ratio * seen->plain, bound = fmin(link, seen->decode);
        bool is_host = seen->is_made && seen->encode < bound;
        xb_tell(reading,
                seen->is_made ? "[ It pays with {whole} thread{text}.]"
                              : "[ Packing pays off after {whole} send{text}.]",
                count, count > 1 ? "s" : "");
        xb_tell(reading, "[ The {text} is the limit: {rate} GB/s alone.]",
                is_host                ? "host, which makes it smaller,"
                : link <= seen->decode ? "link"
                                       : "GPU, which restores it,",
                !knows_stages ? 0
                : is_host     ? seen->encode
                              : bound);
    } else if (seen->order != XB_READING_UNKNOWN && knows_stages) {
        add_why_not(reading, seen);
    }
    if (most > 0 && all > 0) /* what is lost */
        xb_words_add(&reading->words,
                     " The largest error is %.2g %% of a value, over all values %.2g %%.",
                     100 * most, 100 * all);
    xb_tell(reading,
            "{case}{+rate=bandwidth}{+rate=plain_bandwidth}{+factor=speed_up}{+factor=ratio}"
            "{+rate=encode_rate}{+rate=decode_rate}{+whole=threads}{+share=error_max}"
            "{+share=error_rms}{+whole=break_even_threads}{+whole=break_even_sends}",
            test);
}

static struct seen look_at(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return (struct seen){
        .test = test,
        .rate = xb_reading_bandwidth(reading, test),
        .plain = xb_reading_median(reading, test, &xb_figure_plain_bandwidth),
        .ratio = xb_reading_median(reading, test, &xb_figure_ratio),
        .speed_up = xb_reading_median(reading, test, &xb_figure_speed_up),
        .encode = xb_reading_median(reading, test, &xb_figure_encode_rate),
        .decode = xb_reading_median(reading, test, &xb_figure_decode_rate),
        .threads = xb_reading_median(reading, test, &xb_figure_threads),
        .order = xb_reading_judge_by(reading, test, &xb_figure_bandwidth, test,
                                     &xb_figure_plain_bandwidth),
        .is_made = strcmp(test->variant, "sent") != 0,
    };
}

/* Names what gains most of all that was measured, for certain if there is one. */
void xb_encoded_answer(struct xb_reading *reading)
{
    static const struct xb_choice any = {.figure = &xb_figure_speed_up};
    const struct xb_record_cases all = xb_reading_group(reading, xb_is_chosen, by_work, &any);
    struct seen best = {.test = NULL};
    for (size_t i = 0; i < all.count; i++) {
        const struct seen seen = look_at(reading, all.cases[i]);
        int surer = (seen.order == XB_READING_FASTER) - (best.order == XB_READING_FASTER);
        if (best.test == NULL || surer > 0 || (surer == 0 && seen.speed_up > best.speed_up))
            best = seen;
    }
    if (best.test != NULL)
        add_answer(reading, &best);
}

void xb_encoded_say(struct xb_reading *reading)
{
    const struct xb_choice own = {.variant = reading->about, .figure = &xb_figure_speed_up};
    const struct xb_record_cases all = xb_reading_group(reading, xb_is_chosen, by_work, &own);
    for (size_t i = 0, behind = 0; i < all.count; i = behind) {
        const struct xb_record_case *best = all.cases[i];
        behind = i + xb_cases_equal(all.cases + i, all.count - i, by_work, NULL);
        for (size_t k = i; k < behind; k++)
            best = xb_reading_faster(reading, best, all.cases[k]);
        const struct seen seen = look_at(reading, best);
        struct xb_words words = {.length = 0};
        xb_tell_next(reading);
        say(reading, &seen);
        reading->entry.is_untold = seen.order == XB_READING_UNKNOWN;
        if (seen.order == XB_READING_FASTER) /* what a program that sends such data gains */
            xb_remedy_if_worth(reading, XB_EFFORT_DESIGN, seen.speed_up,
                               "Send fewer bytes: {text}, {gain} as fast as the plain copy.",
                               work_of(&seen, &words));
    }
}
