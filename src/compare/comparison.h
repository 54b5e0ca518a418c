/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/record.h"
#include "record/rows.h"

#include <stdio.h>

#define XB_COMPARISON_VERSION 2 /* of the JSON */

/* Did anything get slower from a baseline to a candidate? The unit is the median of a fresh
 * process: samples within a process say nothing of how processes differ (docs/compare.md). */

enum xb_outcome {
    XB_OUTCOME_PASS,         /* not worse by the threshold or more */
    XB_OUTCOME_IMPROVED,     /* better by the threshold or more */
    XB_OUTCOME_INCONCLUSIVE, /* the data does not say */
    XB_OUTCOME_REGRESSION,   /* worse by the threshold or more; or no longer works */
};

/* "PASS", "IMPROVED", "INCONCLUSIVE", "REGRESSION". */
const char *xb_outcome_name(enum xb_outcome outcome);

/* Where a case stands. */
enum xb_presence { XB_IN_BOTH, XB_ONLY_IN_BASELINE, XB_ONLY_IN_CANDIDATE };

/* How a verdict came about. */
enum xb_basis {
    XB_BASIS_TEST,       /* the rank test over processes */
    XB_BASIS_INDICATIVE, /* too few processes for it: threshold and intervals only */
    XB_BASIS_STATUS,     /* the candidate failed, was skipped, or is not there */
    XB_BASIS_NONE,       /* there is nothing to judge: not measured in the baseline either */
};

/* One figure of one case in both files. */
struct xb_compared {
    const struct xb_record_case *test; /* the candidate's, or the baseline's where it has none */
    struct xb_figure figure;           /* its texts are a record's */
    double threshold;                  /* a share: how much worse is a regression */
    bool gates;                        /* counts for the overall verdict */
    bool same_settings;                /* those that matter for it; else judged only by force */
    enum xb_basis basis;
    enum xb_outcome outcome;  /* for XB_BASIS_INDICATIVE what it looks like; meaningless for NONE */
    struct xb_compared_side { /* the case in one of the files */
        bool is_there;
        size_t processes; /* that have the figure */
        double median;    /* of the processes' medians; NAN without any */
    } baseline, candidate;
    bool has_ratio; /* both sides have a figure */
    double ratio;   /* candidate by baseline: Hodges-Lehmann over processes */
    bool has_interval;
    double low, high;  /* of the ratio */
    double confidence; /* two-sided, of that interval: 0.98 for alpha 0.01; 0 where it is of samples
                          within single processes and none can be told */
    double p_regression; /* one-sided, adjusted by Holm where it gates; 1 where there is no test */
    double p_improved;
    double p_pass;    /* one-sided, as it is: that all gating cases pass is claimed only together */
    bool cannot_pass; /* both sides failed in some processes: figures can show a regression only */
    bool fails_more;  /* of those: in a larger share of the candidate's, which may be chance */
    char note[512];   /* why, where it is not the figures: "" for none */
};

static inline enum xb_presence xb_presence_of(const struct xb_compared *compared)
{
    return !compared->baseline.is_there    ? XB_ONLY_IN_CANDIDATE
           : !compared->candidate.is_there ? XB_ONLY_IN_BASELINE
                                           : XB_IN_BOTH;
}

/* The processes of the side that has fewer. */
static inline size_t xb_compared_processes(const struct xb_compared *compared)
{
    size_t before = compared->baseline.processes, after = compared->candidate.processes;
    return before < after ? before : after;
}

/* One condition that is not the same in both files. */
struct xb_difference {
    const char *name;                 /* "GPU model of device 0", "option --chunk", "hostname" */
    const char *baseline, *candidate; /* NULL: not known, or not there */
    bool forbids;                     /* the files cannot be compared */
    bool of_rows;                     /* the rows of some modes cannot be compared */
    bool of_stack; /* driver, runtime or kernel: what people exchange to see what it does */
};

/* Such a figure of such cases counts for the overall verdict, or has a threshold of its own. */
struct xb_gate {
    const char *mode;      /* NULL for every one */
    const char *direction; /* NULL for every one */
    uint64_t least, most;  /* bytes, both included; most 0: no limit */
    const char *figure;    /* NULL for every one that gates by itself; for every one's threshold */
    double share;          /* of a threshold: how much worse is a regression */
};

/* Zero-initialise; release with xb_gates_free. */
struct xb_gates {
    struct xb_gate *items;
    size_t count; /* of gates 0: every figure that gates by itself */
    char *words;  /* where their texts lie */
};

struct xb_comparison_request {
    double threshold;           /* a share: 0.02 */
    struct xb_gates thresholds; /* of some cases another one: the last that fits; borrowed */
    double alpha;               /* of a false REGRESSION among all that gate */
    struct xb_gates gates;      /* a figure gates if it passes any of them; borrowed */
    bool force;                 /* compare what is not comparable */
    bool strict;                /* another driver, runtime or kernel forbids it */
    /* Borrowed; NULL: not known. The default options (xb_record_of_defaults), for a file that lacks
     * one, and the rows of the options of `run` and of every mode. */
    const struct xb_record *defaults;
    const struct xb_option *const *rows;
};

struct xb_comparison {
    const char *version;                          /* of the xferbench that compared */
    const struct xb_record *baseline, *candidate; /* borrowed */
    struct xb_comparison_request request;
    struct xb_difference *differences; /* those that forbid first */
    size_t difference_count;
    bool comparable;           /* no difference forbids it */
    struct xb_compared *cases; /* empty where it is not comparable and not forced */
    size_t case_count;
    struct xb_parameters parameters; /* those that tell these cases apart */
    /* Whether any, and whether all that gate, were measured with other settings. Kept, because a
     * part of the cases may be shown. */
    bool any_differs, none_comparable;
    size_t gating_count;     /* of those, how many tests share alpha */
    size_t processes_needed; /* a side, for so many gating tests; 0: there is no such number */
    size_t idle_gate;        /* from 1: one of request.gates that judges no case; 0 for none */
    enum xb_outcome overall;
    char reason[512]; /* the overall verdict in a sentence */
    char next[512];   /* what to do where nothing is decided; "" for nothing */
    struct xb_arena *texts;
};

/* Reads "MODE[/DIRECTION[/SIZE[/FIGURE]]]", a list with commas in which each part may be '*' and
 * SIZE a range 64M..1G, both included. XB_ERR_USAGE; then nothing is left to free. */
enum xb_status xb_gates_parse(const char *text, struct xb_gates *gates, struct xb_error *error);
void xb_gates_free(struct xb_gates *gates);
/* Whether any of the gates names the case, whatever figure. */
bool xb_gates_name(const struct xb_gates *gates, const struct xb_record_case *test);

/* Reads "2%", "pinned=1%,managed/h2d=10%" or both in one list: a share for what nothing else takes,
 * which stays as it is without one, or one for the cases of a gate. A share is a percentage, or a
 * number up to 0.1, because "0.5" could mean 0.5 % and 50 %. NULL for `share`: the text is a list
 * of gates. XB_ERR_USAGE; then nothing is left to free. */
enum xb_status xb_thresholds_parse(const char *text, double *share, struct xb_gates *list,
                                   struct xb_error *error);

/* Compares two records, which must outlive *comparison. That they are not comparable is no failure.
 * XB_ERR_USAGE for a gate that no case of either file passes. */
enum xb_status xb_compare(const struct xb_record *baseline, const struct xb_record *candidate,
                          const struct xb_comparison_request *request,
                          struct xb_comparison *comparison, struct xb_error *error);
void xb_comparison_free(struct xb_comparison *comparison); /* also a zeroed one */

/* Whether it is a row that was not compared because its settings differ. */
bool xb_compared_is_apart(const struct xb_comparison *comparison,
                          const struct xb_compared *compared);
/* Whether nothing that gates could be compared, for a condition that forbids it or because each row
 * differs in a setting, and nobody forced it. */
bool xb_comparison_is_refused(const struct xb_comparison *comparison);

/* What `xferbench compare` ends with: 0 PASS or IMPROVED, 1 REGRESSION, 3 INCONCLUSIVE, 4 refused.
 * 2 is left to errors of usage. */
int xb_comparison_exit_code(const struct xb_comparison *comparison);

/* ---- where it goes: one writer a format; XB_ERR_SYSTEM ---- */

/* For people, in lines of at most so many columns; `is_verbose`: all that is known. */
enum xb_status xb_compare_table_write(FILE *stream, const struct xb_comparison *comparison,
                                      size_t columns, bool is_verbose, struct xb_error *error);

typedef enum xb_status xb_compare_writer(FILE *stream, const struct xb_comparison *comparison,
                                         struct xb_error *error);
/* After docs/compare.schema.json. */
xb_compare_writer xb_compare_json_write;
/* GitHub-flavoured Markdown, for step summaries and merge requests. */
xb_compare_writer xb_compare_markdown_write;
/* Workflow commands of GitHub Actions: ::error, ::warning and ::notice. */
xb_compare_writer xb_compare_github_write;
/* JUnit XML; the figures stand in a failure's body, which is what GitLab shows. */
xb_compare_writer xb_compare_junit_write;
/* The candidate's figures for github-action-benchmark's customBiggerIsBetter. */
xb_compare_writer xb_compare_benchmark_action_write;

/* ---- what `xferbench compare --format json` wrote, read back ---- */

/* A comparison from a file, with everything that it borrows. The table says what it said when the
 * files were compared; nobody judges again. The records hold only what the table tells of them, and
 * have no cases. The texts of verdicts are plain ASCII. */
struct xb_comparison_file {
    struct xb_comparison comparison;
    struct xb_record baseline, candidate;
    struct xb_arena *memory; /* where all of it lies */
};

/* Reads it from a tree of xb_json_read(), which stays the caller's; `path` is for messages only.
 * XB_ERR_USAGE names the file and the place of whatever is wrong; keys that this version does not
 * know are passed over. On failure nothing is left to free. */
enum xb_status xb_comparison_of_tree(const char *path, const struct cJSON *root,
                                     struct xb_comparison_file *file, struct xb_error *error);
void xb_comparison_file_free(struct xb_comparison_file *file);
