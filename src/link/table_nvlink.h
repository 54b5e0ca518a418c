/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_TABLE_NVLINK_H
#define XFERBENCH_LINK_TABLE_NVLINK_H

#include "nvlink.h"

#include <stdio.h>

/* Prints how many NVLinks there are after the test, how fast they are, and what they counted; with
 * labels that wide. Prints nothing where it is not known how many there are. */
void xb_link_table_nvlinks(FILE *stream, int width, const struct xb_device_health *after,
                           const struct xb_nvlink_facts *facts);

#endif
