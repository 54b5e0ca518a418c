/* SPDX-License-Identifier: Apache-2.0 */
/* The keys and their meaning stand in docs/processes.schema.json. */
#include "processes_internal.h"

#include "base/child.h"
#include "base/json_read.h"
#include "base/memory.h"
#include "reading/list.h"
#include "record/document.h"
#include "record/making.h"

#include <math.h>
#include <stdlib.h>

static void write_figure(struct xb_json *json, const struct xb_record *merged,
                         const struct xb_record_case *test, const struct xb_record_figure *figure)
{
    double medians[XB_RECORD_PROCESSES];
    struct xb_record_figure described = *figure;
    if (!xb_record_describe(merged, test, figure->name, &described.statistics))
        return;
    for (size_t i = 0; i < merged->process_count; i++) {
        const struct xb_record_row *row = &test->rows[i];
        const struct xb_record_figure *own = xb_record_row_figure(row, figure->name);
        bool counts = xb_record_row_counts(row) && own != NULL;
        medians[i] = counts ? own->statistics.median : (double)NAN;
    }
    xb_json_open_object(json, NULL);
    xb_fields_put(json, xb_record_figure_fields, &described);
    xb_json_put_numbers(json, "medians", medians, merged->process_count);
    xb_json_close(json);
}

static void write_case(struct xb_json *json, const struct xb_record *merged,
                       const struct xb_record_case *test)
{
    char text[XB_RECORD_REASON];
    struct xb_record_summary summary = xb_record_summarize(merged, test);
    xb_json_open_object(json, NULL);
    xb_fields_put(json, xb_record_case_fields, test);
    xb_json_put_text(json, "status", xb_result_status_name(summary.status));
    xb_json_put_text(json, "reason", xb_record_reason(test, &summary, text, sizeof text));
    xb_json_put_known_flag(json, "verified", summary.verified != XB_VERIFIED_UNKNOWN,
                           summary.verified == XB_VERIFIED_TRUE);
    xb_json_put_whole(json, "processes_ok", summary.ok);
    /* Each figure that any process has, once. */
    xb_json_open_array(json, "figures");
    for (size_t i = 0; i < merged->process_count; i++)
        for (size_t k = 0; k < test->rows[i].figure_count; k++) {
            const struct xb_record_figure *figure = &test->rows[i].figures[k];
            bool is_known = false;
            for (size_t p = 0; !is_known && p < i; p++)
                is_known = xb_record_row_figure(&test->rows[p], figure->name) != NULL;
            if (!is_known)
                write_figure(json, merged, test, figure);
        }
    xb_json_close(json);
    /* The processes' warnings, behind ours of the processes that do not count. */
    struct xb_record_warning warnings[XB_RECORD_WARNINGS + 1];
    char cut[XB_RECORD_CUT];
    warnings[0].text = xb_record_cut_text(merged, test, cut, sizeof cut);
    warnings[0].processes = summary.cut;
    size_t count = 1 + xb_record_warnings(merged, test, warnings + 1);
    xb_json_open_array(json, "warnings");
    for (size_t i = warnings[0].text != NULL ? 0 : 1; i < count; i++) {
        xb_json_open_object(json, NULL);
        xb_json_put_text(json, "text", warnings[i].text);
        xb_json_put_whole(json, "processes", warnings[i].processes);
        xb_json_close(json);
    }
    xb_json_close(json);
    xb_json_close(json);
}

/* What all processes together measured, and what that means: their records as the one that a reader
 * makes of the merged file. Its rows, and what the Reading says of devices, are theirs. */
static void write_merged(struct xb_json *json, const struct xb_processes *set)
{
    struct xb_json_reader reader = {.place = {.path = "the processes"}};
    struct xb_record merged = {.is_merged = true, .process_count = set->count};
    size_t most = 0, count = 0;
    for (size_t i = 0; i < set->count; i++)
        most += set->processes[i].record.case_count;
    struct xb_record_entry *entries = xb_new(most, sizeof *entries);
    merged.processes = xb_arena_new(&merged.texts, set->count * sizeof *merged.processes);
    for (size_t i = 0; i < set->count; i++) {
        const struct xb_record *own = &set->processes[i].record;
        if (own->process_count > 0) /* it did not fail */
            merged.processes[i] = own->processes[0];
        for (size_t k = 0; k < own->case_count; k++)
            entries[count++] = (struct xb_record_entry){
                .test = own->cases[k], .row = own->cases[k].rows[0], .process = i, .index = k};
    }
    xb_record_make_cases(&reader, &merged, entries, count, SIZE_MAX);
    free(entries);
    if (!xb_json_failed(&reader)) {
        xb_json_open_array(json, "results");
        for (size_t i = 0; i < merged.case_count; i++)
            write_case(json, &merged, &merged.cases[i]);
        xb_json_close(json);
        xb_reading_put_of(json, &merged);
    } else {
        xb_json_fail(json, &reader.error);
    }
    xb_record_free(&merged);
}

enum xb_status xb_processes_json_write(FILE *stream, const struct xb_processes *set,
                                       enum xb_json_form form, struct xb_error *error)
{
    static const struct xb_field *const tables[] = {xb_record_node_fields, xb_record_backend_fields,
                                                    xb_record_devices_fields,
                                                    xb_record_settings_fields};
    const struct xb_process *first = xb_processes_first(set);
    struct xb_json json;
    xb_json_begin(&json);
    xb_json_open_object(&json, NULL);
    xb_document_put_schema(&json, "xferbench.processes", XB_RECORD_VERSION);
    /* What was asked, and when the first of them began, as this process saw it. */
    xb_fields_put(&json, xb_record_merged_fields, &set->head);
    /* What the first process says of machine and options; null where none says anything. */
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (first == NULL)
            for (const struct xb_field *field = tables[i]; field->key != NULL; field++)
                xb_json_put_null(&json, field->key);
        else if (tables[i] == xb_record_devices_fields)
            xb_fields_put(&json, tables[i], &first->record.processes[0]);
        else
            xb_fields_put(&json, tables[i], &first->record);
    xb_json_open_array(&json, "processes");
    for (size_t i = 0; i < set->count; i++) {
        const struct xb_process *process = &set->processes[i];
        char name[16];
        xb_json_open_object(&json, NULL);
        xb_json_put_whole(&json, "index", i);
        xb_document_put_time(&json, "started", process->outcome.started);
        xb_json_put_number(&json, "wall_s", process->outcome.wall_s);
        xb_json_put_index(&json, "exit_code", process->outcome.exit_code);
        xb_json_put_text(&json, "signal",
                         process->outcome.signal != 0
                             ? xb_child_signal_name(process->outcome.signal, name, sizeof name)
                             : NULL);
        xb_json_put_optional(&json, "failure", process->failure);
        /* As it was written: the reader has found that it is JSON. */
        xb_json_put_raw(&json, "document", process->outcome.text);
        xb_json_close(&json);
    }
    xb_json_close(&json);
    write_merged(&json, set);
    xb_json_close(&json);
    return xb_json_finish_as(&json, stream, form, "the JSON", error);
}
