/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* syscall */
#include "child.h"

#include "clock.h"
#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
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
 * a negative number. 0 is a free place; there are never nearly so many. */
static atomic_int running[16];

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

/* ---- starting ---- */

static enum xb_status cannot_start(const struct xb_child_task *task, const char *call, int code,
                                   struct xb_error *error)
{
    return XB_FAIL_ERRNO(error, call, code, "%.300s cannot be started: %s", task->what,
                         strerror(code));
}

enum xb_status xb_child_start(struct xb_child *child, const struct xb_child_task *task,
                              struct xb_error *error)
{
    pid_t self = getpid();
    int ends[2];
    sigset_t all;
    sigset_t before;
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
    /* Here and there, whoever comes first: who is told is always the whole group, and whoever kills
     * this process's group from now on spares the child. */
    if (task->leads_group)
        (void)setpgid(process, process);
    /* Not before: where *child is in shared memory, the new process would write to it too. */
    child->process = process;
    child->channel = ends[0];
    child->ended_at = 0;
    enlist(child, true);
    return XB_OK;
}

/* ---- telling ---- */

bool xb_child_is_group_left(const struct xb_child *child)
{
    return child->process > 0 && (kill(-child->process, 0) == 0 || errno != ESRCH);
}

/* The whole group: a script's program is meant, not only the shell that waits for it. The number is
 * nobody else's as long as anybody is in that group, also when its first process is reaped. */
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

/* ---- waiting ---- */

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

/* ---- the channel ---- */

bool xb_channel_read(int channel, void *bytes, size_t count)
{
    char *to = bytes;
    while (count > 0) {
        ssize_t got = read(channel, to, count);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        count -= (size_t)got;
    }
    return true;
}

bool xb_channel_write(int channel, const void *bytes, size_t count)
{
    const char *from = bytes;
    while (count > 0) {
        ssize_t sent = send(channel, from, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        from += sent;
        count -= (size_t)sent;
    }
    return true;
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
