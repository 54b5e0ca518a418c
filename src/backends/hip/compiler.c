/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memfd_create */
#include "compiler.h"
#include "library.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/interrupt.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* A compilation takes less than a second. After this time we assume that it never ends. */
#define LIMIT_S 60.0
#define OPTION_LEVEL "-O3"
#define OPTION_STANDARD "-std=c++17"
/* No log or code is larger. A reply that claims more is damaged. */
#define MOST_BYTES (UINT64_C(64) << 20)
/* The compiling process exits with this code if it wrote an explanation; else the waiting one
 * does. */
#define EXIT_EXPLAINED 3
/* How often to look whether a compilation has ended, and whether its result is still wanted. */
#define COMPILER_GLANCE_MS 5
#define CALLER_GLANCE_MS 100
/* How long the waiting process may take to end by itself, and then to die of SIGKILL. */
#define LEAVE_S 1.0

const char xb_hip_compile_options[] = OPTION_LEVEL " " OPTION_STANDARD;

struct request {
    int major;
    char architecture[64];
};

struct reply {
    bool compiled;  /* code follows; if false, an explanation for people follows */
    uint64_t bytes; /* how many bytes follow */
};

/* ---- in the process that compiles ---- */

#define RTC_FUNCTIONS(X)                                                                           \
    X(hiprtcCreateProgram, create)                                                                 \
    X(hiprtcCompileProgram, compile)                                                               \
    X(hiprtcGetProgramLogSize, log_size)                                                           \
    X(hiprtcGetProgramLog, log)                                                                    \
    X(hiprtcGetCodeSize, code_size)                                                                \
    X(hiprtcGetCode, code)                                                                         \
    X(hiprtcGetErrorString, error_text)
struct rtc {
#define X(function, field) __typeof__(function) *(field);
    RTC_FUNCTIONS(X)
#undef X
};

/* Opens hipRTC in the runtime library's own folder, so that releases are never mixed. If it is not
 * there, takes the runtime, which contains hipRTC up to 6.4. If it is there but does not load,
 * writes the loader's message to `said`. */
static bool open_rtc(int major, struct rtc *rtc, char *said, size_t size)
{
    static const struct xb_symbol symbols[] = {
#define X(function, field) {#function, offsetof(struct rtc, field), ""},
        RTC_FUNCTIONS(X)
#undef X
    };
    char path[PATH_MAX + sizeof "libhiprtc.so.2147483647"];
    const char *slash = strrchr(xb_hip.path, '/');
    int folder = slash != NULL ? (int)(slash - xb_hip.path) + 1 : 0;
    snprintf(path, sizeof path, "%.*slibhiprtc.so.%d", folder, xb_hip.path, major);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL && access(path, F_OK) == 0)
        snprintf(said, size, "%s", dlerror());
    return xb_symbols_find(handle != NULL ? handle : xb_hip.handle, symbols,
                           sizeof symbols / sizeof symbols[0], rtc) == NULL;
}

/* A single write() suffices, because `out` is a file in memory. */
static bool put(int out, const void *bytes, size_t size)
{
    return write(out, bytes, size) == (ssize_t)size;
}

static int explain(int out, const char *text)
{
    return put(out, text, strlen(text)) ? EXIT_EXPLAINED : EXIT_FAILURE;
}

/* Explains a failure by hipRTC's own log. Where that is empty hipRTC mostly could not write its
 * files, so we look at that folder. */
static int explain_result(const struct rtc *rtc, hiprtcProgram program, hiprtcResult result,
                          int out)
{
    char text[512];
    size_t size = 0;
    char *log = NULL;
    if (result == HIPRTC_SUCCESS)
        return explain(out, "hipRTC reports success but gives no code");
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

/* A compilation, as both processes see it. Both files are in memory. */
struct job {
    const struct request *request;
    int said; /* everything that hipRTC prints */
    int out;  /* the code or an explanation */
};

/* Returns the exit code of the process. */
static int compile(void *argument, int channel)
{
    const struct job *job = argument;
    const struct rlimit no_core = {0, 0};
    (void)channel;
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)dup2(job->said, STDOUT_FILENO);
    (void)dup2(job->said, STDERR_FILENO);
    struct rtc rtc;
    hiprtcProgram program = NULL;
    char architecture[96];
    char said[400] = "hipRTC was not found beside the HIP runtime, nor in it";
    snprintf(architecture, sizeof architecture, "--offload-arch=%s", job->request->architecture);
    const char *options[] = {architecture, OPTION_LEVEL, OPTION_STANDARD};
    if (!open_rtc(job->request->major, &rtc, said, sizeof said))
        return explain(job->out, said);
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
        return explain_result(&rtc, program, result, job->out);
    return put(job->out, code, size) ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- in the process that waits ---- */

/* Explains why the compiling process died. Replaces anything that it began to write. */
static void explain_death(const struct job *job, const struct xb_child *child)
{
    const char *architecture = job->request->architecture;
    char line[200];
    char text[400];
    ssize_t got = pread(job->said, line, sizeof line - 1, 0); /* what it printed, of which a line */
    line[got > 0 ? got : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    const char *separator = line[0] != '\0' ? ": " : "";
    if (child->killed_at > 0)
        snprintf(text, sizeof text, "hipRTC did not end for %s in %.0f s", architecture, LIMIT_S);
    else if (child->wait_error != 0)
        snprintf(text, sizeof text, "how hipRTC ended over %s is not known", architecture);
    else if (child->signal != 0)
        snprintf(text, sizeof text, "hipRTC died (%s) over %s, which this release may not know%s%s",
                 strsignal(child->signal), architecture, separator, line);
    else
        snprintf(text, sizeof text, "hipRTC ended its process (exit code %d) over %s%s%s",
                 child->exit_code, architecture, separator, line);
    (void)!ftruncate(job->out, 0);
    (void)lseek(job->out, 0, SEEK_SET);
    (void)explain(job->out, text);
}

/* Compiles in another process, because hipRTC may abort it. Kills that process if the caller has
 * closed its end of the channel and no longer waits for the result. */
static bool compile_apart(struct job *job, int caller)
{
    const struct xb_child_task task = {.what = "a process to compile in",
                                       .work = compile,
                                       .argument = job,
                                       .dies_with_parent = true};
    struct xb_child child;
    struct xb_error error;
    if (xb_child_start(&child, &task, &error) != XB_OK) {
        (void)explain(job->out, error.message);
        return false;
    }
    child.kill_at = xb_clock_now() + LIMIT_S;
    while (child.ended_at == 0 && !xb_child_is_stuck(&child))
        if (xb_child_poll(&child, caller, COMPILER_GLANCE_MS)) {
            xb_child_kill(&child);
            caller = -1; /* a closed channel stays readable, so waiting on it would spin */
        }
    xb_child_close(&child);
    if (child.exit_code != EXIT_SUCCESS && child.exit_code != EXIT_EXPLAINED)
        explain_death(job, &child);
    return child.exit_code == EXIT_SUCCESS;
}

static bool answer(int caller, const struct request *request)
{
    struct job job = {.request = request,
                      .said = memfd_create("hipRTC's words", MFD_CLOEXEC),
                      .out = memfd_create("code", MFD_CLOEXEC)};
    struct reply reply = {.compiled = compile_apart(&job, caller)};
    off_t size = lseek(job.out, 0, SEEK_END);
    void *bytes =
        size > 0 ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, job.out, 0) : MAP_FAILED;
    if (bytes != MAP_FAILED)
        reply.bytes = (uint64_t)size;
    else
        reply.compiled = false;
    bool sent = xb_channel_write(caller, &reply, sizeof reply) &&
                xb_channel_write(caller, bytes, reply.bytes);
    if (bytes != MAP_FAILED)
        (void)munmap(bytes, (size_t)size);
    (void)close(job.said);
    (void)close(job.out);
    return sent;
}

/* Answers requests until the other end is closed. The kernel closes it when that process ends, in
 * whatever way. */
static int wait_for_requests(void *argument, int channel)
{
    struct request request;
    (void)argument;
    while (xb_channel_read(channel, &request, sizeof request) && answer(channel, &request))
        continue;
    return EXIT_SUCCESS;
}

/* ---- in the process that measures ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool started; /* never fork again: after HIP is initialised it is too late */
static struct xb_child compiler = {.channel = -1};

/* Reaps the waiting process when this one ends: in a container whose first process reaps nobody, it
 * would stay as a zombie. Gives up after a while: it may hang in the kernel. */
static void stop(void)
{
    xb_child_close(&compiler);
    (void)xb_child_end(&compiler, LEAVE_S, LEAVE_S);
}

enum xb_status xb_hip_compiler_start(struct xb_error *error)
{
    /* The waiting process must not die with this thread, which may end before this process. */
    static const struct xb_child_task task = {.what = "the process that compiles kernels",
                                              .work = wait_for_requests,
                                              .signals = XB_CHILD_IGNORES_SIGNALS,
                                              .files = XB_CHILD_IS_ALONE};
    enum xb_status status = XB_OK;
    pthread_mutex_lock(&lock);
    if (!started) {
        status = xb_child_start(&compiler, &task, error);
        started = status == XB_OK;
        if (started)
            (void)atexit(stop);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* Sends the request and reads the reply, unless a signal or the deadline ends the run before.
 * *bytes gets the bytes behind the reply and a zero byte; the caller frees it, also on failure. */
static bool exchange(const struct request *request, struct reply *reply, char **bytes)
{
    int channel = compiler.channel;
    bool replied = false;
    if (channel < 0 || !xb_channel_write(channel, request, sizeof *request))
        return false;
    while (!replied && !xb_interrupt_is_due())
        replied = xb_child_poll(&compiler, channel, CALLER_GLANCE_MS);
    if (!replied || !xb_channel_read(channel, reply, sizeof *reply) || reply->bytes > MOST_BYTES)
        return false;
    *bytes = calloc(1, reply->bytes + 1);
    return *bytes != NULL && xb_channel_read(channel, *bytes, reply->bytes);
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
    if (!answered)
        xb_child_close(&compiler); /* a late reply would be read as that of the next request */
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
