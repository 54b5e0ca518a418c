/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

struct xb_arena;

/* JSON that may come from anywhere: read in bounded memory; what is wrong is told with its place.
 */

struct xb_place {
    const char *path; /* of the file, for messages */
    char text[192];   /* in it: "results[3].parts" */
};

/* Goes into a key, or an array's item; give what it returns to xb_place_leave. Cuts long places. */
size_t xb_place_enter(struct xb_place *place, const char *key);
size_t xb_place_enter_item(struct xb_place *place, size_t index);
void xb_place_leave(struct xb_place *place, size_t length);

/*
 * Keeps the first error with its place; later calls do nothing and give what is empty (NULL, 0,
 * false, an index of -1), so that a caller reads a whole object and looks once whether it could:
 *
 *     struct xb_json_reader reader = {.place = {.path = path}};
 *     cJSON *root = xb_json_read(&reader, text, length);
 *     const char *name = xb_json_get_text(&reader, root, "name");
 *     if (xb_json_failed(&reader))
 *         ...
 */
struct xb_json_reader {
    struct xb_place place;
    struct xb_arena **texts; /* where copies of texts go that must outlive the tree; else NULL */
    struct xb_error error;   /* the first; its status is XB_OK while there is none */
};

/* Parses the text (with a zero behind it) and checks the whole tree: no key twice, no number that
 * is not finite, no NUL or control character that is not escaped. XB_ERR_USAGE with line and
 * column, or the place; XB_ERR_MEMORY. Release the tree with cJSON_Delete(). */
cJSON *xb_json_read(struct xb_json_reader *reader, const char *text, size_t length);

bool xb_json_failed(const struct xb_json_reader *reader);
/* For callers: XB_ERR_USAGE, "FILE: PLACE.KEY: what"; `key` may be NULL. */
void xb_json_refuse(struct xb_json_reader *reader, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* For callers: XB_ERR_MEMORY. */
void xb_json_refuse_memory(struct xb_json_reader *reader);
/* Refuses what is no object, and a key that is not among `keys`, which end with NULL. */
void xb_json_check_keys(struct xb_json_reader *reader, const cJSON *object,
                        const char *const *keys);

/* ---- a member of an object ----
 * What is missing or wrong is refused. optional_: may be missing or null, which gives what is
 * empty. known_: must be there, and null stands for what is not known. */
enum xb_json_need { XB_JSON_NEEDED, XB_JSON_KNOWN, XB_JSON_OPTIONAL };

const cJSON *xb_json_get_object_as(enum xb_json_need need, struct xb_json_reader *reader,
                                   const cJSON *object, const char *key);
#define xb_json_get_object(...) xb_json_get_object_as(XB_JSON_NEEDED, __VA_ARGS__)
#define xb_json_get_known_object(...) xb_json_get_object_as(XB_JSON_KNOWN, __VA_ARGS__)
/* With at most `most` keys. */
const cJSON *xb_json_get_optional_object(struct xb_json_reader *reader, const cJSON *object,
                                         const char *key, int most);
const cJSON *xb_json_get_array(struct xb_json_reader *reader, const cJSON *object, const char *key);
/* Not empty; belongs to the tree. */
const char *xb_json_get_text_as(enum xb_json_need need, struct xb_json_reader *reader,
                                const cJSON *object, const char *key);
#define xb_json_get_text(...) xb_json_get_text_as(XB_JSON_NEEDED, __VA_ARGS__)
#define xb_json_get_known_text(...) xb_json_get_text_as(XB_JSON_KNOWN, __VA_ARGS__)
#define xb_json_get_optional_text(...) xb_json_get_text_as(XB_JSON_OPTIONAL, __VA_ARGS__)
/* *known is false for null, which is refused where `known` is NULL. */
bool xb_json_get_known_flag(struct xb_json_reader *reader, const cJSON *object, const char *key,
                            bool *known);
#define xb_json_get_flag(...) xb_json_get_known_flag(__VA_ARGS__, NULL)
/* At most `most`. What is needed is above 0; else NAN stands for what is not there or not known. */
double xb_json_get_number_as(enum xb_json_need need, struct xb_json_reader *reader,
                             const cJSON *object, const char *key, double most);
#define xb_json_get_number(...) xb_json_get_number_as(XB_JSON_NEEDED, __VA_ARGS__)
#define xb_json_get_known_number(...) xb_json_get_number_as(XB_JSON_KNOWN, __VA_ARGS__)
#define xb_json_get_optional_number(...) xb_json_get_number_as(XB_JSON_OPTIONAL, __VA_ARGS__)
/* Whole, from `least` to `most`, which a double holds exactly. */
uint64_t xb_json_get_whole_as(enum xb_json_need need, struct xb_json_reader *reader,
                              const cJSON *object, const char *key, uint64_t least, uint64_t most);
#define xb_json_get_whole(...) xb_json_get_whole_as(XB_JSON_NEEDED, __VA_ARGS__)
/* From 0. */
#define xb_json_get_optional_whole(reader, object, key, most)                                      \
    xb_json_get_whole_as(XB_JSON_OPTIONAL, (reader), (object), (key), 0, (most))
/* From 0 to 1023; -1 for null. */
int xb_json_get_index(struct xb_json_reader *reader, const cJSON *object, const char *key);
