/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "formats.h"

#include "base/stream.h"
#include "base/text.h"

/* Add new columns at the end, because some readers count columns. */
static const char *const columns[] = {
    "node", "code",   "gpu",     "pci",       "uuid",    "peer",        "model", "figure",
    "unit", "value",  "median",  "deviation", "spreads", "p",           "text",  "backend",
    "link", "driver", "options", "together",  "unsure",  "is_to_drain",
};

static const char *known(const char *text)
{
    return text != NULL ? text : "";
}

static void put_finding(FILE *stream, const struct xb_fleet *fleet,
                        const struct xb_fleet_finding *finding)
{
    static const struct xb_fleet_gpu no_gpu;
    static const struct xb_fleet_figure no_figure;
    bool has_gpu = finding->gpu != XB_FLEET_NONE;
    bool has_figure = finding->figure != XB_FLEET_NONE;
    const struct xb_fleet_gpu *gpu = has_gpu ? &fleet->gpus[finding->gpu] : &no_gpu;
    const struct xb_fleet_figure *figure =
        has_figure ? &fleet->figures[finding->figure] : &no_figure;
    struct xb_csv_line line = {.stream = stream};
    xb_csv_put(&line, finding->node);
    xb_csv_put(&line, xb_fleet_code_name(finding->code));
    xb_csv_put_whole(&line, has_gpu, gpu->index);
    xb_csv_put(&line, known(gpu->pci_bdf));
    xb_csv_put(&line, known(gpu->uuid));
    xb_csv_put_whole(&line, finding->peer >= 0, (uint64_t)finding->peer);
    xb_csv_put(&line, known(gpu->model));
    xb_csv_put(&line, known(figure->name));
    xb_csv_put(&line, known(figure->unit));
    xb_csv_put_number(&line, has_figure, finding->value);
    xb_csv_put_number(&line, has_figure, finding->centre);
    xb_csv_put_number(&line, has_figure, finding->deviation);
    xb_csv_put_number(&line, has_figure, finding->spreads);
    xb_csv_put_number(&line, has_figure, finding->p);
    xb_csv_put(&line, known(finding->text));
    xb_csv_put(&line, known(figure->backend));
    xb_csv_put(&line, known(figure->link));
    xb_csv_put(&line, known(figure->driver));
    xb_csv_put(&line, known(figure->options));
    xb_csv_put(&line, finding->together ? "true" : "false");
    xb_csv_put(&line, finding->unsure ? "true" : "false");
    xb_csv_put(&line, xb_fleet_is_to_drain(finding) ? "true" : "false");
    xb_csv_end(&line);
}

enum xb_status xb_fleet_csv_write(FILE *stream, const struct xb_fleet_judgement *judgement,
                                  struct xb_error *error)
{
    struct xb_csv_line names = {.stream = stream};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        xb_csv_put(&names, columns[i]);
    xb_csv_end(&names);
    for (size_t i = 0; i < judgement->finding_count && !ferror(stream); i++)
        put_finding(stream, judgement->fleet, &judgement->findings[i]);
    return xb_stream_finish(stream, "the CSV", error);
}
