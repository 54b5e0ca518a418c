/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct fault faults[FAULT_KINDS];
struct fault_clock fault_clock;
struct fault_said fault_said;
static struct timespec stood; /* what the clock shows that stands */

void clear_faults(void)
{
    memset(faults, 0, sizeof faults);
    fault_clock = (struct fault_clock){.ahead_s = 0};
    fault_said = (struct fault_said){.text = ""};
    stood = (struct timespec){.tv_sec = 0};
}

void arm_fault(enum fault_kind kind, int code, unsigned n)
{
    faults[kind] = (struct fault){.code = code, .after = n - 1, .times = 1};
}

bool disarm_fault(enum fault_kind kind)
{
    bool was_met = faults[kind].calls > faults[kind].after;
    faults[kind] = (struct fault){.code = 0};
    return was_met;
}

/* Counts a call, and whether it fails. What is not armed is not counted: threads may call it. */
static bool strikes(enum fault_kind kind)
{
    struct fault *fault = &faults[kind];
    if (fault->code == 0 && !fault->gives && !fault->counts && fault->before == NULL &&
        fault->edit == NULL)
        return false;
    fault->calls++;
    if (fault->before != NULL)
        fault->before(fault->calls);
    return (fault->code != 0 || fault->gives) && fault->calls > fault->after &&
           (fault->times == 0 || fault->calls <= fault->after + fault->times);
}

static long failed(enum fault_kind kind)
{
    if (faults[kind].gives)
        return faults[kind].value;
    errno = faults[kind].code;
    return -1;
}

static long behind(enum fault_kind kind, long result)
{
    if (faults[kind].behind != NULL)
        faults[kind].behind(result);
    return result;
}

static size_t at_most(enum fault_kind kind, size_t bytes)
{
    return faults[kind].most > 0 && bytes > faults[kind].most ? faults[kind].most : bytes;
}

/* ---- the calls ---- */

/* Behind a call that succeeds nothing happens to what it found but `edit`. */
#define WRAP_EDITED(type, name, kind, result, parameters, ...)                                     \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        bool fails = strikes(kind);                                                                \
        if (fails && !faults[kind].does_it)                                                        \
            return (type)failed(kind);                                                             \
        type outcome = __real_##name(__VA_ARGS__);                                                 \
        if (faults[kind].edit != NULL)                                                             \
            faults[kind].edit(result, faults[kind].calls);                                         \
        return (type)(fails ? failed(kind) : behind(kind, (long)outcome));                         \
    }
#define WRAP(type, name, kind, parameters, ...)                                                    \
    WRAP_EDITED(type, name, kind, NULL, parameters, __VA_ARGS__)

WRAP(ssize_t, read, FAULT_READ, (int fd, void *to, size_t size), fd, to, at_most(FAULT_READ, size))
WRAP(ssize_t, pread, FAULT_PREAD, (int fd, void *to, size_t size, off_t offset), fd, to,
     at_most(FAULT_PREAD, size), offset)
WRAP(ssize_t, pwrite, FAULT_PWRITE, (int fd, const void *from, size_t size, off_t offset), fd, from,
     at_most(FAULT_PWRITE, size), offset)
WRAP_EDITED(int, fstat, FAULT_FSTAT, file, (int fd, struct stat *file), fd, file)
WRAP_EDITED(int, statvfs, FAULT_STATVFS, system, (const char *path, struct statvfs *system), path,
            system)
WRAP_EDITED(int, mincore, FAULT_MINCORE, ((void *[]){states, &bytes}),
            (void *begin, size_t bytes, unsigned char *states), begin, bytes, states)
WRAP(int, close, FAULT_CLOSE, (int fd), fd)
WRAP(int, fclose, FAULT_FCLOSE, (FILE * stream), stream)
WRAP(int, unlinkat, FAULT_UNLINKAT, (int folder, const char *name, int flags), folder, name, flags)
WRAP(int, linkat, FAULT_LINKAT,
     (int from_folder, const char *from, int folder, const char *to, int flags), from_folder, from,
     folder, to, flags)
WRAP(int, fchown, FAULT_FCHOWN, (int fd, uid_t owner, gid_t group), fd, owner, group)
WRAP(int, fallocate, FAULT_FALLOCATE, (int fd, int mode, off_t offset, off_t length), fd, mode,
     offset, length)
WRAP(int, fdatasync, FAULT_FDATASYNC, (int fd), fd)
WRAP(int, fsync, FAULT_FSYNC, (int fd), fd)
WRAP(pid_t, fork, FAULT_FORK, (void), )
WRAP(pid_t, waitpid, FAULT_WAITPID, (pid_t process, int *status, int options), process, status,
     options)
WRAP(pid_t, getppid, FAULT_GETPPID, (void), )
WRAP(int, poll, FAULT_POLL, (struct pollfd * found, nfds_t count, int timeout), found, count,
     timeout)
WRAP(int, xb_interrupt_signal, FAULT_SIGNAL, (void), )

/* Nobody waits for the machine's disks. */
int __wrap_syncfs(int fd)
{
    (void)fd;
    return strikes(FAULT_SYNCFS) ? (int)failed(FAULT_SYNCFS) : 0;
}

int __real_renameat2(int from_folder, const char *from, int folder, const char *to, unsigned flags);
int __wrap_renameat2(int from_folder, const char *from, int folder, const char *to, unsigned flags)
{
    bool fails = strikes(FAULT_RENAMEAT2);
    if (fails && (faults[FAULT_RENAMEAT2].flags & ~(int)flags) == 0)
        return (int)failed(FAULT_RENAMEAT2);
    return __real_renameat2(from_folder, from, folder, to, flags);
}

static bool is_meant(const struct fault *fault, const char *path, int flags)
{
    return (fault->flags & ~flags) == 0 &&
           (fault->path == NULL || strncmp(path, fault->path, strlen(fault->path)) == 0);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = va_arg(arguments, mode_t);
    va_end(arguments);
    if (is_meant(&faults[FAULT_OPEN], path, flags) && strikes(FAULT_OPEN))
        return (int)failed(FAULT_OPEN);
    return __real_open(path, flags, mode);
}

int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = va_arg(arguments, mode_t);
    va_end(arguments);
    if (is_meant(&faults[FAULT_OPENAT], path, flags) && strikes(FAULT_OPENAT))
        return (int)failed(FAULT_OPENAT);
    return __real_openat(folder, path, flags & ~faults[FAULT_OPENAT].without, mode);
}

ssize_t __real_preadv(int fd, const struct iovec *parts, int count, off_t offset);
ssize_t __wrap_preadv(int fd, const struct iovec *parts, int count, off_t offset)
{
    const struct fault *fault = &faults[FAULT_PREADV];
    struct iovec part = parts[0];
    if (strikes(FAULT_PREADV))
        return failed(FAULT_PREADV);
    assert_int_equal(count, 1);
    if (fault->blocks > 0)
        assert_int_equal(
            ((uint64_t)offset | part.iov_len | (uintptr_t)part.iov_base) % fault->blocks, 0);
    part.iov_len = at_most(FAULT_PREADV, part.iov_len);
    return __real_preadv(fd, &part, 1, offset);
}

/* Of too much, sanitizers make an error of their own. */
static bool is_lacking(size_t bytes)
{
    return bytes > SIZE_MAX / 4 || strikes(FAULT_MEMORY);
}

void *__real_realloc(void *piece, size_t bytes);
void *__wrap_realloc(void *piece, size_t bytes)
{
    return is_lacking(bytes) ? NULL : __real_realloc(piece, bytes);
}

/* Compilers make it of realloc where nothing is moved. */
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    return is_lacking(bytes) ? NULL : __real_malloc(bytes);
}

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!fault_clock.stands && fault_clock.ahead_s == 0)
        return __real_clock_gettime(clock, now);
    if (!fault_clock.stands || stood.tv_sec == 0)
        (void)__real_clock_gettime(clock, &stood);
    fault_clock.ahead_s += fault_clock.step_s;
    *now = stood;
    now->tv_sec += (time_t)fault_clock.ahead_s;
    return 0;
}

void __real_xb_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void __wrap_xb_say(const char *format, ...)
{
    char text[sizeof fault_said.text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (fault_said.is_heard)
        memcpy(fault_said.text, text, sizeof text);
    else
        __real_xb_say("%s", text);
}
