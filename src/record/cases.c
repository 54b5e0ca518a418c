/* SPDX-License-Identifier: Apache-2.0 */
/* What a record's cases tell. */
#include "making.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- how it stands ---- */

const char *xb_result_status_name(enum xb_result_status status)
{
    static const char *const names[] = {"ok", "skipped", "error"};
    return names[status];
}

const char *xb_stop_reason_name(enum xb_stop_reason reason)
{
    static const char *const names[] = {"not-yet", "converged", "time-limit",
                                        "fixed",   "deadline",  "interrupted"};
    return names[reason];
}

/* A row that is not there was not measured. */
static enum xb_result_status status_in(const struct xb_record_row *row)
{
    return row->is_there ? row->status : XB_RESULT_SKIPPED;
}

struct xb_record_summary xb_record_summarize(const struct xb_record *record,
                                             const struct xb_record_case *test)
{
    struct xb_record_summary summary = {.status = XB_RESULT_OK, .verified = XB_VERIFIED_TRUE};
    for (size_t i = 0; i < record->process_count; i++) {
        const struct xb_record_row *row = &test->rows[i];
        enum xb_verified verified = row->is_there ? row->verified : XB_VERIFIED_UNKNOWN;
        if (!record->processes[i].has_results)
            continue;
        summary.processes++;
        summary.ok += status_in(row) == XB_RESULT_OK;
        summary.cut += status_in(row) == XB_RESULT_OK && row->is_cut;
        if (status_in(row) > summary.status) {
            summary.status = status_in(row);
            summary.worst = i;
        }
        if (verified == XB_VERIFIED_FALSE || summary.verified == XB_VERIFIED_TRUE)
            summary.verified = verified;
    }
    return summary;
}

const char *xb_record_reason(const struct xb_record_case *test,
                             const struct xb_record_summary *summary, char *text, size_t size)
{
    const struct xb_record_row *row = &test->rows[summary->worst];
    if (summary->status == XB_RESULT_OK)
        return NULL;
    if (row->is_there)
        return row->reason != NULL ? row->reason : "no reason was given";
    snprintf(text, size, "process %zu has no such row", summary->worst);
    return text;
}

const char *xb_record_cut_text(const struct xb_record *record, const struct xb_record_case *test,
                               char *text, size_t size)
{
    struct xb_record_summary summary = xb_record_summarize(record, test);
    size_t left = summary.cut;
    int length = snprintf(text, size, "cut short in process%s", left > 1 ? "es" : "");
    for (size_t i = 0; left > 0 && i < record->process_count; i++) {
        const struct xb_record_row *row = &test->rows[i];
        if (!row->is_there || row->status != XB_RESULT_OK || !row->is_cut)
            continue;
        const char *before = left == summary.cut ? " " : left > 1 ? ", " : " and ";
        length += snprintf(text + length, size - (size_t)length, "%s%zu", before, i);
        left--;
    }
    snprintf(text + length, size - (size_t)length, ": not counted");
    return summary.cut > 0 ? text : NULL;
}

/* ---- warnings ---- */

static const char digits[] = "0123456789";

bool xb_record_like_warnings(const char *a, const char *b)
{
    a += strspn(a, digits);
    b += strspn(b, digits);
    size_t length = strcspn(a, "0123456789:");
    return length == strcspn(b, "0123456789:") && strncmp(a, b, length) == 0;
}

/* Adds one of process `process`; returns how many kinds there are now. */
static size_t add_warning(struct xb_record_warning *warnings, size_t count, const char *text,
                          size_t process)
{
    size_t i = 0;
    while (i < count && !xb_record_like_warnings(warnings[i].text, text))
        i++;
    if (i == count) {
        warnings[i] = (struct xb_record_warning){.text = text, .processes = 1, .last = process};
        return count + 1;
    }
    warnings[i].processes += warnings[i].last != process;
    warnings[i].last = process;
    return count;
}

size_t xb_record_warnings(const struct xb_record *record, const struct xb_record_case *test,
                          struct xb_record_warning *warnings)
{
    size_t count = 0;
    for (size_t i = 0; i < record->process_count; i++)
        for (size_t k = 0; k < test->rows[i].warning_count; k++)
            count = add_warning(warnings, count, test->rows[i].warning_texts[k], i);
    return count;
}

const char *xb_record_parameter(const struct xb_record_case *test, const char *name)
{
    const struct xb_record_fact *own =
        xb_record_fact_find(test->parameters, test->parameter_count, name);
    return own != NULL && own->value != NULL ? own->value : "";
}

int xb_record_case_node(const struct xb_record_case *test)
{
    const char *value = xb_record_parameter(test, XB_RECORD_NUMA);
    bool is_number = value[0] != '\0' && strspn(value, digits) == strlen(value);
    return is_number && strlen(value) < 5 ? (int)strtol(value, NULL, 10) : -1;
}

/* Whether it is of a group of pairs, or their sum. */
static bool is_of_group(const struct xb_record_case *test)
{
    return xb_record_parameter(test, XB_RECORD_GROUP)[0] != '\0';
}

bool xb_record_is_sum(const struct xb_record_case *test)
{
    return test->simultaneous && (test->device < 0 || (test->peer < 0 && is_of_group(test)));
}

const char *xb_record_case_device(const struct xb_record_case *test, char *text, size_t size)
{
    if (test->device < 0 && test->peer < 0)
        snprintf(text, size, "sum");
    else if (test->device < 0)
        snprintf(text, size, "all>%d", test->peer);
    else if (xb_record_is_sum(test))
        snprintf(text, size, "%d>all", test->device);
    else if (test->peer >= 0)
        snprintf(text, size, "%d>%d", test->device, test->peer);
    else
        snprintf(text, size, "%d", test->device);
    return text;
}
