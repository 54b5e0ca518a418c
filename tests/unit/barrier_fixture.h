/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_TESTS_BARRIER_FIXTURE_H
#define XFERBENCH_TESTS_BARRIER_FIXTURE_H

#include "machine/barrier.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* A folder for processes to meet in, such processes, and what goes wrong with a file system. */

#define GUARD_S 200 /* only a barrier that does not work lasts so long */

/* While it is set, the clock of base/clock.h is this, and only sleeping puts it forward. */
extern double barrier_now;
/* How often a folder was read to its end. */
extern size_t folder_looks;
/* A folder that changes while it is read: every name comes twice, or the end does not come. */
extern bool folder_shows_twice, folder_breaks_off;

/* Of a group of tests. */
int xb_barrier_root_open(void **state);
int xb_barrier_root_close(void **state);
/* Every test has a folder that is not there yet. */
int xb_barrier_folder_begin(void **state);
int xb_barrier_folder_end(void **state);
extern const char *const barrier_folder;

struct xb_barrier barrier_of(const char *node, int64_t rank, uint64_t tasks, double seconds);

/* What a process of the barrier tells its parent. */
struct told {
    enum xb_status status;
    double start;
    char message[640];
};

struct process {
    pid_t id;
    int end; /* of the pipe */
};

struct process start_process(const char *node, int64_t rank, uint64_t tasks, double seconds);
struct told end_process(const struct process *process);
/* Until go_on() the process sees nothing of what is done to the folder. */
void hold(const struct process *process);
void go_on(const struct process *process);

/* Creates a file in the folder. */
void touch(const char *file);
/* Waits for a file whose name begins so; its name. */
const char *wait_for(const char *beginning, char name[NAME_MAX + 1]);
bool has_file(const char *beginning);

/* A process of two that has answered and is held, with the other one played by the test: its SET.
 */
struct process start_and_answer(const char *node, const char *other, char set[17]);
/* The other one answers too. */
void answer_of(const char *other, const char *set);
/* As a node does whose clock is so much ahead of this one's; the start. */
double tell_start(const char *set, double ahead_s);

#endif
