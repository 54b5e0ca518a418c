/* SPDX-License-Identifier: Apache-2.0 */
/* Bars, curves and small matrices. */
#include "table.h"

#include "base/memory.h"
#include "base/order.h"
#include "base/text.h"
#include "base/units.h"
#include "present/table.h"
#include "record/mode_list.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 12  /* of a group of bars */
#define MOST_ACROSS 7 /* values beside each other */
#define LEAST_CURVE 3 /* values */
#define MOST_BESIDE_CURVE 5
#define MOST_VALUES 24 /* below each other */
#define MOST_AXIS 64

const char *xb_bars_title(const struct xb_bar *bars, size_t count, bool names_devices, char *title)
{
    enum xb_bar_kind kind = bars[0].kind;
    bool both = false, within = false;
    char gpu[24] = "the GPU";
    if (names_devices)
        snprintf(gpu, sizeof gpu, "GPU %d", bars[0].test->device);
    for (size_t i = 0; i < count; i++) {
        both = both || strcmp(bars[i].test->direction, "bidir") == 0;
        within = within || strcmp(bars[i].test->direction, "d2d") == 0;
    }
    const char *time = kind == XB_BAR_TO     ? "Time, to %s"
                       : kind == XB_BAR_BACK ? "Time, back from %s"
                       : names_devices       ? "Time, %s"
                                             : "Time";
    const char *back = names_devices ? "Back from %s" : "Back to the host";
    const char *ways = names_devices ? "Both ways, %s" : "Both ways";
    const char *other = !both ? "Within %s" : within ? "Both ways, and within %s" : ways;
    const char *rate = kind == XB_BAR_TO ? "To %s" : kind == XB_BAR_BACK ? back : other;
    snprintf(title, XB_BARS_TITLE, bars[0].is_time && !bars[0].test->latency ? time : rate, gpu);
    return title;
}

/* Its median if it counts, else 0. */
static double sound_median(const struct xb_bar *bar)
{
    return bar != NULL && bar->flaw[0] == '\0' ? bar->s.median : 0;
}

/* Adds a column to `table`. */
#define ADD_COLUMN(...) xb_table_add_column(table, &(struct xb_table_column){__VA_ARGS__})

static void duration_cell(struct xb_table *table, double seconds)
{
    bool is_known = isfinite(seconds) && seconds > 0;
    xb_table_text(table, "%s", is_known ? XB_DURATION_TEXT(seconds) : "-");
}

/* Its median. The decimal point of a rate stands below those of its column, which have up to `most`
 * decimals. What failed has none. */
static void median_cell(struct xb_table *table, const struct xb_bar *bar, int most)
{
    int behind = most > bar->decimals ? most - bar->decimals + (bar->decimals == 0) : 0;
    if (bar->is_time || !(bar->s.median > 0))
        duration_cell(table, bar->s.median);
    else
        xb_table_text(table, "%.*f%*s", bar->decimals, bar->s.median, behind, "");
}

static void print_table(FILE *stream, struct xb_table *table)
{
    fputc('\n', stream);
    xb_table_print(stream, table, &(struct xb_table_look){0});
    xb_table_free(table);
}

/* What their table shows. */
struct group {
    const struct xb_mode_part *parts; /* of the figure of a mode alone; ends with a title of NULL */
    double ceiling, whole;            /* of the link, 0 for not known; what a full bar stands for */
    int decimals;
    bool has_bars, has_intervals, has_p99;
    bool is_small; /* copies by how long they take: the device's rate leaves out what starts them */
};

double xb_bars_ceiling(const struct xb_bars *view, const struct xb_bar *bars, size_t count)
{
    const struct xb_record_device *device = xb_record_device(view->record, bars[0].test->device);
    double most = 0, ceiling = 0;
    if (!bars[0].is_time && !bars[0].is_encoded && bars[0].kind != XB_BAR_OTHER && device != NULL &&
        device->ceiling.known)
        ceiling = (bars[0].kind == XB_BAR_TO ? device->ceiling.h2d : device->ceiling.d2h) / 1e9;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, sound_median(&bars[i]));
    return most > ceiling ? 0 : ceiling; /* the link was read wrongly */
}

static struct group group_of(const struct xb_bars *view, const struct xb_bar *bars, size_t count)
{
    static const struct xb_mode_part none = {NULL, NULL};
    const struct xb_record_case *test = bars[0].test;
    const struct xb_mode *mode = xb_mode_find(test->mode);
    const struct xb_mode_part *parts = mode != NULL ? mode->parts : NULL;
    double most = 0, least = (double)INFINITY;
    for (size_t i = 1; i < count; i++)
        parts = strcmp(bars[i].test->mode, test->mode) == 0 ? parts : NULL;
    struct group group = {.parts = parts != NULL ? parts : &none,
                          .is_small = parts == NULL && bars[0].kind != XB_BAR_OTHER,
                          .has_bars = true};
    for (size_t i = 0; i < count; i++) {
        bool is_sound = bars[i].flaw[0] == '\0';
        group.decimals = bars[i].decimals > group.decimals ? bars[i].decimals : group.decimals;
        most = fmax(most, sound_median(&bars[i]));
        least = is_sound ? fmin(least, bars[i].copy_time) : least;
        group.is_small &= !is_sound || isfinite(bars[i].copy_time);
        group.has_intervals |= bars[i].s.has_interval || bars[i].test->latency;
        group.has_p99 |= bars[i].test->latency && isfinite(bars[i].s.p99);
        /* Rates of copies within a GPU and over its link are not held against each other. */
        group.has_bars &= strcmp(bars[i].test->direction, test->direction) == 0;
    }
    if (!group.is_small)
        group.ceiling = xb_bars_ceiling(view, bars, count);
    group.has_bars &= count > 1 || group.ceiling > 0;
    group.whole = group.is_small ? least : group.ceiling > 0 ? group.ceiling : most;
    return group;
}

static void add_row(const struct xb_bars *view, const struct group *group, const struct xb_bar *bar,
                    struct xb_table *table)
{
    const struct xb_statistics *s = &bar->s;
    double bound = xb_record_median(view->record, bar->test, "share_of_bound");
    double share = group->is_small ? group->whole / bar->copy_time : s->median / group->whole;
    bool is_sound = bar->flaw[0] == '\0';
    xb_table_row(table);
    xb_table_text(table, "  %s", bar->name);
    if (group->is_small)
        duration_cell(table, bar->copy_time);
    median_cell(table, bar, group->decimals);
    /* "55.31-55.38", "1.20 ms-1.31 ms"; of latencies their 99th percentile. */
    if (group->has_intervals && bar->test->latency && isfinite(s->p99))
        duration_cell(table, s->p99);
    else if (group->has_intervals && !s->has_interval)
        xb_table_text(table, "-");
    else if (group->has_intervals && bar->is_time)
        xb_table_text(table, "%s-%s", XB_DURATION_TEXT(s->ci95_low),
                      XB_DURATION_TEXT(s->ci95_high));
    else if (group->has_intervals)
        xb_table_text(table, "%.*f-%.*f", bar->decimals, s->ci95_low, bar->decimals, s->ci95_high);
    for (const struct xb_mode_part *part = group->parts; part->title != NULL; part++) {
        double value = xb_record_median(view->record, bar->test, part->figure->name);
        if (strcmp(part->figure->unit, XB_UNIT_SECONDS) == 0)
            duration_cell(table, value);
        else
            xb_table_text(table, "%s", isfinite(value) ? XB_RATE_TEXT(value) : "-");
    }
    if (group->has_bars) {
        xb_table_bar(table, is_sound ? share : 0);
        xb_table_text(table, is_sound ? "%.0f %%" : "-", 100 * share);
    }
    if (isfinite(bound) && bar->kind == XB_BAR_OTHER)
        xb_table_text(table, "%.0f %% of the best possible here", 100 * bound);
    else
        xb_table_text(table, "%s", "");
    xb_table_cell(table, XB_COLOUR_BAD, "%s", bar->flaw);
}

static void print_bars(FILE *stream, const struct xb_bars *view, struct xb_bar *bars, size_t count)
{
    const struct group group = group_of(view, bars, count);
    const size_t shown = count > MOST_ROWS ? MOST_ROWS - 1 : count;
    char text[XB_BARS_TITLE], briefly[2 * XB_BARS_TITLE];
    struct xb_words first = {.length = 0};
    struct xb_table *table = xb_table_new();
    for (size_t i = 0; group.is_small && i < count; i++)
        bars[i].rank = bars[i].copy_time;
    if (group.is_small)
        qsort(bars, count, sizeof(struct xb_bar), xb_bars_by_rank);
    snprintf(briefly, sizeof briefly, "%s, %s",
             xb_bars_title(bars, count, view->names_devices, text),
             XB_SIZE_TEXT(bars[0].test->bytes));
    xb_words_add(&first, "%-*s", (int)view->name_width, briefly);
    ADD_COLUMN(.title = first.text, .brief = briefly, .least = 16);
    if (group.is_small)
        ADD_COLUMN(.title = "whole copy", .is_right = true);
    ADD_COLUMN(.title = bars[0].is_time ? "TIME" : "GB/s", .is_right = true);
    if (group.has_intervals)
        ADD_COLUMN(.title = group.has_p99 ? "p99" : "95 % interval", .is_right = true, .turn = 1);
    for (const struct xb_mode_part *part = group.parts; part->title != NULL; part++)
        ADD_COLUMN(.title = part->title, .is_right = true);
    if (group.has_bars) {
        snprintf(text, sizeof text, "%s", bars[0].is_time ? "of the longest" : "of the fastest");
        if (group.ceiling > 0)
            snprintf(text, sizeof text, "of %.1f that the link carries", group.ceiling);
        snprintf(briefly, sizeof briefly, group.ceiling > 0 ? "of %.1f" : "share", group.ceiling);
        ADD_COLUMN(.title = text, .brief = briefly, .turn = 2);
        ADD_COLUMN(.title = "", .is_right = true, .turn = 3);
    }
    ADD_COLUMN(.title = "", .turn = 2); /* the share of what is possible */
    ADD_COLUMN(.title = "");            /* flaws */
    for (size_t i = 0; i < shown; i++)
        add_row(view, &group, &bars[i], table);
    print_table(stream, table);
    if (shown < count)
        fprintf(stream, "  and %zu slower: --columns all\n", count - shown);
}

/* Rows of one device or of all: for each method what it has of each value across. */
struct grid {
    const struct xb_bar *bars;
    size_t count;
    uint64_t *values; /* each once, from the least up */
    size_t value_count;
    bool has_more;               /* smaller ones than there is room for */
    bool sweeps;                 /* a method has several values */
    const struct xb_bar **cells; /* by method, then by value; NULL: none */
    size_t *last;                /* by method: the place behind its last value; 0: it has none */
};

uint64_t xb_bars_across(const struct xb_bars *view, const struct xb_record_case *test)
{
    if (view->is_beside)
        return (uint64_t)test->device;
    return view->swept != NULL ? strtoull(xb_record_parameter(test, view->swept->name), NULL, 10)
                               : test->bytes;
}

XB_COMPARER(by_value, uint64_t, XB_ORDER(*a, *b))

static const struct xb_bar *find_bar(const struct grid *grid, size_t method, size_t place)
{
    return grid->cells[method * grid->value_count + place];
}

/* Release values, cells and last. */
static struct grid grid_of(const struct xb_bars *view, struct xb_bar *bars, size_t count)
{
    struct grid grid = {.bars = bars, .count = count, .values = xb_new(count, sizeof *grid.values)};
    size_t values = 0;
    for (size_t i = 0; i < count; i++)
        grid.values[i] = xb_bars_across(view, bars[i].test);
    qsort(grid.values, count, sizeof *grid.values, by_value);
    for (size_t i = 0; i < count; i++)
        if (values == 0 || grid.values[i] != grid.values[values - 1])
            grid.values[values++] = grid.values[i];
    grid.has_more = values > MOST_AXIS; /* more sizes come from no sweep: the largest count */
    grid.value_count = grid.has_more ? MOST_AXIS : values;
    memmove(grid.values, grid.values + values - grid.value_count,
            grid.value_count * sizeof *grid.values);
    grid.cells = xb_new(view->count * grid.value_count, sizeof(const struct xb_bar *));
    grid.last = xb_new(view->count, sizeof *grid.last);
    XB_EACH (bar, bars, count) {
        const uint64_t across = xb_bars_across(view, bar->test);
        const uint64_t *found =
            bsearch(&across, grid.values, grid.value_count, sizeof across, by_value);
        size_t *last = &grid.last[bar->method];
        bar->place = found != NULL ? (size_t)(found - grid.values) : grid.value_count;
        if (found == NULL)
            continue;
        grid.cells[bar->method * grid.value_count + bar->place] = bar;
        grid.sweeps |= *last > 0 && *last != bar->place + 1;
        *last = bar->place + 1 > *last ? bar->place + 1 : *last;
    }
    return grid;
}

/* "64 KiB", "GPU 1", "16" */
static const char *value_text(const struct xb_bars *view, uint64_t value, char *text)
{
    bool is_count = view->swept != NULL && view->swept->type == XB_OPTION_COUNTS;
    if (view->is_beside || is_count || value == 0)
        snprintf(text, XB_BARS_TITLE, "%s%" PRIu64, view->is_beside ? "GPU " : "", value);
    else
        xb_size_format(value, text, XB_BARS_TITLE);
    return text;
}

/* `most`: the decimals of its column. */
static void value_cell(struct xb_table *table, const struct xb_bar *bar, int most)
{
    if (bar == NULL)
        xb_table_text(table, "-");
    else if (bar->flaw[0] != '\0')
        xb_table_cell(table, XB_COLOUR_BAD, "%s", bar->flaw);
    else
        median_cell(table, bar, most);
}

/* Which of the values are shown: as many as have room, evenly, with the first and the last. */
static size_t place_across(const struct grid *grid, size_t index, size_t across)
{
    return across > 1 ? index * (grid->value_count - 1) / (across - 1) : 0;
}

static const char *const briefs[XB_BAR_KINDS] = {"To, GB/s", "Back, GB/s", NULL};

/* One method in every size: sizes go down, its directions stand beside each other with bars. False
 * where there are several methods: nothing is printed then. */
static bool print_sweep(FILE *stream, const struct xb_bars *view, const struct grid *grid)
{
    const struct xb_bar *first[XB_BAR_KINDS] = {NULL};
    double whole[XB_BAR_KINDS] = {0};
    int decimals[XB_BAR_KINDS] = {0};
    char text[XB_BARS_TITLE];
    struct xb_words name = {.length = 0};
    XB_EACH (bar, grid->bars, grid->count) {
        enum xb_bar_kind kind = bar->kind;
        first[kind] = first[kind] == NULL ? bar : first[kind];
        if (bar->method != first[kind]->method || strcmp(bar->name, grid->bars[0].name) != 0 ||
            bar->is_time != grid->bars[0].is_time)
            return false;
        whole[kind] = fmax(whole[kind], sound_median(bar));
        decimals[kind] = bar->decimals > decimals[kind] ? bar->decimals : decimals[kind];
    }
    struct xb_table *table = xb_table_new();
    xb_words_add(&name, "%s", grid->bars[0].name);
    if (view->swept != NULL)
        xb_words_add(&name, ", %s, by %s", XB_SIZE_TEXT(grid->bars[0].test->bytes),
                     view->swept->name);
    ADD_COLUMN(.title = name.text, .is_right = true);
    for (enum xb_bar_kind kind = XB_BAR_TO; kind < XB_BAR_KINDS; kind++) {
        struct xb_words title = {.length = 0};
        if (first[kind] == NULL)
            continue;
        bool is_rate = !first[kind]->is_time;
        xb_words_add(&title, "%s%s", xb_bars_title(first[kind], 1, false, text),
                     is_rate ? ", GB/s" : "");
        ADD_COLUMN(.title = title.text, .brief = is_rate ? briefs[kind] : NULL, .is_right = true);
        ADD_COLUMN(.title = "", .turn = 1);
    }
    size_t lines = grid->value_count < MOST_VALUES ? grid->value_count : MOST_VALUES;
    for (size_t line = 0; line < lines; line++) {
        size_t v = place_across(grid, line, lines);
        xb_table_row(table);
        xb_table_text(table, "%s", value_text(view, grid->values[v], text));
        for (enum xb_bar_kind kind = XB_BAR_TO; kind < XB_BAR_KINDS; kind++) {
            if (first[kind] == NULL)
                continue;
            const struct xb_bar *bar = find_bar(grid, first[kind]->method, v);
            value_cell(table, bar, decimals[kind]);
            xb_table_bar(table, sound_median(bar) / whole[kind]);
        }
    }
    print_table(stream, table);
    if (lines < grid->value_count || grid->has_more)
        fputs("  other values: --columns all\n", stream);
    return true;
}

/* "To the GPU, GB/s"; where sizes are not what stands across "To the GPU, 1 GiB, GB/s". */
static void add_title(const struct xb_bars *view, const struct xb_bar *rows, size_t count,
                      struct xb_table *table)
{
    struct xb_words title = {.length = 0};
    char text[XB_BARS_TITLE];
    xb_words_add(&title, "%s",
                 xb_bars_title(rows, count, view->names_devices && !view->is_beside, text));
    if (view->is_beside || view->swept != NULL)
        xb_words_add(&title, ", %s", XB_SIZE_TEXT(rows[0].test->bytes));
    xb_words_add(&title, "%s", rows[0].is_time ? "" : ", GB/s");
    if (view->swept != NULL)
        xb_words_add(&title, " by %s", view->swept->name);
    const char *brief = view->is_beside && !rows[0].is_time ? briefs[rows[0].kind] : NULL;
    ADD_COLUMN(.title = title.text, .brief = brief, .least = 16);
}

/* Methods go down, by their rate at the last value; some of the values stand across. */
static void print_matrix(FILE *stream, const struct xb_bars *view, const struct grid *grid,
                         const struct xb_bar *rows, size_t count)
{
    const size_t values = grid->value_count;
    const bool has_curve = !view->is_beside && values >= LEAST_CURVE && xb_locale_has_utf8();
    const size_t room = has_curve ? MOST_BESIDE_CURVE : MOST_ACROSS;
    const size_t across = values < room || view->is_beside ? values : room;
    size_t places[MOST_AXIS]; /* of what stands across */
    struct xb_table *table = xb_table_new();
    char text[XB_BARS_TITLE];
    add_title(view, rows, count, table);
    for (size_t a = 0; a < across; a++) {
        /* In a narrow line the ends stay, and every device. */
        bool is_end = a == 0 || a + 1 == across || view->is_beside;
        places[a] = place_across(grid, a, across);
        ADD_COLUMN(.title = value_text(view, grid->values[places[a]], text), .is_right = true,
                   .turn = is_end ? 0 : (unsigned char)(2 - a % 2));
    }
    if (has_curve)
        ADD_COLUMN(.title = "", .turn = 3);
    double whole = 0; /* what is largest of any method */
    int decimals[MOST_AXIS + 1] = {0};
    for (size_t i = 0; i < count; i++) {
        int *most = &decimals[rows[i].place];
        *most = rows[i].decimals > *most ? rows[i].decimals : *most;
        whole = fmax(whole, sound_median(&rows[i]));
    }
    size_t lines = 0, more = 0;
    for (size_t v = values; v-- > 0;) /* rows of one value: the fastest first, by_print() */
        XB_EACH (row, rows, count) {
            double shares[MOST_AXIS]; /* of all its values */
            bool shows_any = has_curve;
            if (row->place != v || v + 1 != grid->last[row->method])
                continue;
            for (size_t a = 0; a < across; a++)
                shows_any |= find_bar(grid, row->method, places[a]) != NULL;
            if (lines == MOST_ROWS || !shows_any) {
                more++;
                continue;
            }
            lines++;
            xb_table_row(table);
            xb_table_text(table, "  %s", row->name);
            for (size_t a = 0; a < across; a++)
                value_cell(table, find_bar(grid, row->method, places[a]), decimals[places[a]]);
            for (size_t i = 0; i < values; i++)
                shares[i] = sound_median(find_bar(grid, row->method, i)) / whole;
            if (has_curve)
                xb_table_curve(table, shares, values);
        }
    print_table(stream, table);
    if (more > 0)
        fprintf(stream, "  and %zu more: --columns all\n", more);
    if (grid->has_more)
        fputs("  other values: --columns all\n", stream);
}

struct printing {
    FILE *stream;
    bool only_sweeps;
};

/* Prints the bars of each device, or of all beside each other, in the order of tables. */
static void print_view(void *argument, const struct xb_bars *view)
{
    const struct printing *printing = argument;
    FILE *stream = printing->stream;
    for (size_t first = 0, count = 0; first < view->count; first += count) {
        struct xb_bar *bars = view->bars + first;
        count = 1;
        while (first + count < view->count &&
               (view->is_beside || xb_bars_by_device(&bars[0], &bars[count]) == 0))
            count++;
        struct grid grid = grid_of(view, bars, count);
        bool is_told =
            (!view->is_beside && grid.value_count > 2 && print_sweep(stream, view, &grid)) ||
            (printing->only_sweeps && (!grid.sweeps || view->is_beside));
        for (size_t i = 0, equal = 0; !is_told && i < count; i += equal) {
            equal = 1;
            while (i + equal < count && xb_bars_by_table(&bars[i], &bars[i + equal]) == 0 &&
                   (grid.sweeps || bars[i].test->bytes == bars[i + equal].test->bytes))
                equal++;
            if (grid.sweeps)
                print_matrix(stream, view, &grid, bars + i, equal);
            else
                print_bars(stream, view, bars + i, equal);
        }
        free(grid.cells);
        free(grid.last);
        free(grid.values);
    }
}

void xb_bars_print(FILE *stream, const struct xb_record *record, bool only_sweeps)
{
    xb_bars_each(record, print_view, &(struct printing){stream, only_sweeps});
}
