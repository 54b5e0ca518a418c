/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The code that all GPU backends share. CUDA and HIP are the same interface under two names, so
 * buffers, queues, events and peers are written once, over a table that each vendor's folder fills.
 * Where vendors differ the table or the device's info says so. backend.h has the contract of the
 * slots. */

#include "kernels.h"

#include "backends/slots.h"

/* The result of a call of the runtime. 0 is success for every vendor. */
struct xb_gpu_outcome {
    int code;
    const char *call; /* the native function's name; static text */
};

struct xb_gpu_device;

/* A location of managed memory is a device's ordinal, or this for the host. */
#define XB_GPU_HOST (-1)

enum xb_gpu_advice {
    XB_GPU_PREFER,   /* keep the pages at this location */
    XB_GPU_UNPREFER, /* take that back */
    XB_GPU_MAP,      /* let this location access the pages without moving them */
    XB_GPU_UNMAP     /* take that back */
};

/* Which way a copy goes. */
enum xb_gpu_way {
    XB_GPU_TO_DEVICE, /* from the host */
    XB_GPU_TO_HOST,
    XB_GPU_WITHIN /* the device's own memory */
};

/* What a batch of copies asks for: when its sources may be read. */
enum xb_gpu_order {
    XB_GPU_STREAM_ORDER, /* when what was enqueued earlier is done */
    XB_GPU_ANY_ORDER,
    XB_GPU_ORDER_UNSAID /* for a runtime that refuses to be told: then it is the stream's */
};

/* The names of a copy's way and of advice, which the vendors' headers have with the prefix N. */
#define XB_GPU_KIND(N, way)                                                                        \
    ((way) == XB_GPU_TO_DEVICE ? N##MemcpyHostToDevice                                             \
     : (way) == XB_GPU_TO_HOST ? N##MemcpyDeviceToHost                                             \
                               : N##MemcpyDeviceToDevice)
#define XB_GPU_ADVICE(N, advice)                                                                   \
    ((advice) == XB_GPU_PREFER     ? N##MemAdviseSetPreferredLocation                              \
     : (advice) == XB_GPU_UNPREFER ? N##MemAdviseUnsetPreferredLocation                            \
     : (advice) == XB_GPU_MAP      ? N##MemAdviseSetAccessedBy                                     \
                                   : N##MemAdviseUnsetAccessedBy)

/* Calls of a vendor's runtime: the slot of struct xb_gpu_runtime and its parameters. SAME: the
 * vendors' calls differ only in the prefix N (such as hip) of names; a vendor's runtime.c has
 * native_location_of. Behind its parameters stands what is lost where a library that is opened at
 * run time lacks the call; "": it is required. OWN: the vendor has a function of its own. */
#define XB_GPU_CALLS(OWN, SAME, N)                                                                 \
    SAME(set_device, (int ordinal), "", N##SetDevice, ordinal)                                     \
    OWN(clock_rate, (int ordinal, int *kilohertz))                                                 \
    /* NVIDIA calls them streaming multiprocessors, AMD compute units. */                          \
    OWN(multiprocessors, (int ordinal, int *count))                                                \
    /* The most that rows may be apart. NULL where copy_rows is. */                                \
    OWN(max_pitch, (int ordinal, int *bytes))                                                      \
    SAME(memory_info, (size_t * free_bytes, size_t * total), "", N##MemGetInfo, free_bytes, total) \
    SAME(allocate, (void **address, size_t bytes), "", N##Malloc, address, bytes)                  \
    SAME(allocate_pooled, (void **address, size_t bytes, void *stream), "pools", N##MallocAsync,   \
         address, bytes, stream)                                                                   \
    SAME(release_pooled, (void *address, void *stream), "pools", N##FreeAsync, address, stream)    \
    SAME(default_pool, (void **pool, int ordinal), "pools", N##DeviceGetDefaultMemPool,            \
         (N##MemPool_t *)pool, ordinal)                                                            \
    /* How many bytes the pool keeps of what it gets back, until it is trimmed. */                 \
    SAME(keep_in_pool, (void *pool, uint64_t *bytes), "pools", N##MemPoolSetAttribute, pool,       \
         N##MemPoolAttrReleaseThreshold, bytes)                                                    \
    SAME(trim_pool, (void *pool), "pools", N##MemPoolTrimTo, pool, 0)                              \
    /* Also for memory from allocate_managed. */                                                   \
    OWN(release, (void *address))                                                                  \
    /* `memory` is PINNED, WRITE_COMBINED or MAPPED. */                                            \
    OWN(allocate_host, (void **address, size_t bytes, enum xb_memory memory))                      \
    OWN(release_host, (void *address))                                                             \
    /* `mapped`: so that kernels of every device reach it. */                                      \
    SAME(register_host, (void *address, size_t bytes, bool mapped), "register", N##HostRegister,   \
         address, bytes,                                                                           \
         mapped ? N##HostRegisterMapped | N##HostRegisterPortable : N##HostRegisterDefault)        \
    SAME(unregister_host, (void *address), "register", N##HostUnregister, address)                 \
    SAME(device_pointer, (void **seen, void *host_address), "mapped", N##HostGetDevicePointer,     \
         seen, host_address, 0)                                                                    \
    SAME(allocate_managed, (void **address, size_t bytes), "managed", N##MallocManaged, address,   \
         bytes, N##MemAttachGlobal)                                                                \
    SAME(advise, (const void *address, size_t bytes, enum xb_gpu_advice advice, int location),     \
         "managed", N##MemAdvise, address, bytes, XB_GPU_ADVICE(N, advice),                        \
         native_location_of(location))                                                             \
    OWN(prefetch, (const void *address, size_t bytes, int location, void *stream))                 \
    SAME(open_stream, (void **stream), "", N##StreamCreateWithFlags, (N##Stream_t *)stream,        \
         N##StreamNonBlocking)                                                                     \
    SAME(close_stream, (void *stream), "", N##StreamDestroy, stream)                               \
    SAME(wait_for_stream, (void *stream), "", N##StreamSynchronize, stream)                        \
    SAME(stream_wait_event, (void *stream, void *event), "", N##StreamWaitEvent, stream, event, 0) \
    SAME(open_event, (void **event), "", N##EventCreate, (N##Event_t *)event)                      \
    SAME(close_event, (void *event), "", N##EventDestroy, event)                                   \
    SAME(record_event, (void *event, void *stream), "", N##EventRecord, event, stream)             \
    /* Returns at once for an event that was never recorded. */                                    \
    SAME(wait_for_event, (void *event), "", N##EventSynchronize, event)                            \
    SAME(elapsed, (float *milliseconds, void *start, void *stop), "", N##EventElapsedTime,         \
         milliseconds, start, stop)                                                                \
    SAME(copy,                                                                                     \
         (void *target, const void *source, size_t bytes, enum xb_gpu_way way, void *stream), "",  \
         N##MemcpyAsync, target, source, bytes, XB_GPU_KIND(N, way), stream)                       \
    SAME(copy_blocking, (void *target, const void *source, size_t bytes, enum xb_gpu_way way), "", \
         N##Memcpy, target, source, bytes, XB_GPU_KIND(N, way))                                    \
    /* `count` rows of `bytes`. NULL where the backend has no such capability. */                  \
    SAME(copy_rows,                                                                                \
         (void *target, size_t target_pitch, const void *source, size_t source_pitch,              \
          size_t bytes, size_t count, enum xb_gpu_way way, void *stream),                          \
         "rows", N##Memcpy2DAsync, target, target_pitch, source, source_pitch, bytes, count,       \
         XB_GPU_KIND(N, way), stream)                                                              \
    /* What is enqueued between the two goes into a graph and does not run. Other threads may use  \
     * other devices meanwhile. NULL, all six, where the backend has no such capability. */        \
    SAME(begin_capture, (void *stream), "graphs", N##StreamBeginCapture, stream,                   \
         N##StreamCaptureModeThreadLocal)                                                          \
    SAME(end_capture, (void *stream, void **graph), "graphs", N##StreamEndCapture, stream,         \
         (N##Graph_t *)graph)                                                                      \
    OWN(instantiate, (void **executable, void *graph))                                             \
    SAME(launch_graph, (void *executable, void *stream), "graphs", N##GraphLaunch, executable,     \
         stream)                                                                                   \
    SAME(release_graph, (void *graph), "graphs", N##GraphDestroy, graph)                           \
    SAME(release_executable, (void *executable), "graphs", N##GraphExecDestroy, executable)        \
    SAME(copy_peer,                                                                                \
         (void *target, int target_ordinal, const void *source, int source_ordinal, size_t bytes,  \
          void *stream),                                                                           \
         "peers", N##MemcpyPeerAsync, target, target_ordinal, source, source_ordinal, bytes,       \
         stream)                                                                                   \
    OWN(launch, (void *kernel, unsigned blocks, unsigned threads, unsigned shared_bytes,           \
                 void **arguments, void *stream))                                                  \
    SAME(can_access_peer, (int *can_access, int ordinal, int other), "peers",                      \
         N##DeviceCanAccessPeer, can_access, ordinal, other)                                       \
    SAME(open_peer, (int other), "peers", N##DeviceEnablePeerAccess, other, 0)                     \
    SAME(close_peer, (int other), "peers", N##DeviceDisablePeerAccess, other)
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define XB_GPU_DECLARE(slot, parameters, ...) struct xb_gpu_outcome(*slot) parameters;
#define XB_GPU_FILL_CALL(slot, ...) .slot = slot,
/* NOLINTEND(bugprone-macro-parentheses) */
#define XB_GPU_NO_CALL(...)
/* A function that gives the name or text of a code of that type. */
#define XB_GPU_WORDS(slot, type, native)                                                           \
    static const char *slot(int code)                                                              \
    {                                                                                              \
        return native((type)code);                                                                 \
    }
/* The head of a runtime's table: its name, its codes that have the prefix N, and the calls as
 * static functions named as the slots. */
#define XB_GPU_RUNTIME(called, N)                                                                  \
    .error_name = error_name, .error_text = error_text, .not_supported = N##ErrorNotSupported,     \
    .peer_already_open = N##ErrorPeerAccessAlreadyEnabled, .invalid_value = N##ErrorInvalidValue,  \
    XB_GPU_CALLS(XB_GPU_FILL_CALL, XB_GPU_FILL_CALL, N).name = called

/* One vendor's runtime. Each slot is one call of it, on the calling thread's current device.
 * Handles of streams, events and kernels are pointers. A slot whose function the opened library
 * lacks reports that it is not supported. */
struct xb_gpu_runtime {
    const char *name; /* for messages: "CUDA" */
    /* Whether we have seen that enqueuing behind a hold never waits for its end. If not, every
     * device is tried when it is opened. */
    bool hold_is_proven;
    /* Whether copy_batch is known to take every order. If not, a device that has it is tried. */
    bool batch_is_proven;
    size_t batch_at_once; /* the most copies that one call of copy_batch is given; 0: any number */
    /* The runtime's codes for these cases. */
    int out_of_memory, peer_already_open, invalid_value, not_supported;

    const char *(*error_name)(int code);
    const char *(*error_text)(int code);

    /* Makes all of the copies, in any sequence. NULL where the runtime of this build has no such
     * call. */
    struct xb_gpu_outcome (*copy_batch)(void **targets, void **sources, size_t *sizes, size_t count,
                                        enum xb_gpu_order order, void *stream);
    XB_GPU_CALLS(XB_GPU_DECLARE, XB_GPU_DECLARE, native)

    /* Fills device->kernels. XB_ERR_UNSUPPORTED with the reason if this device cannot run them: it
     * then opens without the capabilities that need kernels. unload_kernels undoes this, and may be
     * called if nothing was loaded; NULL where nothing is to be undone. */
    enum xb_status (*load_kernels)(struct xb_gpu_device *device, struct xb_error *error);
    void (*unload_kernels)(struct xb_gpu_device *device);
};

struct xb_gpu_device {
    struct xb_device base;
    const struct xb_gpu_runtime *runtime;
    int ordinal;
    void *module; /* the vendor's handle of the loaded kernels */
    void *code;   /* the code of that module, kept as long as the module is loaded */
    void *kernels[XB_GPU_ALL_KERNELS];
    unsigned bulk_warps;                /* in a block that makes bulk copies */
    unsigned long long hold_limit;      /* cycles after which a hold gives up */
    unsigned multiprocessors;           /* 1 or more */
    uint64_t max_pitch;                 /* of rows */
    bool batch_order_unsaid;            /* batches are copied without naming an order */
    struct xb_gpu_check *device_result; /* device memory for the result of a check */
    struct xb_gpu_check *host_result;   /* pinned memory for the host's copy of it */
    struct xb_buffer *window;           /* pinned, for a device without kernels: see launch.c */
};

struct xb_gpu_buffer {
    struct xb_buffer base;
    void *address;        /* device pointer of DEVICE memory, host address of any other */
    void *kernel_address; /* where kernels of its device see it; NULL if they cannot reach it */
    bool advised;         /* MANAGED memory that has advice */
    bool callers; /* REGISTERED memory that was the caller's, and stays when it is unlocked */
    struct xb_queue *queue; /* of DEVICE memory from the pool; NULL: not from there */
};

struct xb_gpu_queue {
    struct xb_queue base;
    void *stream;
    bool blocks; /* copies are the runtime's synchronous calls, on its default stream, NULL */
    void *pool;  /* that keeps memory for it; NULL: none was asked for */
    struct xb_gpu_gate *gate;        /* pinned, at the host's address; NULL if there are no holds */
    struct xb_gpu_gate *device_gate; /* the same memory at the device's address */
    unsigned holds;                  /* so far */
};

static inline const struct xb_gpu_device *xb_gpu_device_of(const struct xb_device *device)
{
    return (const struct xb_gpu_device *)device;
}

/* The address for copies: in device memory for a DEVICE buffer, in the host's for any other. */
static inline void *xb_gpu_buffer_address(const struct xb_buffer *buffer, uint64_t offset)
{
    return (char *)((const struct xb_gpu_buffer *)buffer)->address + offset;
}

/* The address for kernels of the buffer's device, if they can reach it (xb_memory_in_reach). */
static inline void *xb_gpu_kernel_address(const struct xb_buffer *buffer)
{
    return ((const struct xb_gpu_buffer *)buffer)->kernel_address;
}

static inline void *xb_gpu_stream(const struct xb_queue *queue)
{
    return ((const struct xb_gpu_queue *)queue)->stream;
}

/* ---- runtime.c ---- */

/* Returns XB_OK if the call succeeded. Otherwise fills *error with the message, the call's name,
 * the code and its name. */
enum xb_status xb_gpu_status(struct xb_error *error, const struct xb_gpu_runtime *runtime,
                             struct xb_gpu_outcome outcome, const char *file, int line,
                             const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Converts the outcome of an adapter to a status. */
#define XB_GPU(error, runtime, outcome, ...)                                                       \
    xb_gpu_status((error), (runtime), (outcome), __FILE__, __LINE__, __VA_ARGS__)
/* Makes a call of the device's runtime, such as release(address), and does the same. */
#define XB_GPU_CALL(error, device, call, ...)                                                      \
    XB_GPU(error, xb_gpu_device_of(device)->runtime, xb_gpu_device_of(device)->runtime->call,      \
           __VA_ARGS__)
/* For "%s device %u". */
#define XB_GPU_NAMED(device) xb_gpu_device_of(device)->runtime->name, (device)->info.index

/* For a backend's driver_open: adds the line of the devices to the probe. `counted` is the outcome
 * of counting them, and `reason` says what it means where there are none; NULL: the call failed.
 * XB_ERR_UNAVAILABLE where there are none. */
enum xb_status xb_gpu_probe_devices(struct xb_probe *probe, const struct xb_gpu_runtime *runtime,
                                    struct xb_gpu_outcome counted, int count, const char *reason,
                                    struct xb_error *error);
/* For a backend's peer_info. */
enum xb_status xb_gpu_peer_access(const struct xb_gpu_runtime *runtime, unsigned index,
                                  unsigned other, bool *can_access, struct xb_error *error);

/* Makes this the calling thread's current device. Costs almost nothing if it is already. */
enum xb_status xb_gpu_select(const struct xb_device *device, struct xb_error *error);

/* ---- buffer.c ---- */

/* As struct xb_kernels has it. It may select the device. */
enum xb_status xb_gpu_find_address(const struct xb_device *device, const struct xb_buffer *buffer,
                                   uint64_t offset, char **address, struct xb_error *error);

/* ---- queue.c ---- */

/* Which way the copies between two buffers go. */
enum xb_gpu_way xb_gpu_way_between(const struct xb_buffer *target, const struct xb_buffer *source);
/* Makes one copy. Checks no rule of the slots, and does not select the device. */
enum xb_status xb_gpu_copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t target_offset,
                           struct xb_buffer *source, uint64_t source_offset, uint64_t bytes,
                           struct xb_error *error);
/* Whether a hold of the queue gave up by itself since the last call of this function. */
bool xb_gpu_hold_expired(const struct xb_queue *queue);

/* ---- launch.c ---- */

extern const struct xb_kernels xb_gpu_kernels;
/* Selects the device of the queue, which has kernels, and launches one there. */
enum xb_status xb_gpu_launch(struct xb_queue *queue, enum xb_gpu_kernel kernel, unsigned blocks,
                             unsigned threads, void **arguments, const char *what,
                             struct xb_error *error);

/* ---- prove.c ---- */

/* Tries whether copies can be enqueued behind a hold without waiting for its end, which not every
 * runtime promises; and whether the runtime takes a batch of copies and the orders that we ask for,
 * which it notes as a fact. If not, the device loses the capability and gets the reason; that is no
 * error. */
enum xb_status xb_gpu_hold_prove(struct xb_gpu_device *device, struct xb_error *error);
enum xb_status xb_gpu_batch_prove(struct xb_gpu_device *device, struct xb_error *error);

/* ---- device.c ---- */

/* For a backend's device_open. */
enum xb_status xb_gpu_device_open(struct xb_driver *driver, const struct xb_gpu_runtime *runtime,
                                  unsigned index, struct xb_device **device,
                                  struct xb_error *error);

/* The slots of a backend's table that are the same for every vendor. */
#define XB_GPU_SLOTS(X, prefix) XB_SLOTS(XB_NO_SLOT, XB_NO_SLOT, X, X, XB_NO_SLOT, prefix)
XB_GPU_SLOTS(XB_DECLARE_SLOT, xb_gpu_)
