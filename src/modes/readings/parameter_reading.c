/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of cases that differ in one option alone. */
#include "modes/shared_options.h"
#include "readings.h"

#include <math.h>
#include <string.h>

/* A range that doubles has fewer. More come from no sweep. */
#define MOST_VALUES 64
#define MOST_PARAMETERS 32 /* no case has more */

const struct xb_record_case *xb_twin(const struct xb_reading *reading,
                                     const struct xb_record_case *test,
                                     const struct xb_option *option, const char *value)
{
    struct xb_record_fact parameters[MOST_PARAMETERS];
    if (test == NULL || test->parameter_count > MOST_PARAMETERS)
        return NULL;
    struct xb_record_case twin = *test;
    for (size_t i = 0; i < test->parameter_count; i++) {
        parameters[i] = test->parameters[i];
        if (strcmp(parameters[i].name, option->name) == 0)
            parameters[i].value = value;
    }
    twin.parameters = parameters;
    return xb_record_find(reading->record, &twin);
}

const struct xb_record_case *xb_usual_copy(const struct xb_reading *reading,
                                           const struct xb_record_case *test)
{
    test = xb_twin(reading, test, &xb_option_call, "async");
    test = xb_twin(reading, test, &xb_option_gpu_memory, "kept");
    return xb_twin(reading, test, &xb_option_target, "kept");
}

/* ---- memory that is made for a copy ---- */

void xb_made_memory_say(struct xb_reading *reading)
{
    if (reading->bytes < XB_LARGE_BYTES)
        return;
    for (const struct xb_made_memory *made = reading->about; made->option != NULL; made++) {
        const struct xb_choice made_so = {
            .variant = made->variant, .option = made->option, .value = made->value};
        const struct xb_record_case *test = xb_reading_fastest(reading, xb_is_chosen, &made_so);
        const struct xb_record_case *kept = xb_twin(reading, test, made->option, "kept");
        if (kept == NULL || !xb_reading_usable(reading, kept) ||
            xb_reading_judge_by(reading, test, made->by, kept, made->by) != XB_READING_SLOWER)
            continue;
        double loss =
            xb_reading_median(reading, test, made->by) / xb_reading_median(reading, kept, made->by);
        loss = made->by->more_is_better ? 1 / loss : loss;
        xb_tell_next(reading);
        xb_tell(reading,
                "{to}, {name:but} takes {factor:ratio} as long into memory {text} as into memory "
                "that is used again.{case}",
                kept, kept, made->option->name, loss, made->words, test);
        xb_remedy_if_worth(reading, XB_EFFORT_LINES, loss, made->remedy);
    }
}

/* ---- which value is best ---- */

/* How a case stands to the best one: as good where the intervals leave it next to nothing to lose.
 */
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
    return xb_reading_value(test, family->option->name);
}

/* Collects the best one's twins but for the option, if it has an interval. */
static void collect(struct family *family)
{
    const struct xb_reading *reading = family->reading;
    const struct xb_record_cases sized = xb_record_of_size(reading->record, reading->bytes);
    const char *value = xb_record_parameter(family->best, family->option->name);
    struct xb_statistics best, own;
    if (!xb_reading_is_sure(reading, family->best, &xb_figure_bandwidth, &best))
        return;
    for (size_t i = 0; i < sized.count && family->count < MOST_VALUES; i++) {
        const struct xb_record_case *test = sized.cases[i];
        size_t place = family->count;
        if (xb_twin(reading, test, family->option, value) != family->best ||
            !xb_reading_usable(reading, test) ||
            !xb_reading_is_sure(reading, test, &xb_figure_bandwidth, &own))
            continue;
        for (; place > 0 && value_of(family, family->cases[place - 1]) > value_of(family, test);
             place--) {
            family->cases[place] = family->cases[place - 1];
            family->standings[place] = family->standings[place - 1];
        }
        family->cases[place] = test;
        family->standings[place] =
            xb_reading_judge(reading, test, family->best) == XB_READING_SLOWER        ? WORSE
            : test == family->best || 1 - own.ci95_low / best.ci95_high <= XB_VISIBLE ? GOOD
                                                                                      : OPEN;
        family->open += family->standings[place] == OPEN;
        family->count++;
    }
    for (size_t i = 0; i < family->count; i++)
        family->first = family->cases[i] == family->best ? i : family->first;
    if (family->count > 0 && family->cases[family->first] != family->best)
        family->count = 0; /* the best is not among MOST_VALUES: nothing is said */
    family->last = family->first;
    while (family->first > 0 && family->standings[family->first - 1] == GOOD)
        family->first--;
    while (family->last + 1 < family->count && family->standings[family->last + 1] == GOOD)
        family->last++;
}

/* Says what a case loses: " The default, 8 MiB, loses 3.1 %.", with numbers of that name. */
static void add_loss(const struct family *family, const struct xb_record_case *test,
                     const char *what)
{
    char name[32];
    snprintf(name, sizeof name, "%s_loss", what);
    xb_tell(family->reading, " The {text}, {value:*}, loses {share:*}.", what, test,
            family->option->name, what, 1 - xb_reading_ratio(family->reading, test, family->best),
            name);
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
    if (xb_size_parse(first, &usual, &ignored) != XB_OK)
        usual = 0;
    for (size_t i = 0; i < family->count; i++) {
        const struct xb_record_case *test = family->cases[i];
        if (xb_reading_bandwidth(family->reading, test) <
            xb_reading_bandwidth(family->reading, family->cases[slowest]))
            slowest = i;
        if (value_of(family, test) != usual)
            continue;
        if (family->standings[i] == WORSE)
            add_loss(family, test, "default");
        /* Nothing is lost; but if what lies between it and the best is worse, that is nothing to
         * build on. */
        if (family->standings[i] != GOOD || i < family->first || i > family->last)
            return;
        xb_tell(family->reading,
                family->first == family->last ? " It is the default.{+value:default}"
                                              : " The default is among them.{+value:default}",
                test, family->option->name);
        return;
    }
    if (family->standings[slowest] == WORSE)
        add_loss(family, family->cases[slowest], "slowest");
}

/* "any chunk from 1 MiB to 8 MiB is as good", "the fastest chunk is 8 MiB"; and how fast. */
static void add_best(const struct family *family)
{
    struct xb_reading *reading = family->reading;
    const struct xb_record_case *from = family->cases[family->first];
    const struct xb_record_case *to = family->cases[family->last];
    const char *option = family->option->name;
    const char *number_of = xb_parameter_is_size(from, option) ? "" : "number of ";
    const char *before = " ";
    size_t left = family->open;
    if (from == to)
        xb_tell(reading, "the {text} {text}{text} is {value}",
                family->open > 0 ? "fastest" : "best", number_of, option, from, option);
    else
        xb_tell(reading, "any {text}{text} from {value} to {value} is as good", number_of, option,
                from, option, to, option);
    xb_tell(reading,
            "{+value:best}{+value:as_good_from}{+value:as_good_to} ({rate:bandwidth} GB/s).",
            family->best, option, from, option, to, option,
            xb_reading_bandwidth(reading, family->best));
    /* " 4 MiB and 16 MiB may be as good: the samples vary too much to tell." */
    for (size_t i = 0; i < family->count; i++) {
        if (family->standings[i] != OPEN)
            continue;
        xb_tell(reading, "{text}{value}", before, family->cases[i], option);
        before = --left == 1 ? " and " : ", ";
    }
    xb_tell(reading, "[ may be as good: the samples vary too much to tell.{+whole:not_told_apart}]",
            (double)family->open);
}

void xb_parameter_say(struct xb_reading *reading)
{
    static const enum xb_direction directions[] = {XB_H2D, XB_D2H, XB_BIDIR};
    for (size_t i = 0; i < sizeof directions / sizeof directions[0]; i++) {
        struct family family = {.reading = reading, .option = reading->about};
        family.best = xb_reading_best(reading, directions[i], NULL, NULL);
        if (family.best == NULL)
            continue;
        collect(&family);
        if (family.count < 2)
            continue;
        xb_tell_next(reading);
        xb_tell(reading, "{to}, {text}: ", family.best, reading->mode);
        add_best(&family);
        add_losses(&family);
        for (size_t k = 0; k < family.count; k++)
            xb_reading_rests_on(reading, family.cases[k]);
    }
}

/* ---- data that begins off a boundary: to be faster there is luck ---- */

enum found { COSTS, NOTHING, UNKNOWN };

/* What is known of an offset, from all cases that have it. */
struct offset {
    uint64_t bytes;
    double cost; /* the largest share that is certainly lost and visible; 0 where none is */
    double most; /* where none is: the most that the intervals allow */
    const struct xb_record_case *test; /* which has that cost */
};

/* What is known of one side. */
struct side {
    const struct xb_option *option;
    const char *name;        /* "Host buffers" */
    const char *cost, *most; /* numbers of the line */
    struct offset offsets[MOST_VALUES];
    size_t count;
};

/* Notes what a case loses against `base`, which begins on the boundary. A difference is certain
 * where the intervals do not meet. */
static void add_offset(struct xb_reading *reading, struct side *side,
                       const struct xb_record_case *base, const struct xb_record_case *test)
{
    struct xb_statistics on, off;
    uint64_t bytes = xb_reading_value(test, side->option->name);
    struct offset *offset = side->offsets, *end = offset + side->count;
    if (!xb_reading_is_sure(reading, base, &xb_figure_bandwidth, &on) ||
        !xb_reading_is_sure(reading, test, &xb_figure_bandwidth, &off) || !(on.ci95_low > 0))
        return;
    while (offset < end && offset->bytes < bytes)
        offset++;
    if (offset == end || offset->bytes != bytes) {
        if (side->count == MOST_VALUES)
            return;
        memmove(offset + 1, offset, (size_t)(end - offset) * sizeof *offset);
        *offset = (struct offset){.bytes = bytes};
        side->count++;
    }
    double cost = 1 - off.median / on.median;
    xb_tell(reading, "{case}{case}", base, test);
    if (off.ci95_high >= on.ci95_low || cost < XB_VISIBLE) {
        offset->most = fmax(offset->most, 1 - off.ci95_low / on.ci95_high);
    } else if (cost > offset->cost) {
        offset->cost = cost;
        offset->test = test;
    }
}

static enum found found_of(const struct offset *offset)
{
    return offset->test != NULL ? COSTS : offset->most <= XB_VISIBLE ? NOTHING : UNKNOWN;
}

/* "Host buffers 1 B, 64 B and 256 B off a boundary": returns those of which that was found, the one
 * that costs most with the most that the intervals of any allow; no bytes: there is none. */
static struct offset add_offsets(struct xb_reading *reading, const struct side *side,
                                 enum found found, size_t *count)
{
    struct offset worst = {.bytes = 0};
    const char *before = " ";
    size_t left = 0;
    for (size_t i = 0; i < side->count; i++)
        left += found_of(&side->offsets[i]) == found;
    *count = left;
    if (left > 0)
        xb_tell(reading, " {text}", side->name);
    for (size_t i = 0; i < side->count; i++) {
        const struct offset *offset = &side->offsets[i];
        if (found_of(offset) != found)
            continue;
        double most = fmax(worst.most, offset->most);
        xb_tell(reading, "{text}{size}", before, offset->bytes);
        before = --left == 1 ? " and " : ", ";
        worst = worst.bytes == 0 || offset->cost > worst.cost ? *offset : worst;
        worst.most = most;
    }
    return worst;
}

void xb_alignment_say(struct xb_reading *reading)
{
    struct side sides[] = {
        {&xb_option_host_offset, "Host buffers", "host_cost", "host_cost_at_most", {{0}}, 0},
        {&xb_option_device_offset, "GPU buffers", "device_cost", "device_cost_at_most", {{0}}, 0}};
    static const struct xb_choice own = {.mode = NULL};
    bool told = false;
    if (reading->bytes < XB_LARGE_BYTES)
        return;
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        struct side *side = &sides[i];
        const struct xb_record_cases all = xb_reading_group(reading, xb_is_chosen, NULL, &own);
        for (size_t k = 0; k < all.count; k++) {
            const struct xb_record_case *base = xb_twin(reading, all.cases[k], side->option, "0");
            if (xb_reading_value(all.cases[k], side->option->name) != 0 && base != NULL &&
                xb_reading_usable(reading, base))
                add_offset(reading, side, base, all.cases[k]);
        }
        double most = -1;
        for (enum found found = COSTS; found <= UNKNOWN; found++) {
            size_t count;
            const struct offset worst = add_offsets(reading, side, found, &count);
            if (count == 0)
                continue;
            told = told || found != UNKNOWN;
            if (found == COSTS) {
                /* "Host buffers 1 B and 4 B off a boundary cost pinned to the GPU up to 4.0 %." */
                xb_tell(reading, " off a boundary cost {text}{share:*} ({way}).",
                        count > 1 ? "up to " : "", worst.cost, side->cost, worst.test);
                continue;
            }
            /* The group's offsets cost nothing, or nobody knows: at most so much, rounded up. */
            double percent = fmax(ceil(1000 * worst.most - 1e-6), 1) / 10;
            xb_tell(reading, " off a boundary, {text} copies: {text} at most ", reading->mode,
                    found == NOTHING ? "no cost," : "too noisy to tell;");
            xb_tell(reading, percent < 10 ? "{one} % slower." : "{whole} % slower.",
                    percent < 10 ? percent : ceil(percent));
            most = fmax(most, worst.most);
        }
        if (most >= 0)
            xb_reading_number(reading, side->most, most, XB_UNIT_RATIO);
    }
    reading->entry.is_untold = reading->words.length > 0 && !told;
}
