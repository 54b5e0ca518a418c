/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RECORD_H
#define XFERBENCH_RECORD_H

#include "xferbench/options.h"
#include "xferbench/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A record: results read back from a file that xferbench wrote, of one process
 * (docs/result.schema.json) or of several (docs/processes.schema.json). Every text belongs to the
 * record.
 */

#define XB_RECORD_LARGEST_BYTES ((size_t)64 << 20) /* of a file */
#define XB_RECORD_PROCESSES 100                    /* the most in a file */
#define XB_RECORD_DIFFERENCE 200                   /* room for xb_record_other_condition's text */
/* The most kinds of warnings of a case. */
#define XB_RECORD_WARNINGS ((size_t)XB_RECORD_PROCESSES * XB_RESULT_WARNINGS)

/* What is compared of a case. */
enum xb_metric {
    XB_METRIC_BANDWIDTH,      /* bytes per second: more is better */
    XB_METRIC_HOST_LATENCY,   /* p50 by the host's clock, in seconds: less is better */
    XB_METRIC_DEVICE_LATENCY, /* p50 by the device's clock, in seconds: less is better */
    XB_METRICS
};

/* "bandwidth", "host latency", "device latency". */
const char *xb_metric_name(enum xb_metric metric);
bool xb_metric_more_is_better(enum xb_metric metric);

/* What one process has of one metric. */
struct xb_record_value {
    bool is_set;
    double median;
    bool has_interval; /* of the median, within the process; 95 % */
    double low, high;
};

/* What came of a case in one process. */
struct xb_record_row {
    bool is_there; /* false: this process has no such row */
    enum xb_result_status status;
    enum xb_verified verified;
    const char *reason; /* why it was skipped or failed; NULL for none */
    const char *timer;  /* whose clock has the figures: "device-event"; NULL where there are none */
    /* A signal or the deadline ended it: what there was until then stands beside no full row, and
     * the values are not set. */
    bool is_cut;
    const struct cJSON *warnings; /* for xb_record_warnings; NULL for none */
    struct xb_record_value values[XB_METRICS];
};

/* A case: what is measured, and one row a process. */
struct xb_record_case {
    const char *mode, *variant, *direction;
    uint64_t bytes;
    int device, peer; /* -1 for none: of a sum, of a case without a peer */
    bool latency, simultaneous;
    struct xb_record_row *rows; /* process_count of them */
};

/* Something that holds for the whole record: a name and what it says. */
struct xb_record_fact {
    const char *name;  /* "hostname", "kernel", "device 0 PCI address", "environment CUDA_HOME" */
    const char *value; /* NULL where it is not known */
};

struct xb_record_device {
    unsigned index;
    const char *name; /* the model */
    bool link_known;
    double link_speed_gts;
    unsigned link_width;
};

struct xb_record_process {
    const char *failure;              /* why it has no results; NULL where it has some */
    bool has_results;                 /* false: it failed, and says nothing of any case */
    struct xb_record_device *devices; /* as this process saw them */
    size_t device_count;
    bool interrupted;  /* a signal ended it before all was measured */
    bool deadline_met; /* false: its deadline did */
};

struct xb_record {
    char *path;             /* as the user named it */
    const char *backend;    /* its name */
    const char *driver;     /* version; NULL where there is none */
    bool is_merged;         /* of several processes in one file */
    size_t asked_processes; /* how many there should be */
    struct xb_record_process *processes;
    size_t process_count;
    struct xb_record_fact *options; /* every option in effect: its long name, its value as JSON */
    size_t option_count;
    struct xb_record_fact *facts; /* the rest of the conditions, in a fixed order */
    size_t fact_count;
    struct xb_record_case *cases; /* in the order in which they were measured */
    size_t case_count;
    const struct xb_record_case **index; /* the same, sorted for xb_record_find */
    struct cJSON *tree;                  /* where the texts lie: the file's, */
    struct xb_arena *texts;              /* and those made from it */
};

/*
 * Reads a regular file of at most XB_RECORD_LARGEST_BYTES; `-`, pipes and devices are refused. Does
 * not block. XB_ERR_USAGE names the file and the place of whatever is wrong: not JSON (line and
 * column), another program's or a newer form, a key twice, a number that no run can give, a file
 * that changed meanwhile. XB_ERR_SYSTEM, XB_ERR_MEMORY. On failure nothing is left to free.
 */
XB_MUST_CHECK enum xb_status xb_record_read(const char *path, struct xb_record *record,
                                            struct xb_error *error);
/* The same from memory; `path` is for messages only. */
XB_MUST_CHECK enum xb_status xb_record_parse(const char *path, const char *text, size_t length,
                                             struct xb_record *record, struct xb_error *error);
/* The options of a configuration, in the form in which a result file has them; nothing else is in
 * the record. XB_ERR_MEMORY. The record keeps nothing of *config. */
XB_MUST_CHECK enum xb_status xb_record_of_config(const struct xb_config *config,
                                                 struct xb_record *record, struct xb_error *error);
void xb_record_free(struct xb_record *record); /* accepts a zeroed one */

/* The case of `record` that is the same as `test`, which may be another record's; NULL for none. */
const struct xb_record_case *xb_record_find(const struct xb_record *record,
                                            const struct xb_record_case *test);

/*
 * What differs in that under which two records were measured, so that their figures cannot be taken
 * together: backend, options (but for what is left of a deadline), the machine, and per index the
 * device, which one may also lack. "device 0 is another one (NVIDIA H200, then NVIDIA B200)" in
 * `text`, which has room for XB_RECORD_DIFFERENCE; NULL for nothing.
 */
const char *xb_record_other_condition(const struct xb_record *first, const struct xb_record *other,
                                      char *text, size_t size);

/*
 * What all processes together say of a case. One that failed says nothing; one that has results,
 * but no such row, has it skipped.
 */
struct xb_record_summary {
    enum xb_result_status status; /* the worst */
    enum xb_verified verified;    /* false where one is, true where all are */
    size_t processes;             /* that have results */
    size_t ok;                    /* of those */
    size_t cut;                   /* of those that are ok, and do not count */
    size_t worst;                 /* the first process whose status is `status` */
};

struct xb_record_summary xb_record_summarize(const struct xb_record *record,
                                             const struct xb_record_case *test);

#define XB_RECORD_REASON 64
/* Why it is not ok, of the process that is worst; NULL where it is ok. `text` (XB_RECORD_REASON) is
 * for a row that is not there: "process 1 has no such row". */
const char *xb_record_reason(const struct xb_record_case *test,
                             const struct xb_record_summary *summary, char *text, size_t size);

#define XB_RECORD_CUT 512
/* "cut short in process 3: not counted"; NULL where no row that is ok was cut short. */
const char *xb_record_cut_text(const struct xb_record *record, const struct xb_record_case *test,
                               char *text, size_t size);

/* A warning, and how many processes have it or one like it. */
struct xb_record_warning {
    const char *text; /* of the first of them */
    size_t processes;
    size_t last; /* the last of them */
};

/* Those of all processes, in the order of their first; returns how many kinds. `warnings` has room
 * for XB_RECORD_WARNINGS. */
size_t xb_record_warnings(const struct xb_record *record, const struct xb_record_case *test,
                          struct xb_record_warning *warnings);

/* Whether two warnings say the same of other figures: up to a number or a colon they agree. */
bool xb_record_like_warnings(const char *a, const char *b);

/*
 * The medians of those processes that measured it, in their order; returns how many. `values` holds
 * process_count.
 */
size_t xb_record_medians(const struct xb_record *record, const struct xb_record_case *test,
                         enum xb_metric metric, double *values);

/* "0", "0>1" for a pair, "sum" where it is of all devices. */
const char *xb_record_case_device(const struct xb_record_case *test, char *text, size_t size);

#endif
