/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <time.h>

/*
 * The time of day at which the program began. Names of files and --start-at +10s must mean the same
 * moment, so main() notes it first of all. If nobody noted it, the first call of xb_began() does.
 */
void xb_began_note(void);
struct timespec xb_began(void);
