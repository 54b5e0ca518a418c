/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of many pieces: which way wins for which pieces, and what it costs. */
#include "batch.h"
#include "readings.h"

#include "base/terminal.h"
#include "record/rows.h"
#include "xferbench/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One copy a piece is called good enough where it reaches this share of the best. */
#define GOOD_ENOUGH 0.9

#define MOST_PIECES 64
#define MOST_LAYOUTS 8

static uint64_t piece_of(const struct xb_record_case *test)
{
    return strtoull(xb_record_parameter(test, xb_option_piece.name), NULL, 10);
}

/* Which cases are told of together: one device, size, direction, layout and alignment. */
struct group {
    struct xb_reading *reading;
    const struct xb_record_case *of;
    bool is_one_of_several; /* there are groups of other layouts */
};

static bool belongs(const struct group *group, const struct xb_record_case *test)
{
    static const char *const same[] = {"layout", "pitch", "host-offset", "device-offset"};
    bool yes = strcmp(test->mode, "batch") == 0 && test->device == group->of->device &&
               strcmp(test->direction, group->of->direction) == 0 &&
               xb_reading_measured(group->reading, test) && piece_of(test) > 0;
    for (size_t i = 0; yes && i < sizeof same / sizeof same[0]; i++)
        yes = strcmp(xb_record_parameter(test, same[i]), xb_record_parameter(group->of, same[i])) ==
              0;
    return yes;
}

/* The group's fastest case of that piece and variant; of any variant for NULL. */
static const struct xb_record_case *best_of(const struct group *group, uint64_t piece,
                                            const char *variant)
{
    const struct xb_record_cases sized =
        xb_record_of_size(xb_reading_record(group->reading), group->of->bytes);
    const struct xb_record_case *best = NULL;
    for (size_t i = 0; i < sized.count; i++) {
        const struct xb_record_case *test = sized.cases[i];
        if (belongs(group, test) && piece_of(test) == piece &&
            (variant == NULL || strcmp(test->variant, variant) == 0))
            best = xb_reading_faster(group->reading, best, test);
    }
    return best;
}

/* The pieces that the group has, from the smallest up; how many ways were taken besides the first.
 */
static size_t list_pieces(const struct group *group, uint64_t pieces[MOST_PIECES],
                          size_t *other_ways)
{
    const struct xb_record_cases sized =
        xb_record_of_size(xb_reading_record(group->reading), group->of->bytes);
    size_t count = 0;
    *other_ways = 0;
    for (size_t i = 0; i < sized.count; i++) {
        uint64_t piece = piece_of(sized.cases[i]);
        size_t place = 0;
        if (!belongs(group, sized.cases[i]))
            continue;
        *other_ways += strcmp(sized.cases[i]->variant, group->of->variant) != 0;
        while (place < count && pieces[place] < piece)
            place++;
        if (count == MOST_PIECES || (place < count && pieces[place] == piece))
            continue;
        memmove(&pieces[place + 1], &pieces[place], (count - place) * sizeof *pieces);
        pieces[place] = piece;
        count++;
    }
    return count;
}

static double rate_of(const struct group *group, const struct xb_record_case *test)
{
    return xb_reading_median(group->reading, test, &xb_figure_bandwidth);
}

/* "a kernel", "one call". */
static const char *words_of(const struct xb_record_case *test)
{
    static const struct xb_variant_name names[] = {
        {"each", "a copy a piece"}, {"call", "one call"},     {"graph", "a graph"},
        {"kernel", "a kernel"},     {"pitched", "a 2D copy"}, {NULL, "packing"}};
    const struct xb_variant_name *name = names;
    while (name->variant != NULL && strcmp(name->variant, test->variant) != 0)
        name++;
    return name->name;
}

/* "kernel_bandwidth_4096": of a way and a piece. */
static void put_rate(struct xb_reading *reading, const char *way, uint64_t piece, double rate)
{
    char name[80];
    snprintf(name, sizeof name, "%s_bandwidth_%" PRIu64, way, piece);
    xb_reading_number(reading, name, rate, XB_UNIT_RATE);
}

/* "Fastest to the GPU: a kernel for 512 B to 512 KiB, one call from 1 MiB on." Names the layout
 * where it is not the only one. */
static void add_winners(const struct group *group, const uint64_t *pieces, size_t count)
{
    struct xb_reading *reading = group->reading;
    for (size_t i = 0; i < count; i++) {
        const struct xb_record_case *best = best_of(group, pieces[i], NULL);
        const struct xb_record_case *each = best_of(group, pieces[i], "each");
        put_rate(reading, best->variant, pieces[i], rate_of(group, best));
        if (each != NULL && each != best)
            put_rate(reading, each->variant, pieces[i], rate_of(group, each));
        xb_reading_rests_on(reading, best);
        xb_reading_rests_on(reading, each);
    }
    xb_reading_add(reading, "Fastest %s", xb_direction_words(group->of));
    if (group->is_one_of_several)
        xb_reading_add(reading, " (%s)", xb_record_parameter(group->of, "layout"));
    xb_reading_add(reading, ": ");
    for (size_t first = 0; first < count;) {
        const char *winner = best_of(group, pieces[first], NULL)->variant;
        size_t last = first;
        while (last + 1 < count &&
               strcmp(best_of(group, pieces[last + 1], NULL)->variant, winner) == 0)
            last++;
        bool is_from = first > 0 && last + 1 == count;
        xb_reading_phrase(reading, "{text}{text} {text} {size}", first > 0 ? ", " : "",
                          words_of(best_of(group, pieces[first], NULL)), is_from ? "from" : "for",
                          pieces[first]);
        if (is_from)
            xb_reading_add(reading, " on");
        else if (last > first)
            xb_reading_phrase(reading, " to {size}", pieces[last]);
        first = last + 1;
    }
    xb_reading_add(reading, ".");
}

/* How the best stands to one copy a piece: NAN where either is missing. */
static double gain_of(const struct group *group, uint64_t piece)
{
    return rate_of(group, best_of(group, piece, NULL)) /
           rate_of(group, best_of(group, piece, "each"));
}

/* For which of the pieces one copy each will do. */
struct enough {
    size_t known, good; /* how many pieces were copied so, and of how many that is good enough */
    size_t from;        /* it is for all from this one on; their number: for none */
    size_t worst;       /* where it costs most */
};

static struct enough find_enough(const struct group *group, const uint64_t *pieces, size_t count)
{
    struct enough enough = {.from = count};
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        double gain = gain_of(group, pieces[i]);
        if (!isfinite(gain))
            continue;
        bool is_good = 1 / gain >= GOOD_ENOUGH;
        if (gain > most)
            enough.worst = i;
        most = fmax(most, gain);
        enough.known++;
        enough.good += is_good;
        if (!is_good)
            enough.from = count;
        else if (enough.from == count)
            enough.from = i;
    }
    return enough;
}

/* How many times as fast as a copy a piece a case is, if that is certain; else 0. */
static double sure_gain(const struct group *group, const struct xb_record_case *test,
                        const struct xb_record_case *each)
{
    double gain = rate_of(group, test) / rate_of(group, each);
    return gain >= XB_WORTH_SAYING &&
                   xb_reading_judge(group->reading, test, each) == XB_READING_FASTER
               ? gain
               : 0;
}

/* One call, and what is faster than that. */
static void advise(const struct group *group, uint64_t piece)
{
    const struct xb_record_case *each = best_of(group, piece, "each");
    const struct xb_record_case *best = best_of(group, piece, NULL);
    const struct xb_record_case *one = best_of(group, piece, "call");
    double call = sure_gain(group, one, each), most = sure_gain(group, best, each);
    struct xb_words words = {.length = 0};
    if (call > 0)
        xb_words_add(&words, "one call, %s, is %s as fast",
                     xb_reading_call(group->reading, XB_CALL_COPY_BATCH),
                     xb_reading_factor_text(call, (char[32]){0}, 32));
    if (most > 0 && best != one)
        xb_words_add(&words, "%s%s is %s as fast", call > 0 ? ", " : "", words_of(best),
                     xb_reading_factor_text(most, (char[32]){0}, 32));
    if (words.length > 0)
        xb_reading_remedy(group->reading, XB_EFFORT_LINES, fmax(call, most),
                          "Do not copy pieces of %s one by one: %s.", XB_SIZE_TEXT(piece),
                          words.text);
}

static void add_each(const struct group *group, const uint64_t *pieces, size_t count)
{
    struct xb_reading *reading = group->reading;
    struct enough enough = find_enough(group, pieces, count);
    const char *of_all = enough.known == count && count > 1 ? " for all of these" : "";
    uint64_t worst = pieces[enough.worst];
    if (enough.known == 0)
        return;
    if (enough.good < enough.known) {
        if (count > 1)
            xb_reading_phrase(reading, " For {size} the best", worst);
        else
            xb_reading_add(reading, " That");
        xb_reading_number(reading, "worst_piece", (double)worst, XB_UNIT_BYTES);
        xb_reading_phrase(reading, " is {factor:gain_at_worst} as fast as a copy a piece.",
                          gain_of(group, worst));
        advise(group, worst);
    }
    if (count == 1 && enough.good == 0)
        return;
    xb_reading_add(reading, " A copy a piece is ");
    if (enough.good == 0)
        xb_reading_add(reading, "too slow%s.", of_all);
    else if (enough.good == count)
        xb_reading_add(reading, "good enough%s.", of_all);
    else if (enough.from == count)
        xb_reading_add(reading, "good enough for some of these only.");
    else
        xb_reading_phrase(reading, "good enough from {size} on.", pieces[enough.from]);
    if (enough.from < count)
        xb_reading_number(reading, "each_is_enough_from", (double)pieces[enough.from], "B");
}

/* The first usable case of every layout begins a group: its pitch and offsets stand for that
 * layout. */
static size_t find_groups(struct xb_reading *reading, int device, uint64_t bytes,
                          enum xb_direction direction, struct group groups[MOST_LAYOUTS])
{
    const struct xb_record_cases sized = xb_record_of_size(xb_reading_record(reading), bytes);
    size_t count = 0;
    for (size_t i = 0; i < sized.count && count < MOST_LAYOUTS; i++) {
        const struct xb_record_case *test = sized.cases[i];
        const struct group own = {.reading = reading, .of = test};
        bool is_new = test->device == device &&
                      strcmp(test->direction, xb_direction_name(direction)) == 0 &&
                      belongs(&own, test);
        for (size_t k = 0; is_new && k < count; k++)
            is_new = strcmp(xb_record_parameter(test, "layout"),
                            xb_record_parameter(groups[k].of, "layout")) != 0;
        if (is_new)
            groups[count++] = own;
    }
    for (size_t k = 0; k < count; k++)
        groups[k].is_one_of_several = count > 1;
    return count;
}

static bool say_direction(struct xb_reading *reading, int device, uint64_t bytes,
                          enum xb_direction direction, bool said)
{
    struct group groups[MOST_LAYOUTS];
    size_t group_count = find_groups(reading, device, bytes, direction, groups);
    for (size_t k = 0; k < group_count; k++) {
        uint64_t pieces[MOST_PIECES];
        size_t other_ways;
        size_t count = list_pieces(&groups[k], pieces, &other_ways);
        if (other_ways == 0)
            continue; /* one way alone is no comparison */
        if (said)
            xb_reading_next(reading);
        add_winners(&groups[k], pieces, count);
        add_each(&groups[k], pieces, count);
        said = true;
    }
    return said;
}

bool xb_batch_say_pieces(struct xb_reading *reading, int device, uint64_t bytes)
{
    bool said = say_direction(reading, device, bytes, XB_H2D, false);
    return say_direction(reading, device, bytes, XB_D2H, said);
}

static bool say_tax(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record_cases sized = xb_record_of_size(xb_reading_record(reading), bytes);
    const struct xb_record_case *least = NULL;
    const struct xb_record_case *most = NULL;
    for (size_t i = 0; i < sized.count; i++) {
        const struct xb_record_case *test = sized.cases[i];
        double tax = xb_reading_median(reading, test, &xb_figure_sm_tax);
        if (strcmp(test->mode, "batch") != 0 || strcmp(test->variant, "kernel") != 0 ||
            test->device != device || !isfinite(tax) || !xb_reading_measured(reading, test))
            continue;
        if (least == NULL || tax < xb_reading_median(reading, least, &xb_figure_sm_tax))
            least = test;
        if (most == NULL || tax > xb_reading_median(reading, most, &xb_figure_sm_tax))
            most = test;
    }
    if (least == NULL)
        return false;
    double low = xb_reading_median(reading, least, &xb_figure_sm_tax);
    double high = xb_reading_median(reading, most, &xb_figure_sm_tax);
    xb_reading_phrase(reading, "While the batch kernel copies, others compute {share:tax_low}",
                      low);
    if (least != most)
        xb_reading_phrase(reading, " to {share}", high);
    xb_reading_add(reading, " slower.");
    xb_reading_number(reading, "tax_high", high, XB_UNIT_RATIO);
    xb_reading_rests_on(reading, least);
    xb_reading_rests_on(reading, most);
    return true;
}

XB_SAY(say_alignment, xb_alignment_say, "batch")

const struct xb_reading_line xb_batch_reading[] = {
    {.label = "pieces", .code = "XB-PIECES", .say = xb_batch_say_pieces},
    {.label = "sm tax", .code = "XB-SM-TAX", .say = say_tax},
    {.label = "alignment", .code = "XB-ALIGNMENT", .say = say_alignment},
    {.label = NULL},
};
