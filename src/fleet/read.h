/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_FLEET_READ_H
#define XFERBENCH_FLEET_READ_H

#include "fleet.h"

#include <stdio.h>

/*
 * Reads documents of link and run (of one process or several) into a fleet. If a document is
 * broken, too large, of another program or of a kind without a node, it is left out and named in
 * the fleet; that is no failure. The only failures are XB_ERR_MEMORY, and XB_ERR_STOPPED after a
 * signal.
 */

#define XB_FLEET_LARGEST_BYTES ((size_t)64 << 20) /* of one document */

/* Reads a file of one document or several, a folder with all folders below it (files that end with
 * .json, .jsonl or .ndjson, by name with numbers as numbers; links to folders are not followed), or
 * "-": standard input. */
XB_MUST_CHECK enum xb_status xb_fleet_read(struct xb_fleet *fleet, const char *path,
                                           struct xb_error *error);

/* Reads an open stream. Blocks until its end. */
XB_MUST_CHECK enum xb_status xb_fleet_read_stream(struct xb_fleet *fleet, const char *path,
                                                  FILE *stream, struct xb_error *error);

/* Reads one document from memory; a zero byte follows it. `number`: see struct xb_fleet_source. */
XB_MUST_CHECK enum xb_status xb_fleet_read_text(struct xb_fleet *fleet, const char *path,
                                                size_t number, const char *text, size_t length,
                                                struct xb_error *error);

#endif
