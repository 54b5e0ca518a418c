/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "run/deadline.h"
#include "run/progress.h"
#include "run/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WORDS 32

/* With plan_only nothing is measured: the record then tells of the machine. */
static enum xb_status run_words(struct xb_advise_session *session, const char *const *words,
                                bool plan_only, struct xb_record *record, struct xb_error *error)
{
    const struct xb_run *holder = &session->holder;
    struct xb_progress progress;
    const struct xb_run_observer observer = {.progress = xb_progress_show, .argument = &progress};
    struct xb_config config;
    struct xb_run run = {.backend = holder->backend,
                         .driver = holder->driver,
                         .probe = holder->probe,
                         .deadline = holder->deadline};
    const char *argv[WORDS] = {"advise",   "--backend",     holder->backend->name,
                               "--device", session->device, "--quiet"};
    int count = 6;
    for (; *words != NULL && count < WORDS - 1; words++)
        argv[count++] = *words;
    argv[count] = NULL;
    XB_TRY(xb_config_parse(xb_run_rows(), count, (char **)argv, &config, error));
    run.asked = xb_run_options_of(&config);
    xb_deadline_doing("measuring");
    enum xb_status status = xb_plan(&run, error);
    if (status == XB_OK && !plan_only) {
        xb_progress_start(&progress, true);
        status = xb_run_execute(&run, &observer, error);
        xb_progress_clear(&progress);
    }
    xb_deadline_doing(NULL);
    if (status == XB_OK && run.interrupted)
        status = XB_FAIL(error, XB_ERR_STOPPED, "a signal ended the measurement");
    if (status == XB_OK)
        status = xb_record_take_run(&run, record, error);
    session->is_cut = session->is_cut || (status == XB_OK && !plan_only && !run.deadline_met);
    run.driver = NULL; /* the session's, for the next run */
    xb_run_free(&run);
    xb_config_free(&config);
    return status;
}

/* ---- what predictions need ---- */

/* Larger copies than this are predicted by its rate: a quick measurement is to be quick. */
#define LARGEST (UINT64_C(512) << 20)

/* What smaller jobs, chunks and waiting take; and larger jobs, where the break-even is asked. */
static const uint64_t usual[] = {UINT64_C(4) << 10, UINT64_C(256) << 10, UINT64_C(8) << 20,
                                 UINT64_C(64) << 20};

enum xb_status xb_advise_measure(struct xb_advise_session *session, const struct xb_job *job,
                                 struct xb_advice_report *report, struct xb_error *error)
{
    struct xb_words sizes = {.length = 0};
    /* The job's own sizes, and those of the usual ones that are smaller; where somebody asks for
     * the break-even, all of them. The run leaves out what the memory does not hold. */
    uint64_t in = xb_lesser(job->in, LARGEST);
    uint64_t out = xb_lesser(job->out, LARGEST);
    uint64_t most = job->cpu_time > 0 ? UINT64_MAX : in > out ? in : out;
    xb_words_add(&sizes, "%" PRIu64, in);
    if (out > 0 && out != in)
        xb_words_add(&sizes, ",%" PRIu64, out);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (usual[i] < most && usual[i] != in && usual[i] != out)
            xb_words_add(&sizes, ",%" PRIu64, usual[i]);
    const char *words[WORDS] = {"--size", sizes.text, "--time-limit", "30ms"};
    for (size_t i = 0; xb_job_rows_words(job)[i] != NULL; i++)
        words[4 + i] = xb_job_rows_words(job)[i];
    return run_words(session, words, false, &report->record, error);
}

/* ---- the job itself ---- */

/* Refuses to check what was measured elsewhere. */
static enum xb_status compare_machines(const struct xb_advice_report *report,
                                       const struct xb_record *here, struct xb_error *error)
{
    const struct xb_record *file = &report->record;
    int device = report->costs.device;
    const struct xb_record_device *theirs = xb_record_device(file, device);
    const struct xb_record_device *ours = xb_record_device(here, device);
    const char *there = file->host.hostname != NULL ? file->host.hostname : "(not known)";
    if (file->host.hostname == NULL || !xb_record_same(there, here->host.hostname))
        return XB_FAIL(
            error, XB_ERR_USAGE,
            "--check: the file is of the host %.100s, and this is %.100s: check it there", there,
            here->host.hostname != NULL ? here->host.hostname : "(not known)");
    if (!xb_record_same(file->backend, here->backend))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--check: the file is of the backend %.40s, and this is %.40s: take "
                       "--backend %.40s",
                       file->backend != NULL ? file->backend : "(not known)", here->backend,
                       file->backend != NULL ? file->backend : "NAME");
    bool same_name = theirs != NULL && ours != NULL && strcmp(theirs->name, ours->name) == 0;
    bool same_uuid = same_name && (theirs->uuid == NULL || ours->uuid == NULL ||
                                   strcmp(theirs->uuid, ours->uuid) == 0);
    if (!same_uuid)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--check: device %d of the file is another one than device %d here", device,
                       device);
    return XB_OK;
}

enum xb_status xb_advise_check(struct xb_advise_session *session, const char *gpu_time,
                               struct xb_advice_report *report, struct xb_error *error)
{
    const struct xb_job *job = &report->predictions.job;
    uint64_t chunk = report->predictions.each[XB_STRATEGY_OVERLAPPED].chunk;
    char in[32], out[32], piece[32];
    struct xb_words ways = {.length = 0};
    snprintf(in, sizeof in, "%" PRIu64, job->in);
    snprintf(out, sizeof out, "%" PRIu64, job->out);
    snprintf(piece, sizeof piece, "%" PRIu64, chunk > 0 ? chunk : UINT64_C(8) << 20);
    XB_EACH (one, report->predictions.each, XB_STRATEGIES) {
        bool cannot_be = one->why == XB_UNKNOWN_LACKING || one->why == XB_UNKNOWN_IN_PLACE;
        if (xb_strategy_is_asked(job, one->strategy) && (one->is_known || !cannot_be))
            xb_words_add(&ways, "%s%s", ways.length > 0 ? "," : "",
                         xb_strategy_words[one->strategy].name);
    }
    if (ways.length == 0)
        return XB_FAIL(error, XB_ERR_USAGE, "--check: this job can be run in no way here");
    const char *words[] = {"--mode", xb_job_mode, "--size",  in,   "--job-out", out, "--gpu-time",
                           gpu_time, "--way",     ways.text, NULL, piece,       NULL};
    if (strstr(ways.text, xb_strategy_words[XB_STRATEGY_OVERLAPPED].name) != NULL)
        words[10] = "--chunk"; /* no other way takes it */
    if (report->file != NULL) {
        struct xb_record planned = {.path = NULL};
        enum xb_status status = run_words(session, words, true, &planned, error);
        if (status == XB_OK)
            status = compare_machines(report, &planned, error);
        xb_record_free(&planned);
        XB_TRY(status);
    }
    return run_words(session, words, false, &report->check, error);
}
