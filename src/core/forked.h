/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CORE_FORKED_H
#define XFERBENCH_CORE_FORKED_H

#include <sys/types.h>

/* Forking: what is forked does this first where it goes on in this program; and its pipes. */

/* Closes the ends of a pipe that are open; those that are not are -1, as all are afterwards. */
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
