/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_SINKS_NOTE_H
#define XFERBENCH_SINKS_NOTE_H

#include "xferbench/run.h"

#include <stdio.h>

/* Notes are wrapped to this; the table stays within it for all but the longest values. */
#define XB_LINE_COLUMNS 100

/* Any text of a run fits, with the name of a row before it, and any path. */
#define XB_NOTE_SIZE (XB_PATH_SIZE + 512)

/* Makes a text plain ASCII, in place and no longer than it was: a note may hold a driver's words or
 * a user's file name. Of two colons or hashes in a row the second goes, as in xb_plain_text(). */
void xb_make_plain(char *text);

/* Prints words after a label padded to `width`, and further lines under the first word. */
void xb_note_print(FILE *stream, const char *label, int width, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A line that is put together piece by piece; what does not fit is left out. Zero-initialise. */
struct xb_words {
    char text[XB_NOTE_SIZE];
    size_t length;
};

void xb_words_add(struct xb_words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "0", "0>1" for a pair, "sum of 4" and "0 of 4" for devices that ran at the same time. */
const char *xb_device_text(const struct xb_run *run, const struct xb_result *result, char *text,
                           size_t size);

/* How many devices ran at the same time as this row's, itself included; 0 for a row of one alone or
 * where the row of all of them is not there. */
size_t xb_group_size(const struct xb_run *run, const struct xb_result *result);

#endif
