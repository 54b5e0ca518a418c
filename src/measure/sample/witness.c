/* SPDX-License-Identifier: Apache-2.0 */
/* What the device itself counted on its PCIe link while a case's data crossed it: a witness beside
 * our clocks and our patterns. */
#include "measure.h"

/* Fewer bytes would not stand out from what else crosses a link. */
#define LEAST_BYTES (UINT64_C(16) << 20)
/* The counters wrap at 4 GiB, and they count headers too. */
#define MOST_BYTES (UINT64_C(2) << 30)
/* Other traffic only adds to what is counted: the least of so many repetitions is told. */
#define REPETITIONS 3u

/* Whether an iteration of the case has its bytes cross the link of its device once. */
static bool crosses_once(const struct xb_measurement *measurement)
{
    const struct xb_mode_context *context = &measurement->lanes[0].context;
    const struct xb_device_info *info = &context->device->info;
    const struct xb_case *test = context->test;
    return measurement->lane_count == 1 && test->bytes >= LEAST_BYTES && !test->latency &&
           (test->direction == XB_H2D || test->direction == XB_D2H) &&
           !test->mode->crosses_otherwise && !info->shares_host_memory && !info->coherent_with_host;
}

void xb_witness_look(struct xb_measurement *measurement)
{
    const struct xb_mode_context *context = &measurement->lanes[0].context;
    const struct xb_backend *backend = measurement->run->backend;
    struct xb_witness *witness = &measurement->witness;
    const double moved = (double)context->bytes_moved * (double)measurement->iterations;
    struct xb_device_health health = {.traffic_known = false};
    if (witness->looks <= REPETITIONS && moved <= MOST_BYTES && crosses_once(measurement) &&
        backend->device_health != NULL)
        backend->device_health(measurement->run->driver, context->device->info.index,
                               XB_HEALTH_TRAFFIC, &health);
    if (!health.traffic_known) {
        witness->looks = REPETITIONS + 1;
        return;
    }
    const uint32_t now =
        context->test->direction == XB_H2D ? health.bytes_received : health.bytes_sent;
    const uint32_t counted = now - witness->last;
    const unsigned looks = witness->looks++; /* before this one: nothing has moved at the first */
    witness->last = now;
    if (looks == 0 || (looks > 1 && counted / moved >= witness->least))
        return;
    witness->least = counted / moved;
    xb_result_detail_number(measurement->result, "link_bytes",
                            counted / (double)measurement->iterations);
    xb_result_detail_number(measurement->result, "link_bytes_ratio", witness->least);
}
