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

#include <ctype.h>
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
#define ENTRIES 2000 /* of a panel; further ones are in the table of all results */
#define NAMES 40     /* drawn as bars */

struct entry {
    size_t document; /* index of those that are shown */
    uint64_t across; /* a size, or the value of the parameter that is swept */
    struct xb_bar bar;
};

/* Figures of the same kind, the same way, on the same GPU: by method, and by size or parameter. */
struct panel {
    const char *key, *title;
    const char *swept;                /* the parameter; NULL: sizes */
    bool is_count;                    /* its values are no sizes */
    bool is_time, is_other;           /* no rates; not of data as it is between host and GPU */
    double ceilings[XB_REPORT_SHOWN]; /* of the link, for each document; 0: not known */
    double end;                       /* the largest of them and of what is sound */
    struct entry *entries;            /* the largest across first, then the best */
    size_t count;
    size_t steps;    /* values across */
    uint64_t widest; /* of these the one at which most entries are, the largest of several */
};

struct panels {
    struct xb_page *page;
    const struct xb_report_document *const *documents;
    size_t document_count, current;
    const char **labels; /* of the documents */
    struct panel all[PANELS];
    size_t count, left_out, not_drawn;
};

static bool is_sound(const struct entry *entry)
{
    return entry != NULL && entry->bar.flaw[0] == '\0' && entry->bar.s.median > 0;
}

static void take_view(void *argument, struct xb_bars *view)
{
    struct panels *panels = argument;
    const char *swept = view->swept != NULL ? view->swept->name : NULL;
    char text[XB_BARS_TITLE];
    for (size_t i = 0; i < view->count; i++) {
        const struct xb_bar *bar = &view->bars[i];
        struct xb_words title = {.length = 0};
        size_t at = 0;
        xb_words_add(&title, "%s", xb_bars_title(bar, 1, view->names_devices, text));
        if (swept != NULL)
            xb_words_add(&title, ", %s, by %.60s", XB_SIZE_TEXT(bar->test->bytes), swept);
        const char *key =
            xb_page_print(panels->page, "%s %s %d", title.text, bar->figure->name, bar->is_encoded);
        while (at < panels->count && strcmp(panels->all[at].key, key) != 0)
            at++;
        if (at == PANELS || panels->all[at].count == ENTRIES) {
            panels->left_out++;
            continue;
        }
        struct panel *panel = &panels->all[at];
        if (at == panels->count) {
            panels->count++;
            *panel =
                (struct panel){.key = key,
                               .title = xb_page_print(panels->page, "%s", title.text),
                               .swept = swept,
                               .is_count = swept != NULL && view->swept->type == XB_OPTION_COUNTS,
                               .is_time = bar->is_time,
                               .is_other = bar->kind == XB_BAR_OTHER || bar->is_encoded};
        }
        panel->entries = xb_grow(panel->entries, panel->count, sizeof *panel->entries);
        struct entry *entry = &panel->entries[panel->count++];
        *entry = (struct entry){.document = panels->current,
                                .across = view->swept != NULL ? xb_bars_across(view, bar->test)
                                                              : bar->test->bytes,
                                .bar = *bar};
        double *ceiling = &panel->ceilings[panels->current];
        *ceiling = fmax(*ceiling, xb_bars_ceiling(view, bar, 1));
        panel->end = fmax(panel->end, is_sound(entry) ? fmax(*ceiling, bar->s.median) : *ceiling);
    }
}

static int by_place(const void *a, const void *b)
{
    const struct entry *one = a, *other = b;
    return XB_FIRST_ORDER(XB_ORDER(other->across, one->across),
                          xb_bars_by_rank(&one->bar, &other->bar),
                          XB_ORDER(one->document, other->document));
}

/* The names of methods, each once: at one place across, or at any for UINT64_MAX. */
static size_t list_names(const struct panel *panel, uint64_t across, const char **names)
{
    size_t count = 0;
    for (size_t i = 0; i < panel->count; i++) {
        const struct entry *entry = &panel->entries[i];
        size_t at = 0;
        while (at < count && strcmp(names[at], entry->bar.name) != 0)
            at++;
        if (at == count && count < NAMES && (across == UINT64_MAX || entry->across == across))
            names[count++] = entry->bar.name;
    }
    return count;
}

static const struct entry *find_entry(const struct panel *panel, size_t document, const char *name,
                                      uint64_t across)
{
    for (size_t i = 0; i < panel->count; i++) {
        const struct entry *entry = &panel->entries[i];
        if (entry->document == document && entry->across == across &&
            strcmp(entry->bar.name, name) == 0)
            return entry;
    }
    return NULL;
}

/* "55.34", "1.20 ms", "FAILED"; NULL for nothing. */
static const char *value_text(struct xb_page *page, const struct entry *entry)
{
    if (!is_sound(entry))
        return entry != NULL ? entry->bar.flaw : NULL;
    const struct xb_bar *bar = &entry->bar;
    return bar->is_time ? xb_page_print(page, "%s", XB_DURATION_TEXT(bar->s.median))
                        : xb_page_print(page, "%.*f", bar->decimals, bar->s.median);
}

static const char *across_text(struct xb_page *page, const struct panel *panel, uint64_t value)
{
    return panel->is_count ? xb_page_print(page, "%llu", (unsigned long long)value)
                           : xb_page_print(page, "%s", XB_SIZE_TEXT(value));
}

/* What the link carries, where it is the same for all documents; else 0. */
static double level_of(const struct panels *panels, const struct panel *panel)
{
    double level = panel->ceilings[0];
    for (size_t d = 1; d < panels->document_count; d++)
        level = fabs(panel->ceilings[d] - level) < 0.001 * level ? level : 0;
    return level;
}

/* What the axis of a panel reaches: that of the way back is the same as that to the GPU. */
static double end_of(const struct panels *panels, const struct panel *panel)
{
    double end = 0;
    for (const struct panel *other = panels->all; other < panels->all + panels->count; other++)
        if (other == panel ||
            (!other->is_other && !panel->is_other && other->swept == panel->swept &&
             other->entries[0].bar.figure == panel->entries[0].bar.figure))
            end = fmax(end, other->end);
    return end;
}

/* The bars of a panel where most methods stand beside each other; those of less than half the
 * fastest look so. */
static void draw_bars(struct panels *panels, const struct panel *panel)
{
    struct xb_page *page = panels->page;
    const size_t documents = panels->document_count;
    const uint64_t across = panel->widest;
    const double level = level_of(panels, panel);
    const char **rows = xb_page_new(page, NAMES, sizeof *rows);
    struct xb_length *bars = xb_page_new(page, NAMES * documents, sizeof *bars);
    size_t count = list_names(panel, across, rows);
    for (size_t i = 0; i < count * documents; i++) {
        const struct entry *entry = find_entry(panel, i % documents, rows[i / documents], across);
        const char *text = value_text(page, entry);
        bars[i] = (struct xb_length){.text = text != NULL ? text : "-"};
        if (!is_sound(entry))
            continue;
        const struct xb_statistics *s = &entry->bar.s;
        bars[i].value = s->median;
        if (documents == 1 && !panel->is_time && s->median < bars[0].value / 2)
            bars[i].look = "series-2";
        if (s->has_interval && !panel->is_time)
            bars[i].tip =
                xb_page_print(page, "95 %% interval %.*f to %.*f GB/s", entry->bar.decimals,
                              s->ci95_low, entry->bar.decimals, s->ci95_high);
    }
    struct xb_lengths lengths = {.rows = rows,
                                 .row_count = count,
                                 .series = panels->labels,
                                 .series_count = documents,
                                 .bars = bars,
                                 .level = {xb_page_print(page, "link carries %.1f", level), level},
                                 .end = end_of(panels, panel)};
    xb_page_picture(page, xb_lengths_draw, &lengths,
                    xb_page_print(page, "%s, %s: %s", panel->title,
                                  across_text(page, panel, across),
                                  panel->is_time ? "time" : "GB/s"),
                    "Bars of %zu methods, the %s first. %s: %s. %s: %s.%s", count,
                    panel->is_time ? "shortest" : "fastest", rows[0], bars[0].text, rows[count - 1],
                    bars[(count - 1) * documents].text,
                    level > 0 ? " A line marks what the link carries." : "");
}

#define CURVE 3 /* values across that make one */

/* At most XB_PLOT_SERIES curves: the methods that are best where they reach farthest. */
static void draw_curves(struct panels *panels, const struct panel *panel)
{
    struct xb_page *page = panels->page;
    const char *names[NAMES];
    struct xb_series series[XB_PLOT_SERIES];
    const size_t documents = panels->document_count;
    const size_t found = list_names(panel, UINT64_MAX, names);
    const size_t drawn = found * documents <= XB_PLOT_SERIES ? found : XB_PLOT_SERIES / documents;
    const double scale = panel->is_time ? 1e3 : 1;
    const struct xb_plot_level level = {"link carries", level_of(panels, panel)};
    const char *by = panel->swept != NULL ? panel->swept : "size";
    size_t count = 0;
    for (size_t i = 0; i < drawn * documents; i++) {
        const size_t document = i % documents;
        const char *name = names[i / documents];
        struct xb_point *points = xb_page_new(page, panel->steps, sizeof *points);
        size_t length = 0;
        for (size_t k = panel->count; k-- > 0 && length < panel->steps;) {
            const struct entry *entry = &panel->entries[k];
            const struct xb_statistics *s = &entry->bar.s;
            if (entry->document == document && strcmp(entry->bar.name, name) == 0 &&
                is_sound(entry))
                points[length++] =
                    (struct xb_point){(double)entry->across, s->median * scale,
                                      s->has_interval ? s->ci95_low * scale : (double)NAN,
                                      s->has_interval ? s->ci95_high * scale : (double)NAN};
        }
        if (documents > 1)
            name = xb_page_print(page, "%s %s", panels->labels[document], name);
        if (length > 0)
            series[count++] = (struct xb_series){name, points, length};
    }
    struct xb_chart chart = {.x = {panel->is_count ? XB_SCALE_LINEAR : XB_SCALE_SIZE, by},
                             .y = {XB_SCALE_LINEAR, panel->is_time ? "ms" : "GB/s"},
                             .y_most = end_of(panels, panel) * scale,
                             .series = series,
                             .series_count = count,
                             .levels = &level,
                             .level_count = level.at > 0};
    xb_page_picture(page, xb_chart_draw, &chart,
                    xb_page_print(page, panel->swept != NULL ? "%s" : "%s, by size", panel->title),
                    "%zu curves of %s by %s, from %s to %s. The best at the end is %s.", count,
                    panel->is_time ? "milliseconds" : "GB/s", by,
                    across_text(page, panel, panel->entries[panel->count - 1].across),
                    across_text(page, panel, panel->entries[0].across), names[0]);
    panels->not_drawn += found - drawn;
}

/* The numbers of several files. A table of many sizes is closed. */
static void write_side_by_side(struct panels *panels, bool is_long)
{
    struct xb_page *page = panels->page;
    const size_t documents = panels->document_count;
    const struct entry *found[XB_REPORT_SHOWN];
    const char *names[NAMES];
    if (is_long)
        xb_page_fold_begin(page, NULL, "Side by side", "", "");
    xb_page_table_begin(page, "GB/s or time", "Results|#Size");
    for (size_t d = 0; d < documents; d++)
        xb_page_column(page, panels->labels[d], true);
    if (documents == 2)
        xb_page_column(page, "Second by first", true);
    for (const struct panel *panel = panels->all; panel < panels->all + panels->count; panel++) {
        const size_t count = list_names(panel, UINT64_MAX, names);
        for (size_t i = 0; i < count * panel->count; i++) {
            const char *name = names[i / panel->count];
            const struct entry *entry = &panel->entries[panel->count - 1 - i % panel->count];
            /* A row for each size, by its last entry. */
            if (i % panel->count > 0 && entry[1].across == entry->across)
                continue;
            bool any = false;
            for (size_t d = 0; d < documents; d++) {
                found[d] = find_entry(panel, d, name, entry->across);
                any = any || found[d] != NULL;
            }
            if (!any)
                continue;
            XB_PAGE_CELLS(page, xb_page_print(page, "%s: %s", panel->title, name),
                          across_text(page, panel, entry->across));
            for (size_t d = 0; d < documents; d++)
                xb_page_cell(page, value_text(page, found[d]));
            if (documents == 2)
                xb_page_cell(page,
                             is_sound(found[0]) && is_sound(found[1])
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

/* The fastest copy of a document that way, which stands before its others, and the panel that it is
 * in; NULL: there is none. */
static const struct xb_bar *find_fastest(const struct panels *panels, size_t document,
                                         enum xb_bar_kind kind, const struct panel **of)
{
    const struct xb_bar *best = NULL;
    for (size_t p = 0; p < panels->count && best == NULL; p++) {
        const struct panel *panel = *of = &panels->all[p];
        for (size_t i = 0; panel->swept == NULL && i < panel->count && best == NULL; i++) {
            const struct entry *entry = &panel->entries[i];
            const struct xb_bar *bar = &entry->bar;
            if (entry->document == document && bar->kind == kind && !bar->is_time &&
                !bar->is_encoded && entry->across == panel->widest && is_sound(entry))
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
    char text[32];
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
            xb_page_tile(page, "unsure",
                         xb_page_print(page, "%s \xC3\x97",
                                       xb_reading_factor_text(advice[i]->gain, text, sizeof text)),
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
        xb_page_words(page, "<h2>", "</h2>\n<ol>\n", "What to do in your program");
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
    panels->labels = xb_page_new(page, count, sizeof *panels->labels);
    for (; panels->current < count; panels->current++) {
        panels->labels[panels->current] = documents[panels->current]->label;
        xb_bars_each(documents[panels->current]->record, take_view, panels);
    }
    for (struct panel *panel = panels->all; panel < panels->all + panels->count; panel++) {
        qsort(panel->entries, panel->count, sizeof *panel->entries, by_place);
        for (size_t i = 0, run = 0, most = 0; i < panel->count; i++) {
            const struct entry *entry = &panel->entries[i];
            /* A link that a copy exceeds was read wrongly: nothing is held against it. */
            double *ceiling = &panel->ceilings[entry->document];
            *ceiling = is_sound(entry) && entry->bar.s.median > *ceiling ? 0 : *ceiling;
            run = i > 0 && entry->across == entry[-1].across ? run + 1 : 1;
            panel->steps += run == 1;
            panel->widest = run > most ? entry->across : panel->widest;
            most = run > most ? run : most;
        }
        any_curves = any_curves || panel->steps >= CURVE;
    }
    write_tiles(panels);
    /* Bars of one size, to the GPU and back side by side, then curves. */
    for (const struct panel *panel = panels->all; panel < panels->all + panels->count; panel++)
        if (panel->steps < CURVE || list_names(panel, UINT64_MAX, (const char *[NAMES]){NULL}) > 1)
            draw_bars(panels, panel);
    for (const struct panel *panel = panels->all; panel < panels->all + panels->count; panel++)
        if (panel->steps >= CURVE)
            draw_curves(panels, panel);
    xb_page_more(page, panels->not_drawn,
                 "slower methods have no curve: the table of all results has them.");
    if (count == 1)
        write_advice(page, documents[0]->reading);
    else
        write_side_by_side(panels, any_curves);
    xb_page_more(page, panels->left_out,
                 "results are not drawn: the table of all results has them.");
    for (size_t p = 0; p < panels->count; p++)
        free(panels->all[p].entries);
}

/* ---- which files stand side by side ---- */

/* Collects a name for each figure that a document has. */
struct keys {
    struct xb_arena **texts;
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
            keys->texts, "%s %d %d %s %llu %.60s", bar->name, (int)bar->kind, bar->test->device,
            bar->figure->name, (unsigned long long)bar->test->bytes,
            view->swept != NULL ? view->swept->name : "");
        keys->methods += is_first;
    }
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

size_t xb_choose_results(struct xb_report_document *const *documents, size_t count,
                         struct xb_report_document **shown)
{
    struct keys *keys = xb_new(count, sizeof *keys);
    struct xb_arena *texts = NULL;
    size_t lead = 0, alike = 0, chosen = 0;
    for (size_t i = 0; i < count; i++) {
        keys[i].texts = &texts;
        xb_bars_each(documents[i]->record, take_keys, &keys[i]);
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
        free(keys[i].all);
    xb_arena_free(texts);
    free(keys);
    return chosen;
}
