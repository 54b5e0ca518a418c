/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "processes_internal.h"

#include "../core/plain_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum xb_status xb_processes_open_outputs(struct session *session, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < session->side_count; i++) {
        struct side *side = &session->sides[i];
        const struct xb_value *file = xb_config_get(session->config, side->to);
        if (file->is_set)
            status = xb_output_find(&side->output, file->text, error);
    }
    const struct xb_place places[] = {
        {.option = "--json", .output = &session->sides[CANDIDATE].output},
        {.option = "--baseline-json", .output = &session->sides[BASELINE].output},
        {.option = "--interleave", .input = session->sides[BASELINE].path}};
    if (status == XB_OK)
        status =
            xb_cli_open_places(places, sizeof places / sizeof places[0], session->deadline, error);
    return status;
}

static bool say(const struct xb_error *error)
{
    xb_cli_fail(error);
    return false;
}

/* The merged document as text; NULL and an error said where there is none. */
static char *document_of(const struct side *side, size_t *length)
{
    struct xb_error error;
    char *text = NULL;
    FILE *stream = open_memstream(&text, length);
    enum xb_status status =
        stream != NULL ? xb_processes_json_write(stream, &side->set, &error)
                       : XB_FAIL(&error, XB_ERR_MEMORY, "not enough memory for the results");
    if (stream != NULL && fclose(stream) != 0 && status == XB_OK)
        status = XB_FAIL(&error, XB_ERR_MEMORY, "not enough memory for the results");
    if (status == XB_OK)
        return text;
    say(&error);
    free(text);
    return NULL;
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

/* Read back, so that what a reader cannot read is no news of tomorrow. */
static bool print_table(const struct side *side, const char *text, size_t length)
{
    struct xb_record merged = {0};
    struct xb_error error;
    bool any = xb_processes_first(&side->set) != NULL;
    enum xb_status status =
        any ? xb_record_parse("the results", text, length, &merged, &error) : XB_OK;
    if (status == XB_OK)
        status = xb_processes_table_write(stdout, &side->set, any ? &merged : NULL, &error);
    xb_record_free(&merged);
    return status == XB_OK || say(&error);
}

/* Which processes failed and why, for where no table tells. Cases that failed they told themselves.
 */
static void say_failures(const struct xb_processes *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->processes[i].failure[0] != '\0')
            xb_say("%s%sprocess %zu of %zu: %s", set->role != NULL ? set->role : "",
                   set->role != NULL ? " " : "", i + 1, set->asked, set->processes[i].failure);
}

bool xb_processes_write_outputs(struct session *session)
{
    bool quiet = xb_config_get(session->config, "quiet")->flag;
    bool written = true;
    for (size_t i = 0; i < session->side_count; i++)
        quiet = quiet || session->sides[i].output.is_stdout;
    for (size_t i = session->side_count; i-- > 0;) { /* the baseline first */
        struct side *side = &session->sides[i];
        size_t length = 0;
        char *text = document_of(side, &length);
        written = text != NULL && write_file(side, text, length) && written;
        if (quiet)
            say_failures(&side->set);
        else if (text != NULL)
            written = print_table(side, text, length) && written;
        if (!quiet && i > 0)
            fputc('\n', stdout);
        free(text);
    }
    return written;
}
