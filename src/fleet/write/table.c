/* SPDX-License-Identifier: Apache-2.0 */
/* The table for people: the answer, the findings, the figures, and what was left out. */
#define _POSIX_C_SOURCE 200809L
#include "fleet/internal.h"
#include "formats.h"

#include "base/stream.h"
#include "present/table.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 30 /* that a terminal shows at most; a file gets all of them */
#define LEFT_OUT_TOLD 10
#define INDENT 2      /* of further lines, by xb_lines_print() */
#define LEAST_NAME 16 /* of a node, where long ones are cut */
#define LONG_TEXT 48  /* of others: --format csv has them whole */

/* ---- what all parts share ---- */

struct view {
    FILE *stream;
    const struct xb_fleet_judgement *judgement;
    const struct xb_fleet *fleet;
    size_t columns;   /* width of a line */
    size_t prose;     /* width of a line of sentences */
    bool verbose;     /* the figures too, and all columns */
    size_t most_rows; /* that are printed */
};

/* Prints sentences, wrapped, in a colour or without. */
#define print_in(view, colour, ...)                                                                \
    xb_lines_print_in((view)->stream, (view)->prose, (colour), __VA_ARGS__)
#define print(view, ...) print_in(view, XB_COLOUR_NONE, __VA_ARGS__)
#define warn(view, ...) print_in(view, XB_COLOUR_WARNING, __VA_ARGS__)

/* "55.44 GB/s", "3.31 us"; "-" for NAN. */
#define VALUE(unit, value) value_text((unit), (value), (char[64]){0})
static const char *value_text(const char *unit, double value, char text[64])
{
    if (!isfinite(value))
        return "-";
    xb_fleet_value_text(value, unit, true, text);
    xb_make_plain(text); /* a document may name any unit */
    return text;
}

/* "12.3 %"; with one digit more if the share is small. */
#define SHARE(share) share_text((share), false, (char[32]){0})
static const char *share_text(double share, bool with_sign, char text[32])
{
    double percent = 100.0 * share;
    if (!isfinite(share))
        return "-";
    snprintf(text, 32, with_sign ? "%+.*f %%" : "%.*f %%", fabs(percent) < 0.995 ? 2 : 1, percent);
    return text;
}

/* "4,000" */
#define COUNT(count) count_text((count), (char[32]){0})
static const char *count_text(size_t count, char text[32])
{
    size_t length = (size_t)snprintf(text, 32, "%zu", count);
    for (size_t at = length; at > 3;) {
        at -= 3;
        memmove(text + at + 1, text + at, strlen(text + at) + 1);
        text[at] = ',';
    }
    return text;
}

/* GPUs of one node. */
struct gpus {
    size_t count;     /* how many */
    size_t all;       /* how many the node has */
    uint64_t indices; /* a bit for each index below 64 */
};

/* Adds a GPU, unless one of its index is there already. */
static void add_gpu(struct gpus *gpus, const struct xb_fleet_gpu *gpu)
{
    uint64_t bit = gpu->index < 64 ? UINT64_C(1) << gpu->index : 0;
    gpus->count += (gpus->indices & bit) == 0;
    gpus->indices |= bit;
}

/* Lists their indices: "2, 5-7". False for "all 8", and for "9 of 16" where there are too many to
 * list, or one has an index of 64 or more. */
#define INDICES 32
static bool list_gpus(const struct gpus *gpus, char text[INDICES])
{
    size_t listed = 0, length = 0;
    for (unsigned first = 0, end = 0; first < 64 && length < INDICES; first = end + 1) {
        for (end = first; end < 64 && (gpus->indices >> end & 1) != 0; end++)
            listed++;
        if (end > first)
            length += (size_t)snprintf(text + length, INDICES - length,
                                       end - first > 1 ? "%s%u-%u" : "%s%u", length > 0 ? ", " : "",
                                       first, end - 1);
    }
    if (gpus->count != gpus->all && listed == gpus->count && length < INDICES)
        return true;
    snprintf(text, INDICES, gpus->count == gpus->all ? "all %zu" : "%zu of %zu", gpus->count,
             gpus->all);
    return false;
}

/* Whether the finding begins a row. What a GPU has in several figures is one: the worst of them
 * stands for all, and the others follow it. */
static bool is_row(const struct xb_fleet_judgement *judgement, const struct xb_fleet_finding *own)
{
    const struct xb_fleet_finding *before = own > judgement->findings ? own - 1 : own;
    return before == own || own->figure == NULL || before->figure == NULL ||
           before->gpu != own->gpu || before->code != own->code ||
           before->together != own->together;
}

/* ---- the answer: a sentence for each reason ---- */

/* "1 of 497 nodes is slow: gpu00017, all 8 GPUs, up to 4.5 % below the others.": those with one
 * code, that many have together or not. `names` has room for a name of each finding. */
static void write_code(const struct view *view, enum xb_fleet_code code, bool together,
                       const char **names, struct xb_arena **arena)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    const struct xb_fleet *fleet = view->fleet;
    const struct xb_fleet_finding *worst = NULL;
    struct gpus gpus = {.count = 0}; /* of the node, where it is one */
    struct xb_words words = {.length = 0};
    size_t found = 0, left_out = 0;
    XB_EACH (finding, judgement->findings, judgement->finding_count) {
        if (finding->code != code || (finding->together && !finding->unsure) != together)
            continue;
        if (code == XB_FLEET_ALL_SLOWER) {
            warn(view, "%s.", finding->text);
            continue;
        }
        worst = found == 0 ? finding : worst;
        names[found++] = finding->node->name;
        if (finding->gpu != NULL && is_row(judgement, finding))
            add_gpu(&gpus, finding->gpu);
    }
    if (worst == NULL)
        return;
    size_t all = code == XB_FLEET_MISSING ? judgement->request.expected_count : fleet->node_count;
    size_t count = xb_fleet_sort_names(names, found);
    const char *list = xb_hostlist_compress(names, count, arena, &left_out);
    xb_words_add(&words, "%s of %s node%s %s", COUNT(count), COUNT(all), XB_PLURAL(all),
                 count == 1 ? xb_fleet_sayings[code].of_one : xb_fleet_sayings[code].of_many);
    if (together)
        xb_words_add(&words, ", too many for single faults: look for one cause (a setting, the "
                             "launcher, a deadline) before you drain any for it");
    else
        xb_words_add(&words, ": %s",
                     left_out == 0 && strlen(list) < view->prose ? list
                                                                 : XB_FLEET_NAMES(names, count));
    if (!together && worst->figure != NULL) {
        char indices[INDICES];
        for (size_t i = 0; i < fleet->gpu_count; i++)
            gpus.all += !fleet->gpus[i]->is_gone && fleet->gpus[i]->node == worst->node;
        if (list_gpus(&gpus, indices) && count == 1 && gpus.all > 1)
            xb_words_add(&words, ", GPU%s %s", XB_PLURAL(gpus.count), indices);
        else if (count == 1 && gpus.all > 1)
            xb_words_add(&words, ", %s GPUs", indices);
        const char *past = count == 1 ? "its own" : "their own";
        xb_words_add(&words, ", %s%s %s %s", found > 1 ? "up to " : "",
                     SHARE(fabs(worst->deviation)), worst->deviation < 0 ? "below" : "above",
                     code == XB_FLEET_BELOW_BASELINE ? past : "the others");
    }
    print_in(view, xb_fleet_is_to_drain(worst) ? XB_COLOUR_BAD : XB_COLOUR_WARNING, "%s.",
             words.text);
}

/* What must be known before the rest is believed. */
static void write_limits(const struct view *view)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    const struct xb_fleet *fleet = view->fleet;
    const size_t unsure = judgement->unsure;
    if (judgement->judged_gpus < fleet->gpu_count)
        warn(view, "%s of %s GPUs could be judged by their siblings.",
             judgement->judged_gpus == 0 ? "None" : COUNT(judgement->judged_gpus),
             COUNT(fleet->gpu_count));
    if (judgement->request.baseline != NULL && judgement->compared_gpus < fleet->gpu_count)
        warn(view, "%s of %s GPUs could be compared with the baseline.",
             COUNT(judgement->compared_gpus), COUNT(fleet->gpu_count));
    if (fleet->unread_count > 0 && fleet->source_count > 0)
        warn(view, "%s file%s could not be read (below).", COUNT(fleet->unread_count),
             XB_PLURAL(fleet->unread_count));
    if (unsure > 0 && unsure == judgement->request.expected_count)
        warn(view,
             "None of the expected nodes is there: are the names and the folder right? The first "
             "file is of %.100s",
             fleet->node_count > 0 ? fleet->nodes[0]->name : "");
    else if (unsure > 0)
        warn(view, "Missing nodes may have written the files that could not be read: look at them "
                   "before you drain any.");
}

static void write_answer(const struct view *view)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    const struct xb_fleet *fleet = view->fleet;
    int exit_code = xb_fleet_exit_code(judgement);
    struct xb_drain_list list;
    if (exit_code == 2) {
        print_in(view, XB_COLOUR_BAD, "No file could be read: nothing was judged.");
        return;
    }
    if (exit_code == 3) {
        warn(view, "Too few siblings: nothing was judged.");
        print(view,
              "To judge a value fleet needs at least %d others with the same figure, model, "
              "link, driver and options. Give it the files of more nodes.",
              XB_FLEET_SIBLINGS);
        return;
    }
    if (judgement->finding_count == 0 && judgement->compared > 0)
        print_in(view, XB_COLOUR_GOOD, "None of %s GPU%s (%s values) is below its baseline.",
                 COUNT(judgement->compared_gpus), XB_PLURAL(judgement->compared_gpus),
                 COUNT(judgement->compared));
    if (judgement->finding_count == 0 && judgement->tests > 0)
        print_in(view, fleet->unread_count > 0 ? XB_COLOUR_WARNING : XB_COLOUR_GOOD,
                 "%s%s GPU%s on %s node%s are like their siblings.",
                 judgement->judged_gpus == fleet->gpu_count ? "All " : "",
                 COUNT(judgement->judged_gpus), XB_PLURAL(judgement->judged_gpus),
                 COUNT(fleet->node_count), XB_PLURAL(fleet->node_count));
    xb_fleet_drain_list(judgement, &list);
    const char **names = xb_arena_new(&list.arena, judgement->finding_count * sizeof(char *));
    /* The worst first, but for what is missing: nobody knows how bad that is. */
    for (int i = 0; i < 2 * XB_FLEET_CODES; i++) {
        enum xb_fleet_code code = (enum xb_fleet_code)(i / 2);
        code = code < XB_FLEET_SLOW ? code + 1 : code == XB_FLEET_SLOW ? XB_FLEET_MISSING : code;
        write_code(view, code, i % 2 > 0, names, &list.arena);
    }
    write_limits(view);
    /* Those to drain, if their names have room in a line. */
    if (list.count > 0 && list.left_out == 0 && strlen(list.text) + INDENT <= view->prose)
        print(view, "Drain: %s (for a script: --format nodelist)", list.text);
    else if (list.count > 0)
        print(view, "Drain: %s node%s, which --format nodelist names for Slurm%s.",
              COUNT(list.count), XB_PLURAL(list.count),
              list.left_out == 0
                  ? ""
                  : xb_arena_print(&list.arena, ", but for %s with a name that no scheduler takes",
                                   COUNT(list.left_out)));
    else if (judgement->finding_count > 0)
        print(view, "Drain: no node.");
    xb_arena_free(list.arena);
}

/* ---- the findings ---- */

/* A row of the table: a finding of a node; or of a GPU, with its other figures, and with those of
 * the node's other GPUs that are off as much in the figure that it shows. */
struct row {
    const struct xb_fleet_finding *first; /* the worst of them */
    struct gpus gpus;
    size_t more; /* other findings in it */
};

/* How far GPUs of one row may be from each other, as a share of what they are off. */
#define ALIKE 0.25

/* Whether a row that shows the finding `shown` may show another GPU too, whose findings of one code
 * begin with `finding`: one of them is of the same figure, and as far off. */
static bool is_alike(const struct xb_fleet_judgement *judgement,
                     const struct xb_fleet_finding *shown, const struct xb_fleet_finding *finding)
{
    do {
        if (finding->code == shown->code && finding->together == shown->together &&
            finding->figure == shown->figure &&
            (finding->figure == NULL ||
             fabs(finding->deviation - shown->deviation) <= ALIKE * fabs(shown->deviation)))
            return true;
        finding++;
    } while (finding < judgement->findings + judgement->finding_count &&
             !is_row(judgement, finding));
    return false;
}

/* Makes the rows, and returns how many. `rows` has room for as many as there are findings. */
static size_t make_rows(const struct view *view, struct row *rows)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    const struct xb_fleet *fleet = view->fleet;
    struct place { /* of each node: how many GPUs, and the row to which the next may belong */
        size_t gpus;
        struct row *row;
    } *places = xb_new(fleet->node_count, sizeof *places);
    struct row *row = NULL;
    size_t count = 0;
    for (size_t i = 0; i < fleet->gpu_count; i++)
        places[fleet->gpus[i]->node->number].gpus += !fleet->gpus[i]->is_gone;
    XB_EACH (finding, judgement->findings, judgement->finding_count) {
        struct place *place = finding->gpu != NULL ? &places[finding->node->number] : NULL;
        if (!is_row(judgement, finding)) {
            row->more++;
            continue;
        }
        if (place != NULL && place->row != NULL && !view->verbose &&
            is_alike(judgement, place->row->first, finding)) {
            row = place->row;
            row->more += finding->figure != NULL;
        } else {
            row = &rows[count++];
            *row = (struct row){.first = finding};
        }
        if (place != NULL) {
            place->row = row;
            row->gpus.all = place->gpus;
            add_gpu(&row->gpus, finding->gpu);
        }
    }
    free(places);
    return count;
}

static const struct {
    struct xb_table_column column;
    bool is_detail;
} all_columns[] = {
    {{.title = "NODE", .least = LEAST_NAME}, false},
    {{.title = "GPU", .is_right = true}, false},
    {{.title = "PCI", .turn = 4}, true},
    {{.title = "UUID", .turn = 1}, true},
    {{.title = "FIGURE", .least = LEAST_NAME}, false},
    {{.title = "VALUE", .is_right = true, .turn = 5}, false},
    {{.title = "MEDIAN", .is_right = true, .turn = 3}, false},
    {{.title = "DEVIATION", .is_right = true}, false},
    {{.title = "SPREADS", .is_right = true, .turn = 2}, true},
    {{.title = "MORE", .is_right = true, .turn = 6}, false},
    {{.title = "REASON"}, false},
};

/* A text of a document, of any length. */
static void write_text(const struct view *view, struct xb_table *table, const char *text)
{
    size_t room = view->columns - 2; /* where a row is a paragraph, its lines are indented */
    xb_table_text(table, "%.*s", (int)(room < LONG_TEXT ? room : LONG_TEXT),
                  text != NULL && text[0] != '\0' ? text : "-");
}

static void add_row(const struct view *view, struct xb_table *table, const struct row *row)
{
    const struct xb_fleet_finding *finding = row->first;
    const struct gpus *gpus = &row->gpus;
    const struct xb_fleet_gpu *gpu = gpus->count == 1 ? finding->gpu : NULL;
    const struct xb_fleet_figure *figure = xb_fleet_figure_of(finding);
    const char *node = finding->node->name;
    xb_table_row(table);
    /* A name that no Linux host can have is not worth other columns. */
    size_t length = strlen(node);
    size_t third = view->columns / 3;
    size_t room = (third > LEAST_NAME ? third : LEAST_NAME) - 3;
    if (length <= HOST_NAME_MAX && length <= view->columns - 2)
        xb_table_text(table, "%s", node);
    else
        xb_table_text(table, "%.*s...%s", (int)(room - room / 2), node, node + length - room / 2);
    char list[INDICES];
    (void)list_gpus(gpus, list);
    if (gpu != NULL && finding->peer >= 0)
        xb_table_text(table, "%u>%d", gpu->index, finding->peer);
    else if (gpu != NULL)
        xb_table_text(table, "%u", gpu->index);
    else
        xb_table_text(table, "%s", gpus->count > 1 ? list : "-");
    if (view->verbose) {
        write_text(view, table, gpu != NULL ? gpu->pci_bdf : NULL);
        write_text(view, table, gpu != NULL ? gpu->uuid : NULL);
    }
    write_text(view, table, figure->name);
    xb_table_text(table, "%s", VALUE(figure->unit, finding->value));
    xb_table_text(table, "%s", VALUE(figure->unit, finding->centre));
    xb_table_text(table, "%s", share_text(finding->deviation, true, (char[32]){0}));
    if (view->verbose)
        xb_table_text(table, isfinite(finding->spreads) ? "%+.1f" : "-", finding->spreads);
    xb_table_text(table, row->more > 0 ? "+%zu" : "-", row->more);
    xb_table_cell(table, xb_fleet_is_to_drain(finding) ? XB_COLOUR_BAD : XB_COLOUR_WARNING, "%s%s",
                  xb_fleet_sayings[finding->code].name, finding->together ? ", as many are" : "");
}

/* Prints the rows that there is room for. Missing nodes have none: the answer names them, and their
 * rows would say the same of each. Returns how many findings come before the first row that is left
 * out. */
static size_t write_rows(const struct view *view)
{
    const struct xb_table_look look = {.width = view->columns, .elsewhere = "See --format csv"};
    const struct xb_fleet_judgement *judgement = view->judgement;
    struct row *rows = xb_new(judgement->finding_count, sizeof *rows);
    size_t count = make_rows(view, rows), shown = 0, more = 0, end = judgement->finding_count;
    bool has_more = false;
    struct xb_table *table = xb_table_new();
    for (size_t i = 0; i < sizeof all_columns / sizeof *all_columns; i++)
        if (view->verbose || !all_columns[i].is_detail)
            xb_table_add_column(table, &all_columns[i].column);
    for (size_t i = 0; i < count; i++) {
        enum xb_fleet_code code = rows[i].first->code;
        if (code == XB_FLEET_ALL_SLOWER || (code == XB_FLEET_MISSING && !view->verbose))
            continue;
        if (shown == view->most_rows) {
            end = more++ == 0 ? (size_t)(rows[i].first - judgement->findings) : end;
            continue;
        }
        shown++;
        has_more = has_more || rows[i].more > 0;
        add_row(view, table, &rows[i]);
    }
    if (shown > 0) {
        fputc('\n', view->stream);
        xb_table_print(view->stream, table, &look);
    }
    xb_table_free(table);
    if (more > 0)
        print(view, "and %s more: --verbose or --format csv", COUNT(more));
    if (has_more && view->verbose)
        print(view, "A row shows the worst figure, MORE how many others: --format csv has all.");
    free(rows);
    return end;
}

static void write_findings(const struct view *view)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    size_t end = write_rows(view);
    if (judgement->finding_count == 0)
        return;
    fputc('\n', view->stream);
    for (enum xb_fleet_code code = 0; code < XB_FLEET_CODES; code++)
        if (judgement->found[code] > 0)
            print(view, "%s: %s", xb_fleet_sayings[code].name, xb_fleet_sayings[code].next);
    /* A finding without a figure has a sentence, which says what a number says of the others. */
    bool begun = false;
    XB_EACH (finding, judgement->findings, end) {
        if (finding->figure != NULL || finding->text == NULL || finding->code == XB_FLEET_MISSING)
            continue;
        if (!begun)
            fputc('\n', view->stream);
        begun = true;
        const struct xb_fleet_gpu *gpu = xb_fleet_gpu_of(finding);
        const char *pci = gpu->pci_bdf;
        char text[64] = "";
        if (finding->gpu != NULL)
            snprintf(text, sizeof text, ", GPU %u%s%s", gpu->index, pci != NULL ? " " : "",
                     pci != NULL ? pci : "");
        xb_make_plain(text);
        print(view, "%.*s%s: %.1000s", (int)view->columns - 3, finding->node->name, text,
              finding->text);
    }
}

/* ---- figures: a histogram of each, and those that could not be judged ---- */

#define MIDDLE (XB_FLEET_BINS / 2)
#define UNJUDGED 5 /* figures that are named */

/* "link h2d, NVIDIA H200, Gen5 x16", and its driver and options where another figure would have the
 * same title without. */
static void add_title(struct xb_words *words, const struct xb_fleet_judgement *judgement,
                      const struct xb_fleet_figure *own)
{
    const char *const more[][2] = {
        {", ", own->backend}, {", driver ", own->driver}, {", ", own->options}};
    bool is_ambiguous = false;
    for (size_t i = 0; i < judgement->sibling_count; i++) {
        const struct xb_fleet_figure *other = judgement->siblings[i].figure;
        is_ambiguous = is_ambiguous || (other != own && own->name == other->name &&
                                        own->model == other->model && own->link == other->link);
    }
    xb_words_add(words, "%s", xb_fleet_figure_text(own, (char[512]){0}, 512));
    for (size_t i = 0; is_ambiguous && i < sizeof more / sizeof more[0]; i++)
        if (more[i][1] != NULL && more[i][1][0] != '\0')
            xb_words_add(words, "%s%.200s", more[i][0], more[i][1]);
}

/* "  49.90 GB/s [.    :@=   ] 60.98 GB/s", and the median's place below it. */
static void write_histogram(const struct view *view, const struct xb_fleet_siblings *siblings,
                            const char *unit)
{
    bool with_blocks = xb_locale_has_utf8();
    const char *least = VALUE(unit, siblings->least), *most = VALUE(unit, siblings->most);
    size_t before = 2 + strlen(least) + 2, behind = 2 + strlen(most);
    size_t cells[XB_FLEET_BINS], first, last, middle, highest, step = 1;
    do { /* one cell for an odd number of bins: the median stays in the middle of its own */
        middle = (MIDDLE - step / 2 + step - 1) / step;
        first = last = middle; /* that have values, or the median */
        highest = 1;
        memset(cells, 0, sizeof cells);
        for (size_t i = 0; i < XB_FLEET_BINS; i++)
            cells[(i + middle * step + step / 2 - MIDDLE) / step] += siblings->bins[i];
        for (size_t i = 0; i <= 2 * middle; i++) {
            first = cells[i] > 0 && i < first ? i : first;
            last = cells[i] > 0 && i > last ? i : last;
            highest = cells[i] > highest ? cells[i] : highest;
        }
        step += 2;
    } while (step < XB_FLEET_BINS && before + last - first + 1 + behind > view->columns);
    fprintf(view->stream, "  %s [", least);
    for (size_t i = first; i <= last; i++) {
        /* Each value shows: one of thousands is the lowest block, and not nothing. */
        static const char marks[] = " .:-=+*#@";
        size_t height = cells[i] == 0 ? 0 : 1 + (size_t)(7.0 * (double)cells[i] / (double)highest);
        if (with_blocks && height > 0)
            fprintf(view->stream, "\xE2\x96%c", (int)(0x80 + height)); /* U+2581 to U+2588 */
        else
            fputc(marks[height], view->stream);
    }
    fprintf(view->stream, "] %s\n%*s^ %s\n", most, (int)(before + middle - first), "",
            VALUE(unit, siblings->centre));
}

static void write_judged(const struct view *view, const struct xb_fleet_siblings *siblings)
{
    const struct xb_fleet_figure *figure = siblings->figure;
    struct xb_words words = {.length = 0};
    fputc('\n', view->stream);
    add_title(&words, view->judgement, figure);
    print_in(view, XB_COLOUR_TITLE, "%s", words.text);
    write_histogram(view, siblings, figure->unit);
    words = (struct xb_words){.length = 0};
    xb_words_add(&words, "%s values of %s node%s; spread %s%s; ", COUNT(siblings->values),
                 COUNT(siblings->nodes), XB_PLURAL(siblings->nodes), SHARE(siblings->spread),
                 siblings->is_floor ? " (the least that is assumed)" : "");
    if (siblings->named_from < 1 || !figure->more_is_better) /* no rate is below 0 */
        xb_words_add(&words, "named from %s off%s", SHARE(siblings->named_from),
                     siblings->slots_differ > 0 ? " in its slot" : "");
    else
        xb_words_add(&words, "too few and too scattered to name a slow one");
    if (siblings->slow > 0)
        xb_words_add(&words, "; %s slow", COUNT(siblings->slow));
    if (siblings->fast > 0)
        xb_words_add(&words, "; %s fast", COUNT(siblings->fast));
    print(view, "  %s.", words.text);
}

static void write_unjudged(const struct view *view)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    struct xb_words words = {.length = 0};
    size_t count = 0;
    bool is_named = view->verbose || judgement->tests == 0; /* the answer says why */
    for (size_t i = 0; i < judgement->sibling_count; i++) {
        if (judgement->siblings[i].judged || count++ >= UNJUDGED)
            continue;
        xb_words_add(&words, "%s", words.length > 0 ? "; " : "");
        add_title(&words, judgement, judgement->siblings[i].figure);
        xb_words_add(&words, " (%s)", COUNT(judgement->siblings[i].values));
    }
    if (count == 0)
        return;
    if (count > UNJUDGED)
        xb_words_add(&words, "; and %s more: --format json", COUNT(count - UNJUDGED));
    fputc('\n', view->stream);
    print(view, "Not judged: %s figure%s that fewer than %d GPUs measured alike%s%s.", COUNT(count),
          XB_PLURAL(count), XB_FLEET_SIBLINGS + 1,
          is_named ? " (number of values): " : ": --verbose", is_named ? words.text : "");
}

enum xb_status xb_fleet_table_write(FILE *stream, const struct xb_fleet_judgement *judgement,
                                    size_t columns, bool verbose, struct xb_error *error)
{
    const struct xb_fleet *fleet = judgement->fleet;
    size_t told = fleet->left_out_count < LEFT_OUT_TOLD ? fleet->left_out_count : LEFT_OUT_TOLD;
    struct view view = {
        .stream = stream,
        .judgement = judgement,
        .fleet = fleet,
        .columns = columns,
        .prose = columns < XB_PLAIN_COLUMNS ? columns : XB_PLAIN_COLUMNS,
        .verbose = verbose,
        .most_rows = xb_is_terminal(stream) && !verbose ? ROWS : SIZE_MAX,
    };
    write_answer(&view);
    /* Without any document each expected node is missing: only why there is none helps. */
    if (fleet->source_count > 0) {
        write_findings(&view);
        /* Figures with a named GPU come first. */
        for (int named = 1; named >= 0 && verbose; named--)
            XB_EACH (of, judgement->siblings, judgement->sibling_count)
                if (of->judged && (of->slow + of->fast > 0) == (named > 0))
                    write_judged(&view, of);
        write_unjudged(&view);
        if (judgement->note_count > 0)
            fputc('\n', stream);
        for (size_t i = 0; i < judgement->note_count; i++)
            print(&view, "Note: %s", judgement->notes[i]);
    }
    if (told > 0) {
        fputc('\n', stream);
        print_in(&view, XB_COLOUR_WARNING, "Left out: %s file%s", COUNT(fleet->left_out_count),
                 XB_PLURAL(fleet->left_out_count));
    }
    for (size_t i = 0; i < told; i++)
        print(&view, "%.300s: %.1000s", fleet->left_out[i].what, fleet->left_out[i].why);
    if (fleet->left_out_count > told)
        print(&view, "and %s more: --format json", COUNT(fleet->left_out_count - told));
    return xb_stream_finish(stream, "the table", error);
}
