/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf, pipe2 */
#include "child.h"

#include "../core/clock.h"
#include "../core/forked.h"
#include "guardian.h"

#include "xferbench/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* How often a wait looks for a signal and at the clock. */
#define GLANCE_MS 50
/* The same where all is said and the process only has to leave. */
#define LEAVE_GLANCE_MS 2
/* From SIGTERM, for one that must go, to SIGKILL. */
#define HEED_S 5.0
/* The same where the caller was interrupted: it has results to write. */
#define WRITE_S 10.0
/* For what passes the program's output on, such as tee, and is a moment behind it. */
#define LINGER_S 0.5
/* From SIGKILL until it is given up. */
#define GIVE_UP_S 3.0
/* The same for the others of its group, which nobody may be there to reap. */
#define GROUP_S 1.0

/* A child that runs, and what the caller knows of it. */
struct watch {
    const struct xb_child *child;
    struct xb_child_outcome *outcome;
    struct xb_guardian guardian; /* ends its group where this process dies */
    pid_t process;
    int output;       /* the pipe it prints into; -1 once that is read to the end */
    size_t capacity;  /* of outcome->text */
    double kill_at;   /* 0 while nothing says that it must go */
    double killed_at; /* 0 before that */
    double ended_at;  /* 0 while it runs; reaped from then on */
    int wait_status;  /* of wait(2) */
    int wait_error;   /* the errno of that, 0 for none */
    bool out_of_memory;
};

/* ---- in the new process ---- */

/* What the caller ignores or catches is none of the child's business. */
static void reset_signals(void)
{
    static const int changed[] = {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;
    sigset_t none;
    for (size_t i = 0; i < sizeof changed / sizeof changed[0]; i++) {
        /* One that was ignored before this program began stays so, as nohup wants it; only for
         * these two does this program itself ask to ignore them. */
        bool own = changed[i] == SIGPIPE || changed[i] == SIGXFSZ;
        if (sigaction(changed[i], NULL, &action) == 0 && (own || action.sa_handler != SIG_IGN))
            signal(changed[i], SIG_DFL);
    }
    /* A group in the background may print to the terminal also under `stty tostop`; to read from
     * it fails, instead of stopping the group for good. */
    signal(SIGTTOU, SIG_IGN);
    signal(SIGTTIN, SIG_IGN);
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Runs the program in this process; what keeps it from that goes into the pipe `failed`. */
_Noreturn static void become(const struct watch *watch, int output, int failed)
{
    const struct xb_child *child = watch->child;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)setpgid(0, 0);
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
        xb_guardian_enlist(&watch->guardian)) {
        reset_signals();
        execvp(child->path, child->argv);
    }
    int code = errno;
    ssize_t written = write(failed, &code, sizeof code);
    _exit(written == (ssize_t)sizeof code ? 127 : 126);
}

/* ---- starting ---- */

/* fork(), with every signal blocked until the new process has given up the caller's handlers: one
 * of these would note what was meant for the program, and forget it. */
static pid_t fork_quietly(void)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    (void)fflush(NULL); /* else both would write what is in the buffers */
    pid_t process = fork();
    int code = errno;
    if (process != 0)
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return process;
}

static enum xb_status cannot_start(const struct xb_child *child, const char *call, int code,
                                   struct xb_error *error)
{
    return XB_FAIL_ERRNO(error, call, code, "'%.300s' cannot be started: %s", child->path,
                         strerror(code));
}

/* Waits until the new process runs the program; closes the pipe by which it tells if it cannot. */
static enum xb_status check_started(const struct xb_child *child, pid_t process, int failed[2],
                                    struct xb_error *error)
{
    int code = 0;
    ssize_t got;
    close(failed[1]);
    failed[1] = -1;
    while ((got = read(failed[0], &code, sizeof code)) < 0 && errno == EINTR)
        ;
    if (got != (ssize_t)sizeof code)
        return XB_OK; /* the program has its place, and the pipe is gone */
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
        ;
    return cannot_start(child, "execvp", code, error);
}

static enum xb_status start(struct watch *watch, struct xb_error *error)
{
    int output[2] = {-1, -1};
    int failed[2] = {-1, -1};
    enum xb_status status = XB_OK;
    if (pipe2(output, O_CLOEXEC) != 0 || pipe2(failed, O_CLOEXEC) != 0 ||
        fcntl(output[0], F_SETFL, O_NONBLOCK) != 0) {
        status = cannot_start(watch->child, "pipe2", errno, error);
        goto release;
    }
    watch->process = fork_quietly();
    if (watch->process < 0) {
        status = cannot_start(watch->child, "fork", errno, error);
        goto release;
    }
    if (watch->process == 0)
        become(watch, output[1], failed[1]);
    (void)setpgid(watch->process, watch->process); /* whoever comes first */
    status = check_started(watch->child, watch->process, failed, error);
    if (status == XB_OK) {
        watch->output = output[0];
        output[0] = -1;
    }
release:
    xb_forked_close_pipe(output);
    xb_forked_close_pipe(failed);
    return status;
}

/* ---- watching ---- */

/* Whether anybody is left of its group, or only a zombie of the group's that nobody reaps. */
static bool is_group_left(const struct watch *watch)
{
    return kill(-watch->process, 0) == 0 || errno != ESRCH;
}

/* The whole group: a script's program is meant, not only the shell that waits for it. The number is
 * nobody else's as long as anybody is in that group, also when its first process is reaped. */
static void tell(const struct watch *watch, int number)
{
    if (kill(-watch->process, number) != 0 && watch->ended_at == 0)
        (void)kill(watch->process, number);
}

/* It must go: asked now, killed later. */
static void dismiss(struct watch *watch, double patience)
{
    if (watch->kill_at > 0)
        return;
    watch->kill_at = xb_clock_now() + patience;
    tell(watch, SIGTERM);
    tell(watch, SIGCONT); /* one that is stopped does not hear it before */
}

static void glance(struct watch *watch)
{
    double now = xb_clock_now();
    if (xb_interrupt_signal() != 0)
        dismiss(watch, WRITE_S);
    if (xb_interrupt_count() > 1 && watch->kill_at > now)
        watch->kill_at = now;
    if (watch->child->end_at > 0 && now >= watch->child->end_at) {
        watch->outcome->overdue = true;
        dismiss(watch, HEED_S);
    }
    if (watch->kill_at > 0 && now >= watch->kill_at) {
        tell(watch, SIGKILL);
        if (watch->killed_at == 0)
            watch->killed_at = now;
    }
}

/* Notes it where the process has ended. */
static void look_for_end(struct watch *watch)
{
    pid_t found = watch->ended_at > 0 ? 0 : waitpid(watch->process, &watch->wait_status, WNOHANG);
    if (found == 0 || (found < 0 && errno == EINTR))
        return;
    if (found < 0)
        watch->wait_error = errno;
    watch->ended_at = xb_clock_now();
}

/*
 * Whether there is nothing more to wait for. What it has started may hold its output open for ever:
 * once nobody is left of its process group, no results are expected from the others. But where all
 * were told to leave, a shell may have gone before the program, which then writes its results.
 */
static bool is_over(const struct watch *watch)
{
    double now = xb_clock_now();
    if (watch->ended_at == 0)
        return watch->killed_at > 0 && now >= watch->killed_at + GIVE_UP_S;
    return watch->output < 0 || !is_group_left(watch) ||
           now >= (watch->kill_at > 0 ? watch->kill_at : watch->ended_at + LINGER_S);
}

/* Keeps what was read, as long as it may be. */
static void keep(struct watch *watch, const char *piece, size_t length)
{
    struct xb_child_outcome *outcome = watch->outcome;
    if (length > watch->child->largest - outcome->length) {
        outcome->too_long = true;
        dismiss(watch, HEED_S);
        return;
    }
    if (outcome->length + length >= watch->capacity) {
        size_t capacity = 2 * (outcome->length + length) + 1;
        char *text = realloc(outcome->text, capacity);
        if (text == NULL) {
            watch->out_of_memory = true;
            dismiss(watch, HEED_S);
            return;
        }
        outcome->text = text;
        watch->capacity = capacity;
    }
    memcpy(outcome->text + outcome->length, piece, length);
    outcome->length += length;
    outcome->text[outcome->length] = '\0';
}

/* Whether there was anything that is kept. */
static bool read_some(struct watch *watch)
{
    char piece[65536];
    ssize_t got = read(watch->output, piece, sizeof piece);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
        close(watch->output);
        watch->output = -1;
    }
    if (got > 0 && !watch->outcome->too_long && !watch->out_of_memory)
        keep(watch, piece, (size_t)got);
    return got > 0 && !watch->outcome->too_long && !watch->out_of_memory;
}

/* Until it has ended and said all it has to say, or cannot be ended. */
static void watch_to_end(struct watch *watch)
{
    while (!is_over(watch)) {
        bool leaving = watch->output < 0 || watch->ended_at > 0;
        struct pollfd ready = {.fd = watch->output, .events = POLLIN}; /* -1: nothing but a pause */
        if (poll(&ready, 1, leaving ? LEAVE_GLANCE_MS : GLANCE_MS) > 0)
            (void)read_some(watch);
        look_for_end(watch);
        glance(watch);
    }
}

/* What its output still has in it, and an end to what it left behind: the next process is to be
 * alone. */
static void clear_up(struct watch *watch)
{
    const struct timespec pause = {.tv_nsec = LEAVE_GLANCE_MS * 1000000L};
    while (watch->output >= 0 && read_some(watch))
        ;
    if (watch->output >= 0)
        close(watch->output);
    double until = xb_clock_now() + GROUP_S;
    while (watch->ended_at > 0 && is_group_left(watch) && xb_clock_now() < until) {
        tell(watch, SIGKILL);
        (void)nanosleep(&pause, NULL);
    }
}

/* What is known of its end. */
static enum xb_status judge_end(const struct watch *watch, struct xb_error *error)
{
    struct xb_child_outcome *outcome = watch->outcome;
    const char *path = watch->child->path;
    outcome->stuck = watch->ended_at == 0;
    if (outcome->stuck)
        return XB_FAIL(error, XB_ERR_SYSTEM, "'%.300s' cannot be ended", path);
    if (watch->wait_error != 0)
        return XB_FAIL_ERRNO(error, "waitpid", watch->wait_error,
                             "how '%.300s' ended is not known: %s", path,
                             strerror(watch->wait_error));
    if (WIFEXITED(watch->wait_status))
        outcome->exit_code = WEXITSTATUS(watch->wait_status);
    else if (WIFSIGNALED(watch->wait_status))
        outcome->signal = WTERMSIG(watch->wait_status);
    if (watch->out_of_memory)
        return XB_FAIL(error, XB_ERR_MEMORY, "not enough memory for what '%.300s' printed", path);
    return XB_OK;
}

enum xb_status xb_child_run(const struct xb_child *child, struct xb_child_outcome *outcome,
                            struct xb_error *error)
{
    struct watch watch = {.child = child, .outcome = outcome, .output = -1};
    *outcome = (struct xb_child_outcome){.exit_code = -1, .started = time(NULL)};
    double begin = xb_clock_now();
    /* Ignored, as it can be inherited, no end of a process would be told. */
    signal(SIGCHLD, SIG_DFL);
    enum xb_status status = xb_guardian_open(&watch.guardian, error);
    if (status != XB_OK)
        return status;
    status = start(&watch, error);
    if (status == XB_OK) {
        watch_to_end(&watch);
        clear_up(&watch);
    }
    xb_guardian_dismiss(&watch.guardian);
    if (status != XB_OK)
        return status;
    outcome->wall_s = (watch.ended_at > 0 ? watch.ended_at : xb_clock_now()) - begin;
    return judge_end(&watch, error);
}

void xb_child_free(struct xb_child_outcome *outcome)
{
    free(outcome->text);
    *outcome = (struct xb_child_outcome){.exit_code = -1};
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

/* "folder/program" for a piece of PATH; an empty one stands for the working folder. */
static char *join(const char *folder, size_t length, const char *program)
{
    char *path = NULL;
    if (length == 0) {
        folder = ".";
        length = 1;
    }
    return asprintf(&path, "%.*s/%s", (int)length, folder, program) >= 0 ? path : NULL;
}

static enum xb_status find_on_path(const char *program, char **path, struct xb_error *error)
{
    const char *rest = getenv("PATH");
    bool more = true;
    int code = ENOENT;
    for (rest = rest != NULL ? rest : "/bin:/usr/bin"; more; rest++) {
        size_t length = strcspn(rest, ":");
        char *found = join(rest, length, program);
        if (found == NULL)
            return XB_FAIL(error, XB_ERR_MEMORY, "not enough memory to look for a program");
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

enum xb_status xb_child_find(const char *program, char **path, struct xb_error *error)
{
    if (strchr(program, '/') == NULL)
        return find_on_path(program, path, error);
    int code = why_not(program);
    if (code != 0)
        return XB_FAIL_NATIVE(error, XB_ERR_USAGE, "execvp", code, xb_errno_name(code),
                              "'%.300s' cannot be run: %s", program, strerror(code));
    *path = strdup(program);
    if (*path == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "not enough memory for a program's name");
    return XB_OK;
}

const char *xb_child_signal_name(int number, char *text, size_t size)
{
    static const struct {
        int number;
        const char *name;
    } known[] = {
        {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
        {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
        {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
        {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"},
        {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].number == number)
            return known[i].name;
    snprintf(text, size, "signal %d", number);
    return text;
}
