/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What xferbench_fake writes about can come from a file: `link` writes the report that
 * XB_FAKE_LINK in the environment names, and measures nothing (where XB_FAKE_JUDGED is set, it
 * judges what was measured, by its own options); `run` writes the record that
 * XB_FAKE_RECORD names, in place of that of its own measurements; `compare` writes the comparison
 * that XB_FAKE_COMPARISON names, whatever its two files say.
 */
#define _POSIX_C_SOURCE 200809L
#include "fake_documents.h"

#include "base/file_text.h"
#include "compare/comparison.h"
#include "link/report.h"
#include "link/session.h"
#include "measure/run.h"
#include "record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The linker puts __wrap_NAME in the place of NAME, which it calls __real_NAME
 * (tests/CMakeLists.txt). */
enum xb_status __real_xb_compare(const struct xb_record *baseline,
                                 const struct xb_record *candidate,
                                 const struct xb_comparison_request *request,
                                 struct xb_comparison *comparison, struct xb_error *error);
enum xb_status __real_xb_link_session_start(struct xb_link_session *session,
                                            struct xb_error *error);
bool __real_xb_link_session_wait(struct xb_link_session *session);
void __real_xb_link_session_judge(struct xb_link_session *session, struct xb_link_report *report);
enum xb_status __real_xb_record_of_run(const struct xb_run *run, struct xb_record *record,
                                       struct xb_error *error);

_Noreturn void xb_fake_fail(const char *path, const struct xb_error *error)
{
    fprintf(stderr, "%s: %s\n", path, error->message);
    exit(99);
}

cJSON *xb_fake_tree_of(const char *path)
{
    struct xb_json_reader reader = {.place = {.path = path}};
    struct xb_error error;
    char *text = NULL;
    size_t length = 0;
    if (xb_file_text_read(path, XB_RECORD_LARGEST_BYTES, false, &text, &length, &error) != XB_OK)
        xb_fake_fail(path, &error);
    cJSON *tree = xb_json_read(&reader, text, length);
    free(text);
    if (tree == NULL)
        xb_fake_fail(path, &reader.error);
    return tree;
}

/* ---- link ---- */

enum xb_status __wrap_xb_link_session_start(struct xb_link_session *session, struct xb_error *error)
{
    return getenv("XB_FAKE_LINK") != NULL ? XB_OK : __real_xb_link_session_start(session, error);
}

static void *copy(const void *items, size_t count, size_t size)
{
    void *copied = calloc(count + 1, size);
    if (copied != NULL && count > 0)
        memcpy(copied, items, count * size);
    return copied;
}

static struct xb_link_file link_file; /* reports borrow from it until the process ends */

bool __wrap_xb_link_session_wait(struct xb_link_session *session)
{
    const struct xb_link_report *read = &link_file.report;
    const char *path = getenv("XB_FAKE_LINK");
    struct xb_error error;
    if (path == NULL)
        return __real_xb_link_session_wait(session);
    cJSON *tree = xb_fake_tree_of(path);
    if (xb_link_report_of_tree(path, tree, &link_file, &error) != XB_OK)
        xb_fake_fail(path, &error);
    cJSON_Delete(tree);
    if (getenv("XB_FAKE_JUDGED") == NULL)
        return true;
    session->probe = read->probe;
    session->device_count = session->probe.device_count = (unsigned)read->device_count;
    session->pair_count = read->pair_count;
    memcpy(session->devices, read->devices, read->device_count * sizeof *read->devices);
    memcpy(session->pairs, read->pairs, read->pair_count * sizeof *read->pairs);
    (void)xb_baseline_check(session, &session->error);
    return true;
}

void __wrap_xb_link_session_judge(struct xb_link_session *session, struct xb_link_report *report)
{
    const struct xb_link_report asked = *report;
    if (getenv("XB_FAKE_LINK") == NULL || getenv("XB_FAKE_JUDGED") != NULL) {
        __real_xb_link_session_judge(session, report);
        return;
    }
    *report = link_file.report;
    report->verbose = asked.verbose;
    report->in_a_line = asked.in_a_line;
    report->config = asked.config;
    report->verdicts = copy(report->verdicts, report->device_count, sizeof *report->verdicts);
    report->pair_verdicts =
        copy(report->pair_verdicts, report->pair_count, sizeof *report->pair_verdicts);
    strcpy(session->nothing, report->nothing); /* the command copies it to the report */
}

/* ---- run ---- */

enum xb_status __wrap_xb_record_of_run(const struct xb_run *run, struct xb_record *record,
                                       struct xb_error *error)
{
    const char *path = getenv("XB_FAKE_RECORD");
    if (path == NULL)
        return __real_xb_record_of_run(run, record, error);
    if (xb_record_read(path, record, error) != XB_OK)
        xb_fake_fail(path, error);
    return XB_OK;
}

/* ---- compare ---- */

enum xb_status __wrap_xb_compare(const struct xb_record *baseline,
                                 const struct xb_record *candidate,
                                 const struct xb_comparison_request *request,
                                 struct xb_comparison *comparison, struct xb_error *error)
{
    static struct xb_comparison_file file; /* the comparison borrows from it */
    const char *path = getenv("XB_FAKE_COMPARISON");
    if (path == NULL)
        return __real_xb_compare(baseline, candidate, request, comparison, error);
    cJSON *tree = xb_fake_tree_of(path);
    if (xb_comparison_of_tree(path, tree, &file, error) != XB_OK)
        xb_fake_fail(path, error);
    cJSON_Delete(tree);
    *comparison = file.comparison;
    comparison->texts = NULL;
    comparison->cases = copy(comparison->cases, comparison->case_count, sizeof *comparison->cases);
    comparison->differences = copy(comparison->differences, comparison->difference_count,
                                   sizeof *comparison->differences);
    return XB_OK;
}
