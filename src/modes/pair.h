/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_PAIR_H
#define XFERBENCH_MODES_PAIR_H

#include "xferbench/mode.h"

/* What modes of pairs of devices share. */

/* --pairs: which of them. */
extern const struct xb_option xb_option_pairs;

/* For `verify`: adds what is known of the link that the data took from the source to the
 * destination. */
void xb_pair_add_link(const struct xb_mode_context *context, struct xb_result *result);

#endif
