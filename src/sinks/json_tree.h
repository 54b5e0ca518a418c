/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_SINKS_JSON_TREE_H
#define XFERBENCH_SINKS_JSON_TREE_H

#include "xferbench/backend.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * A document is built as a tree of cJSON items. Every builder returns NULL when memory is short and
 * xb_json_put() passes that on, so that a section is one chain of puts and a failure anywhere drops
 * the whole tree.
 */

/* Takes the item. `key` is not copied and must outlive the tree. */
bool xb_json_put(cJSON *object, const char *key, cJSON *item);
/* Takes the item. */
bool xb_json_append(cJSON *array, cJSON *item);
/* Returns `container` if it is complete, else drops it and returns NULL. */
cJSON *xb_json_complete(cJSON *container, bool is_complete);

/* A copy of the first `length` bytes that is UTF-8; release with cJSON_free. NULL: no memory. */
char *xb_json_utf8(const char *text, size_t length);
/* A string; bytes that are no UTF-8 are replaced. */
cJSON *xb_json_text(const char *text);
/* null for a text that is not there. */
cJSON *xb_json_optional(const char *text);
cJSON *xb_json_whole(uint64_t value);
/* Reads back as exactly this value; null where it is not finite. */
cJSON *xb_json_number(double value);

/* What a reader must know of a device, as one object; `info` must outlive the tree. */
cJSON *xb_json_facts(const struct xb_device_info *info);

/* Builds a document from `source` and prints it with a line's end. */
XB_MUST_CHECK enum xb_status xb_json_print(FILE *stream, cJSON *(*build)(const void *source),
                                           const void *source, struct xb_error *error);

#endif
