/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RECORD_KIND_H
#define XFERBENCH_RECORD_KIND_H

struct cJSON;

/* Which of the program's commands wrote a JSON file. Whoever reads the file checks the rest of it.
 */
enum xb_document_kind {
    XB_DOCUMENT_RESULT,    /* run --json */
    XB_DOCUMENT_PROCESSES, /* run --processes --json */
    XB_DOCUMENT_LINK,      /* link --json */
    XB_DOCUMENT_COMPARE,   /* compare --format json */
    XB_DOCUMENT_LIST,      /* list --json */
    XB_DOCUMENT_ADVISE,    /* advise --json */
    XB_DOCUMENT_FLEET,     /* fleet --format json */
    XB_DOCUMENT_TRACE,     /* run --trace */
    XB_DOCUMENT_FOREIGN    /* not a file of xferbench, or one that others than its user read */
};

/* `root` may be NULL. */
enum xb_document_kind xb_document_kind_of(const struct cJSON *root);

/* "result", "several processes", "link test", "comparison", ... Static text. */
const char *xb_document_kind_name(enum xb_document_kind kind);

#endif
