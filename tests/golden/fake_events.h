/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* XB_FAKE_EVENTS="narrow 120 180, restless 0 999" says what goes wrong, from one virtual second to
 * another: `wrong` copies are damaged; `narrow`, `hot`, `restless`, `gone` the second device has 8
 * lanes, is slowed down by its hardware, trains its link once a second, has fallen off the bus;
 * `bits` it counts a wrong bit a second, twice;
 * `signal` the program is interrupted. */

/* For how many seconds that has gone on by now; 0: it does not now. */
double xb_fake_event(const char *name);
