/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_TABLE_PEERS_H
#define XFERBENCH_LINK_TABLE_PEERS_H

#include "report.h"

/* The part of the table about pairs of devices: a line for each, then why one is not OK. Nothing
 * where there are fewer than two devices. `width` is that of labels. */
bool xb_link_table_pairs(FILE *stream, int width, const struct xb_link_report *report);

/* The line about all pairs together: how many are OK, and how many of the others nobody judged. */
void xb_link_table_count_pairs(FILE *stream, int width, const struct xb_link_report *report);

#endif
