/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Result files made by hand, as trees that a test changes before they are read. */

#include "record/record.h"
#include "rows.h"
#include "testing.h"
#include "xferbench/error.h"

#include <cjson/cJSON.h>

#define PATH "folder/some.json"

/* A run's document, as text and as a tree. */
extern const char *result_text;
cJSON *result_tree(void);
/* The same with another bandwidth in its first row, of which the file has the median alone. */
cJSON *result_of_bandwidth(const char *median);

/* A file of processes; takes the documents, of which NULL stands for none. */
cJSON *merge(int asked, size_t count, cJSON *const *documents);

/* Puts a value, as JSON or what is none, in another's place, or a key where there is none; NULL
 * and "missing" take it away. */
void put(cJSON *root, const char *where, const char *value);
/* Of "where | value | where | value", from that part of the row on. */
void put_parts(cJSON *root, const struct row *row, size_t from);

/* These take the tree. */
enum xb_status parse_tree(cJSON *tree, struct xb_record *record, struct xb_error *error);
struct xb_record read_tree(cJSON *tree);
/* It is refused with a message that says what is expected. */
void refuse_tree(cJSON *tree, const char *expected);
void refuse_text(const char *text, size_t length, const char *expected);
