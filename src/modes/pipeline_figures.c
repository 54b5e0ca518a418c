/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline.h"

#include "stage_figures.h"

#define RATE(stage, what)                                                                          \
    {                                                                                              \
        .name = "rate_" stage, .unit = XB_UNIT_RATE, .more_is_better = true,                       \
        .help = what " alone: the files' bytes divided by its time",                               \
    }
const struct xb_figure xb_pipeline_rates[XB_PIPELINE_STAGES] = {
    RATE("read", "Reading"),
    RATE("in", "The copies into the device"),
    RATE("compute", "The kernels"),
    RATE("out", "Bringing the results back"),
};

#define BUSY(stage, when)                                                                          \
    {                                                                                              \
        .name = "busy_" stage, .unit = XB_UNIT_RATIO, .more_is_better = true,                      \
        .help = "In one recorded iteration: the share of the time in which " when,                 \
    }
const struct xb_figure xb_pipeline_busy[XB_PIPELINE_STAGES] = {
    BUSY("read", "the readers read, on average"),
    BUSY("in", "data was copied into the device"),
    BUSY("compute", "kernels ran"),
    BUSY("out", "results were brought back"),
};

#define WAIT(stage, who)                                                                           \
    {                                                                                              \
        .name = "wait_" stage, .unit = XB_UNIT_RATIO,                                              \
        .help = "In one recorded iteration: the share of the time in which " who                   \
                " waited between the first turn and the last",                                     \
    }
const struct xb_figure xb_pipeline_wait[XB_PIPELINE_STAGES] = {
    WAIT("read", "the readers, on average,"),
    WAIT("in", "the copies into the device"),
    WAIT("compute", "the kernels"),
    WAIT("out", "the copies out of the device"),
};

#define EACH(figures)                                                                              \
    &(figures)[XB_PIPELINE_READ], &(figures)[XB_PIPELINE_IN], &(figures)[XB_PIPELINE_COMPUTE],     \
        &(figures)[XB_PIPELINE_OUT]
const struct xb_figure *const xb_pipeline_figures[] = {
    &xb_figure_gpu_busy,       &xb_figure_speed_up,
    &xb_figure_share_of_bound, &xb_figure_serial_time,
    EACH(xb_pipeline_rates),   EACH(xb_pipeline_busy),
    EACH(xb_pipeline_wait),    NULL};

enum xb_status xb_pipeline_compute(struct xb_result *result, struct xb_error *error)
{
    double whole = result->bandwidth.median;
    double rates[XB_PIPELINE_STAGES] = {0};
    double slowest = 0;
    double serial = 0;
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < XB_PIPELINE_STAGES; i++) {
        status = xb_result_median(result, &xb_pipeline_rates[i], &rates[i], error);
        if (rates[i] > 0 && (slowest == 0 || rates[i] < slowest))
            slowest = rates[i];
    }
    if (status == XB_OK)
        status = xb_result_median(result, &xb_figure_serial_time, &serial, error);
    if (status != XB_OK || !(rates[XB_PIPELINE_OUT] > 0)) /* the last one that is timed */
        return status;
    xb_result_compute(result, &xb_figure_gpu_busy, whole / rates[XB_PIPELINE_COMPUTE]);
    xb_result_compute(result, &xb_figure_share_of_bound, whole / slowest);
    if (serial > 0)
        xb_result_compute(result, &xb_figure_speed_up,
                          serial * whole / (double)result->bytes_moved);
    return XB_OK;
}
