/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "command.h"
#include "measure/run.h"

/*
 * Opens the backend the user named, or with "auto" the first that is automatic and can run, into
 * run->backend, driver and probe. Where none can, prints what each looked for to stderr and returns
 * XB_EXIT_NOTHING; XB_EXIT_USAGE for a name that is no backend's.
 */
enum xb_exit xb_backend_choose(const char *name, struct xb_run *run);

/* Prints the lines of a probe, indented. */
void xb_probe_print(FILE *stream, const struct xb_probe *probe);
