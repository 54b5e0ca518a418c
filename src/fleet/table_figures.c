/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a histogram of each figure, and lists the figures that could not be judged. */
#define _POSIX_C_SOURCE 200809L
#include "internal.h"
#include "table_internal.h"

#include <string.h>

#define MIDDLE (XB_FLEET_BINS / 2)
#define UNJUDGED 5 /* figures that are named */

/* ---- which figure it is ---- */

static bool is_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Whether another figure would have the same title without its driver and options. */
static bool is_ambiguous(const struct xb_fleet_judgement *judgement, size_t index)
{
    const struct xb_fleet_figure *figures = judgement->fleet->figures;
    const struct xb_fleet_figure *figure = &figures[judgement->siblings[index].figure];
    for (size_t i = 0; i < judgement->sibling_count; i++) {
        const struct xb_fleet_figure *other = &figures[judgement->siblings[i].figure];
        if (i != index && is_same(figure->name, other->name) &&
            is_same(figure->model, other->model) && is_same(figure->link, other->link))
            return true;
    }
    return false;
}

static void add_known(struct xb_words *words, const char *before, const char *text)
{
    if (text != NULL && text[0] != '\0')
        xb_words_add(words, "%s%.200s", before, text);
}

/* "link h2d, NVIDIA H200, Gen5 x16" */
static void add_title(struct xb_words *words, const struct xb_fleet_judgement *judgement,
                      size_t index)
{
    const struct xb_fleet_figure *figure =
        &judgement->fleet->figures[judgement->siblings[index].figure];
    char name[512];
    xb_words_add(words, "%s", xb_fleet_figure_text(figure, name, sizeof name));
    if (!is_ambiguous(judgement, index))
        return;
    add_known(words, ", ", figure->backend);
    add_known(words, ", driver ", figure->driver);
    add_known(words, ", ", figure->options);
}

/* ---- the line ---- */

/* The bins from the least value to the most, as cells of a line. */
struct drawn {
    size_t cells[XB_FLEET_BINS];
    size_t first, last; /* that have values, or the median */
    size_t middle, most;
};

static void merge(const struct xb_fleet_siblings *siblings, size_t step, struct drawn *drawn)
{
    /* One cell for `step` bins, the middle ones in the middle. */
    size_t side = (MIDDLE - step / 2 + step - 1) / step;
    size_t count = 2 * side + 1;
    memset(drawn->cells, 0, count * sizeof *drawn->cells);
    for (size_t i = 0; i < XB_FLEET_BINS; i++)
        drawn->cells[(i + side * step + step / 2 - MIDDLE) / step] += siblings->bins[i];
    drawn->middle = count / 2;
    drawn->first = drawn->last = drawn->middle;
    drawn->most = 1;
    for (size_t i = 0; i < count; i++) {
        if (drawn->cells[i] == 0)
            continue;
        drawn->first = i < drawn->first ? i : drawn->first;
        drawn->last = i > drawn->last ? i : drawn->last;
        drawn->most = drawn->cells[i] > drawn->most ? drawn->cells[i] : drawn->most;
    }
}

/* "  49.90 GB/s [.    :@=   ] 60.98 GB/s", and the median's place below it. */
static void put_histogram(const struct xb_fleet_view *view,
                          const struct xb_fleet_siblings *siblings, const char *unit)
{
    bool with_blocks = xb_locale_has_utf8();
    struct drawn drawn;
    char least[64], most[64], median[64];
    xb_fleet_table_value(unit, siblings->least, least);
    xb_fleet_table_value(unit, siblings->most, most);
    xb_fleet_table_value(unit, siblings->centre, median);
    size_t before = 2 + strlen(least) + 2;
    size_t behind = 2 + strlen(most);
    merge(siblings, 1, &drawn);
    /* An odd number of bins in each cell: the median stays in the middle of its own. */
    for (size_t step = 3; before + drawn.last - drawn.first + 1 + behind > view->columns; step += 2)
        if (step < XB_FLEET_BINS)
            merge(siblings, step, &drawn);
        else
            break;
    fprintf(view->stream, "  %s [", least);
    for (size_t i = drawn.first; i <= drawn.last; i++) {
        /* Each value shows: one of thousands is the lowest block, and not nothing. */
        static const char marks[] = " .:-=+*#@";
        size_t height = drawn.cells[i] == 0
                            ? 0
                            : 1 + (size_t)(7.0 * (double)drawn.cells[i] / (double)drawn.most);
        if (with_blocks && height > 0)
            fprintf(view->stream, "\xE2\x96%c", (int)(0x80 + height)); /* U+2581 to U+2588 */
        else
            fputc(marks[height], view->stream);
    }
    fprintf(view->stream, "] %s\n", most);
    fprintf(view->stream, "%*s^ %s\n", (int)(before + drawn.middle - drawn.first), "", median);
}

static void put_judged(const struct xb_fleet_view *view, size_t index)
{
    const struct xb_fleet_siblings *siblings = &view->judgement->siblings[index];
    const struct xb_fleet_figure *figure = &view->judgement->fleet->figures[siblings->figure];
    struct xb_words words = {.length = 0};
    char spread[32], from[32];
    fputc('\n', view->stream);
    add_title(&words, view->judgement, index);
    xb_fleet_table_put(view, XB_COLOUR_TITLE, "%s", words.text);
    put_histogram(view, siblings, figure->unit);
    words = (struct xb_words){.length = 0};
    xb_words_add(&words, "%s values of %s node%s; spread %s%s; ", COUNT(siblings->values),
                 COUNT(siblings->nodes), siblings->nodes == 1 ? "" : "s",
                 xb_fleet_table_share(siblings->spread, false, spread, sizeof spread),
                 siblings->is_floor ? " (the least that is assumed)" : "");
    if (siblings->named_from < 1 || !figure->more_is_better) /* no rate is below 0 */
        xb_words_add(&words, "named from %s off%s",
                     xb_fleet_table_share(siblings->named_from, false, from, sizeof from),
                     siblings->slots_differ > 0 ? " in its slot" : "");
    else
        xb_words_add(&words, "too few and too scattered to name a slow one");
    if (siblings->slow > 0)
        xb_words_add(&words, "; %s slow", COUNT(siblings->slow));
    if (siblings->fast > 0)
        xb_words_add(&words, "; %s fast", COUNT(siblings->fast));
    xb_fleet_table_put(view, XB_COLOUR_NONE, "  %s.", words.text);
}

/* ---- those without siblings ---- */

static void put_unjudged(const struct xb_fleet_view *view)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    struct xb_words words = {.length = 0};
    size_t count = 0;
    bool is_named = view->verbose || judgement->tests == 0; /* the answer says why */
    for (size_t i = 0; i < judgement->sibling_count; i++) {
        if (judgement->siblings[i].judged || count++ >= UNJUDGED)
            continue;
        xb_words_add(&words, "%s", words.length > 0 ? "; " : "");
        add_title(&words, judgement, i);
        xb_words_add(&words, " (%s)", COUNT(judgement->siblings[i].values));
    }
    if (count == 0)
        return;
    if (count > UNJUDGED)
        xb_words_add(&words, "; and %s more: --format json", COUNT(count - UNJUDGED));
    fputc('\n', view->stream);
    xb_fleet_table_put(
        view, XB_COLOUR_NONE, "Not judged: %s figure%s that fewer than %d GPUs measured alike%s%s.",
        COUNT(count), count == 1 ? "" : "s", XB_FLEET_SIBLINGS + 1,
        is_named ? " (number of values): " : ": --verbose", is_named ? words.text : "");
}

/* Figures with a named GPU come first. */
void xb_fleet_table_figures(const struct xb_fleet_view *view)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    for (int named = 1; named >= 0 && view->verbose; named--)
        for (size_t i = 0; i < judgement->sibling_count; i++) {
            const struct xb_fleet_siblings *of = &judgement->siblings[i];
            if (of->judged && (of->slow + of->fast > 0) == (named > 0))
                put_judged(view, i);
        }
    put_unjudged(view);
}
