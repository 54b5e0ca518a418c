/* SPDX-License-Identifier: Apache-2.0 */
/* The Reading for programs: codes, numbers, cases, and the document that lists them. */
#include "reading_fixture.h"

#include "base/file_text.h"
#include "reading/internal.h"
#include "reading/reading.h"
#include "record/mode_list.h"
#include "run/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

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

struct line {
    const struct xb_reading_line *line;
    const char *mode; /* "" for what is said of any */
};

static size_t take(struct line *lines, size_t count, const struct xb_reading_line *from,
                   const char *mode)
{
    for (; from != NULL && from->label != NULL; from++) {
        assert_true(count < MOST_LINES);
        lines[count++] = (struct line){from, mode};
    }
    return count;
}

/* Every line that there is. */
static size_t all_lines(struct line lines[MOST_LINES])
{
    const struct xb_reading_line together[] = {xb_reading_together, {.label = NULL}};
    static struct xb_reading_line kept[2];
    memcpy(kept, together, sizeof kept);
    size_t count = take(lines, 0, xb_reading_first, "");
    count = take(lines, count, kept, "");
    count = take(lines, count, xb_reading_last, "");
    for (const struct xb_mode *const *mode = xb_modes; *mode != NULL; mode++)
        count = take(lines, count, (*mode)->reading, (*mode)->name);
    return count;
}

TEST(every_line_has_a_code)
{
    struct line lines[MOST_LINES];
    size_t count = all_lines(lines);
    assert_true(count > 20);
    for (size_t i = 0; i < count; i++) {
        const struct xb_reading_line *line = lines[i].line;
        if (line->code == NULL) {
            fail_msg("the line %s of %s has no code", line->label, lines[i].mode);
            return;
        }
        assert_true(strncmp(line->code, "XB-", 3) == 0);
        assert_int_equal(strspn(line->code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"),
                         strlen(line->code));
        assert_true(strlen(line->label) <= 12);
    }
}

/* Lines share a code where they say the same of different modes, or of several variants of one. */
TEST(a_code_is_of_one_kind_of_statement)
{
    struct line lines[MOST_LINES];
    size_t count = all_lines(lines);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(lines[i].line->code, lines[k].line->code) == 0 &&
                strcmp(lines[i].line->label, lines[k].line->label) != 0 &&
                strcmp(lines[i].mode, lines[k].mode) != 0)
                fail_msg("%s is %s of %s, and %s of %s", lines[i].line->code, lines[i].line->label,
                         lines[i].mode, lines[k].line->label, lines[k].mode);
}

/* Release with free(). */
static char *document(const char *path)
{
    char *text = NULL;
    size_t length = 0;
    struct xb_error error;
    assert_int_equal(xb_file_text_read(path, 1 << 20, false, &text, &length, &error), XB_OK);
    return text;
}

/* Whether a row of the document's table begins with the code. */
static bool has_row(const char *text, const char *code)
{
    char row[80];
    snprintf(row, sizeof row, "\n| `%s` | ", code);
    return strstr(text, row) != NULL;
}

TEST(the_document_lists_every_code)
{
    struct line lines[MOST_LINES];
    size_t count = all_lines(lines);
    char *text = document(SOURCE "/docs/reading.md");
    for (size_t i = 0; i < count; i++)
        if (!has_row(text, lines[i].line->code))
            fail_msg("docs/reading.md has no row of %s (%s)", lines[i].line->code, lines[i].mode);
    free(text);
}

TEST(the_document_lists_no_other)
{
    struct line lines[MOST_LINES];
    size_t count = all_lines(lines);
    char *text = document(SOURCE "/docs/reading.md");
    for (const char *at = text; (at = strstr(at, "\n| `XB-")) != NULL; at++) {
        char code[80] = "";
        const char *begin = at + strlen("\n| `");
        assert_true(strcspn(begin, "`") < sizeof code);
        memcpy(code, begin, strcspn(begin, "`"));
        size_t i = 0;
        while (i < count && strcmp(lines[i].line->code, code) != 0)
            i++;
        if (i == count)
            fail_msg("docs/reading.md has a row of %s, which nothing says", code);
    }
    free(text);
}

/* A reason that `link` gives for a verdict is another thing. */
TEST(no_code_is_one_of_link)
{
    struct line lines[MOST_LINES];
    size_t count = all_lines(lines);
    char *text = document(SOURCE "/docs/link.md");
    for (size_t i = 0; i < count; i++)
        assert_false(has_row(text, lines[i].line->code));
    free(text);
}

/* ---- numbers and cases ---- */

NODE_TEST(numbers_are_those_of_the_sentence)
{
    struct node *n = *state;
    add(n, &pageable, "driver", XB_H2D, 7.5);
    add(n, &pinned, "alloc", XB_H2D, 54);
    add(n, &pageable, "driver", XB_D2H, 5);
    add(n, &pinned, "alloc", XB_D2H, 55);
    add(n, &pinned, "registered", XB_D2H, 50); /* which no sentence has */
    assert_number(n, "XB-PINNING", "ratio_h2d", 7.2);
    assert_number(n, "XB-PINNING", "pinned_bandwidth_h2d", 54e9);
    assert_number(n, "XB-PINNING", "pageable_bandwidth_h2d", 7.5e9);
    assert_number(n, "XB-PINNING", "ratio_d2h", 11);
    assert_rests_on(n, "XB-PINNING", 4);
    assert_number(n, "XB-SLOW-H2D", "share", 7.5 / 54);
    assert_number(n, "XB-SLOW-D2H", "best_bandwidth", 55e9);
    assert_rests_on(n, "XB-SLOW-D2H", 2);
}

/* A name may have a "-", which a number's has not. */
NODE_TEST(names_of_numbers_are_in_snake_case)
{
    struct node *n = *state;
    add(n, &managed, "prefetch", XB_D2H, 15);
    add(n, &managed, "fault", XB_D2H, 20);
    assert_number(n, "XB-PREFETCH", "prefetch_bandwidth_d2h", 15e9);
    assert_number(n, "XB-PREFETCH", "ratio_d2h", 0.75);
}

NODE_TEST(all_cases_of_a_group_are_named)
{
    static const double rates[] = {41, 42, 41.5, 42};
    static const double shares[] = {0.76, 0.74, 0, 0.74};
    struct node *n = *state;
    n->run.device_count = NODE_DEVICES;
    add_together(n, XB_H2D, 166.5, rates, shares);
    assert_number(n, "XB-ALL-AT-ONCE", "devices", 4);
    assert_number(n, "XB-ALL-AT-ONCE", "share_of_alone_1", 0.74);
    assert_rests_on(n, "XB-ALL-AT-ONCE", 4); /* the sum and the three whose share is known */
}

NODE_TEST(what_it_is_of_stands_beside_the_text)
{
    struct node *n = *state;
    struct xb_record record;
    struct xb_reading_list list;
    n->run.device_count = 2;
    add(n, &pageable, "driver", XB_H2D, 20)->test.device = 1;
    add(n, &pinned, "alloc", XB_H2D, 30)->test.device = 1;
    add(n, &pinned, "alloc", XB_H2D, 30)->test.bytes = 4096;
    record_of(&n->run, &record);
    xb_reading_make(&record, &list);
    assert_int_equal(list.count, 2);
    assert_string_equal(list.entries[0].code, "XB-PINNING");
    assert_int_equal(list.entries[0].device, 1);
    assert_int_equal(list.entries[0].bytes, 256 * MIB);
    assert_true(strncmp(list.entries[0].text, "Pinned ", 7) == 0);
    assert_string_equal(list.entries[1].code, "XB-BLOCKING");
    xb_reading_free(&list);
    xb_record_free(&record);
    assert_read(n, "  pinning      GPU 1, 256 MiB: Pinned allocated is 1.5 times as fast");
}

/* ---- JSON ---- */

NODE_TEST(json_has_every_statement)
{
    struct node *n = *state;
    add(n, &pageable, "driver", XB_H2D, 7.5);
    add(n, &pinned, "alloc", XB_H2D, 54);
    cJSON *root = parsed(&n->run);
    const cJSON *reading = at(root, "reading");
    assert_int_equal(cJSON_GetArraySize(reading), 3);
    const cJSON *first = cJSON_GetArrayItem(reading, 0);
    assert_string_equal(at(first, "code")->valuestring, "XB-PINNING");
    assert_string_equal(at(first, "label")->valuestring, "pinning");
    assert_string_equal(at(first, "text")->valuestring,
                        "Pinned allocated is 7.2 times as fast as pageable to the GPU.");
    assert_true(strncmp(at(first, "remedy")->valuestring, "Pin buffers that you copy", 25) == 0);
    assert_true(at(first, "gain")->valuedouble == 54e9 / 7.5e9);
    assert_true(cJSON_IsFalse(at(first, "fine")) && cJSON_IsFalse(at(first, "untold")));
    const cJSON *blocking = cJSON_GetArrayItem(reading, 1);
    assert_true(cJSON_IsNull(at(blocking, "remedy")) && cJSON_IsNull(at(blocking, "gain")));
    assert_true(at(first, "device")->valuedouble == 0);
    assert_true(at(first, "bytes")->valuedouble == 256.0 * MIB);
    const cJSON *number = cJSON_GetArrayItem(at(first, "numbers"), 0);
    assert_string_equal(at(number, "name")->valuestring, "ratio_h2d");
    assert_true(at(number, "value")->valuedouble == 54e9 / 7.5e9);
    assert_string_equal(at(number, "unit")->valuestring, "1");
    /* A case is told as its row tells it. */
    const cJSON *test = cJSON_GetArrayItem(at(first, "cases"), 0);
    const cJSON *row = cJSON_GetArrayItem(at(root, "results"), 1);
    const cJSON *member;
    cJSON_ArrayForEach(member, test)
    {
        assert_true(cJSON_Compare(member, at(row, member->string), true));
    }
    assert_int_equal(cJSON_GetArraySize(test), 9);
    cJSON_Delete(root);
}

NODE_TEST(json_without_a_statement_has_an_empty_list)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 54);
    cJSON *root = parsed(&n->run);
    assert_int_equal(cJSON_GetArraySize(at(root, "reading")), 0);
    cJSON_Delete(root);
}
