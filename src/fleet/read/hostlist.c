/* SPDX-License-Identifier: Apache-2.0 */
/* Slurm's host expressions, taken apart and made. */
#define _POSIX_C_SOURCE 200809L
#include "fleet/internal.h"
#include "fleet/write/formats.h"

#include "base/file_text.h"
#include "base/stream.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_SIZE 256     /* of a name with its zero byte: a domain name has at most 253 */
#define LARGEST_DIGITS 18 /* of a number: more do not fit 64 bits */
#define MOST_BRACKETS 8
#define MOST_NAMES 1000000
#define LARGEST_FILE ((size_t)256 << 20)

/* These separate names, as for Slurm. */
#define SEPARATORS ", \t\r\n"

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

/* Whether a host name may have that character. */
static bool is_for_names(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '.' || c == '_';
}

/* ---- names ---- */

/* Two places in a list of names. */
static int by_name_and_place(const void *a, const void *b)
{
    const char *const *first = *(const char *const *const *)a;
    const char *const *second = *(const char *const *const *)b;
    return XB_FIRST_ORDER(strcmp(*first, *second), XB_ORDER(first, second));
}

/* Keeps the first of names that are the same, in the order given. */
static void leave_out_same(struct xb_hostlist *list)
{
    const char ***places = xb_new(list->count, sizeof *places);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        places[i] = &list->names[i];
    qsort(places, list->count, sizeof *places, by_name_and_place);
    for (size_t i = list->count; i-- > 1;)
        if (strcmp(*places[i], *places[i - 1]) == 0)
            *places[i] = NULL;
    free(places);
    for (size_t i = 0; i < list->count; i++)
        if (list->names[i] != NULL)
            list->names[kept++] = list->names[i];
    list->count = kept;
}

/* ---- one word of the expression ---- */

static const char wrong_brackets[] =
    "brackets hold numbers and ranges of numbers, such as [001-003,7]";

/* "001-003" in brackets. */
struct range {
    uint64_t first, last;
    int width; /* digits of the first: the others have as many zeros as that takes, as for Slurm */
};

/* Reads the digits at *at, and goes behind them. NULL, or what is wrong there. */
static const char *read_number(const char **at, uint64_t *number, int *width)
{
    size_t digits = strspn(*at, "0123456789");
    if (digits == 0)
        return wrong_brackets;
    if (digits > LARGEST_DIGITS)
        return "a number of more than 18 digits";
    *number = strtoull(*at, NULL, 10);
    *width = (int)digits;
    *at += digits;
    return NULL;
}

/* Reads the numbers at *at, and goes behind them. NULL, or what is wrong at *at. */
static const char *read_range(const char **at, struct range *range)
{
    const char *begin = *at;
    const char *wrong = read_number(at, &range->first, &range->width);
    range->last = range->first;
    if (wrong == NULL && **at == '-') {
        (*at)++;
        wrong = read_number(at, &range->last, &(int){0});
    }
    if (wrong != NULL || range->last >= range->first)
        return wrong;
    *at = begin;
    return "this range ends before it begins";
}

/* Reads the whole word before any name is made, so that its brackets cannot be wrong later. */
static enum xb_status check_word(struct parser *parser, const char *word)
{
    size_t brackets = 0;
    struct range range = {.width = 0};
    for (const char *at = word; *at != '\0' && strchr(SEPARATORS, *at) == NULL; at++) {
        if (*at == ']')
            return fail_at(parser, at, "this bracket was not opened");
        if (*at != '[' && !is_for_names(*at))
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
    return XB_OK;
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
    if (length + plain < NAME_SIZE)
        memcpy(name + length, at, plain);
    length += plain;
    at += plain;
    if (length >= NAME_SIZE)
        return fail_at(parser, word, "a name of more than 255 characters");
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

static enum xb_status expand_words(struct parser *parser)
{
    const char *at = parser->whole + strspn(parser->whole, SEPARATORS);
    char name[NAME_SIZE];
    while (*at != '\0') {
        XB_TRY(check_word(parser, at));
        XB_TRY(expand_from(parser, at, at, name, 0));
        /* A comma in brackets does not end the word. */
        for (bool inside = false; *at != '\0' && (inside || strchr(SEPARATORS, *at) == NULL); at++)
            inside = *at == '[' || (inside && *at != ']');
        at += strspn(at, SEPARATORS);
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
    leave_out_same(list);
    return XB_OK;
}

static enum xb_status expand_lines(char *text, size_t length, const char *path,
                                   struct xb_hostlist *list, struct xb_error *error)
{
    struct xb_error cause;
    struct parser parser = {.list = list, .error = &cause};
    size_t number = 1;
    if (memchr(text, '\0', length) != NULL)
        return XB_FAIL(error, XB_ERR_USAGE, "'%.300s' has zero bytes: no list of hosts", path);
    for (char *line = text; *line != '\0'; number++) {
        char *next = line + strcspn(line, "\n");
        if (*next == '\n')
            *next++ = '\0';
        line[strcspn(line, "#")] = '\0';
        parser.whole = line;
        enum xb_status status = expand_words(&parser);
        if (status != XB_OK)
            return XB_FAIL(error, status, "'%.300s', line %zu: %s", path, number, cause.message);
        line = next;
    }
    if (list->count == 0)
        return XB_FAIL(error, XB_ERR_USAGE, "'%.300s' names no host", path);
    leave_out_same(list);
    return XB_OK;
}

enum xb_status xb_hostlist_read(const char *path, struct xb_hostlist *list, struct xb_error *error)
{
    char *text = NULL;
    size_t length = 0;
    *list = (struct xb_hostlist){.names = NULL};
    enum xb_status status = xb_file_text_read(path, LARGEST_FILE, true, &text, &length, error);
    if (status == XB_OK)
        status = expand_lines(text, length, path, list, error);
    free(text);
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

/*
 * A part of the expression: a name, or several names folded into one. Folding goes from the end of
 * the names: first over the digits at the end, then over those before. Slurm 22.05 refuses any
 * character after the last bracket, so a name that does not end with digits is listed whole.
 */
struct item {
    const char *text; /* with brackets */
    const char *name; /* NULL once there is more than one in it: told in place of text */
    size_t limit;     /* where in `text` the digits end that are next */
    size_t digits;    /* how many these are; 0: none that can be folded */
    uint64_t number;
};

struct fold {
    struct item *items;
    size_t count;
    struct xb_arena *texts; /* of what is only needed on the way */
};

static size_t prefix_of(const struct item *item)
{
    return item->limit - item->digits;
}

/* Orders by what stands before and behind the digits. */
static int compare_around(const struct item *first, const struct item *second)
{
    size_t one = prefix_of(first), other = prefix_of(second);
    return XB_FIRST_ORDER(memcmp(first->text, second->text, one < other ? one : other),
                          XB_ORDER(one, other),
                          strcmp(first->text + first->limit, second->text + second->limit));
}

/* Puts names together that differ only in these digits, in the order of their numbers. */
static int by_parts(const void *a, const void *b)
{
    const struct item *first = a, *second = b;
    return XB_FIRST_ORDER(compare_around(first, second), XB_ORDER(first->number, second->number),
                          XB_ORDER(first->digits, second->digits));
}

/* The ranges of items that are alike and in order; returns how many. At most one range of a width
 * can go on, because numbers do not fall. `ranges` has room for as many as there are items. */
static size_t find_ranges(const struct item *items, size_t count, struct range *ranges)
{
    size_t open[LARGEST_DIGITS + 1]; /* by width: the newest range, from 1; 0: none */
    size_t found = 0;
    memset(open, 0, sizeof open);
    for (size_t i = 0; i < count; i++) {
        bool taken = false;
        for (size_t width = 1; width <= items[i].digits && !taken; width++) {
            struct range *range = open[width] > 0 ? &ranges[open[width] - 1] : NULL;
            char text[LARGEST_DIGITS + 3];
            taken = range != NULL && items[i].number == range->last + 1 &&
                    snprintf(text, sizeof text, "%0*" PRIu64, range->width, items[i].number) ==
                        (int)items[i].digits;
            if (taken)
                range->last++;
        }
        if (taken)
            continue;
        ranges[found++] = (struct range){
            .first = items[i].number, .last = items[i].number, .width = (int)items[i].digits};
        open[items[i].digits] = found;
    }
    return found;
}

/* Finds the digits that end at item->limit, or for which others end before it. The first fold looks
 * at the end of the name only. */
static void find_digits(struct item *item, bool is_first)
{
    size_t end = item->limit;
    while (!is_first && end > 0 && strchr("0123456789", item->text[end - 1]) == NULL)
        end--;
    size_t begin = end;
    while (begin > 0 && strchr("0123456789", item->text[begin - 1]) != NULL)
        begin--;
    size_t digits = end - begin;
    bool is_number = digits > 0 && digits <= LARGEST_DIGITS;
    item->limit = is_number ? end : 0;
    item->digits = is_number ? digits : 0;
    item->number = is_number ? strtoull(item->text + begin, NULL, 10) : 0;
}

/* The text, with brackets, of several items that are alike. */
static const char *join(struct fold *fold, const struct item *items, size_t count)
{
    struct range *ranges = xb_new(count, sizeof *ranges);
    struct xb_memory_text text = {.text = NULL};
    FILE *stream = xb_memory_text_begin(&text);
    fprintf(stream, "%.*s[", (int)prefix_of(&items[0]), items[0].text);
    size_t found = find_ranges(items, count, ranges);
    for (size_t i = 0; i < found; i++) {
        fprintf(stream, "%s%0*" PRIu64, i > 0 ? "," : "", ranges[i].width, ranges[i].first);
        if (ranges[i].last > ranges[i].first)
            fprintf(stream, "-%0*" PRIu64, ranges[i].width, ranges[i].last);
    }
    fprintf(stream, "]%s", items[0].text + items[0].limit);
    free(ranges);
    return xb_memory_text_keep(&text, &fold->texts);
}

/* Joins what differs in its last digits only, or in those before. A single one gets
 * brackets only in the first fold, so that brackets before it can be followed by these. */
static void fold_once(struct fold *fold, bool is_first)
{
    size_t kept = 0;
    for (size_t i = 0; i < fold->count; i++)
        find_digits(&fold->items[i], is_first);
    qsort(fold->items, fold->count, sizeof *fold->items, by_parts);
    for (size_t i = 0; i < fold->count;) {
        struct item joined = fold->items[i];
        size_t count = 1;
        while (i + count < fold->count && joined.digits > 0 && fold->items[i + count].digits > 0 &&
               compare_around(&joined, &fold->items[i + count]) == 0)
            count++;
        if (joined.digits > 0) {
            if (count > 1 || is_first)
                joined.text = join(fold, &fold->items[i], count);
            joined.limit = prefix_of(&joined);
            joined.digits = 0;
            joined.name = count > 1 ? NULL : joined.name;
        }
        fold->items[kept++] = joined;
        i += count;
    }
    fold->count = kept;
}

bool xb_hostlist_is_name(const char *name)
{
    if (name[0] == '\0' || name[0] == '-' || name[0] == '.' || strcasecmp(name, "all") == 0)
        return false;
    for (; *name != '\0'; name++)
        if (!is_for_names(*name))
            return false;
    return true;
}

const char *xb_hostlist_compress(const char *const *names, size_t count, struct xb_arena **arena,
                                 size_t *left_out)
{
    struct xb_hostlist listed = {.names = xb_new(count, sizeof *listed.names)};
    struct xb_memory_text line = {.text = NULL};
    for (size_t i = 0; i < count; i++)
        if (xb_hostlist_is_name(names[i]))
            listed.names[listed.count++] = names[i];
    *left_out = count - listed.count;
    leave_out_same(&listed);
    struct fold fold = {.items = xb_new(listed.count, sizeof *fold.items), .count = listed.count};
    for (size_t i = 0; i < fold.count; i++)
        fold.items[i] = (struct item){
            .text = listed.names[i], .name = listed.names[i], .limit = strlen(listed.names[i])};
    free(listed.names);
    for (int i = 0; i < BRACKETS; i++)
        fold_once(&fold, i == 0);
    FILE *stream = xb_memory_text_begin(&line);
    for (size_t i = 0; i < fold.count; i++)
        fprintf(stream, "%s%s", i > 0 ? "," : "",
                fold.items[i].name != NULL ? fold.items[i].name : fold.items[i].text);
    free(fold.items);
    xb_arena_free(fold.texts);
    return xb_memory_text_keep(&line, arena);
}
