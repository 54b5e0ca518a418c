/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_write.h"
#include "reading.h"

#include <stdio.h>

/* The Reading of a record as a list of statements (reading.h). docs/reading.md says for each code
 * when it is said, and what its numbers are. */

struct xb_reading_list {
    struct xb_reading_entry *entries; /* in the order in which they are printed */
    size_t count;
    const char *answer; /* what the whole comes to, in 160 characters at most; NULL: nothing */
    bool many_sizes, many_devices; /* of the record: then a line says what it is of */
    struct xb_arena *texts;        /* where all that the entries have lies */
};

/* Makes the Reading of a record, which must stay as it is as long as the list is used. Speaks only
 * of cases that were measured in full and verified. */
void xb_reading_make(const struct xb_record *record, struct xb_reading_list *list);
void xb_reading_free(struct xb_reading_list *list); /* accepts a zeroed one */

/* "GPU 0, 256 MiB: ": what the entry is of, where there are several; else "". */
const char *xb_reading_subject(const struct xb_reading_list *list,
                               const struct xb_reading_entry *entry, char *text, size_t size);

#define XB_MOST_ADVICE 3

/* Takes the entries whose remedies are worth most, each remedy once; returns how many. */
size_t xb_reading_advice(const struct xb_reading_list *list,
                         const struct xb_reading_entry **advice);

/* Prints it for a person: nothing where there is nothing to say. */
void xb_reading_print(FILE *stream, const struct xb_reading_list *list);

/* The member `reading` of the innermost open object. */
void xb_reading_put_of(struct xb_json *json, const struct xb_record *record);
