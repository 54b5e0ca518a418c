/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RECORD_JSON_H
#define XFERBENCH_RECORD_JSON_H

#include "xferbench/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * JSON that may come from anywhere: read in bounded memory, and whatever is wrong with it is told
 * with the file and the place in it.
 */

/* Where in which file a reader is: "results[3].parts". */
struct xb_place {
    const char *path; /* of the file, for messages */
    char text[192];
};

/* Goes into a key, or an array's item; give what it returns to xb_place_leave. Too long a place
 * is cut. */
size_t xb_place_enter(struct xb_place *place, const char *key);
size_t xb_place_enter_item(struct xb_place *place, size_t index);
void xb_place_leave(struct xb_place *place, size_t length);

/* Parses the text (with a zero behind it) and checks the whole tree: no key twice, no number that
 * is not finite, no NUL, no control character that is not escaped. XB_ERR_USAGE with line and
 * column, or the place; XB_ERR_MEMORY. */
XB_MUST_CHECK enum xb_status xb_json_parse(struct xb_place *place, const char *text, size_t length,
                                           cJSON **root, struct xb_error *error);

/* ---- values: XB_ERR_USAGE with the place for one that is missing or not as it has to be ---- */

XB_MUST_CHECK enum xb_status xb_json_need(const struct xb_place *place, const cJSON *object,
                                          const char *key, const cJSON **item,
                                          struct xb_error *error);
XB_MUST_CHECK enum xb_status xb_json_need_object(const struct xb_place *place, const cJSON *object,
                                                 const char *key, const cJSON **item,
                                                 struct xb_error *error);
/* With at most `most` keys; NULL for null, and for a key that is not there. */
XB_MUST_CHECK enum xb_status xb_json_take_object(const struct xb_place *place, const cJSON *object,
                                                 const char *key, int most, const cJSON **item,
                                                 struct xb_error *error);
XB_MUST_CHECK enum xb_status xb_json_need_array(const struct xb_place *place, const cJSON *object,
                                                const char *key, const cJSON **item,
                                                struct xb_error *error);
/* Not empty; belongs to the tree. */
XB_MUST_CHECK enum xb_status xb_json_need_text(const struct xb_place *place, const cJSON *object,
                                               const char *key, const char **text,
                                               struct xb_error *error);
/* The same or null, which leaves NULL; so does a key that is not there. */
XB_MUST_CHECK enum xb_status xb_json_take_text(const struct xb_place *place, const cJSON *object,
                                               const char *key, const char **text,
                                               struct xb_error *error);
XB_MUST_CHECK enum xb_status xb_json_need_flag(const struct xb_place *place, const cJSON *object,
                                               const char *key, bool *flag, struct xb_error *error);
/* Above 0 and at most `most`. */
XB_MUST_CHECK enum xb_status xb_json_need_number(const struct xb_place *place, const cJSON *object,
                                                 const char *key, double most, double *number,
                                                 struct xb_error *error);
/* Whole, from `least` to `most`, which a double holds exactly. */
XB_MUST_CHECK enum xb_status xb_json_need_whole(const struct xb_place *place, const cJSON *object,
                                                const char *key, uint64_t least, uint64_t most,
                                                uint64_t *number, struct xb_error *error);
/* The same or null, which leaves -1. */
XB_MUST_CHECK enum xb_status xb_json_need_index(const struct xb_place *place, const cJSON *object,
                                                const char *key, int *index,
                                                struct xb_error *error);

/* XB_ERR_USAGE: "FILE: PLACE.KEY: what"; `key` may be NULL. */
enum xb_status xb_json_wrong(const struct xb_place *place, const char *key, struct xb_error *error,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
