/* SPDX-License-Identifier: Apache-2.0 */
#include "modes/shared_options.h"
#include "readings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A range that doubles has fewer. More come from no sweep. */
#define MOST_VALUES 64
#define MOST_PARAMETERS 32 /* no case has more */

/* What is as good as the best loses no more than this, whatever lies within the intervals: the
 * difference that the Reading sees (xb_reading_judge). */
#define AS_GOOD 0.02

/* How a case stands to the best one. */
enum standing { GOOD, WORSE, OPEN };

/* What is compared: cases that differ in one option alone, by its value from the least up. */
struct family {
    struct xb_reading *reading;
    const struct xb_option *option;
    const struct xb_record_case *best;
    const struct xb_record_case *cases[MOST_VALUES];
    enum standing standings[MOST_VALUES];
    size_t count;
    size_t first, last; /* of those that are as good as the best, with none between that is not */
    size_t open;        /* how many nobody can tell from the best */
};

static uint64_t value_of(const struct family *family, const struct xb_record_case *test)
{
    return strtoull(xb_record_parameter(test, family->option->name), NULL, 10);
}

static bool is_size(const struct family *family)
{
    return family->option->type == XB_OPTION_SIZE || family->option->type == XB_OPTION_SIZES;
}

static double rate_of(const struct family *family, const struct xb_record_case *test)
{
    return xb_reading_median(family->reading, test, &xb_figure_bandwidth);
}

const struct xb_record_case *xb_find_twin(const struct xb_record *record,
                                          const struct xb_record_case *test, const char *parameter,
                                          const char *value)
{
    struct xb_record_fact parameters[MOST_PARAMETERS];
    struct xb_record_case twin = *test;
    if (test->parameter_count > MOST_PARAMETERS)
        return NULL;
    for (size_t i = 0; i < test->parameter_count; i++) {
        parameters[i] = test->parameters[i];
        if (strcmp(parameters[i].name, parameter) == 0)
            parameters[i].value = value;
    }
    twin.parameters = parameters;
    return xb_record_find(record, &twin);
}

const struct xb_record_case *xb_usual_copy(const struct xb_reading *reading,
                                           const struct xb_record_case *test)
{
    static const struct {
        const struct xb_option *option;
        const char *value;
    } usual[] = {
        {&xb_option_call, "async"}, {&xb_option_gpu_memory, "kept"}, {&xb_option_target, "kept"}};
    for (size_t i = 0; test != NULL && i < sizeof usual / sizeof *usual; i++)
        test =
            xb_find_twin(xb_reading_record(reading), test, usual[i].option->name, usual[i].value);
    return test;
}

static bool is_made(const struct xb_reading *reading, const struct xb_record_case *test,
                    const void *argument)
{
    const struct xb_made_memory *made = argument;
    return strcmp(test->mode, made->mode) == 0 &&
           (made->variant == NULL || strcmp(test->variant, made->variant) == 0) &&
           strcmp(xb_record_parameter(test, made->option->name), made->value) == 0 &&
           !test->simultaneous && xb_reading_usable(reading, test);
}

bool xb_made_memory_say(struct xb_reading *reading, int device, uint64_t bytes,
                        const struct xb_made_memory *made)
{
    bool said = false;
    for (; made->mode != NULL; made++) {
        const struct xb_record_case *test =
            xb_reading_fastest(reading, device, bytes, is_made, made);
        const struct xb_record_case *kept =
            test != NULL
                ? xb_find_twin(xb_reading_record(reading), test, made->option->name, made->kept)
                : NULL;
        if (kept == NULL || !xb_reading_usable(reading, kept) ||
            xb_reading_judge_by(reading, test, made->by, kept, made->by) != XB_READING_SLOWER)
            continue;
        double loss =
            xb_reading_median(reading, test, made->by) / xb_reading_median(reading, kept, made->by);
        loss = made->by->more_is_better ? 1 / loss : loss;
        if (said)
            xb_reading_next(reading);
        xb_reading_phrase(reading,
                          "{text}, {name:but} takes {factor:ratio} as long into memory {text} as "
                          "into memory that is used again.{case}",
                          made->way, kept, made->option->name, loss, made->words, test);
        if (loss >= XB_WORTH_SAYING)
            xb_reading_remedy(reading, XB_EFFORT_LINES, loss, "%s: %s as fast. %s", made->remedy,
                              xb_reading_factor_text(loss, (char[32]){0}, 32), made->pytorch);
        said = true;
    }
    return said;
}

bool xb_takes_longer(const struct xb_reading *reading, const struct xb_record_case *test,
                     const struct xb_figure *reference, double time)
{
    const struct xb_record *record = xb_reading_record(reading);
    struct xb_statistics other, rate;
    return xb_record_describe(record, test, reference->name, &other) &&
           xb_record_describe(record, test, xb_figure_bandwidth.name, &rate) && other.n > 1 &&
           other.n * rate.n >= 9 && other.min > time * rate.median / rate.min;
}

/* How a case stands to the best: as good where the intervals leave it next to nothing to lose. */
static enum standing stand(const struct family *family, const struct xb_record_case *test)
{
    const struct xb_record *record = xb_reading_record(family->reading);
    const char *figure = xb_figure_bandwidth.name;
    struct xb_statistics best, own;
    if (xb_reading_judge(family->reading, test, family->best) == XB_READING_SLOWER)
        return WORSE;
    return test == family->best || (xb_record_describe(record, family->best, figure, &best) &&
                                    xb_record_describe(record, test, figure, &own) &&
                                    1 - own.ci95_low / best.ci95_high <= AS_GOOD)
               ? GOOD
               : OPEN;
}

/* Collects the best one's twins but for the option. */
static void collect(struct family *family)
{
    const struct xb_record *record = xb_reading_record(family->reading);
    const struct xb_record_cases sized = xb_record_of_size(record, family->best->bytes);
    const char *option = family->option->name;
    const char *value = xb_record_parameter(family->best, option);
    if (!xb_reading_is_sure(family->reading, family->best, &xb_figure_bandwidth))
        return;
    for (size_t i = 0; i < sized.count && family->count < MOST_VALUES; i++) {
        const struct xb_record_case *test = sized.cases[i];
        size_t place = family->count;
        if (xb_find_twin(record, test, option, value) != family->best ||
            !xb_reading_usable(family->reading, test) ||
            !xb_reading_is_sure(family->reading, test, &xb_figure_bandwidth))
            continue;
        for (; place > 0 && value_of(family, family->cases[place - 1]) > value_of(family, test);
             place--)
            family->cases[place] = family->cases[place - 1];
        family->cases[place] = test;
        family->count++;
    }
    for (size_t i = 0; i < family->count; i++) {
        family->standings[i] = stand(family, family->cases[i]);
        family->open += family->standings[i] == OPEN;
        family->first = family->cases[i] == family->best ? i : family->first;
    }
    if (family->count > 0 && family->cases[family->first] != family->best)
        family->count = 0; /* the best is not among MOST_VALUES: nothing is said */
    family->last = family->first;
    while (family->first > 0 && family->standings[family->first - 1] == GOOD)
        family->first--;
    while (family->last + 1 < family->count && family->standings[family->last + 1] == GOOD)
        family->last++;
}

/* "8 MiB", "2". */
static const char *value_text(const struct family *family, uint64_t value, char text[32])
{
    if (is_size(family))
        return xb_size_format(value, text, 32);
    snprintf(text, 32, "%" PRIu64, value);
    return text;
}

/* In memory that lasts as long as the block in which it stands. */
#define VALUE(family, value) value_text((family), (value), (char[32]){0})

static void write_value(const struct family *family, const char *name, uint64_t value)
{
    xb_reading_number(family->reading, name, (double)value,
                      is_size(family) ? XB_UNIT_BYTES : XB_UNIT_RATIO);
}

/* " The default, 8 MiB, loses 3.1 %." of a case, with numbers of that name. */
static void add_loss(const struct family *family, const struct xb_record_case *test,
                     const char *what)
{
    double loss = 1 - rate_of(family, test) / rate_of(family, family->best);
    uint64_t value = value_of(family, test);
    char name[32];
    snprintf(name, sizeof name, "%s_loss", what);
    write_value(family, what, value);
    xb_reading_phrase(family->reading, " The {text}, {text}, loses {share:*}.", what,
                      VALUE(family, value), loss, name);
}

/* What is lost: at the default where it was measured, else at the slowest. */
static void add_losses(const struct family *family)
{
    const char *text = family->option->default_text; /* the first of it is the default */
    struct xb_error ignored;
    uint64_t usual = 0;
    char first[32];
    size_t slowest = 0;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(text, ","), text);
    if (!is_size(family))
        usual = strtoull(first, NULL, 10);
    else if (xb_size_parse(first, &usual, &ignored) != XB_OK)
        usual = 0;
    for (size_t i = 0; i < family->count; i++) {
        const struct xb_record_case *test = family->cases[i];
        if (rate_of(family, test) < rate_of(family, family->cases[slowest]))
            slowest = i;
        if (value_of(family, test) != usual)
            continue;
        if (family->standings[i] == WORSE)
            add_loss(family, test, "default");
        /* Nothing is lost; but if what lies between it and the best is worse, that is nothing to
         * build on. */
        if (family->standings[i] != GOOD || i < family->first || i > family->last)
            return;
        xb_reading_add(family->reading, family->first == family->last
                                            ? " It is the default."
                                            : " The default is among them.");
        write_value(family, "default", usual);
        return;
    }
    if (family->standings[slowest] == WORSE)
        add_loss(family, family->cases[slowest], "slowest");
}

/* "any chunk from 1 MiB to 8 MiB is as good", "the fastest chunk is 8 MiB"; and how fast. */
static void add_best(const struct family *family, const char *noun)
{
    struct xb_reading *reading = family->reading;
    uint64_t from = value_of(family, family->cases[family->first]);
    uint64_t to = value_of(family, family->cases[family->last]);
    const char *before = " ";
    size_t left = family->open;
    if (from == to)
        xb_reading_add(reading, "the %s %s is %s", family->open > 0 ? "fastest" : "best", noun,
                       VALUE(family, from));
    else
        xb_reading_add(reading, "any %s from %s to %s is as good", noun, VALUE(family, from),
                       VALUE(family, to));
    write_value(family, "best", value_of(family, family->best));
    write_value(family, "as_good_from", from);
    write_value(family, "as_good_to", to);
    xb_reading_phrase(reading, " ({rate:bandwidth} GB/s).", rate_of(family, family->best));
    if (family->open == 0)
        return;
    /* " 4 MiB and 16 MiB may be as good: the samples vary too much to tell." */
    for (size_t i = 0; i < family->count; i++) {
        if (family->standings[i] != OPEN)
            continue;
        xb_reading_add(reading, "%s%s", before, VALUE(family, value_of(family, family->cases[i])));
        before = --left == 1 ? " and " : ", ";
    }
    xb_reading_phrase(reading,
                      " may be as good: the samples vary too much to tell.{+whole:not_told_apart}",
                      (double)family->open);
}

bool xb_parameter_say(struct xb_reading *reading, int device, uint64_t bytes, const char *mode,
                      const struct xb_option *option, const char *noun)
{
    static const struct {
        enum xb_direction direction;
        const char *words;
    } ways[] = {{XB_H2D, "To the GPU"}, {XB_D2H, "Back to the host"}, {XB_BIDIR, "Both ways"}};
    bool said = false;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct family family = {.reading = reading, .option = option};
        family.best = xb_reading_best(reading, device, bytes, ways[i].direction, mode, NULL);
        if (family.best == NULL)
            continue;
        collect(&family);
        if (family.count < 2)
            continue;
        if (said)
            xb_reading_next(reading);
        xb_reading_add(reading, "%s, %s: ", ways[i].words, mode);
        add_best(&family, noun);
        add_losses(&family);
        for (size_t k = 0; k < family.count; k++)
            xb_reading_rests_on(reading, family.cases[k]);
        said = true;
    }
    return said;
}
