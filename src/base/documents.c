/* SPDX-License-Identifier: Apache-2.0 */
#include "documents.h"

#include "interrupt.h"
#include "json_scan.h"
#include "strands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK ((size_t)64 << 10) /* bytes that are read at once */
/* What tells whether a line begins a document: a label, a blank and a bracket. */
#define AHEAD (XB_DOCUMENTS_LABEL + 2)

#define ADVICE                                                                                     \
    "it was cut short, or several programs wrote here at the same time: write one file per node "  \
    "(--json %h.json), or let the launcher label the lines (srun --label)"

static const char no_document[] = "no JSON document begins here";
static const char no_end[] = "the document does not end: it was cut short";
static const char next_begins[] = "another document begins before this one ends: " ADVICE;
static const char open_text[] = "a line ends within a text: " ADVICE;
static const char too_large[] = "the document is too large";

/* ---- the window ---- */

void xb_documents_open(struct xb_documents *documents, FILE *stream, size_t largest)
{
    *documents = (struct xb_documents){.stream = stream, .largest = largest, .line = 1};
}

void xb_documents_close(struct xb_documents *documents)
{
    xb_strands_close(documents->strands);
    documents->strands = NULL;
    free(documents->window);
    documents->window = NULL;
}

static enum xb_status grow(struct xb_documents *d, struct xb_error *error)
{
    size_t capacity = d->capacity > 0 ? 2 * d->capacity : 2 * BLOCK;
    char *grown = realloc(d->window, capacity + 1); /* for the zero behind a piece */
    if (grown == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to read a document of %zu bytes", capacity);
    d->window = grown;
    d->capacity = capacity;
    return XB_OK;
}

/* Reads a block more, if there is one. What lies before `begin` is forgotten. */
static enum xb_status fill(struct xb_documents *d, struct xb_error *error)
{
    if (d->is_over)
        return XB_OK;
    if (xb_interrupt_signal() != 0)
        return XB_FAIL(error, XB_ERR_STOPPED, "stopped by a signal while reading");
    if (d->begin > 0) {
        memmove(d->window, d->window + d->begin, d->end - d->begin);
        d->at -= d->begin;
        d->end -= d->begin;
        d->begin = 0;
    }
    enum xb_status status = d->capacity - d->end < BLOCK ? grow(d, error) : XB_OK;
    if (status != XB_OK)
        return status;
    errno = 0;
    size_t got = fread(d->window + d->end, 1, BLOCK, d->stream);
    d->end += got;
    d->is_over = got < BLOCK && (feof(d->stream) || ferror(d->stream));
    if (ferror(d->stream))
        d->failure = errno != 0 ? errno : EIO;
    return XB_OK;
}

/* Reads on until what is ahead tells whether a line begins a document. */
static enum xb_status look_ahead(struct xb_documents *d, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    while (status == XB_OK && d->end - d->at < AHEAD && !d->is_over)
        status = fill(d, error);
    return status;
}

/* ---- lines ---- */

static bool is_of_word(char c)
{
    return (unsigned char)c > ' ' && c != '"' && c != '{' && c != '}' && c != ':';
}

/* How long the label is that a launcher put before the line at `at`, with its colon; 0: none. */
static size_t label_length(const struct xb_documents *d)
{
    const char *line = d->window + d->at;
    size_t ahead = d->end - d->at;
    size_t length = ahead < XB_DOCUMENTS_LABEL ? ahead : XB_DOCUMENTS_LABEL;
    size_t i = 0;
    while (i < length && line[i] == ' ') /* srun --label sets numbers to the right */
        i++;
    size_t word = i;
    while (i < length && is_of_word(line[i]))
        i++;
    return i > word && i < length && line[i] == ':' ? i + 1 : 0;
}

/* Whether the line at `at` begins a document, maybe behind a label. */
static bool begins_document(const struct xb_documents *d)
{
    size_t i = d->at + label_length(d);
    i += i > d->at && i < d->end && d->window[i] == ' ';
    return i < d->end && d->window[i] == '{';
}

/* Whether the line at `at` begins a document, or goes on with one of its label. */
static bool is_awaited(const struct xb_documents *d)
{
    size_t label = label_length(d);
    return begins_document(d) ||
           (label > 0 && xb_strands_is_open(d->strands, d->window + d->at, label));
}

/* Goes to the next line that begins a document, or to the end. */
static enum xb_status seek_document(struct xb_documents *d, struct xb_error *error)
{
    for (;;) {
        d->begin = d->at;
        enum xb_status status = look_ahead(d, error);
        if (status != XB_OK || d->at == d->end || (!d->line_is_open && is_awaited(d)))
            return status;
        const char *end = memchr(d->window + d->at, '\n', d->end - d->at);
        d->line_is_open = end == NULL;
        d->line += end != NULL;
        d->at = end != NULL ? (size_t)(end - d->window) + 1 : d->end;
    }
}

/* ---- a document ---- */

/* How far a document has been read. */
struct scan {
    struct xb_json_scan json;
    bool has_inner; /* a line of it begins with `{`: it may be the next document's */
    size_t inner;   /* where, from the document's begin */
    uint64_t inner_line;
    bool is_dropped; /* too large: nothing of it is kept */
    const char *why; /* it is broken */
};

/* At a line's begin within a document. */
static void check_line(const struct xb_documents *d, struct scan *scan)
{
    if (!begins_document(d))
        return;
    if (d->window[d->at] != '{' || scan->is_dropped ||
        !xb_json_scan_may_open(&scan->json, d->window + d->begin, d->at - d->begin)) {
        scan->why = scan->is_dropped ? too_large : next_begins;
    } else if (!scan->has_inner) {
        scan->has_inner = true;
        scan->inner = d->at - d->begin;
        scan->inner_line = d->line;
    }
}

static enum xb_status begin_line(struct xb_documents *d, struct scan *scan, struct xb_error *error)
{
    d->at++;
    d->line++;
    d->line_is_open = false;
    enum xb_status status = look_ahead(d, error);
    if (status != XB_OK || d->at == d->end)
        return status;
    check_line(d, scan);
    d->line_is_open = scan->why == NULL;
    return XB_OK;
}

/* Takes what the window has of the line at `at`. */
static enum xb_status take_line(struct xb_documents *d, struct scan *scan, struct xb_error *error)
{
    const char *line = d->window + d->at;
    const char *end = memchr(line, '\n', d->end - d->at);
    size_t length = end != NULL ? (size_t)(end - line) : d->end - d->at;
    size_t taken = xb_json_scan_take(&scan->json, line, length);
    d->at += taken;
    scan->why = scan->json.why;
    if (scan->why != NULL || scan->json.is_whole || end == NULL || taken < length)
        return XB_OK;
    if (!scan->json.in_text)
        return begin_line(d, scan, error);
    scan->why = open_text;
    return XB_OK;
}

/* A document that grows too large is read to its end all the same, to find the next one; unless the
 * next one may have begun in it. */
static void check_size(struct xb_documents *d, struct scan *scan)
{
    if (!scan->is_dropped && d->at - d->begin <= d->largest)
        return;
    scan->is_dropped = true;
    scan->why = scan->has_inner ? too_large : NULL;
    if (!scan->has_inner)
        d->begin = d->at;
}

static enum xb_status scan_document(struct xb_documents *d, struct scan *scan,
                                    struct xb_error *error)
{
    enum xb_status status = XB_OK;
    while (status == XB_OK && scan->why == NULL && !scan->json.is_whole) {
        check_size(d, scan);
        if (scan->why == NULL && d->at == d->end)
            status = fill(d, error);
        if (scan->why != NULL || status != XB_OK)
            break;
        if (d->at == d->end && d->is_over)
            scan->why = no_end;
        else
            status = take_line(d, scan, error);
    }
    if (scan->json.is_whole && (scan->is_dropped || d->at - d->begin > d->largest))
        scan->why = too_large;
    return status;
}

static void give_whole(struct xb_documents *d, struct xb_document_piece *piece)
{
    char *text = d->window + d->begin;
    piece->length = d->at - d->begin;
    piece->text = text;
    d->held = (size_t)(text - d->window) + piece->length;
    d->holds = d->window[d->held];
    d->is_held = true;
    d->window[d->held] = '\0';
}

static enum xb_status read_document(struct xb_documents *d, struct xb_document_piece *piece,
                                    struct xb_error *error)
{
    struct scan scan = {.why = NULL};
    d->line_is_open = true;
    enum xb_status status = scan_document(d, &scan, error);
    if (status != XB_OK)
        return status;
    piece->why = scan.why;
    if (scan.why == NULL) {
        give_whole(d, piece);
        return XB_OK;
    }
    if (scan.has_inner) {
        d->at = d->begin + scan.inner;
        d->line = scan.inner_line;
        d->line_is_open = false;
    }
    return seek_document(d, error);
}

/* ---- lines with labels ---- */

static void give_strand(const struct xb_strand *strand, struct xb_document_piece *piece)
{
    piece->text = strand->text;
    piece->length = strand->length;
    piece->why = strand->why;
    piece->line = strand->line;
}

static void enter_labelled_line(struct xb_documents *d)
{
    d->label_length = label_length(d);
    memcpy(d->label, d->window + d->at, d->label_length);
    d->at += d->label_length;
    d->label_has_blank = d->at < d->end && d->window[d->at] == ' ';
    d->at += d->label_has_blank;
    d->line_is_labelled = true;
}

/* Gives the line, or what is left of it, to the strand of its label, until a document ends. */
static enum xb_status read_labelled(struct xb_documents *d, struct xb_document_piece *piece,
                                    struct xb_error *error)
{
    struct xb_strand strand = {.text = NULL};
    bool begins = !d->line_is_labelled;
    if (begins)
        enter_labelled_line(d);
    while (d->line_is_labelled && strand.text == NULL && strand.why == NULL) {
        d->begin = d->at;
        enum xb_status status = d->at == d->end ? fill(d, error) : XB_OK;
        if (status != XB_OK)
            return status;
        const char *line = d->window + d->at;
        const char *end = memchr(line, '\n', d->end - d->at);
        size_t length = end != NULL ? (size_t)(end - line) : d->end - d->at;
        const struct xb_strand_part part = {.label = d->label,
                                            .label_length = d->label_length,
                                            .line = d->line,
                                            .begins = begins,
                                            .blank = d->label_has_blank,
                                            .text = line,
                                            .length = length};
        size_t taken = 0;
        status = xb_strands_take(d->strands, &part, &taken, &strand, error);
        if (status != XB_OK)
            return status;
        begins = false;
        d->at += taken;
        if (taken == length && end != NULL) {
            d->at++;
            d->line++;
        }
        d->line_is_labelled = taken < length || (end == NULL && !(d->at == d->end && d->is_over));
    }
    give_strand(&strand, piece);
    return XB_OK;
}

/* ---- between documents ---- */

/* Goes over empty lines, blanks, and the mark that some editors put before UTF-8. */
static enum xb_status skip_blanks(struct xb_documents *d, struct xb_error *error)
{
    static const char mark[] = "\xEF\xBB\xBF";
    for (;;) {
        d->begin = d->at;
        enum xb_status status = look_ahead(d, error);
        if (status != XB_OK || d->at == d->end)
            return status;
        char c = d->window[d->at];
        if (!d->line_is_open && is_awaited(d))
            return XB_OK;
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

/* What is left at the end of the stream. */
static void give_end(struct xb_documents *d, struct xb_document_piece *piece, bool *any)
{
    struct xb_strand strand;
    *any = true;
    if (xb_strands_next_open(d->strands, &strand)) {
        give_strand(&strand, piece);
        return;
    }
    *any = d->failure != 0 && !d->is_told;
    d->is_told = true;
    piece->why = *any ? xb_errno_name(d->failure) : NULL;
    piece->is_none = *any;
}

static enum xb_status next(struct xb_documents *d, struct xb_document_piece *piece, bool *any,
                           struct xb_error *error)
{
    enum xb_status status = d->line_is_labelled ? XB_OK : skip_blanks(d, error);
    if (status != XB_OK)
        return status;
    *piece = (struct xb_document_piece){.line = d->line};
    *any = d->line_is_labelled || d->at < d->end;
    if (!*any)
        give_end(d, piece, any);
    else if (d->line_is_labelled || (!d->line_is_open && d->window[d->at] != '{' && is_awaited(d)))
        status = read_labelled(d, piece, error);
    else if (d->window[d->at] == '{')
        status = read_document(d, piece, error);
    else {
        piece->why = no_document;
        piece->is_none = true;
        d->line_is_open = true;
        status = seek_document(d, error);
    }
    return status;
}

enum xb_status xb_documents_next(struct xb_documents *documents, struct xb_document_piece *piece,
                                 bool *any, struct xb_error *error)
{
    struct xb_documents *d = documents;
    enum xb_status status = XB_OK;
    if (d->is_held)
        d->window[d->held] = d->holds;
    d->is_held = false;
    if (d->strands == NULL)
        status = xb_strands_open(&d->strands, d->largest, error);
    do { /* a line with a label may end no document */
        if (status == XB_OK)
            status = next(d, piece, any, error);
    } while (status == XB_OK && *any && piece->text == NULL && piece->why == NULL);
    return status;
}
