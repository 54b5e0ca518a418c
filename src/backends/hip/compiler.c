/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memfd_create */
#include "compiler.h"
#include "library.h"

#include "../../core/forked.h"

#include "xferbench/interrupt.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A compilation takes less than a second; one that takes this long does not end. */
#define LIMIT_S 60u
#define OPTION_LEVEL "-O3"
#define OPTION_STANDARD "-std=c++17"
/* More than any log or code of ours; what claims to be larger is not from us. */
#define MOST_BYTES (UINT64_C(64) << 20)
/* How a compiling process ends that has said itself what is wrong; any other end is explained for
 * it.
 */
#define EXIT_EXPLAINED 3
/* How often a wait looks whether it is still wanted. */
#define COMPILER_GLANCE_MS 5
/* How many of these the waiting process may take to leave: a second. */
#define LEAVE_GLANCES 200
#define CALLER_GLANCE_MS 100

const char xb_hip_compile_options[] = OPTION_LEVEL " " OPTION_STANDARD;

struct request {
    int major;
    char architecture[64];
};

struct reply {
    bool compiled;  /* what follows is code; else a text for people */
    uint64_t bytes; /* that follow */
};

/* ---- in the process that compiles ---- */

struct rtc {
    __typeof__(hiprtcCreateProgram) *create;
    __typeof__(hiprtcCompileProgram) *compile;
    __typeof__(hiprtcGetProgramLogSize) *log_size;
    __typeof__(hiprtcGetProgramLog) *log;
    __typeof__(hiprtcGetCodeSize) *code_size;
    __typeof__(hiprtcGetCode) *code;
    __typeof__(hiprtcGetErrorString) *error_text;
};

/* From the library's own folder first: never mix releases. Up to 6.4 the runtime has it inside. One
 * that is there and does not load is `said`. */
static void *open_rtc(int major, char *said, size_t size)
{
    char path[PATH_MAX + sizeof "libhiprtc.so.2147483647"];
    const char *slash = strrchr(xb_hip.path, '/');
    int folder = slash != NULL ? (int)(slash - xb_hip.path) + 1 : 0;
    snprintf(path, sizeof path, "%.*slibhiprtc.so.%d", folder, xb_hip.path, major);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL && access(path, F_OK) == 0)
        snprintf(said, size, "%s", dlerror());
    return handle != NULL ? handle : xb_hip.handle;
}

static bool find_rtc(void *handle, struct rtc *rtc)
{
    const struct {
        const char *name;
        size_t place;
    } functions[] = {
        {"hiprtcCreateProgram", offsetof(struct rtc, create)},
        {"hiprtcCompileProgram", offsetof(struct rtc, compile)},
        {"hiprtcGetProgramLogSize", offsetof(struct rtc, log_size)},
        {"hiprtcGetProgramLog", offsetof(struct rtc, log)},
        {"hiprtcGetCodeSize", offsetof(struct rtc, code_size)},
        {"hiprtcGetCode", offsetof(struct rtc, code)},
        {"hiprtcGetErrorString", offsetof(struct rtc, error_text)},
    };
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *found = dlsym(handle, functions[i].name);
        if (found == NULL)
            return false;
        memcpy((char *)rtc + functions[i].place, &found, sizeof found);
    }
    return true;
}

static bool write_all(int fd, const void *bytes, size_t count)
{
    const char *from = bytes;
    while (count > 0) {
        ssize_t written = write(fd, from, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        from += written;
        count -= (size_t)written;
    }
    return true;
}

static int explain(int out, const char *text)
{
    return write_all(out, text, strlen(text)) ? EXIT_EXPLAINED : EXIT_FAILURE;
}

/* hipRTC's own log says best what is wrong; without one it mostly could not write its files. */
static int explain_result(const struct rtc *rtc, hiprtcProgram program, hiprtcResult result,
                          int out)
{
    char text[512];
    size_t size = 0;
    char *log = NULL;
    if (result == HIPRTC_SUCCESS)
        return explain(out, "hipRTC says that it succeeded, and gives no code");
    if (rtc->log_size(program, &size) == HIPRTC_SUCCESS && size > 1)
        log = calloc(1, size + 1);
    if (log != NULL && rtc->log(program, log) == HIPRTC_SUCCESS && log[0] != '\0') {
        snprintf(text, sizeof text, "%s: %.400s", rtc->error_text(result), log);
    } else {
        const char *folder = getenv("TMPDIR");
        folder = folder != NULL ? folder : "/tmp";
        bool writable = access(folder, W_OK) == 0;
        snprintf(text, sizeof text, "%s, and its log is empty%s%.200s", rtc->error_text(result),
                 writable ? "" : ": it cannot write to ", writable ? "" : folder);
    }
    free(log);
    return explain(out, text);
}

/* Compiles and writes the code, or what went wrong, to `out`. The exit code of its process. */
static int compile_to(const struct request *request, int out)
{
    struct rtc rtc;
    hiprtcProgram program = NULL;
    char architecture[96];
    char said[400] = "hipRTC was not found beside the HIP runtime, nor in it";
    snprintf(architecture, sizeof architecture, "--offload-arch=%s", request->architecture);
    const char *options[] = {architecture, OPTION_LEVEL, OPTION_STANDARD};
    if (!find_rtc(open_rtc(request->major, said, sizeof said), &rtc))
        return explain(out, said);
    size_t size = 0;
    hiprtcResult result =
        rtc.create(&program, xb_hip_kernel_text, "xferbench kernels", 0, NULL, NULL);
    if (result == HIPRTC_SUCCESS)
        result = rtc.compile(program, 3, options);
    if (result == HIPRTC_SUCCESS)
        result = rtc.code_size(program, &size);
    char *code = result == HIPRTC_SUCCESS && size > 0 ? malloc(size) : NULL;
    if (code != NULL)
        result = rtc.code(program, code);
    if (code == NULL || result != HIPRTC_SUCCESS)
        return explain_result(&rtc, program, result, out);
    return write_all(out, code, size) ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- in the process that waits ---- */

/* The first line of what a process that died has said, without its end. */
static void first_line(int fd, char *text, size_t size)
{
    ssize_t got = pread(fd, text, size - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

/* Why a compilation has no outcome of its own, written over what it may have begun to write. */
static void explain_death(const struct request *request, int status, int said, int out)
{
    char line[200];
    char text[400];
    first_line(said, line, sizeof line);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(text, sizeof text, "hipRTC did not come to an end for %s in %u s",
                 request->architecture, LIMIT_S);
    else if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "hipRTC died (%s) over %s, which this release may not know%s%s",
                 strsignal(WTERMSIG(status)), request->architecture, line[0] != '\0' ? ": " : "",
                 line);
    else
        snprintf(text, sizeof text, "hipRTC ended its process (exit code %d) over %s%s%s",
                 WEXITSTATUS(status), request->architecture, line[0] != '\0' ? ": " : "", line);
    (void)!ftruncate(out, 0);
    (void)lseek(out, 0, SEEK_SET);
    (void)explain(out, text);
}

/* Waits for the process that compiles; ends it where nobody waits for its outcome any more. */
static bool wait_for(pid_t child, int channel, int *status)
{
    for (;;) {
        pid_t ended = waitpid(child, status, WNOHANG);
        if (ended != 0 && !(ended < 0 && errno == EINTR))
            return ended == child;
        struct pollfd caller = {.fd = channel, .events = 0};
        if (poll(&caller, 1, COMPILER_GLANCE_MS) > 0)
            (void)kill(child, SIGKILL);
    }
}

/* Compiles in one more process, so that this one survives it. `out` gets code or an explanation. */
static bool compile_apart(const struct request *request, int channel, int out)
{
    int said = memfd_create("hipRTC's words", MFD_CLOEXEC);
    pid_t self = getpid();
    pid_t child = fork();
    if (child == 0) {
        xb_forked_die_with(self);
        const struct rlimit no_core = {0, 0};
        (void)setrlimit(RLIMIT_CORE, &no_core);
        (void)dup2(said, STDOUT_FILENO);
        (void)dup2(said, STDERR_FILENO);
        (void)alarm(LIMIT_S);
        _exit(compile_to(request, out));
    }
    int status = 0;
    bool ended = child > 0 && wait_for(child, channel, &status);
    if (!ended)
        (void)explain(out, "no process could be had to compile in");
    else if (!WIFEXITED(status) ||
             (WEXITSTATUS(status) != EXIT_SUCCESS && WEXITSTATUS(status) != EXIT_EXPLAINED))
        explain_death(request, status, said, out);
    (void)close(said);
    return ended && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

static bool read_all(int fd, void *bytes, size_t count)
{
    char *to = bytes;
    while (count > 0) {
        ssize_t got = read(fd, to, count);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        count -= (size_t)got;
    }
    return true;
}

/* Answers one request. */
static bool answer(int channel, const struct request *request)
{
    struct reply reply = {.compiled = false};
    int out = memfd_create("code", MFD_CLOEXEC);
    reply.compiled = compile_apart(request, channel, out);
    off_t size = lseek(out, 0, SEEK_END);
    reply.bytes = size > 0 ? (uint64_t)size : 0;
    void *bytes = size > 0 ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, out, 0) : MAP_FAILED;
    if (bytes == MAP_FAILED)
        reply = (struct reply){.compiled = false};
    bool sent = write_all(channel, &reply, sizeof reply) &&
                (reply.bytes == 0 || write_all(channel, bytes, reply.bytes));
    if (bytes != MAP_FAILED)
        (void)munmap(bytes, (size_t)size);
    (void)close(out);
    return sent;
}

/* Until the other end is closed, which the kernel does when that process ends, however it does. */
_Noreturn static void wait_for_requests(int channel)
{
    struct request request;
    channel = xb_forked_settle(channel);
    while (read_all(channel, &request, sizeof request) && answer(channel, &request))
        continue;
    _exit(EXIT_SUCCESS);
}

/* ---- in the process that measures ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool started; /* once: when HIP is initialised it is too late */
static int channel = -1;
static pid_t waiting;

/* Whether the waiting process ends soon, and is reaped. */
static bool is_reaped(void)
{
    const struct timespec glance = {.tv_nsec = COMPILER_GLANCE_MS * 1000000L};
    for (int i = 0; i < LEAVE_GLANCES; i++) {
        if (waitpid(waiting, NULL, WNOHANG) != 0)
            return true;
        (void)nanosleep(&glance, NULL);
    }
    return false;
}

/* When this process ends: else a container whose first process does not care would keep it. One
 * that waits for a compiler in the kernel, which cannot be ended, is not waited for. */
static void stop(void)
{
    if (channel >= 0)
        (void)close(channel);
    if (is_reaped())
        return;
    (void)kill(waiting, SIGKILL);
    (void)is_reaped();
}

static enum xb_status fork_compiler(struct xb_error *error)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return XB_FAIL_ERRNO(error, "socketpair", errno, "no channel to a process that compiles");
    waiting = fork();
    if (waiting < 0) {
        int code = errno;
        (void)close(ends[0]);
        (void)close(ends[1]);
        return XB_FAIL_ERRNO(error, "fork", code, "no process to compile kernels in");
    }
    if (waiting == 0)
        wait_for_requests(ends[1]);
    (void)close(ends[1]);
    channel = ends[0];
    started = true;
    (void)atexit(stop);
    return XB_OK;
}

enum xb_status xb_hip_compiler_start(struct xb_error *error)
{
    enum xb_status status = XB_OK;
    pthread_mutex_lock(&lock);
    if (!started)
        status = fork_compiler(error);
    pthread_mutex_unlock(&lock);
    return status;
}

static bool send_request(const struct request *request)
{
    return send(channel, request, sizeof *request, MSG_NOSIGNAL) == (ssize_t)sizeof *request;
}

/* Whether a reply comes before a signal or the deadline ends the run. */
static bool wait_for_reply(void)
{
    struct pollfd reply = {.fd = channel, .events = POLLIN};
    while (!xb_interrupt_is_due())
        if (poll(&reply, 1, CALLER_GLANCE_MS) > 0)
            return true;
    return false;
}

/* One exchange: *bytes are what followed the reply, with a zero byte behind them; to be freed. */
static bool exchange(const struct request *request, struct reply *reply, char **bytes)
{
    if (channel < 0 || !send_request(request) || !wait_for_reply() ||
        !read_all(channel, reply, sizeof *reply) || reply->bytes > MOST_BYTES)
        return false;
    *bytes = calloc(1, reply->bytes + 1);
    return *bytes != NULL && read_all(channel, *bytes, reply->bytes);
}

enum xb_status xb_hip_compile(const char *architecture, int major, struct xb_hip_code *code,
                              struct xb_error *error)
{
    struct request request = {.major = major};
    struct reply reply = {.compiled = false};
    char *bytes = NULL;
    snprintf(request.architecture, sizeof request.architecture, "%s", architecture);
    pthread_mutex_lock(&lock);
    bool answered = exchange(&request, &reply, &bytes);
    if (!answered && channel >= 0) { /* what comes next would be out of step */
        (void)close(channel);
        channel = -1;
    }
    pthread_mutex_unlock(&lock);
    if (answered && reply.compiled) {
        code->bytes = bytes;
        code->size = reply.bytes;
        return XB_OK;
    }
    if (!answered && xb_interrupt_is_due())
        return XB_FAIL(error, XB_ERR_STOPPED, "the compiler of the kernels was not waited for");
    enum xb_status status =
        XB_FAIL(error, XB_ERR_UNSUPPORTED, "the kernels cannot be compiled: %s",
                answered && reply.bytes > 0 ? bytes : "the process that compiles does not answer");
    free(bytes);
    return status;
}
