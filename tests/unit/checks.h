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

/* The member at a path such as "results.0.reason". The test fails where there is none. */
const cJSON *at(const cJSON *item, const char *path);

/* Writes `what`, which a fixture made, to the stream. */
typedef enum xb_status (*writer)(FILE *stream, const void *what, struct xb_error *error);

/* Writes it again and again, each time with one more allocation of cJSON's that succeeds before all
 * others fail, until writing succeeds. Every failure must be reported, leak nothing and write
 * nothing. Returns how many times it wrote. */
size_t fail_every_allocation(writer write, const void *what);
