/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_READ_H
#define XFERBENCH_LINK_READ_H

#include "report.h"

/* What `xferbench link --json` wrote, read back (docs/link.schema.json). */

#define XB_LINK_LARGEST_BYTES ((size_t)64 << 20) /* of a file */

/*
 * A report from a file, with everything that it borrows. The formats write about it what they wrote
 * when it was made, but for JSON: of the host, the environment, the options and the devices' facts
 * nothing is kept.
 *
 * Levels, reasons and limits are the file's: nobody judges again. Facts are found again from the
 * attempts. verdicts[].limits has no min_h2d and min_d2h; what follows from them is in h2d and d2h.
 */
struct xb_link_file {
    struct xb_link_report report;
    struct xb_link_device *devices;
    struct xb_verdict *verdicts;
    struct xb_link_pair *pairs;
    struct xb_pair_verdict *pair_verdicts;
    struct xb_arena *texts;
};

/*
 * Reads a regular file of at most XB_LINK_LARGEST_BYTES. XB_ERR_USAGE names the file and the place
 * of whatever is wrong; keys that this version does not know are passed over. XB_ERR_SYSTEM,
 * XB_ERR_MEMORY. On failure nothing is left to free.
 */
XB_MUST_CHECK enum xb_status xb_link_report_read(const char *path, struct xb_link_file *file,
                                                 struct xb_error *error);
/* The same from memory, with a zero byte behind the text; `path` is for messages only. */
XB_MUST_CHECK enum xb_status xb_link_report_parse(const char *path, const char *text, size_t length,
                                                  struct xb_link_file *file,
                                                  struct xb_error *error);
void xb_link_file_free(struct xb_link_file *file);

#endif
