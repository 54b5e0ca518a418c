/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_FLEET_STANDARD_INPUT_H
#define XFERBENCH_FLEET_STANDARD_INPUT_H

#include <stdio.h>

/* Standard input as a stream that a signal ends: reading then fails with EINTR. A plain read would
 * go on after a signal, because the program's handlers restart system calls, and wait for a sender
 * that may never write again. NULL: no memory. Close it with fclose(3); standard input stays open.
 */
FILE *xb_standard_input_open(void);

#endif
