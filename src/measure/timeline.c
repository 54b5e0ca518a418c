/* SPDX-License-Identifier: Apache-2.0 */
#include "xferbench/timeline.h"

#include <stdlib.h>
#include <string.h>

void xb_timeline_free(struct xb_timeline *timeline)
{
    free(timeline->tracks);
    free(timeline->spans);
    memset(timeline, 0, sizeof *timeline);
}
