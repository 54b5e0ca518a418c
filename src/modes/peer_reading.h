/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_PEER_READING_H
#define XFERBENCH_MODES_PEER_READING_H

#include "xferbench/mode.h"

/* The lines of the mode peer; the last one's label is NULL. */
extern const struct xb_reading_line xb_peer_reading[];

#endif
