/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#define XB_JSON_DEPTH 32 /* xferbench writes 10 levels, and reads 32 */

/*
 * Writes one JSON document:
 *
 *     struct xb_json json;
 *     xb_json_begin(&json);
 *     xb_json_open_object(&json, NULL);
 *     xb_json_put_text(&json, "name", name);
 *     xb_json_close(&json);
 *     return xb_json_finish(&json, stream, "the JSON", error);
 *
 * No call but the last can fail: it reports the first failure, after which the others do nothing.
 * Nothing is written before the document is complete. Every begin needs its finish.
 *
 * `key` is the name in the innermost open object; NULL in an array, and for the document itself.
 * Keys and texts are copied. They may hold any bytes: those that are no UTF-8 become U+FFFD, and
 * control characters are escaped.
 */
struct xb_json {
    char *text; /* as it is written: indented */
    size_t length, room;
    struct xb_json_level { /* what is not closed yet, outermost first */
        bool is_array, has_any;
    } open[XB_JSON_DEPTH];
    size_t depth;
    bool in_lines;         /* set it while an array of many objects is open: each is a line */
    struct xb_error error; /* the first failure */
};

void xb_json_begin(struct xb_json *json);

enum xb_json_form {
    XB_JSON_INDENTED,
    XB_JSON_LINE, /* one line, also of raw documents: several processes can write to one stream,
                     if each writes its line in one call (xb_output_unbuffer) */
    XB_JSON_PART  /* a line without its end, and not flushed: part of a larger document */
};
/* Prints the document with a newline, flushes the stream, and releases what the document holds.
 * `what` is its name in messages: "the JSON". XB_ERR_MEMORY, XB_ERR_SYSTEM (the write failed), or
 * what xb_json_fail() was given. */
enum xb_status xb_json_finish_as(struct xb_json *json, FILE *stream, enum xb_json_form form,
                                 const char *what, struct xb_error *error);
#define xb_json_finish(json, stream, what, error)                                                  \
    xb_json_finish_as((json), (stream), XB_JSON_INDENTED, (what), (error))

void xb_json_open(struct xb_json *json, const char *key, bool is_array);
#define xb_json_open_object(json, key) xb_json_open((json), (key), false)
#define xb_json_open_array(json, key) xb_json_open((json), (key), true)
/* Closes what was opened last. */
void xb_json_close(struct xb_json *json);

/* NULL gives null. */
void xb_json_put_text(struct xb_json *json, const char *key, const char *text);
/* NULL and an empty text give null. */
void xb_json_put_optional(struct xb_json *json, const char *key, const char *text);
/* Reads back as exactly this value. NAN and infinities give null. */
void xb_json_put_number(struct xb_json *json, const char *key, double value);
/* What is not known gives null. */
#define xb_json_put_known_number(json, key, is_known, value)                                       \
    xb_json_put_number((json), (key), (is_known) ? (value) : (double)NAN)
void xb_json_put_known_whole(struct xb_json *json, const char *key, bool is_known, uint64_t value);
#define xb_json_put_whole(json, key, value) xb_json_put_known_whole((json), (key), true, (value))
void xb_json_put_known_flag(struct xb_json *json, const char *key, bool is_known, bool flag);
#define xb_json_put_flag(json, key, flag) xb_json_put_known_flag((json), (key), true, (flag))
/* A device, peer or NUMA node; below 0 gives null. */
void xb_json_put_index(struct xb_json *json, const char *key, int64_t index);
void xb_json_put_null(struct xb_json *json, const char *key);
/* An array of numbers, each as xb_json_put_number() writes it. */
void xb_json_put_numbers(struct xb_json *json, const char *key, const double *values, size_t count);
/* A JSON document that was read, as it was but for white space at its end. NULL gives null. */
void xb_json_put_raw(struct xb_json *json, const char *key, const char *document);

/* For callers that fail on the way: keeps this error. */
void xb_json_fail(struct xb_json *json, const struct xb_error *error);
