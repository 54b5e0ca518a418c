/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a test asks of the library that runs the backend time and again in its own process. */

#pragma GCC visibility push(default)

/* Forgets what was counted: the first call of each function is the next one. */
void standin_begin_anew(void);
/* How often that function was called, 0 also for one that nobody counts. */
unsigned long standin_calls_of(const char *name);
/* How many calls of hipSetDevice and hipStreamSynchronize were failed that did not close something.
 */
unsigned long standin_struck_in_use(void);
/* How much there is that nobody has closed: memory, registrations, streams, events, modules, ranges
 * and captures. */
unsigned standin_left(void);
/* What roctx was told: 'c', 'S' and 's' where the range of a case, of its samples, and of one
 * repetition begin, ')' where a range ends, '<' and '>' where a capture does. */
const char *standin_told_profiler(void);

#pragma GCC visibility pop
