/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_FLEET_PATIENT_INPUT_H
#define XFERBENCH_FLEET_PATIENT_INPUT_H

#include <stdbool.h>
#include <stdio.h>

/* A descriptor as a stream that a signal ends: reading then fails with EINTR. A plain read would
 * go on after a signal, because the program's handlers restart system calls, and wait for a sender
 * that may never write again. fclose(3) closes the descriptor too if the stream `owns` it. NULL: no
 * memory; the descriptor stays open. */
FILE *xb_patient_input_open(int descriptor, bool owns);

#endif
