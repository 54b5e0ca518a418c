/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "fleet_told_fixture.h"

#include "xferbench/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

static enum xb_status write_table(FILE *stream, const struct xb_fleet_judgement *judgement,
                                  struct xb_error *error)
{
    return xb_fleet_table_write(stream, judgement, 100, false, error);
}

const struct format formats[FORMATS] = {
    {"txt", write_table},
    {"json", xb_fleet_json_write},
    {"csv", xb_fleet_csv_write},
    {"prom", xb_fleet_prometheus_write},
    {"nodes", xb_fleet_nodelist_write},
};

const struct kind kinds[KINDS] = {
    {"alike", make_alike}, {"outliers", make_outliers}, {"many", make_many},
    {"mild", make_mild},   {"nothing", make_nothing},   {"few", make_few},
    {"nasty", make_nasty},
};

static struct xb_fleet_finding finding_of(const struct fleet_made *made, enum xb_fleet_code code,
                                          size_t gpu, const char *text)
{
    return (struct xb_fleet_finding){.code = code,
                                     .node = &made->nodes[gpu],
                                     .gpu = made->gpu_list[gpu],
                                     .peer = -1,
                                     .value = NAN,
                                     .centre = NAN,
                                     .deviation = NAN,
                                     .spreads = NAN,
                                     .p = NAN,
                                     .text = text};
}

static void add(struct fleet_made *made, struct xb_fleet_finding finding)
{
    assert_true(made->judgement.finding_count < FINDINGS);
    made->findings[made->judgement.finding_count++] = finding;
}

/* A finding of a figure: so much less than its siblings. */
static struct xb_fleet_finding off_by(const struct fleet_made *made, enum xb_fleet_code code,
                                      size_t gpu, size_t figure, double deviation)
{
    struct xb_fleet_finding finding = finding_of(made, code, gpu, "link h2d is off");
    finding.figure = &made->figures[figure];
    finding.centre = made->siblings[figure].centre;
    finding.value = finding.centre * (1 + deviation);
    finding.deviation = deviation;
    finding.spreads = deviation / made->siblings[figure].spread;
    finding.p = 1e-9;
    return finding;
}

static void make_figures(struct fleet_made *made)
{
    static const struct xb_fleet_figure figures[] = {
        {.name = "link h2d", .unit = XB_UNIT_RATE, .link = "Gen5 x16"},
        {.name = "link peer", .unit = XB_UNIT_RATE, .link = "NVLink x18"},
        {.name = "pinned h2d 1 KiB latency", .unit = XB_UNIT_SECONDS, .link = "Gen5 x16"},
    };
    for (size_t i = 0; i < 3; i++) {
        struct xb_fleet_figure *figure = &made->figures[i];
        struct xb_fleet_siblings *siblings = &made->siblings[i];
        *figure = figures[i];
        figure->more_is_better = strcmp(figure->unit, XB_UNIT_RATE) == 0;
        figure->backend = "cuda";
        figure->model = "NVIDIA H200";
        figure->driver = "580.159.04";
        figure->options = "size=268435456";
        *siblings = (struct xb_fleet_siblings){.figure = figure,
                                               .values = NODES,
                                               .nodes = NODES,
                                               .judged = true,
                                               .centre = figure->more_is_better ? 55.44e9 : 3.31e-6,
                                               .spread = 0.0031,
                                               .named_from = 0.021};
        siblings->least = siblings->bins_from = siblings->centre * 0.9;
        siblings->most = siblings->bins_to = siblings->centre * 1.1;
        siblings->bins[0] = 1;
        siblings->bins[19] = 9;
        siblings->bins[20] = 20;
        siblings->bins[21] = NODES - 30;
    }
    made->siblings[1].is_floor = true;
}

void make_alike(struct fleet_made *made)
{
    memset(made, 0, sizeof *made);
    for (size_t i = 0; i < NODES; i++) {
        snprintf(made->names[i], sizeof made->names[i], "gpu%03zu", i + 1);
        snprintf(made->uuids[i], sizeof made->uuids[i], "GPU-00000000-0000-0000-0000-%012zu", i);
        snprintf(made->addresses[i], sizeof made->addresses[i], "0000:%02zx:00.0", i + 15);
        made->sources[i] = (struct xb_fleet_source){
            .path = "all.jsonl", .number = i + 1, .dated = 1795000000, .began = NAN, .late_s = NAN};
        made->nodes[i] = (struct xb_fleet_node){.name = made->names[i],
                                                .hostname = made->names[i],
                                                .driver = "580.159.04",
                                                .number = i};
        made->gpus[i] = (struct xb_fleet_gpu){.node = &made->nodes[i],
                                              .index = (unsigned)(i % 8),
                                              .model = "NVIDIA H200",
                                              .uuid = made->uuids[i],
                                              .pci_bdf = made->addresses[i],
                                              .link_speed_gts = 32,
                                              .link_width = 16,
                                              .number = i};
        made->node_list[i] = &made->nodes[i];
        made->gpu_list[i] = &made->gpus[i];
    }
    make_figures(made);
    made->fleet = (struct xb_fleet){.sources = made->sources,
                                    .source_count = NODES,
                                    .nodes = made->node_list,
                                    .node_count = NODES,
                                    .gpus = made->gpu_list,
                                    .gpu_count = NODES,
                                    .left_out = made->left_out};
    made->judgement = (struct xb_fleet_judgement){.fleet = &made->fleet,
                                                  .request = {.alpha = 0.01},
                                                  .findings = made->findings,
                                                  .siblings = made->siblings,
                                                  .sibling_count = 3,
                                                  .tests = (size_t)3 * NODES,
                                                  .judged_gpus = NODES,
                                                  .notes = made->notes};
}

void make_outliers(struct fleet_made *made)
{
    make_alike(made);
    struct xb_fleet_finding pair = off_by(made, XB_FLEET_SLOW, 7, 1, -0.081);
    pair.peer = 3;
    made->gone.name = "gpu099";
    for (size_t i = 0; i < NODES; i++)
        made->expected[i] = i == 0 ? "gpu099" : made->names[i];
    made->judgement.request.expected = made->expected;
    made->judgement.request.expected_count = NODES;
    struct xb_fleet_finding missing = finding_of(made, XB_FLEET_MISSING, 0, "no result file");
    missing.node = &made->gone;
    missing.gpu = NULL;
    add(made, missing);
    add(made, finding_of(made, XB_FLEET_FAILED, 4,
                         "pinned h2d 1 GiB: CUDA error 719 (cudaErrorLaunchFailure)"));
    add(made, off_by(made, XB_FLEET_SLOW, 2, 0, -0.5));
    add(made, pair);
    add(made, off_by(made, XB_FLEET_FAST, 9, 2, -0.04));
    made->siblings[2].judged = false;
    made->siblings[2].values = 3;
    made->left_out[0] = (struct xb_fleet_left_out){.what = "old/n7.json", .why = "is no JSON"};
    made->fleet.left_out_count = 1;
    made->notes[0] = "2 nodes say that their clock follows no other: who began when is not known.";
    made->judgement.note_count = 1;
    made->judgement.duplicates = 2;
}

void make_many(struct fleet_made *made)
{
    make_alike(made);
    for (size_t i = 0; i < FINDINGS; i++)
        add(made, off_by(made, XB_FLEET_SLOW, i % NODES, i % 3, -0.5 + 0.004 * (double)i));
    for (size_t i = 0; i < XB_FLEET_TOLD; i++)
        made->left_out[i] = (struct xb_fleet_left_out){.what = "n.json", .why = "is no JSON"};
    made->fleet.left_out_count = 1234;
}

void make_mild(struct fleet_made *made)
{
    make_alike(made);
    add(made, off_by(made, XB_FLEET_FAST, 9, 0, 0.04));
    add(made, finding_of(made, XB_FLEET_OTHER_DRIVER, 3, "driver 570.1, and most have 580.159.04"));
    made->findings[1].gpu = NULL;
}

void make_nothing(struct fleet_made *made)
{
    make_alike(made);
    made->fleet = (struct xb_fleet){.left_out = made->left_out, .left_out_count = 1};
    made->left_out[0] = (struct xb_fleet_left_out){.what = "a.json", .why = "is empty"};
    made->judgement.sibling_count = made->judgement.tests = made->judgement.judged_gpus = 0;
}

void make_few(struct fleet_made *made)
{
    make_alike(made);
    made->judgement.tests = made->judgement.judged_gpus = 0;
    for (size_t i = 0; i < 3; i++) {
        made->siblings[i].judged = false;
        made->siblings[i].values = 2;
    }
}

void make_nasty(struct fleet_made *made)
{
    make_outliers(made);
    for (size_t i = 0; i < NODES; i++) {
        made->nodes[i].name = made->nodes[i].hostname = made->nodes[i].driver = NASTY;
        made->gpus[i].model = made->gpus[i].uuid = made->gpus[i].pci_bdf = NASTY;
        made->sources[i].path = NASTY;
    }
    for (size_t i = 0; i < 3; i++) {
        made->figures[i].name = made->figures[i].backend = made->figures[i].model = NASTY;
        made->figures[i].link = made->figures[i].driver = made->figures[i].options = NASTY;
    }
    for (size_t i = 0; i < made->judgement.finding_count; i++)
        made->findings[i].text = NASTY;
    made->gone.name = NASTY;
    made->nodes[2].name = made->names[2];
    made->left_out[0] = (struct xb_fleet_left_out){.what = NASTY, .why = NASTY};
    made->notes[0] = NASTY;
}

char *written(write_judgement *write, const struct fleet_made *made)
{
    static char *text;
    size_t size = 0;
    struct xb_error error = {0};
    free(text);
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    if (write(stream, &made->judgement, &error) != XB_OK)
        fail_msg("%s", error.message);
    assert_int_equal(fclose(stream), 0);
    return text;
}
