/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer's target for the writer of pictures: whatever the names and numbers are, the picture is
 * XML that is well-formed, of a bounded size, with numbers that are numbers.
 *
 * An input: a byte for the kind of picture, one for its scales, one for how many things it has;
 * then values and names, taken from the rest one after the other, and again from its start.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "check_markup.h"
#include "plot/pictures.h"

#include <math.h>
#include <string.h>

#define MOST 40        /* things in a picture */
#define NAME_MOST 1200 /* longer than what a picture keeps of a text */
#define SIZE_MOST ((size_t)4 << 20)

/* ---- what the bytes are taken for ---- */

struct bytes {
    const uint8_t *data;
    size_t size, at;
    char names[MOST][NAME_MOST + 1];
};

static uint8_t take(struct bytes *bytes)
{
    uint8_t byte = bytes->size > 0 ? bytes->data[bytes->at % bytes->size] : 0;
    bytes->at++;
    return byte;
}

/* Any double, or one of a size that pictures have. */
static double take_number(struct bytes *bytes)
{
    uint8_t kind = take(bytes);
    if (kind < 160)
        return (double)kind * pow(10.0, (double)(take(bytes) % 13) - 4.0);
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | take(bytes);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static const char *take_name(struct bytes *bytes, size_t index)
{
    size_t length = take(bytes);
    length = length < 240 ? length % 20 : (length - 239) * (NAME_MOST / 16);
    char *name = bytes->names[index];
    for (size_t i = 0; i < length; i++)
        name[i] = (char)take(bytes);
    name[length] = '\0';
    return name;
}

static enum xb_scale take_scale(struct bytes *bytes)
{
    return (enum xb_scale)(take(bytes) % 3);
}

static const char *take_look(struct bytes *bytes)
{
    static const char *const looks[] = {"", "good", "bad", "unsure"};
    return looks[take(bytes) % 4];
}

static struct xb_picture take_picture(struct bytes *bytes)
{
    return (struct xb_picture){take_name(bytes, 0), take_name(bytes, 1), take_name(bytes, 2)};
}

/* ---- pictures ---- */

typedef void (*draw)(FILE *stream, struct bytes *bytes, size_t count, bool is_alone);

static void draw_chart(FILE *stream, struct bytes *bytes, size_t count, bool is_alone)
{
    struct xb_point points[MOST];
    struct xb_series series[MOST];
    struct xb_plot_level levels[MOST];
    struct xb_chart chart = {.picture = take_picture(bytes),
                             .x = {take_scale(bytes), take_name(bytes, 3)},
                             .y = {take_scale(bytes), take_name(bytes, 4)},
                             .y_from_data = take(bytes) % 2 == 0,
                             .series = series,
                             .series_count = count,
                             .levels = levels,
                             .level_count = take(bytes) % MOST,
                             .mark = take_number(bytes),
                             .y_least = take_number(bytes),
                             .y_most = take_number(bytes)};
    for (size_t i = 0; i < MOST; i++) {
        points[i] = (struct xb_point){take_number(bytes), take_number(bytes), take_number(bytes),
                                      take_number(bytes)};
        series[i] = (struct xb_series){bytes->names[5 + i % 8], points, take(bytes) % MOST};
        levels[i] = (struct xb_plot_level){bytes->names[5 + i % 8], take_number(bytes)};
    }
    for (size_t i = 0; i < 8; i++)
        (void)take_name(bytes, 5 + i);
    xb_chart_draw(stream, &chart, is_alone);
}

static void draw_lengths(FILE *stream, struct bytes *bytes, size_t count, bool is_alone)
{
    const char *names[MOST];
    struct xb_length bars[MOST * MOST];
    struct xb_lengths picture = {.picture = take_picture(bytes),
                                 .rows = names,
                                 .row_count = count,
                                 .series = names,
                                 .series_count = take(bytes) % MOST,
                                 .bars = bars,
                                 .level = {take_name(bytes, 3), take_number(bytes)},
                                 .end = take_number(bytes)};
    for (size_t i = 0; i < MOST; i++)
        names[i] = take_name(bytes, i > 3 ? i : 4);
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++)
        bars[i] = (struct xb_length){.value = take_number(bytes),
                                     .text = take(bytes) % 2 == 0 ? names[i % MOST] : NULL,
                                     .look = take(bytes) % 2 == 0 ? take_look(bytes) : NULL,
                                     .tip = take(bytes) % 2 == 0 ? names[i % MOST] : NULL};
    xb_lengths_draw(stream, &picture, is_alone);
}

static void draw_strips(FILE *stream, struct bytes *bytes, size_t count, bool is_alone)
{
    double samples[MOST];
    struct xb_strip strips[MOST];
    struct xb_plot_level levels[MOST];
    struct xb_strips picture = {.picture = take_picture(bytes),
                                .x = {take_scale(bytes), take_name(bytes, 3)},
                                .strips = strips,
                                .count = count,
                                .levels = levels,
                                .level_count = take(bytes) % MOST};
    for (size_t i = 0; i < MOST; i++) {
        samples[i] = take_number(bytes);
        strips[i] = (struct xb_strip){.name = take_name(bytes, i > 3 ? i : 4),
                                      .samples = take(bytes) % 2 == 0 ? samples : NULL,
                                      .sample_count = i,
                                      .middle = take_number(bytes),
                                      .low = take_number(bytes),
                                      .high = take_number(bytes),
                                      .look = take_look(bytes),
                                      .note = take(bytes) % 2 == 0 ? bytes->names[4] : NULL};
        levels[i] = (struct xb_plot_level){bytes->names[4], take_number(bytes)};
    }
    xb_strips_draw(stream, &picture, is_alone);
}

static void draw_cells(FILE *stream, struct bytes *bytes, size_t count, bool is_alone)
{
    double values[MOST * MOST];
    const char *texts[MOST * MOST];
    const char *names[MOST];
    struct xb_cells cells = {.picture = take_picture(bytes),
                             .rows_are = take_name(bytes, 3),
                             .columns_are = take_name(bytes, 4),
                             .row_names = names,
                             .column_names = names,
                             .row_count = count,
                             .column_count = take(bytes) % MOST,
                             .values = values,
                             .texts = texts,
                             .unit = take_name(bytes, 5)};
    for (size_t i = 0; i < MOST; i++)
        names[i] = take_name(bytes, i > 5 ? i : 6);
    for (size_t i = 0; i < count * cells.column_count; i++) {
        values[i] = take_number(bytes);
        texts[i] = take(bytes) % 8 == 0 ? NULL : names[i % MOST];
    }
    xb_cells_draw(stream, &cells, is_alone);
}

static void draw_spans(FILE *stream, struct bytes *bytes, size_t count, bool is_alone)
{
    struct xb_drawn_span drawn[4 * MOST];
    const char *names[MOST];
    struct xb_spans spans = {.picture = take_picture(bytes),
                             .tracks = names,
                             .track_count = count,
                             .kinds = names,
                             .kind_count = take(bytes) % MOST,
                             .spans = drawn,
                             .count = take(bytes) % (4 * MOST)};
    for (size_t i = 0; i < MOST; i++)
        names[i] = take_name(bytes, i > 2 ? i : 3);
    for (size_t i = 0; i < spans.count; i++)
        drawn[i] = (struct xb_drawn_span){
            take_number(bytes), take_number(bytes),   take(bytes) % MOST,
            take(bytes) % MOST, take(bytes) % 2 == 0, take(bytes) % 2 == 0 ? NULL : names[4]};
    xb_spans_draw(stream, &spans, is_alone);
}

static void draw_tree(FILE *stream, struct bytes *bytes, size_t count, bool is_alone)
{
    struct xb_node nodes[2 * MOST];
    struct xb_tree tree = {.picture = take_picture(bytes), .nodes = nodes, .count = 2 * count};
    for (size_t i = 0; i < 2 * MOST; i++)
        nodes[i] = (struct xb_node){.parent = take(bytes) % (i + 1),
                                    .name = take_name(bytes, 3 + i % 37),
                                    .edge = take(bytes) % 2 == 0 ? bytes->names[3] : NULL,
                                    .edge_look = take(bytes) % 2 == 0 ? "bad" : NULL,
                                    .look = take_look(bytes)};
    xb_tree_draw(stream, &tree, is_alone);
}

static void check_svg(const char *text)
{
    static const char declaration[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    static const char *const elements[] = {"svg",  "title",  "desc", "style", "g", "line",
                                           "rect", "circle", "path", "text",  NULL};
    size_t begin = strncmp(text, declaration, sizeof declaration - 1) == 0;
    check_markup(text + begin * (sizeof declaration - 1), elements);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const draw draws[] = {draw_chart, draw_strips, draw_cells,
                                 draw_spans, draw_tree,   draw_lengths};
    if (size < 3)
        return 0;
    struct bytes *bytes = calloc(1, sizeof *bytes);
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    require(bytes != NULL && stream != NULL, "there is memory");
    bytes->data = data + 3;
    bytes->size = size - 3;
    draws[data[0] % (sizeof draws / sizeof *draws)](stream, bytes, data[2] % MOST,
                                                    data[1] % 2 == 0);
    require(fclose(stream) == 0, "a picture is written");
    require(length < SIZE_MOST, "a picture is not too large");
    check_svg(text);
    free(text);
    free(bytes);
    return 0;
}
