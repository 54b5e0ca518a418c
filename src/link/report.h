/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_REPORT_H
#define XFERBENCH_LINK_REPORT_H

#include "base/json_fields.h"
#include "machine/start.h"
#include "peers.h"
#include "verdict.h"
#include "xferbench/options.h"

#include <stdbool.h>
#include <stdio.h>

/*
 * What `xferbench link` found, and the formats in which it is told. Everything is borrowed; the
 * arrays have an element for each of the device_count devices and may be NULL where there is none.
 */
struct xb_link_report {
    const char *version; /* of the xferbench that measured */
    const char *backend; /* its name; NULL where none could be opened */
    struct xb_probe probe;
    const char *command; /* as the user called it; may be NULL */
    const struct xb_link_device *devices;
    size_t device_count;
    const struct xb_verdict *verdicts;
    const struct xb_link_pair *pairs; /* of these devices */
    size_t pair_count;
    const struct xb_pair_verdict *pair_verdicts;
    const char *no_pairs; /* why no pair was tested; "" or NULL where pairs were, or there are
                             fewer than two devices */
    enum xb_level level;  /* of the node */
    char nothing[512];    /* why no device could be tested; "" otherwise */
    unsigned attempts_allowed;
    double deadline;              /* seconds for the whole test */
    double elapsed;               /* seconds that it took; 0: not known */
    bool cut;                     /* the deadline came before all was done */
    bool verbose;                 /* the table tells all of each device and pair */
    const char *node, *hostname;  /* NULL where not known */
    const struct xb_start *start; /* how it began; NULL: not known */
    const struct xb_config *config;
};

/*
 * Each writes the whole report and flushes. XB_ERR_SYSTEM if it could not be written, XB_ERR_MEMORY
 * from JSON only. Texts that came from outside (a driver's words, a device's name) cannot break any
 * of the formats.
 */

/* For people: the verdict, a row a GPU, a sentence on all pairs; then everything that is known of
 * those that are not OK, or of all if the report is verbose. */
XB_MUST_CHECK enum xb_status xb_link_table_write(FILE *stream, const struct xb_link_report *report,
                                                 struct xb_error *error);

/*
 * For Nagios and Icinga: one line of ASCII without quotes, and the performance data behind a bar
 * (Monitoring Plugins Development Guidelines, "Performance data"). Bandwidths in 10^9 bytes per
 * second: the guidelines have no such unit, so the label says it.
 */
XB_MUST_CHECK enum xb_status xb_link_nagios_write(FILE *stream, const struct xb_link_report *report,
                                                  struct xb_error *error);

/* For LBNL NHC, which knows good and bad: nothing for OK, one line of codes for anything else,
 * WARNING and UNKNOWN included. */
XB_MUST_CHECK enum xb_status xb_link_nhc_write(FILE *stream, const struct xb_link_report *report,
                                               struct xb_error *error);

/* For the textfile collector of Prometheus' node_exporter. What is not known has no sample. */
XB_MUST_CHECK enum xb_status
xb_link_prometheus_write(FILE *stream, const struct xb_link_report *report, struct xb_error *error);

/* JSON after docs/link.schema.json, whose members these tables bind to their places. */
extern const struct xb_field xb_link_report_fields[];  /* struct xb_link_report */
extern const struct xb_field xb_link_backend_fields[]; /* its backend and probe */
extern const struct xb_field xb_link_info_fields[];    /* struct xb_device_info */
extern const struct xb_field xb_link_device_fields[];  /* struct xb_link_device: what was tried */
extern const struct xb_field xb_link_verdict_fields[]; /* struct xb_verdict, but what counts */
extern const struct xb_field xb_link_finding_fields[]; /* struct xb_findings */
extern const struct xb_field xb_link_pair_fields[];    /* struct xb_link_pair: what was tried */
extern const struct xb_field xb_link_pair_verdict_fields[]; /* struct xb_pair_verdict, the same */
XB_MUST_CHECK enum xb_status xb_link_json_write(FILE *stream, const struct xb_link_report *report,
                                                struct xb_error *error);
/* The same in one line. */
XB_MUST_CHECK enum xb_status
xb_link_json_line_write(FILE *stream, const struct xb_link_report *report, struct xb_error *error);

/* The rows of the options of `xferbench link`. */
const struct xb_option *const *xb_link_rows(void);

/*
 * Limits by model of GPU and link, from a JSON file: docs/limits.schema.json is its form,
 * docs/link.md its meaning.
 */
struct xb_limits_file;

/*
 * Reads the file, a regular one or a pipe, of at most 1 MiB; waits for the writer of a pipe.
 * XB_ERR_USAGE names the file, the entry and the key of whatever is not as it has to be;
 * XB_ERR_SYSTEM, XB_ERR_MEMORY. *file is untouched on failure.
 */
XB_MUST_CHECK enum xb_status xb_limits_file_open(const char *path, struct xb_limits_file **file,
                                                 struct xb_error *error);
void xb_limits_file_close(struct xb_limits_file *file); /* NULL is accepted */

/*
 * Finds the first entry for a device of that name whose link was of that generation and width under
 * load (0: not known, which no entry matches that names one), and sets those of *limits that are
 * not set yet. False if there is no such entry, or `file` is NULL.
 */
bool xb_limits_file_match(const struct xb_limits_file *file, const char *name, unsigned generation,
                          unsigned width, struct xb_link_limits *limits);

#endif
