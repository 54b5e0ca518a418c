/* SPDX-License-Identifier: Apache-2.0 */
#include "trace.h"

#include "base/memory.h"
#include "base/order.h"
#include "base/terminal.h"
#include "base/units.h"
#include "measure/engine/stage.h"
#include "measure/plan/case.h"
#include "measure/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LABEL 20 /* "device 1 stream 10" and two spaces */
#define MOST_COLUMNS (XB_TIMELINE_WIDTH - LABEL)
/* More of them in a row cannot be told apart. */
#define MOST_ITEMS 12u
#define MOST_ROWS 24u

struct row {
    char label[XB_TRACK_NAME];
    bool is_thread; /* of calls and waits */
    double busy;    /* share of the iteration */
    struct xb_trace_item *cells;
    size_t count;
};

struct picture {
    const struct xb_result *result;
    const struct xb_timeline *timeline; /* its */
    struct row rows[MOST_ROWS];
    size_t row_count, rows_left_out;
    double end;   /* of what is shown */
    size_t width; /* of a line */
    int columns;  /* of what a row draws */
    bool is_window;
    bool has_stages; /* which the rows are */
};

const char *xb_track_name(const struct xb_timeline *timeline, size_t track, char *text, size_t size)
{
    const struct xb_track *own = &timeline->tracks[track];
    const struct xb_timeline_span *turn = NULL; /* its first: what it does besides submitting */
    bool has_others = false;                    /* streams of another device */
    for (size_t i = 0; turn == NULL && i < timeline->span_count; i++)
        if (timeline->spans[i].track == track && timeline->spans[i].kind == XB_SPAN_WORK)
            turn = &timeline->spans[i];
    for (size_t i = 0; i < timeline->track_count; i++)
        has_others = has_others || (timeline->tracks[i].kind == XB_TRACK_QUEUE &&
                                    timeline->tracks[i].device != own->device);
    if (own->kind == XB_TRACK_QUEUE && has_others)
        snprintf(text, size, "device %u stream %u", own->device, own->number);
    else if (own->kind == XB_TRACK_QUEUE)
        snprintf(text, size, "stream %u", own->number);
    else if (own->number == 0)
        snprintf(text, size, "thread 0 (submits)");
    else if (turn != NULL && turn->stage != NULL)
        snprintf(text, size, "thread %u (%ss)", own->number, turn->stage);
    else
        snprintf(text, size, "thread %u", own->number);
    return text;
}

/* What begins first is drawn first, then what ends first. */
XB_COMPARER(order_cells, struct xb_trace_item, XB_BY(begin), XB_BY(end))

/* A row with room for all spans; NULL, and counted, where there are enough. */
static struct row *add_row(struct picture *picture)
{
    if (picture->row_count == MOST_ROWS) {
        picture->rows_left_out++;
        return NULL;
    }
    struct row *row = &picture->rows[picture->row_count++];
    row->cells = xb_new(picture->timeline->span_count, sizeof *row->cells);
    return row;
}

/* The spans of a track, in order; what lies within another is drawn as that. */
static void add_track(struct picture *picture, size_t track)
{
    const struct xb_timeline *timeline = picture->timeline;
    struct row *row = add_row(picture);
    struct xb_busy_time work = {.has_any = false};
    uint64_t item = 0;
    double covered = -INFINITY;
    if (row == NULL)
        return;
    xb_track_name(timeline, track, row->label, sizeof row->label);
    row->is_thread = timeline->tracks[track].kind == XB_TRACK_THREAD;
    XB_EACH (span, timeline->spans, timeline->span_count) {
        if (span->track != track)
            continue;
        if (span->kind != XB_SPAN_WAIT)
            xb_busy_time_add(&work, span);
        if (span->begin < covered)
            continue;
        row->cells[row->count++] = (struct xb_trace_item){.item = item,
                                                          .begin = span->begin,
                                                          .end = span->end,
                                                          .is_wait = span->kind == XB_SPAN_WAIT};
        item += span->kind != XB_SPAN_WAIT;
        covered = span->end;
    }
    row->busy = work.busy / timeline->seconds;
}

XB_COMPARER(order_items, struct xb_trace_item, XB_BY(item))

size_t xb_trace_join(struct xb_trace_item *items, size_t count)
{
    size_t kept = 0;
    qsort(items, count, sizeof *items, order_items);
    for (size_t i = 0; i < count; i++) {
        struct xb_trace_item *last = kept > 0 ? &items[kept - 1] : NULL;
        if (last == NULL || last->item != items[i].item) {
            items[kept++] = items[i];
            continue;
        }
        last->begin = fmin(last->begin, items[i].begin);
        last->end = fmax(last->end, items[i].end);
    }
    return kept;
}

static void add_stage(struct picture *picture, const struct xb_stage *stage)
{
    static const char *const engines[] = {
        [XB_ENGINE_HOST] = "CPU", [XB_ENGINE_COPY] = "copy", [XB_ENGINE_COMPUTE] = "device"};
    const struct xb_timeline *timeline = picture->timeline;
    struct row *row = add_row(picture);
    if (row == NULL)
        return;
    snprintf(row->label, sizeof row->label, "%s (%s)", stage->name, engines[stage->engine]);
    XB_EACH (span, timeline->spans, timeline->span_count)
        if (xb_stage_does(stage, span))
            row->cells[row->count++] =
                (struct xb_trace_item){.item = span->item, .begin = span->begin, .end = span->end};
    row->count = xb_trace_join(row->cells, row->count);
    qsort(row->cells, row->count, sizeof *row->cells, order_cells);
    row->busy = xb_stage_shares(stage, timeline).busy;
}

/* Shows all, or from the beginning so much that no row of a device has too many items; but where
 * the device begins late, as much again. */
static void choose_window(struct picture *picture)
{
    double all = picture->timeline->seconds;
    for (size_t i = 0; i < picture->timeline->span_count; i++)
        all = fmax(all, picture->timeline->spans[i].end);
    double first = all, end = all;
    XB_EACH (row, picture->rows, picture->row_count) {
        if (row->is_thread || row->count == 0)
            continue;
        first = fmin(first, row->cells[0].begin);
        if (row->count > MOST_ITEMS)
            end = fmin(end, row->cells[MOST_ITEMS - 1].end);
    }
    picture->end = fmin(fmax(end, 2 * first), all);
    picture->is_window = picture->end < all;
}

/* The column in which that time is. */
static int column_of(const struct picture *picture, double seconds)
{
    double column = round(seconds / picture->end * picture->columns);
    return (int)fmin(fmax(column, 0), picture->columns);
}

/* The item's number between brackets where there is room for it, else its last digit all along. */
static void draw_cell(char *line, const struct xb_trace_item *cell, int from, int to)
{
    char number[24];
    int length = snprintf(number, sizeof number, "%llu", (unsigned long long)cell->item);
    int room = to - from - 2;
    memset(line + from, cell->is_wait ? '.' : number[length - 1], (size_t)(to - from));
    if (cell->is_wait || room < length)
        return;
    memset(line + from, '-', (size_t)(to - from));
    line[from] = '[';
    line[to - 1] = ']';
    memcpy(line + from + 1 + (room - length) / 2, number, (size_t)length);
}

/* Whose column is which: `owners` has picture->columns indices of cells, or -1. What ends first has
 * a column that several are under way in: work that waits behind other work on the same device is
 * drawn where that ends. What is there has one column at least. */
static void share_columns(const struct picture *picture, const struct row *row, long *owners)
{
    int taken = 0;            /* columns, the last that shows something included */
    double shown = -INFINITY; /* until here */
    for (size_t i = 0; i < row->count && row->cells[i].begin < picture->end; i++) {
        const struct xb_trace_item *cell = &row->cells[i];
        int from = column_of(picture, cell->begin);
        int to = column_of(picture, cell->end);
        bool has_any = false;
        from = from < taken && cell->begin >= shown ? taken : from;
        from = from < picture->columns ? from : picture->columns - 1;
        to = to > from ? to : from + 1;
        for (int c = from; c < to && c < picture->columns; c++)
            if (owners[c] < 0 || cell->end < row->cells[owners[c]].end) {
                owners[c] = (long)i;
                has_any = true;
            }
        to = has_any || to > taken ? to : taken + 1;
        if (!has_any && to <= picture->columns)
            owners[to - 1] = (long)i;
        taken = to > taken ? to : taken;
        shown = fmax(shown, cell->end);
    }
}

static void print_row(FILE *stream, const struct picture *picture, const struct row *row)
{
    char line[MOST_COLUMNS];
    long owners[MOST_COLUMNS];
    int length = 0;
    for (int c = 0; c < picture->columns; c++)
        owners[c] = -1;
    share_columns(picture, row, owners);
    memset(line, ' ', sizeof line);
    for (int from = 0, to; from < picture->columns; from = to) {
        for (to = from + 1; to < picture->columns && owners[to] == owners[from]; to++)
            ;
        if (owners[from] < 0)
            continue;
        draw_cell(line, &row->cells[owners[from]], from, to);
        length = to;
    }
    fprintf(stream, "%-*.*s%.*s\n", LABEL, LABEL - 2, row->label, length, line);
}

static void print_title(FILE *stream, const struct picture *picture)
{
    const struct xb_result *result = picture->result;
    char name[256];
    size_t width = picture->width;
    fputc('\n', stream);
    xb_lines_print(stream, width, "Timeline: %s", xb_case_text(&result->test, name, sizeof name));
    xb_lines_print(stream, width, "One iteration, recorded: %s (median of the samples: %s)",
                   XB_DURATION_TEXT(picture->timeline->seconds),
                   XB_DURATION_TEXT((double)result->bytes_moved / result->bandwidth.median));
    if (picture->is_window)
        xb_lines_print(stream, width, "Only its first %s are drawn, %.3g %% of it",
                       XB_DURATION_TEXT(picture->end),
                       100 * picture->end / picture->timeline->seconds);
}

void xb_timeline_print(FILE *stream, size_t width, const struct xb_result *result)
{
    struct picture picture = {.result = result, .timeline = result->timeline};
    picture.width = width < XB_TIMELINE_WIDTH ? width : XB_TIMELINE_WIDTH;
    picture.columns = (int)picture.width - LABEL;
    const struct xb_timeline *timeline = picture.timeline;
    const struct xb_stage *stage = result->test.mode->stages;
    for (size_t i = 0; stage != NULL && i < timeline->span_count; i++)
        picture.has_stages = picture.has_stages || timeline->spans[i].stage != NULL;
    for (; picture.has_stages && stage->name != NULL; stage++)
        add_stage(&picture, stage);
    for (size_t i = 0; !picture.has_stages && i < timeline->track_count; i++)
        add_track(&picture, i);
    choose_window(&picture);
    print_title(stream, &picture);
    for (size_t i = 0; i < picture.row_count; i++)
        print_row(stream, &picture, &picture.rows[i]);
    /* A mark and its time at the beginning, where there is room in the middle, and at the end. */
    const char *half = XB_DURATION_TEXT(picture.end / 2), *all = XB_DURATION_TEXT(picture.end);
    int rest = picture.columns / 2 - 2 - (int)strlen(all);
    const bool fits = rest >= (int)strlen(half);
    fprintf(stream, "%*s|%-*s%c%-*s%s|\n", LABEL, "", picture.columns / 2 - 1, "0",
            fits ? '|' : ' ', rest, fits ? half : "", all);
    xb_lines_print(stream, picture.width, "numbers: %s; narrow cells show the last digit",
                   picture.has_stages ? "chunks or batches" : "the row's operations; dots: waits");
    struct xb_words busy = {.length = 0};
    for (size_t i = 0; i < picture.row_count; i++)
        xb_words_add(&busy, "%s %s %.0f %%", i > 0 ? "," : "at work:", picture.rows[i].label,
                     100 * picture.rows[i].busy);
    if (timeline->left_out == 0)
        xb_lines_print(stream, picture.width, "%s", busy.text);
    if (picture.rows_left_out > 0)
        xb_lines_print(stream, picture.width, "%zu more rows are left out: --trace FILE has all",
                       picture.rows_left_out);
    if (timeline->left_out > 0)
        xb_lines_print(stream, picture.width,
                       "%llu operations were too many to record: nothing says who was at work",
                       (unsigned long long)timeline->left_out);
    for (size_t i = 0; i < picture.row_count; i++)
        free(picture.rows[i].cells);
}
