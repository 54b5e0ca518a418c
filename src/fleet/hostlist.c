/* SPDX-License-Identifier: Apache-2.0 */
/* Slurm's host expressions, taken apart and made. */
#define _POSIX_C_SOURCE 200809L
#include "hostlist.h"
#include "internal.h"

#include "base/file_text.h"
#include "base/memory.h"
#include "base/stream.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Slurm's host expressions, taken apart. */

#define NAME_SIZE 256     /* of a name with its zero byte: a domain name has at most 253 */
#define LARGEST_DIGITS 18 /* of a number in brackets: fits 64 bits */
#define MOST_BRACKETS 8
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

bool xb_hostlist_takes(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '.' || c == '_';
}

/* ---- names ---- */

struct place {
    const char *name;
    size_t index;
};

static int by_name_and_place(const void *a, const void *b)
{
    const struct place *first = a, *second = b;
    return XB_FIRST_ORDER(strcmp(first->name, second->name), XB_ORDER(first->index, second->index));
}

/* Keeps the first of names that are the same, in the order given. */
static void leave_out_same(struct xb_hostlist *list)
{
    struct place *places = xb_new(list->count, sizeof *places);
    for (size_t i = 0; i < list->count; i++)
        places[i] = (struct place){.name = list->names[i], .index = i};
    qsort(places, list->count, sizeof *places, by_name_and_place);
    for (size_t i = 1; i < list->count; i++)
        if (strcmp(places[i].name, places[i - 1].name) == 0)
            list->names[places[i].index] = NULL;
    free(places);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->names[i] != NULL)
            list->names[kept++] = list->names[i];
    list->count = kept;
}

/* ---- one word of the expression ---- */

static const char wrong_brackets[] =
    "brackets hold numbers and ranges of numbers, such as [001-003,7]";

/* Brackets in a name, which turn like the wheels of a counter: the last one fastest. */
struct wheel {
    const char *open, *close;
    const char *next; /* behind the range that is on */
    uint64_t number, last;
    int width; /* digits of the range's first number: the others have as many, as for Slurm */
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

/* Puts the range "001-003" at wheel->next on the wheel. NULL, or what is wrong at wheel->next. */
static const char *turn_to_range(struct wheel *wheel)
{
    const char *begin = wheel->next;
    const char *wrong = read_number(&wheel->next, &wheel->number, &wheel->width);
    wheel->last = wheel->number;
    if (wrong == NULL && *wheel->next == '-') {
        int ignored = 0;
        wheel->next++;
        wrong = read_number(&wheel->next, &wheel->last, &ignored);
    }
    if (wrong != NULL || wheel->last >= wheel->number)
        return wrong;
    wheel->next = begin;
    return "this range ends before it begins";
}

/* Reads all ranges once, so that turning cannot fail later, and begins with the first. */
static enum xb_status make_wheel(struct parser *parser, const char *open, struct wheel *wheel)
{
    *wheel = (struct wheel){.open = open, .close = open + strcspn(open, "]"), .next = open + 1};
    if (*wheel->close == '\0')
        return fail_at(parser, open, "this bracket is not closed");
    for (;;) {
        const char *wrong = turn_to_range(wheel);
        if (wrong == NULL && wheel->next != wheel->close && *wheel->next != ',')
            wrong = wrong_brackets;
        if (wrong != NULL)
            return fail_at(parser, wheel->next, wrong);
        if (wheel->next == wheel->close)
            break;
        wheel->next++;
    }
    wheel->next = open + 1;
    return turn_to_range(wheel) == NULL ? XB_OK : fail_at(parser, open, wrong_brackets);
}

/* Whether there was another number; else the wheel is at its first again. */
static bool turn(struct wheel *wheel)
{
    bool goes_on = wheel->number < wheel->last;
    if (goes_on) {
        wheel->number++;
        return true;
    }
    goes_on = wheel->next != wheel->close;
    wheel->next = goes_on ? wheel->next + 1 : wheel->open + 1;
    (void)turn_to_range(wheel);
    return goes_on;
}

/* Finds the brackets of the word. */
static enum xb_status make_wheels(struct parser *parser, const char *word, struct wheel *wheels,
                                  size_t *count)
{
    *count = 0;
    for (const char *at = word; *at != '\0' && strchr(SEPARATORS, *at) == NULL; at++) {
        if (*at == ']')
            return fail_at(parser, at, "this bracket was not opened");
        if (*at != '[' && !xb_hostlist_takes(*at))
            return fail_at(parser, at,
                           "names are of letters, digits, dashes, dots and underscores");
        if (*at != '[')
            continue;
        if (*count == MOST_BRACKETS)
            return fail_at(parser, at, "a name of more than 8 brackets");
        XB_TRY(make_wheel(parser, at, &wheels[*count]));
        at = wheels[(*count)++].close;
    }
    return XB_OK;
}

/* Adds the name as the wheels stand. */
static enum xb_status add_turned(struct parser *parser, const char *word,
                                 const struct wheel *wheels, size_t count)
{
    char name[NAME_SIZE];
    size_t length = 0, i = 0;
    for (const char *at = word; *at != '\0' && strchr(SEPARATORS, *at) == NULL; at++) {
        if (i < count && at == wheels[i].open) {
            length += (size_t)snprintf(name + length, NAME_SIZE - length, "%0*" PRIu64,
                                       wheels[i].width, wheels[i].number);
            at = wheels[i++].close;
        } else {
            name[length++] = *at;
        }
        if (length >= NAME_SIZE)
            return fail_at(parser, word, "a name of more than 255 characters");
    }
    name[length] = '\0';
    struct xb_hostlist *list = parser->list;
    if (list->count == XB_HOSTLIST_LARGEST)
        return fail_at(parser, word, "these are more than 1000000 names");
    if (!xb_hostlist_is_name(name))
        return fail_at(parser, word,
                       "no name of a host: it begins with a dash or a dot, or is ALL, which Slurm "
                       "takes for all nodes");
    list->names = xb_grow(list->names, list->count, sizeof(const char *));
    list->names[list->count++] = xb_arena_copy(&list->texts, name);
    return XB_OK;
}

static enum xb_status expand_word(struct parser *parser, const char *word)
{
    struct wheel wheels[MOST_BRACKETS];
    size_t count = 0;
    enum xb_status status = make_wheels(parser, word, wheels, &count);
    while (status == XB_OK) {
        status = add_turned(parser, word, wheels, count);
        size_t i = count;
        while (i > 0 && !turn(&wheels[i - 1]))
            i--;
        if (i == 0)
            break;
    }
    return status;
}

static enum xb_status expand_words(struct parser *parser)
{
    const char *at = parser->whole + strspn(parser->whole, SEPARATORS);
    while (*at != '\0') {
        XB_TRY(expand_word(parser, at));
        /* A comma in brackets does not end the word. */
        for (bool inside = false; *at != '\0' && (inside || strchr(SEPARATORS, *at) == NULL); at++)
            inside = *at == '[' || (inside && *at != ']');
        at += strspn(at, SEPARATORS);
    }
    return XB_OK;
}

/* ---- from outside ---- */

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

/* Makes one of Slurm's host expressions from names of hosts. */

/* More digits do not fit 64 bits: such a name is listed whole. */
#define LARGEST_DIGITS 18

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

/* ---- numbers ---- */

struct range {
    uint64_t first, last;
    int width; /* digits of the first: the others have as many zeros as that takes */
};

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

/* ---- folding ---- */

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

/* Joins what differs in its last digits only, or in those before. Of one the text gets brackets
 * only in the first fold, so that brackets before it can be followed by these. */
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

/* ---- from outside ---- */

bool xb_hostlist_is_name(const char *name)
{
    if (name[0] == '\0' || name[0] == '-' || name[0] == '.' || strcasecmp(name, "all") == 0)
        return false;
    for (; *name != '\0'; name++)
        if (!xb_hostlist_takes(*name))
            return false;
    return true;
}

static int by_name(const void *a, const void *b)
{
    const struct item *first = a, *second = b;
    return strcmp(first->name, second->name);
}

/* Each name once, without those that cannot be told. */
static void take_names(struct fold *fold, const char *const *names, size_t count, size_t *left_out)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (xb_hostlist_is_name(names[i]))
            fold->items[fold->count++] =
                (struct item){.text = names[i], .name = names[i], .limit = strlen(names[i])};
        else
            (*left_out)++;
    }
    qsort(fold->items, fold->count, sizeof *fold->items, by_name);
    for (size_t i = 0; i < fold->count; i++)
        if (kept == 0 || strcmp(fold->items[kept - 1].name, fold->items[i].name) != 0)
            fold->items[kept++] = fold->items[i];
    fold->count = kept;
}

const char *xb_hostlist_compress(const char *const *names, size_t count, struct xb_arena **arena,
                                 size_t *left_out)
{
    struct fold fold = {.items = xb_new(count, sizeof *fold.items)};
    struct xb_memory_text line = {.text = NULL};
    *left_out = 0;
    take_names(&fold, names, count, left_out);
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
