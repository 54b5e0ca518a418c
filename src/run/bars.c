/* SPDX-License-Identifier: Apache-2.0 */
/* Results as bars, small matrices and curves. */
#define _GNU_SOURCE
#include "table.h"

#include "base/memory.h"
#include "base/terminal.h"
#include "base/text.h"
#include "present/table.h"
#include "record/mode_list.h"
#include "record/rows.h"
#include "record/shown_parameters.h"
#include "xferbench/units.h"

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

/* What a group of rows has in common, in the order in which groups are printed. */
enum kind { TO, BACK, OTHER, KINDS };

static enum kind kind_of(const struct xb_record_case *test)
{
    return strcmp(test->direction, "h2d") == 0   ? TO
           : strcmp(test->direction, "d2h") == 0 ? BACK
                                                 : OTHER;
}

/* A row: a case and what is known of it. */
struct bar {
    const struct xb_record_case *test;
    struct xb_statistics s; /* of its main figure, in GB/s or in seconds */
    double rank;            /* rises from the best: rows stand in this order */
    int decimals;           /* of its rate */
    double copy_time;       /* of a small copy, from the call until it is done; else INFINITY */
    const struct xb_figure *figure; /* its main one */
    bool is_encoded;                /* its data crosses the link in another form */
    const char *flaw;               /* why it counts for less: "" for nothing */
    size_t method, place; /* of its grid: a number, the same for what differs in the axis alone, and
                             where its value stands on that; behind all of them if it does not */
    uint64_t part;        /* what has tables of its own: the size, where a parameter is swept */
    char name[96];
};

struct overview {
    FILE *stream;
    bool only_sweeps; /* nothing of one value */
    const struct xb_record *record;
    struct xb_parameters parameters;
    const bool *told; /* for each case: it stands elsewhere */
    /* For each case: the parameter whose values it is one of several of; NULL: none. */
    const struct xb_option **swept_by;
    const struct xb_option *swept; /* in these bars, of `mode` alone; NULL: size or device */
    const struct xb_mode *mode;
    struct bar *bars;
    size_t count;
    size_t
        name_width; /* of the longest, so that columns of several tables stand below each other */
    bool is_beside; /* devices stand beside each other */
};

/* The figure that people ask the method for. */
static const struct xb_figure *figure_of(const struct xb_record_case *test)
{
    const struct xb_mode *mode = xb_mode_find(test->mode);
    return mode != NULL && mode->headline != NULL && !test->latency
               ? mode->headline
               : xb_mode_main_figure(test->mode, test->latency);
}

static bool is_time(const struct xb_record_case *test)
{
    return strcmp(figure_of(test)->unit, XB_UNIT_SECONDS) == 0;
}

/* "async, chunk 8 MiB": what tells it from the others. */
static void name_bar(const struct overview *view, struct bar *bar)
{
    char text[64];
    xb_method_name(bar->test, bar->name, sizeof bar->name);
    for (size_t i = 0; i < view->parameters.count; i++) {
        const char *name = view->parameters.names[i];
        const char *value = xb_parameter_text(bar->test, name, text, sizeof text);
        size_t used = strlen(bar->name);
        bool is_swept = view->swept != NULL && strcmp(name, view->swept->name) == 0;
        if (value != NULL && !is_swept && xb_parameter_differs(&view->parameters, bar->test, name))
            snprintf(bar->name + used, sizeof bar->name - used, ", %s %s", name, value);
    }
}

static void set_figure(const struct overview *view, struct bar *bar)
{
    const struct xb_record_case *test = bar->test;
    struct xb_statistics *s = &bar->s;
    double unit = is_time(test) ? 1 : 1e9;
    double whole = xb_record_median(view->record, test, xb_figure_wall_time.name);
    if (!xb_record_describe(view->record, test, bar->figure->name, s))
        return;
    s->median /= unit;
    s->p99 /= unit;
    s->ci95_low /= unit;
    s->ci95_high /= unit;
    bar->rank = is_time(test) ? s->median : -s->median;
    /* Four digits, fewer where the interval is wide: 55.34, but 13.5 and 8.2. */
    double width = s->has_interval ? (s->ci95_high - s->ci95_low) / s->median : 0;
    bar->decimals = xb_decimals_for(s->median) - (width >= 0.05) - (width >= 0.1);
    bar->decimals = bar->decimals > 0 ? bar->decimals : 0;
    if (!is_time(test) && test->bytes < XB_LARGE_BYTES && isfinite(whole))
        bar->copy_time = whole;
}

/* Takes the cases that have a figure, or failed, and stand nowhere else. */
static void take_bars(struct overview *view)
{
    for (size_t i = 0; i < view->record->case_count; i++) {
        const struct xb_record_case *test = &view->record->cases[i];
        const struct xb_mode *mode = xb_mode_find(test->mode);
        const struct xb_record_summary summary = xb_record_summarize(view->record, test);
        struct bar bar = {.test = test,
                          .figure = figure_of(test),
                          .copy_time = (double)INFINITY,
                          .is_encoded = mode != NULL && mode->crosses_otherwise && mode->only_named,
                          .part = view->swept != NULL ? test->bytes : 0};
        bool is_here = view->swept_by[i] == view->swept &&
                       (view->swept == NULL || strcmp(test->mode, view->mode->name) == 0);
        if (view->told[i] || !is_here)
            continue;
        bar.flaw = summary.verified == XB_VERIFIED_FALSE ? "WRONG DATA"
                   : summary.status != XB_RESULT_OK      ? "FAILED"
                   : summary.cut > 0                     ? "cut short"
                                                         : "";
        set_figure(view, &bar);
        if (!(bar.s.median > 0) && summary.status != XB_RESULT_ERROR)
            continue;
        name_bar(view, &bar);
        /* Names and titles of tables of one way decide how wide the first column is. */
        size_t name = strlen(bar.name) + strlen("  ");
        size_t title =
            strlen(xb_direction_words(test)) + strlen(", ") + strlen(XB_SIZE_TEXT(test->bytes));
        size_t most = kind_of(test) != OTHER && title > name ? title : name;
        view->name_width = most > view->name_width ? most : view->name_width;
        view->bars[view->count++] = bar;
    }
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int by_method(const void *a, const void *b, void *of)
{
    const struct overview *view = of;
    const struct xb_record_case *left = ((const struct bar *)a)->test;
    const struct xb_record_case *right = ((const struct bar *)b)->test;
    unsigned but = XB_BUT_SIZE | XB_BUT_DEVICES;
    if (view->swept == NULL)
        return xb_cases_order(left, right, but);
    int order = xb_cases_order(left, right, but | XB_BUT_PARAMETERS);
    if (order == 0)
        order = ORDER(left->parameter_count, right->parameter_count);
    for (size_t i = 0; order == 0 && i < left->parameter_count; i++) {
        const struct xb_record_fact *one = &left->parameters[i], *other = &right->parameters[i];
        order = strcmp(one->name, other->name);
        if (order == 0 && strcmp(one->name, view->swept->name) != 0)
            order = strcmp(one->value != NULL ? one->value : "",
                           other->value != NULL ? other->value : "");
    }
    return order;
}

/* Numbers the methods; whether one was measured on several devices. */
static bool number_methods(struct overview *view)
{
    bool are_beside = false;
    qsort_r(view->bars, view->count, sizeof(struct bar), by_method, view);
    for (size_t i = 1; i < view->count; i++) {
        struct bar *bar = &view->bars[i];
        bool is_same = by_method(bar - 1, bar, view) == 0;
        bar->method = bar[-1].method + !is_same;
        are_beside = are_beside || (is_same && bar->test->device != bar[-1].test->device);
    }
    return are_beside && view->swept == NULL;
}

static int by_device(const struct bar *a, const struct bar *b)
{
    int order = ORDER(a->test->device, b->test->device);
    return order != 0 ? order : ORDER(a->part, b->part);
}

/* What stands in one table: the same figure, of data in the same form, the same way. */
static int by_table(const struct bar *a, const struct bar *b)
{
    int order = is_time(a->test) - is_time(b->test);
    if (order == 0)
        order = strcmp(a->figure->name, b->figure->name);
    if (order == 0)
        order = a->is_encoded - b->is_encoded;
    return order != 0 ? order : (int)kind_of(a->test) - (int)kind_of(b->test);
}

/* Rows of one table: those that count for less stand last. */
static int by_rank(const void *a, const void *b)
{
    const struct bar *left = a, *right = b;
    int order = (left->flaw[0] != '\0') - (right->flaw[0] != '\0');
    if (order == 0)
        order = ORDER(left->rank, right->rank);
    return order != 0 ? order : ORDER(left->test, right->test);
}

/* In the order in which they are printed: by device, table and size; then the fastest first. */
static int by_print(const void *a, const void *b, void *of)
{
    const struct overview *view = of;
    const struct bar *left = a, *right = b;
    int order = view->is_beside ? 0 : by_device(left, right);
    if (order == 0)
        order = by_table(left, right);
    if (order == 0)
        order = by_device(left, right);
    if (order == 0)
        order = ORDER(left->test->bytes, right->test->bytes);
    return order != 0 ? order : by_rank(a, b);
}

/* "To the GPU", "Within GPU 1", "Both ways, and within the GPU" */
static void title_of(const struct bar *bars, size_t count, bool names_devices, char *title,
                     size_t size)
{
    enum kind kind = kind_of(bars[0].test);
    bool both = false, within = false;
    char gpu[24] = "the GPU";
    if (names_devices)
        snprintf(gpu, sizeof gpu, "GPU %d", bars[0].test->device);
    for (size_t i = 0; i < count; i++) {
        both = both || strcmp(bars[i].test->direction, "bidir") == 0;
        within = within || strcmp(bars[i].test->direction, "d2d") == 0;
    }
    if (is_time(bars[0].test) && !bars[0].test->latency)
        snprintf(title, size, "Time%s%s",
                 kind == TO      ? ", to "
                 : kind == BACK  ? ", back from "
                 : names_devices ? ", "
                                 : "",
                 kind != OTHER || names_devices ? gpu : "");
    else if (kind == TO)
        snprintf(title, size, "To %s", gpu);
    else if (kind == BACK)
        snprintf(title, size, names_devices ? "Back from %s" : "Back to the host", gpu);
    else if (both && !within)
        snprintf(title, size, "Both ways%s%s", names_devices ? ", " : "", names_devices ? gpu : "");
    else
        snprintf(title, size, "%s %s", both ? "Both ways, and within" : "Within", gpu);
}

static void add_column(struct xb_table *table, const char *title, bool is_right, unsigned char turn)
{
    xb_table_add_column(
        table, &(struct xb_table_column){.title = title, .is_right = is_right, .turn = turn});
}

/* A rate whose decimal point stands below those of its column. */
static void rate_cell(struct xb_table *table, double rate, int decimals, int most)
{
    if (!(rate > 0)) { /* it failed */
        xb_table_cell(table, XB_COLOUR_NONE, "-");
        return;
    }
    int behind = most - decimals + (decimals == 0 && most > 0);
    xb_table_cell(table, XB_COLOUR_NONE, "%.*f%*s", decimals, rate, behind, "");
}

static void duration_cell(struct xb_table *table, double seconds)
{
    char text[32] = "-";
    if (isfinite(seconds) && seconds > 0)
        xb_duration_format(seconds, text, sizeof text);
    xb_table_cell(table, XB_COLOUR_NONE, "%s", text);
}

/* Rows of one device, kind and size, and what their table shows. */
struct group {
    const struct bar *bars;
    size_t count;
    const struct xb_mode_part *parts; /* ends with a title of NULL */
    double ceiling, whole;            /* of the link, 0 for not known; what a full bar stands for */
    int decimals;
    bool has_bars, has_intervals, has_p99;
    bool is_small; /* copies by how long they take: the device's rate leaves out what starts them */
};

static struct group group_of(const struct overview *view, const struct bar *bars, size_t count)
{
    static const struct xb_mode_part none = {NULL, NULL};
    const struct xb_record_case *test = bars[0].test;
    const struct xb_mode *mode = xb_mode_find(test->mode);
    struct group group = {.bars = bars, .count = count, .parts = &none, .has_bars = true};
    double most = 0, least = (double)INFINITY;
    bool is_one_mode = mode != NULL;
    for (size_t i = 1; i < count; i++)
        is_one_mode = is_one_mode && strcmp(bars[i].test->mode, test->mode) == 0;
    group.is_small = !(is_one_mode && mode->parts != NULL) && kind_of(test) != OTHER;
    if (is_one_mode && mode->parts != NULL) /* columns of what its figure is made of */
        group.parts = mode->parts;
    for (size_t i = 0; i < count; i++) {
        group.decimals = bars[i].decimals > group.decimals ? bars[i].decimals : group.decimals;
        if (bars[i].flaw[0] == '\0') {
            most = fmax(most, bars[i].s.median);
            least = fmin(least, bars[i].copy_time);
        }
        group.is_small &= bars[i].flaw[0] != '\0' || isfinite(bars[i].copy_time);
        group.has_intervals |= bars[i].s.has_interval || bars[i].test->latency;
        group.has_p99 |= bars[i].test->latency && isfinite(bars[i].s.p99);
        /* Rates of copies within a GPU and over its link are not held against each other. */
        group.has_bars &= strcmp(bars[i].test->direction, test->direction) == 0;
    }
    const struct xb_record_device *device = xb_record_device(view->record, test->device);
    if (!is_time(test) && !bars[0].is_encoded && !group.is_small && kind_of(test) != OTHER &&
        device != NULL && device->ceiling.known)
        group.ceiling = (kind_of(test) == TO ? device->ceiling.h2d : device->ceiling.d2h) / 1e9;
    if (most > group.ceiling) /* the link was read wrongly */
        group.ceiling = 0;
    group.has_bars &= count > 1 || group.ceiling > 0;
    group.whole = group.is_small ? least : group.ceiling > 0 ? group.ceiling : most;
    return group;
}

static void add_columns(const struct overview *view, const struct group *group, const char *title,
                        struct xb_table *table)
{
    bool is_times = is_time(group->bars[0].test);
    char beside[64], briefly[64];
    struct xb_words first = {.length = 0};
    xb_words_add(&first, "%s, %s", title, XB_SIZE_TEXT(group->bars[0].test->bytes));
    snprintf(briefly, sizeof briefly, "%.63s", first.text);
    if (first.length < view->name_width)
        xb_words_add(&first, "%*s", (int)(view->name_width - first.length), "");
    xb_table_add_column(
        table, &(struct xb_table_column){.title = first.text, .brief = briefly, .least = 16});
    if (group->is_small)
        add_column(table, "whole copy", true, 0);
    add_column(table, is_times ? "TIME" : "GB/s", true, 0);
    if (group->has_intervals)
        add_column(table, group->has_p99 ? "p99" : "95 % interval", true, 1);
    for (const struct xb_mode_part *part = group->parts; part->title != NULL; part++)
        add_column(table, part->title, true, 0);
    if (group->has_bars) {
        snprintf(beside, sizeof beside, "%s", is_times ? "of the longest" : "of the fastest");
        if (group->ceiling > 0)
            snprintf(beside, sizeof beside, "of %.1f that the link carries", group->ceiling);
        snprintf(briefly, sizeof briefly, group->ceiling > 0 ? "of %.1f" : "share", group->ceiling);
        xb_table_add_column(
            table, &(struct xb_table_column){.title = beside, .brief = briefly, .turn = 2});
        add_column(table, "", true, 3);
    }
    add_column(table, "", false, 2); /* the share of what is possible */
    add_column(table, "", false, 0); /* flaws */
}

static void add_row(const struct overview *view, const struct group *group, const struct bar *bar,
                    struct xb_table *table)
{
    double bound = xb_record_median(view->record, bar->test, "share_of_bound");
    double share = group->is_small ? group->whole / bar->copy_time : bar->s.median / group->whole;
    xb_table_row(table);
    xb_table_cell(table, XB_COLOUR_NONE, "  %s", bar->name);
    if (group->is_small)
        duration_cell(table, bar->copy_time);
    if (is_time(bar->test))
        duration_cell(table, bar->s.median);
    else
        rate_cell(table, bar->s.median, bar->decimals, group->decimals);
    if (group->has_intervals) {
        /* "55.31-55.38", "1.20 ms-1.31 ms"; of latencies their 99th percentile. */
        const struct xb_statistics *s = &bar->s;
        if (bar->test->latency && isfinite(s->p99))
            duration_cell(table, s->p99);
        else if (!s->has_interval)
            xb_table_cell(table, XB_COLOUR_NONE, "-");
        else if (is_time(bar->test))
            xb_table_cell(table, XB_COLOUR_NONE, "%s-%s", XB_DURATION_TEXT(s->ci95_low),
                          XB_DURATION_TEXT(s->ci95_high));
        else
            xb_table_cell(table, XB_COLOUR_NONE, "%.*f-%.*f", bar->decimals, s->ci95_low,
                          bar->decimals, s->ci95_high);
    }
    for (const struct xb_mode_part *part = group->parts; part->title != NULL; part++) {
        double value = xb_record_median(view->record, bar->test, part->figure->name);
        if (strcmp(part->figure->unit, XB_UNIT_SECONDS) == 0)
            duration_cell(table, value);
        else if (!isfinite(value))
            xb_table_cell(table, XB_COLOUR_NONE, "-");
        else
            xb_table_cell(table, XB_COLOUR_NONE, "%s", XB_RATE_TEXT(value));
    }
    if (group->has_bars) {
        xb_table_bar(table, bar->flaw[0] == '\0' ? share : 0);
        xb_table_cell(table, XB_COLOUR_NONE, bar->flaw[0] == '\0' ? "%.0f %%" : "-", 100 * share);
    }
    if (isfinite(bound) && kind_of(bar->test) == OTHER)
        xb_table_cell(table, XB_COLOUR_NONE, "%.0f %% of the best possible here", 100 * bound);
    else
        xb_table_cell(table, XB_COLOUR_NONE, "%s", "");
    xb_table_cell(table, XB_COLOUR_BAD, "%s", bar->flaw);
}

static void print_table(const struct overview *view, struct xb_table *table)
{
    fputc('\n', view->stream);
    xb_table_finish(view->stream, table, NULL);
}

static void print_bars(const struct overview *view, struct bar *bars, size_t count,
                       bool names_devices)
{
    const struct group group = group_of(view, bars, count);
    for (size_t i = 0; group.is_small && i < count; i++)
        bars[i].rank = bars[i].copy_time;
    if (group.is_small)
        qsort(bars, count, sizeof(struct bar), by_rank);
    char title[64];
    size_t shown = count > MOST_ROWS ? MOST_ROWS - 1 : count;
    struct xb_table *table = xb_table_new();
    title_of(bars, count, names_devices, title, sizeof title);
    add_columns(view, &group, title, table);
    for (size_t i = 0; i < shown; i++)
        add_row(view, &group, &bars[i], table);
    print_table(view, table);
    if (shown < count)
        fprintf(view->stream, "  and %zu slower: --columns all\n", count - shown);
}

/* ---- several sizes or devices beside each other ---- */

/* What stands across: each a value of its own, from the least up. */
struct axis {
    uint64_t values[MOST_AXIS];
    size_t count;
    enum { BY_SIZE, BY_DEVICE, BY_OPTION } by;
    const struct xb_option *option; /* whose values they are */
    bool has_more;                  /* smaller ones than there is room for */
};

static uint64_t value_of(const struct axis *axis, const struct xb_record_case *test)
{
    if (axis->by == BY_OPTION)
        return strtoull(xb_record_parameter(test, axis->option->name), NULL, 10);
    return axis->by == BY_DEVICE ? (uint64_t)test->device : test->bytes;
}

static struct axis axis_of(const struct overview *view, const struct bar *bars, size_t count,
                           bool is_devices)
{
    struct axis axis = {.by = is_devices            ? BY_DEVICE
                              : view->swept != NULL ? BY_OPTION
                                                    : BY_SIZE,
                        .option = view->swept};
    for (size_t i = 0; i < count; i++) {
        uint64_t value = value_of(&axis, bars[i].test);
        size_t at = 0;
        while (at < axis.count && axis.values[at] < value)
            at++;
        if (at < axis.count && axis.values[at] == value)
            continue;
        if (axis.count == MOST_AXIS) { /* more sizes come from no sweep: the largest count */
            axis.has_more = true;
            if (at == 0)
                continue;
            memmove(&axis.values[0], &axis.values[1], --axis.count * sizeof axis.values[0]);
            at--;
        }
        memmove(&axis.values[at + 1], &axis.values[at], (axis.count - at) * sizeof axis.values[0]);
        axis.values[at] = value;
        axis.count++;
    }
    return axis;
}

/* "64 KiB", "GPU 1", "16" */
static const char *value_text(const struct axis *axis, size_t index, char *text, size_t size)
{
    uint64_t value = axis->values[index];
    bool is_count = axis->by == BY_OPTION && axis->option->type == XB_OPTION_COUNTS;
    if (axis->by == BY_DEVICE || is_count || value == 0)
        snprintf(text, size, "%s%" PRIu64, axis->by == BY_DEVICE ? "GPU " : "", value);
    else
        xb_size_format(value, text, size);
    return text;
}

/* Rows of one device or of all: for each method what it has of each value of the axis. */
struct grid {
    struct axis axis;
    const struct bar *bars;
    size_t count;
    const struct bar **cells; /* by method, then by value; NULL: none */
    bool sweeps;              /* a method has several values */
};

static const struct bar *find_bar(const struct grid *grid, size_t method, size_t place)
{
    return grid->cells[method * grid->axis.count + place];
}

/* Release the cells. */
static struct grid grid_of(const struct overview *view, struct bar *bars, size_t count)
{
    struct grid grid = {
        .axis = axis_of(view, bars, count, view->is_beside), .bars = bars, .count = count};
    const struct axis *axis = &grid.axis;
    grid.cells = xb_new(view->count * axis->count, sizeof(const struct bar *));
    for (size_t i = 0; i < count; i++) {
        struct bar *bar = &bars[i];
        bar->place = 0;
        while (bar->place < axis->count && axis->values[bar->place] != value_of(axis, bar->test))
            bar->place++;
        if (bar->place == axis->count)
            continue;
        for (size_t v = 0; v < axis->count; v++)
            grid.sweeps |= v != bar->place && find_bar(&grid, bar->method, v) != NULL;
        grid.cells[bar->method * axis->count + bar->place] = bar;
    }
    return grid;
}

/* `most`: the decimals of its column. */
static void value_cell(struct xb_table *table, const struct bar *bar, int most)
{
    const char *flaw = bar != NULL ? bar->flaw : "-";
    if (flaw[0] != '\0')
        xb_table_cell(table, bar != NULL ? XB_COLOUR_BAD : XB_COLOUR_NONE, "%s", flaw);
    else if (is_time(bar->test))
        duration_cell(table, bar->s.median);
    else
        rate_cell(table, bar->s.median, bar->decimals, most > bar->decimals ? most : bar->decimals);
}

/* Its share of the whole; 0 for what is not there or counts for less. */
static double share_of(const struct bar *bar, double whole)
{
    return bar != NULL && bar->flaw[0] == '\0' ? bar->s.median / whole : 0;
}

/* Which of the values are shown: as many as have room, evenly, with the first and the last. */
static size_t place_across(const struct axis *axis, size_t index, size_t across)
{
    return across > 1 ? index * (axis->count - 1) / (across - 1) : 0;
}

static const char *const briefs[KINDS] = {"To, GB/s", "Back, GB/s", NULL};

/* One method in every size: sizes go down, its directions stand beside each other with bars. */
static void print_sweep(const struct overview *view, const struct grid *grid)
{
    const struct bar *first[KINDS] = {NULL};
    double whole[KINDS] = {0};
    int decimals[KINDS] = {0};
    char text[64];
    struct xb_words name = {.length = 0};
    struct xb_table *table = xb_table_new();
    for (size_t i = 0; i < grid->count; i++) {
        const struct bar *bar = &grid->bars[i];
        enum kind kind = kind_of(bar->test);
        first[kind] = first[kind] == NULL ? bar : first[kind];
        whole[kind] = fmax(whole[kind], bar->flaw[0] == '\0' ? bar->s.median : 0);
        decimals[kind] = bar->decimals > decimals[kind] ? bar->decimals : decimals[kind];
    }
    xb_words_add(&name, "%s", grid->bars[0].name);
    if (grid->axis.by == BY_OPTION)
        xb_words_add(&name, ", %s, by %s",
                     xb_size_format(grid->bars[0].test->bytes, text, sizeof text),
                     grid->axis.option->name);
    add_column(table, name.text, true, 0);
    for (enum kind kind = TO; kind < KINDS; kind++) {
        struct xb_words title = {.length = 0};
        if (first[kind] == NULL)
            continue;
        bool is_rate = !is_time(first[kind]->test);
        title_of(first[kind], 1, false, text, sizeof text);
        xb_words_add(&title, "%s%s", text, is_rate ? ", GB/s" : "");
        xb_table_add_column(table, &(struct xb_table_column){.title = title.text,
                                                             .brief = is_rate ? briefs[kind] : NULL,
                                                             .is_right = true});
        add_column(table, "", false, 1);
    }
    size_t lines = grid->axis.count < MOST_VALUES ? grid->axis.count : MOST_VALUES;
    for (size_t line = 0; line < lines; line++) {
        size_t v = place_across(&grid->axis, line, lines);
        xb_table_row(table);
        xb_table_cell(table, XB_COLOUR_NONE, "%s", value_text(&grid->axis, v, text, sizeof text));
        for (enum kind kind = TO; kind < KINDS; kind++) {
            if (first[kind] == NULL)
                continue;
            const struct bar *bar = find_bar(grid, first[kind]->method, v);
            value_cell(table, bar, decimals[kind]);
            xb_table_bar(table, share_of(bar, whole[kind]));
        }
    }
    print_table(view, table);
    if (lines < grid->axis.count || grid->axis.has_more)
        fputs("  other values: --columns all\n", view->stream);
}

/* Whether a line shows the method: it is its last value, of the values that have a column. Each
 * method has one line. */
static bool is_last(const struct grid *grid, const struct bar *bar)
{
    for (size_t v = bar->place + 1; v < grid->axis.count; v++)
        if (find_bar(grid, bar->method, v) != NULL)
            return false;
    return bar->place < grid->axis.count;
}

/* "To the GPU, GB/s"; where sizes are not what stands across "To the GPU, 1 GiB, GB/s" */
static void matrix_title(const struct axis *axis, const struct bar *rows, size_t count,
                         bool names_devices, struct xb_words *title)
{
    char text[64];
    title_of(rows, count, names_devices && axis->by != BY_DEVICE, text, sizeof text);
    xb_words_add(title, "%s", text);
    if (axis->by != BY_SIZE)
        xb_words_add(title, ", %s", XB_SIZE_TEXT(rows[0].test->bytes));
    if (!is_time(rows[0].test))
        xb_words_add(title, ", GB/s");
    if (axis->by == BY_OPTION)
        xb_words_add(title, " by %s", axis->option->name);
}

/* Methods go down, by their rate at the last value; some of the values stand across. `rows`: those
 * of the grid that are of one kind. */
static void print_matrix(const struct overview *view, const struct grid *grid,
                         const struct bar *rows, size_t count, bool names_devices)
{
    const struct axis *axis = &grid->axis;
    const struct xb_record_case *test = rows[0].test;
    const bool is_devices = axis->by == BY_DEVICE;
    const bool has_curve = !is_devices && axis->count >= LEAST_CURVE && xb_locale_has_utf8();
    const size_t room = has_curve ? MOST_BESIDE_CURVE : MOST_ACROSS;
    const size_t across = axis->count < room || is_devices ? axis->count : room;
    struct xb_table *table = xb_table_new();
    struct xb_words title = {.length = 0};
    char text[64];
    matrix_title(axis, rows, count, names_devices, &title);
    const char *brief = is_devices && !is_time(test) ? briefs[kind_of(test)] : NULL;
    xb_table_add_column(
        table, &(struct xb_table_column){.title = title.text, .brief = brief, .least = 16});
    for (size_t a = 0; a < across; a++) {
        /* In a narrow line the ends stay, and every device. */
        bool is_end = a == 0 || a + 1 == across || is_devices;
        add_column(table, value_text(axis, place_across(axis, a, across), text, sizeof text), true,
                   is_end ? 0 : (unsigned char)(2 - a % 2));
    }
    if (has_curve)
        add_column(table, "", false, 3);
    double whole = 0; /* what is largest of any method */
    int decimals[MOST_AXIS + 1] = {0};
    for (size_t i = 0; i < count; i++) {
        int *most = &decimals[rows[i].place];
        *most = rows[i].decimals > *most ? rows[i].decimals : *most;
        whole = fmax(whole, rows[i].flaw[0] == '\0' ? rows[i].s.median : 0);
    }
    size_t lines = 0, more = 0;
    for (size_t v = axis->count; v-- > 0;) /* rows of one value: the fastest first, by_print() */
        for (size_t k = 0; k < count; k++) {
            const struct bar *row = &rows[k];
            bool shows_any = has_curve;
            if (row->place != v || !is_last(grid, row))
                continue;
            for (size_t a = 0; a < across; a++)
                shows_any |= find_bar(grid, row->method, place_across(axis, a, across)) != NULL;
            if (lines == MOST_ROWS || !shows_any) {
                more++;
                continue;
            }
            lines++;
            xb_table_row(table);
            xb_table_cell(table, XB_COLOUR_NONE, "  %s", row->name);
            for (size_t a = 0; a < across; a++) {
                size_t place = place_across(axis, a, across);
                value_cell(table, find_bar(grid, row->method, place), decimals[place]);
            }
            double shares[MOST_AXIS]; /* of all its values */
            for (size_t i = 0; i < axis->count; i++)
                shares[i] = share_of(find_bar(grid, row->method, i), whole);
            if (has_curve)
                xb_table_curve(table, shares, axis->count);
        }
    print_table(view, table);
    if (more > 0)
        fprintf(view->stream, "  and %zu more: --columns all\n", more);
    if (axis->has_more)
        fputs("  other values: --columns all\n", view->stream);
}

/* One method, whatever its directions are. */
static bool is_one_method(const struct bar *bars, size_t count)
{
    size_t method[KINDS];
    bool is_there[KINDS] = {false};
    for (size_t i = 0; i < count; i++) {
        enum kind kind = kind_of(bars[i].test);
        if ((is_there[kind] && bars[i].method != method[kind]) ||
            strcmp(bars[i].name, bars[0].name) != 0 ||
            is_time(bars[i].test) != is_time(bars[0].test))
            return false;
        is_there[kind] = true;
        method[kind] = bars[i].method;
    }
    return true;
}

/* Of one device, or of all beside each other. */
static void print_device(const struct overview *view, struct bar *bars, size_t count,
                         bool names_devices)
{
    struct grid grid = grid_of(view, bars, count);
    bool is_told = view->only_sweeps && (!grid.sweeps || view->is_beside);
    if (!view->is_beside && grid.axis.count > 2 && is_one_method(bars, count)) {
        print_sweep(view, &grid);
        is_told = true;
    }
    for (size_t i = 0, equal = 0; !is_told && i < count; i += equal) {
        equal = 1;
        while (i + equal < count && by_table(&bars[i], &bars[i + equal]) == 0 &&
               (grid.sweeps || bars[i].test->bytes == bars[i + equal].test->bytes))
            equal++;
        if (grid.sweeps)
            print_matrix(view, &grid, bars + i, equal, names_devices);
        else
            print_bars(view, bars + i, equal, names_devices);
    }
    free(grid.cells);
}

/* Bars of what a parameter is swept in, or of the rest. */
static void print_view(struct overview *view)
{
    view->count = view->name_width = 0;
    take_bars(view);
    size_t devices = axis_of(view, view->bars, view->count, true).count;
    view->is_beside =
        number_methods(view) && axis_of(view, view->bars, view->count, false).count == 1;
    qsort_r(view->bars, view->count, sizeof(struct bar), by_print, view);
    for (size_t i = 0, equal = 0; i < view->count; i += equal) {
        equal = 1;
        while (i + equal < view->count &&
               (view->is_beside || by_device(&view->bars[i], &view->bars[i + equal]) == 0))
            equal++;
        print_device(view, view->bars + i, equal, devices > 1);
    }
}

/* ---- sweeps over a parameter ---- */

#define LEAST_VALUES 3 /* of a parameter that is swept, in so many sizes at most: */
#define MOST_SIZES 2

/* Whether it is one of the mode's copies that have the parameter. */
static bool is_of(const struct xb_record_case *test, const struct xb_mode *mode,
                  const struct xb_option *option)
{
    return strcmp(test->mode, mode->name) == 0 && !test->latency && !test->simultaneous &&
           test->peer < 0 && xb_record_parameter(test, option->name)[0] != '\0';
}

/* The mode's first parameter that is a list of numbers and has several values, in few sizes; NULL:
 * none. */
static const struct xb_option *swept_option(const struct xb_record *record,
                                            const struct xb_mode *mode)
{
    const struct xb_parameter *own = mode->parameters;
    for (; own != NULL && own->option != NULL; own++) {
        const struct xb_option *option = own->option;
        const char *values[LEAST_VALUES];
        uint64_t sizes[MOST_SIZES + 1];
        size_t value_count = 0, size_count = 0;
        if (option->type != XB_OPTION_SIZES && option->type != XB_OPTION_COUNTS)
            continue;
        for (size_t i = 0; size_count <= MOST_SIZES && i < record->case_count; i++) {
            const struct xb_record_case *test = &record->cases[i];
            size_t v = 0, k = 0;
            if (!is_of(test, mode, option))
                continue;
            const char *value = xb_record_parameter(test, option->name);
            while (v < value_count && strcmp(values[v], value) != 0)
                v++;
            if (v == value_count && value_count < LEAST_VALUES)
                values[value_count++] = value;
            while (k < size_count && sizes[k] != test->bytes)
                k++;
            sizes[k] = test->bytes;
            size_count += k == size_count;
        }
        if (value_count == LEAST_VALUES && size_count <= MOST_SIZES)
            return option;
    }
    return NULL;
}

void xb_overview_bars(FILE *stream, const struct xb_record *record, const bool *told,
                      bool only_sweeps)
{
    struct overview view = {.stream = stream,
                            .only_sweeps = only_sweeps,
                            .record = record,
                            .parameters = xb_parameters_that_differ(record),
                            .told = told,
                            .bars = xb_new(record->case_count, sizeof *view.bars),
                            .swept_by =
                                xb_new(record->case_count, sizeof(const struct xb_option *))};
    for (size_t m = 0; xb_modes[m] != NULL; m++) {
        const struct xb_option *option = swept_option(record, xb_modes[m]);
        for (size_t i = 0; option != NULL && i < record->case_count; i++)
            if (is_of(&record->cases[i], xb_modes[m], option))
                view.swept_by[i] = option;
    }
    print_view(&view);
    for (size_t m = 0; xb_modes[m] != NULL; m++) {
        view.mode = xb_modes[m];
        view.swept = swept_option(record, view.mode);
        if (view.swept != NULL)
            print_view(&view);
    }
    free(view.swept_by);
    free(view.bars);
}
