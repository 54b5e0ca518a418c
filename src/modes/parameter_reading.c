/* SPDX-License-Identifier: Apache-2.0 */
#include "readings.h"
#include "xferbench/units.h"

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

static bool is_size(const struct xb_option *option)
{
    return option->type == XB_OPTION_SIZE || option->type == XB_OPTION_SIZES;
}

static double rate_of(const struct family *family, const struct xb_record_case *test)
{
    return xb_reading_median(family->reading, test, &xb_figure_bandwidth);
}

/* ---- cases ---- */

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

bool xb_takes_longer(const struct xb_reading *reading, const struct xb_record_case *test,
                     const struct xb_figure *reference, double time)
{
    const struct xb_record *record = xb_reading_record(reading);
    struct xb_statistics other, rate;
    return xb_record_describe(record, test, reference->name, &other) &&
           xb_record_describe(record, test, xb_figure_bandwidth.name, &rate) && other.n > 1 &&
           other.n * rate.n >= 9 && other.min > time * rate.median / rate.min;
}

/* The best one's twin but for the option. */
static bool belongs(const struct family *family, const struct xb_record_case *test)
{
    const struct xb_reading *reading = family->reading;
    const struct xb_record_case *best = family->best;
    const char *option = family->option->name;
    return xb_find_twin(xb_reading_record(reading), test, option,
                        xb_record_parameter(best, option)) == best &&
           xb_reading_usable(reading, test) &&
           xb_reading_is_sure(reading, test, &xb_figure_bandwidth) &&
           xb_reading_is_sure(reading, best, &xb_figure_bandwidth);
}

static bool is_good(const struct family *family, size_t index)
{
    return family->standings[index] == GOOD;
}

/* How a case stands to the best: as good where the intervals leave it next to nothing to lose. */
static enum standing stand(const struct family *family, const struct xb_record_case *test)
{
    const struct xb_record *record = xb_reading_record(family->reading);
    const char *figure = xb_figure_bandwidth.name;
    struct xb_statistics best, own;
    if (xb_reading_judge(family->reading, test, family->best) == XB_READING_SLOWER)
        return WORSE;
    if (test == family->best)
        return GOOD;
    return xb_record_describe(record, family->best, figure, &best) &&
                   xb_record_describe(record, test, figure, &own) &&
                   1 - own.ci95_low / best.ci95_high <= AS_GOOD
               ? GOOD
               : OPEN;
}

static void collect(struct family *family)
{
    const struct xb_record_cases sized =
        xb_record_of_size(xb_reading_record(family->reading), family->best->bytes);
    for (size_t i = 0; i < sized.count && family->count < MOST_VALUES; i++) {
        const struct xb_record_case *test = sized.cases[i];
        size_t place = family->count;
        if (!belongs(family, test))
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
    }
    while (family->first < family->count && family->cases[family->first] != family->best)
        family->first++;
    family->last = family->first;
    while (family->first > 0 && is_good(family, family->first - 1))
        family->first--;
    while (family->last + 1 < family->count && is_good(family, family->last + 1))
        family->last++;
}

/* ---- words ---- */

static const char *unit_of(const struct family *family)
{
    return is_size(family->option) ? "B" : XB_UNIT_RATIO;
}

/* "8 MiB", "2". */
static void add_value(const struct family *family, uint64_t value)
{
    if (is_size(family->option))
        xb_reading_add_size(family->reading, value);
    else
        xb_reading_add(family->reading, "%" PRIu64, value);
}

/* " The default, 8 MiB, loses 3.1 %." of a case, with numbers of that name. */
static void add_loss(const struct family *family, const struct xb_record_case *test,
                     const char *what)
{
    struct xb_reading *reading = family->reading;
    double loss = 1 - rate_of(family, test) / rate_of(family, family->best);
    char name[32];
    xb_reading_add(reading, " The %s, ", what);
    add_value(family, value_of(family, test));
    xb_reading_phrase(reading, ", loses {share}.", loss);
    xb_reading_number(reading, what, (double)value_of(family, test), unit_of(family));
    snprintf(name, sizeof name, "%s_loss", what);
    xb_reading_number(reading, name, loss, XB_UNIT_RATIO);
}

/* What is lost: at the default where it was measured, else at the slowest. */
static void add_losses(const struct family *family)
{
    struct xb_reading *reading = family->reading;
    const char *text = family->option->default_text; /* the first of it is the default */
    struct xb_error ignored;
    uint64_t usual = 0;
    char first[32];
    size_t slowest = 0;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(text, ","), text);
    if (!is_size(family->option))
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
        if (!is_good(family, i) || i < family->first || i > family->last)
            return;
        xb_reading_add(reading, family->first == family->last ? " It is the default."
                                                              : " The default is among them.");
        xb_reading_number(reading, "default", (double)usual, unit_of(family));
        return;
    }
    if (family->standings[slowest] == WORSE)
        add_loss(family, family->cases[slowest], "slowest");
}

/* " 4 MiB and 16 MiB may be as good: the samples vary too much to tell." */
static void add_open(const struct family *family)
{
    struct xb_reading *reading = family->reading;
    const char *before = " ";
    size_t left = family->open;
    for (size_t i = 0; i < family->count; i++) {
        if (family->standings[i] != OPEN)
            continue;
        xb_reading_add(reading, "%s", before);
        add_value(family, value_of(family, family->cases[i]));
        before = --left == 1 ? " and " : ", ";
    }
    if (family->open > 0)
        xb_reading_add(reading, " may be as good: the samples vary too much to tell.");
}

/* "any chunk from 1 MiB to 8 MiB is as good", "the fastest chunk is 8 MiB"; and how fast. */
static void add_best(const struct family *family, const char *noun)
{
    struct xb_reading *reading = family->reading;
    uint64_t from = value_of(family, family->cases[family->first]);
    uint64_t to = value_of(family, family->cases[family->last]);
    double rate = rate_of(family, family->best);
    if (from == to) {
        xb_reading_add(reading, "the %s %s is ", family->open > 0 ? "fastest" : "best", noun);
        add_value(family, from);
    } else {
        xb_reading_add(reading, "any %s from ", noun);
        add_value(family, from);
        xb_reading_add(reading, " to ");
        add_value(family, to);
        xb_reading_add(reading, " is as good");
    }
    xb_reading_phrase(reading, " ({rate} GB/s).", rate);
    add_open(family);
    xb_reading_number(reading, "best", (double)value_of(family, family->best), unit_of(family));
    xb_reading_number(reading, "as_good_from", (double)from, unit_of(family));
    xb_reading_number(reading, "as_good_to", (double)to, unit_of(family));
    xb_reading_number(reading, "bandwidth", rate, XB_UNIT_RATE);
    if (family->open > 0)
        xb_reading_number(reading, "not_told_apart", (double)family->open, XB_UNIT_RATIO);
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
