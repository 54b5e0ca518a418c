/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one of Slurm's host expressions from names of hosts. */
#include "hostlist.h"
#include "internal.h"

#include "base/stream.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* Puts names together that differ only in these digits, in the order of their numbers. */
static int by_parts(const void *a, const void *b)
{
    const struct item *first = a, *second = b;
    size_t one = prefix_of(first);
    size_t other = prefix_of(second);
    return XB_FIRST_ORDER(
        memcmp(first->text, second->text, one < other ? one : other), XB_ORDER(one, other),
        strcmp(first->text + first->limit, second->text + second->limit),
        XB_ORDER(first->number, second->number), XB_ORDER(first->digits, second->digits));
}

static bool are_alike(const struct item *first, const struct item *second)
{
    return first->digits > 0 && second->digits > 0 && prefix_of(first) == prefix_of(second) &&
           memcmp(first->text, second->text, prefix_of(first)) == 0 &&
           strcmp(first->text + first->limit, second->text + second->limit) == 0;
}

/* ---- numbers ---- */

struct range {
    uint64_t first, last;
    int width; /* digits of the first: the others have as many zeros as that takes */
};

static bool continues(const struct range *range, const struct item *item)
{
    char text[LARGEST_DIGITS + 3];
    int digits = snprintf(text, sizeof text, "%0*" PRIu64, range->width, item->number);
    return item->number == range->last + 1 && digits == (int)item->digits;
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
            taken = range != NULL && continues(range, &items[i]);
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
        while (i + count < fold->count && are_alike(&fold->items[i], &fold->items[i + count]))
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
