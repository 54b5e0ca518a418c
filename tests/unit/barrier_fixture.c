/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "barrier_fixture.h"
#include "base/clock.h"
#include "base/day_time.h"

static char root[] = "/tmp/xferbench-barrier-XXXXXX";
static char folder_path[sizeof root + 8];
const char *const barrier_folder = folder_path;

/* ---- in place of the C library's ---- */

double barrier_now;

int clock_gettime(clockid_t id, struct timespec *now)
{
    if (barrier_now == 0 || id != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, id, now);
    now->tv_sec = (time_t)barrier_now;
    now->tv_nsec = (long)((barrier_now - (double)now->tv_sec) * 1e9);
    return 0;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
    if (barrier_now == 0)
        return (int)syscall(SYS_nanosleep, time, left);
    barrier_now += (double)time->tv_sec + (double)time->tv_nsec * 1e-9 + 1e-6;
    return 0;
}

size_t folder_looks;
bool folder_shows_twice, folder_breaks_off;

struct dirent *readdir(DIR *stream)
{
    static struct dirent *(*real)(DIR *);
    static struct dirent *again;
    struct dirent *entry = again;
    if (real == NULL) {
        void *symbol = dlsym(RTLD_NEXT, "readdir");
        memcpy(&real, &symbol, sizeof real);
    }
    again = NULL;
    if (entry != NULL)
        return entry;
    if (folder_breaks_off) {
        errno = EIO;
        return NULL;
    }
    entry = real(stream);
    folder_looks += entry == NULL;
    again = folder_shows_twice ? entry : NULL;
    return entry;
}

/* ---- a folder ---- */

int xb_barrier_root_open(void **state)
{
    (void)state;
    return mkdtemp(root) != NULL ? 0 : -1;
}

static void empty(const char *path)
{
    DIR *stream = opendir(path);
    for (const struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;)
        (void)unlinkat(dirfd(stream), entry->d_name, 0);
    if (stream != NULL)
        (void)closedir(stream);
    (void)rmdir(path);
}

int xb_barrier_root_close(void **state)
{
    (void)state;
    return rmdir(root);
}

/* Every test has a folder that is not there yet. */
int xb_barrier_folder_begin(void **state)
{
    (void)state;
    snprintf(folder_path, sizeof folder_path, "%s/meet", root);
    return 0;
}

int xb_barrier_folder_end(void **state)
{
    (void)state;
    empty(folder_path);
    return 0;
}

struct xb_barrier barrier_of(const char *node, int64_t rank, uint64_t tasks, double seconds)
{
    return (struct xb_barrier){.folder = folder_path,
                               .node = node,
                               .rank = rank,
                               .tasks = tasks,
                               .until = xb_clock_now() + seconds};
}

struct process start_process(const char *node, int64_t rank, uint64_t tasks, double seconds)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t id = fork();
    assert_true(id >= 0);
    if (id == 0) {
        struct told told = {.status = XB_OK};
        struct xb_error error = {.message = ""};
        const struct xb_barrier barrier = barrier_of(node, rank, tasks, seconds);
        told.status = xb_barrier_meet(&barrier, &told.start, &error);
        memcpy(told.message, error.message, sizeof told.message);
        _exit(write(ends[1], &told, sizeof told) == (ssize_t)sizeof told ? 0 : 1);
    }
    (void)close(ends[1]);
    return (struct process){.id = id, .end = ends[0]};
}

struct told end_process(const struct process *process)
{
    struct told told;
    int status = 0;
    assert_int_equal(read(process->end, &told, sizeof told), sizeof told);
    assert_int_equal(waitpid(process->id, &status, 0), process->id);
    assert_int_equal(status, 0);
    (void)close(process->end);
    return told;
}

void touch(const char *file)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder_path, file);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    assert_true(fd >= 0);
    (void)close(fd);
}

const char *wait_for(const char *beginning, char name[NAME_MAX + 1])
{
    for (name[0] = '\0'; name[0] == '\0';) {
        DIR *stream = opendir(folder_path);
        for (const struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;)
            if (strncmp(entry->d_name, beginning, strlen(beginning)) == 0)
                snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
        if (stream != NULL)
            (void)closedir(stream);
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return name;
}

bool has_file(const char *beginning)
{
    bool found = false;
    DIR *stream = opendir(folder_path);
    assert_non_null(stream);
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;)
        found = found || strncmp(entry->d_name, beginning, strlen(beginning)) == 0;
    (void)closedir(stream);
    return found;
}

void hold(const struct process *process)
{
    int status = 0;
    assert_int_equal(kill(process->id, SIGSTOP), 0);
    assert_int_equal(waitpid(process->id, &status, WUNTRACED), process->id);
    assert_true(WIFSTOPPED(status));
}

void go_on(const struct process *process)
{
    assert_int_equal(kill(process->id, SIGCONT), 0);
}

struct process start_and_answer(const char *node, const char *other, char set[17])
{
    char file[NAME_MAX + 1], name[NAME_MAX + 1];
    struct process process = start_process(node, -1, 2, GUARD_S);
    snprintf(file, sizeof file, "here.%s.", node);
    (void)wait_for(file, name);
    snprintf(file, sizeof file, "here.%s.0123456789abcdef", other);
    touch(file);
    snprintf(file, sizeof file, "seen.%s.", node);
    snprintf(set, 17, "%.16s", strrchr(wait_for(file, name), '.') + 1);
    hold(&process);
    return process;
}

void answer_of(const char *other, const char *set)
{
    char file[NAME_MAX + 1];
    snprintf(file, sizeof file, "seen.%s.%s", other, set);
    touch(file);
}

double tell_start(const char *set, double ahead_s)
{
    char file[NAME_MAX + 1];
    double microseconds = (double)(int64_t)((xb_day_time_now() + ahead_s + 1) * 1e6);
    snprintf(file, sizeof file, "start.%s.%.0f", set, microseconds);
    touch(file);
    return microseconds * 1e-6;
}
