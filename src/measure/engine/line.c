/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/sample/sampler.h"
#include "stage.h"

#include <assert.h>
#include <stdlib.h>

static bool has_host_stage(const struct xb_mode *mode)
{
    return mode->stages[0].engine == XB_ENGINE_HOST;
}

static enum xb_status open_host(struct xb_mode_context *context, struct xb_line *line,
                                struct xb_error *error)
{
    const struct xb_backend *backend = context->device->backend;
    XB_TRY(xb_workspace_crew(context->workspace, line->plan.threads, &line->crew, error));
    line->freed = calloc(line->plan.slots, sizeof(struct xb_event *));
    if (line->freed == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a list of %u slots", line->plan.slots);
    for (unsigned i = 0; i < line->plan.slots; i++)
        XB_TRY(backend->event_open(context->device, &line->freed[i], error));
    return XB_OK;
}

enum xb_status xb_line_open(struct xb_mode_context *context, const struct xb_line_plan *plan,
                            struct xb_error *error)
{
    const struct xb_mode *mode = context->test->mode;
    struct xb_line *line = calloc(1, sizeof *line);
    assert(plan->items > 0 && plan->slots > 0);
    assert(!has_host_stage(mode) || (plan->threads > 0 && plan->pieces > 0));
    assert(plan->in_a_row || context->queue_count >= plan->slots);
    if (line == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a line");
    line->plan = *plan;
    line->stages = mode->stages;
    while (line->stages[line->stage_count].name != NULL)
        line->stage_count++;
    context->line = line; /* for xb_line_close, also of a part of it */
    return has_host_stage(mode) ? open_host(context, line, error) : XB_OK;
}

void xb_line_close(struct xb_mode_context *context)
{
    struct xb_line *line = context->line;
    if (line == NULL)
        return;
    for (unsigned i = 0; line->freed != NULL && i < line->plan.slots; i++)
        context->device->backend->event_close(line->freed[i]);
    free(line->freed);
    free(line);
    context->line = NULL;
}

void xb_line_take(struct xb_mode_context *context, const struct xb_line_part *part)
{
    context->line->part = part != NULL ? *part : (struct xb_line_part){0};
}

bool xb_line_is_whole(const struct xb_mode_context *context)
{
    return context->line->part.stages == 0;
}

bool xb_line_was_stopped(const struct xb_mode_context *context)
{
    return context->line->was_stopped;
}
