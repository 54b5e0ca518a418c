/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2 */
#include "guardian.h"

#include "../core/clock.h"
#include "../core/forked.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* From SIGTERM to SIGKILL. */
#define HEED_S 5.0
#define GLANCE_NS 50000000L

/* Returns 0 where the other end is closed, with nothing read. */
static ssize_t read_line(int line, void *bytes, size_t count)
{
    ssize_t got;
    while ((got = read(line, bytes, count)) < 0 && errno == EINTR)
        continue;
    return got;
}

/* The other process. */
_Noreturn static void guard(int line)
{
    const struct timespec glance = {.tv_nsec = GLANCE_NS};
    pid_t group = 0;
    char nothing;
    line = xb_forked_settle(line);
    if (read_line(line, &group, sizeof group) != (ssize_t)sizeof group)
        _exit(0); /* it died before there was a group */
    while (read_line(line, &nothing, sizeof nothing) > 0)
        continue;
    (void)kill(-group, SIGTERM);
    (void)kill(-group, SIGCONT); /* one that is stopped does not hear it before */
    double until = xb_clock_now() + HEED_S;
    while (kill(-group, 0) == 0 && xb_clock_now() < until)
        (void)nanosleep(&glance, NULL);
    (void)kill(-group, SIGKILL);
    _exit(0);
}

enum xb_status xb_guardian_open(struct xb_guardian *guardian, struct xb_error *error)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return XB_FAIL_ERRNO(error, "pipe2", errno, "no pipe to a guardian of another program: %s",
                             strerror(errno));
    guardian->process = fork();
    int code = errno;
    if (guardian->process == 0) {
        close(ends[1]);
        guard(ends[0]);
    }
    if (guardian->process < 0) {
        xb_forked_close_pipe(ends);
        return XB_FAIL_ERRNO(error, "fork", code, "no guardian of another program: %s",
                             strerror(code));
    }
    /* Here, and not in the new process, which may not run for a while: whoever kills this one's
     * group from now on spares the guardian. */
    (void)setpgid(guardian->process, 0);
    close(ends[0]);
    guardian->line = ends[1];
    return XB_OK;
}

bool xb_guardian_enlist(const struct xb_guardian *guardian)
{
    pid_t group = getpid();
    return write(guardian->line, &group, sizeof group) == (ssize_t)sizeof group;
}

void xb_guardian_dismiss(struct xb_guardian *guardian)
{
    (void)kill(guardian->process, SIGKILL);
    while (waitpid(guardian->process, NULL, 0) < 0 && errno == EINTR)
        continue;
    close(guardian->line);
}
