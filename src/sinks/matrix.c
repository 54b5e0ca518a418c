/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "matrix.h"
#include "text.h"
#include "xferbench/units.h"

#include <string.h>

#define CELL_SIZE 64

/* ---- which rows ---- */

static bool is_pair(const struct xb_result *result)
{
    return result->test.peer >= 0;
}

static bool same_matrix(const struct xb_case *a, const struct xb_case *b)
{
    return a->mode == b->mode && strcmp(a->variant, b->variant) == 0 &&
           a->direction == b->direction && a->bytes == b->bytes;
}

/* Whether a row belongs to the matrix of `of`; any pair's row for NULL. */
static bool belongs(const struct xb_result *result, const struct xb_case *of)
{
    return is_pair(result) && (of == NULL || same_matrix(&result->test, of));
}

/* ---- cells ---- */

static void set_text(char *cell, const char *text)
{
    snprintf(cell, CELL_SIZE, "%s", text);
}

/* Writes what a cell shows of a row; leaves it alone where that is nothing. */
typedef void cell_text(const struct xb_result *result, char *text);

static void bandwidth_cell(const struct xb_result *result, char *text)
{
    if (result->status == XB_RESULT_SKIPPED)
        set_text(text, "skip");
    else if (result->status == XB_RESULT_ERROR)
        set_text(text, "ERR");
    else if (result->bandwidth.n > 0)
        xb_rate_text(result->bandwidth.median, text, CELL_SIZE);
}

static void latency_cell(const struct xb_result *result, char *text)
{
    if (result->status != XB_RESULT_OK)
        bandwidth_cell(result, text);
    else if (result->host_latency.n > 0)
        snprintf(text, CELL_SIZE, "%.*f", xb_decimals_for(result->host_latency.p50 * 1e6),
                 result->host_latency.p50 * 1e6);
}

/* "NVLink 18 x 26.6"; empty where the link is not known. */
static void link_text(const struct xb_result *result, char *text)
{
    const char *kind = "";
    for (size_t i = 0; i < result->detail_count; i++)
        if (!result->details[i].is_number && strcmp(result->details[i].key, "link") == 0)
            kind = result->details[i].text;
    double links = xb_result_number(result, "links", 0);
    double rate = xb_result_number(result, "link_rate_bytes_per_second", 0);
    text[0] = '\0';
    if (kind[0] == '\0')
        return;
    int used = snprintf(text, CELL_SIZE, "%.32s", kind);
    if (links > 0)
        used += snprintf(text + used, CELL_SIZE - (size_t)used, " %.0f x", links);
    if (links > 0 && rate > 0)
        snprintf(text + used, CELL_SIZE - (size_t)used, " %.1f", rate / 1e9);
    else if (links > 0)
        text[used - 2] = '\0'; /* a number of links whose rate is not known: "NVLink 18" */
}

static void link_cell(const struct xb_result *result, char *cell)
{
    char text[CELL_SIZE];
    link_text(result, text);
    if (text[0] != '\0')
        set_text(cell, text);
}

/*
 * What stands at a place: the first row of the pair that has something to say. Only the matrix of
 * links looks at rows of several matrices.
 */
static void cell_at(const struct xb_run *run, const struct xb_case *of, cell_text *fill,
                    unsigned source, unsigned destination, char *text)
{
    set_text(text, "-");
    for (size_t i = 0; i < run->case_count && strcmp(text, "-") == 0; i++) {
        const struct xb_result *result = &run->results[i];
        if (belongs(result, of) && result->test.device == source &&
            (unsigned)result->test.peer == destination)
            fill(result, text);
    }
}

/* ---- a matrix ---- */

/* Whether a device is an end of any pair here. */
static bool takes_part(const struct xb_run *run, const struct xb_case *of, unsigned device)
{
    for (size_t i = 0; i < run->case_count; i++) {
        const struct xb_result *result = &run->results[i];
        if (belongs(result, of) &&
            (result->test.device == device || (unsigned)result->test.peer == device))
            return true;
    }
    return false;
}

/* One more than the highest index of a device here. */
static unsigned device_limit(const struct xb_run *run, const struct xb_case *of)
{
    unsigned limit = 0;
    for (size_t i = 0; i < run->case_count; i++) {
        const struct xb_result *result = &run->results[i];
        if (!belongs(result, of))
            continue;
        limit = result->test.device >= limit ? result->test.device + 1 : limit;
        limit = (unsigned)result->test.peer >= limit ? (unsigned)result->test.peer + 1 : limit;
    }
    return limit;
}

static int widest_cell(const struct xb_run *run, const struct xb_case *of, cell_text *fill,
                       unsigned limit)
{
    size_t width = 4;
    for (unsigned source = 0; source < limit; source++) {
        for (unsigned destination = 0; destination < limit; destination++) {
            char text[CELL_SIZE];
            cell_at(run, of, fill, source, destination, text);
            width = strlen(text) > width ? strlen(text) : width;
        }
    }
    return (int)width;
}

static void print_cells(FILE *stream, const struct xb_run *run, const struct xb_case *of,
                        cell_text *fill)
{
    unsigned limit = device_limit(run, of);
    int width = widest_cell(run, of, fill, limit);
    fprintf(stream, "%6s", "");
    for (unsigned i = 0; i < limit; i++)
        if (takes_part(run, of, i))
            fprintf(stream, "  %*u", width, i);
    for (unsigned source = 0; source < limit; source++) {
        if (!takes_part(run, of, source))
            continue;
        fprintf(stream, "\n%6u", source);
        for (unsigned destination = 0; destination < limit; destination++) {
            char text[CELL_SIZE];
            if (!takes_part(run, of, destination))
                continue;
            cell_at(run, of, fill, source, destination, text);
            fprintf(stream, "  %*s", width, text);
        }
    }
    fputc('\n', stream);
}

/* ---- titles ---- */

/* Whether all measured pairs here have the same link, or none a known one; `link` is it. */
static bool one_link(const struct xb_run *run, const struct xb_case *of, char *link)
{
    bool any = false;
    link[0] = '\0';
    for (size_t i = 0; i < run->case_count; i++) {
        char other[CELL_SIZE];
        if (!belongs(&run->results[i], of) || run->results[i].status != XB_RESULT_OK)
            continue;
        link_text(&run->results[i], other);
        if (any && strcmp(other, link) != 0)
            return false;
        set_text(link, other);
        any = true;
    }
    return true;
}

/* A staged copy does not take the link between the two: its figures must not stand beside it. */
static bool takes_link(const struct xb_case *test)
{
    return strcmp(test->variant, "staged") != 0;
}

static void print_title(FILE *stream, const struct xb_run *run, const struct xb_case *of)
{
    char bytes[32], link[CELL_SIZE];
    const char *unit = of->latency                 ? "host latency p50 in us"
                       : of->direction == XB_BIDIR ? "GB/s both ways together"
                                                   : "GB/s";
    const char *sides = of->direction == XB_BIDIR ? "between the two" : "rows: from, columns: to";
    fprintf(stream, "%s %s, %s, %s, %s (%s", of->mode->name, of->variant,
            xb_direction_name(of->direction), xb_size_format(of->bytes, bytes, sizeof bytes), unit,
            sides);
    if (takes_link(of) && one_link(run, of, link) && link[0] != '\0')
        fprintf(stream, "; %s%s", link, strchr(link, '.') != NULL ? " GB/s" : "");
    fputs(")\n", stream);
}

/* The first of a matrix's rows stands for it. */
static bool begins_matrix(const struct xb_run *run, size_t index)
{
    if (!is_pair(&run->results[index]))
        return false;
    for (size_t i = 0; i < index; i++)
        if (belongs(&run->results[i], &run->results[index].test))
            return false;
    return true;
}

void xb_matrix_print(FILE *stream, const struct xb_run *run, bool first)
{
    bool differs = false;
    for (size_t i = 0; i < run->case_count; i++) {
        const struct xb_case *of = &run->results[i].test;
        char link[CELL_SIZE];
        if (!begins_matrix(run, i))
            continue;
        if (!first)
            fputc('\n', stream);
        first = false;
        print_title(stream, run, of);
        print_cells(stream, run, of, of->latency ? latency_cell : bandwidth_cell);
        differs = differs || (takes_link(of) && !one_link(run, of, link));
    }
    if (differs) {
        fputs("\nlinks between the devices, number x GB/s each way (rows: from, columns: to)\n",
              stream);
        print_cells(stream, run, NULL, link_cell);
    }
}
