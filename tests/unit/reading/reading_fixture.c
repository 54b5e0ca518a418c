/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* open_memstream */
#include "reading_fixture.h"

#include "record/mode_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* ---- what every statement must be ---- */

static void check_numbers(const struct xb_reading_entry *entry)
{
    for (size_t i = 0; i < entry->number_count; i++) {
        const struct xb_reading_number *number = &entry->numbers[i];
        assert_true(isfinite(number->value));
        assert_true(strspn(number->name, "abcdefghijklmnopqrstuvwxyz0123456789_") ==
                    strlen(number->name));
        assert_true(number->unit[0] != '\0');
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(number->name, entry->numbers[k].name);
    }
    assert_true(entry->number_count > 0);
}

static void check(const struct xb_record *record, const struct xb_reading_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct xb_reading_entry *entry = &list->entries[i];
        assert_true(strncmp(entry->code, "XB-", 3) == 0);
        assert_true(entry->label[0] != '\0' && strlen(entry->label) <= 12);
        assert_true(entry->text[0] != '\0' && entry->text[0] != ' ');
        assert_int_equal(entry->text[strlen(entry->text) - 1], '.');
        assert_true(entry->case_count > 0);
        for (size_t k = 0; k < entry->case_count; k++) {
            const struct xb_record_case *test = entry->cases[k];
            assert_true(test >= record->cases && test < record->cases + record->case_count);
            for (size_t before = 0; before < k; before++)
                assert_ptr_not_equal(test, entry->cases[before]);
        }
        check_numbers(entry);
    }
}

/* ---- what is printed ---- */

char *text_of(const struct xb_record *record)
{
    char *text = NULL;
    size_t size = 0;
    struct xb_reading_list list;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    xb_reading_make(record, &list);
    check(record, &list);
    xb_reading_print(stream, &list);
    xb_reading_free(&list);
    assert_int_equal(fclose(stream), 0);
    assert_narrow(text);
    return text;
}

char *printed(const struct node *n)
{
    struct xb_record record;
    record_of(&n->run, &record);
    char *text = text_of(&record);
    xb_record_free(&record);
    return text;
}

void unwrap(char *text)
{
    static const char turn[] = "\n               ";
    for (char *at = text; (at = strstr(at, turn)) != NULL;)
        memmove(at, at + sizeof turn - 2, strlen(at + sizeof turn - 2) + 1);
}

void assert_read(const struct node *n, const char *part)
{
    char *text = printed(n);
    unwrap(text);
    assert_has(text, part);
    free(text);
}

void assert_not_read(const struct node *n, const char *part)
{
    char *text = printed(n);
    unwrap(text);
    assert_lacks(text, part);
    free(text);
}

void assert_said(const struct node *n, const char *label, const char *expected)
{
    char begin[32];
    char *text = printed(n);
    unwrap(text);
    char *said = calloc(1, strlen(text) + 1);
    assert_non_null(said);
    snprintf(begin, sizeof begin, "\n  %-12s ", label);
    for (const char *line = text; (line = strstr(line, begin)) != NULL;) {
        line += strlen(begin);
        size_t length = strlen(said);
        snprintf(said + length, strlen(text) - length, "%s%.*s", length > 0 ? "\n" : "",
                 (int)strcspn(line, "\n"), line);
    }
    assert_string_equal(said, expected);
    free(said);
    free(text);
}

/* ---- for programs ---- */

/* The only statement with that code. */
static const struct xb_reading_entry *find(const struct xb_reading_list *list, const char *code)
{
    const struct xb_reading_entry *found = NULL;
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->entries[i].code, code) != 0)
            continue;
        assert_null(found);
        found = &list->entries[i];
    }
    if (found == NULL)
        fail_msg("nothing is said with the code %s", code);
    return found;
}

void assert_number(const struct node *n, const char *code, const char *name, double expected)
{
    struct xb_record record;
    struct xb_reading_list list;
    double value = (double)NAN;
    record_of(&n->run, &record);
    xb_reading_make(&record, &list);
    const struct xb_reading_entry *entry = find(&list, code);
    for (size_t i = 0; i < entry->number_count; i++)
        if (strcmp(entry->numbers[i].name, name) == 0)
            value = entry->numbers[i].value;
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%s of %s is %.17g, and not %.17g", name, code, value, expected);
    xb_reading_free(&list);
    xb_record_free(&record);
}

void assert_rests_on(const struct node *n, const char *code, size_t count)
{
    struct xb_record record;
    struct xb_reading_list list;
    record_of(&n->run, &record);
    xb_reading_make(&record, &list);
    assert_int_equal(find(&list, code)->case_count, count);
    xb_reading_free(&list);
    xb_record_free(&record);
}

/* Makes the record and its Reading; to be released with drop(). */
struct made {
    struct xb_record record;
    struct xb_reading_list list;
};

static void make(const struct node *n, struct made *made)
{
    record_of(&n->run, &made->record);
    xb_reading_make(&made->record, &made->list);
}

static void drop(struct made *made)
{
    xb_reading_free(&made->list);
    xb_record_free(&made->record);
}

struct xb_reading_entry find_statement(const struct node *n, const char *code)
{
    struct made made;
    make(n, &made);
    struct xb_reading_entry entry = *find(&made.list, code);
    drop(&made);
    return entry;
}

void assert_advised(const struct node *n, const char *code, const char *expected)
{
    struct made made;
    make(n, &made);
    const char *remedy = find(&made.list, code)->remedy;
    assert_string_equal(remedy != NULL ? remedy : "", expected);
    drop(&made);
}

void assert_answered(const struct node *n, const char *expected)
{
    struct made made;
    make(n, &made);
    const char *answer = made.list.answer;
    assert_string_equal(answer != NULL ? answer : "", expected);
    assert_true(answer == NULL || strlen(answer) <= 160);
    drop(&made);
}

/* ---- figures ---- */

void set_figure(struct xb_result *row, const char *name, double value)
{
    const struct xb_figure *figure = xb_figure_find(name);
    assert_non_null(figure);
    set_computed(row, figure, value);
}

void set_times(struct xb_result *row, double submit, double wall)
{
    row->submit_times.count = row->wall_times.count = 0;
    add_same(&row->submit_times, submit);
    add_same(&row->wall_times, wall);
}

void set_size(struct xb_result *row, uint64_t bytes, double gigabytes)
{
    row->test.bytes = row->bytes_moved = bytes;
    set_bandwidth(row, gigabytes);
}
