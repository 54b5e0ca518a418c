/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the tests of several formats ask of a text or of a JSON tree. */

#include "testing.h"
#include "xferbench/error.h"

#include <cjson/cJSON.h>

void assert_has(const char *text, const char *part);
void assert_lacks(const char *text, const char *part);

/* The message names the file at `path`, of whose path it may show the first 300 bytes alone. */
void assert_names(const struct xb_error *error, const char *path);

/* All of a file; release with free(). */
char *file_text(const char *path);

/* The member at a path such as "results.0.reason". The test fails where there is none. */
const cJSON *at(const cJSON *item, const char *path);

/* A document that golden cases begin with, such as "link/peers"; release with cJSON_Delete(). */
cJSON *golden_base(const char *name);

/* Reads a document and releases what was read. */
typedef enum xb_status (*tree_reader)(const cJSON *tree, struct xb_error *error);

/* Damages in turn what is below `top`: without its key a document must be refused, by a message
 * that has it, and with any other value nothing worse may happen than that. Keys of which nothing
 * is read, such as "|command|facts|", may lack; below them, and below those of which only a part
 * is read, nothing is damaged. Returns how many items were. */
size_t damage_below(const cJSON *tree, cJSON *top, tree_reader read, const char *unread,
                    const char *partly_read);

/* Writes `what`, which a fixture made, to the stream. */
typedef enum xb_status (*writer)(FILE *stream, const void *what, struct xb_error *error);

/* Writes it again and again, each time with one more allocation of cJSON's that succeeds before all
 * others fail, until writing succeeds. Every failure must be reported, leak nothing and write
 * nothing. Returns how many times it wrote. */
size_t fail_every_allocation(writer write, const void *what);

/* cJSON without memory for one piece: the so-manyth that it asks for from then on, counted from 1;
 * 0 for none. A document that somebody gives may be too large. */
void lack_json_piece(size_t number);

/* Reads a document, which `read` releases again, once without each piece of memory, and then with
 * all. Each failure must be told. Returns how many pieces there were. */
size_t lack_each_json_piece(const char *text,
                            enum xb_status (*read)(const char *text, struct xb_error *error));
