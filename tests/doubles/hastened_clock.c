/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * A clock that a test puts forward, in a program that is otherwise xferbench: it is ahead of the
 * machine's by as many seconds as the file that XB_CLOCK_AHEAD in the environment names has bytes.
 * So nobody waits the ten seconds that xferbench gives a process to leave.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

/* The linker puts the first in the other's place (tests/CMakeLists.txt). */
int __real_clock_gettime(clockid_t id, struct timespec *now);

/* Called in signal handlers too: it only asks for the file's size. */
int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
    const char *path = getenv("XB_CLOCK_AHEAD");
    struct stat file;
    int status = __real_clock_gettime(id, now);
    if (path != NULL && stat(path, &file) == 0)
        now->tv_sec += (time_t)file.st_size;
    return status;
}
