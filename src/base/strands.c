/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* tdestroy */
#include "strands.h"

#include "json_scan.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#define ALL_MOST 16 /* all open documents together may take so many times `largest` */

static const char no_document[] = "no JSON document begins here";
static const char no_end[] = "the document does not end: it was cut short";
static const char next_begins[] =
    "another document begins before this one ends: it was cut short, or pieces of it are missing";
static const char too_large[] = "the document is too large";
static const char too_many[] = "too many documents are open at the same time";

/* What has come with one label. */
struct sender {
    char *text;
    size_t length, capacity;
    struct xb_json_scan scan;
    uint64_t line;
    bool is_open;        /* a document has begun */
    bool has_blanks;     /* one stands behind each of its labels */
    bool is_lost;        /* one was broken: nothing is taken until the next begins */
    const char *dropped; /* why nothing of the document is kept; NULL: all is */
    struct sender *next; /* in the order in which they came */
    const char *label;   /* stands in memory after this struct */
    size_t label_length;
};

struct xb_strands {
    void *tree; /* of senders, by label */
    struct sender *first, *last;
    struct sender *ended; /* at the end of the stream: it and those before it are told */
    struct sender *given; /* its document was given: to be forgotten with the next call */
    size_t largest, held; /* bytes that all senders and their texts take */
};

enum xb_status xb_strands_open(struct xb_strands **strands, size_t largest, struct xb_error *error)
{
    *strands = calloc(1, sizeof **strands);
    if (*strands == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to put documents together");
    (*strands)->largest = largest;
    return XB_OK;
}

static void keep_node(void *node)
{
    (void)node; /* the list has them all */
}

void xb_strands_close(struct xb_strands *strands)
{
    if (strands == NULL)
        return;
    tdestroy(strands->tree, keep_node);
    for (struct sender *sender = strands->first, *next; sender != NULL; sender = next) {
        next = sender->next;
        free(sender->text);
        free(sender);
    }
    free(strands);
}

/* ---- senders ---- */

static int order(const void *a, const void *b)
{
    const struct sender *one = a;
    const struct sender *other = b;
    if (one->label_length != other->label_length)
        return one->label_length < other->label_length ? -1 : 1;
    return memcmp(one->label, other->label, one->label_length);
}

/* NULL: it has sent nothing. */
static struct sender *find(const struct xb_strands *strands, const char *label, size_t length)
{
    const struct sender key = {.label = label, .label_length = length};
    void *const *node = tfind(&key, &strands->tree, order);
    return node != NULL ? *node : NULL;
}

static struct sender *add(struct xb_strands *strands, const char *label, size_t length)
{
    struct sender *sender = calloc(1, sizeof *sender + length + 1);
    if (sender == NULL)
        return NULL;
    sender->label = memcpy(sender + 1, label, length);
    sender->label_length = length;
    if (tsearch(sender, &strands->tree, order) == NULL) {
        free(sender);
        return NULL;
    }
    if (strands->last != NULL)
        strands->last->next = sender;
    else
        strands->first = sender;
    strands->last = sender;
    strands->held += sizeof *sender + length + 1;
    return sender;
}

static void forget(struct xb_strands *strands, struct sender *sender)
{
    strands->held -= sender->capacity;
    free(sender->text);
    sender->text = NULL;
    sender->length = sender->capacity = 0;
    sender->scan = (struct xb_json_scan){.depth = 0};
    sender->is_open = sender->is_lost = false;
    sender->dropped = NULL;
}

bool xb_strands_is_open(const struct xb_strands *strands, const char *label, size_t length)
{
    const struct sender *sender = find(strands, label, length);
    return sender != NULL && (sender->is_open || sender->is_lost);
}

/* ---- a document ---- */

static void drop(struct xb_strands *strands, struct sender *sender, const char *why)
{
    strands->held -= sender->capacity;
    free(sender->text);
    sender->text = NULL;
    sender->length = sender->capacity = 0;
    sender->dropped = why;
}

static enum xb_status keep(struct xb_strands *strands, struct sender *sender, const char *text,
                           size_t length, struct xb_error *error)
{
    if (sender->dropped != NULL)
        return XB_OK;
    if (length > strands->largest - sender->length) {
        drop(strands, sender, too_large);
        return XB_OK;
    }
    size_t capacity = sender->capacity > 0 ? sender->capacity : 1024;
    while (capacity < sender->length + length + 1)
        capacity *= 2;
    if (strands->held - sender->capacity + capacity > ALL_MOST * strands->largest) {
        drop(strands, sender, too_many);
        return XB_OK;
    }
    char *grown = realloc(sender->text, capacity);
    if (grown == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to read a document of %zu bytes", capacity);
    strands->held += capacity - sender->capacity;
    sender->text = grown;
    sender->capacity = capacity;
    memcpy(sender->text + sender->length, text, length);
    sender->length += length;
    sender->text[sender->length] = '\0';
    return XB_OK;
}

/* Whether the part begins a document though another has not ended. Within a text too: else one that
 * was cut short there would take all later ones of its sender with it, and hardly any text of a
 * document has `{"`, which would end it. */
static bool is_next(const struct sender *sender, const struct xb_strand_part *part)
{
    if (!part->begins || part->length == 0 || part->text[0] != '{' || sender->dropped != NULL ||
        part->blank != sender->has_blanks)
        return false;
    if (sender->scan.in_text)
        return part->length > 1 && part->text[1] == '"';
    return !xb_json_scan_may_open(&sender->scan, sender->text, sender->length);
}

static void give_broken(struct xb_strands *strands, struct sender *sender, const char *why,
                        struct xb_strand *strand)
{
    *strand = (struct xb_strand){.line = sender->line, .why = why};
    forget(strands, sender);
}

static size_t count_blanks(const struct xb_strand_part *part)
{
    size_t i = 0;
    while (i < part->length && strchr(" \t\r", part->text[i]) != NULL && part->text[i] != '\0')
        i++;
    return i;
}

/* Begins a document, if one begins there. */
static bool begin(struct sender *sender, const struct xb_strand_part *part, size_t *taken,
                  struct xb_strand *strand)
{
    *taken = count_blanks(part);
    bool goes_on = *taken < part->length && (!part->begins || part->text[*taken] != '{');
    if (*taken == part->length || (sender->is_lost && goes_on)) {
        *taken = part->length;
        return false;
    }
    sender->is_lost = false;
    sender->line = part->line;
    if (part->begins)
        sender->has_blanks = part->blank;
    sender->is_open = part->text[*taken] == '{';
    if (!sender->is_open) {
        *strand = (struct xb_strand){.line = part->line, .why = no_document};
        *taken = part->length;
    }
    return sender->is_open;
}

static enum xb_status take(struct xb_strands *strands, struct sender *sender,
                           const struct xb_strand_part *part, size_t *taken,
                           struct xb_strand *strand, struct xb_error *error)
{
    const char *text = part->text + *taken;
    size_t length = xb_json_scan_take(&sender->scan, text, part->length - *taken);
    *taken += length;
    enum xb_status status = keep(strands, sender, text, length, error);
    if (status != XB_OK)
        return status;
    if (sender->scan.why != NULL) {
        give_broken(strands, sender, sender->scan.why, strand);
        sender->is_lost = true;
    } else if (sender->scan.is_whole && sender->dropped != NULL) {
        give_broken(strands, sender, sender->dropped, strand);
    } else if (sender->scan.is_whole) {
        *strand = (struct xb_strand){
            .text = sender->text, .length = sender->length, .line = sender->line};
        strands->given = sender;
        sender->is_open = false;
    }
    return XB_OK;
}

enum xb_status xb_strands_take(struct xb_strands *strands, const struct xb_strand_part *part,
                               size_t *taken, struct xb_strand *strand, struct xb_error *error)
{
    if (strands->given != NULL)
        forget(strands, strands->given);
    strands->given = NULL;
    *strand = (struct xb_strand){.text = NULL};
    *taken = 0;
    struct sender *sender = find(strands, part->label, part->label_length);
    if (sender == NULL && strands->held >= ALL_MOST * strands->largest) {
        *strand = (struct xb_strand){.line = part->line, .why = too_many};
        *taken = part->length;
        return XB_OK;
    }
    if (sender == NULL)
        sender = add(strands, part->label, part->label_length);
    if (sender == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to put documents together");
    if (sender->is_open && is_next(sender, part)) {
        give_broken(strands, sender, next_begins, strand);
        return XB_OK;
    }
    if (!sender->is_open && !begin(sender, part, taken, strand))
        return XB_OK;
    /* Where labels have no blank behind them, this one is the document's. */
    if (part->begins && part->blank && !sender->has_blanks) {
        (void)xb_json_scan_take(&sender->scan, " ", 1);
        enum xb_status status = keep(strands, sender, " ", 1, error);
        if (status != XB_OK)
            return status;
    }
    return take(strands, sender, part, taken, strand, error);
}

bool xb_strands_next_open(struct xb_strands *strands, struct xb_strand *strand)
{
    if (strands->given != NULL)
        forget(strands, strands->given);
    strands->given = NULL;
    struct sender *sender = strands->ended != NULL ? strands->ended->next : strands->first;
    for (; sender != NULL; sender = sender->next) {
        strands->ended = sender;
        if (sender->is_open) {
            give_broken(strands, sender, sender->dropped != NULL ? sender->dropped : no_end,
                        strand);
            return true;
        }
    }
    return false;
}
