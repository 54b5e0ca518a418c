/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/options.h"
#include "base/order.h"
#include "base/statistics.h"
#include "machine/node.h"
#include "machine/pcie.h"
#include "xferbench/figure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cJSON;

/* A record: results with the conditions under which they were taken, of one process or of several,
 * from this process (src/measure/run.h) or from a file. All output reads only this. It owns its
 * texts, but those of a run's rows. NULL stands for an unknown text. */

#define XB_RECORD_VERSION 2                        /* of the files that are written and read */
#define XB_RECORD_LARGEST_BYTES ((size_t)64 << 20) /* of a file */
#define XB_RECORD_PROCESSES 100                    /* the most in a file */
#define XB_RUN_DEVICES 64                          /* the most that a process takes */
#define XB_RUN_PAIRS ((size_t)XB_RUN_DEVICES * (XB_RUN_DEVICES - 1)) /* ordered ones of these */
#define XB_RECORD_DIFFERENCE 200 /* room for xb_record_other_condition's text */
#define XB_RESULT_WARNINGS 8     /* the most of a row */
/* The most kinds of warnings of a case. */
#define XB_RECORD_WARNINGS ((size_t)XB_RECORD_PROCESSES * XB_RESULT_WARNINGS)

enum xb_result_status { XB_RESULT_OK, XB_RESULT_SKIPPED, XB_RESULT_ERROR };
/* "ok", "skipped", "error". */
const char *xb_result_status_name(enum xb_result_status status);

/* Whether the data was right. Unknown where nothing was measured. */
enum xb_verified { XB_VERIFIED_UNKNOWN, XB_VERIFIED_TRUE, XB_VERIFIED_FALSE };

/* Why no further sample was taken. */
enum xb_stop_reason {
    XB_STOP_NOT_YET,
    XB_STOP_CONVERGED,  /* enough samples and the median is known well */
    XB_STOP_TIME_LIMIT, /* the time is up; the interval says how well the median is known */
    XB_STOP_FIXED,      /* as many samples as were asked for */
    XB_STOP_DEADLINE,   /* the run's deadline came */
    XB_STOP_INTERRUPTED /* a signal came */
};
/* "converged", "time-limit", "fixed", "deadline", "interrupted". */
const char *xb_stop_reason_name(enum xb_stop_reason reason);

/* How many samples there are of each placement of the host's memory, one behind the other. */
struct xb_record_placements {
    const size_t *samples; /* 1 or more each */
    size_t count;          /* 0 where placements made no difference */
};

/* A figure (figure.h) of one process: measured, or computed from others. */
struct xb_record_figure {
    const char *name, *unit;
    bool more_is_better, gates;
    /* Describes the samples; n is 0 for a median computed from others. NAN is not known. */
    struct xb_statistics statistics;
    const double *samples;                  /* in the order taken */
    size_t sample_count;                    /* 0 also where a file has the statistics only */
    struct xb_record_placements placements; /* of its samples: of the row, where it has as many */
};

/* Something that was noted: a name and what it says. */
struct xb_record_fact {
    const char *name;  /* "hostname", "kernel", "device 0 PCI address", "environment CUDA_HOME" */
    const char *value; /* NULL where it is not known */
    bool is_text;      /* a text as it is; else a number, a flag or a list as JSON */
};

/* The failure behind a row of status error. */
struct xb_record_error {
    bool known;         /* false: there is none */
    const char *status; /* "runtime" */
    int64_t native_code;
    const char *native_name, *call;
    const char *message;
    const char *at; /* "file:line" in the program */
};

/* What came of a case in one process. */
struct xb_record_row {
    bool is_there; /* false: this process has no such row */
    enum xb_result_status status;
    enum xb_verified verified;
    const char *reason;      /* why it was skipped or failed; NULL for none */
    const char *timer;       /* whose clock: "device-event", "host-clock"; NULL: nothing measured */
    const char *stop_reason; /* NULL where nothing was measured */
    /* A signal or the deadline ended it: its figures stand beside no full row's. */
    bool is_cut;
    uint64_t bytes_moved; /* by one iteration; 0 where nothing was measured */
    const double *times;  /* seconds for one iteration, as taken: evidence also if it is not ok */
    size_t time_count;
    struct xb_record_placements placements; /* of these times */
    const struct xb_record_figure *figures; /* none unless it is ok */
    size_t figure_count;
    const char *const *warning_texts;
    size_t warning_count;
    const struct xb_record_fact *details; /* of how it was measured: numbers and texts */
    size_t detail_count;
    struct xb_record_error error;
};

/* A case: what is measured, and one row a process. */
struct xb_record_case {
    const char *mode, *variant, *direction;
    uint64_t bytes;
    int device, peer; /* -1 for none, and for several: see xb_record_is_sum */
    bool latency, simultaneous;
    /* Options of the mode that also identify the case, sorted by name, values as JSON. */
    const struct xb_record_fact *parameters;
    size_t parameter_count;
    struct xb_record_row *rows; /* process_count of them */
};

struct xb_record_device {
    unsigned index;
    const char *name; /* the model */
    const char *uuid, *architecture, *pci_bdf, *driver;
    uint64_t memory_bytes;   /* 0 where it does not answer */
    bool shares_host_memory; /* no copy crosses a link */
    bool link_known;         /* PCIe, the fastest reading: */
    double link_speed_gts, link_max_speed_gts;
    unsigned link_width, link_max_width;
    const char *link_port;
    int link_under_load;       /* it was read while data moved; 0: right after transfers */
    struct xb_ceiling ceiling; /* that nothing is assumed of; a file has no `raw` and `most` */
    const char *ceiling_at;    /* PCI address of the lower end of the link that carries least */
    int numa_node;             /* -1 where none is known */
    bool bound;                /* to that node: threads and memory */
    unsigned cpus;
    const char *numa_note;
    bool numa_is_normal; /* that it was bound, or was not, is as it should be */
    const struct xb_record_fact *facts;
    size_t fact_count;
};

struct xb_record_process {
    const char *failure;              /* what went wrong with it as a whole; NULL for nothing */
    bool has_results;                 /* false: it failed, and says nothing of any case */
    struct xb_record_device *devices; /* as this process saw them */
    size_t device_count;
    bool interrupted;  /* a signal ended it before all was measured */
    bool has_deadline; /* it had one */
    bool deadline_met; /* false: that cut it */
};

struct xb_record_host {
    const char *hostname, *os, *kernel, *cpu_model;
    uint64_t logical_cpus, memory_bytes; /* 0 where not known */
    uint64_t numa_nodes;                 /* 0 where not known */
    const char *node;                    /* its name in the fleet; NULL: not known */
    const char *node_named_by;           /* the variable that named it; NULL: it is the host name */
};

/* When measuring began, and how well this node's clock is kept. */
struct xb_record_start {
    const char *asked;    /* the agreed time, such as "2026-11-23T06:40:00.000000Z"; NULL: none */
    const char *by;       /* the option: "start-at"; in early files also "barrier"; NULL: none */
    const char *began;    /* NULL: it did not, or it is not known */
    double late_s;        /* how long after the agreed time; NAN: no time was agreed */
    bool clock_known;     /* false: the next two are not known */
    bool synchronised;    /* chronyd or the like kept the clock */
    double clock_error_s; /* the clock's largest possible error; NAN: not known */
};

struct xb_record {
    const char *path;                  /* as the user named it; NULL for no file */
    const char *version;               /* of the xferbench that measured */
    const char *compiler, *build_type; /* that it was made with */
    const char *left_out;              /* libraries that it lacks: "hwloc, liblz4"; NULL: none */
    const char *timestamp;             /* when it was written; NULL: not yet */
    struct xb_record_host host;
    struct xb_launcher launcher;
    struct xb_record_start start;
    const char *backend;                    /* its name */
    const char *driver;                     /* version; NULL where there is none */
    const char *runtime;                    /* version */
    const char *library, *library_named_by; /* xb_probe's runtime_library and runtime_override */
    bool is_merged;                         /* of several processes in one file */
    const char *role;        /* of a merged one: "baseline", "candidate"; NULL for neither */
    const char *program;     /* that was run; NULL where the file does not say */
    const char *counterpart; /* the other role's program */
    bool interrupted, has_deadline, deadline_met; /* of the run as a whole */
    size_t asked_processes;                       /* how many there should be */
    struct xb_record_process *processes;
    size_t process_count;
    struct xb_record_fact *options; /* every option in effect: its long name, its value as JSON */
    size_t option_count;
    const struct xb_record_fact *environment; /* variables that steer the runtimes */
    size_t environment_count;
    struct xb_record_fact *facts; /* the rest of the conditions, in a fixed order */
    size_t fact_count;
    struct xb_record_case *cases; /* in the order in which they were measured */
    size_t case_count;
    const struct xb_record_case **index; /* the same, sorted for xb_record_find */
    const struct xb_record_case *
        *by_size;           /* the same, from the largest down, else in their order */
    struct xb_arena *texts; /* where all of it lies but the two lists above */
    /* Results of a run that is over, which the record owns. NULL: none. */
    void *measured;
    void (*release)(void *measured);
};

/* A loop over a record's cases, in their order. */
#define XB_EACH_CASE(test, record) XB_EACH (test, (record)->cases, (record)->case_count)

/* Reads a regular file of at most XB_RECORD_LARGEST_BYTES. XB_ERR_USAGE names the file and the
 * place of what is wrong: not JSON (line and column), of another program or a newer version, a key
 * twice, an impossible number. XB_ERR_SYSTEM, XB_ERR_MEMORY. On failure nothing is left to free. */
enum xb_status xb_record_read(const char *path, struct xb_record *record, struct xb_error *error);
/* Reads a record from memory; `path` is for messages only. */
enum xb_status xb_record_parse(const char *path, const char *text, size_t length,
                               struct xb_record *record, struct xb_error *error);
/* Reads a record from a tree of xb_json_read() and keeps nothing of the tree. */
enum xb_status xb_record_of_tree(const char *path, const struct cJSON *tree,
                                 struct xb_record *record, struct xb_error *error);
/* Fills in only the options, as a result file has them. Keeps nothing of the configuration. */
void xb_record_of_config(const struct xb_config *config, struct xb_record *record);
/* Fills in the defaults of these rows, which end with NULL, as if none were given. */
enum xb_status xb_record_of_defaults(const struct xb_option *const *rows, struct xb_record *record,
                                     struct xb_error *error);
void xb_record_free(struct xb_record *record); /* accepts a zeroed one */

/* The fact of that name; NULL for none. */
const struct xb_record_fact *xb_record_fact_find(const struct xb_record_fact *facts, size_t count,
                                                 const char *name);
/* The detail of that name; NULL for none. */
const struct xb_record_fact *xb_record_detail_find(const struct xb_record_row *row,
                                                   const char *name);
/* What a fact says: its text, or NULL; its number, or NAN. `fact` may be NULL. */
const char *xb_record_fact_text(const struct xb_record_fact *fact);
double xb_record_fact_number(const struct xb_record_fact *fact);
/* The option of that name; NULL for none, and where `record` is NULL. */
const struct xb_record_fact *xb_record_option(const struct xb_record *record, const char *name);

/* Finds the case of `record` that is the same as `test`, perhaps of another record; or NULL. */
const struct xb_record_case *xb_record_find(const struct xb_record *record,
                                            const struct xb_record_case *test);

/* Whether a case is meant by `what`. */
typedef bool xb_record_case_test(const struct xb_record_case *test, const void *what);

/* Drops every case that `keeps` rejects. Pointers to cases no longer hold. */
void xb_record_keep(struct xb_record *record, xb_record_case_test *keeps, const void *what);

/* Some of a record's cases. */
struct xb_record_cases {
    const struct xb_record_case *const *cases;
    size_t count;
};

/* Returns the cases of that size, in their order. */
struct xb_record_cases xb_record_of_size(const struct xb_record *record, uint64_t bytes);

typedef int xb_cases_comparison(const struct xb_record_case *a, const struct xb_record_case *b,
                                const void *argument);

/* Puts equal cases side by side, in the order of the first of each, else in theirs; in n log n. */
void xb_cases_group(const struct xb_record_case **cases, size_t count, xb_cases_comparison *compare,
                    const void *argument);
/* Counts how many from the first on are equal to it: 1 or more. */
size_t xb_cases_equal(const struct xb_record_case *const *cases, size_t count,
                      xb_cases_comparison *compare, const void *argument);

/* Whether two texts of records are the same. NULL is a value too: not known. */
bool xb_record_same(const char *a, const char *b);

/* Finds the condition that keeps figures of two records from being combined: backend, options (but
 * a deadline's rest), machine, devices by index. Writes to `text`, and NULL for none: "device 0 is
 * another one (NVIDIA H200, then NVIDIA B200)". */
const char *xb_record_other_condition(const struct xb_record *first, const struct xb_record *other,
                                      char *text, size_t size);

/* What all processes with results say of a case; one without its row counts as having skipped
 * it. */
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
/* Returns why the worst process is not ok, or NULL; "process 1 has no such row" in `text`. */
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

/* Lists the kinds of warnings of all processes in their order, XB_RECORD_WARNINGS at most. */
size_t xb_record_warnings(const struct xb_record *record, const struct xb_record_case *test,
                          struct xb_record_warning *warnings);

/* Whether two warnings differ in figures only: they agree up to a number or a colon. */
bool xb_record_like_warnings(const char *a, const char *b);

/* Whether a row's figures stand beside others: it is ok, and was not cut short. */
bool xb_record_row_counts(const struct xb_record_row *row);

/* Lists the medians of a figure of the processes whose row counts; returns how many there are. */
size_t xb_record_medians(const struct xb_record *record, const struct xb_record_case *test,
                         const char *figure, double *values);

/* The parameter of a case of pairs that ran at the same time (xb_group_name). */
#define XB_RECORD_GROUP "group"
/* Those of transfers that ran at the same time: all of the set, and of each which it is. */
#define XB_RECORD_SET "set"
#define XB_RECORD_TRANSFER "transfer"
/* The parameter that names the NUMA node of a case's host memory; else that is near the device. */
#define XB_RECORD_NUMA "numa"

/* The NUMA node that was named for the case's host memory; -1: near the device, or no number. */
int xb_record_case_node(const struct xb_record_case *test);

/* Whether it is the sum of cases that ran at the same time: of devices (it has neither device nor
 * peer), or of pairs (it has the device that they have in common, if any). */
bool xb_record_is_sum(const struct xb_record_case *test);

/* Returns a case's parameter as JSON, a number or the word of a text; "" for none. */
const char *xb_record_parameter(const struct xb_record_case *test, const char *name);

/* "0", "0>1" for a pair, "sum" of all devices, "0>all" and "all>0" of pairs from or to one,
 * "all>all" of all. */
const char *xb_record_case_device(const struct xb_record_case *test, char *text, size_t size);

/* ---- what tables and Reading show: of one process its own, of several over their medians ---- */

/* The row's figure of that name; NULL for none. */
const struct xb_record_figure *xb_record_row_figure(const struct xb_record_row *row,
                                                    const char *name);

/* Describes a figure of a case: as the one process of a record described it; for a merged record by
 * the medians of the processes whose row is ok and was not cut short. False: there is none, as of
 * no case (NULL). */
bool xb_record_describe(const struct xb_record *record, const struct xb_record_case *test,
                        const char *figure, struct xb_statistics *statistics);

/* Its median; NAN where there is none. */
double xb_record_median(const struct xb_record *record, const struct xb_record_case *test,
                        const char *figure);

/* Returns the devices as the first process with results saw them; *count is 0 for none. */
const struct xb_record_device *xb_record_devices(const struct xb_record *record, size_t *count);
/* Returns the device of that index; NULL for none. */
const struct xb_record_device *xb_record_device(const struct xb_record *record, int index);
