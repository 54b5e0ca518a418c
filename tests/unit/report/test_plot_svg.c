/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "checks.h"
#include "plot/pictures.h"
#include "plot/svg.h"

#include <math.h>

#define REPLACED "\xEF\xBF\xBD"

/* What is written between begin and end. Release with free(). */
static char *written;
static size_t written_size;

static FILE *begin(void)
{
    free(written);
    written = NULL;
    FILE *stream = open_memstream(&written, &written_size);
    assert_non_null(stream);
    return stream;
}

static const char *end(FILE *stream)
{
    assert_int_equal(fclose(stream), 0);
    return written;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (text = strstr(text, part); text != NULL; text = strstr(text + 1, part))
        count++;
    return count;
}

TEST(texts_are_escaped)
{
    static const struct {
        const char *text, *expected;
    } rows[] = {{"plain \xC3\xA9 \xE4\xB8\xAD", "plain \xC3\xA9 \xE4\xB8\xAD"},
                {"<a href=\"x\">&'", "&lt;a href=&quot;x&quot;&gt;&amp;&#39;"},
                {"a\tb\nc", "a b c"},
                {"\x01\x1B[0m\x7F", REPLACED REPLACED "[0m" REPLACED},
                {"\xFF\xC3(\xE2\x82", REPLACED REPLACED "(" REPLACED REPLACED},
                {"\xC2\x85", REPLACED},     /* a control character of two bytes */
                {"\xE2\x80\xAE", REPLACED}, /* writes from right to left */
                {"\xEF\xBF\xBE\xEF\xBF\xBF", REPLACED REPLACED}, /* not in XML */
                {"", ""}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        FILE *stream = begin();
        xb_markup_text(stream, rows[i].text);
        assert_string_equal(end(stream), rows[i].expected);
    }
}

TEST(numbers_are_short)
{
    FILE *stream = begin();
    xb_svg_line(stream, "grid", 12.5, 1.0 / 3.0, -0.04, -1.25);
    xb_svg_line(stream, "", (double)NAN, (double)INFINITY, 1e300, -1e300);
    assert_string_equal(end(stream),
                        "<line class=\"grid\" x1=\"12.5\" y1=\"0.3\" x2=\"0\" y2=\"-1.3\"/>\n"
                        "<line x1=\"0\" y1=\"0\" x2=\"1000000\" y2=\"-1000000\"/>\n");
}

TEST(a_long_text_is_cut_at_a_character)
{
    FILE *stream = begin();
    xb_svg_text(stream, "", 0.0, 0.0, 60.0, "short");
    xb_svg_text(stream, "end", 0.0, 0.0, 60.0,
                "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9 & all \xC3\xA9\xC3\xA9");
    const char *text = end(stream);
    assert_has(text, ">short</text>");
    assert_has(text, "<title>\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9 &amp; all");
    assert_has(text, "</title>\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xE2\x80\xA6</text>");
    assert_lacks(text, REPLACED);
}

TEST(a_text_without_end_is_cut)
{
    static char name[100001];
    memset(name, '&', sizeof name - 1);
    FILE *stream = begin();
    xb_svg_text(stream, "", 0.0, 0.0, 400.0, name);
    assert_true(strlen(end(stream)) < 6000);
}

/* ---- charts ---- */

TEST(only_so_many_series_are_drawn)
{
    const struct xb_point point = {1.0, 2.0, 1.0, 3.0};
    struct xb_series series[XB_CHART_SERIES + 5];
    for (size_t i = 0; i < COUNT_OF(series); i++)
        series[i] = (struct xb_series){"one", &point, 1};
    const struct xb_chart chart = {.picture = {"c", "Chart", "One."},
                                   .x = {XB_SCALE_SIZE, "x"},
                                   .y = {XB_SCALE_LINEAR, "y"},
                                   .series = series,
                                   .series_count = COUNT_OF(series)};
    FILE *stream = begin();
    xb_chart_draw(stream, &chart, false);
    const char *text = end(stream);
    assert_has(text, ">5 more curves are not drawn</text>");
    assert_int_equal(count_of(text, ">one</text>"), XB_CHART_SERIES);
}

/* ---- spans ---- */

TEST(narrow_spans_are_drawn_together)
{
    static const char *const tracks[] = {"copy"};
    static const char *const kinds[] = {"copy", "compute"};
    static struct xb_drawn_span drawn[100001];
    for (size_t i = 0; i + 1 < COUNT_OF(drawn); i++)
        drawn[i] =
            (struct xb_drawn_span){(double)i, (double)i + 0.5, 0, i < 50000 ? 0 : 1, false, NULL};
    drawn[100000] = (struct xb_drawn_span){100000.0, 200000.0, 0, 0, true, "a wait"};
    const struct xb_spans spans = {{"s", "Spans", "Two."}, tracks, 1, kinds, 2, drawn,
                                   COUNT_OF(drawn),        0.0};
    FILE *stream = begin();
    xb_spans_draw(stream, &spans, false);
    const char *text = end(stream);
    assert_int_equal(count_of(text, "class=\"span\""), 2 + 2); /* and two in the legend */
    assert_int_equal(count_of(text, "class=\"wait\""), 1 + 1);
    assert_has(text, "<title>a wait</title>");
}

TEST(spans_that_cannot_be_are_left_out)
{
    static const char *const tracks[] = {"copy"};
    const struct xb_drawn_span drawn[] = {{1.0, 0.5, 0, 0, false, "ends before"},
                                          {(double)NAN, 1.0, 0, 0, false, "no number"},
                                          {0.0, 1.0, 1, 0, false, "no track"},
                                          {0.0, 1.0, 0, 99, false, "kind beyond"}};
    const struct xb_spans spans = {{"s", "Spans", ""}, tracks, 1, NULL, 0, drawn,
                                   COUNT_OF(drawn),    0.0};
    FILE *stream = begin();
    xb_spans_draw(stream, &spans, false);
    const char *text = end(stream);
    assert_int_equal(count_of(text, "class=\"span\""), 1);
    assert_has(text, "kind beyond");
}

static int release(NO_STATE)
{
    free(written);
    return 0;
}

GROUP(NULL, release)
