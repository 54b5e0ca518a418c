/* SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"

#include "record/document.h"
#include "record/fields.h"
#include "record/of_conditions.h"
#include "report.h"

/* The verdict on a device or a pair, but for its own members. */
static void open_verdict(struct xb_json *json, const struct xb_findings *found, bool has_attempt,
                         size_t best)
{
    xb_json_open_object(json, "verdict");
    xb_fields_put(json, xb_link_finding_fields, found);
    xb_json_put_known_whole(json, "attempt", has_attempt, best);
}

static enum xb_status write_as(FILE *stream, const struct xb_link_report *report,
                               xb_json_finisher *finish, struct xb_error *error)
{
    const struct xb_conditions conditions = {.config = report->config,
                                             .backend = report->backend,
                                             .probe = &report->probe,
                                             .start = report->start};
    struct xb_record node;
    struct xb_json json;
    enum xb_status status = xb_record_of_conditions(&conditions, &node, error);
    if (status != XB_OK)
        return status;
    xb_json_begin(&json);
    xb_json_open_object(&json, NULL);
    xb_document_put_schema(&json, "xferbench.link", 1);
    xb_json_put_optional(&json, "command", report->command);
    xb_fields_put(&json, xb_record_node_fields, &node);
    xb_fields_put(&json, xb_record_start_fields, &node);
    xb_fields_put(&json, xb_record_backend_fields, &node);
    xb_fields_put(&json, xb_link_report_fields, report);
    xb_json_put_known_number(&json, "elapsed_s", report->elapsed > 0, report->elapsed);
    xb_json_open_array(&json, "devices");
    for (size_t i = 0; i < report->device_count; i++) {
        const struct xb_link_device *device = &report->devices[i];
        const struct xb_verdict *verdict = &report->verdicts[i];
        xb_json_open_object(&json, NULL);
        xb_fields_put(&json, xb_link_info_fields, &device->info);
        xb_document_put_facts(&json, "facts", &device->info);
        xb_json_put_flag(&json, "cut", device->cut);
        open_verdict(&json, &verdict->found, xb_verdict_attempt(verdict, device) != NULL,
                     verdict->best);
        xb_json_put_known_whole(&json, "bottleneck", verdict->bottleneck < verdict->facts.hop_count,
                                verdict->bottleneck);
        xb_fields_put(&json, xb_link_verdict_fields, verdict);
        xb_json_close(&json);
        xb_fields_put(&json, xb_link_device_fields, device);
        xb_json_close(&json);
    }
    xb_json_close(&json);
    xb_json_put_optional(&json, "pairs_not_tested", report->no_pairs);
    xb_json_open_array(&json, "pairs");
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct xb_link_pair *pair = &report->pairs[i];
        const struct xb_pair_verdict *verdict = &report->pair_verdicts[i];
        xb_json_open_object(&json, NULL);
        xb_json_put_whole(&json, "from", report->devices[pair->from].info.index);
        xb_json_put_whole(&json, "to", report->devices[pair->to].info.index);
        xb_json_put_flag(&json, "cut", pair->cut);
        open_verdict(&json, &verdict->found, xb_pair_verdict_attempt(verdict, pair) != NULL,
                     verdict->best);
        xb_fields_put(&json, xb_link_pair_verdict_fields, verdict);
        xb_json_close(&json);
        xb_fields_put(&json, xb_link_pair_fields, pair);
        xb_json_close(&json);
    }
    xb_json_close(&json);
    xb_fields_put(&json, xb_record_settings_fields, &node);
    xb_json_close(&json);
    xb_record_free(&node);
    return finish(&json, stream, "the JSON", error);
}

enum xb_status xb_link_json_write(FILE *stream, const struct xb_link_report *report,
                                  struct xb_error *error)
{
    return write_as(stream, report, xb_json_finish, error);
}

enum xb_status xb_link_json_line_write(FILE *stream, const struct xb_link_report *report,
                                       struct xb_error *error)
{
    return write_as(stream, report, xb_json_finish_line, error);
}
