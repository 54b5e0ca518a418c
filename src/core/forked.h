/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CORE_FORKED_H
#define XFERBENCH_CORE_FORKED_H

#include <stdbool.h>
#include <sys/types.h>

/* Forking: a pipe to what is forked, and what that does first where it goes on in this program. */

/*
 * A pipe that an exec closes, above the standard streams: the caller may have been started without
 * these, and the child's own would be put over the pipe. False with errno where there is none; ends
 * that are not open are -1, also then.
 */
bool xb_forked_pipe(int ends[2]);
/* Closes the ends that are open. */
void xb_forked_close_pipe(int ends[2]);

/*
 * Has the kernel kill this process when `parent`, which forked it, dies: nothing that hangs in here
 * outlives who waits for it. The kernel takes the end of the thread that forked for the parent's:
 * only for a parent that forks in a thread that lives as long as itself.
 */
void xb_forked_die_with(pid_t parent);

/*
 * Leaves nothing of its parent's but the descriptor `channel`: neither open files, whose readers
 * would wait for this process too, nor what the parent does with signals. Those that end programs
 * are ignored: they are for the parent, which then closes its end. Returns the channel's new
 * number.
 */
int xb_forked_settle(int channel);

#endif
