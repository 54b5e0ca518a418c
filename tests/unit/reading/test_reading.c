/* SPDX-License-Identifier: Apache-2.0 */
/* What golden/reading cannot show: a mode of its own, rows that no file may have, and that the
 * documents have all codes. */
#define _GNU_SOURCE /* strtok_r */
#include "base/stream.h"
#include "checks.h"
#include "reading/internal.h"
#include "reading/list.h"
#include "reading/reading.h"
#include "record/mode_list.h"
#include "run/formats.h"

#include <math.h>

/* A record made of rows of 256 MiB host to device, which golden/ has templates for. */
struct made {
    cJSON *tree;
    struct xb_record record;
};

static int begin(void **state)
{
    struct made *made = calloc(1, sizeof *made);
    assert_non_null(made);
    made->tree = golden_base("run/node-of-no-rows");
    *state = made;
    return 0;
}

static int end(void **state)
{
    struct made *made = *state;
    cJSON_Delete(made->tree);
    xb_record_free(&made->record);
    free(made);
    return 0;
}

#define MADE_TEST(name) TEST_WITH(name, begin, end)

static void add_figure(const struct made *made, cJSON *row, const struct xb_figure *known,
                       double median)
{
    cJSON *figure = cJSON_Duplicate(at(made->tree, "templates.figure"), true);
    cJSON_AddStringToObject(figure, "name", known->name);
    cJSON_AddStringToObject(figure, "unit", known->unit);
    cJSON_AddBoolToObject(figure, "more_is_better", known->more_is_better);
    cJSON_AddBoolToObject(figure, "gates", known->gates);
    cJSON_SetNumberValue(cJSON_GetObjectItem(figure, "median"), median);
    cJSON_AddItemToArray(cJSON_GetObjectItem(row, "figures"), figure);
}

static cJSON *add_row(struct made *made, const char *mode, const char *variant, double bandwidth)
{
    cJSON *row = cJSON_Duplicate(at(made->tree, "templates.row"), true);
    cJSON_ReplaceItemInObject(row, "mode", cJSON_CreateString(mode));
    cJSON_ReplaceItemInObject(row, "variant", cJSON_CreateString(variant));
    add_figure(made, row, &xb_figure_bandwidth, bandwidth);
    cJSON_AddItemToArray(cJSON_GetObjectItem(made->tree, "results"), row);
    return row;
}

static void read_record(struct made *made)
{
    struct xb_error error;
    char *text = cJSON_PrintUnformatted(made->tree);
    assert_non_null(text);
    xb_record_free(&made->record);
    if (xb_record_parse("made", text, strlen(text), &made->record, &error) != XB_OK)
        fail_msg("%s", error.message);
    free(text);
}

static void assert_reading(const struct made *made, const char *expected)
{
    struct xb_reading_list list;
    struct xb_memory_text printed = {.text = NULL};
    xb_reading_make(&made->record, &list);
    (void)xb_memory_text_begin(&printed);
    fprintf(printed.stream, "%s\n", list.answer != NULL ? list.answer : "");
    xb_reading_print(printed.stream, &list);
    xb_memory_text_end(&printed);
    assert_string_equal(printed.text, expected);
    free(printed.text);
    xb_reading_free(&list);
}

/* ---- any mode ---- */

static const struct xb_figure hops = {
    .name = "hops", .unit = XB_UNIT_RATIO, .help = "What only this mode knows"};
static const struct xb_figure *const visitor_figures[] = {&hops, NULL};

static void say_hops(struct xb_reading *reading)
{
    const struct xb_record_case *test = xb_reading_best(reading, XB_H2D, NULL, NULL);
    if (test != NULL)
        xb_tell(reading, "[{name} took {whole=hops} hops.]", test);
}

static const struct xb_reading_line visitor_lines[] = {
    {.label = "visiting", .code = "XB-VISITING", .say = say_hops}, {.label = NULL}};

/* A mode that nothing else knows; tests/CMakeLists.txt adds it to this program's list. */
extern const struct xb_mode xb_mode_visitor;
const struct xb_mode xb_mode_visitor = {.name = "visitor",
                                        .variant = "only",
                                        .directions = XB_H2D,
                                        .figures = visitor_figures,
                                        .reading = visitor_lines};

MADE_TEST(a_mode_of_its_own_has_its_line_and_the_general_ones)
{
    struct made *made = *state;
    cJSON *row = add_row(made, "visitor", "only", 10e9);
    read_record(made);
    assert_reading(made, "Visitor: 10.0 GB/s to the GPU.\n");
    add_figure(made, row, &hops, 3);
    add_row(made, "pinned", "alloc", 50e9);
    read_record(made);
    assert_reading(made, "Fastest: pinned allocated, 50.0 GB/s to the GPU.\n\nReading\n"
                         "  visiting     Visitor took 3 hops.\n"
                         "  slow         Visitor reaches 20 % of pinned allocated to the GPU.\n");
}

/* No file may have such rows. */
MADE_TEST(what_was_not_verified_or_failed_is_not_spoken_of)
{
    struct made *made = *state;
    add_row(made, "pinned", "alloc", 50e9);
    add_row(made, "pageable", "driver", 10e9);
    read_record(made);
    struct xb_record_row *fast = &made->record.cases[0].rows[0];
    struct xb_record_row *slow = &made->record.cases[1].rows[0];
    slow->verified = XB_VERIFIED_UNKNOWN;
    assert_reading(made, "Pinned allocated: 50.0 GB/s to the GPU.\n");
    slow->verified = XB_VERIFIED_TRUE;
    slow->status = XB_RESULT_ERROR;
    assert_reading(made, "Pinned allocated: 50.0 GB/s to the GPU.\n");
    fast->verified = XB_VERIFIED_UNKNOWN;
    assert_reading(made,
                   "No answer: 0 skipped, 1 failed, 1 cut short or not verified, of 2 results.\n");
}

/* ---- phrases ---- */

TEST(a_phrase_is_words_with_their_numbers)
{
    struct xb_reading_list list = {.count = 0};
    struct xb_record record = {.backend = "hip"};
    struct xb_reading reading = {.list = &list, .record = &record};
    xb_reading_begin(&reading, "label", "XB-CODE", -1, 0);
    xb_tell(&reading, "{text} has {rate:bandwidth} GB/s of {size:most}; {factor}, {speed}, ", "it",
            54e9, (uint64_t)8 << 20, 2.0, 2.0);
    xb_tell(&reading, "{share:share}, {part} of the time, {duration:time}, {whole}.", 0.25, 1.5,
            0.001, 3.0);
    /* What lacks a value, a text or a case is left out with its numbers and cases. */
    const struct xb_record_case one = {.mode = "one"}, other = {.mode = "other"};
    xb_tell(&reading,
            "[{case} {text} of {whole:none}][ No {text}.][ No {case}.][ {one:left} of {text}.]"
            "{case}{case}",
            &one, "None", 0.0, NULL, NULL, 4.25, "it", &other, &other);
    xb_tell(&reading, " {call},", XB_CALL_PIN);
    record.backend = "host";
    xb_tell(&reading, " {call}.", XB_CALL_PIN);
    xb_reading_keep(&reading);
    xb_reading_begin(&reading, "label", "XB-CODE", -1, 0);
    xb_tell(&reading, "What lacks a value elsewhere is none: {factor}.", (double)NAN);
    xb_reading_keep(&reading);
    assert_int_equal(list.count, 1);
    const struct xb_reading_entry *entry = &list.entries[0];
    assert_int_equal(entry->case_count, 1);
    assert_ptr_equal(entry->cases[0], &other);
    assert_string_equal(entry->text,
                        "it has 54.0 GB/s of 8 MiB; 2.0 times, 2.0 times as fast, "
                        "25 %, 100 % of the time, 1.00 ms, 3. 4.2 of it. hipHostRegister(), "
                        "cudaHostRegister() or hipHostRegister().");
    assert_int_equal(entry->number_count, 5);
    static const struct xb_reading_number expected[] = {{"bandwidth", 54e9, XB_UNIT_RATE},
                                                        {"most", 8 << 20, XB_UNIT_BYTES},
                                                        {"share", 0.25, XB_UNIT_RATIO},
                                                        {"time", 0.001, XB_UNIT_SECONDS},
                                                        {"left", 4.25, XB_UNIT_RATIO}};
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(entry->numbers[i].name, expected[i].name);
        assert_string_equal(entry->numbers[i].unit, expected[i].unit);
        assert_true(entry->numbers[i].value == expected[i].value);
    }
    free(reading.numbers);
    free(reading.cases);
    xb_reading_free(&list);
}

/* ---- codes ---- */

#define MOST_LINES 200

/* Every line that there is. */
static struct line {
    const struct xb_reading_line *line;
    const char *mode; /* "" for what is said of any */
} lines[MOST_LINES];
static size_t line_count;

static void take(const struct xb_reading_line *from, const char *mode)
{
    for (; from != NULL && from->label != NULL; from++) {
        assert_true(line_count < MOST_LINES);
        lines[line_count++] = (struct line){from, mode};
    }
}

static int take_lines(NO_STATE)
{
    static struct xb_reading_line together[3];
    together[0] = xb_reading_together;
    together[1] = xb_reading_set;
    take(xb_reading_first, "");
    take(together, "");
    take(xb_reading_last, "");
    for (const struct xb_mode *const *mode = xb_modes; *mode != NULL; mode++)
        if (*mode != &xb_mode_visitor)
            take((*mode)->reading, (*mode)->name);
    return 0;
}
GROUP(take_lines, NULL)

TEST(every_line_has_a_code)
{
    assert_true(line_count > 20);
    for (size_t i = 0; i < line_count; i++) {
        const struct xb_reading_line *line = lines[i].line;
        if (line->code == NULL)
            fail_msg("the line %s of %s has no code", line->label, lines[i].mode);
        assert_memory_equal(line->code, "XB-", 3);
        assert_int_equal(strspn(line->code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"),
                         strlen(line->code));
        assert_true(strlen(line->label) <= 12);
    }
}

/* Lines share a code where they say the same of different modes, or of several variants of one. */
TEST(a_code_is_of_one_kind_of_statement)
{
    for (size_t i = 0; i < line_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(lines[i].line->code, lines[k].line->code) == 0 &&
                strcmp(lines[i].line->label, lines[k].line->label) != 0 &&
                strcmp(lines[i].mode, lines[k].mode) != 0)
                fail_msg("%s is %s of %s, and %s of %s", lines[i].line->code, lines[i].line->label,
                         lines[i].mode, lines[k].line->label, lines[k].mode);
}

/* A row of the table begins with each code. A reason that `link` gives for a verdict is another
 * thing. */
TEST(the_document_lists_every_code_and_that_of_link_none)
{
    char *own = file_text(SOURCE "/docs/reading.md"), *of_link = file_text(SOURCE "/docs/link.md");
    for (size_t i = 0; i < line_count; i++) {
        char row[80];
        snprintf(row, sizeof row, "\n| `%s` | ", lines[i].line->code);
        assert_has(own, row);
        assert_lacks(of_link, row);
    }
    free(own);
    free(of_link);
}

TEST(the_document_lists_no_other)
{
    char *text = file_text(SOURCE "/docs/reading.md");
    for (const char *at = text; (at = strstr(at, "\n| `XB-")) != NULL; at++) {
        const char *code = at + strlen("\n| `");
        size_t i = 0, length = strcspn(code, "`");
        while (i < line_count && (strncmp(lines[i].line->code, code, length) != 0 ||
                                  lines[i].line->code[length] != '\0'))
            i++;
        if (i == line_count)
            fail_msg("docs/reading.md has a row of %.*s, which nothing says", (int)length, code);
    }
    free(text);
}

/* ---- the README ---- */

/* The README shows what is printed for a file that is there: a sample that was edited by hand, or
 * sentences that changed since, are found. */
TEST(readme_shows_what_is_printed)
{
    struct xb_record record = {0};
    struct xb_error error;
    char *rest = NULL, *readme = file_text(SOURCE "/README.md");
    assert_int_equal(xb_record_read(SOURCE "/bench/results/h200/all-1g-7.json", &record, &error),
                     XB_OK);
    struct xb_memory_text printed = {.text = NULL};
    setenv("LC_ALL", "C.UTF-8", 1); /* bars are drawn in it */
    (void)xb_memory_text_begin(&printed);
    assert_int_equal(xb_table_write(printed.stream, &record,
                                    &(struct xb_table_view){.all_notes = false}, &error),
                     XB_OK);
    xb_memory_text_end(&printed);
    char *text = printed.text;
    for (char *part = strtok_r(text, "\n", &rest); part != NULL;
         part = strtok_r(NULL, "\n", &rest)) {
        char line[400];
        snprintf(line, sizeof line, "\n    %s\n", part);
        assert_has(readme, line);
    }
    free(text);
    free(readme);
    xb_record_free(&record);
}
