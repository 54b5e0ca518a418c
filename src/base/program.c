/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2 */
#include "program.h"

#include "child.h"
#include "clock.h"
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Between two looks at a program that runs. */
#define GLANCE_MS 50
/* Between two looks where it only has to leave. */
#define LEAVING_MS 2
/* From SIGTERM, for one that must go, to SIGKILL. */
#define HEED_S 5.0
/* From SIGTERM to SIGKILL where the caller was interrupted: it has results to write. */
#define WRITE_S 10.0
/* For what passes the program's output on, such as tee, and is a moment behind it. */
#define LINGER_S 0.5

/* A program that runs, and what the caller knows of it. */
struct watch {
    const struct xb_program *program;
    struct xb_program_outcome *outcome;
    struct xb_child child;
    struct xb_child guardian; /* see guard() */
    int output[2];            /* the pipe it prints into; -1 for an end that is closed */
    size_t capacity;          /* of outcome->text */
    bool out_of_memory;
};

/* ---- in the new processes ---- */

/* The guardian: a small process that ends the program's group when this process dies, however it
 * dies. It sleeps on its channel, whose other end closes then. The kernel itself could tell the
 * group's first process alone (PR_SET_PDEATHSIG), and that may be a shell, whose program would go
 * on. */
static int guard(void *argument, int channel)
{
    /* No child of this process, so there is nothing to reap. */
    struct xb_child group = {.leads_group = true, .ended_at = xb_clock_now()};
    char nothing;
    (void)argument;
    if (!xb_channel_read(channel, &group.process, sizeof group.process))
        return 0; /* it died before there was a group */
    while (xb_channel_read(channel, &nothing, sizeof nothing))
        continue;
    xb_child_terminate(&group, SIGTERM, HEED_S);
    while (group.killed_at == 0 && xb_child_is_group_left(&group))
        (void)xb_child_poll(&group, -1, GLANCE_MS);
    return 0;
}

/* Tells the guardian, and becomes the program. What keeps it from that goes into the channel. */
static int run_program(void *argument, int channel)
{
    const struct watch *watch = argument;
    pid_t group = getpid();
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(watch->output[1], STDOUT_FILENO) >= 0 &&
        xb_channel_write(watch->guardian.channel, &group, sizeof group))
        execvp(watch->program->path, watch->program->argv);
    int code = errno;
    return xb_channel_write(channel, &code, sizeof code) ? 127 : 126;
}

/* ---- starting ---- */

static void close_end(struct watch *watch, int end)
{
    if (watch->output[end] >= 0)
        close(watch->output[end]);
    watch->output[end] = -1;
}

/* Waits until the new process is the program. */
static enum xb_status start(struct watch *watch, struct xb_error *error)
{
    char what[320];
    int code = 0;
    snprintf(what, sizeof what, "'%.300s'", watch->program->path);
    const struct xb_child_task task = {.what = what,
                                       .work = run_program,
                                       .argument = watch,
                                       .signals = XB_CHILD_RESETS_SIGNALS,
                                       .leads_group = true};
    if (pipe2(watch->output, O_CLOEXEC) != 0 || fcntl(watch->output[0], F_SETFL, O_NONBLOCK) != 0)
        return XB_FAIL_ERRNO(error, "pipe2", errno, "%s cannot be started: %s", what,
                             strerror(errno));
    (void)fflush(NULL); /* what was printed before it stands before what it says itself */
    XB_TRY(xb_child_start(&watch->child, &task, error));
    close_end(watch, 1);
    if (!xb_channel_read(watch->child.channel, &code, sizeof code))
        return XB_OK;
    (void)xb_child_wait(&watch->child, INFINITY); /* it is on its last line */
    return XB_FAIL_ERRNO(error, "execvp", code, "%s cannot be started: %s", what, strerror(code));
}

/* ---- watching ---- */

/* Whether there is nothing more to wait for. What it has started may hold its output open for ever:
 * once nobody is left of its process group, no results are expected from the others. But where all
 * were told to leave, a shell may have gone before the program, which then writes its results. */
static bool is_over(const struct watch *watch)
{
    const struct xb_child *child = &watch->child;
    if (child->ended_at == 0)
        return xb_child_is_stuck(child);
    return watch->output[0] < 0 || !xb_child_is_group_left(child) ||
           xb_clock_now() >= (child->kill_at > 0 ? child->kill_at : child->ended_at + LINGER_S);
}

/* Reads a piece and keeps it, as long as it may be. Returns whether there was one to keep. */
static bool read_some(struct watch *watch)
{
    struct xb_program_outcome *outcome = watch->outcome;
    char piece[65536];
    ssize_t got = read(watch->output[0], piece, sizeof piece);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
        close_end(watch, 0);
    if (got <= 0 || outcome->too_long || watch->out_of_memory)
        return false;
    size_t length = outcome->length + (size_t)got;
    outcome->too_long = length > watch->program->largest;
    if (!outcome->too_long && length >= watch->capacity) {
        char *text = realloc(outcome->text, 2 * length + 1);
        watch->out_of_memory = text == NULL;
        watch->capacity = text != NULL ? 2 * length + 1 : watch->capacity;
        outcome->text = text != NULL ? text : outcome->text;
    }
    if (outcome->too_long || watch->out_of_memory) {
        xb_child_terminate(&watch->child, SIGTERM, HEED_S);
        return false;
    }
    memcpy(outcome->text + outcome->length, piece, (size_t)got);
    outcome->length = length;
    outcome->text[length] = '\0';
    return true;
}

/* Until it has ended and said all it has to say, or cannot be ended. Then what its output still has
 * in it, and an end to what it left behind: the next process is to be alone. */
static void watch_to_end(struct watch *watch)
{
    while (!is_over(watch)) {
        bool leaving = watch->output[0] < 0 || watch->child.ended_at > 0;
        if (xb_child_poll(&watch->child, watch->output[0], leaving ? LEAVING_MS : GLANCE_MS))
            (void)read_some(watch);
        /* Asks it to leave where there is a reason to. */
        xb_child_pass_on_signal(&watch->child, SIGTERM, WRITE_S);
        if (watch->program->end_at > 0 && xb_clock_now() >= watch->program->end_at) {
            watch->outcome->overdue = true;
            xb_child_terminate(&watch->child, SIGTERM, HEED_S);
        }
    }
    while (watch->output[0] >= 0 && read_some(watch))
        ;
    xb_child_end_group(&watch->child);
}

enum xb_status xb_program_run(const struct xb_program *program, struct xb_program_outcome *outcome,
                              struct xb_error *error)
{
    struct watch watch = {
        .program = program, .outcome = outcome, .child = {.channel = -1}, .output = {-1, -1}};
    *outcome = (struct xb_program_outcome){.exit_code = -1, .started = time(NULL)};
    double begin = xb_clock_now();
    /* A group of its own: whoever kills that of this process spares it. */
    static const struct xb_child_task guardian = {.what = "the guardian of another program",
                                                  .work = guard,
                                                  .signals = XB_CHILD_IGNORES_SIGNALS,
                                                  .files = XB_CHILD_IS_ALONE,
                                                  .leads_group = true};
    XB_TRY(xb_child_start(&watch.guardian, &guardian, error));
    enum xb_status status = start(&watch, error);
    if (status == XB_OK) {
        const struct xb_child *child = &watch.child;
        watch_to_end(&watch);
        outcome->wall_s = (child->ended_at > 0 ? child->ended_at : xb_clock_now()) - begin;
        outcome->stuck = child->ended_at == 0;
        outcome->exit_code = child->exit_code;
        outcome->signal = child->signal;
        if (outcome->stuck)
            status = XB_FAIL(error, XB_ERR_SYSTEM, "'%.300s' cannot be ended", program->path);
        else if (child->wait_error != 0)
            status = XB_FAIL_ERRNO(error, "waitpid", child->wait_error,
                                   "how '%.300s' ended is not known: %s", program->path,
                                   strerror(child->wait_error));
        else if (watch.out_of_memory)
            status = XB_FAIL(error, XB_ERR_MEMORY, "not enough memory for what '%.300s' printed",
                             program->path);
    }
    close_end(&watch, 0);
    close_end(&watch, 1);
    xb_child_close(&watch.child);
    (void)xb_child_end(&watch.guardian, 0, INFINITY); /* and not the group */
    return status;
}

/* ---- finding a program ---- */

/* 0, or the errno that running it would give. */
static int why_not(const char *path)
{
    struct stat file;
    if (stat(path, &file) != 0)
        return errno;
    if (S_ISDIR(file.st_mode))
        return EISDIR;
    if (!S_ISREG(file.st_mode))
        return EACCES;
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

static enum xb_status find_on_path(const char *program, char **path, struct xb_error *error)
{
    const char *rest = getenv("PATH");
    bool more = true;
    int code = ENOENT;
    for (rest = rest != NULL ? rest : "/bin:/usr/bin"; more; rest++) {
        size_t length = strcspn(rest, ":");
        /* An empty piece of PATH stands for the working folder. */
        char *found = xb_print("%.*s%s/%s", (int)length, rest, length == 0 ? "." : "", program);
        int reason = why_not(found);
        if (reason == 0) {
            *path = found;
            return XB_OK;
        }
        if (reason != ENOENT && reason != ENOTDIR)
            code = reason;
        free(found);
        rest += length;
        more = *rest != '\0';
    }
    return XB_FAIL_NATIVE(error, XB_ERR_USAGE, "execvp", code, xb_errno_name(code),
                          "'%.300s' is on no folder of PATH as a program that can be run: %s",
                          program, strerror(code));
}

enum xb_status xb_program_find(const char *program, char **path, struct xb_error *error)
{
    if (strchr(program, '/') == NULL)
        return find_on_path(program, path, error);
    int code = why_not(program);
    if (code != 0)
        return XB_FAIL_NATIVE(error, XB_ERR_USAGE, "execvp", code, xb_errno_name(code),
                              "'%.300s' cannot be run: %s", program, strerror(code));
    *path = xb_copy(program);
    return XB_OK;
}
