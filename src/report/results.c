/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured, of one file or of several side by side: in short, as pictures; what to do. */
#define _GNU_SOURCE /* text.h */
#include "report.h"

#include "base/order.h"
#include "base/text.h"
#include "base/units.h"
#include "reading/list.h"
#include "record/mode_list.h"
#include "run/table.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *xb_case_name(struct xb_arena **texts, const struct xb_report_document *document,
                         const struct xb_record_case *test)
{
    const struct xb_parameters *parameters = document->parameters;
    struct xb_words words = {.length = 0};
    char text[96];
    xb_words_add(&words, "%s %s%s, %s", xb_method_name(test, text, sizeof text),
                 xb_direction_words(test), test->latency ? ", latency" : "",
                 XB_SIZE_TEXT(test->bytes));
    for (size_t i = 0; i < parameters->count; i++) {
        const char *name = parameters->names[i];
        const char *value = xb_parameter_text(test, name, text, sizeof text);
        if (value != NULL && xb_parameter_differs(parameters, test, name))
            xb_words_add(&words, ", %.60s %.60s", name, value);
    }
    if (xb_rows_name_devices(document->record))
        xb_words_add(&words, ", GPU %s", xb_device_text(document->record, test, text, sizeof text));
    return xb_arena_copy(texts, words.text);
}

void xb_case_add_parameters(struct xb_words *words, const struct xb_report_document *document,
                            const struct xb_record_case *test, const struct xb_option *but)
{
    char text[96];
    XB_EACH (own, test->parameters, test->parameter_count) {
        const char *value = xb_parameter_text(test, own->name, text, sizeof text);
        if (value != NULL && (but == NULL || strcmp(but->name, own->name) != 0) &&
            !xb_parameter_is_default(document->request->defaults, document->request->rows, own))
            xb_words_add(words, ", %.60s %.60s", own->name, value);
    }
}

/* The method with its parameters: the same in any file. */
static const char *full_name(struct xb_arena **texts, const struct xb_report_document *document,
                             const struct xb_record_case *test, const struct xb_option *swept)
{
    struct xb_words words = {.length = 0};
    char text[96];
    xb_words_add(&words, "%s", xb_method_name(test, text, sizeof text));
    xb_case_add_parameters(&words, document, test, swept);
    return xb_arena_copy(texts, words.text);
}

/* ---- panels: what can be drawn in one picture ---- */

#define PANELS 24
#define ROWS 512 /* of a panel; further ones are in the table of all results */
#define CURVE 3  /* values across that make one */

/* A method at one place across. */
struct row {
    uint64_t across; /* a size, or the value of the parameter that is swept */
    const char *name;
    struct xb_bar *bars[XB_PLOT_SERIES]; /* one for each series; NULL: it has none */
    const struct xb_bar *best;           /* of them */
};

/* Figures of the same kind and way, by method and size or parameter, of documents or of GPUs. */
struct panel {
    const char *key, *title;
    const char *swept;         /* the parameter; NULL: sizes */
    bool is_count;             /* its values are no sizes */
    bool is_time, is_other;    /* no rates; not of data as it is between host and GPU */
    bool is_small;             /* whole copies, which the device's rate says little of */
    const char *const *labels; /* of the series */
    const size_t *series_count;
    const struct xb_figure *figure;
    double ceilings[XB_PLOT_SERIES]; /* of the link, for each series; 0: not known */
    double level;                    /* that of all series, where it is the same; else 0 */
    double end;                      /* the largest of the values and ceilings */
    struct row *rows;                /* the largest across first, then the best */
    size_t count;
    size_t steps;       /* values across */
    const char **names; /* of methods with a figure: the best where it reaches farthest first */
    size_t name_count;
};

struct panels {
    struct xb_page *page;
    const struct xb_report_document *const *documents;
    size_t document_count, current;
    bool name_devices;                  /* a document has several */
    const char *labels[XB_PLOT_SERIES]; /* of the documents */
    const char *gpus[XB_PLOT_SERIES];   /* "GPU 0": of those that stand beside each other */
    size_t gpu_count;
    struct panel all[PANELS];
    size_t count, left_out, not_drawn;
};

static struct panel *find_panel(struct panels *panels, const struct xb_bars *view,
                                const struct xb_bar *bar, bool are_beside)
{
    const char *swept = view->swept != NULL ? view->swept->name : NULL;
    bool names = panels->document_count > 1 ? panels->name_devices : view->names_devices;
    struct xb_words title = {.length = 0};
    char text[XB_BARS_TITLE];
    xb_words_add(&title, "%s", xb_bars_title(bar, 1, names && !are_beside, text));
    if (swept != NULL)
        xb_words_add(&title, ", %s", XB_SIZE_TEXT(bar->test->bytes));
    const char *key = xb_page_print(panels->page, "%s %s %d %.60s", title.text, bar->figure->name,
                                    bar->is_encoded, swept != NULL ? swept : "");
    for (size_t i = 0; i < panels->count; i++)
        if (strcmp(panels->all[i].key, key) == 0)
            return &panels->all[i];
    if (panels->count == PANELS)
        return NULL;
    struct panel *panel = &panels->all[panels->count++];
    *panel =
        (struct panel){.key = key,
                       .title = xb_page_print(panels->page, "%s", title.text),
                       .swept = swept,
                       .is_count = swept != NULL && view->swept->type == XB_OPTION_COUNTS,
                       .is_time = bar->is_time,
                       .is_other = bar->kind == XB_BAR_OTHER || bar->is_encoded,
                       .is_small = !bar->is_time,
                       .labels = are_beside ? panels->gpus : panels->labels,
                       .series_count = are_beside ? &panels->gpu_count : &panels->document_count,
                       .figure = bar->figure,
                       .rows = xb_page_new(panels->page, ROWS, sizeof *panel->rows)};
    return panel;
}

static bool is_sound(const struct xb_bar *bar)
{
    return bar != NULL && bar->flaw[0] == '\0' && bar->s.median > 0;
}

static void take_view(void *argument, const struct xb_bars *view)
{
    struct panels *panels = argument;
    struct xb_page *page = panels->page;
    const struct xb_report_document *document = panels->documents[panels->current];
    const bool are_several = panels->document_count > 1;
    const bool are_beside = !are_several && view->is_beside;
    XB_EACH (bar, view->bars, view->count) {
        const uint64_t across =
            view->swept != NULL ? xb_bars_across(view, bar->test) : bar->test->bytes;
        const char *name = are_several ? full_name(&page->memory, document, bar->test, view->swept)
                                       : xb_page_print(page, "%s", bar->name);
        struct panel *panel = find_panel(panels, view, bar, are_beside);
        size_t series = panels->current, at = 0;
        bool is_step = true;
        if (are_beside) { /* the series is the GPU's */
            const char *label = xb_page_print(page, "GPU %d", bar->test->device);
            while (series < panels->gpu_count && strcmp(panels->gpus[series], label) != 0)
                series++;
            if (series == panels->gpu_count && series < XB_PLOT_SERIES)
                panels->gpus[panels->gpu_count++] = label;
        }
        for (; panel != NULL && at < panel->count; at++) {
            is_step = is_step && panel->rows[at].across != across;
            if (panel->rows[at].across == across && strcmp(panel->rows[at].name, name) == 0)
                break;
        }
        if (panel == NULL || at == ROWS || series == XB_PLOT_SERIES) {
            panels->left_out++;
            continue;
        }
        struct row *row = &panel->rows[at];
        row->across = across;
        row->name = name;
        panel->count += at == panel->count;
        panel->steps += is_step;
        panel->is_small = panel->is_small && (!is_sound(bar) || isfinite(bar->copy_time));
        panel->ceilings[series] = fmax(panel->ceilings[series], xb_bars_ceiling(view, bar, 1));
        if (row->bars[series] == NULL || xb_bars_by_rank(bar, row->bars[series]) < 0) {
            row->bars[series] = xb_page_new(page, 1, sizeof *bar);
            *row->bars[series] = *bar;
        }
    }
}

XB_COMPARER(by_place, struct row, XB_BY_GREATEST(across), xb_bars_by_rank(a->best, b->best))

/* Puts the rows in order. A link that a copy exceeds was read wrongly: nothing is held against it.
 * Small copies are compared by how long the whole copy takes, as the terminal does. */
static void finish_panel(struct xb_page *page, struct panel *panel)
{
    const size_t series = *panel->series_count;
    panel->is_small = panel->is_small && !panel->is_other && panel->steps < CURVE;
    panel->is_time = panel->is_time || panel->is_small;
    for (size_t i = 0; i < panel->count * series; i++) {
        struct row *row = &panel->rows[i / series];
        struct xb_bar *bar = row->bars[i % series];
        if (bar == NULL)
            continue;
        if (panel->is_small) {
            bar->is_time = true;
            bar->s = (struct xb_statistics){.median = bar->copy_time};
            bar->rank = bar->copy_time;
        }
        if (row->best == NULL || xb_bars_by_rank(bar, row->best) < 0)
            row->best = bar;
        if (!is_sound(bar))
            continue;
        panel->end = fmax(panel->end, bar->s.median);
        if (panel->is_small || bar->s.median > panel->ceilings[i % series])
            panel->ceilings[i % series] = 0;
    }
    panel->level = panel->ceilings[0];
    for (size_t k = 0; k < series; k++) {
        panel->end = fmax(panel->end, panel->ceilings[k]);
        if (fabs(panel->ceilings[k] - panel->level) >= 0.001 * panel->level)
            panel->level = 0;
    }
    qsort(panel->rows, panel->count, sizeof *panel->rows, by_place);
    panel->names = xb_page_new(page, panel->count, sizeof *panel->names);
    for (size_t i = 0; i < panel->count; i++) {
        size_t at = 0;
        while (at < panel->name_count && strcmp(panel->names[at], panel->rows[i].name) != 0)
            at++;
        if (at == panel->name_count && is_sound(panel->rows[i].best))
            panel->names[panel->name_count++] = panel->rows[i].name;
    }
}

/* "55.34", "1.20 ms", "FAILED"; "-" for nothing. */
static const char *value_text(struct xb_page *page, const struct xb_bar *bar)
{
    if (!is_sound(bar))
        return bar != NULL && bar->flaw[0] != '\0' ? bar->flaw : "-";
    return bar->is_time ? xb_page_print(page, "%s", XB_DURATION_TEXT(bar->s.median))
                        : xb_page_print(page, "%.*f", bar->decimals, bar->s.median);
}

/* "1 GiB", "readers 16" */
static const char *across_text(struct xb_page *page, const struct panel *panel, uint64_t value)
{
    const char *number = panel->is_count ? xb_page_print(page, "%llu", (unsigned long long)value)
                                         : XB_SIZE_TEXT(value);
    return xb_page_print(page, "%s%s%s", panel->swept != NULL ? panel->swept : "",
                         panel->swept != NULL ? " " : "", number);
}

/* What the axis of a panel reaches: that of the way back is the same as that to the GPU. */
static double end_of(const struct panels *panels, const struct panel *panel)
{
    double end = panel->end;
    for (const struct panel *other = panels->all; other < panels->all + panels->count; other++)
        if (!other->is_other && !panel->is_other && other->swept == panel->swept &&
            other->is_small == panel->is_small && other->figure == panel->figure)
            end = fmax(end, other->end);
    return end;
}

/* The bars of so many rows, which are at one place across. */
static void draw_bars(const struct panels *panels, const struct panel *panel, const struct row *row,
                      size_t count)
{
    struct xb_page *page = panels->page;
    const size_t series = *panel->series_count;
    const char **names = xb_page_new(page, count, sizeof *names);
    struct xb_length *bars = xb_page_new(page, count * series, sizeof *bars);
    const char *what = panel->is_small                         ? ": time of the whole copy"
                       : strncmp(panel->title, "Time", 4) == 0 ? ""
                       : panel->is_time                        ? ": time"
                                                               : ": GB/s";
    struct xb_words said = {.length = 0};
    for (size_t i = 0; i < count * series; i++) {
        const struct xb_bar *bar = row[i / series].bars[i % series];
        names[i / series] = row[i / series].name;
        bars[i].text = value_text(page, bar);
        xb_words_add(&said, " %s%s%s %s.", series > 1 ? panel->labels[i % series] : "",
                     series > 1 ? ", " : "", names[i / series], bars[i].text);
        if (!is_sound(bar))
            continue;
        bars[i].value = bar->s.median;
        if (bar->s.has_interval && !panel->is_time)
            bars[i].tip = xb_page_print(page, "95 %% interval %.*f to %.*f GB/s", bar->decimals,
                                        bar->s.ci95_low, bar->decimals, bar->s.ci95_high);
    }
    struct xb_lengths lengths = {
        .rows = names,
        .row_count = count,
        .series = panel->labels,
        .series_count = series,
        .bars = bars,
        .level = {xb_page_print(page, "link carries %.1f", panel->level), panel->level},
        .end = end_of(panels, panel)};
    xb_page_picture(
        page, xb_lengths_draw, &lengths,
        xb_page_print(page, "%s, %s%s", panel->title, across_text(page, panel, row->across), what),
        "Bars, the best first.%s%s", said.text,
        panel->level > 0 ? " A line marks what the link carries." : "");
}

/* Bars of each place across, or of the one of many where most methods have a figure. */
static void draw_places(const struct panels *panels, const struct panel *panel)
{
    const size_t series = *panel->series_count;
    const struct row *widest = panel->rows;
    size_t most = 0, width = 0;
    for (size_t i = 0, count = 0; i < panel->count; i += count) {
        const struct row *row = &panel->rows[i];
        size_t sound = 0;
        for (count = 0; i + count < panel->count && row[count].across == row->across; count++)
            for (size_t k = 0; k < series; k++)
                sound += is_sound(row[count].bars[k]);
        if (panel->steps < CURVE)
            draw_bars(panels, panel, row, count);
        if (i > 0 && sound <= most)
            continue;
        widest = row;
        width = count;
        most = sound;
    }
    if (panel->steps >= CURVE && panel->name_count > 1)
        draw_bars(panels, panel, widest, width);
}

/* At most XB_PLOT_SERIES curves: the methods that are best where they reach farthest. */
static void draw_curves(struct panels *panels, const struct panel *panel)
{
    struct xb_page *page = panels->page;
    struct xb_series curves[XB_PLOT_SERIES];
    const size_t series = *panel->series_count, found = panel->name_count;
    const size_t drawn = found * series <= XB_PLOT_SERIES ? found : XB_PLOT_SERIES / series;
    const struct xb_plot_level level = {"link carries", panel->level};
    const char *by = panel->swept != NULL ? panel->swept : "size";
    const uint64_t least = panel->rows[panel->count - 1].across;
    /* No logarithmic axis has a 0. */
    const enum xb_scale scale = panel->is_count || least == 0 ? XB_SCALE_LINEAR : XB_SCALE_SIZE;
    const double unit = panel->is_time ? 1e3 : 1;
    size_t count = 0;
    for (size_t i = 0; i < drawn * series; i++) {
        struct xb_point *points = xb_page_new(page, panel->steps, sizeof *points);
        const char *name = panel->names[i / series];
        const char *label = panel->labels[i % series];
        struct xb_series *curve = &curves[count];
        *curve = (struct xb_series){series > 1 ? xb_page_print(page, "%s %s", label, name) : name,
                                    points, 0};
        for (size_t k = panel->count; k-- > 0;) {
            const struct xb_bar *bar = panel->rows[k].bars[i % series];
            if (strcmp(panel->rows[k].name, name) == 0 && is_sound(bar))
                points[curve->count++] = (struct xb_point){
                    .x = (double)panel->rows[k].across,
                    .y = bar->s.median * unit,
                    .low = bar->s.has_interval ? bar->s.ci95_low * unit : (double)NAN,
                    .high = bar->s.has_interval ? bar->s.ci95_high * unit : (double)NAN};
        }
        count += curve->count > 0;
    }
    struct xb_chart chart = {.x = {scale, by},
                             .y = {XB_SCALE_LINEAR, panel->is_time ? "ms" : "GB/s"},
                             .y_most = end_of(panels, panel) * unit,
                             .series = curves,
                             .series_count = count,
                             .levels = &level,
                             .level_count = level.at > 0};
    xb_page_picture(page, xb_chart_draw, &chart, xb_page_print(page, "%s, by %s", panel->title, by),
                    "%zu curves of %s by %s, from %s to %s. The best at the end is %s.", count,
                    panel->is_time ? "milliseconds" : "GB/s", by, across_text(page, panel, least),
                    across_text(page, panel, panel->rows[0].across),
                    count > 0 ? panel->names[0] : "none");
    panels->not_drawn += found - drawn;
}

/* The numbers of several files, the largest size first. A table of many sizes is closed. */
static void write_side_by_side(struct panels *panels, bool is_long)
{
    struct xb_page *page = panels->page;
    if (is_long)
        xb_page_fold_begin(page, NULL, "Side by side", "", "");
    xb_page_table_begin(page, "GB/s, or a time with its unit", "Results|#At");
    for (size_t d = 0; d < panels->document_count; d++)
        xb_page_column(page, panels->labels[d], true);
    for (const struct panel *panel = panels->all; panel < panels->all + panels->count; panel++)
        for (const struct row *row = panel->rows; row < panel->rows + panel->count; row++) {
            XB_PAGE_CELLS(page, xb_page_print(page, "%s: %s", panel->title, row->name),
                          across_text(page, panel, row->across));
            for (size_t d = 0; d < panels->document_count; d++)
                xb_page_cell(page, value_text(page, row->bars[d]));
        }
    xb_page_table_end(page);
    if (is_long)
        xb_page_fold_end(page);
}

/* ---- in short ---- */

/* The number of that name; NAN: the statement has none. */
static double number_of(const struct xb_reading_entry *entry, const char *name)
{
    for (size_t i = 0; i < entry->number_count; i++)
        if (strcmp(entry->numbers[i].name, name) == 0)
            return entry->numbers[i].value;
    return (double)NAN;
}

/* What the Reading says of the links: the worst GPU each way, at the largest size. */
static void write_shares(struct xb_page *page, const struct xb_report_document *document,
                         const char *who)
{
    static const struct {
        const char *words, *share, *rate, *ceiling;
    } ways[] = {
        {"to the GPU", "share_of_ceiling_h2d", "bandwidth_h2d", "ceiling_h2d"},
        {"back to the host", "share_of_ceiling_d2h", "bandwidth_d2h", "ceiling_d2h"},
    };
    const struct xb_reading_list *reading = document->reading;
    for (size_t w = 0; w < 2; w++) {
        const struct xb_reading_entry *worst = NULL;
        double least = (double)NAN;
        XB_EACH (entry, reading->entries, reading->count) {
            double share = number_of(entry, ways[w].share);
            if (strcmp(entry->code, "XB-SHARE-OF-LINK") == 0 && isfinite(share) &&
                (worst == NULL || XB_FIRST_ORDER(XB_ORDER(worst->bytes, entry->bytes),
                                                 XB_ORDER(share, least)) < 0)) {
                worst = entry;
                least = share;
            }
        }
        if (worst == NULL)
            continue;
        char subject[64];
        xb_reading_subject(reading, worst, subject, sizeof subject);
        xb_page_tile(
            page, worst->is_fine ? "good" : "unsure", xb_page_print(page, "%.0f %%", 100 * least),
            xb_page_print(page, "%s%sof what the link carries, %s: %s of %s GB/s", who, subject,
                          ways[w].words, XB_RATE_TEXT(number_of(worst, ways[w].rate)),
                          XB_RATE_TEXT(number_of(worst, ways[w].ceiling))));
    }
}

/* The answer, what the links reach, and what the best advice gains, with its condition. */
static void write_short(const struct panels *panels)
{
    struct xb_page *page = panels->page;
    const struct xb_reading_entry *advice[XB_MOST_ADVICE];
    const bool is_alone = panels->document_count == 1;
    const struct xb_reading_list *reading = panels->documents[0]->reading;
    char factor[32], of[64];
    for (size_t d = 0; d < panels->document_count; d++) {
        const struct xb_answer *answer = &panels->documents[d]->answer;
        const char *who = is_alone ? "" : xb_page_print(page, "%s: ", panels->labels[d]);
        if (answer->verdict != NULL)
            xb_page_tile(page, answer->look, answer->verdict,
                         xb_page_print(page, "%s%s", who, answer->line));
        write_shares(page, panels->documents[d], who);
    }
    size_t count = is_alone ? xb_reading_advice(reading, advice) : 0;
    for (size_t i = 0; i < count && i < 2; i++) {
        const char *remedy = advice[i]->remedy, *end = strstr(remedy, ". ");
        if (!isfinite(advice[i]->gain) || !(advice[i]->gain > 0))
            continue;
        xb_reading_factor_text(advice[i]->gain, factor, sizeof factor);
        factor[strcspn(factor, " ")] = '\0'; /* "6.7" of "6.7 times" */
        xb_page_tile(page, "unsure", xb_page_print(page, "%s \xC3\x97", factor),
                     xb_page_print(page, "%s%.*s",
                                   xb_reading_subject(reading, advice[i], of, sizeof of),
                                   end != NULL ? (int)(end - remedy + 1) : INT_MAX, remedy));
    }
    if (is_alone && reading->answer != NULL) /* those of several stand beside their names */
        xb_page_paragraph(page, "%s", reading->answer);
}

static void write_advice(struct xb_page *page, const struct xb_reading_list *reading,
                         const char *who)
{
    const struct xb_reading_entry *advice[XB_MOST_ADVICE];
    size_t count = xb_reading_advice(reading, advice);
    char text[64];
    if (count > 0)
        xb_page_words(page, "<h2>", "</h2>\n<ol>\n", "What to do in your program%s%s",
                      who[0] != '\0' ? ", " : "", who);
    for (size_t i = 0; i < count; i++) {
        xb_reading_subject(reading, advice[i], text, sizeof text);
        xb_page_write(page, "<li>", text, "");
        /* Calls such as cudaMallocHost() look like code. */
        const char *rest = advice[i]->remedy;
        for (const char *end; (end = strstr(rest, "()")) != NULL; rest = end + 2) {
            const char *call = end;
            while (call > rest && (isalnum((unsigned char)call[-1]) || call[-1] == '_'))
                call--;
            xb_page_write(page, "", xb_page_print(page, "%.*s", (int)(call - rest), rest), "");
            xb_page_write(page, "<code>", xb_page_print(page, "%.*s", (int)(end + 2 - call), call),
                          "</code>");
        }
        xb_page_write(page, "", rest, "</li>\n");
    }
    fputs(count > 0 ? "</ol>\n" : "", page->stream);
    for (size_t i = 0; i < reading->count; i++)
        if (reading->entries[i].is_fine)
            xb_page_remark(page, "Fine: %s%s",
                           xb_reading_subject(reading, &reading->entries[i], text, sizeof text),
                           reading->entries[i].text);
}

void xb_write_results(struct xb_page *page, const struct xb_report_document *const *documents,
                      size_t count)
{
    struct panels *panels = xb_page_new(page, 1, sizeof *panels);
    bool any_curves = false;
    panels->page = page;
    panels->documents = documents;
    panels->document_count = count;
    for (size_t d = 0; d < count; d++) {
        panels->labels[d] = count > 1 && documents[d]->label != NULL ? documents[d]->label : "";
        panels->name_devices = panels->name_devices || xb_rows_name_devices(documents[d]->record);
    }
    for (; panels->current < count; panels->current++)
        xb_bars_each(documents[panels->current]->record, take_view, panels);
    for (struct panel *panel = panels->all; panel < panels->all + panels->count; panel++) {
        finish_panel(page, panel);
        any_curves = any_curves || panel->steps >= CURVE;
    }
    write_short(panels);
    /* To the GPU and back side by side; below all bars the curves of many sizes. */
    for (size_t p = 0; p < panels->count; p++)
        draw_places(panels, &panels->all[p]);
    for (size_t p = 0; p < panels->count; p++)
        if (panels->all[p].steps >= CURVE)
            draw_curves(panels, &panels->all[p]);
    xb_page_more(page, panels->not_drawn, "slower methods have no curve.");
    for (size_t d = 0; d < count; d++) {
        /* What ran at the same time has rows of its own. */
        const struct xb_record *record = documents[d]->record;
        const char *who = panels->labels[d];
        size_t i = 0;
        while (i < record->case_count &&
               !(record->cases[i].simultaneous && xb_table_has_row(record, &record->cases[i])))
            i++;
        if (i < record->case_count)
            xb_write_table_of_rows(
                page, xb_page_print(page, "At the same time%s%s", who[0] != '\0' ? ", " : "", who),
                record, true);
    }
    if (count > 1)
        write_side_by_side(panels, any_curves);
    for (size_t d = 0; d < count; d++)
        write_advice(page, documents[d]->reading, panels->labels[d]);
    xb_page_more(page, panels->left_out, "results are in the table of all results only.");
}

/* ---- which files stand side by side ---- */

/* A name for each rate of a document, in order; how many methods have one to the GPU or back. */
struct keys {
    struct xb_arena **texts;
    const struct xb_report_document *document;
    const char **all;
    size_t count, methods, alike;
};

static void take_keys(void *argument, const struct xb_bars *view)
{
    struct keys *keys = argument;
    const struct xb_report_document *document = keys->document;
    const bool names_devices = xb_rows_name_devices(document->record);
    XB_EACH (bar, view->bars, view->count) {
        char text[96];
        if (bar->is_time)
            continue;
        keys->all[keys->count++] = xb_arena_print(
            keys->texts, "%d %s\n%s %s %d %s %llu %.60s", (int)bar->kind,
            xb_method_name(bar->test, text, sizeof text),
            full_name(keys->texts, document, bar->test, view->swept), bar->test->direction,
            names_devices ? bar->test->device : 0, bar->figure->name,
            (unsigned long long)bar->test->bytes, view->swept != NULL ? view->swept->name : "");
    }
}

XB_POINTER_COMPARER(by_text, char, strcmp(a, b))

/* Whether more than half of what the smaller one has is in both. */
static bool are_alike(const struct keys *one, const struct keys *other)
{
    size_t both = 0;
    for (size_t i = 0, k = 0; i < one->count && k < other->count;) {
        int order = strcmp(one->all[i], other->all[k]);
        both += order == 0;
        i += order <= 0;
        k += order >= 0;
    }
    return 2 * both > (one->count < other->count ? one->count : other->count);
}

size_t xb_choose_results(struct xb_report_document *const *documents, size_t count,
                         struct xb_report_document **shown)
{
    struct xb_arena *memory = NULL;
    struct keys *keys = xb_arena_new(&memory, count * sizeof *keys), *lead = keys;
    size_t chosen = 0;
    for (size_t i = 0; i < count; i++) {
        const struct xb_record *record = documents[i]->record;
        keys[i] = (struct keys){.texts = &memory, .document = documents[i]};
        keys[i].all = xb_arena_new(&memory, record->case_count * sizeof(const char *));
        xb_bars_each(record, take_keys, &keys[i]);
        qsort(keys[i].all, keys[i].count, sizeof(const char *), by_text);
        for (size_t k = 0; k < keys[i].count && keys[i].all[k][0] < '0' + XB_BAR_OTHER; k++)
            keys[i].methods += k == 0 || strncmp(keys[i].all[k], keys[i].all[k - 1],
                                                 strcspn(keys[i].all[k], "\n") + 1) != 0;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            keys[i].alike += k != i && are_alike(&keys[i], &keys[k]);
    /* More files are like the lead than like others, or it has more methods, or it is newer. */
    for (size_t i = 1; i < count; i++)
        if (XB_FIRST_ORDER(XB_ORDER(keys[i].alike, lead->alike),
                           XB_ORDER(keys[i].methods, lead->methods),
                           XB_ORDER(documents[i]->date, lead->document->date)) > 0)
            lead = &keys[i];
    for (size_t i = 0; i < count; i++) {
        bool is_other = true; /* machine than the lead and those before it */
        for (size_t k = 0; k <= chosen; k++)
            is_other = is_other && strcmp((k < chosen ? shown[k] : lead->document)->answer.subject,
                                          documents[i]->answer.subject) != 0;
        /* If they are too many, one a machine; the lead always has room. */
        if (&keys[i] == lead ||
            (chosen + (&keys[i] < lead) < XB_REPORT_SHOWN && are_alike(lead, &keys[i]) &&
             (lead->alike < XB_REPORT_SHOWN || is_other)))
            shown[chosen++] = documents[i];
    }
    xb_arena_free(memory);
    return chosen;
}
