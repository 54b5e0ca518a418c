/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* syscall, pipe2, sigabbrev_np */
#include "child.h"

#include "clock.h"
#include "interrupt.h"
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Between two looks at a process that only has to leave. */
#define LEAVING_MS 2
/* From SIGKILL until a process is given up. */
#define GIVE_UP_S 3.0
/* Until the rest of its group is given up: their parent may be gone and could not reap them. */
#define GROUP_S 1.0

/* The children that this process has now, for xb_children_abandon: what kill() takes, so a group is
 * a negative number. 0 is a free place; 255 that read files (--readers) and a few others fit. */
static atomic_int running[288];

/* Puts a child in the list, or takes it out. */
static void enlist(const struct xb_child *child, bool runs)
{
    int target = child->leads_group ? -child->process : child->process;
    for (size_t i = 0; i < sizeof running / sizeof running[0]; i++) {
        int here = runs ? 0 : target;
        if (atomic_compare_exchange_strong(&running[i], &here, runs ? target : 0))
            return;
    }
}

void xb_children_abandon(void)
{
    for (size_t i = 0; i < sizeof running / sizeof running[0]; i++)
        if (atomic_load(&running[i]) != 0)
            (void)kill(atomic_load(&running[i]), SIGKILL);
}

/* ---- in the new process ---- */

/* Returns the channel's number, which may be another one now. */
static int set_files(enum xb_child_files files, int channel)
{
    const int kept = STDERR_FILENO + 1;
    if (files == XB_CHILD_KEEPS_FILES)
        return channel;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
        (void)dup2(null, fd);
    if (null > STDERR_FILENO)
        close(null);
    if (files == XB_CHILD_IS_SILENT)
        return channel;
    if (channel != kept)
        (void)dup2(channel, kept);
    (void)syscall(SYS_close_range, kept + 1, ~0U, 0);
    return kept;
}

/* All signals are blocked until here. */
static void set_signals(enum xb_child_signals signals, const sigset_t *parents_mask)
{
    /* What src/base/interrupt.c catches or ignores. */
    static const int changed[] = {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP};
    sigset_t none;
    (void)sigemptyset(&none);
    if (signals == XB_CHILD_KEEPS_SIGNALS) {
        (void)sigprocmask(SIG_SETMASK, parents_mask, NULL);
        return;
    }
    for (size_t i = 0; i < sizeof changed / sizeof changed[0]; i++) {
        struct sigaction action;
        /* One that was ignored before this program began stays so, as nohup wants it; only these
         * two does the program itself ask to ignore. */
        bool own = changed[i] == SIGPIPE || changed[i] == SIGXFSZ;
        if (signals == XB_CHILD_IGNORES_SIGNALS)
            (void)signal(changed[i], SIG_IGN);
        else if (own || (sigaction(changed[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN))
            (void)signal(changed[i], SIG_DFL);
    }
    /* A group in the background may print to the terminal also under `stty tostop`; reading from
     * it fails, instead of stopping the group for good. */
    (void)signal(SIGTTOU, SIG_IGN);
    (void)signal(SIGTTIN, SIG_IGN);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void become(const struct xb_child_task *task, const int ends[2], pid_t parent,
                             const sigset_t *parents_mask)
{
    for (size_t i = 0; i < sizeof running / sizeof running[0]; i++)
        atomic_store(&running[i], 0); /* its parent's */
    if (task->leads_group)
        (void)setpgid(0, 0);
    if (task->dies_with_parent) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* it fails for no signal that exists */
        if (getppid() != parent) /* it died before the line above: nobody would tell */
            (void)kill(getpid(), SIGKILL);
    }
    close(ends[0]); /* else it would hold the channel open for itself */
    int channel = set_files(task->files, ends[1]);
    set_signals(task->signals, parents_mask);
    _exit(task->work(task->argument, channel));
}

static enum xb_status cannot_start(const struct xb_child_task *task, const char *call, int code,
                                   struct xb_error *error)
{
    return XB_FAIL_ERRNO(error, call, code, "%.310s cannot be started: %s", task->what,
                         strerror(code));
}

enum xb_status xb_child_start(struct xb_child *child, const struct xb_child_task *task,
                              struct xb_error *error)
{
    pid_t self = getpid();
    int ends[2];
    sigset_t all, before;
    *child = (struct xb_child){.leads_group = task->leads_group, .channel = -1, .exit_code = -1};
    child->ended_at = xb_clock_now(); /* until it has begun there is nothing to end */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return cannot_start(task, "socketpair", errno, error);
    /* Ignored, as it can be inherited, no end of a process would be told. */
    (void)signal(SIGCHLD, SIG_DFL);
    /* Blocked until the new process has given up its parent's handlers: one of these would note
     * what was meant for the child, and forget it. */
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    pid_t process = fork();
    if (process == 0)
        become(task, ends, self, &before);
    int code = errno;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return cannot_start(task, "fork", code, error);
    }
    /* Here and in the child, whoever comes first: from now on signals to it reach its whole group,
     * and those to this process's group spare it. */
    if (task->leads_group)
        (void)setpgid(process, process);
    /* Not before: where *child is in shared memory, the new process would write to it too. */
    child->process = process;
    child->channel = ends[0];
    child->ended_at = 0;
    enlist(child, true);
    xb_memory_end_also(xb_children_abandon);
    return XB_OK;
}

bool xb_child_is_group_left(const struct xb_child *child)
{
    return child->process > 0 && (kill(-child->process, 0) == 0 || errno != ESRCH);
}

/* Signals the whole group: a script's program is meant, not only the shell that waits for it. The
 * number is nobody else's while anybody is in that group, even if its first process is reaped. */
static void tell(const struct xb_child *child, int number)
{
    if (child->process <= 0 || (child->leads_group && kill(-child->process, number) == 0))
        return; /* kill() would take such a number for this process's own group, or all there are */
    if (child->ended_at == 0)
        (void)kill(child->process, number);
}

void xb_child_terminate(struct xb_child *child, int number, double patience_s)
{
    if (child->kill_at > 0)
        return;
    child->kill_at = xb_clock_now() + patience_s;
    tell(child, number);
    tell(child, SIGCONT); /* one that is stopped does not hear it before */
}

void xb_child_pass_on_signal(struct xb_child *child, int number, double patience_s)
{
    if (xb_interrupt_signal() != 0)
        xb_child_terminate(child, number, patience_s);
    if (xb_interrupt_count() > 1)
        xb_child_kill(child);
}

void xb_child_kill(struct xb_child *child)
{
    double now = xb_clock_now();
    tell(child, SIGKILL);
    if (child->killed_at == 0)
        child->killed_at = now;
    if (child->kill_at == 0 || child->kill_at > now)
        child->kill_at = now;
}

void xb_child_end_group(const struct xb_child *child)
{
    double until = xb_clock_now() + GROUP_S;
    while (child->ended_at > 0 && xb_child_is_group_left(child) && xb_clock_now() < until) {
        tell(child, SIGKILL);
        (void)poll(NULL, 0, LEAVING_MS);
    }
}

static void look_for_end(struct xb_child *child)
{
    int status = 0;
    pid_t found = child->ended_at > 0 ? 0 : waitpid(child->process, &status, WNOHANG);
    if (found == 0 || (found < 0 && errno == EINTR))
        return;
    child->ended_at = xb_clock_now();
    enlist(child, false);
    if (found < 0)
        child->wait_error = errno;
    else if (WIFEXITED(status))
        child->exit_code = WEXITSTATUS(status);
    else if (WIFSIGNALED(status))
        child->signal = WTERMSIG(status);
}

bool xb_child_poll(struct xb_child *child, int fd, int pause_ms)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    bool is_ready = poll(&ready, 1, pause_ms) > 0;
    look_for_end(child);
    if (child->kill_at > 0 && xb_clock_now() >= child->kill_at)
        xb_child_kill(child);
    return is_ready;
}

bool xb_child_wait(struct xb_child *child, double until)
{
    look_for_end(child);
    while (child->ended_at == 0 && xb_clock_now() < until)
        (void)xb_child_poll(child, -1, LEAVING_MS);
    return child->ended_at > 0;
}

bool xb_child_is_stuck(const struct xb_child *child)
{
    return child->ended_at == 0 && child->killed_at > 0 &&
           xb_clock_now() >= child->killed_at + GIVE_UP_S;
}

bool xb_child_end(struct xb_child *child, double patience_s, double reap_s)
{
    if (!xb_child_wait(child, xb_clock_now() + patience_s)) {
        xb_child_kill(child);
        (void)xb_child_wait(child, xb_clock_now() + reap_s);
    }
    xb_child_close(child);
    return child->ended_at > 0;
}

void xb_child_close(struct xb_child *child)
{
    if (child->channel >= 0)
        close(child->channel);
    child->channel = -1;
}

bool xb_channel_pass(int channel, char *bytes, size_t count, bool is_write)
{
    while (count > 0) {
        ssize_t passed =
            is_write ? send(channel, bytes, count, MSG_NOSIGNAL) : read(channel, bytes, count);
        if (passed < 0 && errno == EINTR)
            continue;
        if (passed <= 0)
            return false;
        bytes += passed;
        count -= (size_t)passed;
    }
    return true;
}

const char *xb_child_signal_name(int number, char *text, size_t size)
{
    const char *name = sigabbrev_np(number);
    if (name != NULL)
        snprintf(text, size, "SIG%s", name);
    else
        snprintf(text, size, "signal %d", number);
    return text;
}

const char *xb_child_end_text(int exit_code, int number, char *text, size_t size)
{
    char name[32];
    if (number != 0)
        snprintf(text, size, "was ended by %s", xb_child_signal_name(number, name, sizeof name));
    else
        snprintf(text, size, "ended with exit code %d", exit_code);
    return text;
}

/* ---- another program ---- */

/* Between two looks at a program that runs. */
#define GLANCE_MS 50
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

/* The guardian: a small process that ends the program's group when this process dies, however it
 * dies: then the other end of its channel closes. PR_SET_PDEATHSIG would reach the group's first
 * process alone, and that may be a shell, whose program would go on. */
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
        return cannot_start(&task, "pipe2", errno, error);
    (void)fflush(NULL); /* what was printed before it stands before what it says itself */
    XB_TRY(xb_child_start(&watch->child, &task, error));
    close_end(watch, 1);
    if (!xb_channel_read(watch->child.channel, &code, sizeof code))
        return XB_OK;
    (void)xb_child_wait(&watch->child, INFINITY); /* it is on its last line */
    return cannot_start(&task, "execvp", code, error);
}

/* Whether there is nothing more to wait for. Others may hold its output open for ever: once nobody
 * is left of its process group, no results are expected from them. But where all were told to
 * leave, a shell may have gone before the program, which then writes its results. */
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
        struct xb_child *child = &watch.child;
        while (!is_over(&watch)) {
            bool leaving = watch.output[0] < 0 || child->ended_at > 0;
            if (xb_child_poll(child, watch.output[0], leaving ? LEAVING_MS : GLANCE_MS))
                (void)read_some(&watch);
            /* Asks it to leave where there is a reason to. */
            xb_child_pass_on_signal(child, SIGTERM, WRITE_S);
            if (program->end_at > 0 && xb_clock_now() >= program->end_at) {
                outcome->overdue = true;
                xb_child_terminate(child, SIGTERM, HEED_S);
            }
        }
        /* What its output still has; what it left behind: the next process is to be alone. */
        while (watch.output[0] >= 0 && read_some(&watch))
            ;
        xb_child_end_group(child);
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

enum xb_status xb_program_find(const char *program, char **path, struct xb_error *error)
{
    bool has_folder = strchr(program, '/') != NULL;
    const char *rest = has_folder ? "" : getenv("PATH");
    int code = ENOENT;
    for (rest = rest != NULL ? rest : "/bin:/usr/bin";; rest++) {
        size_t length = strcspn(rest, ":");
        /* An empty piece of PATH stands for the working folder. */
        char *found =
            has_folder ? xb_copy(program)
                       : xb_print("%.*s%s/%s", (int)length, rest, length == 0 ? "." : "", program);
        /* 0, or the errno that running it would give. */
        struct stat file;
        int reason = stat(found, &file) != 0                             ? errno
                     : S_ISDIR(file.st_mode)                             ? EISDIR
                     : !S_ISREG(file.st_mode)                            ? EACCES
                     : faccessat(AT_FDCWD, found, X_OK, AT_EACCESS) == 0 ? 0
                                                                         : errno;
        if (reason == 0) {
            *path = found;
            return XB_OK;
        }
        free(found);
        if (has_folder || (reason != ENOENT && reason != ENOTDIR))
            code = reason;
        rest += length;
        if (*rest == '\0')
            break;
    }
    return XB_FAIL_NATIVE(
        error, XB_ERR_USAGE, "execvp", code, xb_errno_name(code), "'%.300s' %s: %s", program,
        has_folder ? "cannot be run" : "is on no folder of PATH as a program that can be run",
        strerror(code));
}
