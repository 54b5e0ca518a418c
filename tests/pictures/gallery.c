/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: picture_gallery FOLDER | NAME
 *
 * Writes pictures of every kind to FOLDER, each as a file of its own (NAME.svg), and all of them
 * into gallery.html: for tests to check and for people to look at. Or prints one, as it is in a
 * page.
 */
#include "plot/pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define NONE ((double)NAN)
#define HOSTILE "<script>alert(\"1\")</script> & 'x' ]]> \x01\x7f\xff\xc3( \xe2\x80\xae reversed"
#define LONG                                                                                       \
    "a name that is very much longer than any that a device, a case or a path should have, so "    \
    "that it has to be cut"

typedef void (*draw)(FILE *stream, bool is_alone);

static struct xb_picture picture_of(const char *id, const char *title)
{
    return (struct xb_picture){id, title, "A picture of the gallery, for tests."};
}

/* ---- charts ---- */

static void draw_sizes(FILE *stream, bool is_alone)
{
    static const char *const names[] = {"pinned registered h2d", "pinned registered d2h",
                                        "pageable driver h2d",   "pageable driver d2h",
                                        "async registered h2d",  "zero-copy sequential h2d",
                                        "managed prefetch h2d",  "managed fault h2d"};
    static const double most[] = {55.4, 54.1, 8.2, 16.7, 52.0, 47.0, 43.0, 13.5};
    struct xb_point points[8][10];
    struct xb_series series[8];
    for (size_t i = 0; i < 8; i++) {
        for (size_t k = 0; k < 10; k++) {
            double x = exp2(12.0 + 2.0 * (double)k);
            double y = most[i] * x / (x + 3e5 * (1.0 + 0.3 * (double)i));
            points[i][k] = (struct xb_point){x, y, i % 2 ? NONE : y * 0.96, y * 1.03};
        }
        series[i] = (struct xb_series){names[i], points[i], 10};
    }
    const struct xb_plot_level levels[] = {
        {"raw 63.0", 63.0}, {"ceiling 58.1", 58.1}, {"ceiling d2h 57.5", 57.5}};
    const struct xb_chart chart = {.picture = picture_of("sizes", "GB/s by size"),
                                   .x = {XB_SCALE_SIZE, "bytes in one transfer"},
                                   .y = {XB_SCALE_LINEAR, "GB/s"},
                                   .series = series,
                                   .series_count = 8,
                                   .levels = levels,
                                   .level_count = 3};
    xb_chart_draw(stream, &chart, is_alone);
}

static void draw_trend(FILE *stream, bool is_alone)
{
    struct xb_point points[30];
    for (size_t i = 0; i < COUNT_OF(points); i++) {
        double y = (i < 18 ? 55.4 : 53.9) + 0.1 * sin((double)(i * i));
        points[i] = (struct xb_point){1.76e9 + 86400.0 * (double)i, y, y - 0.2, y + 0.25};
    }
    const struct xb_series series[] = {{"pinned registered h2d, 1 GiB", points, 30}};
    const struct xb_chart chart = {.picture = picture_of("trend", "GB/s by date"),
                                   .x = {XB_SCALE_DATE, "date (UTC)"},
                                   .y = {XB_SCALE_LINEAR, "GB/s"},
                                   .y_from_data = true,
                                   .series = series,
                                   .series_count = 1,
                                   .mark = 1.76e9 + 86400.0 * 17.5};
    xb_chart_draw(stream, &chart, is_alone);
}

static void draw_latency(FILE *stream, bool is_alone)
{
    struct xb_point points[2][8];
    for (size_t k = 0; k < 8; k++) {
        double x = exp2(2.0 + 2.0 * (double)k);
        points[0][k] = (struct xb_point){x, 6.6 + x / 55e3, NONE, NONE};
        points[1][k] = (struct xb_point){x, 950.0 + x / 5e3, NONE, NONE};
    }
    points[0][3].y = NONE;
    const struct xb_series series[] = {{HOSTILE, points[0], 8}, {LONG LONG, points[1], 8}};
    const struct xb_chart chart = {.picture = picture_of("latency", HOSTILE),
                                   .x = {XB_SCALE_SIZE, HOSTILE},
                                   .y = {XB_SCALE_LINEAR, "microseconds"},
                                   .series = series,
                                   .series_count = 2};
    xb_chart_draw(stream, &chart, is_alone);
}

/* 40 lines of up to 1,000 points. */
static void draw_many(FILE *stream, bool is_alone)
{
    static struct xb_point points[1000];
    struct xb_series series[40];
    for (size_t i = 0; i < COUNT_OF(points); i++) {
        double y = 50.0 + 5.0 * sin((double)i / 90.0) + (double)(i * 7919 % 100) / 50.0;
        points[i] = (struct xb_point){(double)i, y, y - 3.0, y + 3.0};
    }
    for (size_t i = 0; i < COUNT_OF(series); i++)
        series[i] = (struct xb_series){"one of many", points, i == 0 ? COUNT_OF(points) : i};
    const struct xb_chart chart = {.picture = picture_of("many", "Many points"),
                                   .x = {XB_SCALE_LINEAR, "sample"},
                                   .y = {XB_SCALE_LINEAR, "GB/s"},
                                   .series = series,
                                   .series_count = COUNT_OF(series)};
    xb_chart_draw(stream, &chart, is_alone);
}

/* Points that no axis can show, one alone, and levels that are all the same. */
static void draw_odd(FILE *stream, bool is_alone)
{
    const struct xb_point points[] = {{NONE, 1.0, NONE, NONE},
                                      {-5.0, (double)INFINITY, 0.0, 1.0},
                                      {4096.0, 7.0, 7.0, 7.0},
                                      {1e308, 1e308, -1e308, 1e308}};
    const struct xb_series series[] = {{"", points, COUNT_OF(points)}};
    const struct xb_plot_level levels[] = {{"a", 7.0}, {LONG, 7.0}, {"c", 7.0}, {"none", NONE}};
    const struct xb_chart chart = {.picture = picture_of("odd", "One point"),
                                   .x = {XB_SCALE_SIZE, "bytes"},
                                   .y = {XB_SCALE_LINEAR, "GB/s"},
                                   .series = series,
                                   .series_count = 1,
                                   .levels = levels,
                                   .level_count = COUNT_OF(levels)};
    xb_chart_draw(stream, &chart, is_alone);
}

static void draw_empty(FILE *stream, bool is_alone)
{
    const struct xb_chart chart = {.picture = picture_of("no chart", "Nothing"),
                                   .x = {XB_SCALE_DATE, ""},
                                   .y = {XB_SCALE_LINEAR, ""}};
    const struct xb_strips strips = {.picture = picture_of("no-strips", "Nothing"),
                                     .x = {XB_SCALE_LINEAR, ""}};
    xb_chart_draw(stream, &chart, is_alone);
    const struct xb_dots dots = {.picture = picture_of("no-dots", "Nothing"),
                                 .places_are = "",
                                 .band_low = NONE,
                                 .y = {XB_SCALE_LINEAR, ""},
                                 .are = {"", "", ""},
                                 .counted = ""};
    if (!is_alone) {
        xb_strips_draw(stream, &strips, is_alone);
        xb_dots_draw(stream, &dots, is_alone);
    }
}

/* ---- bars ---- */

static void draw_lengths(FILE *stream, bool is_alone)
{
    static const char *const rows[] = {"pinned", "pageable, by a ring", HOSTILE, LONG, "no bar"};
    static const char *const series[] = {"H100", "H200"};
    const struct xb_length bars[] = {{54.7, "54.74", NULL, "95 % interval"},
                                     {55.5, "55.48", NULL, NULL},
                                     {48.7, "48.7", NULL, NULL},
                                     {53.2, LONG, NULL, HOSTILE},
                                     {7.4, "7.4", "bad", NULL},
                                     {-3.0, "below 0", NULL, NULL},
                                     {1e300, "beyond", NULL, NULL},
                                     {NONE, "FAILED", NULL, NULL},
                                     {NONE, NULL, NULL, NULL},
                                     {0.0, "0", NULL, NULL}};
    const struct xb_lengths picture = {.picture = picture_of("lengths", "To the GPU"),
                                       .rows = rows,
                                       .row_count = COUNT_OF(rows),
                                       .series = series,
                                       .series_count = COUNT_OF(series),
                                       .bars = bars,
                                       .level = {"link carries 58.1", 58.1},
                                       .end = 58.1};
    const struct xb_lengths none = {.picture = picture_of("no-lengths", "Nothing")};
    xb_lengths_draw(stream, &picture, is_alone);
    if (!is_alone)
        xb_lengths_draw(stream, &none, is_alone);
}

/* ---- strips ---- */

static void draw_samples(FILE *stream, bool is_alone)
{
    static double samples[4][60];
    static const char *const names[] = {"pinned registered h2d", "pageable driver h2d",
                                        "managed fault h2d", LONG};
    struct xb_strip strips[4];
    for (size_t i = 0; i < 4; i++) {
        double middle = 50.0 - 4.0 * (double)i;
        for (size_t k = 0; k < 60; k++)
            samples[i][k] = middle + 2.0 * sin((double)(k * k * (i + 3))) * cos((double)k);
        strips[i] = (struct xb_strip){names[i],     samples[i],   60, middle,
                                      middle - 0.5, middle + 0.4, "", i == 3 ? HOSTILE : "n = 60"};
    }
    const struct xb_strips picture = {.picture = picture_of("samples", "Samples of each case"),
                                      .x = {XB_SCALE_LINEAR, "GB/s"},
                                      .strips = strips,
                                      .count = 4};
    xb_strips_draw(stream, &picture, is_alone);
}

static void draw_ratios(FILE *stream, bool is_alone)
{
    const struct xb_strip strips[] = {
        {"pinned h2d, 1 GiB", NULL, 0, 1.001, 0.998, 1.004, "good", "passes"},
        {"pinned d2h, 1 GiB", NULL, 0, 0.93, 0.92, 0.94, "bad", "7 % slower"},
        {"managed fault h2d, 1 GiB", NULL, 0, 0.98, 0.90, 1.07, "unsure", "not sure"},
        {"zero-copy sequential d2h, 1 GiB", NULL, 0, 1.05, 1.04, 1.06, "good", "5 % faster"},
        {"latency", NULL, 0, NONE, NONE, NONE, "", "no interval"}};
    const struct xb_plot_level levels[] = {{"no change", 1.0}, {"threshold: 2 % slower", 0.98}};
    const struct xb_strips picture = {.picture = picture_of("ratios", "Candidate to baseline"),
                                      .x = {XB_SCALE_LINEAR, "ratio of candidate to baseline"},
                                      .strips = strips,
                                      .count = COUNT_OF(strips),
                                      .levels = levels,
                                      .level_count = 2};
    xb_strips_draw(stream, &picture, is_alone);
}

/* ---- dots ---- */

#define PLACES 10000

/* A fleet of so many nodes with 8 GPUs each. `further` stand out besides six that are named. */
static void draw_fleet(FILE *stream, bool is_alone, const char *id, size_t place_count,
                       size_t further)
{
    static char texts[PLACES][16];
    static const char *names[PLACES];
    static struct xb_dot dots[PLACES * 9];
    for (size_t i = 0; i < place_count; i++) {
        snprintf(texts[i], sizeof texts[i], "gpu%04zu", i + 1);
        names[i] = texts[i];
        for (size_t k = 0; k < 8; k++)
            dots[6 + further + i * 8 + k] = (struct xb_dot){
                .place = i, .value = 55.4 + 0.08 * sin((double)(i * i + 31 * k)) * cos((double)i)};
    }
    for (size_t i = 0; i < 6; i++)
        dots[i] =
            (struct xb_dot){i < 4 ? place_count / 3 + i % 2 : place_count - 1 - i % 2,
                            i == 3 ? 27.5 : 54.2 + 0.01 * (double)i + (i > 4 ? 2.0 : 0.0), i < 5,
                            i == 1 ? HOSTILE : "gpu0123 GPU 3: -2.1 %", "gpu0123 GPU 3: 54.2 GB/s"};
    for (size_t i = 0; i < further; i++)
        dots[6 + i] = (struct xb_dot){i * 7919 % place_count, 54.0 + (double)(i % 50) / 100.0,
                                      i % 5 != 0, NULL, NULL};
    const struct xb_plot_level levels[] = {
        {"named above 55.9", 55.9}, {"median 55.4", 55.4}, {"named below 54.9", 54.9}};
    const struct xb_dots picture = {.picture = picture_of(id, "GB/s by node"),
                                    .places = names,
                                    .place_count = place_count,
                                    .places_are = "nodes in the order of their names",
                                    .y = {XB_SCALE_LINEAR, "GB/s"},
                                    .y_low = 53.8,
                                    .y_high = 56.6,
                                    .dots = dots,
                                    .count = 6 + further + place_count * 8,
                                    .out_count = 6 + further,
                                    .band_low = 55.34,
                                    .band_high = 55.46,
                                    .levels = levels,
                                    .level_count = 3,
                                    .are = {"as their siblings", "slow", "fast"},
                                    .band_is = "1 spread",
                                    .counted = "GPUs"};
    xb_dots_draw(stream, &picture, is_alone);
}

static void draw_small_fleet(FILE *stream, bool is_alone)
{
    draw_fleet(stream, is_alone, "small-fleet", 12, 0);
}

static void draw_large_fleet(FILE *stream, bool is_alone)
{
    draw_fleet(stream, is_alone, "large-fleet", PLACES, PLACES - 6);
}

/* Values that no axis can show, places that are not there, and names that are anything. */
static void draw_odd_dots(FILE *stream, bool is_alone)
{
    static const char *const names[] = {HOSTILE, LONG, ""};
    const struct xb_dot dots[] = {{0, NONE, true, LONG, HOSTILE},
                                  {1, -1e300, true, LONG, HOSTILE},
                                  {1, 1e99, false, HOSTILE, NULL},
                                  {2, 6.0, true, LONG, LONG},
                                  {9, 5.0, true, "nowhere", NULL},
                                  {.place = 0, .value = NONE},
                                  {.place = 1, .value = (double)INFINITY},
                                  {.place = 2, .value = 5.0},
                                  {.place = 3, .value = 5.0}};
    const struct xb_plot_level levels[] = {{HOSTILE, 5.0}, {LONG, 6.0}, {"none", NONE}};
    const struct xb_dots picture = {.picture = picture_of("odd-dots", HOSTILE),
                                    .places = names,
                                    .place_count = COUNT_OF(names),
                                    .places_are = LONG,
                                    .y = {XB_SCALE_LINEAR, HOSTILE},
                                    .y_low = 4.0,
                                    .y_high = 7.0,
                                    .dots = dots,
                                    .count = COUNT_OF(dots),
                                    .out_count = 5,
                                    .band_low = NONE,
                                    .band_high = NONE,
                                    .levels = levels,
                                    .level_count = COUNT_OF(levels),
                                    .are = {HOSTILE, LONG, ""},
                                    .band_is = LONG,
                                    .counted = HOSTILE};
    xb_dots_draw(stream, &picture, is_alone);
}

/* ---- cells ---- */

static void draw_matrix(FILE *stream, bool is_alone)
{
    static const char *const names[] = {"GPU 0", "GPU 1", "GPU 2", "GPU 3",
                                        "GPU 4", "GPU 5", "GPU 6", HOSTILE};
    double values[64];
    char texts[64][16];
    const char *shown[64];
    for (size_t i = 0; i < 64; i++) {
        values[i] = i / 8 == i % 8 ? NONE : 395.0 - (i % 5 == 0 ? 357.0 : 5.0 * (double)(i % 11));
        snprintf(texts[i], sizeof texts[i], "%.1f", values[i]);
        shown[i] = i / 8 == i % 8 ? NULL : texts[i];
    }
    struct xb_picture picture = picture_of("matrix", "GB/s between GPUs");
    const struct xb_cells cells = {picture, "from", "to",   names, names,
                                   8,       8,      values, shown, "GB/s"};
    xb_cells_draw(stream, &cells, is_alone);
}

static void draw_equal_cells(FILE *stream, bool is_alone)
{
    static const char *const names[] = {"node 0", "node 1"};
    static const double values[] = {1.0, 1.0, NONE, 1.0};
    static const char *const texts[] = {"1.0", "1.0", NULL, LONG};
    struct xb_picture picture = picture_of("equal", "All the same");
    const struct xb_cells cells = {picture, "from", "to",   names, names,
                                   2,       2,      values, texts, "GB/s"};
    xb_cells_draw(stream, &cells, is_alone);
}

/* ---- spans ---- */

static void draw_timeline(FILE *stream, bool is_alone)
{
    static const char *const tracks[] = {"reader 0", "copy h2d", "compute", "copy d2h", HOSTILE};
    static const char *const kinds[] = {"read", "copy to device", "compute", "copy to host"};
    static struct xb_drawn_span spans[5000];
    size_t count = 0;
    for (size_t i = 0; i < 10; i++)
        for (size_t k = 0; k < 4; k++) {
            double begin = (double)(i + k) * 1.2e-3;
            spans[count++] = (struct xb_drawn_span){begin, begin + 0.9e-3,          k, k,
                                                    false, "0.9 ms, piece " HOSTILE};
            spans[count++] =
                (struct xb_drawn_span){begin + 0.95e-3, begin + 1.15e-3, k, k, true, NULL};
        }
    while (count + 1 < COUNT_OF(spans)) {
        double begin = (double)count * 3e-6;
        spans[count] = (struct xb_drawn_span){begin, begin + 2e-7, 4, count % 4, false, NULL};
        count++;
    }
    spans[count++] = (struct xb_drawn_span){NONE, 1.0, 0, 0, false, NULL};
    const struct xb_spans picture = {
        picture_of("timeline", "One iteration"), tracks, 5, kinds, 4, spans, count, 0.0};
    xb_spans_draw(stream, &picture, is_alone);
}

/* ---- trees ---- */

static void draw_tree(FILE *stream, bool is_alone)
{
    const struct xb_node nodes[] = {
        {0, "CPU 0\nIntel Xeon Platinum 8480C\nNUMA node 0", NULL, "", NULL},
        {0, "root port\n0000:15:01.0", NULL, "", NULL},
        {1, "switch\n0000:16:00.0", "Gen5 x16", "good", NULL},
        {2, "GPU 0\nNVIDIA H200\n0000:18:00.0", "Gen4 x8, can do Gen5 x16", "bad", NULL},
        {2, "GPU 1\n" LONG, "Gen5 x16", "bad", "good"},
        {0, "root port\n0000:3a:01.0", NULL, "", NULL},
        {5, "GPU 2\n" HOSTILE "\n0000:3b:00.0", "not known", "unsure", NULL},
        {7, "CPU 1", NULL, "", NULL}};
    const struct xb_tree tree = {picture_of("tree", "The ways to the GPUs"), nodes,
                                 COUNT_OF(nodes)};
    xb_tree_draw(stream, &tree, is_alone);
}

/* ---- the gallery ---- */

static const struct {
    const char *name;
    draw draw;
} pictures[] = {{"sizes", draw_sizes},
                {"trend", draw_trend},
                {"latency", draw_latency},
                {"many", draw_many},
                {"odd", draw_odd},
                {"empty", draw_empty},
                {"bars", draw_lengths},
                {"samples", draw_samples},
                {"ratios", draw_ratios},
                {"matrix", draw_matrix},
                {"equal", draw_equal_cells},
                {"timeline", draw_timeline},
                {"tree", draw_tree},
                {"small-fleet", draw_small_fleet},
                {"large-fleet", draw_large_fleet},
                {"odd-dots", draw_odd_dots}};

static FILE *open_file(const char *folder, const char *name, const char *suffix)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, suffix);
    FILE *stream = fopen(path, "w");
    if (stream == NULL) {
        perror(path);
        exit(1);
    }
    return stream;
}

static void close_file(FILE *stream)
{
    if (ferror(stream) || fclose(stream) != 0) {
        perror("picture_gallery");
        exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: picture_gallery FOLDER | NAME\n");
        return 2;
    }
    for (size_t i = 0; i < COUNT_OF(pictures); i++)
        if (strcmp(argv[1], pictures[i].name) == 0) {
            pictures[i].draw(stdout, false);
            return 0;
        }
    FILE *page = open_file(argv[1], "gallery", "html");
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><title>Gallery</title>"
          "<meta name=\"viewport\" content=\"width=device-width\"/><style>\n"
          "body{margin:16px;background:" XB_PLOT_PAPER_LIGHT "}div{overflow-x:auto;margin:20px 0}\n"
          "@media screen and (prefers-color-scheme:dark){body{background:" XB_PLOT_PAPER_DARK
          "}}\n",
          page);
    xb_plot_style(page);
    fputs("</style></head><body>\n", page);
    for (size_t i = 0; i < COUNT_OF(pictures); i++) {
        fputs("<div>\n", page);
        pictures[i].draw(page, false);
        fputs("</div>\n", page);
        FILE *alone = open_file(argv[1], pictures[i].name, "svg");
        pictures[i].draw(alone, true);
        close_file(alone);
    }
    fputs("</body></html>\n", page);
    close_file(page);
    return 0;
}
