/* SPDX-License-Identifier: Apache-2.0 */
#include "processes_set.h"

#include <stdlib.h>

const struct xb_process *xb_processes_first(const struct xb_processes *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->processes[i].document != NULL)
            return &set->processes[i];
    return NULL;
}

void xb_processes_free(struct xb_processes *set)
{
    for (size_t i = 0; i < set->count; i++) {
        free(set->processes[i].document);
        xb_record_free(&set->processes[i].record);
    }
    free(set->processes);
    *set = (struct xb_processes){0};
}
