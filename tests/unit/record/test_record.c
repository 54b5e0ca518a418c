/* SPDX-License-Identifier: Apache-2.0 */
/* What is read of a result file: record.txt says it of record/result.json, and what another value
 * in it changes. */
#include "document_fixture.h"
#include "record_text.h"
#include "rows.h"

/* ---- one process ---- */

static void say_line(const struct row *row, char said[ROW_TEXT])
{
    char what[200];
    struct xb_record record = read_tree(result_tree());
    char *text = text_of_record(&record);
    xb_record_free(&record);
    xb_record_free(&record); /* accepts a zeroed one */
    snprintf(what, sizeof what, "\n%s: ", row->part[0]);
    const char *line = strstr(text, what);
    if (line == NULL && strncmp(text, what + 1, strlen(what + 1)) == 0)
        line = text - 1;
    if (line != NULL)
        say_also(said, "%.*s", (int)strcspn(line + strlen(what), "\n"), line + strlen(what));
    free(text);
}
TEST_ROWS(all_that_a_document_says_is_read, say_line)

/* What another tree says that the usual one does not; takes both. */
static void say_difference(cJSON *tree, cJSON *usual, char said[ROW_TEXT])
{
    struct xb_record record;
    struct xb_error error;
    enum xb_status status = parse_tree(tree, &record, &error);
    struct xb_record before = read_tree(usual);
    if (status != XB_OK)
        say_refused(said, status, &error);
    else {
        char *text = text_of_record(&record), *usual_text = text_of_record(&before);
        say_new_lines(text, usual_text, said, ROW_TEXT);
        free(usual_text);
        free(text);
        xb_record_free(&record);
    }
    xb_record_free(&before);
}

static void say_change(const struct row *row, char said[ROW_TEXT])
{
    cJSON *tree = result_tree();
    put_parts(tree, row, 0);
    say_difference(tree, result_tree(), said);
}
TEST_ROWS(another_value_changes_this, say_change)

/* ---- several processes ---- */

/* Of "3 - 1": a process whose bandwidth is 3000 B/s, one without a document, one with 1000 B/s. */
static cJSON *processes(const char *asked, const char *factors)
{
    cJSON *documents[XB_RECORD_PROCESSES] = {NULL};
    size_t count = 0;
    char median[16];
    for (const char *at = factors; *at != '\0'; at += at[1] == ' ' ? 2 : 1) {
        snprintf(median, sizeof median, "%c000", *at);
        documents[count++] = *at != '-' ? result_of_bandwidth(median) : NULL;
    }
    return merge(atoi(asked), count, documents);
}

/* "asked | factors": against one process alone. */
static void say_processes(const struct row *row, char said[ROW_TEXT])
{
    say_difference(processes(row->part[0], row->part[1]), result_of_bandwidth("1000"), said);
}
TEST_ROWS(a_file_of_processes_says_this, say_processes)

/* "asked | factors | where | value ...": against as many that are all as fast. */
static void say_change_of_processes(const struct row *row, char said[ROW_TEXT])
{
    char factors[2 * XB_RECORD_PROCESSES], asked[16];
    snprintf(factors, sizeof factors, "%s", row->part[1]);
    for (char *at = factors; *at != '\0'; at++)
        *at = *at > '1' ? '1' : *at;
    snprintf(asked, sizeof asked, "%zu", strlen(factors) / 2 + 1);
    cJSON *tree = processes(row->part[0], row->part[1]);
    put_parts(tree, row, 2);
    say_difference(tree, processes(asked, factors), said);
}
TEST_ROWS(processes_are_read_together, say_change_of_processes)
TEST_ROWS(files_of_processes_that_are_wrong_are_refused, say_change_of_processes)

static void say_change_of_third(const struct row *row, char said[ROW_TEXT])
{
    static const char document[] = "folder/some.json: processes[2].document";
    char *what = said + strlen("refused: ");
    cJSON *documents[] = {result_tree(), NULL, result_tree()};
    put_parts(documents[2], row, 0);
    say_difference(merge(3, 3, documents), result_tree(), said);
    assert_memory_equal(what, document, strlen(document));
    memmove(what, what + strlen(document), strlen(what + strlen(document)) + 1);
}
TEST_ROWS(processes_that_do_not_belong_together_are_refused, say_change_of_third)

/* Their rows in another order, and some that only one has. */
TEST(brings_rows_of_processes_together)
{
    cJSON *documents[] = {result_of_bandwidth("1000"), result_of_bandwidth("2000")};
    cJSON *rows = cJSON_GetObjectItem(documents[1], "results");
    cJSON *first = cJSON_DetachItemFromArray(rows, 0);
    cJSON *only = cJSON_Duplicate(first, true);
    cJSON_ReplaceItemInObject(only, "mode", cJSON_CreateString("zero-copy"));
    cJSON_InsertItemInArray(rows, 0, only);
    cJSON_AddItemToArray(rows, first);
    cJSON_DeleteItemFromArray(rows, 2); /* peer */
    struct xb_record record = read_tree(merge(2, 2, documents));
    static const char *const modes[] = {"pinned", "pinned", "peer", "managed", "zero-copy"};
    assert_int_equal(record.case_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(record.cases[i].mode, modes[i]);
        assert_int_equal(record.cases[i].latency, i == 1);
        assert_int_equal(record.cases[i].rows[0].is_there, i != 4);
        assert_int_equal(record.cases[i].rows[1].is_there, i != 2);
    }
    assert_line(&record, "case 1, all", "ok, verified true, 2 ok of 2, reason -, cut 0: -");
    assert_line(&record, "case 2, all",
                "skipped, verified not known, 0 ok of 2, reason one device, cut 0: -");
    assert_line(&record, "case 3, all", "error, verified false, 0 ok of 2, reason wrong, cut 0: -");
    assert_line(&record, "case 4, all",
                "skipped, verified not known, 1 ok of 2, reason process 0 has no such row, "
                "cut 0: -");
    assert_line(&record, "case 0, all bandwidth",
                "n 2, median 1500, min 1000, max 2000, p5 1050, p95 1950, p99 -, mad 500, "
                "medians 1000 2000");
    assert_line(&record, "case 4, all bandwidth",
                "n 1, median 2000, min 2000, max 2000, p5 2000, p95 2000, p99 -, mad 0, "
                "medians 2000");
    xb_record_free(&record);
}

/* As many as there can be fit the text. */
TEST(names_all_processes_that_were_cut_short)
{
    char text[XB_RECORD_CUT];
    cJSON *documents[XB_RECORD_PROCESSES + 1] = {NULL};
    for (size_t i = 0; i < XB_RECORD_PROCESSES; i++) {
        documents[i] = result_tree();
        put(documents[i], "results[0].stop_reason", "\"deadline\"");
    }
    struct xb_record record = read_tree(merge(100, 100, documents));
    assert_int_equal(record.process_count, 100);
    assert_non_null(xb_record_cut_text(&record, &record.cases[0], text, sizeof text));
    assert_non_null(strstr(text, "cut short in processes 0, 1, 2, "));
    assert_non_null(strstr(text, ", 98 and 99: not counted"));
    xb_record_free(&record);
    documents[0] = result_tree();
    for (size_t i = 1; i <= XB_RECORD_PROCESSES; i++)
        documents[i] = NULL;
    refuse_tree(merge(100, 101, documents), "processes: must be 1 to 100");
}

static void say_alike(const struct row *row, char said[ROW_TEXT])
{
    bool alike = xb_record_like_warnings(row->part[0], row->part[1]);
    assert_int_equal(xb_record_like_warnings(row->part[1], row->part[0]), alike);
    say_also(said, "%s", alike ? "alike" : "different");
}
TEST_ROWS(warnings_that_differ_in_figures_only_are_alike, say_alike)

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

TEST(tells_devices_of_the_first_process_with_results)
{
    size_t count = 1;
    cJSON *documents[] = {NULL, result_tree()};
    struct xb_record record = read_tree(merge(2, 2, documents));
    assert_ptr_equal(xb_record_devices(&record, &count), record.processes[1].devices);
    assert_int_equal(count, 2);
    assert_ptr_equal(xb_record_device(&record, 0), &record.processes[1].devices[0]);
    assert_ptr_equal(xb_record_device(&record, 3), &record.processes[1].devices[1]);
    assert_null(xb_record_device(&record, 1));
    assert_null(xb_record_device(&record, -1)); /* of a sum */
    xb_record_free(&record);
    assert_null(xb_record_devices(&record, &count));
    assert_int_equal(count, 0);
    assert_null(xb_record_device(&record, 0));
}

/* ---- cases ---- */

static void say_device(const struct row *row, char said[ROW_TEXT])
{
    static const struct xb_record_fact group = {.name = "group", .value = "all-to-one"};
    char text[32];
    struct xb_record_case test = {.device = atoi(row->part[0]),
                                  .peer = atoi(row->part[1]),
                                  .simultaneous = row->count > 2,
                                  .parameters = &group,
                                  .parameter_count = row->count > 3};
    say_also(said, "%s%s", xb_record_case_device(&test, text, sizeof text),
             xb_record_is_sum(&test) ? ", a sum" : "");
}
TEST_ROWS(the_device_of_a_case_is_named, say_device)

/* Each key that makes a case, in a row that is the first one otherwise. */
static void say_fifth_case(const struct row *row, char said[ROW_TEXT])
{
    char where[64];
    struct xb_record record, plain = read_tree(result_tree());
    struct xb_error error;
    cJSON *tree = result_tree();
    cJSON *rows = cJSON_GetObjectItem(tree, "results");
    cJSON_AddItemToArray(rows, cJSON_Duplicate(cJSON_GetArrayItem(rows, 0), true));
    snprintf(where, sizeof where, "results[4].%s", row->part[0]);
    put(tree, where, row->part[1]);
    enum xb_status status = parse_tree(tree, &record, &error);
    if (status != XB_OK)
        say_refused(said, status, &error);
    for (size_t i = 0; i < record.case_count; i++) {
        const struct xb_record_case *own = &record.cases[i];
        const struct xb_record_case *other = i < 4 ? &plain.cases[i] : NULL;
        assert_ptr_equal(xb_record_find(&record, own), own);
        assert_ptr_equal(xb_record_find(&plain, own), other); /* across records */
        if (i < 4)
            assert_ptr_equal(xb_record_find(&record, other), own);
    }
    if (status == XB_OK)
        say_also(said, "%zu cases", record.case_count);
    xb_record_free(&record);
    assert_null(xb_record_find(&record, &plain.cases[0])); /* it has none now */
    xb_record_free(&plain);
}
TEST_ROWS(a_case_is_told_by_every_key, say_fifth_case)

/* A value of another kind is another one, and the order in which parameters stand says nothing. */
static void say_same_case(const struct row *row, char said[ROW_TEXT])
{
    struct xb_record records[2];
    for (size_t i = 0; i < 2; i++) {
        cJSON *tree = result_tree();
        put(tree, "results[0].parameters", row->part[i]);
        records[i] = read_tree(tree);
    }
    const struct xb_record_case *found = xb_record_find(&records[1], &records[0].cases[0]);
    assert_true(found == NULL || found == &records[1].cases[0]);
    say_also(said, "%s", found != NULL ? "one case" : "two cases");
    xb_record_free(&records[0]);
    xb_record_free(&records[1]);
}
TEST_ROWS(parameters_are_told_by_name_and_value, say_same_case)

TEST(when_an_early_build_began_is_no_condition)
{
    cJSON *tree = result_tree();
    put(tree, "config.barrier", "\"meet\"");
    put(tree, "config.barrier-tasks", "2");
    struct xb_record record = read_tree(tree);
    assert_null(xb_record_option(&record, "barrier"));
    assert_null(xb_record_option(&record, "barrier-tasks"));
    assert_non_null(xb_record_option(&record, "chunk"));
    xb_record_free(&record);
}
