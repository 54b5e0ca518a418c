/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A libamdhip64 without a GPU, for the tests of the HIP backend: the part of HIP that the backend
 * calls, on the CPU, stricter than the real one. A stream is a thread; device memory is ordinary
 * memory, and a list tells which is whose, so that wrong use is refused and not merely slow. One
 * lock for all of it: an operation is long beside taking a lock.
 *
 * The environment: XB_STANDIN_DEVICES, _VERSION, _ARCH, _XNACK, _PCI (what is there), _DELAY_US,
 * _DAMAGE (h2d, d2h, d2h-after-h2d or peer), _RATE and _RATE_AFTER_H2D (of copies, in GB/s, by a
 * clock that nothing else moves), _FAIL (NAME:3 or NAME:3+), _CODE, _HANG
 * (as _FAIL, or dlopen or exit), _TRACE (a file), _RTC_FAIL, _RTC_HANG, _RTC_COUNT (a file), _BATCH
 * (no-attributes: hipMemcpyBatchAsync refuses them, as ROCm 7.2 does; refused: it refuses all; a
 * library without it is for a test to make). All but _TRACE are read at every call. What is said to
 * be "after h2d" concerns copies to the host on a stream whose first copy was to the device: that
 * one has chosen the engine for all that follow.
 */

#include "../hip_answers.h"
#include "launch.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define STANDIN_DEVICES_AT_MOST 8
#define STANDIN_MEMORY_BYTES ((size_t)1 << 30) /* of each device */
#define STANDIN_MULTIPROCESSORS 1

/* ---- calls: counted, and failed where a test asks for it ---- */

/* First those that close something. The calls of hipRTC come last: their errors have other numbers.
 */
/* clang-format off */
#define STANDIN_CALLS(X)                                                                           \
    X(hipFree) X(hipHostFree) X(hipHostUnregister) X(hipStreamDestroy) X(hipEventDestroy)          \
    X(hipModuleUnload) X(hipGraphDestroy) X(hipGraphExecDestroy) X(hipFreeAsync)                   \
    X(hipMemPoolTrimTo)                                                                            \
    X(hipRuntimeGetVersion) X(hipGetDeviceCount) X(hipDeviceGetName) X(hipDeviceGetPCIBusId)       \
    X(hipDeviceGetAttribute) X(hipDeviceTotalMem) X(hipDeviceGetUuid) X(hipGetDeviceProperties)    \
    X(hipGetDevicePropertiesR0600) X(hipDeviceCanAccessPeer) X(hipDeviceEnablePeerAccess)          \
    X(hipDeviceDisablePeerAccess) X(hipExtGetLinkTypeAndHopCount) X(hipSetDevice)                  \
    X(hipMemGetInfo) X(hipMalloc) X(hipHostMalloc) X(hipHostRegister) X(hipHostGetDevicePointer)   \
    X(hipMallocManaged) X(hipMemPrefetchAsync) X(hipMemAdvise) X(hipMemcpyAsync)                   \
    X(hipMemcpyPeerAsync) X(hipMemcpy) X(hipMallocAsync) X(hipDeviceGetDefaultMemPool)             \
    X(hipMemPoolSetAttribute) X(hipMemcpyBatchAsync) X(hipMemcpy2DAsync)                           \
    X(hipStreamBeginCapture) X(hipStreamEndCapture) X(hipGraphInstantiate) X(hipGraphLaunch)       \
    X(hipStreamCreateWithFlags) X(hipStreamSynchronize) X(hipStreamWaitEvent) X(hipEventCreate)    \
    X(hipEventRecord) X(hipEventSynchronize) X(hipEventElapsedTime) X(hipModuleLoadData)           \
    X(hipModuleGetFunction) X(hipModuleLaunchKernel)                                               \
    X(hiprtcCreateProgram) X(hiprtcCompileProgram) X(hiprtcGetProgramLogSize)                      \
    X(hiprtcGetProgramLog) X(hiprtcGetCodeSize) X(hiprtcGetCode) X(hiprtcDestroyProgram)
/* clang-format on */
#define STANDIN_CALL_NUMBER(name) CALL_##name,
enum standin_call { STANDIN_CALLS(STANDIN_CALL_NUMBER) STANDIN_CALL_COUNT };

/* Counts a call; returns the error that it is to give, 0 for none. */
int standin_called(enum standin_call call);

/* First in a call that does nothing when it fails. What frees is STANDIN_FREE: it frees all the
 * same where a test has it fail, for such a failure is not itself a leak. */
#define STANDIN_ENTER_ANYHOW(type, name)                                                           \
    do {                                                                                           \
        int asked_for_ = standin_called(CALL_##name);                                              \
        if (asked_for_ != 0)                                                                       \
            return (type)asked_for_;                                                               \
    } while (0)
#define STANDIN_ENTER(name)                                                                        \
    do {                                                                                           \
        STANDIN_ENTER_ANYHOW(hipError_t, name);                                                    \
        if (standin_devices() == 0)                                                                \
            return hipErrorNoDevice;                                                               \
    } while (0)

/* The same, of a device that there is. */
#define STANDIN_ENTER_OF(name, device)                                                             \
    do {                                                                                           \
        STANDIN_ENTER(name);                                                                       \
        REFUSE_IF(!standin_is_device(device), hipErrorInvalidDevice);                              \
    } while (0)

hipError_t standin_freed(int asked_for, hipError_t result);
#define STANDIN_FREE(name, call)                                                                   \
    do {                                                                                           \
        int asked_for_ = standin_called(CALL_##name);                                              \
        return standin_freed(asked_for_, call);                                                    \
    } while (0)

/* ---- the process (runtime.c) ---- */

extern pthread_mutex_t standin_lock;
hipError_t standin_unlock(hipError_t result);
/* What the call returns, which is made with the lock held. */
#define STANDIN_LOCKED(call) (pthread_mutex_lock(&standin_lock), standin_unlock(call))

/* What can be left open, and what a leak of it is called. */
#define STANDIN_OBJECT_LIST(X)                                                                     \
    X(DEVICE_MEMORY, "device allocations")                                                         \
    X(HOST_MEMORY, "host allocations")                                                             \
    X(REGISTRATION, "registrations")                                                               \
    X(MANAGED_MEMORY, "managed allocations")                                                       \
    X(STREAM, "streams")                                                                           \
    X(EVENT, "events")                                                                             \
    X(MODULE, "modules")                                                                           \
    X(GRAPH, "graphs")                                                                             \
    X(EXECUTABLE, "executable graphs")                                                             \
    X(RANGE, "ranges")                                                                             \
    X(CAPTURE, "captures")
#define STANDIN_OBJECT(name, text) STANDIN_##name,
enum standin_object { STANDIN_OBJECT_LIST(STANDIN_OBJECT) STANDIN_OBJECTS };
/* First in each of them but ranges and captures. What is not in the list of its kind is none. */
struct standin_head {
    struct standin_head *next;
    enum standin_object kind;
    int device; /* which was current when it was opened */
};
/* Under the lock. */
extern struct standin_head *standin_open[STANDIN_OBJECTS];
extern unsigned standin_live[STANDIN_OBJECTS];
/* With the lock held. */
void standin_keep(void *object, enum standin_object kind);
bool standin_is(const void *object, enum standin_object kind);
/* False if there is none. */
bool standin_forget(const void *object, enum standin_object kind);
/* Takes the lock; frees what is forgotten. */
hipError_t standin_close(void *object, enum standin_object kind, hipError_t unknown);
extern char standin_told[4096]; /* what roctx was told first; under the lock */
/* The blocks of the latest kernel that copies, for the trace; under the lock. */
extern unsigned standin_last_copy_blocks;

/* A number of the environment, `otherwise` where it is not set. */
int standin_setting(const char *name, int otherwise);

/* ---- devices (devices.c) ---- */

extern _Thread_local int standin_current; /* the device of the thread */

int standin_devices(void);
bool standin_is_device(int device);
/* The architecture without the features behind its name, in at most 32 bytes. */
void standin_architecture(char architecture[32]);
/* Whether kernels of `device` may touch the memory of `other`. With the lock held. */
bool standin_peer_is_open(int device, int other);

/* ---- memory (memory.c) ---- */

/* Whether a kernel of the device may be given the address. With the lock held. */
bool standin_is_reachable(const void *address, int device);

struct standin_operation;
/* Enqueues a copy, or refuses it. With the lock held. */
hipError_t standin_copy(struct standin_operation *operation, hipStream_t stream);

/* ---- streams (streams.c) ---- */

enum standin_kind { STANDIN_NOTHING, STANDIN_COPY, STANDIN_LAUNCH, STANDIN_RECORD, STANDIN_AWAIT };

struct standin_operation {
    struct standin_operation *next;
    uint64_t number; /* one count for all streams */
    enum standin_kind kind;
    int delay_us;
    struct standin_record *record;
    void *to;
    const void *from;
    size_t bytes;
    size_t rows, to_pitch,
        from_pitch;    /* of a copy of rows, which have `bytes` each; or rows is 0 */
    hipMemcpyKind way; /* of a copy */
    double rate;       /* bytes in a nanosecond of the stream's own clock; 0: the machine's goes */
    bool damage;
    const struct standin_kernel *kernel;
    unsigned blocks, threads;
    _Alignas(16) unsigned char parameters[STANDIN_PARAMETERS][STANDIN_PARAMETER_BYTES];
};

/* The device of a stream, -1 if it is none. With the lock held. */
int standin_stream_device(hipStream_t stream);
/* Where a stream that exists keeps the graph that it captures into, NULL while it does not. With
 * the lock held. */
struct ihipGraph **standin_captured(hipStream_t stream);
/* Appends a copy of *template to a stream that exists, or to the graph that this captures into.
 * With the lock held. */
hipError_t standin_enqueue(hipStream_t stream, const struct standin_operation *template);
/* Waits until what was enqueued so far is done, in a stream or in all. With the lock held. */
void standin_finish(hipStream_t stream);
void standin_finish_all(void);

/* ---- graphs (graphs.c); with the lock held ---- */

/* Appends a copy of *template. */
hipError_t standin_append(struct ihipGraph *graph, const struct standin_operation *template);
void standin_drop_graph(struct ihipGraph *graph);

/* ---- code objects (hiprtc.c makes them, modules.c loads them) ---- */

#define STANDIN_MAGIC "\177ELF stand-in"

struct standin_code {
    char magic[16];
    char architecture[32];
    uint64_t source; /* hash of the text */
    uint64_t whole;  /* hash of all of this, with 0 in this place */
    unsigned char padding[4936];
};

/* FNV-1a (Fowler, Noll and Vo), 64 bits. */
uint64_t standin_hash(const void *data, size_t bytes);
/* The same of a code object, for its member `whole`. */
uint64_t standin_code_hash(const struct standin_code *code);
