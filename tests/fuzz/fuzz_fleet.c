/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer's target for the reader of many nodes' documents: the bytes are a stream of them. What
 * comes of it holds together, whatever they are: every index is one of something, every value is
 * above 0, and it can be judged.
 */
#define _POSIX_C_SOURCE 200809L /* fileno */
#include "fleet/fleet.h"
#include "target.h"

#include <math.h>
#include <unistd.h>

static void check_values(const struct xb_fleet *fleet)
{
    for (size_t i = 0; i < fleet->value_count; i++) {
        const struct xb_fleet_value *value = &fleet->values[i];
        require(value->figure == fleet->figures[value->figure->number], "a value is of a figure");
        require(value->gpu == fleet->gpus[value->gpu->number], "a value is of a GPU");
        require(value->source < fleet->source_count, "a value is of a document");
        require(value->value > 0.0 && isfinite(value->value), "a value is above 0");
        require(isnan(value->scatter) || (value->scatter >= 0.0 && isfinite(value->scatter)),
                "a scatter is a share");
        require(value->peer >= -1, "a peer is an index, or none");
    }
}

static void check_fleet(const struct xb_fleet *fleet)
{
    for (size_t i = 0; i < fleet->node_count; i++)
        require(fleet->nodes[i]->name != NULL && fleet->nodes[i]->name[0] != '\0',
                "a node has a name");
    for (size_t i = 0; i < fleet->gpu_count; i++) {
        require(fleet->gpus[i]->node == fleet->nodes[fleet->gpus[i]->node->number],
                "a GPU is of a node");
        require(fleet->gpus[i]->model != NULL, "a GPU has a model");
    }
    for (size_t i = 0; i < fleet->figure_count; i++)
        require(fleet->figures[i]->name != NULL && fleet->figures[i]->unit != NULL &&
                    fleet->figures[i]->options != NULL,
                "a figure has a name, a unit and options");
    for (size_t i = 0; i < fleet->complaint_count; i++) {
        const struct xb_fleet_finding *complaint = &fleet->complaints[i];
        require(complaint->node == fleet->nodes[complaint->node->number],
                "a complaint is of a node");
        require(complaint->gpu == NULL || complaint->gpu == fleet->gpus[complaint->gpu->number],
                "a complaint is of a GPU, or of none");
        require(complaint->source < fleet->source_count, "a complaint is of a document");
        require(complaint->text != NULL, "a complaint says something");
    }
    for (size_t i = 0; i < fleet->left_out_count && i < XB_FLEET_TOLD; i++)
        require(fleet->left_out[i].what != NULL && fleet->left_out[i].why[0] != '\0',
                "what is left out is named");
}

static void judge(struct xb_fleet *fleet)
{
    const struct xb_fleet_request request = {.alpha = 0.01};
    struct xb_fleet_judgement judgement;
    xb_fleet_judge(fleet, &request, &judgement);
    for (size_t i = 0; i < judgement.finding_count; i++) {
        const struct xb_fleet_finding *finding = &judgement.findings[i];
        require(finding->node != NULL && finding->text != NULL, "a finding is of a node");
        require(finding->gpu == NULL || finding->gpu == fleet->gpus[finding->gpu->number],
                "a finding is of a GPU, or of none");
        require(finding->figure == NULL ||
                    finding->figure == fleet->figures[finding->figure->number],
                "a finding is of a figure, or of none");
    }
    xb_fleet_judgement_free(&judgement);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct xb_fleet fleet;
    struct xb_error error;
    FILE *file = tmpfile();
    require(file != NULL && fwrite(data, 1, size, file) == size, "the bytes are in a file");
    rewind(file);
    require(dup2(fileno(file), STDIN_FILENO) == STDIN_FILENO, "it is standard input");
    fclose(file);
    xb_fleet_open(&fleet);
    require(xb_fleet_read(&fleet, "-", &error) == XB_OK, "a stream is read");
    check_fleet(&fleet);
    check_values(&fleet);
    judge(&fleet);
    xb_fleet_free(&fleet);
    return 0;
}
