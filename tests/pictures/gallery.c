/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: picture_gallery NAME
 *
 * Prints a picture as it is in a page: of what no file leads to, such as hostile names and numbers
 * in every place (tests/golden/plot), and of a large fleet. tests/golden/report has the others.
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

typedef void (*draw)(FILE *stream);

static struct xb_picture picture_of(const char *id, const char *title)
{
    return (struct xb_picture){id, title, "A picture of the gallery, for tests."};
}

/* ---- charts ---- */

static void draw_latency(FILE *stream)
{
    struct xb_point points[2][8];
    for (size_t k = 0; k < 8; k++) {
        double x = exp2(2.0 + 2.0 * (double)k);
        points[0][k] = (struct xb_point){x, 6.6 + x / 55e3, NONE, NONE};
        points[1][k] = (struct xb_point){x, 950.0 + x / 5e3, 900.0, 1000.0 + x / 5e3};
    }
    points[0][3].y = points[1][3].y = (double)INFINITY; /* a gap in line and band */
    const struct xb_series series[] = {{HOSTILE, points[0], 8}, {LONG LONG, points[1], 8}};
    const struct xb_chart chart = {.picture = picture_of("latency", HOSTILE),
                                   .x = {XB_SCALE_SIZE, HOSTILE},
                                   .y = {XB_SCALE_LINEAR, "microseconds"},
                                   .series = series,
                                   .series_count = 2};
    xb_chart_draw(stream, &chart, false);
}

/* Points that no axis can show, one alone, and levels that are all the same. */
static void draw_odd(FILE *stream)
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
    xb_chart_draw(stream, &chart, false);
}

static void draw_empty(FILE *stream)
{
    const struct xb_point point = {1.0, NONE, 0.0, 1.0}; /* which no axis shows */
    const struct xb_series series = {"", &point, 1};
    const struct xb_chart chart = {.picture = picture_of("no chart", "Nothing"),
                                   .x = {XB_SCALE_DATE, ""},
                                   .y = {XB_SCALE_LINEAR, ""},
                                   .series = &series,
                                   .series_count = 1};
    const struct xb_strips strips = {.picture = picture_of("no-strips", "Nothing"),
                                     .x = {XB_SCALE_LINEAR, ""}};
    xb_chart_draw(stream, &chart, false);
    const struct xb_dots dots = {.picture = picture_of("no-dots", "Nothing"),
                                 .places_are = "",
                                 .band_low = NONE,
                                 .y = {XB_SCALE_LINEAR, ""},
                                 .are = {"", "", ""},
                                 .counted = ""};
    xb_strips_draw(stream, &strips, false);
    xb_dots_draw(stream, &dots, false);
}

/* ---- bars ---- */

static void draw_lengths(FILE *stream)
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
    xb_lengths_draw(stream, &picture, false);
    xb_lengths_draw(stream, &none, false);
}

/* ---- strips ---- */

static void draw_ratios(FILE *stream)
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
    xb_strips_draw(stream, &picture, false);
}

/* ---- dots ---- */

#define PLACES 10000

/* A fleet of so many nodes with 8 GPUs each. `further` stand out besides six that are named. */
static void draw_fleet(FILE *stream, const char *id, size_t place_count, size_t further)
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
    xb_dots_draw(stream, &picture, false);
}

static void draw_small_fleet(FILE *stream)
{
    draw_fleet(stream, "small-fleet", 12, 0);
}

static void draw_large_fleet(FILE *stream)
{
    draw_fleet(stream, "large-fleet", PLACES, PLACES - 6);
}

/* Values that no axis can show, places that are not there, and names that are anything. */
static void draw_odd_dots(FILE *stream)
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
    xb_dots_draw(stream, &picture, false);
}

/* ---- cells ---- */

static void draw_equal_cells(FILE *stream)
{
    static const char *const names[] = {"node 0", "node 1"};
    static const double values[] = {1.0, 1.0, NONE, 1.0};
    static const char *const texts[] = {"1.0", "1.0", NULL, LONG};
    struct xb_picture picture = picture_of("equal", "All the same");
    const struct xb_cells cells = {picture, "from", "to",   names, names,
                                   2,       2,      values, texts, "GB/s"};
    xb_cells_draw(stream, &cells, false);
}

/* ---- spans ---- */

/* ---- trees ---- */

static void draw_tree(FILE *stream)
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
    xb_tree_draw(stream, &tree, false);
}

/* ---- the gallery ---- */

static const struct {
    const char *name;
    draw draw;
} pictures[] = {{"latency", draw_latency},
                {"odd", draw_odd},
                {"empty", draw_empty},
                {"bars", draw_lengths},
                {"ratios", draw_ratios},
                {"equal", draw_equal_cells},
                {"tree", draw_tree},
                {"small-fleet", draw_small_fleet},
                {"large-fleet", draw_large_fleet},
                {"odd-dots", draw_odd_dots}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < COUNT_OF(pictures); i++)
        if (strcmp(argv[1], pictures[i].name) == 0) {
            pictures[i].draw(stdout);
            return 0;
        }
    fprintf(stderr, "usage: picture_gallery NAME\n");
    return 2;
}
