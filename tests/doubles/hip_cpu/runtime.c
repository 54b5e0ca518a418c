/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* The process: what is counted and failed for a test, what is left at its end. */
#include "control.h"
#include "internal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Spins before it sleeps: who is woken mostly finds it taken for another moment. */
pthread_mutex_t standin_lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
struct standin_head *standin_open[STANDIN_OBJECTS];
unsigned standin_live[STANDIN_OBJECTS];

/* ---- what is open ---- */

void standin_keep(void *object, enum standin_object kind)
{
    struct standin_head *head = object;
    *head = (struct standin_head){standin_open[kind], kind, standin_current};
    standin_open[kind] = head;
    standin_live[kind]++;
}

/* The place that points to it, or the list's end. */
static struct standin_head **place_of(const void *object, enum standin_object kind)
{
    struct standin_head **place = &standin_open[kind];
    while (*place != NULL && *place != object)
        place = &(*place)->next;
    return place;
}

bool standin_is(const void *object, enum standin_object kind)
{
    return *place_of(object, kind) != NULL;
}

bool standin_forget(const void *object, enum standin_object kind)
{
    struct standin_head **place = place_of(object, kind);
    if (*place == NULL)
        return false;
    *place = (*place)->next;
    standin_live[kind]--;
    return true;
}

hipError_t standin_close(void *object, enum standin_object kind, hipError_t unknown)
{
    pthread_mutex_lock(&standin_lock);
    bool known = standin_forget(object, kind);
    pthread_mutex_unlock(&standin_lock);
    REFUSE_IF(!known, unknown);
    free(object);
    return hipSuccess;
}

/* ---- counting, failing, and the end ---- */

#define CALL_NAME(name) #name,
static const char *const call_names[] = {STANDIN_CALLS(CALL_NAME)};

/* hipRTC is called in a forked child: the counts are shared with it, or no test saw its calls. */
static atomic_ulong *calls;
static atomic_ulong calls_of_one_process[STANDIN_CALL_COUNT];
static pid_t owner;
/* How many calls of hipSetDevice and hipStreamSynchronize were failed that did not close something.
 */
static atomic_ulong struck_in_use;
/* The one that nothing has followed yet. Devices are opened by several threads at the same time,
 * and a call is followed by one of its own thread. */
static _Thread_local enum standin_call last_struck = STANDIN_CALL_COUNT;

/* For ever. With SIGALRM blocked: who sets an alarm for a call cannot count on it. A test can see
 * that it is here by that. */
_Noreturn static void hang(void)
{
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    (void)pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    for (;;)
        pause();
}

/* In the loader, or when the process leaves. */
static void hang_where(const char *place)
{
    const char *asked = getenv("XB_STANDIN_HANG");
    if (asked != NULL && strcmp(asked, place) == 0)
        hang();
}

__attribute__((constructor)) static void begin(void)
{
    owner = getpid();
    calls = mmap(NULL, sizeof calls_of_one_process, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (calls == MAP_FAILED)
        calls = calls_of_one_process;
    hang_where("dlopen");
}

int standin_setting(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? (int)strtol(text, NULL, 10) : otherwise;
}

/* Whether this call is one that a variable names, as NAME:3 or NAME:3+. */
static bool is_named(const char *variable, enum standin_call call, unsigned long number)
{
    const char *asked = getenv(variable);
    size_t length = strlen(call_names[call]);
    if (asked == NULL || strncmp(asked, call_names[call], length) != 0 || asked[length] != ':')
        return false;
    char *behind;
    unsigned long first = strtoul(asked + length + 1, &behind, 10);
    return number == first || (number > first && *behind == '+');
}

static bool closes(enum standin_call call)
{
    return call <= CALL_hipMemPoolTrimTo;
}

/*
 * Who closes an object first selects its device, and waits for a stream: a failure of that changes
 * no figure, and any other does. Only the calls that come next tell the two apart: a wait to close
 * has hipStreamDestroy behind it, and the choice of a device a call that closes, or such a wait.
 */
static void follow_struck(enum standin_call call, bool fails)
{
    enum standin_call before = last_struck;
    last_struck = fails ? call : STANDIN_CALL_COUNT;
    bool waits = call == CALL_hipStreamSynchronize;
    if (before == CALL_hipSetDevice && waits && !fails)
        last_struck = CALL_hipStreamSynchronize;
    else if (before == CALL_hipSetDevice)
        atomic_fetch_add(&struck_in_use, !waits && !closes(call));
    else if (before == CALL_hipStreamSynchronize)
        atomic_fetch_add(&struck_in_use, call != CALL_hipStreamDestroy);
}

int standin_called(enum standin_call call)
{
    unsigned long number = atomic_fetch_add(&calls[call], 1) + 1;
    if (is_named("XB_STANDIN_HANG", call, number))
        hang();
    bool fails = is_named("XB_STANDIN_FAIL", call, number);
    follow_struck(call, fails);
    if (!fails)
        return 0;
    return standin_setting("XB_STANDIN_CODE", call >= CALL_hiprtcCreateProgram
                                                  ? (int)HIPRTC_ERROR_INTERNAL_ERROR
                                                  : (int)hipErrorUnknown);
}

hipError_t standin_unlock(hipError_t result)
{
    pthread_mutex_unlock(&standin_lock);
    return result;
}

hipError_t standin_freed(int asked_for, hipError_t result)
{
    return asked_for != 0 ? (hipError_t)asked_for : result;
}

void standin_begin_anew(void)
{
    for (size_t i = 0; i < STANDIN_CALL_COUNT; i++)
        atomic_store(&calls[i], 0);
    atomic_store(&struck_in_use, 0);
    last_struck = STANDIN_CALL_COUNT;
    memset(standin_told, 0, sizeof standin_told);
}

unsigned long standin_calls_of(const char *name)
{
    for (size_t i = 0; i < STANDIN_CALL_COUNT; i++)
        if (strcmp(call_names[i], name) == 0)
            return atomic_load(&calls[i]);
    return 0;
}

unsigned long standin_struck_in_use(void)
{
    return atomic_load(&struck_in_use);
}

unsigned standin_left(void)
{
    unsigned left = 0;
    pthread_mutex_lock(&standin_lock);
    for (size_t i = 0; i < STANDIN_OBJECTS; i++)
        left += standin_live[i];
    pthread_mutex_unlock(&standin_lock);
    return left;
}

static void write_trace(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        return;
    }
    for (size_t i = 0; i < STANDIN_CALL_COUNT; i++)
        fprintf(file, "%s %lu\n", call_names[i], atomic_load(&calls[i]));
    fprintf(file, "last-copy-blocks %u\n", standin_last_copy_blocks);
    if (atomic_load(&struck_in_use) > 0)
        fprintf(file, "struck-in-use %lu\n", atomic_load(&struck_in_use));
    fclose(file);
}

#define OBJECT_TEXT(name, text) text,
/* A leak fails the test that made it, whatever the test itself returned. */
__attribute__((destructor)) static void end(void)
{
    static const char *const objects[] = {STANDIN_OBJECT_LIST(OBJECT_TEXT)};
    if (getpid() != owner)
        return;
    hang_where("exit");
    const char *path = getenv("XB_STANDIN_TRACE");
    if (path != NULL)
        write_trace(path);
    bool leaked = false;
    pthread_mutex_lock(&standin_lock);
    for (size_t i = 0; i < STANDIN_OBJECTS; i++) {
        if (standin_live[i] != 0)
            fprintf(stderr, "hip stand-in: leaked %u %s\n", standin_live[i], objects[i]);
        leaked = leaked || standin_live[i] != 0;
    }
    pthread_mutex_unlock(&standin_lock);
    if (leaked) {
        fflush(NULL); /* nobody does it after _exit */
        _exit(97);
    }
}

/* ---- AMD's roctx, which a profiler puts into a program. The backend finds it only in one that is
 * linked to this library, or where LD_PRELOAD names it. ---- */

char standin_told[4096];

const char *standin_told_profiler(void)
{
    return standin_told;
}

static int note(char letter, int object, int change)
{
    pthread_mutex_lock(&standin_lock);
    size_t length = strlen(standin_told);
    if (length + 1 < sizeof standin_told)
        standin_told[length] = letter;
    standin_live[object] += (unsigned)change;
    pthread_mutex_unlock(&standin_lock);
    return 0;
}

#pragma GCC visibility push(default)

int roctxRangePushA(const char *name)
{
    char letter = 'c';
    if (strncmp(name, "sample", 6) == 0)
        letter = strncmp(name, "samples of ", 11) == 0 ? 'S' : 's';
    return note(letter, STANDIN_RANGE, 1);
}

int roctxRangePop(void)
{
    return note(')', STANDIN_RANGE, -1);
}

/* Thread 0 is all of them. */
int roctxProfilerResume(uint64_t thread)
{
    return note(thread == 0 ? '<' : '?', STANDIN_CAPTURE, 1);
}

int roctxProfilerPause(uint64_t thread)
{
    return note(thread == 0 ? '>' : '?', STANDIN_CAPTURE, -1);
}

#pragma GCC visibility pop
