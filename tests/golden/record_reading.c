/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_reading FILE: prints the Reading of each record in a file that has one a line, as a person
 * and as a program gets it: the sentences, and for each statement its code, what to do, its
 * numbers, and which rows it rests on. For golden cases.
 */
#include "base/file_text.h"
#include "base/terminal.h"
#include "reading/list.h"
#include "record/record.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const char *of)
{
    fprintf(stderr, "%s: %s\n", what, of);
    exit(99);
}

/* What any number must be: it has a name of its own, by which programs find it, and a unit. */
static void check_number(const struct xb_reading_entry *entry, size_t index)
{
    const struct xb_reading_number *number = &entry->numbers[index];
    if (!isfinite(number->value) || number->unit[0] == '\0' ||
        number->name[strspn(number->name, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0')
        fail("no such number can be", number->name);
    for (size_t i = 0; i < index; i++)
        if (strcmp(entry->numbers[i].name, number->name) == 0)
            fail("a number is there twice", number->name);
}

static void print_entry(const struct xb_record *record, const struct xb_reading_entry *entry)
{
    static const char *const efforts[] = {"a call:", "some lines:", "the design:"};
    printf("  %s%s%s%s: rows", entry->code, entry->is_fine ? ", fine" : "",
           entry->is_untold ? ", untold" : "", entry->is_repeated ? ", repeated" : "");
    for (size_t i = 0; i < entry->case_count; i++)
        printf(" %zu", (size_t)(entry->cases[i] - record->cases));
    for (size_t i = 0; i < entry->number_count; i++) {
        const struct xb_reading_number *number = &entry->numbers[i];
        check_number(entry, i);
        printf("%s%s %.9g%s%s", i % 3 == 0 ? "\n    " : ", ", number->name, number->value,
               number->unit[0] == '1' ? "" : " ", number->unit[0] == '1' ? "" : number->unit);
    }
    printf("\n");
    if (entry->remedy != NULL)
        xb_note_print(stdout, efforts[entry->effort], 12, "%s", entry->remedy);
    if (!isnan(entry->gain))
        printf("    gain %.9g\n", entry->gain);
}

static void print_reading(const char *text)
{
    struct xb_record record;
    struct xb_reading_list list;
    struct xb_error error;
    cJSON *tree = cJSON_Parse(text);
    const char *told = cJSON_GetStringValue(cJSON_GetObjectItem(tree, "told"));
    printf("%s\n> ", told != NULL ? told : "");
    cJSON_Delete(tree);
    if (xb_record_parse("a record", text, strlen(text), &record, &error) != XB_OK)
        fail("refused", error.message);
    xb_reading_make(&record, &list);
    printf("%s\n", list.answer != NULL ? list.answer : "(no answer)");
    xb_reading_print(stdout, &list);
    for (size_t i = 0; i < list.count; i++)
        print_entry(&record, &list.entries[i]);
    printf("\n");
    xb_reading_free(&list);
    xb_record_free(&record);
}

int main(int count, char **words)
{
    char *text = NULL, *rest = NULL;
    size_t length = 0;
    struct xb_error error;
    if (count != 2)
        fail("usage", "record_reading FILE");
    if (xb_file_text_read(words[1], XB_RECORD_LARGEST_BYTES, false, &text, &length, &error) !=
        XB_OK)
        fail("refused", error.message);
    for (char *line = text; *line != '\0'; line = rest + 1) {
        rest = strchr(line, '\n');
        *rest = '\0';
        print_reading(line);
    }
    free(text);
    return 0;
}
