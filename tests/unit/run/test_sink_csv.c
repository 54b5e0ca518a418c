/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "sink_fixture.h"

#include "base/text.h"
#include "record/mode_list.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* What a cell has of NASTY: one line. */
#define NASTY_CELL                                                                                 \
    "a \"quoted\", comma\\r\\nsecond line\\ttab \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD end "         \
    "\xEF\xBF\xBD\xEF\xBF\xBD"

/* ---- CSV ---- */

#define CSV_COLUMNS 48 /* room for them */

/* Reads RFC 4180 strictly: every line ends with CRLF and has as many cells as the header. */
static char *next_cell(char **text, bool *last)
{
    char *in = *text;
    char *out = in;
    char *cell = in;
    if (*in == '"') {
        for (in++; in[0] != '"' || in[1] == '"'; in++) {
            assert_int_not_equal(*in, '\0');
            in += *in == '"';
            *out++ = *in;
        }
        in++;
    } else {
        while (strchr(",\"\r\n", *in) == NULL)
            *out++ = *in++;
    }
    *last = *in != ',';
    if (*last) {
        assert_int_equal(in[0], '\r');
        assert_int_equal(in[1], '\n');
        in++;
    }
    *text = in + 1;
    *out = '\0';
    return cell;
}

struct csv {
    char *text;
    char *cells[ROW_COUNT + 1][CSV_COLUMNS];
    size_t columns;
};

/* Every line has as many cells as the header. */
static struct csv parse_csv(char *text)
{
    struct csv csv = {.text = text};
    bool last = false;
    assert_utf8(text);
    while (!last) {
        assert_true(csv.columns < CSV_COLUMNS);
        csv.cells[0][csv.columns++] = next_cell(&text, &last);
    }
    for (size_t row = 1; row <= ROW_COUNT; row++) {
        for (size_t column = 0; column < csv.columns; column++) {
            csv.cells[row][column] = next_cell(&text, &last);
            assert_int_equal(last, column == csv.columns - 1);
        }
    }
    assert_int_equal(*text, '\0');
    return csv;
}

static struct csv read_csv(const struct xb_run *run)
{
    return parse_csv(written(xb_csv_write, run));
}

static bool has_column(const struct csv *csv, const char *column)
{
    for (size_t i = 0; i < csv->columns; i++)
        if (strcmp(csv->cells[0][i], column) == 0)
            return true;
    return false;
}

static const char *csv_cell(const struct csv *csv, size_t row, const char *column)
{
    for (size_t i = 0; i < csv->columns; i++) {
        if (strcmp(csv->cells[0][i], column) == 0)
            return csv->cells[row + 1][i];
    }
    fail_msg("no column %s", column);
    return NULL;
}

RUN_TEST(csv_has_a_line_a_result)
{
    struct fixture *f = *state;
    struct csv csv = read_csv(&f->run);
    assert_string_equal(csv_cell(&csv, ROW_OK, "mode"), "pinned");
    assert_string_equal(csv_cell(&csv, ROW_OK, "bytes"), "1073741824");
    assert_string_equal(csv_cell(&csv, ROW_OK, "peer"), "");
    assert_string_equal(csv_cell(&csv, ROW_OK, "timer"), "device-event");
    assert_string_equal(csv_cell(&csv, ROW_OK, "n"), "20");
    assert_string_equal(csv_cell(&csv, ROW_OK, "verified"), "true");
    assert_string_equal(csv_cell(&csv, ROW_OK, "stop_reason"), "converged");
    assert_true(strtod(csv_cell(&csv, ROW_OK, "median_bytes_per_second"), NULL) ==
                f->results[ROW_OK].bandwidth.median);
    assert_true(strtod(csv_cell(&csv, ROW_OK, "ci95_high"), NULL) ==
                f->results[ROW_OK].bandwidth.ci95_high);
    assert_true(strtod(csv_cell(&csv, ROW_FEW, "submit_s"), NULL) ==
                f->results[ROW_FEW].submit_times.values[1]);
    assert_string_equal(csv_cell(&csv, ROW_FEW, "ci95_low"), "");
    assert_string_equal(csv_cell(&csv, ROW_FEW, "warnings"), "clocks moved; " NASTY_CELL);
    assert_string_equal(csv_cell(&csv, ROW_SKIPPED, "reason"), NASTY_CELL);
    assert_string_equal(csv_cell(&csv, ROW_ERROR, "status"), "error");
    assert_string_equal(csv_cell(&csv, ROW_OK, "backend"), "cuda");
    assert_string_equal(csv_cell(&csv, ROW_OK, "device_name"), "NVIDIA H200");
    free(csv.text);
}

RUN_TEST(csv_leaves_empty_what_was_not_measured)
{
    static const char *const empty[] = {"timer",       "median_bytes_per_second",
                                        "ci95_low",    "ci95_high",
                                        "min",         "max",
                                        "p5",          "p95",
                                        "mad",         "n",
                                        "submit_s",    "wall_s",
                                        "stop_reason", "verified",
                                        "warnings",    "bytes_moved",
                                        "overlap",     "share_of_alone"};
    struct fixture *f = *state;
    struct csv csv = read_csv(&f->run);
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        assert_string_equal(csv_cell(&csv, ROW_SKIPPED, empty[i]), "");
        assert_string_equal(csv_cell(&csv, ROW_ERROR, empty[i]), "");
    }
    assert_string_equal(csv_cell(&csv, ROW_UNVERIFIED, "verified"), "false");
    assert_string_equal(csv_cell(&csv, ROW_UNVERIFIED, "median_bytes_per_second"), "");
    assert_string_equal(csv_cell(&csv, ROW_UNVERIFIED, "mad"), "");
    assert_string_equal(csv_cell(&csv, ROW_UNVERIFIED, "n"), "8");
    free(csv.text);
}

RUN_TEST(csv_quotes_what_needs_it)
{
    static const char *const reasons[] = {"a \"word\"", "a, b", "\",\"", "plain"};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        set_reason(&f->results[ROW_SKIPPED], reasons[i]);
        struct csv csv = read_csv(&f->run);
        assert_string_equal(csv_cell(&csv, ROW_SKIPPED, "reason"), reasons[i]);
        free(csv.text);
    }
}

/* Whoever reads it line by line, as the log of a CI system does, sees no line that is not ours. */
RUN_TEST(csv_breaks_no_line)
{
    struct fixture *f = *state;
    set_reason(&f->results[ROW_SKIPPED], "two\nlines\r\t\x1B[31m");
    struct csv csv = read_csv(&f->run);
    assert_string_equal(csv_cell(&csv, ROW_SKIPPED, "reason"), "two\\nlines\\r\\t\\x1B[31m");
    free(csv.text);
}

/* A spreadsheet computes what begins so, and a file's words may come from anybody. Numbers stay. */
RUN_TEST(csv_has_no_formulas)
{
    static const char *const words[] = {"=1+1", "+1", "-1.5", "@sum", "=a,\"b\"", "\t=1", "\r+1"};
    static const char *const cells[] = {"'=1+1",     "'+1",   "'-1.5", "'@sum",
                                        "'=a,\"b\"", "\\t=1", "\\r+1"};
    const struct fixture *f = *state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct xb_record_fact parameter = {.name = words[i], .value = words[i], .is_text = true};
        struct xb_record record;
        char parameters[40];
        snprintf(parameters, sizeof parameters, "%s=%s", cells[i],
                 cells[i] + (cells[i][0] == '\''));
        record_of(&f->run, &record);
        record.host.node = words[i];
        record.cases[ROW_OK].parameters = &parameter;
        record.cases[ROW_OK].parameter_count = 1;
        record.cases[ROW_FEW].rows[0].warning_texts = &words[i];
        record.cases[ROW_FEW].rows[0].warning_count = 1;
        struct csv csv = parse_csv(written_record(xb_csv_write, &record));
        assert_string_equal(csv_cell(&csv, ROW_OK, "node"), cells[i]);
        assert_string_equal(csv_cell(&csv, ROW_OK, "parameters"), parameters);
        assert_string_equal(csv_cell(&csv, ROW_FEW, "warnings"), cells[i]);
        assert_string_equal(csv.cells[ROW_OK + 1][csv.columns - 1], cells[i]);
        free(csv.text);
        xb_record_free(&record);
    }
    char *text = NULL;
    size_t length = 0;
    struct xb_csv_line line = {.stream = open_memstream(&text, &length)};
    xb_csv_put_number(&line, true, -1.5);
    xb_csv_end(&line);
    fclose(line.stream);
    assert_string_equal(text, "-1.5\r\n");
    free(text);
}

/* ---- CSV of the same ---- */

NODE_TEST(csv_has_the_same_facts)
{
    static const double rates[] = {41, 42, 41.5, 42};
    static const double shares[] = {0.74, 0.76, 0, 0.76};
    struct node *n = *state;
    add_together(n, XB_H2D, 166.5, rates, shares);
    set_computed(&n->results[0], &xb_figure_overlap, 0.5);
    struct xb_result *rows = n->results;
    assert_int_equal(n->run.case_count, ROW_COUNT);
    struct csv csv = read_csv(&n->run);
    assert_string_equal(csv_cell(&csv, 0, "device"), "");
    assert_string_equal(csv_cell(&csv, 0, "bytes_moved"), "1073741824");
    assert_string_equal(csv_cell(&csv, 0, "simultaneous"), "true");
    assert_string_equal(csv_cell(&csv, 0, "overlap"), "0.5");
    assert_string_equal(csv_cell(&csv, 0, "share_of_alone"), "");
    assert_string_equal(csv_cell(&csv, 0, "submit_s"), "");
    assert_string_equal(csv_cell(&csv, 1, "device"), "0");
    assert_string_equal(csv_cell(&csv, 1, "overlap"), "");
    assert_string_equal(csv_cell(&csv, 1, "share_of_alone"), "0.74");
    assert_string_equal(csv_cell(&csv, 1, "latency"), "false");
    assert_string_equal(csv_cell(&csv, 1, "host_latency_p50_s"), "");
    free(csv.text);

    rows[1].test = (struct xb_case){.mode = &peer,
                                    .variant = "staged",
                                    .direction = XB_D2D,
                                    .bytes = 4,
                                    .device = 3,
                                    .peer = 1,
                                    .latency = true};
    set_latency(&rows[1], 0.25, 0.125);
    set_latency(&rows[2], 0.25, 0);
    spoil(&rows[2], XB_RESULT_ERROR, "wrong");
    csv = read_csv(&n->run);
    assert_string_equal(csv_cell(&csv, 1, "direction"), "d2d");
    assert_string_equal(csv_cell(&csv, 1, "device"), "3");
    assert_string_equal(csv_cell(&csv, 1, "peer"), "1");
    assert_string_equal(csv_cell(&csv, 1, "simultaneous"), "false");
    assert_string_equal(csv_cell(&csv, 1, "latency"), "true");
    assert_string_equal(csv_cell(&csv, 1, "host_latency_p50_s"), "0.25");
    assert_string_equal(csv_cell(&csv, 1, "host_latency_p95_s"), "0.5");
    assert_string_equal(csv_cell(&csv, 1, "host_latency_p99_s"), "0.75");
    assert_string_equal(csv_cell(&csv, 1, "device_latency_p50_s"), "0.125");
    assert_string_equal(csv_cell(&csv, 1, "device_latency_p95_s"), "0.25");
    assert_string_equal(csv_cell(&csv, 1, "device_latency_p99_s"), "0.375");
    assert_string_equal(csv_cell(&csv, 2, "host_latency_p50_s"), "");
    assert_string_equal(csv_cell(&csv, 2, "share_of_alone"), "");
    free(csv.text);
}

/* What makes a case beside mode, variant, direction and size, as name=value. */
RUN_TEST(csv_has_parameters)
{
    static const struct xb_record_fact parameters[] = {
        {.name = "chunk", .value = "8388608"},
        {.name = "some-label", .value = "a, \"b\"", .is_text = true},
        {.name = "streams", .value = NULL}};
    const struct fixture *f = *state;
    struct xb_record record;
    record_of(&f->run, &record);
    record.cases[ROW_OK].parameters = parameters;
    record.cases[ROW_OK].parameter_count = 3;
    record.cases[ROW_FEW].parameters = parameters;
    record.cases[ROW_FEW].parameter_count = 1;
    struct csv csv = parse_csv(written_record(xb_csv_write, &record));
    assert_string_equal(csv_cell(&csv, ROW_OK, "parameters"),
                        "chunk=8388608;some-label=a, \"b\";streams=");
    assert_string_equal(csv_cell(&csv, ROW_FEW, "parameters"), "chunk=8388608");
    assert_string_equal(csv_cell(&csv, ROW_SKIPPED, "parameters"), "");
    /* And each in a column of its own, behind all others. */
    assert_string_equal(csv.cells[0][csv.columns - 3], "chunk");
    assert_string_equal(csv.cells[0][csv.columns - 2], "some_label");
    assert_string_equal(csv.cells[0][csv.columns - 1], "streams");
    assert_string_equal(csv_cell(&csv, ROW_OK, "chunk"), "8388608");
    assert_string_equal(csv_cell(&csv, ROW_OK, "some_label"), "a, \"b\"");
    assert_string_equal(csv_cell(&csv, ROW_OK, "streams"), "");
    assert_string_equal(csv_cell(&csv, ROW_FEW, "chunk"), "8388608");
    assert_string_equal(csv_cell(&csv, ROW_FEW, "some_label"), "");
    assert_string_equal(csv_cell(&csv, ROW_SKIPPED, "chunk"), "");
    free(csv.text);
    xb_record_free(&record);
}

/* A parameter's column is called otherwise where there is one of that name: "threads" is how many
 * there were, "threads_given" what --threads said. */
RUN_TEST(csv_has_no_column_twice)
{
    static const struct xb_record_fact parameters[] = {
        {.name = "device", .value = "a", .is_text = true},
        {.name = "host-offset", .value = "64"},
        {.name = "surprise", .value = "1"},
        {.name = "threads", .value = "0"}};
    static const struct xb_figure surprise = {.name = "surprise", .unit = XB_UNIT_RATIO};
    struct fixture *f = *state;
    struct xb_record record;
    set_computed(&f->results[ROW_OK], xb_figure_find("threads"), 8);
    set_computed(&f->results[ROW_OK], &surprise, 3);
    record_of(&f->run, &record);
    record.cases[ROW_OK].parameters = parameters;
    record.cases[ROW_OK].parameter_count = 4;
    struct csv csv = parse_csv(written_record(xb_csv_write, &record));
    assert_string_equal(csv_cell(&csv, ROW_OK, "threads"), "8");
    assert_string_equal(csv_cell(&csv, ROW_OK, "threads_given"), "0");
    assert_string_equal(csv_cell(&csv, ROW_OK, "surprise"), "3");
    assert_string_equal(csv_cell(&csv, ROW_OK, "surprise_given"), "1");
    assert_string_equal(csv_cell(&csv, ROW_OK, "device_given"), "a");
    assert_string_equal(csv_cell(&csv, ROW_OK, "host_offset"), "64");
    free(csv.text);
    xb_record_free(&record);
}

/* A figure that no column of its own is there for has one behind the others, if any row has it. */
RUN_TEST(csv_has_any_figure)
{
    static const struct xb_figure surprise = {.name = "surprise", .unit = XB_UNIT_SECONDS};
    struct fixture *f = *state;
    struct csv csv = read_csv(&f->run);
    assert_string_equal(csv.cells[0][csv.columns - 1], "node");
    free(csv.text);
    add_figure(&f->results[ROW_FEW], &surprise, 0.25);
    add_figure(&f->results[ROW_OK], &xb_figure_bandwidth_h2d, 25e9);
    set_computed(&f->results[ROW_OK], xb_figure_find("speed_up"), 1.5);
    add_figure(&f->results[ROW_UNVERIFIED], &xb_figure_bandwidth_d2h, 25e9);
    csv = read_csv(&f->run);
    assert_string_equal(csv.cells[0][csv.columns - 4], "node");
    assert_string_equal(csv.cells[0][csv.columns - 1], "surprise_s");
    assert_string_equal(csv_cell(&csv, ROW_OK, "bandwidth_h2d_bytes_per_second"), "25000000000");
    assert_string_equal(csv_cell(&csv, ROW_OK, "speed_up"), "1.5");
    assert_string_equal(csv_cell(&csv, ROW_OK, "surprise_s"), "");
    assert_string_equal(csv_cell(&csv, ROW_FEW, "surprise_s"), "0.25");
    assert_string_equal(csv_cell(&csv, ROW_FEW, "speed_up"), "");
    assert_false(has_column(&csv, "bandwidth_d2h_bytes_per_second")); /* of wrong data */
    free(csv.text);
}
