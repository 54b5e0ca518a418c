/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_REPORT_REPORT_H
#define XFERBENCH_REPORT_REPORT_H

#include "page.h"
#include "xferbench/options.h"

#include <stddef.h>

/* More files than these are read and counted, but not shown one by one. */
#define XB_REPORT_FILES 20

struct xb_report_request {
    char *const *paths;
    size_t count;
    /* Reads a file's text, with a zero byte behind it; release it with free(3). */
    enum xb_status (*read)(const char *path, char **text, size_t *length, struct xb_error *error);
    /* The options as they are by default (xb_record_of_defaults); NULL: not known. */
    const struct xb_record *defaults;
    /* The options of `run` and of every mode; ends with NULL. NULL: not known. */
    const struct xb_option *const *rows;
    /* Told of every file that is left out, and why. NULL: nobody is. */
    void (*tell)(const struct xb_error *error);
};

/*
 * Writes the page of these files. Each is read twice, one at a time: once for what is told of all
 * together, and once for what is told of it, if it is among those that the page shows. So memory is
 * needed for one of them. *left_out is how many could not be read: they are no failure.
 * XB_ERR_MEMORY, or why a picture's file could not be written, in page->error; of page->stream the
 * caller looks at ferror().
 */
XB_MUST_CHECK enum xb_status
xb_report_write(struct xb_page *page, const struct xb_report_request *request, size_t *left_out);

#endif
