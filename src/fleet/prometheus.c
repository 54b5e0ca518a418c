/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "formats.h"
#include "internal.h"

#include "base/arena.h"
#include "base/prometheus.h"
#include "base/stream.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- counts ---- */

static void put_family(FILE *stream, const char *name, const char *help)
{
    fprintf(stream, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static size_t count_code(const struct xb_fleet_judgement *judgement, enum xb_fleet_code code)
{
    size_t count = 0;
    for (size_t i = 0; i < judgement->finding_count; i++)
        count += judgement->findings[i].code == code;
    return count;
}

static void put_counts(FILE *stream, const struct xb_fleet_judgement *judgement)
{
    static const char findings[] = "xferbench_fleet_findings";
    const struct {
        const char *name, *help;
        size_t value;
    } counts[] = {
        {"xferbench_fleet_status",
         "Verdict: 0 no findings, 1 findings, or a document could not be read, 2 none could be "
         "read, 3 too few siblings to judge.",
         (size_t)xb_fleet_exit_code(judgement)},
        {"xferbench_fleet_nodes", "Nodes with a document.", judgement->fleet->node_count},
        {"xferbench_fleet_gpus", "GPUs with a document.", judgement->fleet->gpu_count},
        {"xferbench_fleet_judged_gpus", "GPUs judged by their siblings.", judgement->judged_gpus},
        {"xferbench_fleet_missing_nodes", "Expected nodes without a document.",
         count_code(judgement, XB_FLEET_MISSING)},
        {"xferbench_fleet_left_out_documents", "Documents, files and folders that were left out.",
         judgement->fleet->left_out_count},
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        put_family(stream, counts[i].name, counts[i].help);
        fprintf(stream, "%s %zu\n", counts[i].name, counts[i].value);
    }
    /* Codes without a finding too: a rule that watches one needs its sample. */
    put_family(stream, findings, "Findings of each code.");
    for (enum xb_fleet_code code = 0; code < XB_FLEET_CODES; code++) {
        fputs(findings, stream);
        xb_prometheus_put_label(stream, '{', "code", xb_fleet_code_name(code));
        fprintf(stream, "} %zu\n", count_code(judgement, code));
    }
}

/* ---- a sample a finding ---- */

struct sample {
    const char *labels;
    const struct xb_fleet_finding *finding;
};

static void put_known(FILE *stream, const char *name, const char *value)
{
    if (value != NULL && value[0] != '\0')
        xb_prometheus_put_label(stream, ',', name, value);
}

static void put_index(FILE *stream, const char *name, long index)
{
    char text[24];
    snprintf(text, sizeof text, "%ld", index);
    xb_prometheus_put_label(stream, ',', name, text);
}

static void put_labels(FILE *stream, const struct xb_fleet *fleet,
                       const struct xb_fleet_finding *finding)
{
    xb_prometheus_put_label(stream, '{', "node", finding->node);
    xb_prometheus_put_label(stream, ',', "code", xb_fleet_code_name(finding->code));
    if (finding->gpu != XB_FLEET_NONE) {
        const struct xb_fleet_gpu *gpu = &fleet->gpus[finding->gpu];
        put_index(stream, "gpu", (long)gpu->index);
        put_known(stream, "pci", gpu->pci_bdf);
        put_known(stream, "uuid", gpu->uuid);
    }
    if (finding->peer >= 0)
        put_index(stream, "peer", finding->peer);
    if (finding->figure != XB_FLEET_NONE) {
        const struct xb_fleet_figure *figure = &fleet->figures[finding->figure];
        put_known(stream, "figure", figure->name);
        put_known(stream, "options", figure->options);
    }
    put_known(stream, "together", finding->together ? "true" : NULL);
    put_known(stream, "unsure", finding->unsure ? "true" : NULL);
    fputc('}', stream);
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
    static const char finding[] = "xferbench_fleet_finding";
    static const char deviation[] = "xferbench_fleet_deviation_ratio";
    char number[32];
    bool begun = false;
    if (count > 0)
        put_family(stream, finding, "1 for each finding.");
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%s%s 1\n", finding, samples[i].labels);
    for (size_t i = 0; i < count; i++) {
        double share = samples[i].finding->deviation;
        if (!isfinite(share))
            continue;
        if (!begun)
            put_family(stream, deviation, "Value of a finding / its siblings' median - 1.");
        begun = true;
        fprintf(stream, "%s%s %s\n", deviation, samples[i].labels,
                xb_number_text(share, number, sizeof number));
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
    locale_t previous = xb_plain_locale_enter();
    put_counts(stream, judgement);
    enum xb_status status = put_findings(stream, judgement, error);
    if (status == XB_OK)
        status = xb_stream_finish(stream, "the metrics", error);
    xb_plain_locale_leave(previous);
    return status;
}
