/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
/* The table of records as large as a file may make them. What these tests hold is that it comes to
 * an end: work that grows faster than the square of the cases takes hours here. */
#include "checks.h"
#include "record/making.h"
#include "run/formats.h"

#define RUN_TEST(name) TEST_WITH(name, setup, teardown)

#define CASES XB_RECORD_CASES

struct large {
    struct xb_record record;
    struct xb_record_process process;
    struct xb_record_device device;
};

static int setup(void **state)
{
    struct large *large = calloc(1, sizeof *large);
    assert_non_null(large);
    large->device = (struct xb_record_device){.name = "H200", .numa_node = -1};
    large->process = (struct xb_record_process){
        .has_results = true, .devices = &large->device, .device_count = 1, .deadline_met = true};
    large->record = (struct xb_record){.backend = "cuda",
                                       .processes = &large->process,
                                       .process_count = 1,
                                       .asked_processes = 1,
                                       .cases = calloc(CASES, sizeof *large->record.cases),
                                       .case_count = CASES};
    assert_non_null(large->record.cases);
    for (size_t i = 0; i < CASES; i++) {
        struct xb_record_row *row = calloc(1, sizeof *row);
        assert_non_null(row);
        *row = (struct xb_record_row){.is_there = true, .status = XB_RESULT_SKIPPED};
        large->record.cases[i] = (struct xb_record_case){.mode = "pinned",
                                                         .variant = "alloc",
                                                         .direction = "h2d",
                                                         .bytes = 4096,
                                                         .peer = -1,
                                                         .rows = row};
    }
    *state = large;
    return 0;
}

static int teardown(void **state)
{
    struct large *large = *state;
    for (size_t i = 0; i < CASES; i++)
        free(large->record.cases[i].rows);
    free(large->record.cases);
    free(large->record.index);
    free(large->record.by_size);
    xb_arena_free(large->record.texts);
    free(large);
    return 0;
}

static const char *numbered(struct large *large, const char *what, size_t number)
{
    const char *text = xb_arena_print(&large->record.texts, "%s%zu", what, number);
    assert_non_null(text);
    return text;
}

static char *table_of(struct large *large)
{
    xb_record_make_index(&large->record);
    const struct xb_table_view view = {.all_columns = true, .all_reading = true, .all_notes = true};
    char *text = NULL;
    size_t length = 0;
    struct xb_error error;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_int_equal(xb_table_write(stream, &large->record, &view, &error), XB_OK);
    assert_int_equal(fclose(stream), 0);
    return text;
}

RUN_TEST(every_case_has_a_mode_and_a_reason_of_its_own)
{
    enum { PARAMETERS = 16 };
    struct large *large = *state;
    for (size_t i = 0; i < CASES; i++) {
        struct xb_record_case *test = &large->record.cases[i];
        struct xb_record_fact *facts =
            xb_arena_new(&large->record.texts, PARAMETERS * sizeof *facts);
        assert_non_null(facts);
        for (size_t p = 0; p < PARAMETERS; p++)
            facts[p] = (struct xb_record_fact){.name = numbered(large, "p", p), .value = "1"};
        test->mode = numbered(large, "mode", i);
        test->parameters = facts;
        test->parameter_count = PARAMETERS;
        test->rows[0].reason = numbered(large, "reason ", i);
    }
    char *text = table_of(large);
    assert_has(text, "skipped  mode0 alloc h2d 4 KiB: reason 0\n");
    assert_has(text, "skipped  mode9999 alloc h2d 4 KiB: reason 9999\n");
    free(text);
}

RUN_TEST(every_case_has_warnings_of_its_own)
{
    enum { WARNINGS = 8 };
    struct large *large = *state;
    for (size_t i = 0; i < CASES; i++) {
        struct xb_record_row *row = large->record.cases[i].rows;
        const char **texts = xb_arena_new(&large->record.texts, WARNINGS * sizeof *texts);
        assert_non_null(texts);
        for (size_t w = 0; w < WARNINGS; w++)
            texts[w] = numbered(large, "kind", WARNINGS * i + w);
        row->warning_texts = texts;
        row->warning_count = WARNINGS;
    }
    char *text = table_of(large);
    assert_has(text, ": kind31\n  warning  there are more: the JSON has all\n");
    assert_null(strstr(text, ": kind32\n"));
    free(text);
}

/* Matrices of pairs of the highest indices that a file may have. */
RUN_TEST(pairs_of_devices_with_high_indices)
{
    enum { HIGHEST = 63, OF_A_MATRIX = 10 };
    struct large *large = *state;
    for (size_t i = 0; i < CASES; i++) {
        struct xb_record_case *test = &large->record.cases[i];
        test->bytes = 4096 + i / OF_A_MATRIX;
        test->direction = "d2d";
        test->device = HIGHEST - (int)(i % OF_A_MATRIX);
        test->peer = test->device - 1;
    }
    char *text = table_of(large);
    assert_has(text, "\n          53    54    55");
    assert_has(text,
               "\n    63     -     -     -     -     -     -     -     -     -  skip     -\n");
    free(text);
}
