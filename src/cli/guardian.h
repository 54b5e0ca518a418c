/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CLI_GUARDIAN_H
#define XFERBENCH_CLI_GUARDIAN_H

#include "xferbench/error.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * A small process that ends a process group when the process that made the guardian dies, however
 * it dies. It sleeps on a pipe whose other end closes then. The kernel itself could tell the
 * group's first process alone (PR_SET_PDEATHSIG), and that may be a shell, whose program would go
 * on.
 */
struct xb_guardian {
    pid_t process;
    int line; /* the end of the pipe that the maker holds */
};

/* Forks it. XB_ERR_SYSTEM. Release with xb_guardian_dismiss. */
XB_MUST_CHECK enum xb_status xb_guardian_open(struct xb_guardian *guardian, struct xb_error *error);

/* For a process that leads a group, before it runs another program: the guardian ends this group.
 * Returns whether it could be told, or errno says why not. */
bool xb_guardian_enlist(const struct xb_guardian *guardian);

/* Ends the guardian, and not the group. */
void xb_guardian_dismiss(struct xb_guardian *guardian);

#endif
