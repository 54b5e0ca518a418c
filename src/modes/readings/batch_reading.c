/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of many pieces: which way wins for which pieces, and what it costs. */
#include "modes/batch.h"
#include "piece_grid.h"
#include "readings.h"

#include "base/order.h"
#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One copy a piece is called good enough where it reaches this share of the best. */
#define GOOD_ENOUGH 0.9

#define MOST_PIECES 64

/* The fastest cases of a piece; NULL where there is none. */
struct piece {
    uint64_t bytes;
    const struct xb_record_case *best, *each, *call; /* of any way, and of two of them */
};

/* Cases that are told of together: of one device, size, direction, layout and alignment. */
struct group {
    struct xb_reading *reading;
    const struct xb_record_case *of;  /* the first of them */
    bool is_one_of_several;           /* there are groups of other layouts */
    struct piece pieces[MOST_PIECES]; /* from the smallest up */
    size_t count;
};

static int by_layout(const struct xb_record_case *a, const struct xb_record_case *b,
                     const void *argument)
{
    (void)argument;
    return strcmp(xb_record_parameter(a, "layout"), xb_record_parameter(b, "layout"));
}

/* Fills in the pieces from cases of one layout, of which the first one's pitch and offsets stand
 * for that layout; false where they were copied one way only, which is no comparison. */
static bool read_pieces(struct group *group, const struct xb_record_case *const *cases,
                        size_t count)
{
    static const char *const same[] = {"pitch", "host-offset", "device-offset"};
    struct xb_reading *reading = group->reading;
    bool has_other_ways = false;
    for (size_t i = 0; i < count; i++) {
        const struct xb_record_case *test = cases[i];
        struct piece *piece = group->pieces, *end = piece + group->count;
        uint64_t bytes = xb_reading_value(test, xb_option_piece.name);
        bool is_alike = bytes > 0 && !xb_case_is_in_grid(test);
        for (size_t k = 0; k < sizeof same / sizeof same[0]; k++)
            is_alike = is_alike && strcmp(xb_record_parameter(test, same[k]),
                                          xb_record_parameter(group->of, same[k])) == 0;
        if (!is_alike)
            continue;
        has_other_ways = has_other_ways || strcmp(test->variant, group->of->variant) != 0;
        while (piece < end && piece->bytes < bytes)
            piece++;
        if (piece == end || piece->bytes != bytes) {
            if (group->count == MOST_PIECES)
                continue;
            memmove(piece + 1, piece, (size_t)(end - piece) * sizeof *piece);
            *piece = (struct piece){.bytes = bytes};
            group->count++;
        }
        piece->best = xb_reading_faster(reading, piece->best, test);
        if (strcmp(test->variant, "each") == 0)
            piece->each = xb_reading_faster(reading, piece->each, test);
        if (strcmp(test->variant, "call") == 0)
            piece->call = xb_reading_faster(reading, piece->call, test);
    }
    return has_other_ways;
}

/* "a kernel", "one call". */
static const char *words_of(const struct xb_record_case *test)
{
    static const struct xb_variant_name names[] = {
        {"each", "a copy a piece"}, {"call", "one call"},     {"graph", "a graph"},
        {"kernel", "a kernel"},     {"pitched", "a 2D copy"}, {"bulk", "bulk copies"},
        {NULL, "packing"}};
    const struct xb_variant_name *name = names;
    while (name->variant != NULL && strcmp(name->variant, test->variant) != 0)
        name++;
    return name->name;
}

/* "Fastest to the GPU: a kernel for 512 B to 512 KiB, one call from 1 MiB on." Names the layout
 * where it is not the only one. */
static void add_winners(const struct group *group)
{
    struct xb_reading *reading = group->reading;
    const struct piece *end = group->pieces + group->count;
    const char *before = ":";
    for (const struct piece *piece = group->pieces; piece < end; piece++)
        for (int i = 0; i < 2; i++) { /* the best way's number, and that of a copy a piece */
            const struct xb_record_case *test = i == 0 ? piece->best : piece->each;
            char name[80];
            if (test == NULL || (i > 0 && test == piece->best))
                continue;
            snprintf(name, sizeof name, "%s_bandwidth_%" PRIu64, test->variant, piece->bytes);
            xb_tell(reading, "{case}{+rate:*=bandwidth}", test, name);
        }
    xb_tell(reading, "Fastest {to}[ ({text})]", group->of,
            group->is_one_of_several ? xb_record_parameter(group->of, "layout") : NULL);
    for (const struct piece *first = group->pieces, *last; first < end; first = last + 1) {
        last = first;
        while (last + 1 < end && strcmp(last[1].best->variant, first->best->variant) == 0)
            last++;
        bool is_from = first > group->pieces && last + 1 == end;
        xb_tell(reading, "{text} {text} {text} {size}", before, words_of(first->best),
                is_from ? "from" : "for", first->bytes);
        if (is_from)
            xb_tell(reading, " on");
        else if (last > first)
            xb_tell(reading, " to {size}", last->bytes);
        before = ",";
    }
    xb_tell(reading, ".");
}

/* How many times as fast as a copy a piece a case is, if that is certain; else 0. */
static double sure_gain(const struct group *group, const struct piece *piece,
                        const struct xb_record_case *test)
{
    double gain = xb_reading_ratio(group->reading, test, piece->each);
    return gain >= XB_WORTH_SAYING &&
                   xb_reading_judge(group->reading, test, piece->each) == XB_READING_FASTER
               ? gain
               : 0;
}

/* For which of the pieces one copy each will do. */
static void add_each(const struct group *group)
{
    struct xb_reading *reading = group->reading;
    const struct piece *worst = group->pieces; /* where it costs most */
    const struct piece *from = NULL;           /* it is enough for all from this one on */
    size_t known = 0, good = 0; /* pieces that were copied so, and where that is good enough */
    double most = 0;
    for (const struct piece *piece = group->pieces; piece < group->pieces + group->count; piece++) {
        double gain = xb_reading_ratio(reading, piece->best, piece->each);
        if (!isfinite(gain))
            continue;
        bool is_good = 1 / gain >= GOOD_ENOUGH;
        worst = gain > most ? piece : worst;
        most = fmax(most, gain);
        known++;
        good += is_good;
        from = !is_good ? NULL : from == NULL ? piece : from;
    }
    const char *of_all = known == group->count && known > 1 ? " for all of these" : "";
    if (known == 0)
        return;
    if (good < known) {
        if (group->count > 1)
            xb_tell(reading, " For {size} the best", worst->bytes);
        else
            xb_tell(reading, " That");
        xb_tell(reading, "{+size:worst_piece} is {factor:gain_at_worst} as fast as a copy a piece.",
                worst->bytes, most);
        double call = sure_gain(group, worst, worst->call);
        double other = worst->best != worst->call ? sure_gain(group, worst, worst->best) : 0;
        xb_remedy_if_worth(reading, XB_EFFORT_LINES, fmax(call, other),
                           "Do not copy pieces of {size} one by one: [one call, {call}, is "
                           "{factor} as fast][{text}{text} is {factor} as fast].",
                           worst->bytes, XB_CALL_COPY_BATCH, call, call > 0 ? ", " : "",
                           words_of(worst->best), other);
    }
    if (group->count == 1 && good == 0)
        return;
    if (good == 0 || good == group->count)
        xb_tell(reading, " A copy a piece is {text}{text}.", good == 0 ? "too slow" : "good enough",
                of_all);
    else if (from == NULL)
        xb_tell(reading, " A copy a piece is good enough for some of these only.");
    else
        xb_tell(reading, " A copy a piece is good enough from {size} on.", from->bytes);
    xb_tell(reading, "[{+size:each_is_enough_from}]", from != NULL ? from->bytes : 0);
}

static void say_pieces(struct xb_reading *reading)
{
    for (enum xb_direction direction = XB_H2D; direction <= XB_D2H; direction <<= 1) {
        const struct xb_choice choice = {.direction = direction};
        const struct xb_record_cases all =
            xb_reading_group(reading, xb_is_chosen, by_layout, &choice);
        for (size_t k = 0, equal = 0; k < all.count; k += equal) {
            equal = xb_cases_equal(all.cases + k, all.count - k, by_layout, NULL);
            struct group group = {
                .reading = reading, .of = all.cases[k], .is_one_of_several = equal < all.count};
            if (!read_pieces(&group, all.cases + k, equal))
                continue;
            xb_tell_next(reading);
            add_winners(&group);
            add_each(&group);
        }
    }
}

/* ---- a grid of pieces and numbers of them ---- */

/* "a kernel", "one call", "calls of 4096 pieces". */
static const char *way_of(const struct xb_record_case *test, char *text, size_t size)
{
    uint64_t a_call = xb_way_call_pieces(test);
    if (a_call == 0)
        return words_of(test);
    snprintf(text, size, "calls of %" PRIu64 " pieces", a_call);
    return text;
}

/* Adds " (24 KiB or more" or ", 64 to 1024": which part of an axis with so many places; nothing
 * where it is all. Returns what stands before the next. */
static const char *add_range(struct xb_reading *reading, const char *before, const size_t ends[2],
                             size_t count, char (*texts)[32])
{
    const bool is_least = ends[0] == 0, is_most = ends[1] + 1 == count;
    if (is_least && is_most)
        return before;
    xb_tell(reading, "{text}{text}", before, texts[is_least]);
    if (is_least || is_most)
        xb_tell(reading, is_most ? " or more" : " or less");
    else if (ends[0] < ends[1])
        xb_tell(reading, " to {text}", texts[1]);
    return ", ";
}

/* In how many cells a way is the fastest, and beyond which rows and columns in none. */
struct wins {
    char way[48];
    const struct xb_record_case *test;
    size_t count, rows[2], columns[2];
};

static struct wins count_wins(const struct xb_piece_grid *grid, const struct xb_record_case *test)
{
    struct wins wins = {.test = test, .rows = {SIZE_MAX, 0}, .columns = {SIZE_MAX, 0}};
    char own[48], text[48];
    snprintf(wins.way, sizeof wins.way, "%s", way_of(test, own, sizeof own));
    XB_EACH (cell, grid->cells, grid->cell_count) {
        if (strcmp(way_of(cell->ways[0].test, text, sizeof text), wins.way) != 0)
            continue;
        wins.count++;
        wins.rows[0] = xb_lesser(wins.rows[0], cell->row);
        wins.rows[1] = cell->row;
        wins.columns[0] = xb_lesser(wins.columns[0], cell->column);
        wins.columns[1] = xb_larger(wins.columns[1], cell->column);
    }
    return wins;
}

#define MOST_TOLD 2 /* ways; there is no room for more in an answer */

/* Adds "Fastest to the GPU, of 63 cells: a kernel in 41, one call in 12 (32 KiB or more, x 1024 or
 * less), others in 10." */
static void add_grid_winners(struct xb_reading *reading, const struct xb_piece_grid *grid)
{
    struct wins told[MOST_TOLD] = {{.count = 0}};
    size_t rest = grid->cell_count;
    xb_tell(reading, "Fastest {to}, of {whole} cells:", grid->of, (double)rest);
    for (size_t t = 0; t < MOST_TOLD && rest > 0; t++) {
        struct wins *most = &told[t];
        char ends[4][32];
        XB_EACH (cell, grid->cells, grid->cell_count) {
            struct wins wins = count_wins(grid, cell->ways[0].test);
            if (wins.count > most->count && (t == 0 || strcmp(wins.way, told[0].way) != 0))
                *most = wins;
        }
        rest -= most->count;
        for (int i = 0; i < 2; i++) {
            xb_size_format(grid->pieces[most->rows[i]], ends[i], sizeof ends[i]);
            snprintf(ends[2 + i], sizeof ends[i], "x %" PRIu64, grid->numbers[most->columns[i]]);
        }
        xb_tell(reading, "{text} {text} in {whole}{case}", t > 0 ? "," : "", most->way,
                (double)most->count, most->test);
        const char *before = add_range(reading, " (", most->rows, grid->row_count, ends);
        before = add_range(reading, before, most->columns, grid->column_count, ends + 2);
        xb_tell(reading, before[0] == ',' ? ")" : "");
    }
    if (rest > 0)
        xb_tell(reading, ", others in {whole}", (double)rest);
    xb_tell(reading, ".");
}

/* Two ways of the cell where one is faster than the other by most, for certain. */
struct gap {
    const struct xb_cell_way *fast, *slow;
    double gain;
};

static void widen(const struct xb_reading *reading, struct gap *gap, const struct xb_cell_way *fast,
                  const struct xb_cell_way *slow)
{
    double gain = fast->rate.median / slow->rate.median;
    if (gain > gap->gain && xb_reading_judge(reading, fast->test, slow->test) == XB_READING_FASTER)
        *gap = (struct gap){fast, slow, gain};
}

/* Says which way is the fastest where, what the slowest costs, and what it gains to call with fewer
 * pieces than all. */
static void say_grid(void *argument, const struct xb_piece_grid *grid)
{
    struct xb_reading *reading = argument;
    struct gap all = {.gain = 0}, cut = {.gain = 0};
    size_t several = 0;
    char text[48];
    XB_EACH (cell, grid->cells, grid->cell_count) {
        const struct xb_cell_way *parts = NULL, *whole = NULL;
        for (size_t k = cell->count; k-- > 0;) /* the fastest last */
            if (strcmp(cell->ways[k].test->variant, "call") == 0)
                *(xb_way_call_pieces(cell->ways[k].test) > 0 ? &parts : &whole) = &cell->ways[k];
        if (parts != NULL && whole != NULL)
            widen(reading, &cut, parts, whole);
        several += cell->count > 1;
        widen(reading, &all, cell->ways, cell->ways + cell->count - 1);
    }
    if (several == 0 || grid->of->device != reading->device)
        return; /* cells of one way are no comparison */
    xb_tell_next(reading);
    add_grid_winners(reading, grid);
    if (all.slow != NULL)
        xb_tell(reading,
                " The slowest way measured takes up to {factor:most_loss} as long "
                "({text}{case}{case}, {size} x {whole}).",
                all.gain, way_of(all.slow->test, text, sizeof text), all.slow->test, all.fast->test,
                all.slow->piece, (double)all.slow->pieces);
    if (cut.slow == NULL || cut.gain < XB_WORTH_SAYING)
        return;
    xb_tell(reading,
            " At {size} x {whole}{case}, {text} are {speed:cut_gain} as one call of all.{case}",
            cut.slow->piece, (double)cut.slow->pieces, cut.slow->test,
            way_of(cut.fast->test, text, sizeof text), cut.gain, cut.fast->test);
    xb_remedy(reading, XB_EFFORT_LINES, cut.gain,
              "Give {call} at most {whole} pieces at a time: {gain} as fast as all {whole} pieces "
              "of {size} in one call.",
              XB_CALL_COPY_BATCH, (double)xb_way_call_pieces(cut.fast->test),
              (double)cut.slow->pieces, cut.slow->piece);
}

static void say_grids(struct xb_reading *reading)
{
    xb_piece_grids_each(reading->record, say_grid, reading);
}

void xb_batch_answer(struct xb_reading *reading)
{
    uint64_t bytes = reading->entry.bytes;
    reading->entry.bytes = 0; /* a grid is of many sizes */
    say_grids(reading);
    if (reading->words.length > 0)
        return;
    reading->entry.bytes = bytes;
    say_pieces(reading);
}

static void say_tax(struct xb_reading *reading)
{
    static const struct xb_choice by_kernel = {.variant = "kernel"};
    const struct xb_record_cases all = xb_reading_group(reading, xb_is_chosen, NULL, &by_kernel);
    const struct xb_record_case *least = NULL, *most = NULL;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < all.count; i++) {
        double tax = xb_reading_median(reading, all.cases[i], &xb_figure_sm_tax);
        least = tax < low ? all.cases[i] : least;
        most = tax > high ? all.cases[i] : most;
        low = fmin(low, tax);
        high = fmax(high, tax);
    }
    if (least == NULL)
        return;
    xb_tell(reading, "While the batch kernel copies, others compute {share:tax_low}", low);
    if (least != most)
        xb_tell(reading, " to {share}", high);
    xb_tell(reading, " slower.{+share:tax_high}{case}{case}", high, least, most);
}

const struct xb_reading_line xb_batch_reading[] = {
    {.label = "pieces", .code = "XB-PIECES", .say = say_pieces},
    {.label = "grid", .code = "XB-PIECE-GRID", .say_of_sizes = say_grids},
    {.label = "sm tax", .code = "XB-SM-TAX", .say = say_tax},
    XB_LINE("alignment", "XB-ALIGNMENT", xb_alignment_say, NULL),
    {.label = NULL},
};
