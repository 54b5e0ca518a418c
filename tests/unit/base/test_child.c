/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2 */
/* The supervisor of child processes. Nothing here waits for time to pass: processes tell each other
 * through channels and pipes, and the clock and waitpid() say what a test wants where one is stuck.
 */
#include "base/child.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "faults.h"
#include "rows.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Ends a test that hangs, on a machine that is busy too. */
#define GUARD_MS 240000

/* Pipes: new processes begin, and their parent goes on, once something is in it. */
static int gate[2] = {-1, -1};
static int parents_gate[2] = {-1, -1};

static void wait_at_gate(long process)
{
    char word;
    const int *pipe = process == 0 ? gate : parents_gate;
    if (process >= 0 && pipe[0] >= 0)
        (void)!read(pipe[0], &word, 1);
}

static int begin(NO_STATE)
{
    clear_faults();
    faults[FAULT_FORK].behind = wait_at_gate;
    return 0;
}
#define CHILD_TEST(name) TEST_WITH(name, begin, NULL)

/* ---- helpers ---- */

static struct xb_child start(const struct xb_child_task *task)
{
    struct xb_error error = {.message = ""};
    struct xb_child child;
    if (xb_child_start(&child, task, &error) != XB_OK)
        fail_msg("%s", error.message);
    return child;
}

static struct xb_child start_work(int (*work)(void *argument, int channel), void *argument)
{
    return start(&(struct xb_child_task){.what = "it", .work = work, .argument = argument});
}

static void hear(int channel, char word)
{
    char heard = 0;
    assert_true(xb_channel_read(channel, &heard, 1));
    assert_int_equal(heard, word);
}

static void say(int channel, char word)
{
    (void)xb_channel_write(channel, &word, 1);
}

static void say_to_pipe(const int ends[2])
{
    (void)!write(ends[1], "", 1);
}

static void close_gate(int ends[2])
{
    close(ends[0]);
    close(ends[1]);
    ends[0] = ends[1] = -1;
}

/* Whether the other end of a pipe is closed by now, or in a while. */
static bool is_closed(int fd, int patience_ms)
{
    struct pollfd end = {.fd = fd};
    return poll(&end, 1, patience_ms) == 1 && (end.revents & POLLHUP) != 0;
}

static void wait_for_end(struct xb_child *child)
{
    assert_true(xb_child_wait(child, INFINITY));
    xb_child_close(child);
}

static void assert_exits(struct xb_child *child, int code)
{
    wait_for_end(child);
    assert_int_equal(child->exit_code, code);
}

static void assert_killed(struct xb_child *child, int number)
{
    wait_for_end(child);
    assert_int_equal(child->signal, number);
}

/* ---- what a child does ---- */

static int leave_with(void *argument, int channel)
{
    (void)channel;
    return *(const int *)argument;
}

static int die_by(void *argument, int channel)
{
    (void)channel;
    (void)raise(*(const int *)argument);
    return 0;
}

/* Says that it is there, and then leaves when it is told to or its parent has ended. */
static int wait_for_word(void *argument, int channel)
{
    char word;
    (void)argument;
    say(channel, 'r');
    return xb_channel_read(channel, &word, 1) ? 0 : 4;
}

static int heedless(void *argument, int channel)
{
    (void)signal(SIGTERM, SIG_IGN);
    return wait_for_word(argument, channel);
}

static int told_channel;

static void leave_at_once(int number)
{
    (void)!write(told_channel, "t", 1);
    _exit(number);
}

static int heedful(void *argument, int channel)
{
    told_channel = channel;
    (void)signal(SIGTERM, leave_at_once);
    return wait_for_word(argument, channel);
}

static int stopped(void *argument, int channel)
{
    told_channel = channel;
    (void)signal(SIGTERM, leave_at_once);
    (void)raise(SIGSTOP);
    return wait_for_word(argument, channel);
}

/* Leaves a process of its group behind, which has its files. */
static int leave_another_behind(void *argument, int channel)
{
    if (fork() != 0)
        return 0;
    (void)signal(SIGTERM, SIG_IGN);
    return wait_for_word(argument, channel);
}

/* Says that it is there, and does not leave before all tests are over. */
static int hang(void *argument, int channel)
{
    (void)argument;
    (void)alarm(2 * GUARD_MS / 1000);
    say(channel, 'r');
    while (pause() != 0)
        continue;
    return 0;
}

/* Starts a process that dies with it. */
static int start_another(void *argument, int channel)
{
    const struct xb_child_task task = {
        .what = "another", .work = hang, .argument = argument, .dies_with_parent = true};
    struct xb_child child = start(&task);
    hear(child.channel, 'r');
    return wait_for_word(argument, channel);
}

/* Starts a process that would stay, and ends for want of memory. */
static int lack_memory(void *argument, int channel)
{
    const struct xb_child_task task = {.what = "another", .work = hang, .argument = argument};
    struct xb_child child = start(&task);
    (void)channel;
    hear(child.channel, 'r');
    xb_memory_end(1);
}

/* What it does with signals, for each: 'd' default, 'i' ignored, 'h' by a handler, and whether all
 * are let through. */
#define SIGNALS 5
static int tell_signals(void *argument, int channel)
{
    static const int numbers[SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
    char text[SIGNALS + 1];
    sigset_t mask;
    (void)argument;
    for (size_t i = 0; i < SIGNALS; i++) {
        struct sigaction action;
        (void)sigaction(numbers[i], NULL, &action);
        text[i] = action.sa_handler == SIG_DFL ? 'd' : action.sa_handler == SIG_IGN ? 'i' : 'h';
    }
    (void)sigprocmask(SIG_SETMASK, NULL, &mask);
    text[SIGNALS] = sigismember(&mask, SIGUSR2) ? 'b' : 'o';
    return xb_channel_write(channel, text, sizeof text) ? 0 : 1;
}

/* ---- how it ended ---- */

CHILD_TEST(end_that_somebody_else_was_told)
{
    int code = 0;
    struct xb_child child = start_work(leave_with, &code);
    assert_int_equal(waitpid(child.process, NULL, 0), child.process);
    wait_for_end(&child);
    assert_int_equal(child.wait_error, ECHILD);
    assert_int_equal(child.exit_code, -1);
}

CHILD_TEST(process_that_cannot_be_had)
{
    const struct xb_child_task task = {.what = "the guest", .work = leave_with};
    struct xb_error error = {.message = ""};
    struct xb_child child;
    int before = dup(STDIN_FILENO);
    close(before);
    faults[FAULT_FORK].code = EAGAIN;
    assert_int_equal(xb_child_start(&child, &task, &error), XB_ERR_SYSTEM);
    faults[FAULT_FORK].code = 0;
    assert_non_null(strstr(error.message, "the guest cannot be started"));
    assert_int_equal(child.channel, -1);
    int after = dup(STDIN_FILENO);
    close(after);
    assert_int_equal(after, before);
}

static volatile sig_atomic_t noted;

static void note(int number)
{
    noted = number;
}

/* In a group of its own: what is for nobody must not reach the whole of that. */
static int start_nobody(void *argument, int channel)
{
    const struct xb_child_task task = {.what = "nobody", .work = leave_with, .leads_group = true};
    struct xb_error error;
    struct xb_child child;
    (void)argument;
    (void)channel;
    (void)signal(SIGUSR1, note);
    faults[FAULT_FORK].code = EAGAIN;
    if (xb_child_start(&child, &task, &error) == XB_OK)
        return 1;
    xb_child_terminate(&child, SIGUSR1, INFINITY);
    xb_child_end_group(&child);
    return xb_child_end(&child, INFINITY, INFINITY) && noted == 0 ? 23 : 2;
}

/* Where both write to the same memory, the one that is started does not say that it is process 0.
 */
CHILD_TEST(child_in_shared_memory)
{
    const struct xb_child_task task = {.what = "it", .work = wait_for_word};
    struct xb_error error;
    struct xb_child *child =
        mmap(NULL, sizeof *child, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(child != MAP_FAILED);
    assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
    assert_int_equal(xb_child_start(child, &task, &error), XB_OK);
    say_to_pipe(gate);
    hear(child->channel, 'r');
    assert_true(child->process > 0);
    assert_true(child->channel >= 0);
    assert_true(xb_child_end(child, 0, INFINITY));
    close_gate(gate);
    assert_int_equal(munmap(child, sizeof *child), 0);
}

/* ---- its end, where it does not come by itself ---- */

/* As a driver can hold it in the kernel. */
CHILD_TEST(one_that_cannot_be_ended_is_given_up)
{
    struct xb_child child = start_work(wait_for_word, NULL);
    hear(child.channel, 'r');
    faults[FAULT_WAITPID].gives = true; /* no process that has ended */
    fault_clock.stands = true;          /* else the next lines would have to be fast */
    xb_child_kill(&child);
    assert_false(xb_child_wait(&child, 0));
    assert_false(xb_child_is_stuck(&child));
    fault_clock.ahead_s += 600;
    assert_true(xb_child_is_stuck(&child));
    assert_false(xb_child_end(&child, 0, 0));
    clear_faults();
    wait_for_end(&child);
    assert_false(xb_child_is_stuck(&child));
}

CHILD_TEST(glance_tells_of_a_file)
{
    struct xb_child child = start_work(wait_for_word, NULL);
    assert_true(xb_child_poll(&child, child.channel, GUARD_MS));
    hear(child.channel, 'r');
    assert_false(xb_child_poll(&child, child.channel, 0));
    say(child.channel, '.');
    assert_true(xb_child_poll(&child, child.channel, GUARD_MS)); /* it closes its end */
    assert_exits(&child, 0);
}

/* ---- its group, and its parent ---- */

CHILD_TEST(group_ends_with_it)
{
    int ends[2];
    const struct xb_child_task task = {
        .what = "it", .work = leave_another_behind, .leads_group = true};
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct xb_child child = start(&task);
    close(ends[1]);
    hear(child.channel, 'r');
    assert_true(xb_child_wait(&child, INFINITY));
    assert_int_equal(child.exit_code, 0);
    assert_true(xb_child_is_group_left(&child));
    assert_false(is_closed(ends[0], 0));
    xb_child_end_group(&child);
    assert_true(is_closed(ends[0], GUARD_MS));
    xb_child_close(&child);
    close(ends[0]);
}

static int tell_group(void *argument, int channel)
{
    (void)argument;
    say(channel, getpgrp() == getpid() ? 'y' : 'n');
    if (parents_gate[1] >= 0)
        say_to_pipe(parents_gate);
    return 0;
}

/* Whichever of the two comes first: it may be told, or run another program, at once. */
CHILD_TEST(group_is_there_at_once)
{
    const struct xb_child_task task = {.what = "it", .work = tell_group, .leads_group = true};
    assert_int_equal(pipe2(parents_gate, O_CLOEXEC), 0);
    struct xb_child child = start(&task);
    close_gate(parents_gate);
    hear(child.channel, 'y');
    wait_for_end(&child);
    assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
    child = start(&task);
    assert_int_equal(getpgid(child.process), child.process);
    say_to_pipe(gate);
    close_gate(gate);
    wait_for_end(&child);
}

static int abandon_all(void *argument, int channel)
{
    (void)argument;
    (void)channel;
    xb_children_abandon();
    return 23;
}

/* Whoever runs, but no brother. */
CHILD_TEST(abandoned_children_are_killed)
{
    const struct xb_child_task tasks[] = {
        {.what = "it", .work = heedless},
        {.what = "it", .work = heedless, .leads_group = true},
        {.what = "it", .work = abandon_all},
    };
    struct xb_child children[3];
    for (size_t i = 0; i < 3; i++)
        children[i] = start(&tasks[i]);
    assert_exits(&children[2], 23);
    hear(children[0].channel, 'r');
    hear(children[1].channel, 'r');
    xb_children_abandon();
    for (size_t i = 0; i < 2; i++) {
        assert_killed(&children[i], SIGKILL);
    }
}

CHILD_TEST(one_that_dies_with_its_parent)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct xb_child child = start_work(start_another, NULL);
    close(ends[1]);
    hear(child.channel, 'r');
    assert_true(xb_child_end(&child, 0, INFINITY));
    assert_true(is_closed(ends[0], GUARD_MS)); /* only the other process had it still */
    close(ends[0]);
}

CHILD_TEST(one_whose_parent_has_no_memory)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct xb_child child = start_work(lack_memory, NULL);
    close(ends[1]);
    assert_exits(&child, EXIT_FAILURE);
    assert_true(is_closed(ends[0], GUARD_MS)); /* only the other process had it still */
    close(ends[0]);
}

/* ---- what it inherits ---- */

CHILD_TEST(one_that_is_alone_has_no_file)
{
    int ends[2];
    const struct xb_child_task task = {
        .what = "it", .work = wait_for_word, .files = XB_CHILD_IS_ALONE};
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct xb_child child = start(&task);
    close(ends[1]);
    hear(child.channel, 'r');
    assert_true(is_closed(ends[0], 0));
    say(child.channel, '.');
    assert_exits(&child, 0);
    close(ends[0]);
}

/* It has the other files, but whoever reads this process's output does not wait for it. */
CHILD_TEST(one_that_is_silent_has_no_output)
{
    static const enum xb_child_files files[] = {XB_CHILD_KEEPS_FILES, XB_CHILD_IS_SILENT};
    for (size_t i = 0; i < 2; i++) {
        int ends[2];
        const struct xb_child_task task = {.what = "it", .work = wait_for_word, .files = files[i]};
        int output = dup(STDOUT_FILENO);
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
        assert_int_equal(fcntl(ends[1], F_SETFD, FD_CLOEXEC), 0);
        close(ends[1]);
        struct xb_child child = start(&task);
        assert_int_equal(dup2(output, STDOUT_FILENO), STDOUT_FILENO);
        hear(child.channel, 'r');
        assert_int_equal(is_closed(ends[0], 0), files[i] == XB_CHILD_IS_SILENT);
        assert_true(xb_child_end(&child, 0, INFINITY));
        close(ends[0]);
        close(output);
    }
}

static void do_nothing(int number)
{
    (void)number;
}

/* With this process's SIGHUP ignored before it began, as nohup does. */
CHILD_TEST(signals_are_what_was_asked)
{
    static const struct {
        enum xb_child_signals signals;
        const char *expected;
    } rows[] = {
        {XB_CHILD_KEEPS_SIGNALS, "hhiiib"},
        {XB_CHILD_RESETS_SIGNALS, "ddiddo"},
        {XB_CHILD_IGNORES_SIGNALS, "iiiiio"},
    };
    sigset_t mask;
    (void)sigemptyset(&mask);
    (void)sigaddset(&mask, SIGUSR2);
    (void)sigprocmask(SIG_BLOCK, &mask, NULL);
    (void)signal(SIGINT, do_nothing);
    (void)signal(SIGTERM, do_nothing);
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char told[SIGNALS + 2] = "";
        const struct xb_child_task task = {
            .what = "it", .work = tell_signals, .signals = rows[i].signals};
        struct xb_child child = start(&task);
        assert_true(xb_channel_read(child.channel, told, SIGNALS + 1));
        assert_string_equal(told, rows[i].expected);
        wait_for_end(&child);
    }
    (void)sigprocmask(SIG_UNBLOCK, &mask, NULL);
}

/* Not a child's word: a write to one that has ended fails, and kills nobody. */
CHILD_TEST(channel_whose_other_end_is_closed)
{
    int code = 0;
    char word;
    struct xb_child child = start_work(leave_with, &code);
    (void)signal(SIGPIPE, SIG_DFL);
    assert_true(xb_child_wait(&child, INFINITY));
    assert_false(xb_channel_read(child.channel, &word, 1));
    assert_false(xb_channel_write(child.channel, "x", 1));
    xb_child_close(&child);
}

/* ---- a signal to this process ---- */

/* In a process of its own, which never forgets that it was interrupted. */
static int be_interrupted(void *argument, int channel)
{
    const struct xb_child_task asked = {.what = "it", .work = heedful};
    const struct xb_child_task killed = {.what = "it", .work = heedless};
    (void)argument;
    (void)channel;
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    xb_interrupt_catch_twice();
    struct xb_child first = start(&asked);
    struct xb_child second = start(&killed);
    hear(first.channel, 'r');
    hear(second.channel, 'r');
    xb_child_pass_on_signal(&first, SIGTERM, INFINITY);
    assert_true(first.kill_at == 0);
    (void)raise(SIGINT);
    xb_child_pass_on_signal(&first, SIGTERM, INFINITY);
    xb_child_pass_on_signal(&second, SIGTERM, INFINITY);
    hear(first.channel, 't');
    assert_exits(&first, SIGTERM);
    assert_true(second.killed_at == 0);
    fault_clock.ahead_s += 600; /* else it would be the same request */
    (void)raise(SIGINT);
    xb_child_pass_on_signal(&second, SIGTERM, INFINITY);
    assert_true(second.kill_at <= xb_clock_now()); /* nobody waits for the rest of its patience */
    assert_killed(&second, SIGKILL);
    return 23;
}

/* The second time so many seconds later. */
static int asked_twice(void *argument, int channel)
{
    (void)channel;
    (void)signal(SIGTERM, SIG_DFL);
    fault_clock.stands = true;
    xb_interrupt_catch();
    (void)raise(SIGTERM);
    fault_clock.ahead_s += *(const int *)argument;
    (void)raise(SIGTERM);
    return xb_interrupt_count();
}

/* Has caught one signal when it says so, and then looks at nothing any more, as in a library that
 * hangs. */
_Noreturn static int get_stuck(void *argument, int channel)
{
    (void)signal(*(const int *)argument, SIG_DFL); /* it may be ignored, as by nohup */
    xb_interrupt_catch();
    (void)raise(*(const int *)argument);
    fault_clock.ahead_s += 600; /* else the next would be the same request */
    say(channel, 's');
    for (;;)
        ;
}

CHILD_TEST(second_signal_ends_what_is_stuck)
{
    static int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const struct xb_child_task task = {
            .what = "it", .work = get_stuck, .argument = &numbers[i], .dies_with_parent = true};
        struct xb_child child = start(&task);
        hear(child.channel, 's');
        assert_int_equal(kill(child.process, numbers[i]), 0);
        assert_killed(&child, numbers[i]);
    }
}

/* ---- lives of children: child.txt ---- */

static void set_up_life(const char *word)
{
    if (strcmp(word, "ends ignored") == 0) /* inherited, it has the kernel reap all children */
        (void)signal(SIGCHLD, SIG_IGN);
    else if (strcmp(word, "orphan") == 0)
        faults[FAULT_GETPPID] = (struct fault){.gives = true, .value = 1};
}

static void take_step(struct xb_child *child, const char *step)
{
    int status = 0, seconds = 0;
    if (strncmp(step, "hear ", 5) == 0)
        hear(child->channel, step[5]);
    else if (strcmp(step, "ask") == 0)
        xb_child_terminate(child, SIGTERM, INFINITY);
    else if (sscanf(step, "ask for %d s", &seconds) == 1)
        xb_child_terminate(child, SIGTERM, seconds);
    else if (strcmp(step, "kill again") == 0) /* it was asked already */
        xb_child_terminate(child, SIGKILL, 0);
    else if (sscanf(step, "wait %d s", &seconds) == 1) {
        (void)xb_child_poll(child, -1, 0);
        assert_true(child->killed_at == 0);
        fault_clock.ahead_s += seconds;
    } else if (strcmp(step, "see it stopped") == 0) {
        assert_int_equal(waitpid(child->process, &status, WUNTRACED), child->process);
        assert_true(WIFSTOPPED(status));
    } else if (strcmp(step, "end") == 0)
        assert_true(xb_child_end(child, 0, INFINITY) && child->channel == -1);
    else if (strcmp(step, "end patiently") == 0) {
        xb_child_close(child);
        assert_true(xb_child_end(child, INFINITY, 0));
    } else
        fail_msg("no step '%s'", step);
}

/* "work | its number | set-up | steps": how it ended. */
static void say_life(const struct row *row, char said[ROW_TEXT])
{
    static const struct {
        const char *name;
        int (*work)(void *argument, int channel);
    } works[] = {{"leave", leave_with},          {"die", die_by},
                 {"wait", wait_for_word},        {"heedless", heedless},
                 {"heedful", heedful},           {"stopped", stopped},
                 {"start nobody", start_nobody}, {"be interrupted", be_interrupted},
                 {"asked twice", asked_twice}};
    int number = (int)row_number(row, 1);
    struct xb_child_task task = {.what = "it",
                                 .argument = &number,
                                 .leads_group = strcmp(row->part[2], "leader") == 0,
                                 .dies_with_parent = strcmp(row->part[2], "orphan") == 0};
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++)
        if (strcmp(works[i].name, row->part[0]) == 0)
            task.work = works[i].work;
    assert_int_equal(begin(NULL), 0);
    set_up_life(row->part[2]);
    struct xb_child child = start(&task);
    for (size_t i = 3; i < row->count; i++)
        take_step(&child, row->part[i]);
    if (child.channel >= 0)
        wait_for_end(&child);
    assert_false(xb_child_is_stuck(&child));
    assert_int_equal(child.wait_error, 0);
    assert_int_equal(waitpid(child.process, NULL, WNOHANG), -1); /* it is reaped */
    (void)signal(SIGCHLD, SIG_DFL);
    if (child.signal != 0)
        say_also(said, "by signal %d, exit code %d", child.signal, child.exit_code);
    else
        say_also(said, "exits %d", child.exit_code);
    say_also(said, "%s", child.killed_at != 0 ? ", killed by its parent" : "");
}
TEST_ROWS(a_child_ends_like_this, say_life)
