/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "run.h"

#include "base/clock.h"
#include "base/interrupt.h"

#include <stdlib.h>

bool xb_run_should_stop(const struct xb_run *run)
{
    return xb_interrupt_signal() != 0 || (run->deadline > 0 && xb_clock_now() >= run->deadline);
}

size_t xb_run_find_device(const struct xb_run *run, unsigned index)
{
    size_t i = 0;
    while (run->devices[i].info.index != index)
        i++;
    return i;
}

void xb_run_free(struct xb_run *run)
{
    for (size_t i = 0; i < run->case_count; i++)
        xb_result_free(&run->results[i]);
    free(run->results);
    free(run->devices);
    xb_topology_close(run->topology);
    if (run->driver != NULL)
        run->backend->driver_close(run->driver);
}

size_t xb_run_rows_of(const struct xb_run *run, size_t first)
{
    size_t behind = first + 1;
    while (run->results[first].test.sum && behind < run->case_count &&
           run->results[behind].test.simultaneous && !run->results[behind].test.sum)
        behind++;
    return behind - first;
}

const char *xb_run_cannot(const struct xb_run *run, size_t first, size_t count)
{
    const struct xb_result *results = &run->results[first];
    for (size_t i = 0; i < count; i++)
        if (results[i].test.mode->pairs && run->backend->peer_info == NULL)
            return "this backend has no copies between devices";
    if (results->test.group != XB_GROUP_NONE && count < 3)
        return "pairs at the same time: needs two of them; only one is here or selected";
    if (results->test.mode->pairs && results->test.peer == XB_NO_PEER && !results->test.sum)
        return "needs two GPUs; only one is here or selected";
    if (results->test.sum && count < 3)
        return "at the same time: needs two GPUs; only one is here or selected";
    return NULL;
}
