/* SPDX-License-Identifier: Apache-2.0 */
#include "formats.h"

#include "base/terminal.h"
#include "base/text.h"
#include "cli/command.h"

#include <stdlib.h>

enum xb_status xb_timelines_begin(struct xb_timelines *timelines, const struct xb_run *run,
                                  struct xb_output *output, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    timelines->output = output;
    timelines->has_begun = true;
    pthread_mutex_init(&timelines->lock, NULL);
    if (output->stream != NULL)
        status = xb_chrome_begin(&timelines->chrome, output->stream, error);
    if (status == XB_OK && run->asked.timeline)
        (void)xb_memory_text_begin(&timelines->drawn);
    return status;
}

void xb_timelines_take(struct xb_timelines *timelines, const struct xb_run *run)
{
    struct xb_error *failure = &timelines->failure;
    pthread_mutex_lock(&timelines->lock);
    for (; timelines->taken < run->done_count; timelines->taken++) {
        struct xb_result *result = &run->results[timelines->taken];
        bool shows = result->timeline != NULL && result->row.status == XB_RESULT_OK &&
                     !timelines->has_failed;
        enum xb_status status = XB_OK;
        if (shows && timelines->output->stream != NULL)
            status = xb_chrome_add(&timelines->chrome, result, failure);
        if (shows && status == XB_OK && timelines->drawn.stream != NULL)
            status = xb_timeline_print(timelines->drawn.stream, xb_terminal_columns(stdout), result,
                                       failure);
        timelines->has_failed = timelines->has_failed || status != XB_OK;
        xb_result_drop_timeline(result);
    }
    pthread_mutex_unlock(&timelines->lock);
}

/* With the lock held. */
static enum xb_status end(struct xb_timelines *timelines, const struct xb_run *run,
                          struct xb_error *error)
{
    if (timelines->has_failed) {
        *error = timelines->failure;
        return error->status;
    }
    enum xb_status status = XB_OK;
    if (timelines->output->stream != NULL)
        status = xb_chrome_end(&timelines->chrome, run, error);
    if (status == XB_OK && timelines->output->stream != NULL)
        status = xb_output_commit(timelines->output, error);
    if (status != XB_OK || timelines->drawn.stream == NULL)
        return status;
    xb_memory_text_end(&timelines->drawn);
    fwrite(timelines->drawn.text, 1, timelines->drawn.length, stdout);
    return xb_stream_finish(stdout, "the timelines", error);
}

bool xb_timelines_end(struct xb_timelines *timelines, const struct xb_run *run)
{
    struct xb_error error;
    /* Whoever holds the lock now is stuck in the middle of writing: such a file is no trace. */
    if (pthread_mutex_trylock(&timelines->lock) != 0) {
        xb_say("the timelines were not written: writing them does not end");
        return false;
    }
    bool is_written = end(timelines, run, &error) == XB_OK;
    if (!is_written)
        xb_cli_fail(&error);
    pthread_mutex_unlock(&timelines->lock);
    return is_written;
}

void xb_timelines_free(struct xb_timelines *timelines)
{
    if (!timelines->has_begun)
        return;
    xb_chrome_free(&timelines->chrome);
    if (timelines->drawn.stream != NULL)
        fclose(timelines->drawn.stream);
    free(timelines->drawn.text);
    pthread_mutex_destroy(&timelines->lock);
    *timelines = (struct xb_timelines){.output = NULL};
}
