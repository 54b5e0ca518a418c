/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_REPORT_SIBLINGS_H
#define XFERBENCH_REPORT_SIBLINGS_H

#include "fleet/judgement.h"
#include "page.h"

/* Shows one figure over the GPUs of a fleet. */

/* The unit in which the page shows a figure: "GB/s" for B/s, "us" for s. */
const char *xb_siblings_unit(const struct xb_fleet_figure *figure);
/* A value of the fleet in that unit; `text` holds 32 bytes. */
const char *xb_siblings_value_text(const struct xb_fleet_figure *figure, double value, char *text,
                                   size_t size);
/* What the compared GPUs share: "NVIDIA H200, Gen5 x16, driver 580.159.04, chunk=4194304". */
#define XB_SIBLINGS_KIND 640
const char *xb_siblings_kind_text(const struct xb_fleet_figure *figure, char *text, size_t size);
/* "GPUs" or "pairs". */
const char *xb_siblings_counted(const struct xb_fleet_judgement *judgement,
                                const struct xb_fleet_siblings *siblings);

/* Draws its values by node, and each named GPU with a marker. `ranks`: for each node of the fleet
 * the position of its name among all names, from 0. */
void xb_siblings_draw(struct xb_page *page, const struct xb_fleet_judgement *judgement,
                      const struct xb_fleet_siblings *siblings, const size_t *ranks);

#endif
