/* SPDX-License-Identifier: Apache-2.0 */
/* Slurm's host expressions, taken apart and made. */
#define _POSIX_C_SOURCE 200809L
#include "fleet/internal.h"
#include "fleet/write/formats.h"

#include "base/file_text.h"
#include "base/stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_SIZE 256     /* of a name with its zero byte: a domain name has at most 253 */
#define LARGEST_DIGITS 18 /* of a number: more do not fit 64 bits */
#define MOST_BRACKETS 8
#define MOST_NAMES 1000000
#define LARGEST_FILE ((size_t)256 << 20)

#define DIGITS "0123456789"
/* These separate names, as for Slurm. */
#define SEPARATORS ", \t\r\n"
/* The characters that a host name may have. */
static const char of_names[] = DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._";

bool xb_hostlist_is_name(const char *name)
{
    return name[0] != '\0' && name[0] != '-' && name[0] != '.' && strcasecmp(name, "all") != 0 &&
           name[strspn(name, of_names)] == '\0';
}

/* "001-003" in brackets. */
struct range {
    uint64_t first, last;
    int width; /* digits of the first: the others have as many zeros as that takes, as for Slurm */
};

XB_POINTER_COMPARER(by_name, char, strcmp(a, b))

size_t xb_fleet_sort_names(const char **names, size_t count)
{
    size_t kept = 0;
    qsort(names, count, sizeof(const char *), by_name);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0)
            names[kept++] = names[i];
    return kept;
}

/* ---- taken apart ---- */

/* The text that is parsed, and the list that its names go to. */
struct parser {
    const char *whole; /* the whole text, for messages */
    struct xb_hostlist *list;
    struct xb_error *error;
};

static enum xb_status fail_at(const struct parser *parser, const char *at, const char *what)
{
    return XB_FAIL(parser->error, XB_ERR_USAGE, "\"%.80s%s\", character %zu: %s", parser->whole,
                   strlen(parser->whole) > 80 ? "..." : "", (size_t)(at - parser->whole) + 1, what);
}

static const char wrong_brackets[] =
    "brackets hold numbers and ranges of numbers, such as [001-003,7]";

/* Reads the numbers at *at, and goes behind them. NULL, or what is wrong at *at. */
static const char *read_range(const char **at, struct range *range)
{
    const char *begin = *at;
    for (int i = 0; i == 0 || (i == 1 && **at == '-'); i++) {
        *at += i;
        size_t digits = strspn(*at, DIGITS);
        if (digits == 0)
            return wrong_brackets;
        if (digits > LARGEST_DIGITS)
            return "a number of more than 18 digits";
        range->last = strtoull(*at, NULL, 10);
        range->first = i == 0 ? range->last : range->first;
        range->width = i == 0 ? (int)digits : range->width;
        *at += digits;
    }
    if (range->last >= range->first)
        return NULL;
    *at = begin;
    return "this range ends before it begins";
}

/* NOLINTBEGIN(misc-no-recursion): as deep as a word has brackets */

/* Adds all names that begin with the `length` characters in `name` and go on as at `at` in a word
 * that was checked. Calls itself for what follows a bracket: the last bracket turns fastest. */
static enum xb_status expand_from(struct parser *parser, const char *word, const char *at,
                                  char name[NAME_SIZE], size_t length)
{
    struct xb_hostlist *list = parser->list;
    size_t plain = strcspn(at, "[" SEPARATORS);
    struct range range = {.width = 0};
    if (length + plain >= NAME_SIZE)
        return fail_at(parser, word, "a name of more than 255 characters");
    memcpy(name + length, at, plain);
    length += plain;
    at += plain;
    name[length] = '\0';
    if (*at != '[') {
        if (list->count == MOST_NAMES)
            return fail_at(parser, word, "these are more than 1000000 names");
        if (!xb_hostlist_is_name(name))
            return fail_at(parser, word,
                           "no name of a host: it begins with a dash or a dot, or is ALL, which "
                           "Slurm takes for all nodes");
        list->names = xb_grow(list->names, list->count, sizeof(const char *));
        list->names[list->count++] = xb_arena_copy(&list->texts, name);
        return XB_OK;
    }
    const char *behind = strchr(at, ']') + 1;
    while (*at != ']') {
        at++;
        (void)read_range(&at, &range);
        for (uint64_t number = range.first; number <= range.last; number++) {
            int digits =
                snprintf(name + length, NAME_SIZE - length, "%0*" PRIu64, range.width, number);
            XB_TRY(expand_from(parser, word, behind, name, length + (size_t)digits));
        }
    }
    return XB_OK;
}

/* NOLINTEND(misc-no-recursion) */

/* Adds the names of a text. Reads each whole word before any name is made of it, so that its
 * brackets cannot be wrong later. */
static enum xb_status expand_words(struct parser *parser)
{
    char name[NAME_SIZE];
    struct range range = {.width = 0};
    for (const char *at = parser->whole; *(at += strspn(at, SEPARATORS)) != '\0';) {
        const char *word = at;
        for (size_t brackets = 0; *at != '\0' && strchr(SEPARATORS, *at) == NULL; at++) {
            if (*at == ']')
                return fail_at(parser, at, "this bracket was not opened");
            if (*at != '[' && strchr(of_names, *at) == NULL)
                return fail_at(parser, at,
                               "names are of letters, digits, dashes, dots and underscores");
            if (*at != '[')
                continue;
            if (brackets++ == MOST_BRACKETS)
                return fail_at(parser, at, "a name of more than 8 brackets");
            if (strchr(at, ']') == NULL)
                return fail_at(parser, at, "this bracket is not closed");
            do {
                at++;
                const char *wrong = read_range(&at, &range);
                if (wrong == NULL && *at != ']' && *at != ',')
                    wrong = wrong_brackets;
                if (wrong != NULL)
                    return fail_at(parser, at, wrong);
            } while (*at != ']');
        }
        XB_TRY(expand_from(parser, word, word, name, 0));
    }
    return XB_OK;
}

enum xb_status xb_hostlist_expand(const char *text, struct xb_hostlist *list,
                                  struct xb_error *error)
{
    *list = (struct xb_hostlist){.names = NULL};
    struct parser parser = {.whole = text, .list = list, .error = error};
    XB_TRY(expand_words(&parser));
    if (list->count == 0)
        return XB_FAIL(error, XB_ERR_USAGE, "\"%.80s\" names no host", text);
    return XB_OK;
}

enum xb_status xb_hostlist_read(const char *path, struct xb_hostlist *list, struct xb_error *error)
{
    char *text = NULL;
    size_t length = 0, number = 1;
    struct xb_error cause;
    struct parser parser = {.list = list, .error = &cause};
    *list = (struct xb_hostlist){.names = NULL};
    XB_TRY(xb_file_text_read(path, LARGEST_FILE, true, &text, &length, error));
    enum xb_status status = XB_OK;
    if (memchr(text, '\0', length) != NULL)
        status = XB_FAIL(error, XB_ERR_USAGE, "'%.300s' has zero bytes: no list of hosts", path);
    for (char *line = text; status == XB_OK && *line != '\0'; number++) {
        char *next = line + strcspn(line, "\n");
        if (*next == '\n')
            *next++ = '\0';
        line[strcspn(line, "#")] = '\0';
        parser.whole = line;
        status = expand_words(&parser);
        if (status != XB_OK)
            (void)XB_FAIL(error, status, "'%.300s', line %zu: %s", path, number, cause.message);
        line = next;
    }
    free(text);
    if (status == XB_OK && list->count == 0)
        status = XB_FAIL(error, XB_ERR_USAGE, "'%.300s' names no host", path);
    return status;
}

void xb_hostlist_free(struct xb_hostlist *list)
{
    free(list->names);
    xb_arena_free(list->texts);
    *list = (struct xb_hostlist){.names = NULL};
}

/* ---- made of names ---- */

/* Brackets of a name: what slurm.conf(5) allows. */
#define BRACKETS 2

/* A part of the expression: a name, or several names folded into one. Folding goes from the end of
 * the names: first over the digits at the end, then over those before. Slurm 22.05 refuses any
 * character after the last bracket, so a name that does not end with digits is listed whole. */
struct item {
    const char *text; /* with brackets */
    const char *name; /* NULL once there is more than one in it: told in place of text */
    size_t prefix;    /* what stands before the digits that are next */
    size_t digits;    /* how many these are; 0: none that can be folded */
    uint64_t number;
};

/* Orders by what stands before and behind the digits. */
static int compare_around(const struct item *first, const struct item *second)
{
    size_t one = first->prefix, other = second->prefix;
    return XB_FIRST_ORDER(
        memcmp(first->text, second->text, one < other ? one : other), XB_ORDER(one, other),
        strcmp(first->text + one + first->digits, second->text + other + second->digits));
}

/* Puts names together that differ only in these digits, in the order of their numbers. */
XB_COMPARER(by_parts, struct item, compare_around(a, b), XB_BY(number), XB_BY(digits))

/* The text, with brackets, of several items that are alike and in order. At most one range of a
 * width can go on, because numbers do not fall. */
static const char *join(const struct item *items, size_t count, struct xb_arena **arena)
{
    struct range *ranges = xb_new(count, sizeof *ranges);
    struct range *open[LARGEST_DIGITS + 1] = {NULL}; /* the newest range of each width */
    struct xb_memory_text text = {.text = NULL};
    FILE *stream = xb_memory_text_begin(&text);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        struct range *range = NULL;
        for (size_t width = 1; width <= items[i].digits && range == NULL; width++)
            if (open[width] != NULL && items[i].number == open[width]->last + 1 &&
                snprintf(NULL, 0, "%0*" PRIu64, (int)width, items[i].number) ==
                    (int)items[i].digits)
                range = open[width];
        if (range == NULL) {
            range = open[items[i].digits] = &ranges[found++];
            *range = (struct range){.first = items[i].number, .width = (int)items[i].digits};
        }
        range->last = items[i].number;
    }
    fprintf(stream, "%.*s[", (int)items[0].prefix, items[0].text);
    for (size_t i = 0; i < found; i++) {
        fprintf(stream, "%s%0*" PRIu64, i > 0 ? "," : "", ranges[i].width, ranges[i].first);
        if (ranges[i].last > ranges[i].first)
            fprintf(stream, "-%0*" PRIu64, ranges[i].width, ranges[i].last);
    }
    fprintf(stream, "]%s", items[0].text + items[0].prefix + items[0].digits);
    free(ranges);
    return xb_memory_text_keep(&text, arena);
}

/* Joins what differs in its last digits only, or in those before. A single one gets
 * brackets only in the first fold, so that brackets before it can be followed by these. Returns how
 * many items are left. */
static size_t fold(struct item *items, size_t count, bool is_first, struct xb_arena **arena)
{
    size_t kept = 0;
    XB_EACH (item, items, count) {
        /* The last digits before those that are folded; first those at the end of the name only. */
        size_t end = item->prefix;
        while (!is_first && end > 0 && strchr(DIGITS, item->text[end - 1]) == NULL)
            end--;
        size_t begin = end;
        while (begin > 0 && strchr(DIGITS, item->text[begin - 1]) != NULL)
            begin--;
        bool is_number = end > begin && end - begin <= LARGEST_DIGITS;
        item->prefix = is_number ? begin : 0;
        item->digits = is_number ? end - begin : 0;
        item->number = is_number ? strtoull(item->text + begin, NULL, 10) : 0;
    }
    qsort(items, count, sizeof *items, by_parts);
    XB_EACH_GROUP (count, end == begin || (items[begin].digits > 0 && items[end].digits > 0 &&
                                           compare_around(&items[begin], &items[end]) == 0)) {
        struct item joined = items[begin];
        if (joined.digits > 0 && (end - begin > 1 || is_first))
            joined.text = join(&items[begin], end - begin, arena);
        joined.name = end - begin > 1 ? NULL : joined.name;
        joined.digits = 0;
        items[kept++] = joined;
    }
    return kept;
}

const char *xb_hostlist_compress(const char *const *names, size_t count, struct xb_arena **arena,
                                 size_t *left_out)
{
    const char **listed = xb_new(count, sizeof *listed);
    size_t parts = 0;
    for (size_t i = 0; i < count; i++)
        if (xb_hostlist_is_name(names[i]))
            listed[parts++] = names[i];
    *left_out = count - parts;
    parts = xb_fleet_sort_names(listed, parts);
    struct item *items = xb_new(parts, sizeof *items);
    for (size_t i = 0; i < parts; i++)
        items[i] = (struct item){.text = listed[i], .name = listed[i], .prefix = strlen(listed[i])};
    for (int i = 0; i < BRACKETS; i++)
        parts = fold(items, parts, i == 0, arena);
    struct xb_memory_text line = {.text = NULL};
    FILE *stream = xb_memory_text_begin(&line);
    for (size_t i = 0; i < parts; i++)
        fprintf(stream, "%s%s", i > 0 ? "," : "",
                items[i].name != NULL ? items[i].name : items[i].text);
    free(listed);
    free(items);
    return xb_memory_text_keep(&line, arena);
}
