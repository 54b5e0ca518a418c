/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_fields.h"
#include "measure/run.h"
#include "predict.h"

/* What was found, for whoever writes it. */
struct xb_advice_report {
    const char *file;        /* NULL: measured now */
    struct xb_record record; /* of the file, or of what was measured */
    struct xb_costs costs;   /* of the device that counts */
    struct xb_predictions predictions;
    struct xb_break_even break_even;
    struct xb_record check;    /* of the job itself; without processes: not asked, or not run */
    const char *check_failure; /* why it was not run; NULL: it was, or was not asked */
};

enum xb_worth {
    XB_WORTH_YES = 0,    /* the GPU is faster, even at the high end of a way; or nobody asked */
    XB_WORTH_NO = 1,     /* the CPU is as fast or faster than the low end of every way */
    XB_WORTH_UNKNOWN = 3 /* what is known does not decide it */
};
enum xb_worth xb_advice_judge(const struct xb_predictions *predictions);

/* The answer in one or two sentences. */
void xb_advice_say(const struct xb_predictions *predictions, struct xb_words *words);
/* "copy in", "kernel" */
const char *xb_limit_name(int limit); /* of enum xb_limit_by */
/* Why there is no prediction. */
void xb_advice_say_missing(const struct xb_prediction *prediction, struct xb_words *words);
/* The command that measures all that predictions of the job need, into one file. */
void xb_advice_say_command(const struct xb_job *job, struct xb_words *words);

/* Where GPU and CPU take as long. */
void xb_advice_say_break_even(const struct xb_break_even *found, struct xb_words *words);

/* What the check tells of a way; NAN for what it does not. */
struct xb_checked {
    const struct xb_record_case *test; /* NULL: it was not run */
    double seconds;                    /* of one job */
    double share;                      /* what was predicted, by that */
    double parts[3];                   /* copy in, kernel, copy out: each alone */
};
struct xb_checked xb_advice_checked(const struct xb_advice_report *report,
                                    const struct xb_prediction *one);
/* Adds that the kernel of the check took another time than it was asked to; nothing where it took
 * the same within 5 %, or there was none. */
void xb_advice_say_kernel(double asked, double measured, struct xb_words *words);

enum xb_status xb_advice_table_write(FILE *stream, const struct xb_advice_report *report,
                                     struct xb_error *error);
/* docs/advise.schema.json: what was asked (struct xb_job), and struct xb_break_even. */
extern const struct xb_field xb_advice_job_fields[], xb_advice_break_even_fields[];
enum xb_status xb_advice_json_write(FILE *stream, const struct xb_advice_report *report,
                                    struct xb_error *error);

/* Words of --code. */
enum xb_code_for { XB_CODE_NONE, XB_CODE_CUDA, XB_CODE_HIP, XB_CODE_PYTORCH };
/* Their texts in src/advise/code, as they stand there. */
extern const char xb_program_gpu[], xb_program_pytorch[];
/* Prints a program that does the job in the best way: with the memory, chunk, streams and threads
 * that were measured, and the time that was predicted. Where there is none it says so. */
enum xb_status xb_advice_code_write(FILE *stream, const struct xb_advice_report *report,
                                    enum xb_code_for code, struct xb_error *error);

/* What advice has measured in this process. */
struct xb_advise_session {
    struct xb_run holder; /* the backend, its driver as long as it is open, and the deadline */
    char device[64];      /* a word of --device */
    bool is_cut;          /* the deadline came before all was measured */
};

/* Measures what predictions of the job need into the report's record. */
enum xb_status xb_advise_measure(struct xb_advise_session *session, const struct xb_job *job,
                                 struct xb_advice_report *report, struct xb_error *error);

/* Runs the job itself, by every strategy that the job's mode knows, in chunks as predicted. The
 * machine and device have to be those of the report's file, if there is one: XB_ERR_USAGE where
 * they are others, before anything is measured. */
enum xb_status xb_advise_check(struct xb_advise_session *session, const char *gpu_time,
                               struct xb_advice_report *report, struct xb_error *error);
