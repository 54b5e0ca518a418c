/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices of NUMA nodes and devices: the node of the host's memory down, devices across. */
#define _GNU_SOURCE
#include "matrix.h"
#include "matrix_internal.h"

#include "record/rows.h"

#include <stdlib.h>
#include <string.h>

static bool holds(const struct xb_record *record, const struct xb_record_case *test)
{
    (void)record;
    return xb_record_case_node(test) >= 0 && test->peer < 0;
}

static int device_of(const struct xb_record_case *test)
{
    return test->device;
}

/* The node that a device is close to; -1 where that is not known, and for a sum. */
static int own_node(const struct xb_record *record, int index)
{
    const struct xb_record_device *device = xb_record_device(record, index);
    return device != NULL ? device->numa_node : -1;
}

static void fill(const struct xb_record *record, const struct xb_record_case *test, char *cell)
{
    char own[XB_MATRIX_CELL] = "-";
    bool is_own = own_node(record, test->device) == xb_record_case_node(test);
    xb_matrix_fill_figure(record, test, own);
    snprintf(cell, XB_MATRIX_CELL, "%s%.60s", is_own ? "*" : "", own);
}

static void add_axes(const struct xb_matrix *matrix, char *text, size_t size)
{
    (void)matrix;
    snprintf(text, size, "rows: NUMA nodes, columns: devices");
}

const struct xb_matrix_kind xb_matrix_of_nodes = {
    .holds = holds,
    .but = XB_BUT_DEVICES | XB_BUT_NODE,
    .row = xb_record_case_node,
    .column = device_of,
    .fill = fill,
    .axes = add_axes,
    .unsaid = XB_RECORD_NUMA,
};

/* ---- the legend ---- */

/* Whether any case is of a device whose own node is known, or not. */
static bool any_device(const struct xb_record *record, bool known)
{
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        if (holds(record, test) && test->device >= 0 &&
            (own_node(record, test->device) >= 0) == known)
            return true;
    }
    return false;
}

static void print_marks(FILE *stream, const struct xb_record *record)
{
    const char *text = "None is marked: the system does not say which node a device is close to.";
    if (record->host.numa_nodes == 1)
        text = "One cell a device: this machine has one NUMA node.";
    else if (any_device(record, true))
        text = any_device(record, false)
                   ? "* the node that the device is close to; of some devices that is not known"
                   : "* the node that the device is close to";
    xb_lines_print(stream, xb_terminal_prose_columns(stream), "%s", text);
}

/* Where its threads ran, if that was not on the node of the memory; NULL else. */
static const char *threads_of(const struct xb_record *record, const struct xb_record_case *test)
{
    const struct xb_record_detail *detail = xb_matrix_detail(record, test, "threads_run");
    return detail != NULL && holds(record, test) ? detail->text : NULL;
}

static int by_threads(const struct xb_record_case *a, const struct xb_record_case *b,
                      const void *record)
{
    return strcmp(threads_of(record, a), threads_of(record, b));
}

/* Prints each place once. False where memory is short. */
static bool print_threads(FILE *stream, const struct xb_record *record)
{
    size_t count = 0;
    const struct xb_record_case **cases =
        calloc(record->case_count + 1, sizeof(const struct xb_record_case *));
    for (size_t i = 0; cases != NULL && i < record->case_count; i++)
        if (threads_of(record, &record->cases[i]) != NULL)
            cases[count++] = &record->cases[i];
    bool ok = cases != NULL && xb_cases_group(cases, count, by_threads, record);
    for (size_t i = 0; ok && i < count;
         i += xb_cases_equal(cases + i, count - i, by_threads, record))
        xb_note_print(stream, "", 0, "Threads ran %.200s.", threads_of(record, cases[i]));
    free(cases);
    return ok;
}

/* ---- whether there are any ---- */

static bool asked_for_all(const struct xb_record *record)
{
    for (size_t i = 0; i < record->option_count; i++) {
        const struct xb_record_fact *option = &record->options[i];
        if (strcmp(option->name, XB_RECORD_NUMA) == 0 && option->value != NULL)
            return strcmp(option->value, "[\"all\"]") == 0;
    }
    return false;
}

bool xb_matrix_has_nodes(const struct xb_record *record)
{
    int first = -1;
    for (size_t i = 0; i < record->case_count; i++) {
        int node = xb_record_case_node(&record->cases[i]);
        if (node >= 0 && first >= 0 && node != first)
            return true;
        first = node >= 0 ? node : first;
    }
    return first >= 0 && asked_for_all(record);
}

enum xb_status xb_matrix_print_nodes(FILE *stream, const struct xb_record *record, bool first,
                                     struct xb_error *error)
{
    struct xb_matrix_printing printing = {stream, first};
    if (!xb_matrix_has_nodes(record))
        return XB_OK;
    enum xb_status status =
        xb_matrix_visit_all(record, &xb_matrix_of_nodes, xb_matrix_print_one, &printing, error);
    if (status != XB_OK)
        return status;
    print_marks(stream, record);
    return print_threads(stream, record)
               ? XB_OK
               : XB_FAIL(error, XB_ERR_MEMORY, "not enough memory to print the table");
}
