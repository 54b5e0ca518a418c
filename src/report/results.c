/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured, of one file or of several side by side: in short, as bars and as curves, and
 * what to do. */
#define _GNU_SOURCE /* text.h */
#include "report.h"

#include "base/text.h"
#include "base/units.h"
#include "reading/list.h"
#include "record/mode_list.h"
#include "run/bars.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool xb_case_value(const struct xb_record *record, const struct xb_record_case *test,
                   struct xb_statistics *value)
{
    const struct xb_figure *figure = xb_mode_main_figure(test->mode, test->latency);
    double unit = strcmp(xb_case_unit(test), "us") == 0 ? 1e-6 : 1e9;
    if (!xb_record_describe(record, test, figure->name, value) || !(value->median > 0))
        return false;
    value->median /= unit;
    value->ci95_low = value->has_interval ? value->ci95_low / unit : (double)NAN;
    value->ci95_high = value->has_interval ? value->ci95_high / unit : (double)NAN;
    return true;
}

const char *xb_case_unit(const struct xb_record_case *test)
{
    const char *unit = xb_mode_main_figure(test->mode, test->latency)->unit;
    return strcmp(unit, XB_UNIT_SECONDS) == 0 ? "us" : "GB/s";
}

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
#define ACROSS 64 /* sizes of a panel; further ones are in the table of all results */
#define NAMES 40

struct entry {
    size_t document; /* index of those that are shown */
    size_t name;     /* of the panel's */
    uint64_t across; /* a size, or the value of the parameter that is swept */
    struct xb_bar bar;
};

/* Figures of the same kind, the same way, on the same GPU: by method, and by size or parameter. */
struct panel {
    const char *key, *title;
    const char *swept; /* the parameter; NULL: sizes */
    bool is_count;     /* its values are no sizes */
    const char *names[NAMES];
    double best[NAMES]; /* of each name, where it reaches farthest: more is better */
    size_t name_count;
    uint64_t across[ACROSS]; /* rising */
    size_t across_count;
    double ceilings[XB_REPORT_SHOWN]; /* of the link, for each document; 0: not known */
    struct entry *entries;
    size_t count;
};

struct panels {
    struct xb_page *page;
    const struct xb_report_document *const *documents;
    size_t document_count, current;
    const char **labels; /* of the documents */
    double end;          /* what rates between host and GPU reach: their pictures share one axis */
    struct panel *all;
    size_t count, left_out, not_drawn;
};

static struct panel *find_panel(struct panels *panels, const struct xb_bars *view,
                                const struct xb_bar *bar)
{
    char title[XB_BARS_TITLE], size[40] = "";
    xb_bars_title(bar, 1, view->names_devices, title);
    if (view->swept != NULL)
        snprintf(size, sizeof size, ", %s", XB_SIZE_TEXT(bar->test->bytes));
    const char *key =
        xb_page_print(panels->page, "%s%s %s %d %.60s", title, size, bar->figure->name,
                      bar->is_encoded, view->swept != NULL ? view->swept->name : "");
    for (size_t i = 0; i < panels->count; i++)
        if (strcmp(panels->all[i].key, key) == 0)
            return &panels->all[i];
    if (panels->count == PANELS)
        return NULL;
    struct panel *panel = &panels->all[panels->count++];
    panel->key = key;
    panel->title =
        xb_page_print(panels->page, "%s%s%s%s", title, size, view->swept != NULL ? ", by " : "",
                      view->swept != NULL ? view->swept->name : "");
    panel->swept = view->swept != NULL ? view->swept->name : NULL;
    panel->is_count = view->swept != NULL && view->swept->type == XB_OPTION_COUNTS;
    return panel;
}

/* The place of `name` among the panel's; NAMES where there is no room. */
static size_t find_name(struct xb_page *page, struct panel *panel, const char *name)
{
    size_t at = 0;
    while (at < panel->name_count && strcmp(panel->names[at], name) != 0)
        at++;
    if (at == panel->name_count && at < NAMES)
        panel->names[panel->name_count++] = xb_page_print(page, "%s", name);
    return at;
}

/* Keeps the values across in their order; false where there is no room. */
static bool add_across(struct panel *panel, uint64_t value)
{
    size_t at = 0;
    while (at < panel->across_count && panel->across[at] < value)
        at++;
    if (at < panel->across_count && panel->across[at] == value)
        return true;
    if (panel->across_count == ACROSS)
        return false;
    memmove(&panel->across[at + 1], &panel->across[at],
            (panel->across_count - at) * sizeof panel->across[0]);
    panel->across[at] = value;
    panel->across_count++;
    return true;
}

static void take_view(void *argument, struct xb_bars *view)
{
    struct panels *panels = argument;
    for (size_t i = 0; i < view->count; i++) {
        const struct xb_bar *bar = &view->bars[i];
        struct panel *panel = find_panel(panels, view, bar);
        uint64_t across = view->swept != NULL ? xb_bars_across(view, bar->test) : bar->test->bytes;
        size_t name = panel != NULL ? find_name(panels->page, panel, bar->name) : NAMES;
        if (name == NAMES || !add_across(panel, across)) {
            panels->left_out++;
            continue;
        }
        double ceiling = xb_bars_ceiling(view, bar, 1);
        double *known = &panel->ceilings[panels->current];
        bool is_first = true;
        for (size_t k = 0; k < panel->count; k++)
            is_first = is_first && panel->entries[k].document != panels->current;
        *known = is_first || ceiling < *known ? ceiling : *known; /* 0 where any is above it */
        if (bar->kind != XB_BAR_OTHER && !bar->is_time && !bar->is_encoded)
            panels->end = fmax(panels->end, fmax(bar->s.median, ceiling));
        panel->entries = xb_grow(panel->entries, panel->count, sizeof *panel->entries);
        panel->entries[panel->count++] = (struct entry){
            .document = panels->current, .name = name, .across = across, .bar = *bar};
    }
}

static const struct entry *find_entry(const struct panel *panel, size_t document, size_t name,
                                      uint64_t across)
{
    for (size_t i = 0; i < panel->count; i++) {
        const struct entry *entry = &panel->entries[i];
        if (entry->document == document && entry->name == name && entry->across == across)
            return entry;
    }
    return NULL;
}

static bool is_sound(const struct entry *entry)
{
    return entry != NULL && entry->bar.flaw[0] == '\0' && entry->bar.s.median > 0;
}

/* "55.34", "1.20 ms", "FAILED". */
static const char *value_text(struct xb_page *page, const struct xb_bar *bar)
{
    if (bar->flaw[0] != '\0' || !(bar->s.median > 0))
        return bar->flaw;
    return bar->is_time ? xb_page_print(page, "%s", XB_DURATION_TEXT(bar->s.median))
                        : xb_page_print(page, "%.*f", bar->decimals, bar->s.median);
}

static const char *across_text(struct xb_page *page, const struct panel *panel, uint64_t value)
{
    return panel->is_count ? xb_page_print(page, "%llu", (unsigned long long)value)
                           : xb_page_print(page, "%s", XB_SIZE_TEXT(value));
}

/* The size at which most methods have a figure, the largest of several. */
static uint64_t widest_across(const struct panel *panel)
{
    uint64_t widest = 0;
    size_t most = 0;
    for (size_t a = panel->across_count; a-- > 0;) {
        size_t count = 0;
        for (size_t i = 0; i < panel->count; i++)
            count += panel->entries[i].across == panel->across[a];
        if (count > most) {
            most = count;
            widest = panel->across[a];
        }
    }
    return widest;
}

/* Sets what each name reaches best at `across`, or at its largest for UINT64_MAX. */
static void rank_names(struct panel *panel, uint64_t across)
{
    uint64_t at[NAMES] = {0};
    for (size_t n = 0; n < panel->name_count; n++)
        panel->best[n] = -(double)INFINITY;
    for (size_t i = 0; i < panel->count; i++) {
        const struct entry *entry = &panel->entries[i];
        double rank = -entry->bar.rank;
        if (!is_sound(entry) || (across != UINT64_MAX && entry->across != across) ||
            entry->across < at[entry->name])
            continue;
        bool is_farther = entry->across > at[entry->name];
        at[entry->name] = entry->across;
        double *best = &panel->best[entry->name];
        *best = is_farther ? rank : fmax(*best, rank);
    }
}

/* The next name in the order of their best; NAMES: there is none left. */
static size_t next_name(const struct panel *panel, bool *taken)
{
    size_t next = NAMES;
    for (size_t n = 0; n < panel->name_count; n++)
        if (!taken[n] && (next == NAMES || panel->best[n] > panel->best[next]))
            next = n;
    if (next < NAMES)
        taken[next] = true;
    return next;
}

/* ---- bars ---- */

/* What the axis of a panel reaches at least. */
static double end_of(const struct panels *panels, const struct panel *panel)
{
    const struct xb_bar *bar = &panel->entries[0].bar;
    return bar->kind != XB_BAR_OTHER && !bar->is_time && !bar->is_encoded ? panels->end : 0;
}

/* What the link carries, where it is the same for all documents; else 0. */
static double level_of(const struct panels *panels, const struct panel *panel)
{
    double level = panel->ceilings[0];
    for (size_t d = 1; d < panels->document_count; d++)
        level = fabs(panel->ceilings[d] - level) < 0.001 * level ? level : 0;
    return level;
}

/* The bars of a panel where most methods stand beside each other; those of less than half the
 * fastest look so. */
static void draw_bars(struct panels *panels, struct panel *panel)
{
    struct xb_page *page = panels->page;
    const size_t documents = panels->document_count;
    const uint64_t across = widest_across(panel);
    bool taken[NAMES] = {false};
    const char **rows = xb_page_new(page, NAMES, sizeof *rows);
    struct xb_length *bars = xb_page_new(page, NAMES * documents, sizeof *bars);
    size_t count = 0;
    double most = 0, level = level_of(panels, panel);
    rank_names(panel, across);
    for (size_t i = 0; i < panel->count; i++)
        if (panel->entries[i].across == across && is_sound(&panel->entries[i]))
            most = fmax(most, panel->entries[i].bar.s.median);
    for (size_t name = 0; (name = next_name(panel, taken)) < NAMES;) {
        bool any = false;
        for (size_t d = 0; d < documents; d++) {
            const struct entry *entry = find_entry(panel, d, name, across);
            struct xb_length *bar = &bars[count * documents + d];
            *bar = (struct xb_length){.value = (double)NAN, .text = "-"};
            if (entry == NULL)
                continue;
            const struct xb_statistics *s = &entry->bar.s;
            any = true;
            bar->text = value_text(page, &entry->bar);
            if (!is_sound(entry))
                continue;
            bar->value = s->median;
            bar->look =
                documents == 1 && !entry->bar.is_time && s->median < most / 2 ? "series-2" : NULL;
            if (s->has_interval && !entry->bar.is_time)
                bar->tip =
                    xb_page_print(page, "95 %% interval %.*f to %.*f GB/s", entry->bar.decimals,
                                  s->ci95_low, entry->bar.decimals, s->ci95_high);
        }
        rows[count] = panel->names[name];
        count += any;
    }
    bool is_time = panel->entries[0].bar.is_time;
    struct xb_lengths lengths = {
        .picture = {.title = xb_page_print(page, "%s, %s%s", panel->title,
                                           across_text(page, panel, across),
                                           is_time ? ": time" : ": GB/s"),
                    .description = xb_page_print(
                        page, "Bars of %zu methods, the %s first. %s: %s. %s: %s.%s", count,
                        is_time ? "shortest" : "fastest", rows[0], bars[0].text, rows[count - 1],
                        bars[(count - 1) * documents].text,
                        level > 0 ? " A line marks what the link carries." : "")},
        .rows = rows,
        .row_count = count,
        .series = panels->labels,
        .series_count = documents,
        .bars = bars,
        .level = {xb_page_print(page, "link carries %.1f", level), level},
        .end = end_of(panels, panel)};
    xb_page_picture(page, xb_lengths_draw, &lengths);
}

/* ---- curves ---- */

static bool has_curves(const struct panel *panel)
{
    return panel->across_count >= 3;
}

/* At most XB_PLOT_SERIES curves: the methods that are fastest where they reach farthest. */
static void draw_curves(struct panels *panels, struct panel *panel)
{
    struct xb_page *page = panels->page;
    const size_t documents = panels->document_count;
    const size_t names = XB_PLOT_SERIES / documents;
    struct xb_series series[XB_PLOT_SERIES];
    bool taken[NAMES] = {false};
    bool is_time = panel->entries[0].bar.is_time;
    double scale = is_time ? 1e3 : 1;
    size_t count = 0;
    rank_names(panel, UINT64_MAX);
    for (size_t n = 0, name = 0; n < names && (name = next_name(panel, taken)) < NAMES; n++)
        for (size_t d = 0; d < documents; d++) {
            struct xb_point *points = xb_page_new(page, panel->across_count, sizeof *points);
            size_t length = 0;
            for (size_t a = 0; a < panel->across_count; a++) {
                const struct entry *entry = find_entry(panel, d, name, panel->across[a]);
                if (!is_sound(entry))
                    continue;
                const struct xb_statistics *s = &entry->bar.s;
                points[length++] =
                    (struct xb_point){.x = (double)panel->across[a],
                                      .y = s->median * scale,
                                      .low = s->has_interval ? s->ci95_low * scale : (double)NAN,
                                      .high = s->has_interval ? s->ci95_high * scale : (double)NAN};
            }
            if (length > 0)
                series[count++] = (struct xb_series){
                    documents > 1
                        ? xb_page_print(page, "%s %s", panels->labels[d], panel->names[name])
                        : panel->names[name],
                    points, length};
        }
    const char *by = panel->swept != NULL ? panel->swept : "size";
    double level = level_of(panels, panel);
    const struct xb_plot_level levels[] = {{"link carries", level}};
    struct xb_chart chart = {
        .picture = {.title = panel->swept != NULL
                                 ? panel->title
                                 : xb_page_print(page, "%s, by size", panel->title),
                    .description = xb_page_print(
                        page,
                        "%zu curves of %s by %s, from %s to %s. The best at the end is %.190s.",
                        count, is_time ? "milliseconds" : "GB/s", by,
                        across_text(page, panel, panel->across[0]),
                        across_text(page, panel, panel->across[panel->across_count - 1]),
                        count > 0 ? series[0].name : "none")},
        .x = {panel->is_count ? XB_SCALE_LINEAR : XB_SCALE_SIZE, by},
        .y = {XB_SCALE_LINEAR, is_time ? "ms" : "GB/s"},
        .y_most = end_of(panels, panel) * scale,
        .series = series,
        .series_count = count,
        .levels = levels,
        .level_count = level > 0};
    xb_page_picture(page, xb_chart_draw, &chart);
    panels->not_drawn += panel->name_count > names ? panel->name_count - names : 0;
}

/* ---- the numbers of several files side by side ---- */

/* A table of many sizes is closed. */
static void write_side_by_side(struct panels *panels, bool is_long)
{
    struct xb_page *page = panels->page;
    const bool are_two = panels->document_count == 2;
    if (is_long)
        xb_page_fold_begin(page, NULL, "Side by side", "", "");
    xb_page_table_begin(page, "GB/s or time", "Results|#Size");
    for (size_t d = 0; d < panels->document_count; d++)
        xb_page_column(page, panels->labels[d], true);
    if (are_two)
        xb_page_column(page, "Second by first", true);
    for (size_t p = 0; p < panels->count; p++) {
        const struct panel *panel = &panels->all[p];
        for (size_t n = 0; n < panel->name_count; n++)
            for (size_t a = 0; a < panel->across_count; a++) {
                const struct entry *found[XB_REPORT_SHOWN];
                size_t count = 0;
                for (size_t d = 0; d < panels->document_count; d++) {
                    found[d] = find_entry(panel, d, n, panel->across[a]);
                    count += found[d] != NULL;
                }
                if (count == 0)
                    continue;
                xb_page_cell(page, xb_page_print(page, "%s: %s", panel->title, panel->names[n]));
                xb_page_cell(page, across_text(page, panel, panel->across[a]));
                for (size_t d = 0; d < panels->document_count; d++)
                    xb_page_cell(page, found[d] != NULL ? value_text(page, &found[d]->bar) : NULL);
                if (are_two)
                    xb_page_cell(
                        page, is_sound(found[0]) && is_sound(found[1])
                                  ? xb_page_print(page, "%.3g",
                                                  found[1]->bar.s.median / found[0]->bar.s.median)
                                  : NULL);
            }
    }
    xb_page_table_end(page);
    if (is_long)
        xb_page_fold_end(page);
}

/* ---- in short ---- */

/* The fastest copy of a document that way, and the panel that it is in; NULL: there is none. */
static const struct xb_bar *find_fastest(const struct panels *panels, size_t document,
                                         enum xb_bar_kind kind, const struct panel **of)
{
    const struct xb_bar *best = NULL;
    for (size_t p = 0; p < panels->count && best == NULL; p++) {
        const struct panel *panel = *of = &panels->all[p];
        uint64_t across = widest_across(panel);
        for (size_t i = 0; panel->swept == NULL && i < panel->count; i++) {
            const struct entry *entry = &panel->entries[i];
            const struct xb_bar *bar = &entry->bar;
            if (entry->document == document && bar->kind == kind && !bar->is_time &&
                !bar->is_encoded && entry->across == across && is_sound(entry) &&
                (best == NULL || bar->rank < best->rank))
                best = bar;
        }
    }
    return best;
}

/* The fastest each way, as a share of what the link carries where that is known; and what the best
 * advice gains. */
static void write_tiles(const struct panels *panels)
{
    struct xb_page *page = panels->page;
    const struct xb_reading_entry *advice[XB_MOST_ADVICE];
    const struct xb_reading_list *reading = panels->documents[0]->reading;
    const bool is_alone = panels->document_count == 1;
    const char *look = "";
    for (size_t i = 0; is_alone && i < reading->count; i++)
        if (reading->entries[i].is_fine && strcmp(reading->entries[i].label, "link") == 0)
            look = "good";
    xb_page_tiles_begin(page);
    for (size_t d = 0; d < panels->document_count; d++)
        for (enum xb_bar_kind kind = XB_BAR_TO; kind < XB_BAR_OTHER; kind++) {
            const struct panel *of = NULL;
            const struct xb_bar *best = find_fastest(panels, d, kind, &of);
            const char *where = kind == XB_BAR_TO ? "to the GPU" : "back to the host";
            const char *who = is_alone ? "" : xb_page_print(page, "%s: ", panels->labels[d]);
            if (best == NULL)
                continue;
            double speed = best->s.median, ceiling = of->ceilings[d];
            if (ceiling > 0)
                xb_page_tile(page, look, xb_page_print(page, "%.0f %%", 100 * speed / ceiling),
                             xb_page_print(page,
                                           "%sof what the link carries, %s: %s, %.*f of %.1f GB/s",
                                           who, where, best->name, best->decimals, speed, ceiling));
            else
                xb_page_tile(page, "", xb_page_print(page, "%.*f GB/s", best->decimals, speed),
                             xb_page_print(page, "%s%s: %s", who, where, best->name));
        }
    size_t count = is_alone ? xb_reading_advice(reading, advice) : 0;
    for (size_t i = 0; i < count && i < 2; i++)
        if (isfinite(advice[i]->gain) && advice[i]->gain > 0)
            xb_page_tile(page, "unsure", xb_page_print(page, "%.2g \xC3\x97", advice[i]->gain),
                         xb_page_print(page, "%.*s", (int)strcspn(advice[i]->remedy, ":."),
                                       advice[i]->remedy));
    xb_page_tiles_end(page);
}

static void write_advice(struct xb_page *page, const struct xb_reading_list *reading)
{
    const struct xb_reading_entry *advice[XB_MOST_ADVICE];
    size_t count = xb_reading_advice(reading, advice);
    char text[64];
    if (count > 0)
        xb_page_title(page, "What to do in your program");
    for (size_t i = 0; i < count; i++) {
        xb_reading_subject(reading, advice[i], text, sizeof text);
        xb_page_write(page, i == 0 ? "<ol>\n<li>" : "<li>", text, "");
        xb_page_advice(page, "", advice[i]->remedy, i + 1 < count ? "</li>\n" : "</li>\n</ol>\n");
    }
    for (size_t i = 0; i < reading->count; i++)
        if (reading->entries[i].is_fine)
            xb_page_remark(page, "Fine: %s%s",
                           xb_reading_subject(reading, &reading->entries[i], text, sizeof text),
                           reading->entries[i].text);
}

void xb_write_results(struct xb_page *page, const struct xb_report_document *const *documents,
                      size_t count)
{
    struct panels panels = {.page = page,
                            .documents = documents,
                            .document_count = count,
                            .all = xb_page_new(page, PANELS, sizeof *panels.all)};
    bool any_curves = false;
    panels.labels = xb_page_new(page, count, sizeof *panels.labels);
    for (; panels.current < count; panels.current++) {
        panels.labels[panels.current] = documents[panels.current]->label;
        xb_bars_each(documents[panels.current]->record, take_view, &panels);
    }
    write_tiles(&panels);
    /* Bars of one size, to the GPU and back side by side, then curves. */
    for (int curves = 0; curves < 2; curves++)
        for (size_t p = 0; p < panels.count; p++) {
            struct panel *panel = &panels.all[p];
            if (!curves && (panel->name_count > 1 || !has_curves(panel)))
                draw_bars(&panels, panel);
            else if (curves && has_curves(panel))
                draw_curves(&panels, panel);
            any_curves = any_curves || has_curves(panel);
        }
    xb_page_more(page, panels.not_drawn,
                 "slower methods have no curve: the table of all results has them.");
    if (count == 1)
        write_advice(page, documents[0]->reading);
    else
        write_side_by_side(&panels, any_curves);
    xb_page_more(page, panels.left_out,
                 "results are not drawn: the table of all results has them.");
    for (size_t p = 0; p < panels.count; p++)
        free(panels.all[p].entries);
}

/* ---- which files stand side by side ---- */

/* Collects a name for each figure that a document has. */
struct keys {
    struct xb_arena *texts;
    const char **all;
    size_t count, methods; /* how many copy between host and GPU */
};

static void take_keys(void *argument, struct xb_bars *view)
{
    struct keys *keys = argument;
    for (size_t i = 0; i < view->count; i++) {
        const struct xb_bar *bar = &view->bars[i];
        bool is_first = bar->kind != XB_BAR_OTHER && !bar->is_encoded; /* of its method */
        for (size_t k = 0; is_first && k < i; k++)
            is_first = view->bars[k].kind != bar->kind ||
                       strcmp(view->bars[k].test->mode, bar->test->mode) != 0 ||
                       strcmp(view->bars[k].test->variant, bar->test->variant) != 0;
        keys->all = xb_grow(keys->all, keys->count, sizeof *keys->all);
        keys->all[keys->count++] = xb_arena_print(
            &keys->texts, "%s %d %d %s %llu %.60s", bar->name, (int)bar->kind, bar->test->device,
            bar->figure->name, (unsigned long long)bar->test->bytes,
            view->swept != NULL ? view->swept->name : "");
        keys->methods += is_first;
    }
}

static struct keys keys_of(const struct xb_report_document *document)
{
    struct keys keys = {.count = 0};
    xb_bars_each(document->record, take_keys, &keys);
    return keys;
}

static void free_keys(struct keys *keys)
{
    xb_arena_free(keys->texts);
    free(keys->all);
}

/* Whether half of what the smaller one has is in both. */
static bool are_alike(const struct keys *one, const struct keys *other)
{
    size_t both = 0;
    for (size_t i = 0; i < one->count; i++)
        for (size_t k = 0; k < other->count; k++)
            if (strcmp(one->all[i], other->all[k]) == 0) {
                both++;
                break;
            }
    return both > 0 && 2 * both >= (one->count < other->count ? one->count : other->count);
}

static bool is_same_machine(const struct xb_report_document *a, const struct xb_report_document *b)
{
    size_t count_a, count_b;
    const struct xb_record_device *one = xb_record_devices(a->record, &count_a);
    const struct xb_record_device *other = xb_record_devices(b->record, &count_b);
    const char *host_a = a->record->host.hostname, *host_b = b->record->host.hostname;
    return strcmp(host_a != NULL ? host_a : "", host_b != NULL ? host_b : "") == 0 &&
           (count_a == 0 || count_b == 0 || strcmp(one[0].name, other[0].name) == 0);
}

size_t xb_choose_results(const struct xb_report_document *const *documents, size_t count,
                         const struct xb_report_document **shown)
{
    struct keys *keys = xb_new(count, sizeof *keys);
    size_t lead = 0, alike = 0, chosen = 0;
    for (size_t i = 0; i < count; i++) {
        keys[i] = keys_of(documents[i]);
        /* The one with the most ways between host and GPU, of several the newest. */
        if (keys[i].methods > keys[lead].methods ||
            (keys[i].methods == keys[lead].methods && documents[i]->date > documents[lead]->date))
            lead = i;
    }
    for (size_t i = 0; i < count; i++)
        alike += i == lead || are_alike(&keys[lead], &keys[i]);
    for (size_t i = 0; i < count; i++) {
        bool is_other = true; /* machine than the lead and those before it */
        for (size_t k = 0; k < chosen; k++)
            is_other = is_other && !is_same_machine(shown[k], documents[i]);
        is_other = is_other && !is_same_machine(documents[lead], documents[i]);
        /* If they are too many, one a machine; the lead always has room. */
        if (i == lead ||
            (chosen + (i < lead) < XB_REPORT_SHOWN && are_alike(&keys[lead], &keys[i]) &&
             (alike <= XB_REPORT_SHOWN || is_other)))
            shown[chosen++] = documents[i];
    }
    for (size_t i = 0; i < count; i++)
        free_keys(&keys[i]);
    free(keys);
    return chosen;
}
