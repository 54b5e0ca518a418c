/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "formats.h"
#include "internal.h"

#include "base/arena.h"
#include "base/stream.h"
#include "base/text.h"
#include "present/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- counts ---- */

#define PREFIX "xferbench_fleet_" /* of all names */

static size_t count_code(const struct xb_fleet_judgement *judgement, enum xb_fleet_code code)
{
    size_t count = 0;
    for (size_t i = 0; i < judgement->finding_count; i++)
        count += judgement->findings[i].code == code;
    return count;
}

static void put_counts(FILE *stream, const struct xb_fleet_judgement *judgement)
{
    const struct {
        const char *name, *help;
        size_t value;
    } counts[] = {
        {"status",
         "Verdict: 0 no findings, 1 findings, or a document could not be read, 2 none could be "
         "read, 3 too few siblings to judge.",
         (size_t)xb_fleet_exit_code(judgement)},
        {"nodes", "Nodes with a document.", judgement->fleet->node_count},
        {"gpus", "GPUs with a document.", judgement->fleet->gpu_count},
        {"judged_gpus", "GPUs judged by their siblings.", judgement->judged_gpus},
        {"missing_nodes", "Expected nodes without a document.",
         count_code(judgement, XB_FLEET_MISSING)},
        {"left_out_documents", "Documents, files and folders that were left out.",
         judgement->fleet->left_out_count},
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        xb_metric_begin(stream, PREFIX, counts[i].name, counts[i].help);
        fprintf(stream, PREFIX "%s %zu\n", counts[i].name, counts[i].value);
    }
    /* Codes without a finding too: a rule that watches one needs its sample. */
    xb_metric_begin(stream, PREFIX, "findings", "Findings of each code.");
    for (enum xb_fleet_code code = 0; code < XB_FLEET_CODES; code++) {
        fputs(PREFIX "findings", stream);
        xb_metric_put_labels(stream, XB_METRIC_LABELS({"code", xb_fleet_code_name(code)}));
        fprintf(stream, " %zu\n", count_code(judgement, code));
    }
}

/* ---- a sample a finding ---- */

struct sample {
    const char *labels;
    const struct xb_fleet_finding *finding;
};

static const char *known(const char *value)
{
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static void put_labels(FILE *stream, const struct xb_fleet *fleet,
                       const struct xb_fleet_finding *finding)
{
    static const struct xb_fleet_gpu no_gpu;
    static const struct xb_fleet_figure no_figure;
    bool has_gpu = finding->gpu != XB_FLEET_NONE;
    const struct xb_fleet_gpu *gpu = has_gpu ? &fleet->gpus[finding->gpu] : &no_gpu;
    const struct xb_fleet_figure *figure =
        finding->figure != XB_FLEET_NONE ? &fleet->figures[finding->figure] : &no_figure;
    xb_metric_put_labels(
        stream, XB_METRIC_LABELS(
                    {"node", finding->node}, {"code", xb_fleet_code_name(finding->code)},
                    {"gpu", has_gpu ? XB_METRIC_NUMBER(gpu->index) : NULL},
                    {"pci", known(gpu->pci_bdf)}, {"uuid", known(gpu->uuid)},
                    {"peer", finding->peer >= 0 ? XB_METRIC_NUMBER((size_t)finding->peer) : NULL},
                    {"figure", known(figure->name)}, {"options", known(figure->options)},
                    {"together", finding->together ? "true" : NULL},
                    {"unsure", finding->unsure ? "true" : NULL}));
}

/* The worst comes first among those with the same labels. */
static int by_labels(const void *a, const void *b)
{
    const struct sample *first = a, *second = b;
    return XB_FIRST_ORDER(strcmp(first->labels, second->labels),
                          XB_ORDER(first->finding, second->finding));
}

static void put_samples(FILE *stream, const struct sample *samples, size_t count)
{
    bool begun = false;
    if (count > 0)
        xb_metric_begin(stream, PREFIX, "finding", "1 for each finding.");
    for (size_t i = 0; i < count; i++)
        fprintf(stream, PREFIX "finding%s 1\n", samples[i].labels);
    for (size_t i = 0; i < count; i++) {
        double share = samples[i].finding->deviation;
        if (!isfinite(share))
            continue;
        if (!begun)
            xb_metric_begin(stream, PREFIX, "deviation_ratio",
                            "Value of a finding / its siblings' median - 1.");
        begun = true;
        fprintf(stream, PREFIX "deviation_ratio%s %s\n", samples[i].labels, XB_NUMBER_TEXT(share));
    }
}

static enum xb_status put_findings(FILE *stream, const struct xb_fleet_judgement *judgement,
                                   struct xb_error *error)
{
    struct xb_arena *arena = NULL;
    size_t count = judgement->finding_count;
    struct sample *samples = calloc(count + 1, sizeof *samples);
    if (samples == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the metrics");
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < count; i++) {
        struct xb_memory_text labels = {.text = NULL};
        if (xb_memory_text_begin(&labels) != NULL)
            put_labels(labels.stream, judgement->fleet, &judgement->findings[i]);
        samples[i].finding = &judgement->findings[i];
        status = xb_memory_text_keep(&labels, "the metrics", &arena, &samples[i].labels, error);
    }
    if (status == XB_OK) {
        /* A sample may not appear twice, and a node may have failed twice. */
        size_t kept = 0;
        qsort(samples, count, sizeof *samples, by_labels);
        for (size_t i = 0; i < count; i++)
            if (kept == 0 || strcmp(samples[kept - 1].labels, samples[i].labels) != 0)
                samples[kept++] = samples[i];
        put_samples(stream, samples, kept);
    }
    free(samples);
    xb_arena_free(arena);
    return status;
}

enum xb_status xb_fleet_prometheus_write(FILE *stream, const struct xb_fleet_judgement *judgement,
                                         struct xb_error *error)
{
    put_counts(stream, judgement);
    enum xb_status status = put_findings(stream, judgement, error);
    return status == XB_OK ? xb_stream_finish(stream, "the metrics", error) : status;
}
