/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `xferbench explain -- COMMAND` looks through: a shared object of its own, which the driver
 * loads into every CUDA program whose environment names it (CUDA_INJECTION64_PATH). By CUPTI it
 * notes copies, fills, kernels and calls, and appends them to the file that XFERBENCH_EXPLAIN names
 * as events of a Chrome trace, whole events in one write, so that several processes share the file.
 * It never changes what the program does, and never prints.
 */
#define _GNU_SOURCE /* dladdr, program_invocation_short_name, RTLD_NOLOAD */
#include <cupti.h>

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* CUPTI's releases that begin their records as these types do, of CUDA 11.8 to 13. */
#define OLDEST 18
#define NEWER 140000
typedef CUpti_ActivityKernel8 kernel_record;
typedef CUpti_ActivityMemcpy5 copy_record;
typedef CUpti_ActivityMemcpyPtoP4 peer_record;
typedef CUpti_ActivityMemset4 fill_record;
#if CUPTI_API_VERSION >= 130000
#define SAME(one, other, member)                                                                   \
    static_assert(offsetof(one, member) == offsetof(other, member), #member)
SAME(kernel_record, CUpti_ActivityKernel10, end);
SAME(kernel_record, CUpti_ActivityKernel10, streamId);
SAME(kernel_record, CUpti_ActivityKernel10, correlationId);
SAME(kernel_record, CUpti_ActivityKernel10, name);
SAME(copy_record, CUpti_ActivityMemcpy6, correlationId);
#endif

#define BUFFER ((size_t)1 << 20) /* of records, which CUPTI fills */
#define FLUSH_US 100000          /* a program that crashes loses no more than its last */
#define TEXT ((size_t)256 << 10) /* of events, before they are written */
#define EVENT ((size_t)4096)     /* the longest is shorter */
#define MARKS 256                /* NVTX ranges that are open at a time; more are not seen */
#define NAME 512                 /* of a kernel or a mark; the rest is cut off */

#define CUPTI_CALLS(call)                                                                          \
    call(cuptiGetVersion);                                                                         \
    call(cuptiGetResultString);                                                                    \
    call(cuptiGetTimestamp);                                                                       \
    call(cuptiGetCallbackName);                                                                    \
    call(cuptiSubscribe);                                                                          \
    call(cuptiEnableCallback);                                                                     \
    call(cuptiActivityRegisterCallbacks);                                                          \
    call(cuptiActivityEnable);                                                                     \
    call(cuptiActivityFlushAll);                                                                   \
    call(cuptiActivityGetNextRecord);                                                              \
    call(cuptiActivityGetNumDroppedRecords)

static struct {
#define DECLARE(name) __typeof__(&(name)) name
    CUPTI_CALLS(DECLARE);
} cupti;

static struct {
    int file;
    pid_t process; /* that was begun in: a child that it forks writes nothing */
    uint64_t zero; /* nanoseconds: small times keep their digits in any reader */
    uint64_t dropped;
    pthread_mutex_t flushing; /* held while records are asked for, but at the end of a context */
    bool is_over;             /* nobody asks any more: the program takes itself down */
    pthread_mutex_t lock;     /* of what follows */
    char *text;
    size_t length;
    struct mark {
        uint32_t id;
        uint64_t begin, thread;
        char name[NAME];
    } * marks;
    size_t mark_count;
} own = {.flushing = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- events ---- */

static void write_text(void)
{
    for (size_t done = 0; done < own.length;) {
        ssize_t written = write(own.file, own.text + done, own.length - done);
        if (written <= 0 && errno != EINTR)
            break; /* a full disk loses the trace, and nothing of the program */
        done += written > 0 ? (size_t)written : 0;
    }
    own.length = 0;
}

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(own.text + own.length, EVENT, format, arguments);
    va_end(arguments);
    own.length += length > 0 && (size_t)length < EVENT ? (size_t)length : 0;
}

/* A text as JSON takes it; `escaped` holds 2 * NAME. */
static const char *escape(const char *text, char *escaped)
{
    size_t length = 0;
    for (size_t i = 0; text != NULL && text[i] != '\0' && i < NAME - 1; i++) {
        if (text[i] == '"' || text[i] == '\\')
            escaped[length++] = '\\';
        escaped[length++] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
    }
    escaped[length] = '\0';
    return escaped;
}
#define ESCAPE(text) escape((text), (char[2 * NAME]){0})

/* What every event has; its arguments follow, and "}}". Microseconds are made of whole numbers: the
 * program's locale may write a comma into others. */
static void begin_event(const char *category, const char *name, uint64_t thread, uint64_t begin,
                        uint64_t end)
{
    uint64_t since = begin > own.zero ? begin - own.zero : 0,
             length = end > begin ? end - begin : 0;
    add("{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":%" PRIu64
        ",\"ts\":%" PRIu64 ".%03u,\"dur\":%" PRIu64 ".%03u,\"args\":{",
        category, ESCAPE(name), (int)own.process, thread, since / 1000, (unsigned)(since % 1000),
        length / 1000, (unsigned)(length % 1000));
}

/* What was not over when its record was asked for has no times: it is counted as lost. */
static void add_gpu_event(const char *category, const char *name, uint32_t device, uint32_t stream,
                          uint32_t correlation, uint64_t bytes, uint64_t begin, uint64_t end)
{
    if (end == 0) {
        own.dropped++;
        return;
    }
    begin_event(category, name, stream, begin, end);
    add("\"device\":%u,\"stream\":%u,\"correlation\":%u", device, stream, correlation);
    add(bytes > 0 ? ",\"bytes\":%" PRIu64 "}},\n" : "}},\n", bytes);
}

static void add_fact(const char *name, const char *key, const char *text)
{
    add("{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"args\":{\"%s\":\"%s\"}},\n", name,
        (int)own.process, key, ESCAPE(text));
}

/* ---- records ---- */

static const char *memory_name(uint8_t kind)
{
    static const char *const names[] = {
        [CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE] = "Pageable",
        [CUPTI_ACTIVITY_MEMORY_KIND_PINNED] = "Pinned",
        [CUPTI_ACTIVITY_MEMORY_KIND_DEVICE] = "Device",
        [CUPTI_ACTIVITY_MEMORY_KIND_ARRAY] = "Array",
        [CUPTI_ACTIVITY_MEMORY_KIND_MANAGED] = "Managed",
        [CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC] = "Device Static",
        [CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC] = "Managed Static"};
    return kind < sizeof names / sizeof *names && names[kind] != NULL ? names[kind] : "Unknown";
}

static const char *way_name(uint8_t kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
        return "HtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
        return "DtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
        return "HtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
        return "PtoP";
    default:
        return "DtoD";
    }
}

/* The name of a copy, for as long as the block that it stands in. */
#define COPY_NAME(way, from, to) name_copy((way), (from), (to), (char[64]){0}, 64)
static const char *name_copy(uint8_t way, uint8_t from, uint8_t to, char *name, size_t size)
{
    snprintf(name, size, "Memcpy %s (%s -> %s)", way_name(way), memory_name(from), memory_name(to));
    return name;
}

/* The name of a call without its version, "cudaMemcpyAsync" of "cudaMemcpyAsync_v3020_ptsz"; NULL
 * for one that neither starts, moves nor makes anything. */
static const char *call_name(const CUpti_ActivityAPI *call, char *text, size_t size)
{
    static const char *const told[] = {"emcpy",          "emset",    "aunch",
                                       "lloc",           "Free",     "HostRegister",
                                       "HostUnregister", "Prefetch", "Synchronize"};
    const char *name = NULL;
    bool is_runtime = call->kind == CUPTI_ACTIVITY_KIND_RUNTIME;
    if (cupti.cuptiGetCallbackName(is_runtime ? CUPTI_CB_DOMAIN_RUNTIME_API
                                              : CUPTI_CB_DOMAIN_DRIVER_API,
                                   call->cbid, &name) != CUPTI_SUCCESS)
        return NULL;
    const char *version = strstr(name, "_v");
    snprintf(text, size, "%.*s", (int)(version != NULL ? version - name : NAME), name);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (strstr(text, told[i]) != NULL)
            return text;
    return NULL;
}

static void take_mark(const CUpti_ActivityMarker2 *mark)
{
    size_t at = 0;
    while (at < own.mark_count && own.marks[at].id != mark->id)
        at++;
    if ((mark->flags & CUPTI_ACTIVITY_FLAG_MARKER_START) != 0 && own.mark_count < MARKS) {
        struct mark *open = &own.marks[own.mark_count++];
        open->id = mark->id;
        open->begin = mark->timestamp;
        open->thread = mark->objectId.pt.threadId;
        snprintf(open->name, sizeof open->name, "%s", mark->name != NULL ? mark->name : "");
    } else if ((mark->flags & CUPTI_ACTIVITY_FLAG_MARKER_END) != 0 && at < own.mark_count) {
        struct mark *open = &own.marks[at];
        begin_event("nvtx", open->name, open->thread, open->begin, mark->timestamp);
        add("}},\n");
        *open = own.marks[--own.mark_count];
    }
}

static void take_record(const CUpti_Activity *record)
{
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const copy_record *copy = (const void *)record;
        add_gpu_event("gpu_memcpy", COPY_NAME(copy->copyKind, copy->srcKind, copy->dstKind),
                      copy->deviceId, copy->streamId, copy->correlationId, copy->bytes, copy->start,
                      copy->end);
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
        const peer_record *copy = (const void *)record;
        add_gpu_event("gpu_memcpy",
                      COPY_NAME(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, copy->srcKind, copy->dstKind),
                      copy->deviceId, copy->streamId, copy->correlationId, copy->bytes, copy->start,
                      copy->end);
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
        const fill_record *fill = (const void *)record;
        add_gpu_event("gpu_memset", "Memset", fill->deviceId, fill->streamId, fill->correlationId,
                      fill->bytes, fill->start, fill->end);
        break;
    }
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        const kernel_record *kernel = (const void *)record;
        add_gpu_event("kernel", kernel->name != NULL ? kernel->name : "kernel", kernel->deviceId,
                      kernel->streamId, kernel->correlationId, 0, kernel->start, kernel->end);
        break;
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
        const CUpti_ActivityAPI *call = (const void *)record;
        const char *name = call_name(call, (char[64]){0}, 64);
        if (name == NULL)
            break;
        begin_event("cuda_runtime", name, call->threadId, call->start, call->end);
        add("\"correlation\":%u}},\n", call->correlationId);
        break;
    }
    case CUPTI_ACTIVITY_KIND_MARKER:
        take_mark((const void *)record);
        break;
    default:
        break;
    }
}

/* ---- what CUPTI calls ---- */

static void give_buffer(uint8_t **buffer, size_t *size, size_t *most_records)
{
    *buffer = malloc(BUFFER); /* NULL: CUPTI drops records, and counts them */
    *size = *buffer != NULL ? BUFFER : 0;
    *most_records = 0;
}

static void take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                        size_t used)
{
    CUpti_Activity *record = NULL;
    size_t dropped = 0;
    (void)size;
    if (getpid() != own.process) {
        free(buffer);
        return;
    }
    pthread_mutex_lock(&own.lock);
    while (cupti.cuptiActivityGetNextRecord(buffer, used, &record) == CUPTI_SUCCESS) {
        take_record(record);
        if (own.length > TEXT - 2 * EVENT) /* between events: each is in one write */
            write_text();
    }
    if (cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS)
        own.dropped += dropped;
    write_text();
    pthread_mutex_unlock(&own.lock);
    free(buffer);
}

/* Records of a context are lost with it, at cudaDeviceReset as well. */
static void CUPTIAPI before_end_of_context(void *argument, CUpti_CallbackDomain domain,
                                           CUpti_CallbackId id, const void *data)
{
    (void)argument, (void)domain, (void)id, (void)data;
    (void)cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

/* CUPTI gives back full buffers only, where nobody asks. */
static void *flush_often(void *unused)
{
    for (bool is_over = false; !is_over;) {
        (void)usleep(FLUSH_US);
        pthread_mutex_lock(&own.flushing);
        is_over = own.is_over;
        if (!is_over)
            (void)cupti.cuptiActivityFlushAll(0);
        pthread_mutex_unlock(&own.flushing);
    }
    return unused;
}

static void at_exit(void)
{
    if (getpid() != own.process)
        return;
    pthread_mutex_lock(&own.flushing);
    own.is_over = true;
    (void)cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    pthread_mutex_unlock(&own.flushing);
    pthread_mutex_lock(&own.lock);
    add("{\"ph\":\"M\",\"name\":\"xferbench_end\",\"pid\":%d,\"args\":{\"dropped\":%" PRIu64
        "}},\n",
        (int)own.process, own.dropped);
    write_text();
    pthread_mutex_unlock(&own.lock);
}

/* ---- beginning ---- */

/* NULL, or why nothing can be seen, which is `why` with the error's name behind it. */
static const char *fault(const char *why, CUptiResult result, char *text, size_t size)
{
    const char *name = "?";
    if (result == CUPTI_SUCCESS)
        return NULL;
    (void)cupti.cuptiGetResultString(result, &name);
    snprintf(text, size, "%s (%d, %s)", why, (int)result, name);
    return text;
}

/* One that the program has loaded already comes first: two in a process get into each other's way.
 */
static const char *open_library(char *text, size_t size)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
                                        "/usr/local/cuda/lib64/libcupti.so",
                                        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
    const size_t count = sizeof names / sizeof *names;
    void *library = NULL;
    uint32_t version = 0;
    Dl_info place;
    for (size_t i = 0; library == NULL && i < 2 * count; i++)
        library = dlopen(names[i % count], RTLD_NOW | (i < count ? RTLD_NOLOAD : 0));
    if (library == NULL)
        return "libcupti.so was not found: it comes with the CUDA Toolkit and with PyTorch. Name "
               "its folder in LD_LIBRARY_PATH";
#define LOAD(name)                                                                                 \
    do {                                                                                           \
        *(void **)&cupti.name = dlsym(library, #name);                                             \
        if (cupti.name == NULL)                                                                    \
            return "this libcupti lacks " #name;                                                   \
    } while (0)
    CUPTI_CALLS(LOAD);
    (void)cupti.cuptiGetVersion(&version);
    if (version < OLDEST || version >= NEWER) {
        snprintf(text, size, "this libcupti is of another release than CUDA 11.8 to 13 (%u)",
                 version);
        return text;
    }
    /* The library has NVTX's marks, too, if NVTX is told so before its first call. */
    if (dladdr((void *)cupti.cuptiGetVersion, &place) != 0)
        (void)setenv("NVTX_INJECTION64_PATH", place.dli_fname, 0);
    return NULL;
}

static const char *begin(char *text, size_t size)
{
    static const CUpti_ActivityKind kinds[] = {
        CUPTI_ACTIVITY_KIND_MEMCPY,  CUPTI_ACTIVITY_KIND_MEMCPY2,
        CUPTI_ACTIVITY_KIND_MEMSET,  CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
        CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER,
        CUPTI_ACTIVITY_KIND_MARKER};
    static CUpti_SubscriberHandle subscriber;
    const char *why = open_library(text, size);
    if (why != NULL)
        return why;
    CUptiResult result = cupti.cuptiSubscribe(&subscriber, before_end_of_context, NULL);
    why = fault("a profiler holds CUPTI in this program", result, text, size);
    if (why != NULL)
        return why;
    (void)cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                    CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
    (void)cupti.cuptiGetTimestamp(&own.zero);
    result = cupti.cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
    for (size_t i = 0; result == CUPTI_SUCCESS && i < sizeof kinds / sizeof *kinds; i++)
        result = cupti.cuptiActivityEnable(kinds[i]);
    return fault("CUPTI does not record here", result, text, size);
}

/* The driver calls it when the program first opens the driver. Returns 1: go on. */
int InitializeInjection(void);
__attribute__((visibility("default"))) int InitializeInjection(void)
{
    const char *path = getenv("XFERBENCH_EXPLAIN");
    char text[256];
    if (path == NULL || own.text != NULL)
        return 1;
    own.file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    own.text = malloc(TEXT);
    own.marks = malloc(MARKS * sizeof *own.marks);
    if (own.file < 0 || own.text == NULL || own.marks == NULL)
        return 1;
    own.process = getpid();
    const char *why = begin(text, sizeof text);
    pthread_mutex_lock(&own.lock);
    add_fact("process_name", "name", program_invocation_short_name);
    if (why != NULL)
        add_fact("xferbench_problem", "text", why);
    write_text();
    pthread_mutex_unlock(&own.lock);
    if (why != NULL)
        return 1;
    /* The program's signals are for its own threads. */
    pthread_t thread;
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, flush_often, NULL) == 0)
        (void)pthread_detach(thread);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)atexit(at_exit);
    return 1;
}
