/* SPDX-License-Identifier: Apache-2.0 */
#include "document_fixture.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "testing.h"

/* ---- several processes ---- */

/* The case of the document's first row, `factor` times as fast as there. */
static cJSON *process_tree(int factor)
{
    char median[16];
    snprintf(median, sizeof median, "%d", 1000 * factor);
    return result_of_bandwidth(median);
}

TEST(reads_processes)
{
    double medians[XB_RECORD_PROCESSES] = {0};
    cJSON *documents[] = {NULL, process_tree(3), process_tree(1), NULL, process_tree(2)};
    put(documents[1], "config.deadline", "1.5"); /* what is left of it differs */
    put(documents[2], "interrupted", "true");
    put(documents[4], "deadline_met", "false");
    put(documents[4], "results[2].status", "\"error\"");
    struct xb_record record = read_tree(merge(7, 5, documents));
    assert_true(record.is_merged);
    assert_int_equal(record.asked_processes, 7);
    assert_int_equal(record.process_count, 5);
    assert_string_equal(record.driver, "580.1");
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(record.processes[i].interrupted, i == 2);
        assert_int_equal(record.processes[i].deadline_met, i != 4);
        assert_int_equal(record.processes[i].device_count, i == 0 || i == 3 ? 0 : 2);
    }
    assert_int_equal(record.case_count, 4);
    assert_fact(record.options, record.option_count, "deadline", "1.5"); /* the first one's */
    const struct xb_record_case *test = &record.cases[0];
    assert_int_equal(xb_record_medians(&record, test, "bandwidth", medians), 3);
    assert_figure(medians[0], 3000.0);
    assert_figure(medians[1], 1000.0);
    assert_figure(medians[2], 2000.0);
    assert_int_equal(xb_record_medians(&record, test, "latency_host", medians), 0);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(test->rows[i].is_there, i != 0 && i != 3);
    assert_summary(&record, 0, XB_RESULT_OK, XB_VERIFIED_TRUE, 3, NULL); /* of those with results */
    assert_summary(&record, 2, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, 0, "one device");
    assert_int_equal(record.cases[2].rows[1].status, XB_RESULT_SKIPPED);
    assert_int_equal(record.cases[2].rows[4].status, XB_RESULT_ERROR);
    xb_record_free(&record);
}

TEST(reads_what_the_file_says_of_all_processes)
{
    cJSON *documents[] = {result_tree(), result_tree(), NULL};
    cJSON *tree = merge(3, 3, documents);
    put(tree, "timestamp", "\"2026-02-03T04:05:06Z\"");
    put(tree, "role", "\"baseline\"");
    put(tree, "program", "\"/opt/old\"");
    put(tree, "interleaved_with", "\"/opt/new\"");
    put(tree, "interrupted", "true");
    put(tree, "deadline_met", "null");
    put(tree, "start.began", "\"2026-02-03T04:05:05.000001Z\"");
    struct xb_record record = read_tree(tree);
    assert_int_equal(record.case_count, 4); /* the same ones */
    assert_string_equal(record.timestamp, "2026-02-03T04:05:06Z");
    assert_string_equal(record.start.began, "2026-02-03T04:05:05.000001Z");
    assert_string_equal(record.role, "baseline");
    assert_string_equal(record.program, "/opt/old");
    assert_string_equal(record.counterpart, "/opt/new");
    assert_true(record.interrupted);
    assert_false(record.has_deadline);
    assert_true(record.deadline_met);
    assert_true(record.processes[0].has_deadline);
    assert_false(record.processes[2].has_deadline);
    assert_int_equal(record.cases[0].rows[0].figure_count, 7);
    assert_int_equal(record.cases[0].rows[1].figure_count, 7);
    assert_int_equal(record.cases[2].parameter_count, 1);
    xb_record_free(&record);
}

/* Of a process without a document the file says whether its run was cut short, and it itself why it
 * has none. */
TEST(reads_how_a_process_ended)
{
    cJSON *documents[] = {process_tree(1), NULL};
    cJSON *tree = merge(2, 2, documents);
    put(tree, "interrupted", "true");
    put(tree, "deadline_met", "false");
    put(tree, "processes[1].failure", "\"it was ended by SIGSEGV\"");
    struct xb_record record = read_tree(tree);
    assert_false(record.processes[0].interrupted); /* it says so itself */
    assert_true(record.processes[0].deadline_met);
    assert_null(record.processes[0].failure);
    assert_true(record.processes[1].interrupted);
    assert_false(record.processes[1].deadline_met);
    assert_string_equal(record.processes[1].failure, "it was ended by SIGSEGV");
    xb_record_free(&record);
    cJSON *others[] = {process_tree(1), NULL};
    tree = merge(2, 2, others);
    put(tree, "interrupted", "5");
    refuse_tree(tree, "interrupted: must be true or false");
}

/* Their rows in another order, and some that only one has. */
TEST(brings_rows_of_processes_together)
{
    static const char *const modes[] = {"pinned", "pinned", "peer", "managed", "zero-copy"};
    double medians[XB_RECORD_PROCESSES];
    cJSON *documents[] = {process_tree(1), process_tree(2)};
    cJSON *rows = cJSON_GetObjectItem(documents[1], "results");
    cJSON *first = cJSON_DetachItemFromArray(rows, 0);
    cJSON *only = cJSON_Duplicate(first, true);
    cJSON_ReplaceItemInObject(only, "mode", cJSON_CreateString("zero-copy"));
    cJSON_InsertItemInArray(rows, 0, only);
    cJSON_AddItemToArray(rows, first);
    cJSON_DeleteItemFromArray(rows, 2); /* peer */
    struct xb_record record = read_tree(merge(2, 2, documents));
    assert_int_equal(record.case_count, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct xb_record_case *test = &record.cases[i];
        assert_string_equal(test->mode, modes[i]);
        assert_int_equal(test->latency, i == 1);
        assert_int_equal(test->rows[0].is_there, i != 4);
        assert_int_equal(test->rows[1].is_there, i != 2);
        assert_ptr_equal(xb_record_find(&record, test), test);
    }
    assert_summary(&record, 1, XB_RESULT_OK, XB_VERIFIED_TRUE, 2, NULL);
    assert_summary(&record, 2, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, 0, "one device");
    assert_summary(&record, 3, XB_RESULT_ERROR, XB_VERIFIED_FALSE, 0, "wrong");
    assert_summary(&record, 4, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, 1,
                   "process 0 has no such row");
    assert_int_equal(xb_record_medians(&record, &record.cases[0], "bandwidth", medians), 2);
    assert_figure(medians[0], 1000.0);
    assert_figure(medians[1], 2000.0);
    assert_int_equal(xb_record_medians(&record, &record.cases[4], "bandwidth", medians), 1);
    assert_figure(medians[0], 2000.0);
    xb_record_free(&record);
}

#define OTHER ": measured under other conditions: "

TEST(refuses_processes_that_do_not_belong_together)
{
    static const char *const rows[][3] = {
        {"config", "1", ".config: must be an object"},
        {"config", NULL, ".config: is missing"},
        {"backend", NULL, ".backend: is missing"},
        {"environment", "[]", ".environment: must be an object"},
        {"schema_version", "1", ".schema_version: 1 was written by a build from before"},
        {"schema_version", "3", ".schema_version: 3 was written by a newer xferbench"},
        {"schema", "\"xferbench.processes\"", ".schema: \"xferbench.processes\" is not"},
        {"results[1].bytes", "0", ".results[1].bytes: must be a whole number"},
        {"backend.name", "\"cuda\"", OTHER "the backend is another one (hip, then cuda)"},
        {"backend.driver_version", "\"470.1\"",
         OTHER "the driver is another one (580.1, then 470.1)"},
        {"config.chunk", "1", OTHER "option chunk is another one (8388608, then 1)"},
        {"config.chunk", "null", OTHER "option chunk is another one (8388608, then not known)"},
        {"config.samples", "1", OTHER "option samples is another one (not known, then 1)"},
        {"config.mode", "[\"pinned\"]", OTHER "option mode is another one ("},
        {"config.mode", "\"[\\\"pinned\\\",\\\"peer\\\"] \"", OTHER "option mode is"},
        {"config.other", "1", OTHER "option other is new"},
        {"config.chunk", NULL, OTHER "option chunk is missing"},
        {"host.hostname", "\"node2\"", OTHER "hostname is another one (node1, then node2)"},
        {"host.hostname", "null", OTHER "hostname is another one (node1, then not known)"},
        {"devices[0].name", "\"GPU C\"", OTHER "device 0 is another one (GPU A, then GPU C)"},
        {"devices[1].name", "\"GPU C\"", OTHER "device 3 is another one (GPU B, then GPU C)"},
        {"devices[0].uuid", "\"U1\"", OTHER "device 0 is another one (UUID U0, then U1)"},
        {"devices[1].uuid", "\"U1\"", OTHER "device 3 is another one (UUID not known, then U1)"},
        {"devices[0].pci_bdf", "\"0000:02:00.0\"",
         OTHER "device 0 is another one (PCI address 0000:01:00.0, then 0000:02:00.0)"},
        {"devices[1]", NULL, OTHER "device 3 is missing"},
        {"devices[1].index", "4", OTHER "device 3 is missing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char expected[200];
        cJSON *documents[] = {result_tree(), NULL, result_tree()};
        put(documents[2], rows[i][0], rows[i][1]);
        snprintf(expected, sizeof expected, PATH ": processes[2].document%s", rows[i][2]);
        refuse_tree(merge(3, 3, documents), expected);
    }
    cJSON *documents[] = {result_tree(), result_tree()};
    put(documents[0], "devices[1]", NULL);
    refuse_tree(merge(2, 2, documents), OTHER "device 3 is new");
}

/* A value as long as one likes is cut, and the message stays whole. */
TEST(tells_what_differs_shortly)
{
    char name[3000], text[XB_RECORD_DIFFERENCE];
    memset(name, 'x', sizeof name - 1);
    name[0] = name[sizeof name - 2] = '"';
    name[sizeof name - 1] = '\0';
    cJSON *long_name = result_tree();
    put(long_name, "devices[0].name", name);
    struct xb_record first = read_tree(result_tree());
    struct xb_record other = read_tree(long_name);
    assert_null(xb_record_other_condition(&first, &first, text, sizeof text));
    assert_ptr_equal(xb_record_other_condition(&first, &other, text, sizeof text), text);
    assert_int_equal(strlen(text), strlen("device 0 is another one (GPU A, then )") + 50);
    xb_record_free(&first);
    xb_record_free(&other);
}

/* ---- rows that were cut short, and warnings ---- */

/* Both rows that have figures end by that; NULL: they do not say by what. */
static void end_rows(cJSON *document, const char *reason)
{
    if (reason == NULL)
        return;
    put(document, "results[0].stop_reason", reason);
    put(document, "results[1].stop_reason", reason);
}

TEST(leaves_out_rows_that_were_cut_short)
{
    static const char *const reasons[] = {"\"interrupted\"", "\"deadline\"", "\"converged\"",
                                          "\"time-limit\"",  "\"fixed\"",    NULL};
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        double medians[XB_RECORD_PROCESSES];
        char text[XB_RECORD_CUT];
        bool cut = i < 2;
        cJSON *documents[] = {process_tree(1), NULL, process_tree(2), process_tree(3)};
        end_rows(documents[2], reasons[i]);
        end_rows(documents[3], reasons[i]);
        struct xb_record record = read_tree(merge(4, 4, documents));
        for (size_t row = 0; row < 2; row++) {
            const struct xb_record_case *test = &record.cases[row];
            const char *figure = row == 0 ? "bandwidth" : "latency_host";
            assert_int_equal(xb_record_medians(&record, test, figure, medians), cut ? 1 : 3);
            assert_summary(&record, row, XB_RESULT_OK, XB_VERIFIED_TRUE, 3, NULL);
            assert_int_equal(xb_record_summarize(&record, test).cut, cut ? 2 : 0);
            const char *found = xb_record_cut_text(&record, test, text, sizeof text);
            assert_string_equal(found != NULL ? found : "-",
                                cut ? "cut short in processes 2 and 3: not counted" : "-");
        }
        xb_record_free(&record);
    }
}

/* As many as there can be fit the text. */
TEST(names_all_processes_that_were_cut_short)
{
    char text[XB_RECORD_CUT];
    cJSON *documents[XB_RECORD_PROCESSES];
    for (size_t i = 0; i < XB_RECORD_PROCESSES; i++) {
        documents[i] = result_tree();
        put(documents[i], "results[0].stop_reason", "\"deadline\"");
    }
    struct xb_record record = read_tree(merge(100, 100, documents));
    assert_non_null(xb_record_cut_text(&record, &record.cases[0], text, sizeof text));
    assert_non_null(strstr(text, "cut short in processes 0, 1, 2, "));
    assert_non_null(strstr(text, ", 98 and 99: not counted"));
    xb_record_free(&record);
}

TEST(groups_warnings)
{
    static const struct {
        const char *a, *b;
        bool alike;
    } pairs[] = {{"noisy: 31 %", "noisy: 4 %", true},
                 {"3 samples are few", "4 samples are few", true},
                 {"3 samples are few", "3 samples", false},
                 {"at 3 x", "at 4 y", true},
                 {"at 3 x", "at: y", false},
                 {"same", "same", true},
                 {"same", "samer", false}};
    struct xb_record_warning warnings[XB_RECORD_WARNINGS];
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        assert_int_equal(xb_record_like_warnings(pairs[i].a, pairs[i].b), pairs[i].alike);
        assert_int_equal(xb_record_like_warnings(pairs[i].b, pairs[i].a), pairs[i].alike);
    }
    cJSON *documents[] = {result_tree(), NULL, result_tree(), result_tree()};
    put(documents[0], "results[0].warnings", "[\"noisy: 31 %\",\"noisy: 32 %\",\"one\"]");
    put(documents[2], "results[0].warnings", "[\"two\",\"noisy: 5 %\"]");
    put(documents[3], "results[0].warnings", "[]");
    struct xb_record record = read_tree(merge(4, 4, documents));
    assert_int_equal(xb_record_warnings(&record, &record.cases[0], warnings), 3);
    assert_string_equal(warnings[0].text, "noisy: 31 %");
    assert_int_equal(warnings[0].processes, 2);
    assert_string_equal(warnings[1].text, "one");
    assert_int_equal(warnings[1].processes, 1);
    assert_string_equal(warnings[2].text, "two");
    assert_int_equal(xb_record_warnings(&record, &record.cases[1], warnings), 0);
    xb_record_free(&record);
}

TEST(refuses_warnings_that_are_none)
{
    static const char *const values[] = {"null",
                                         "\"noisy\"",
                                         "{}",
                                         "[1]",
                                         "[\"\"]",
                                         "[\"a\",null]",
                                         "[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\"]"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        cJSON *tree = result_tree();
        put(tree, "results[2].warnings", values[i]);
        refuse_tree(tree, "results[2].warnings: ");
    }
    cJSON *tree = result_tree();
    put(tree, "results[0].stop_reason", "1");
    refuse_tree(tree, "results[0].stop_reason: must be a text");
}

TEST(refuses_files_of_processes_that_are_wrong)
{
    static const char *const rows[][3] = {
        {"asked", NULL, "asked: is missing"},
        {"asked", "0", "asked: must be a whole number from 1 to 100"},
        {"asked", "101", "asked: must be a whole number from 1 to 100"},
        {"asked", "1.5", "asked: must be"},
        {"asked", "1", "processes: are more than the 1 asked for"},
        {"processes", NULL, "processes: is missing"},
        {"processes", "{}", "processes: must be an array"},
        {"processes", "[]", "processes: must be 1 to 100"},
        {"processes", "[{\"failure\":null,\"document\":null}]", "none of them has results"},
        {"processes[1]", "1", "processes[1]: must be an object"},
        {"processes[1].document", NULL, "processes[1].document: is missing"},
        {"processes[1].document", "[]", "processes[1].document: is not a result file of xferbench"},
        {"schema_version", NULL, "schema_version: is missing"},
        {"schema_version", "1", "schema_version: 1 was written by a build from before"},
        {"schema_version", "3", "schema_version: 3 was written by a newer xferbench"},
        {"interrupted", NULL, "interrupted: is missing"},
        {"deadline_met", NULL, "deadline_met: is missing"},
        {"start", NULL, "start: is missing"},
        {"role", "5", "role: must be a text"},
        {"program", "5", "program: must be a text"},
        {"interleaved_with", "5", "interleaved_with: must be a text"},
        {"schema_version", "0", "schema_version: must be a whole number from 1"},
        {"schema", "\"xferbench.process\"", "schema: \"xferbench.process\" is not"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cJSON *documents[] = {result_tree(), result_tree()};
        cJSON *tree = merge(2, 2, documents);
        put(tree, rows[i][0], rows[i][1]);
        refuse_tree(tree, rows[i][2]);
    }
    cJSON *documents[101] = {result_tree()};
    refuse_tree(merge(100, 101, documents), "processes: must be 1 to 100");
    documents[0] = result_tree();
    struct xb_record record = read_tree(merge(100, 100, documents));
    assert_int_equal(record.process_count, 100);
    xb_record_free(&record);
}
