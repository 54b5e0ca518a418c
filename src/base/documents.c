/* SPDX-License-Identifier: Apache-2.0 */
#include "documents.h"

#include "interrupt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK ((size_t)64 << 10) /* bytes that are read at once */
#define DEEPEST 32               /* json_read.c takes no deeper nesting */

#define ADVICE                                                                                     \
    "let each node write a file of its own (--json %h.json), or one line (--json-lines) that the " \
    "launcher neither cuts nor labels"
#define CUT_OR_MIXED "it was cut short, or several programs wrote here at the same time: " ADVICE

static const char too_large[] = "the document is too large";

void xb_documents_open(struct xb_documents *documents, xb_documents_read *read, void *from,
                       size_t largest)
{
    *documents = (struct xb_documents){.read = read, .from = from, .largest = largest, .line = 1};
}

void xb_documents_close(struct xb_documents *documents)
{
    free(documents->window);
    documents->window = NULL;
}

/* Reads on until `count` bytes are ahead, or all there are. Forgets what lies before `begin`. */
static enum xb_status look_ahead(struct xb_documents *d, size_t count, struct xb_error *error)
{
    while (d->end - d->at < count && !d->is_over) {
        if (xb_interrupt_signal() != 0)
            return XB_FAIL(error, XB_ERR_STOPPED, "stopped by a signal while reading");
        if (d->begin > 0) {
            memmove(d->window, d->window + d->begin, d->end - d->begin);
            d->at -= d->begin;
            d->end -= d->begin;
            d->begin = 0;
        }
        if (d->capacity - d->end < BLOCK) {
            size_t capacity = d->capacity > 0 ? 2 * d->capacity : 2 * BLOCK;
            char *grown = realloc(d->window, capacity + 1); /* for the zero behind a piece */
            if (grown == NULL)
                return XB_FAIL(error, XB_ERR_MEMORY, "no memory to read a document of %zu bytes",
                               capacity);
            d->window = grown;
            d->capacity = capacity;
        }
        ssize_t got = d->read(d->from, d->window + d->end, BLOCK);
        d->is_over = got <= 0;
        d->failure = got < 0 ? errno : 0;
        d->end += got > 0 ? (size_t)got : 0;
    }
    return XB_OK;
}

/* How far a document has been read. */
struct scan {
    char open[DEEPEST]; /* the open brackets */
    size_t depth;
    bool in_text, escaped;
    bool is_whole;  /* the object has ended */
    bool has_inner; /* a line of it begins with `{`: it may be the next document's */
    size_t inner;   /* where, from the document's begin */
    uint64_t inner_line;
    bool is_dropped; /* too large: nothing of it is kept */
    const char *why; /* it is broken */
};

/* Takes bytes until the object ends or cannot be JSON; returns how many. */
static size_t take_bytes(struct scan *scan, const char *bytes, size_t length)
{
    static const bool ends_text[256] = {['"'] = true, ['\\'] = true};
    static const bool ends_rest[256] = {
        ['"'] = true, ['{'] = true, ['}'] = true, ['['] = true, [']'] = true};
    size_t i = 0;
    while (i < length && !scan->is_whole && scan->why == NULL) {
        const bool *ends = scan->in_text ? ends_text : ends_rest;
        /* Goes to the next byte that matters: most do not. */
        while (!scan->escaped && i < length && !ends[(unsigned char)bytes[i]])
            i++;
        if (i == length)
            break;
        char c = bytes[i++];
        if (scan->escaped)
            scan->escaped = false;
        else if (c == '"')
            scan->in_text = !scan->in_text;
        else if (scan->in_text)
            scan->escaped = true;
        else if ((c == '{' || c == '[') && scan->depth == DEEPEST)
            scan->why = "nested deeper than 32 levels";
        else if (c == '{' || c == '[')
            scan->open[scan->depth++] = c;
        else if (scan->depth == 0 || scan->open[--scan->depth] != (c == '}' ? '{' : '['))
            scan->why = "its brackets do not match";
        else
            scan->is_whole = scan->depth == 0;
    }
    return i;
}

/* Whether a document may begin at `at`. */
static bool begins_document(const struct xb_documents *d)
{
    return d->at < d->end && d->window[d->at] == '{';
}

/* Goes to the next line that begins a document, or to the end. */
static enum xb_status seek_document(struct xb_documents *d, struct xb_error *error)
{
    for (;;) {
        d->begin = d->at;
        XB_TRY(look_ahead(d, 1, error));
        if (d->at == d->end || (!d->line_is_open && begins_document(d)))
            return XB_OK;
        const char *end = memchr(d->window + d->at, '\n', d->end - d->at);
        d->line_is_open = end == NULL;
        d->line += end != NULL;
        d->at = end != NULL ? (size_t)(end - d->window) + 1 : d->end;
    }
}

/* Goes to the next line within a document. */
static enum xb_status begin_line(struct xb_documents *d, struct scan *scan, struct xb_error *error)
{
    d->at++;
    d->line++;
    d->line_is_open = false;
    XB_TRY(look_ahead(d, 1, error));
    if (d->at == d->end)
        return XB_OK;
    d->line_is_open = true;
    if (!begins_document(d))
        return XB_OK;
    /* JSON allows an object behind [ and :, and behind a comma in an array. */
    size_t length = d->at - d->begin;
    while (length > 0 && strchr(" \t\r\n", d->window[d->begin + length - 1]) != NULL)
        length--;
    char last = length > 0 ? d->window[d->begin + length - 1] : '{';
    bool may_open = last == '[' || last == ':' ||
                    (last == ',' && scan->depth > 0 && scan->open[scan->depth - 1] == '[');
    if (scan->is_dropped || !may_open) {
        scan->why = scan->is_dropped
                        ? too_large
                        : "another document begins before this one ends: " CUT_OR_MIXED;
    } else if (!scan->has_inner) {
        scan->has_inner = true;
        scan->inner = d->at - d->begin;
        scan->inner_line = d->line;
    }
    d->line_is_open = scan->why == NULL;
    return XB_OK;
}

/* Reads the document that begins at `at`. */
static enum xb_status read_document(struct xb_documents *d, struct xb_document_piece *piece,
                                    struct xb_error *error)
{
    struct scan scan = {.why = NULL};
    d->line_is_open = true;
    while (scan.why == NULL && !scan.is_whole) {
        /* One that grows too large is read to its end, to find the next; unless it began there. */
        scan.is_dropped = scan.is_dropped || d->at - d->begin > d->largest;
        if (scan.is_dropped && scan.has_inner) {
            scan.why = too_large;
            break;
        }
        if (scan.is_dropped)
            d->begin = d->at;
        XB_TRY(look_ahead(d, 1, error));
        if (d->at == d->end && d->is_over)
            scan.why = "the document does not end: it was cut short";
        /* What the window has of the line. */
        const char *line = d->window + d->at;
        const char *end = memchr(line, '\n', d->end - d->at);
        size_t length = end != NULL ? (size_t)(end - line) : d->end - d->at;
        size_t taken = take_bytes(&scan, line, length);
        d->at += taken;
        if (scan.why != NULL || scan.is_whole || end == NULL || taken < length)
            continue;
        if (scan.in_text)
            scan.why = "a line ends within a text: " CUT_OR_MIXED;
        else
            XB_TRY(begin_line(d, &scan, error));
    }
    if (scan.is_whole && (scan.is_dropped || d->at - d->begin > d->largest))
        scan.why = too_large;
    piece->why = scan.why;
    if (scan.why == NULL) {
        piece->length = d->at - d->begin;
        piece->text = d->window + d->begin;
        d->held = d->at;
        d->holds = d->window[d->held];
        d->is_held = true;
        d->window[d->held] = '\0';
        return XB_OK;
    }
    if (scan.has_inner) {
        d->at = d->begin + scan.inner;
        d->line = scan.inner_line;
        d->line_is_open = false;
    }
    return seek_document(d, error);
}

/* Goes over empty lines, blanks, and the mark that some editors put before UTF-8. */
static enum xb_status skip_blanks(struct xb_documents *d, struct xb_error *error)
{
    static const char mark[] = "\xEF\xBB\xBF";
    for (;;) {
        d->begin = d->at;
        XB_TRY(look_ahead(d, 3, error));
        if (d->at == d->end)
            return XB_OK;
        char c = d->window[d->at];
        if (!d->line_is_open && d->end - d->at >= 3 && memcmp(d->window + d->at, mark, 3) == 0)
            d->at += 3;
        else if (c == '\n' || c == ' ' || c == '\t' || c == '\r')
            d->at++;
        else
            return XB_OK;
        d->line += c == '\n';
        d->line_is_open = c != '\n' && (unsigned char)c != 0xEF;
    }
}

enum xb_status xb_documents_next(struct xb_documents *documents, struct xb_document_piece *piece,
                                 bool *any, struct xb_error *error)
{
    struct xb_documents *d = documents;
    if (d->is_held)
        d->window[d->held] = d->holds;
    d->is_held = false;
    XB_TRY(skip_blanks(d, error));
    *piece = (struct xb_document_piece){.line = d->line};
    *any = d->at < d->end || (d->failure != 0 && !d->is_told);
    if (d->at == d->end) {
        d->is_told = true;
        piece->why = *any ? xb_errno_name(d->failure) : NULL;
        piece->is_none = *any;
        return XB_OK;
    }
    if (begins_document(d))
        return read_document(d, piece, error);
    piece->why = "no JSON document begins here: " ADVICE;
    piece->is_none = true;
    d->line_is_open = true;
    return seek_document(d, error);
}
