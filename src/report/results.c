/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured, of one file or of several side by side: in short, as bars and as curves, and
 * what to do. */
#define _GNU_SOURCE /* text.h */
#include "report.h"

#include "base/text.h"
#include "base/units.h"
#include "fleet/internal.h"
#include "reading/list.h"
#include "record/mode_list.h"
#include "run/bars.h"
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

/* ---- panels: what can be drawn in one picture ---- */

#define PANELS 24
#define ENTRIES 512 /* of a panel; further ones are in the table of all results */
#define NAMES XB_LENGTHS_MOST
#define CURVE 3 /* values across that make one */

struct entry {
    size_t series;   /* of the panel */
    uint64_t across; /* a size, or the value of the parameter that is swept */
    const char *name;
    struct xb_bar bar;
};

/* Figures of the same kind, the same way: by method, and by size or parameter; of several
 * documents, or of several GPUs that measured the same. */
struct panel {
    const char *key, *title;
    const char *swept;         /* the parameter; NULL: sizes */
    bool is_count;             /* its values are no sizes */
    bool is_time, is_other;    /* no rates; not of data as it is between host and GPU */
    bool is_small;             /* whole copies, which the device's rate says little of */
    const char *const *labels; /* of the series */
    const size_t *series_count;
    double ceilings[XB_PLOT_SERIES]; /* of the link, for each series; 0: not known */
    struct entry *entries;           /* the largest across first, then the best */
    size_t count;
    size_t steps; /* values across */
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

/* The method with all parameters that have not their default: the same in any file, also in one of
 * an older program, which lacks some. */
static const char *full_name(struct xb_arena **texts, const struct xb_report_document *document,
                             const struct xb_record_case *test, const struct xb_option *swept)
{
    struct xb_words words = {.length = 0};
    char text[96];
    xb_words_add(&words, "%s", xb_method_name(test, text, sizeof text));
    for (size_t i = 0; i < test->parameter_count; i++) {
        const struct xb_record_fact *own = &test->parameters[i];
        const char *value = xb_parameter_text(test, own->name, text, sizeof text);
        bool is_swept = swept != NULL && strcmp(swept->name, own->name) == 0;
        if (value != NULL && !is_swept &&
            !xb_parameter_is_default(document->request->defaults, document->request->rows, own))
            xb_words_add(&words, ", %.60s %.60s", own->name, value);
    }
    return xb_arena_copy(texts, words.text);
}

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
                       .labels = are_beside ? panels->gpus : panels->labels,
                       .series_count = are_beside ? &panels->gpu_count : &panels->document_count};
    return panel;
}

/* The series of a GPU; XB_PLOT_SERIES where there is no room. */
static size_t find_gpu(struct panels *panels, int device)
{
    const char *label = xb_page_print(panels->page, "GPU %d", device);
    size_t at = 0;
    while (at < panels->gpu_count && strcmp(panels->gpus[at], label) != 0)
        at++;
    if (at == panels->gpu_count && at < XB_PLOT_SERIES)
        panels->gpus[panels->gpu_count++] = label;
    return at;
}

static bool is_sound(const struct entry *entry)
{
    return entry != NULL && entry->bar.flaw[0] == '\0' && entry->bar.s.median > 0;
}

static void take_view(void *argument, struct xb_bars *view)
{
    struct panels *panels = argument;
    const struct xb_report_document *document = panels->documents[panels->current];
    const bool are_several = panels->document_count > 1;
    const bool are_beside = !are_several && view->is_beside;
    for (size_t i = 0; i < view->count; i++) {
        const struct xb_bar *bar = &view->bars[i];
        struct panel *panel = find_panel(panels, view, bar, are_beside);
        size_t series = are_beside ? find_gpu(panels, bar->test->device) : panels->current;
        if (panel == NULL || panel->count == ENTRIES || series == XB_PLOT_SERIES) {
            panels->left_out++;
            continue;
        }
        panel->entries = xb_grow(panel->entries, panel->count, sizeof *panel->entries);
        panel->entries[panel->count++] = (struct entry){
            .series = series,
            .across = view->swept != NULL ? xb_bars_across(view, bar->test) : bar->test->bytes,
            .name = are_several ? full_name(&panels->page->memory, document, bar->test, view->swept)
                                : xb_page_print(panels->page, "%s", bar->name),
            .bar = *bar};
        panel->ceilings[series] = fmax(panel->ceilings[series], xb_bars_ceiling(view, bar, 1));
    }
}

static int by_place(const void *a, const void *b)
{
    const struct entry *one = a, *other = b;
    return XB_FIRST_ORDER(XB_ORDER(other->across, one->across),
                          xb_bars_by_rank(&one->bar, &other->bar),
                          XB_ORDER(one->series, other->series));
}

/* Puts the entries in order. Nothing is held against a link that a copy exceeds: it was read
 * wrongly. Small copies are compared by how long the whole copy takes, as the terminal does. */
static void finish_panel(struct panel *panel)
{
    panel->is_small = !panel->is_other && !panel->is_time;
    qsort(panel->entries, panel->count, sizeof *panel->entries, by_place);
    for (size_t i = 0; i < panel->count; i++) {
        const struct entry *entry = &panel->entries[i];
        double *ceiling = &panel->ceilings[entry->series];
        *ceiling = is_sound(entry) && entry->bar.s.median > *ceiling ? 0 : *ceiling;
        panel->steps += i == 0 || entry->across != entry[-1].across;
        panel->is_small = panel->is_small && (!is_sound(entry) || isfinite(entry->bar.copy_time));
    }
    panel->is_small = panel->is_small && panel->steps < CURVE;
    if (!panel->is_small)
        return;
    panel->is_time = true;
    memset(panel->ceilings, 0, sizeof panel->ceilings);
    for (size_t i = 0; i < panel->count; i++) {
        struct xb_bar *bar = &panel->entries[i].bar;
        bar->is_time = true;
        bar->s = (struct xb_statistics){.median = isfinite(bar->copy_time) ? bar->copy_time : 0};
        bar->rank = bar->copy_time;
    }
    qsort(panel->entries, panel->count, sizeof *panel->entries, by_place);
}

/* The names of methods, the best first: at one place across, or those with a figure at any for
 * UINT64_MAX. Returns how many there are; `names` has NAMES at most. */
static size_t list_names(const struct panel *panel, uint64_t across, const char **names)
{
    size_t count = 0, more = 0;
    for (size_t i = 0; i < panel->count; i++) {
        const struct entry *entry = &panel->entries[i];
        size_t at = 0;
        if (across == UINT64_MAX ? !is_sound(entry) : entry->across != across)
            continue;
        while (at < count && strcmp(names[at], entry->name) != 0)
            at++;
        if (at == count && count < NAMES)
            names[count++] = entry->name;
        else if (at == count)
            more++;
    }
    return count + more;
}

static const struct entry *find_entry(const struct panel *panel, size_t series, const char *name,
                                      uint64_t across)
{
    for (size_t i = 0; i < panel->count; i++) {
        const struct entry *entry = &panel->entries[i];
        if (entry->series == series && entry->across == across && strcmp(entry->name, name) == 0)
            return entry;
    }
    return NULL;
}

/* "55.34", "1.20 ms", "FAILED"; "-" for nothing. */
static const char *value_text(struct xb_page *page, const struct entry *entry)
{
    if (!is_sound(entry))
        return entry != NULL && entry->bar.flaw[0] != '\0' ? entry->bar.flaw : "-";
    const struct xb_bar *bar = &entry->bar;
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

/* The place across where most methods have a figure, the largest of several. */
static uint64_t widest_across(const struct panel *panel)
{
    uint64_t widest = panel->entries[0].across;
    for (size_t i = 0, run = 0, most = 0; i < panel->count; i++) {
        run = i > 0 && panel->entries[i].across == panel->entries[i - 1].across ? run : 0;
        run += is_sound(&panel->entries[i]);
        widest = run > most ? panel->entries[i].across : widest;
        most = run > most ? run : most;
    }
    return widest;
}

/* What the link carries, where it is the same for all series; else 0. */
static double level_of(const struct panel *panel)
{
    double level = panel->ceilings[0];
    for (size_t k = 1; k < *panel->series_count; k++)
        level = fabs(panel->ceilings[k] - level) < 0.001 * level ? level : 0;
    return level;
}

/* What the axis of a panel reaches: that of the way back is the same as that to the GPU. */
static double end_of(const struct panels *panels, const struct panel *panel)
{
    double end = 0;
    for (const struct panel *other = panels->all; other < panels->all + panels->count; other++) {
        bool is_alike =
            other == panel || (!other->is_other && !panel->is_other &&
                               other->swept == panel->swept && other->is_small == panel->is_small &&
                               other->entries[0].bar.figure == panel->entries[0].bar.figure);
        for (size_t k = 0; is_alike && k < XB_PLOT_SERIES; k++)
            end = fmax(end, other->ceilings[k]);
        for (size_t i = 0; is_alike && i < other->count; i++)
            end = is_sound(&other->entries[i]) ? fmax(end, other->entries[i].bar.s.median) : end;
    }
    return end;
}

/* The bars of a panel at one place across. */
static void draw_bars(const struct panels *panels, const struct panel *panel, uint64_t across)
{
    struct xb_page *page = panels->page;
    const size_t series = *panel->series_count;
    const double level = level_of(panel);
    const char **rows = xb_page_new(page, NAMES, sizeof *rows);
    struct xb_length *bars = xb_page_new(page, NAMES * series, sizeof *bars);
    const size_t count = list_names(panel, across, rows);
    const char *what = panel->is_small                         ? ": time of the whole copy"
                       : strncmp(panel->title, "Time", 4) == 0 ? ""
                       : panel->is_time                        ? ": time"
                                                               : ": GB/s";
    struct xb_words said = {.length = 0};
    for (size_t i = 0; i < count * series && i < NAMES * series; i++) {
        const char *name = rows[i / series];
        const struct entry *entry = find_entry(panel, i % series, name, across);
        bars[i].text = value_text(page, entry);
        xb_words_add(&said, " %s%s%s %s.", series > 1 ? panel->labels[i % series] : "",
                     series > 1 ? ", " : "", name, bars[i].text);
        if (!is_sound(entry))
            continue;
        const struct xb_statistics *s = &entry->bar.s;
        bars[i].value = s->median;
        if (s->has_interval && !panel->is_time)
            bars[i].tip =
                xb_page_print(page, "95 %% interval %.*f to %.*f GB/s", entry->bar.decimals,
                              s->ci95_low, entry->bar.decimals, s->ci95_high);
    }
    struct xb_lengths lengths = {.rows = rows,
                                 .row_count = count,
                                 .series = panel->labels,
                                 .series_count = series,
                                 .bars = bars,
                                 .level = {xb_page_print(page, "link carries %.1f", level), level},
                                 .end = end_of(panels, panel)};
    xb_page_picture(
        page, xb_lengths_draw, &lengths,
        xb_page_print(page, "%s, %s%s", panel->title, across_text(page, panel, across), what),
        "Bars, the best first.%s%s", said.text,
        level > 0 ? " A line marks what the link carries." : "");
}

/* A curve of the method in a series; false: it has no point. */
static bool make_curve(const struct panels *panels, const struct panel *panel, size_t series,
                       const char *name, struct xb_series *curve)
{
    struct xb_page *page = panels->page;
    struct xb_point *points = xb_page_new(page, panel->steps, sizeof *points);
    const double scale = panel->is_time ? 1e3 : 1;
    *curve = (struct xb_series){name, points, 0};
    if (*panel->series_count > 1)
        curve->name = xb_page_print(page, "%s %s", panel->labels[series], name);
    for (size_t i = panel->count; i-- > 0 && curve->count < panel->steps;) {
        const struct entry *entry = &panel->entries[i];
        const struct xb_statistics *s = &entry->bar.s;
        if (entry->series == series && strcmp(entry->name, name) == 0 && is_sound(entry))
            points[curve->count++] =
                (struct xb_point){.x = (double)entry->across,
                                  .y = s->median * scale,
                                  .low = s->has_interval ? s->ci95_low * scale : (double)NAN,
                                  .high = s->has_interval ? s->ci95_high * scale : (double)NAN};
    }
    return curve->count > 0;
}

/* At most XB_PLOT_SERIES curves: the methods that are best where they reach farthest. */
static void draw_curves(struct panels *panels, const struct panel *panel)
{
    struct xb_page *page = panels->page;
    const char *names[NAMES];
    struct xb_series curves[XB_PLOT_SERIES];
    const size_t series = *panel->series_count;
    const size_t found = list_names(panel, UINT64_MAX, names);
    const size_t drawn = found * series <= XB_PLOT_SERIES ? found : XB_PLOT_SERIES / series;
    const struct xb_plot_level level = {"link carries", level_of(panel)};
    const char *by = panel->swept != NULL ? panel->swept : "size";
    const uint64_t least = panel->entries[panel->count - 1].across;
    /* No logarithmic axis has a 0. */
    const enum xb_scale scale = panel->is_count || least == 0 ? XB_SCALE_LINEAR : XB_SCALE_SIZE;
    size_t count = 0;
    for (size_t n = 0; n < drawn; n++)
        for (size_t k = 0; k < series; k++)
            count += make_curve(panels, panel, k, names[n], &curves[count]);
    struct xb_chart chart = {.x = {scale, by},
                             .y = {XB_SCALE_LINEAR, panel->is_time ? "ms" : "GB/s"},
                             .y_most = end_of(panels, panel) * (panel->is_time ? 1e3 : 1),
                             .series = curves,
                             .series_count = count,
                             .levels = &level,
                             .level_count = level.at > 0};
    xb_page_picture(page, xb_chart_draw, &chart, xb_page_print(page, "%s, by %s", panel->title, by),
                    "%zu curves of %s by %s, from %s to %s. The best at the end is %s.", count,
                    panel->is_time ? "milliseconds" : "GB/s", by, across_text(page, panel, least),
                    across_text(page, panel, panel->entries[0].across),
                    count > 0 ? names[0] : "none");
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
        for (size_t i = 0; i < panel->count; i++) {
            const struct entry *entry = &panel->entries[i];
            bool is_first = true; /* of its row */
            for (size_t k = i; is_first && k > 0 && entry->across == panel->entries[k - 1].across;
                 k--)
                is_first = strcmp(panel->entries[k - 1].name, entry->name) != 0;
            if (!is_first)
                continue;
            XB_PAGE_CELLS(page, xb_page_print(page, "%s: %s", panel->title, entry->name),
                          across_text(page, panel, entry->across));
            for (size_t d = 0; d < panels->document_count; d++)
                xb_page_cell(page,
                             value_text(page, find_entry(panel, d, entry->name, entry->across)));
        }
    xb_page_table_end(page);
    if (is_long)
        xb_page_fold_end(page);
}

/* ---- in short ---- */

/* The number of that name; NAN: the statement has none. */
static double number_of(const struct xb_reading_entry *entry, const char *name, const char *way)
{
    char whole[64];
    snprintf(whole, sizeof whole, "%s_%s", name, way);
    for (size_t i = 0; i < entry->number_count; i++)
        if (strcmp(entry->numbers[i].name, whole) == 0)
            return entry->numbers[i].value;
    return (double)NAN;
}

/* What the Reading says of the links: the worst GPU each way, at the largest size. */
static void write_shares(struct xb_page *page, const struct xb_report_document *document,
                         const char *who)
{
    static const char *const ways[][2] = {{"h2d", "to the GPU"}, {"d2h", "back to the host"}};
    const struct xb_reading_list *reading = document->reading;
    for (size_t w = 0; w < 2; w++) {
        const struct xb_reading_entry *worst = NULL;
        for (size_t i = 0; i < reading->count; i++) {
            const struct xb_reading_entry *entry = &reading->entries[i];
            double share = number_of(entry, "share_of_ceiling", ways[w][0]);
            if (strcmp(entry->code, "XB-SHARE-OF-LINK") == 0 && isfinite(share) &&
                (worst == NULL || entry->bytes > worst->bytes ||
                 (entry->bytes == worst->bytes &&
                  share < number_of(worst, "share_of_ceiling", ways[w][0]))))
                worst = entry;
        }
        if (worst == NULL)
            continue;
        char subject[64];
        xb_reading_subject(reading, worst, subject, sizeof subject);
        xb_page_tile(
            page, worst->is_fine ? "good" : "unsure",
            xb_page_print(page, "%.0f %%", 100 * number_of(worst, "share_of_ceiling", ways[w][0])),
            xb_page_print(page, "%s%sof what the link carries, %s: %s of %s GB/s", who, subject,
                          ways[w][1], XB_RATE_TEXT(number_of(worst, "bandwidth", ways[w][0])),
                          XB_RATE_TEXT(number_of(worst, "ceiling", ways[w][0]))));
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
    xb_page_tiles_end(page);
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

/* What ran at the same time has rows of its own. */
static void write_together(struct xb_page *page, const struct xb_record *record, const char *who)
{
    bool any = false;
    for (size_t i = 0; i < record->case_count; i++)
        any = any || (record->cases[i].simultaneous && xb_table_has_row(record, &record->cases[i]));
    if (any)
        xb_write_table_of_rows(
            page, xb_page_print(page, "At the same time%s%s", who[0] != '\0' ? ", " : "", who),
            record, true);
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
        finish_panel(panel);
        any_curves = any_curves || panel->steps >= CURVE;
    }
    write_short(panels);
    /* Bars of each size, to the GPU and back side by side; of many sizes curves, and bars of one.
     */
    for (const struct panel *panel = panels->all; panel < panels->all + panels->count; panel++) {
        const char *names[NAMES];
        if (panel->steps >= CURVE && list_names(panel, UINT64_MAX, names) > 1)
            draw_bars(panels, panel, widest_across(panel));
        for (size_t i = 0; panel->steps < CURVE && i < panel->count; i++)
            if (i == 0 || panel->entries[i].across != panel->entries[i - 1].across)
                draw_bars(panels, panel, panel->entries[i].across);
    }
    for (const struct panel *panel = panels->all; panel < panels->all + panels->count; panel++)
        if (panel->steps >= CURVE)
            draw_curves(panels, panel);
    xb_page_more(page, panels->not_drawn, "slower methods have no curve.");
    for (size_t d = 0; d < count; d++)
        write_together(page, documents[d]->record, panels->labels[d]);
    if (count > 1)
        write_side_by_side(panels, any_curves);
    for (size_t d = 0; d < count; d++)
        write_advice(page, documents[d]->reading, panels->labels[d]);
    xb_page_more(page, panels->left_out, "results are in the table of all results only.");
    for (size_t p = 0; p < panels->count; p++)
        free(panels->all[p].entries);
}

/* ---- which files stand side by side ---- */

/* A name for each rate that a document has, in order, and how many methods have one. */
struct keys {
    struct xb_arena *texts;
    const struct xb_report_document *document;
    const char **all;
    size_t count, methods, alike;
};

static void take_keys(void *argument, struct xb_bars *view)
{
    struct keys *keys = argument;
    const struct xb_report_document *document = keys->document;
    const bool names_devices = xb_rows_name_devices(document->record);
    const char *methods[XB_PLOT_SERIES * XB_PLOT_SERIES];
    size_t count = 0;
    for (size_t i = 0; i < view->count; i++) {
        const struct xb_bar *bar = &view->bars[i];
        size_t at = 0;
        char text[96];
        if (bar->is_time)
            continue;
        keys->all = xb_grow(keys->all, keys->count, sizeof *keys->all);
        keys->all[keys->count++] = xb_arena_print(
            &keys->texts, "%s %s %d %s %llu %.60s",
            full_name(&keys->texts, document, bar->test, view->swept), bar->test->direction,
            names_devices ? bar->test->device : 0, bar->figure->name,
            (unsigned long long)bar->test->bytes, view->swept != NULL ? view->swept->name : "");
        const char *method = xb_arena_print(&keys->texts, "%d %s", (int)bar->kind,
                                            xb_method_name(bar->test, text, sizeof text));
        while (at < count && strcmp(methods[at], method) != 0)
            at++;
        if (at == count && count < sizeof methods / sizeof *methods && bar->kind != XB_BAR_OTHER)
            methods[count++] = method;
    }
    keys->methods += count;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

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

static bool is_same_machine(const struct xb_report_document *a, const struct xb_report_document *b)
{
    return strcmp(a->answer.subject, b->answer.subject) == 0;
}

/* Whether it is the better lead: more files are like it, it has more methods, it is newer. */
static bool is_better(const struct keys *a, const struct keys *b)
{
    if (a->alike != b->alike)
        return a->alike > b->alike;
    return a->methods != b->methods ? a->methods > b->methods
                                    : a->document->date > b->document->date;
}

size_t xb_choose_results(struct xb_report_document *const *documents, size_t count,
                         struct xb_report_document **shown)
{
    struct keys *keys = xb_new(count, sizeof *keys);
    size_t lead = 0, chosen = 0;
    for (size_t i = 0; i < count; i++) {
        keys[i].document = documents[i];
        xb_bars_each(documents[i]->record, take_keys, &keys[i]);
        if (keys[i].count > 0)
            qsort(keys[i].all, keys[i].count, sizeof *keys[i].all, by_text);
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++) {
            bool alike = are_alike(&keys[i], &keys[k]);
            keys[i].alike += alike;
            keys[k].alike += alike;
        }
    for (size_t i = 1; i < count; i++)
        lead = is_better(&keys[i], &keys[lead]) ? i : lead;
    for (size_t i = 0; i < count; i++) {
        bool is_other = true; /* machine than the lead and those before it */
        for (size_t k = 0; k < chosen; k++)
            is_other = is_other && !is_same_machine(shown[k], documents[i]);
        is_other = is_other && !is_same_machine(documents[lead], documents[i]);
        /* If they are too many, one a machine; the lead always has room. */
        if (i == lead ||
            (chosen + (i < lead) < XB_REPORT_SHOWN && are_alike(&keys[lead], &keys[i]) &&
             (keys[lead].alike < XB_REPORT_SHOWN || is_other)))
            shown[chosen++] = documents[i];
    }
    for (size_t i = 0; i < count; i++) {
        xb_arena_free(keys[i].texts);
        free(keys[i].all);
    }
    free(keys);
    return chosen;
}
