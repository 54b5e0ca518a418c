/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "fleet/internal.h"
#include "formats.h"

#include "base/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 30 /* that a terminal shows at most; a file gets all of them */
#define LEFT_OUT_TOLD 10
#define INDENT 2 /* of further lines, by xb_lines_print() */

/* ---- what all parts share ---- */

const char *xb_fleet_table_value(const char *unit, double value, char text[64])
{
    if (!isfinite(value))
        return "-";
    xb_fleet_value_text(value, unit, true, text);
    xb_make_plain(text); /* a document may name any unit */
    return text;
}

const char *xb_fleet_table_share(double share, bool with_sign, char *text, size_t size)
{
    double percent = 100.0 * share;
    if (!isfinite(share))
        return "-";
    snprintf(text, size, with_sign ? "%+.*f %%" : "%.*f %%", fabs(percent) < 0.995 ? 2 : 1,
             percent);
    return text;
}

const char *xb_fleet_table_count(size_t count, char text[32])
{
    char digits[24];
    size_t used = 0;
    size_t length = (size_t)snprintf(digits, sizeof digits, "%zu", count);
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

void xb_fleet_table_add_gpu(struct xb_fleet_gpus *gpus, const struct xb_fleet_gpu *gpu)
{
    uint64_t bit = gpu->index < 64 ? UINT64_C(1) << gpu->index : 0;
    gpus->count += (gpus->indices & bit) == 0;
    gpus->indices |= bit;
}

const char *xb_fleet_table_indices(const struct xb_fleet_gpus *gpus, char text[XB_FLEET_INDICES])
{
    size_t listed = 0, length = 0;
    text[0] = '\0';
    for (unsigned first = 0, end = 0; first < 64; first = end + 1) {
        for (end = first; end < 64 && (gpus->indices >> end & 1) != 0; end++)
            listed++;
        if (end == first)
            continue;
        length += (size_t)snprintf(text + length, XB_FLEET_INDICES - length,
                                   end - first > 1 ? "%s%u-%u" : "%s%u", length > 0 ? ", " : "",
                                   first, end - 1);
        if (length >= XB_FLEET_INDICES)
            return "";
    }
    return listed == gpus->count ? text : "";
}

#define PLURAL(count) ((count) == 1 ? "" : "s")

/* ---- the answer: a sentence for each reason ---- */

/* Those with one code, that many have together or not. */
struct told {
    const char **names; /* of their nodes, each once */
    size_t count, findings;
    const struct xb_fleet_finding *worst;
    struct xb_fleet_gpus gpus; /* of the node, where it is one */
};

static void gather(const struct xb_fleet_judgement *judgement, enum xb_fleet_code code,
                   bool together, struct told *told)
{
    const struct xb_fleet_gpu *gpus = judgement->fleet->gpus;
    size_t found = 0;
    told->gpus = (struct xb_fleet_gpus){.count = 0};
    for (size_t i = 0; i < judgement->finding_count; i++) {
        const struct xb_fleet_finding *finding = &judgement->findings[i];
        if (finding->code != code || (finding->together && !finding->unsure) != together)
            continue;
        told->worst = found == 0 ? finding : told->worst;
        told->names[found++] = finding->node;
        if (finding->gpu != XB_FLEET_NONE && xb_fleet_table_is_row(judgement, i))
            xb_fleet_table_add_gpu(&told->gpus, &gpus[finding->gpu]);
    }
    for (size_t i = 0; told->gpus.count > 0 && i < judgement->fleet->gpu_count; i++)
        told->gpus.all += !gpus[i].is_gone && gpus[i].node == gpus[told->worst->gpu].node;
    told->findings = found;
    told->count = xb_fleet_sort_names(told->names, found);
}

/* ", all 8 GPUs, up to 6.8 % below the others" */
static void add_deviation(struct xb_words *words, const struct xb_fleet_view *view,
                          const struct told *told)
{
    const struct xb_fleet_gpus *gpus = &told->gpus;
    const char *list = xb_fleet_table_indices(gpus, (char[XB_FLEET_INDICES]){0});
    if (told->count == 1 && gpus->all > 1 && gpus->count == gpus->all)
        xb_words_add(words, ", all %zu GPUs", gpus->all);
    else if (told->count == 1 && gpus->all > 1 && list[0] != '\0')
        xb_words_add(words, ", GPU%s %s", PLURAL(gpus->count), list);
    else if (told->count == 1 && gpus->all > 1)
        xb_words_add(words, ", %zu of %zu GPUs", gpus->count, gpus->all);
    const struct xb_fleet_figure *figure = &view->judgement->fleet->figures[told->worst->figure];
    xb_words_add(words, ", %s%s %s the others", told->findings > 1 ? "up to " : "",
                 XB_FLEET_SHARE(fabs(told->worst->deviation)),
                 !figure->more_is_better      ? "off"
                 : told->worst->deviation < 0 ? "below"
                                              : "above");
}

/* "1 of 497 nodes is slow: gpu00017, all 8 GPUs, 4.5 % below the others." */
static void write_code(const struct xb_fleet_view *view, const struct told *told, bool together,
                       struct xb_arena **arena)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    enum xb_fleet_code code = told->worst->code;
    size_t all =
        code == XB_FLEET_MISSING ? judgement->request.expected_count : judgement->fleet->node_count;
    struct xb_words words = {.length = 0};
    size_t left_out = 0;
    const char *list = xb_hostlist_compress(told->names, told->count, arena, &left_out);
    xb_words_add(&words, "%s of %s node%s %s", XB_FLEET_COUNT(told->count), XB_FLEET_COUNT(all),
                 PLURAL(all),
                 told->count == 1 ? xb_fleet_sayings[code].of_one : xb_fleet_sayings[code].of_many);
    if (together)
        xb_words_add(&words, ", too many for single faults: look for one cause (a setting, the "
                             "launcher, a deadline) before you drain any for it");
    else
        xb_words_add(&words, ": %s",
                     left_out == 0 && strlen(list) < view->prose
                         ? list
                         : XB_FLEET_NAMES(told->names, told->count));
    if (!together && told->worst->figure != XB_FLEET_NONE)
        add_deviation(&words, view, told);
    table_print_in(view, xb_fleet_is_to_drain(told->worst) ? XB_COLOUR_BAD : XB_COLOUR_WARNING,
                   "%s.", words.text);
}

/* The worst first, but for what is missing: nobody knows how bad that is. */
static void write_codes(const struct xb_fleet_view *view)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    struct told told = {.names = xb_new(judgement->finding_count, sizeof(const char *))};
    struct xb_arena *arena = NULL;
    for (int i = 0; i < 2 * XB_FLEET_CODES; i++) {
        enum xb_fleet_code code = (enum xb_fleet_code)(i / 2);
        code = code < XB_FLEET_SLOW ? code + 1 : code == XB_FLEET_SLOW ? XB_FLEET_MISSING : code;
        gather(judgement, code, i % 2 > 0, &told);
        if (told.findings > 0)
            write_code(view, &told, i % 2 > 0, &arena);
    }
    xb_arena_free(arena);
    free(told.names);
}

/* What must be known before the rest is believed. */
static void write_limits(const struct xb_fleet_view *view)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    const struct xb_fleet *fleet = judgement->fleet;
    size_t unsure = 0;
    for (size_t i = 0; i < judgement->finding_count; i++)
        unsure += judgement->findings[i].unsure;
    if (judgement->judged_gpus < fleet->gpu_count)
        table_print_in(view, XB_COLOUR_WARNING, "%s of %s GPUs could be judged by their siblings.",
                       judgement->judged_gpus == 0 ? "None"
                                                   : XB_FLEET_COUNT(judgement->judged_gpus),
                       XB_FLEET_COUNT(fleet->gpu_count));
    if (fleet->unread_count > 0 && fleet->source_count > 0)
        table_print_in(view, XB_COLOUR_WARNING, "%s file%s could not be read (below).",
                       XB_FLEET_COUNT(fleet->unread_count), PLURAL(fleet->unread_count));
    if (unsure > 0 && unsure == judgement->request.expected_count)
        table_print_in(view, XB_COLOUR_WARNING,
                       "None of the expected nodes is there: are the names and the folder "
                       "right? The first file is of %.100s",
                       fleet->node_count > 0 ? fleet->nodes[0].name : "");
    else if (unsure > 0)
        table_print_in(view, XB_COLOUR_WARNING,
                       "Missing nodes may have written the files that could not be read: look "
                       "at them before you drain any.");
}

/* Names them if their names have room in a line. */
static void write_drained(const struct xb_fleet_view *view)
{
    struct xb_drain_list list;
    xb_fleet_drain_list(view->judgement, &list);
    struct xb_words left_out = {.length = 0};
    if (list.left_out > 0)
        xb_words_add(&left_out, ", but for %s with a name that no scheduler takes",
                     XB_FLEET_COUNT(list.left_out));
    if (list.count == 0)
        table_print(view, "Drain: no node.");
    else if (list.left_out == 0 && strlen(list.text) + INDENT <= view->prose)
        table_print(view, "Drain: %s (for a script: --format nodelist)", list.text);
    else
        table_print(view, "Drain: %s node%s, which --format nodelist names for Slurm%s.",
                    XB_FLEET_COUNT(list.count), PLURAL(list.count), left_out.text);
    xb_arena_free(list.arena);
}

static void write_answer(const struct xb_fleet_view *view)
{
    int code = xb_fleet_exit_code(view->judgement);
    if (code == 2) {
        table_print_in(view, XB_COLOUR_BAD, "No file could be read: nothing was judged.");
    } else if (code == 3) {
        table_print_in(view, XB_COLOUR_WARNING, "Too few siblings: nothing was judged.");
        table_print(view,
                    "To judge a value fleet needs at least %d others with the same figure, model, "
                    "link, driver and options. Give it the files of more nodes.",
                    XB_FLEET_SIBLINGS);
    } else if (view->judgement->finding_count == 0) {
        const struct xb_fleet_judgement *judgement = view->judgement;
        const struct xb_fleet *fleet = judgement->fleet;
        bool is_whole = judgement->judged_gpus == fleet->gpu_count;
        table_print_in(view, fleet->unread_count > 0 ? XB_COLOUR_WARNING : XB_COLOUR_GOOD,
                       "%s%s GPU%s on %s node%s are like their siblings.", is_whole ? "All " : "",
                       XB_FLEET_COUNT(judgement->judged_gpus), PLURAL(judgement->judged_gpus),
                       XB_FLEET_COUNT(fleet->node_count), PLURAL(fleet->node_count));
        write_limits(view);
    } else {
        write_codes(view);
        write_limits(view);
        write_drained(view);
    }
}

static void write_left_out(const struct xb_fleet_view *view)
{
    const struct xb_fleet *fleet = view->judgement->fleet;
    size_t told = fleet->left_out_count < LEFT_OUT_TOLD ? fleet->left_out_count : LEFT_OUT_TOLD;
    if (told == 0)
        return;
    fputc('\n', view->stream);
    table_print_in(view, XB_COLOUR_WARNING, "Left out: %s file%s",
                   XB_FLEET_COUNT(fleet->left_out_count), PLURAL(fleet->left_out_count));
    for (size_t i = 0; i < told; i++)
        table_print(view, "%.300s: %.1000s", fleet->left_out[i].what, fleet->left_out[i].why);
    if (fleet->left_out_count > told)
        table_print(view, "and %s more: --format json",
                    XB_FLEET_COUNT(fleet->left_out_count - told));
}

/* ---- figures: a histogram of each, and those that could not be judged ---- */

#define MIDDLE (XB_FLEET_BINS / 2)
#define UNJUDGED 5 /* figures that are named */

/* "link h2d, NVIDIA H200, Gen5 x16" */
static void add_title(struct xb_words *words, const struct xb_fleet_judgement *judgement,
                      size_t index)
{
    const struct xb_fleet_figure *figure =
        &judgement->fleet->figures[judgement->siblings[index].figure];
    xb_words_add(words, "%s", xb_fleet_figure_text(figure, (char[512]){0}, 512));
    /* Whether another figure would have the same title without its driver and options. */
    bool is_ambiguous = false;
    for (size_t i = 0; i < judgement->sibling_count; i++) {
        const struct xb_fleet_figure *other =
            &judgement->fleet->figures[judgement->siblings[i].figure];
        is_ambiguous =
            is_ambiguous || (other != figure && figure->name == other->name &&
                             figure->model == other->model && figure->link == other->link);
    }
    if (!is_ambiguous)
        return;
    const char *const more[][2] = {
        {", ", figure->backend}, {", driver ", figure->driver}, {", ", figure->options}};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        if (more[i][1] != NULL && more[i][1][0] != '\0')
            xb_words_add(words, "%s%.200s", more[i][0], more[i][1]);
}

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
static void write_histogram(const struct xb_fleet_view *view,
                            const struct xb_fleet_siblings *siblings, const char *unit)
{
    bool with_blocks = xb_locale_has_utf8();
    struct drawn drawn;
    const char *least = XB_FLEET_VALUE(unit, siblings->least),
               *most = XB_FLEET_VALUE(unit, siblings->most);
    size_t before = 2 + strlen(least) + 2, behind = 2 + strlen(most);
    merge(siblings, 1, &drawn);
    /* An odd number of bins in each cell: the median stays in the middle of its own. */
    for (size_t step = 3;
         step < XB_FLEET_BINS && before + drawn.last - drawn.first + 1 + behind > view->columns;
         step += 2)
        merge(siblings, step, &drawn);
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
    fprintf(view->stream, "%*s^ %s\n", (int)(before + drawn.middle - drawn.first), "",
            XB_FLEET_VALUE(unit, siblings->centre));
}

static void write_judged(const struct xb_fleet_view *view, size_t index)
{
    const struct xb_fleet_siblings *siblings = &view->judgement->siblings[index];
    const struct xb_fleet_figure *figure = &view->judgement->fleet->figures[siblings->figure];
    struct xb_words words = {.length = 0};
    fputc('\n', view->stream);
    add_title(&words, view->judgement, index);
    table_print_in(view, XB_COLOUR_TITLE, "%s", words.text);
    write_histogram(view, siblings, figure->unit);
    words = (struct xb_words){.length = 0};
    xb_words_add(&words, "%s values of %s node%s; spread %s%s; ", XB_FLEET_COUNT(siblings->values),
                 XB_FLEET_COUNT(siblings->nodes), PLURAL(siblings->nodes),
                 XB_FLEET_SHARE(siblings->spread),
                 siblings->is_floor ? " (the least that is assumed)" : "");
    if (siblings->named_from < 1 || !figure->more_is_better) /* no rate is below 0 */
        xb_words_add(&words, "named from %s off%s", XB_FLEET_SHARE(siblings->named_from),
                     siblings->slots_differ > 0 ? " in its slot" : "");
    else
        xb_words_add(&words, "too few and too scattered to name a slow one");
    if (siblings->slow > 0)
        xb_words_add(&words, "; %s slow", XB_FLEET_COUNT(siblings->slow));
    if (siblings->fast > 0)
        xb_words_add(&words, "; %s fast", XB_FLEET_COUNT(siblings->fast));
    table_print(view, "  %s.", words.text);
}

static void write_unjudged(const struct xb_fleet_view *view)
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
        xb_words_add(&words, " (%s)", XB_FLEET_COUNT(judgement->siblings[i].values));
    }
    if (count == 0)
        return;
    if (count > UNJUDGED)
        xb_words_add(&words, "; and %s more: --format json", XB_FLEET_COUNT(count - UNJUDGED));
    fputc('\n', view->stream);
    table_print(view, "Not judged: %s figure%s that fewer than %d GPUs measured alike%s%s.",
                XB_FLEET_COUNT(count), PLURAL(count), XB_FLEET_SIBLINGS + 1,
                is_named ? " (number of values): " : ": --verbose", is_named ? words.text : "");
}

/* ---- all of it ---- */

enum xb_status xb_fleet_table_write(FILE *stream, const struct xb_fleet_judgement *judgement,
                                    size_t columns, bool verbose, struct xb_error *error)
{
    struct xb_fleet_view view = {
        .stream = stream,
        .judgement = judgement,
        .columns = columns,
        .prose = columns < XB_PLAIN_COLUMNS ? columns : XB_PLAIN_COLUMNS,
        .verbose = verbose,
        .most_rows = xb_is_terminal(stream) && !verbose ? ROWS : SIZE_MAX,
    };
    write_answer(&view);
    /* Without any document each expected node is missing: only why there is none helps. */
    if (judgement->fleet->source_count > 0) {
        xb_fleet_table_findings(&view);
        /* Figures with a named GPU come first. */
        for (int named = 1; named >= 0 && verbose; named--)
            for (size_t i = 0; i < judgement->sibling_count; i++) {
                const struct xb_fleet_siblings *of = &judgement->siblings[i];
                if (of->judged && (of->slow + of->fast > 0) == (named > 0))
                    write_judged(&view, i);
            }
        write_unjudged(&view);
        if (judgement->note_count > 0)
            fputc('\n', stream);
        for (size_t i = 0; i < judgement->note_count; i++)
            table_print(&view, "Note: %s", judgement->notes[i]);
    }
    write_left_out(&view);
    return xb_stream_finish(stream, "the table", error);
}
