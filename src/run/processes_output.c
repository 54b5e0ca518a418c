/* SPDX-License-Identifier: Apache-2.0 */
#include "processes_internal.h"

#include "base/json_write.h"
#include "base/plain_text.h"
#include "base/stream.h"
#include "cli/file_name.h"
#include "formats.h"
#include "xferbench/version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum xb_status xb_processes_open_outputs(struct session *session, struct xb_error *error)
{
    for (size_t i = 0; i < session->side_count; i++) {
        struct side *side = &session->sides[i];
        if (side->to.path == NULL)
            continue;
        enum xb_status status =
            xb_cli_find_output(side->to.option, side->to.path, &side->output, error);
        if (status != XB_OK)
            return status;
    }
    const struct xb_cli_place places[] = {
        {.option = session->sides[CANDIDATE].to.option,
         .output = &session->sides[CANDIDATE].output},
        {.option = "--baseline-json", .output = &session->sides[BASELINE].output},
        {.option = "--interleave", .input = session->sides[BASELINE].path}};
    enum xb_status status =
        xb_cli_open_places(places, sizeof places / sizeof places[0], session->deadline, error);
    if (status == XB_OK && session->sides[CANDIDATE].to.is_line)
        xb_output_unbuffer(&session->sides[CANDIDATE].output);
    return status;
}

static bool say(const struct xb_error *error)
{
    xb_cli_fail(error);
    return false;
}

/* Writes the merged document, to be freed. Says why there is none, and returns false. */
static bool write_document(const struct side *side, struct xb_memory_text *document)
{
    struct xb_error error;
    enum xb_status status = XB_OK;
    if (xb_memory_text_begin(document) != NULL)
        status = xb_processes_json_write(document->stream, &side->set,
                                         side->to.is_line ? xb_json_finish_line : xb_json_finish,
                                         &error);
    if (xb_memory_text_end(document, "the results", &error) != XB_OK)
        status = XB_ERR_MEMORY;
    return status == XB_OK || say(&error);
}

static bool write_file(struct side *side, const char *text, size_t length)
{
    struct xb_error error;
    FILE *stream = side->output.stream;
    if (stream == NULL)
        return true;
    enum xb_status status = fwrite(text, 1, length, stream) != length || fflush(stream) != 0
                                ? xb_output_fail(&side->output, "write", errno, &error)
                                : xb_output_commit(&side->output, &error);
    return status == XB_OK || say(&error);
}

/* The record of processes without what they measured: why some have no results. */
static enum xb_status outline(const struct xb_processes *set, struct xb_record *record,
                              struct xb_error *error)
{
    *record = (struct xb_record){.is_merged = true,
                                 .version = XB_VERSION,
                                 .role = set->role,
                                 .program = set->program,
                                 .counterpart = set->counterpart,
                                 .interrupted = set->interrupted,
                                 .has_deadline = set->has_deadline,
                                 .deadline_met = set->deadline_met,
                                 .asked_processes = set->asked,
                                 .processes = calloc(set->count + 1, sizeof *record->processes)};
    if (record->processes == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the results");
    for (size_t i = 0; i < set->count; i++)
        record->processes[record->process_count++].failure =
            set->processes[i].failure[0] != '\0' ? set->processes[i].failure : NULL;
    return XB_OK;
}

/* Prints the table of what was written, read back: a file that cannot be read is then told now, and
 * not when it is needed. */
static bool print_table(const struct side *side, const char *text, size_t length)
{
    struct xb_record merged = {0};
    struct xb_error error;
    enum xb_status status = xb_processes_first(&side->set) != NULL
                                ? xb_record_parse("the results", text, length, &merged, &error)
                                : outline(&side->set, &merged, &error);
    if (status == XB_OK)
        status = xb_table_write(stdout, &merged, &error);
    xb_record_free(&merged);
    return status == XB_OK || say(&error);
}

/* Says which processes failed and why, where no table does. */
static bool say_failures(const struct xb_processes *set)
{
    struct xb_record record;
    struct xb_error error;
    if (outline(set, &record, &error) != XB_OK)
        return say(&error);
    xb_failures_say(&record);
    xb_record_free(&record);
    return true;
}

bool xb_processes_write_outputs(struct session *session)
{
    bool quiet = xb_config_get(session->config, "quiet")->flag;
    bool written = true;
    for (size_t i = 0; i < session->side_count; i++)
        quiet = quiet || session->sides[i].output.is_stdout;
    for (size_t i = session->side_count; i-- > 0;) { /* the baseline first */
        struct side *side = &session->sides[i];
        struct xb_memory_text document = {.text = NULL};
        bool is_there = write_document(side, &document);
        written = is_there && write_file(side, document.text, document.length) && written;
        if (quiet)
            written = say_failures(&side->set) && written;
        else if (is_there)
            written = print_table(side, document.text, document.length) && written;
        if (!quiet && i > 0)
            fputc('\n', stdout);
        free(document.text);
    }
    return written;
}
