/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <stdlib.h>

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
