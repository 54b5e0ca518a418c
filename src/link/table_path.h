/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_TABLE_PATH_H
#define XFERBENCH_LINK_TABLE_PATH_H

#include "report.h"

#include <stdio.h>

/* Prints the path of a device hop by hop, behind a label padded to `width`. False: no memory. */
bool xb_link_table_path(FILE *stream, int width, const struct xb_verdict *verdict);

#endif
