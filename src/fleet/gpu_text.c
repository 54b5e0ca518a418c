/* SPDX-License-Identifier: Apache-2.0 */
#include "formats.h"

#include "base/note.h"

#include <stdio.h>

const char *xb_fleet_gpu_text(const struct xb_fleet *fleet, const struct xb_fleet_finding *finding,
                              char *text, size_t size)
{
    if (finding->gpu == XB_FLEET_NONE) {
        snprintf(text, size, "-");
        return text;
    }
    const struct xb_fleet_gpu *gpu = &fleet->gpus[finding->gpu];
    if (finding->peer >= 0)
        snprintf(text, size, "GPU %u>%d", gpu->index, finding->peer);
    else if (gpu->pci_bdf != NULL)
        snprintf(text, size, "GPU %u %s", gpu->index, gpu->pci_bdf);
    else
        snprintf(text, size, "GPU %u", gpu->index);
    xb_make_plain(text);
    return text;
}
