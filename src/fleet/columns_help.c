/* SPDX-License-Identifier: Apache-2.0 */
/* What the columns of the table of findings are; docs/fleet-output.md says the same. */
#include "command.h"

const struct xb_column_help xb_fleet_column_helps[] = {
    {"NODE", "The node's name. A long one may have \"...\" in its middle."},
    {"GPU", "Its number. 0>4: a copy from GPU 0 to GPU 4. -: the finding is about the whole node."},
    {"PCI", "The GPU's PCI address."},
    {"UUID", "The GPU's UUID."},
    {"FIGURE", "What was measured: link h2d, link d2h, link peer, or a row of run."},
    {"VALUE", "What this GPU reached."},
    {"SIBLINGS' MEDIAN, MEDIAN",
     "The median of its siblings: GPUs of the same model on the same kind of link."},
    {"DEVIATION", "How far the value is from that median."},
    {"SPREADS", "The same distance, in spreads of the siblings. The spread is below the table."},
    {"MORE", "How many other figures of this GPU are named. The row shows the worst."},
    {"REASON", "Why it is named. Lines below the table say what to do."},
    {NULL, NULL},
};
