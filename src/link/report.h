/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_fields.h"
#include "base/options.h"
#include "base/terminal.h"
#include "machine/environment.h"
#include "machine/node.h"
#include "verdict_soak.h"

#include <stdbool.h>
#include <stdio.h>

/* What `xferbench link` found. Everything is borrowed; the arrays may be NULL where there is none.
 */
struct xb_link_report {
    const char *version; /* of the xferbench that measured */
    const char *backend; /* its name; NULL where none could be opened */
    struct xb_probe probe;
    struct xb_platform platform;
    const char *command; /* as the user called it; may be NULL */
    struct xb_link_device *devices;
    struct xb_verdict *verdicts; /* on each device */
    size_t device_count;
    struct xb_link_pair *pairs; /* of these devices */
    struct xb_pair_verdict *pair_verdicts;
    size_t pair_count;
    const char *no_pairs; /* why no pair was tested; "" or NULL where pairs were, or there are
                             fewer than two devices */
    const struct xb_link_soak *soak; /* between two tests; NULL: there was one test alone */
    enum xb_level level;             /* of the node */
    char nothing[512];               /* why no device could be tested; "" otherwise */
    unsigned attempts_allowed;
    double deadline;                       /* seconds for the whole test */
    double elapsed;                        /* seconds that it took; 0: not known */
    bool cut;                              /* the deadline came before all was done */
    bool verbose;                          /* the table tells all of each device and pair */
    bool in_a_line;                        /* the JSON is one line */
    const char *node, *hostname;           /* NULL where not known */
    const char *written, *kernel;          /* the same; the first of a file alone */
    struct xb_link_then {                  /* the file of --baseline */
        bool known;                        /* there is one */
        const char *path, *written, *node; /* NULL where not known */
        const char *changes; /* "driver 570.1, now 580.2": what else is not as it was; or NULL */
    } then;
    const struct xb_link_report *baseline; /* that file; NULL: none, and of a file */
    const struct xb_start *start;          /* how it began; NULL: not known */
    const struct xb_config *config;
};

/* Judges all of a node: every device by the limits that its verdict has already, whether it has
 * fewer NVLinks than another of its name, and every pair, also by pairs like it. The level is that
 * of the worst; UNKNOWN without a device. */
void xb_verdict_of_node(struct xb_link_report *node);

/* Each format writes the whole report and flushes. XB_ERR_SYSTEM if it could not be written. Texts
 * that came from outside (a driver's words, a device's name) cannot break any of them. */
typedef enum xb_status xb_link_writer(FILE *stream, const struct xb_link_report *report,
                                      struct xb_error *error);

/* For people: the verdict, a row a GPU, a sentence on all pairs; then everything that is known of
 * those that are not OK, or of all if the report is verbose. */
xb_link_writer xb_link_table_write;

/* For Nagios and Icinga: one line of ASCII without quotes, and performance data (Monitoring Plugins
 * Development Guidelines). They have no unit for a bandwidth, so its label says GBps. */
xb_link_writer xb_link_nagios_write;

/* For LBNL NHC, which knows good and bad: nothing for OK, one line of codes for anything else. */
xb_link_writer xb_link_nhc_write;

/* For the textfile collector of Prometheus' node_exporter. What is not known has no sample. */
xb_link_writer xb_link_prometheus_write;

/* JSON after docs/link.schema.json, whose members these tables bind to their places. */
extern const struct xb_field xb_link_report_fields[];  /* struct xb_link_report */
extern const struct xb_field xb_link_backend_fields[]; /* its backend and probe */
extern const struct xb_field xb_link_info_fields[];    /* struct xb_device_info */
extern const struct xb_field xb_link_device_fields[];  /* struct xb_link_device: what was tried */
extern const struct xb_field xb_link_verdict_fields[]; /* struct xb_verdict, but what counts */
extern const struct xb_field xb_link_finding_fields[]; /* struct xb_findings */
extern const struct xb_field xb_link_pair_fields[];    /* struct xb_link_pair: what was tried */
extern const struct xb_field xb_link_pair_verdict_fields[]; /* struct xb_pair_verdict, the same */
extern const struct xb_field xb_link_soak_fields[];         /* struct xb_link_soak */
xb_link_writer xb_link_json_write;

/* The rows of the options of `xferbench link`. */
extern const struct xb_option *const xb_link_rows[];

/* Limits by model of GPU and link, from a JSON file (docs/limits.schema.json, docs/link.md). */
struct xb_limits_file;

/* Reads the file, or a pipe, of at most 1 MiB. XB_ERR_USAGE names the file, the entry and the key
 * of what is wrong; XB_ERR_SYSTEM. *file is untouched on failure. */
enum xb_status xb_limits_file_open(const char *path, struct xb_limits_file **file,
                                   struct xb_error *error);
void xb_limits_file_close(struct xb_limits_file *file); /* NULL is accepted */

/* Finds the first entry for a device of that name whose link was such under load (0: not known),
 * and sets those of *limits that are not set yet. False for no such entry, and for no file. */
bool xb_limits_file_match(const struct xb_limits_file *file, const char *name, unsigned generation,
                          unsigned width, struct xb_link_limits *limits);

/* ---- what the node was when it was accepted: --baseline ---- */

struct xb_link_file;
struct xb_link_session;

/* XB_ERR_USAGE if it is another node's: it has another name, and none of the session's GPUs. */
enum xb_status xb_baseline_check(const struct xb_link_session *session, struct xb_error *error);
/* Adds the GPUs that are no longer there to the session's, if that is of all. */
void xb_baseline_add_missing(struct xb_link_session *session);
/* Finds what a device was: the one at its PCI address, or else itself elsewhere. NULL: no file. */
void xb_baseline_find(const struct xb_link_report *baseline, const struct xb_device_info *info,
                      struct xb_link_was *was);
/* Bytes per second from the one to the other; 0 where not known. */
double xb_baseline_of_pair(const struct xb_link_report *baseline, const struct xb_device_info *from,
                           const struct xb_device_info *to);
/* Fills now->then, which borrows from both. */
void xb_baseline_tell(struct xb_link_report *now, const char *path, struct xb_link_file *baseline);

/* ---- what the formats write alike ---- */

/* "Gen5 x16"; "48 GT/s x16" for a rate that is no generation; "-" where either is not known. */
const char *xb_link_lanes_text(struct xb_lanes lanes, char *text, size_t size);
/* The same in memory that lasts as long as the block in which it stands. */
#define XB_LINK_LANES(lanes) xb_link_lanes_text((lanes), (char[64]){0}, 64)

/* "394.6 to 394.8", in GB/s with so many decimals; one number where both are the same. */
#define XB_LINK_RANGE(low, high, decimals)                                                         \
    xb_link_range_text((low), (high), (decimals), (char[72]){0})
const char *xb_link_range_text(double low, double high, int decimals, char text[72]);

/* What a verdict is on: a GPU, or a pair, whose source is the GPU. */
struct xb_link_subject {
    const struct xb_device_info *gpu, *peer; /* `peer` is NULL of a GPU */
    const struct xb_findings *found;
    const struct xb_verdict *verdict;   /* NULL of a pair */
    const struct xb_pair_verdict *pair; /* NULL of a GPU */
    struct xb_link_copies {
        const char *direction; /* "h2d", "d2h"; NULL of a pair */
        const struct xb_link_direction *copies;
        double ceiling;   /* 0 where not known */
    } ways[XB_LINK_WAYS]; /* a pair has one: `copies` of the other is NULL */
};

/* All GPUs of a report, then all pairs. */
size_t xb_link_subjects(const struct xb_link_report *report);
struct xb_link_subject xb_link_subject_at(const struct xb_link_report *report, size_t index);

/* How many GPUs are not OK, and how many pairs. */
size_t xb_link_count_bad(const struct xb_link_report *report, size_t *pairs);

/* "XB-LINK-WIDTH: x8 slots of this board (GPU 0, 1: x8 of x16 at 0000:0f:00.0)": what was accepted,
 * and why, with what was seen of the first. False: nothing was. */
bool xb_link_accepted_text(const struct xb_link_report *report, struct xb_words *words);

#define XB_LINK_LABEL 9 /* how wide the table's labels are */

/* Prints all that is known of a GPU. */
void xb_link_table_device(FILE *stream, const struct xb_link_device *device,
                          const struct xb_verdict *verdict);
/* Prints what the soak of each GPU came to, and what changed; nothing where there was none. */
void xb_link_table_soak(FILE *stream, const struct xb_link_report *report);
/* A row of that table, or without ranges its titles: "54.1-55.2 ...". Returns it. */
#define XB_SOAK_ROW 72
/* "30 s", "3 min", "12 h", in memory that lasts as long as the block in which it stands. */
#define XB_SOAK_TIME(seconds) xb_soak_time((seconds), (char[24]){0})
const char *xb_soak_time(double seconds, char text[24]);
const char *xb_soak_row(const struct xb_soak_range *ranges, char row[XB_SOAK_ROW]);

/* ---- what `xferbench link --json` wrote, read back ---- */

/* A report from a file. The formats write what they wrote when it was made, but for JSON:
 * environment, options, launcher and the devices' facts are not kept. Levels, reasons and limits
 * are the file's: nobody judges again. Facts are found again from the attempts. */
struct xb_link_file {
    struct xb_link_report report;
    struct xb_arena *texts; /* has all that it borrows */
};

/* Reads it from a tree of xb_json_read(), which stays the caller's; `path` is for messages only.
 * XB_ERR_USAGE names the file and the place of whatever is wrong; keys that this version does not
 * know are passed over. On failure nothing is left to free. */
enum xb_status xb_link_report_of_tree(const char *path, const struct cJSON *root,
                                      struct xb_link_file *file, struct xb_error *error);
void xb_link_file_free(struct xb_link_file *file);
