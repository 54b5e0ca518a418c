/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_READ_H
#define XFERBENCH_LINK_READ_H

#include "report.h"

struct cJSON;

/* What `xferbench link --json` wrote, read back (docs/link.schema.json). */

/*
 * A report from a file, with everything that it borrows. The formats write about it what they wrote
 * when it was made. JSON is the exception: environment, options and the devices' facts are not
 * kept, and only the names of the host. report.start says when it began; report.probe has the
 * versions of driver and runtime.
 *
 * Levels, reasons and limits are the file's: nobody judges again. Facts are found again from the
 * attempts. verdicts[].limits has no min_h2d and min_d2h; what follows from them is in h2d and d2h.
 */
struct xb_link_file {
    struct xb_link_report report;
    const char *hostname;      /* NULL where not known */
    const char *node;          /* its name in the fleet; NULL where it was not asked for */
    const char *node_named_by; /* the variable that named it; NULL: it is the host name */
    int64_t rank;              /* among those that a launcher started; -1: none told */
    uint64_t ranks;            /* how many there are; 0: not told */
    const char *timestamp;     /* when it was written: ISO 8601, UTC */
    struct xb_link_device *devices;
    struct xb_verdict *verdicts;
    struct xb_link_pair *pairs;
    struct xb_pair_verdict *pair_verdicts;
    struct xb_arena *texts; /* has all of these too */
};

/* Reads a text, with a zero byte behind it, of the file at `path`, which is for messages only.
 * XB_ERR_USAGE names the file and the place of whatever is wrong; keys that this version does not
 * know are passed over. XB_ERR_MEMORY. On failure nothing is left to free. */
XB_MUST_CHECK enum xb_status xb_link_report_parse(const char *path, const char *text, size_t length,
                                                  struct xb_link_file *file,
                                                  struct xb_error *error);
/* The same from a tree of xb_json_read(), which stays the caller's. */
XB_MUST_CHECK enum xb_status xb_link_report_of_tree(const char *path, const struct cJSON *tree,
                                                    struct xb_link_file *file,
                                                    struct xb_error *error);
void xb_link_file_free(struct xb_link_file *file);

#endif
