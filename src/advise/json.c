/* SPDX-License-Identifier: Apache-2.0 */
/* The advice as JSON: docs/advise.schema.json. */
#include "report.h"

#include "xferbench/version.h"

#include <math.h>

typedef struct xb_job job;
const struct xb_field xb_advice_job_fields[] = {
    XB_FIELD("in_bytes", UINT64, job, in),
    XB_FIELD("out_bytes", UINT64, job, out),
    XB_FIELD("gpu_time_s", DOUBLE, job, gpu_time),
    XB_FIELD("cpu_time_s", DOUBLE, job, cpu_time, XB_RATE),
    XB_FIELD("times", UINT64, job, times),
    XB_FIELD("memory", WORD, job, memory, .word = xb_memory_word, .most = XB_JOB_MANAGED),
    XB_FIELDS_END};

typedef struct xb_break_even found;
const struct xb_field xb_advice_break_even_fields[] = {
    XB_FIELD("gpu_wins_somewhere", FLAG, found, wins, XB_KNOWN(found, is_sure)),
    XB_FIELD("from_in_bytes", DOUBLE, found, from.middle, XB_RATE),
    XB_FIELD("from_in_bytes_low", DOUBLE, found, from.low, XB_RATE),
    XB_FIELD("from_in_bytes_high", DOUBLE, found, from.high, XB_RATE),
    XB_FIELD("to_in_bytes", DOUBLE, found, to.middle, XB_RATE),
    XB_FIELD("to_in_bytes_low", DOUBLE, found, to.low, XB_RATE),
    XB_FIELD("to_in_bytes_high", DOUBLE, found, to.high, XB_RATE),
    XB_FIELD("least_looked_at_bytes", DOUBLE, found, least, XB_RATE),
    XB_FIELD("most_looked_at_bytes", DOUBLE, found, most, XB_RATE),
    XB_FIELDS_END};

typedef struct xb_prediction answer;
static const struct xb_field known_fields[] = {
    XB_FIELD("seconds", DOUBLE, answer, total[XB_MIDDLE]),
    XB_FIELD("seconds_low", DOUBLE, answer, total[XB_LOW], XB_KNOWN(answer, has_ends)),
    XB_FIELD("seconds_high", DOUBLE, answer, total[XB_HIGH], XB_KNOWN(answer, has_ends)),
    XB_FIELD("running_s", DOUBLE, answer, running[XB_MIDDLE]),
    XB_FIELD("copy_in_s", DOUBLE, answer, in),
    XB_FIELD("kernel_s", DOUBLE, answer, kernel),
    XB_FIELD("copy_out_s", DOUBLE, answer, out),
    XB_FIELD("pinning_s", DOUBLE, answer, pinning[XB_MIDDLE]),
    XB_FIELD("copied_into_pinned", FLAG, answer, is_copied, XB_KNOWN(answer, has_pinning)),
    XB_FIELD("chunk_bytes", UINT64, answer, chunk, XB_NULL_IF_EMPTY),
    XB_FIELD("limit", WORD, answer, limit, .word = xb_limit_name, .most = XB_LIMIT_PINNING),
    XB_FIELD("limit_s", DOUBLE, answer, limit_seconds),
    XB_FIELDS_END};

typedef struct xb_checked checked;
static const struct xb_field checked_fields[] = {
    XB_FIELD("seconds", DOUBLE, checked, seconds, XB_NULL_IF_NAN),
    XB_FIELD("predicted_by_measured", DOUBLE, checked, share, XB_NULL_IF_NAN),
    XB_FIELD("copy_in_s", DOUBLE, checked, parts[0], XB_NULL_IF_NAN),
    XB_FIELD("kernel_s", DOUBLE, checked, parts[1], XB_NULL_IF_NAN),
    XB_FIELD("copy_out_s", DOUBLE, checked, parts[2], XB_NULL_IF_NAN),
    XB_FIELDS_END};

static void write_prediction(struct xb_json *json, const struct xb_advice_report *report,
                             const struct xb_prediction *one)
{
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "strategy", xb_strategy_words[one->strategy].name);
    xb_json_put_flag(json, "known", one->is_known);
    if (one->is_known) {
        xb_fields_put(json, known_fields, one);
        xb_json_open_array(json, "rests_on");
        XB_EACH (use, one->uses, one->use_count) {
            struct xb_words words = {.length = 0};
            xb_cost_basis(&report->costs.costs[use->kind], use->bytes, &words);
            xb_json_put_text(json, NULL, words.text);
        }
        xb_json_close(json);
        xb_json_put_flag(json, "has_both_ways", one->uses_both_ways);
    } else {
        struct xb_words words = {.length = 0};
        xb_advice_say_missing(one, &words);
        if (one->why == XB_UNKNOWN_ROWS) {
            xb_words_add(&words, ". Measure them: ");
            xb_advice_say_command(&report->predictions.job, &words);
        }
        xb_json_put_text(json, "missing", words.text);
    }
    const struct xb_checked found_by_check = xb_advice_checked(report, one);
    if (found_by_check.test != NULL)
        xb_fields_put_object(json, "measured", checked_fields, &found_by_check);
    else
        xb_json_put_null(json, "measured");
    xb_json_close(json);
}

enum xb_status xb_advice_json_write(FILE *stream, const struct xb_advice_report *report,
                                    struct xb_error *error)
{
    const struct xb_predictions *all = &report->predictions;
    const enum xb_worth worth = xb_advice_judge(all);
    struct xb_words advice = {.length = 0};
    struct xb_json json;
    xb_json_begin(&json);
    xb_advice_say(all, &advice);
    xb_json_open_object(&json, NULL);
    xb_json_put_text(&json, "schema", "xferbench.advise");
    xb_json_put_whole(&json, "schema_version", 1);
    xb_json_put_text(&json, "version", XB_VERSION);
    const struct xb_record *record = &report->record;
    const struct xb_record_device *device = xb_record_device(record, report->costs.device);
    xb_json_open_object(&json, "source");
    xb_json_put_text(&json, "file", report->file);
    xb_json_put_text(&json, "hostname", record->host.hostname);
    xb_json_put_text(&json, "backend", record->backend);
    xb_json_put_index(&json, "device", report->costs.device);
    xb_json_put_text(&json, "device_name", device != NULL ? device->name : NULL);
    xb_json_close(&json);
    xb_fields_put_object(&json, "job", xb_advice_job_fields, &all->job);
    xb_json_put_text(&json, "gpu_is_worth_it",
                     worth == XB_WORTH_UNKNOWN || !(all->job.cpu_time > 0) ? NULL
                     : worth == XB_WORTH_YES                               ? "yes"
                                                                           : "no");
    xb_json_put_text(&json, "advice", advice.text);
    xb_json_put_text(&json, "best",
                     all->best != NULL ? xb_strategy_words[all->best->strategy].name : NULL);
    if (report->break_even.is_known)
        xb_fields_put_object(&json, "break_even", xb_advice_break_even_fields, &report->break_even);
    else
        xb_json_put_null(&json, "break_even");
    xb_json_open_array(&json, "strategies");
    for (int i = 0; i < XB_STRATEGIES; i++)
        if (xb_strategy_is_asked(&all->job, (enum xb_strategy)i))
            write_prediction(&json, report, &all->each[i]);
    xb_json_close(&json);
    xb_json_close(&json);
    return xb_json_finish(&json, stream, "the JSON", error);
}
