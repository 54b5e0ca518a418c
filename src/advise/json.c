/* SPDX-License-Identifier: Apache-2.0 */
/* The advice as JSON: docs/advise.schema.json. */
#include "report.h"

#include "base/json_write.h"
#include "xferbench/version.h"

#include <math.h>

static void put_job(struct xb_json *json, const struct xb_job *job)
{
    xb_json_open_object(json, "job");
    xb_json_put_whole(json, "in_bytes", job->in);
    xb_json_put_whole(json, "out_bytes", job->out);
    xb_json_put_number(json, "gpu_time_s", job->gpu_time);
    xb_json_put_known_number(json, "cpu_time_s", job->cpu_time > 0, job->cpu_time);
    xb_json_put_whole(json, "times", job->times);
    xb_json_put_text(json, "memory",
                     xb_memory_words[job->is_in_pinned ? XB_MEMORY_WORD_PINNED : 0]);
    xb_json_close(json);
}

static void put_source(struct xb_json *json, const struct xb_advice_report *report)
{
    const struct xb_record *record = report->record;
    const struct xb_record_device *device = xb_record_device(record, report->device);
    xb_json_open_object(json, "source");
    xb_json_put_text(json, "file", report->file);
    xb_json_put_text(json, "hostname", record->host.hostname);
    xb_json_put_text(json, "backend", record->backend);
    xb_json_put_index(json, "device", report->device);
    xb_json_put_text(json, "device_name", device != NULL ? device->name : NULL);
    xb_json_close(json);
}

/* ---- a prediction ---- */

static void put_known(struct xb_json *json, const struct xb_advice_report *report,
                      const struct xb_prediction *one)
{
    xb_json_put_number(json, "seconds", one->total[XB_MIDDLE]);
    xb_json_put_known_number(json, "seconds_low", xb_prediction_has_ends(one), one->total[XB_LOW]);
    xb_json_put_known_number(json, "seconds_high", xb_prediction_has_ends(one),
                             one->total[XB_HIGH]);
    xb_json_put_number(json, "running_s", one->running[XB_MIDDLE]);
    xb_json_put_number(json, "copy_in_s", one->in);
    xb_json_put_number(json, "kernel_s", one->kernel);
    xb_json_put_number(json, "copy_out_s", one->out);
    xb_json_put_number(json, "pinning_s", one->pinning[XB_MIDDLE]);
    xb_json_put_known_flag(json, "copied_into_pinned", one->pinning[XB_MIDDLE] > 0, one->is_copied);
    xb_json_put_known_whole(json, "chunk_bytes", one->chunk > 0, one->chunk);
    xb_json_put_text(json, "limit", xb_limit_name(one->limit));
    xb_json_put_number(json, "limit_s", one->limit_seconds);
    xb_json_open_array(json, "rests_on");
    for (size_t i = 0; i < one->use_count; i++) {
        struct xb_words words = {.length = 0};
        const struct xb_cost_use *use = &one->uses[i];
        xb_cost_basis(&report->costs->costs[use->kind], use->bytes, &words);
        xb_json_put_text(json, NULL, words.text);
    }
    xb_json_close(json);
    xb_json_put_flag(json, "has_both_ways", one->uses_both_ways);
}

static void put_measured(struct xb_json *json, const struct xb_advice_report *report,
                         const struct xb_prediction *one)
{
    const struct xb_record_case *test = xb_advice_checked(report, one->strategy);
    double measured = xb_advice_measured(report, one->strategy);
    if (test == NULL) {
        xb_json_put_null(json, "measured");
        return;
    }
    xb_json_open_object(json, "measured");
    xb_json_put_number(json, "seconds", measured);
    xb_json_put_known_number(json, "predicted_by_measured",
                             one->running[XB_MIDDLE] > 0 && isfinite(measured),
                             one->running[XB_MIDDLE] / measured);
    xb_json_put_number(json, "copy_in_s", xb_record_median(report->check, test, "in_time"));
    xb_json_put_number(json, "kernel_s", xb_record_median(report->check, test, "kernel_time"));
    xb_json_put_number(json, "copy_out_s", xb_record_median(report->check, test, "out_time"));
    xb_json_close(json);
}

static void put_prediction(struct xb_json *json, const struct xb_advice_report *report,
                           const struct xb_prediction *one)
{
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "strategy", xb_strategy_words[one->strategy].name);
    xb_json_put_flag(json, "known", one->is_known);
    if (one->is_known) {
        put_known(json, report, one);
    } else {
        struct xb_words words = {.length = 0};
        xb_advice_say_missing(one, &words);
        if (one->why == XB_UNKNOWN_ROWS) {
            xb_words_add(&words, ". Measure them: ");
            xb_advice_say_command(&report->predictions->job, &words);
        }
        xb_json_put_text(json, "missing", words.text);
    }
    put_measured(json, report, one);
    xb_json_close(json);
}

/* ---- the whole ---- */

static void put_break_even(struct xb_json *json, const struct xb_break_even *found)
{
    if (!found->is_known) {
        xb_json_put_null(json, "break_even");
        return;
    }
    xb_json_open_object(json, "break_even");
    xb_json_put_flag(json, "gpu_wins_somewhere", found->wins);
    xb_json_put_known_number(json, "from_in_bytes", found->has_from, found->from);
    xb_json_put_known_number(json, "to_in_bytes", found->has_to, found->to);
    xb_json_put_known_number(json, "least_looked_at_bytes", !found->has_from, found->least);
    xb_json_put_known_number(json, "most_looked_at_bytes", !found->has_to, found->most);
    xb_json_close(json);
}

enum xb_status xb_advice_json_write(FILE *stream, const struct xb_advice_report *report,
                                    struct xb_error *error)
{
    const struct xb_predictions *all = report->predictions;
    const enum xb_worth worth = xb_advice_judge(all);
    struct xb_words advice = {.length = 0};
    struct xb_json json;
    xb_json_begin(&json);
    xb_advice_say(all, &advice);
    xb_json_open_object(&json, NULL);
    xb_json_put_text(&json, "schema", "xferbench.advise");
    xb_json_put_whole(&json, "schema_version", 1);
    xb_json_put_text(&json, "version", XB_VERSION);
    put_source(&json, report);
    put_job(&json, &all->job);
    xb_json_put_text(&json, "gpu_is_worth_it",
                     worth == XB_WORTH_UNKNOWN || !(all->job.cpu_time > 0) ? NULL
                     : worth == XB_WORTH_YES                               ? "yes"
                                                                           : "no");
    xb_json_put_text(&json, "advice", advice.text);
    xb_json_put_text(&json, "best",
                     all->best != NULL ? xb_strategy_words[all->best->strategy].name : NULL);
    put_break_even(&json, &report->break_even);
    xb_json_open_array(&json, "strategies");
    for (int i = 0; i < XB_STRATEGIES; i++)
        if (xb_strategy_is_asked(&all->job, (enum xb_strategy)i))
            put_prediction(&json, report, &all->each[i]);
    xb_json_close(&json);
    xb_json_close(&json);
    return xb_json_finish(&json, stream, "the JSON", error);
}
