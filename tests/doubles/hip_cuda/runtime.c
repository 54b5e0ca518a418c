/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in libamdhip64 on the CUDA runtime, for testing the HIP backend with real data where only
 * NVIDIA's GPUs are. It implements what xferbench asks of HIP, as AMD's runtime would answer, and
 * says in its names and versions that it is none.
 *
 * Streams, events and graphs are CUDA's own, under HIP's types. The current device is the driver's,
 * one a thread: two copies of the runtime in one process, this library's and the program's, share
 * it and the context.
 */
#include "../hip_answers.h"

/* CUDA's vector types are named as HIP's, and are the same: they are declared once. */
#define __VECTOR_TYPES_H__
#include <cuda_runtime_api.h>

#include <ctype.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if CUDART_VERSION < 12080
#error "the stand-in loads kernels by cudaLibraryLoadData, which CUDA 12.8 brought"
#endif

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): HIP's versions differ in it */

/* 99.0.0, as HIP counts: major * 10000000 + minor * 100000 + patch. Nobody takes it for AMD's. */
#define VERSION 990000000

/* "0000:1b:00.0" and its end: AMD's runtime refuses less. */
#define BUS_ID_SIZE 13

/* What HIP 5.2 defines, and so all that xferbench may use. */
#define HOST_MALLOC_FLAGS                                                                          \
    (0u | hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined |               \
     hipHostMallocNumaUser | hipHostMallocCoherent | hipHostMallocNonCoherent)
#define HOST_REGISTER_FLAGS                                                                        \
    (0u | hipHostRegisterPortable | hipHostRegisterMapped | hipHostRegisterIoMemory |              \
     hipExtHostRegisterCoarseGrained)
#define COHERENCE (hipHostMallocCoherent | hipHostMallocNonCoherent)

/* HIP maps pinned memory into every device, whether told to or not: here it is told to. */
#define PINNED (cudaHostAllocPortable | cudaHostAllocMapped)
#define REGISTERED (cudaHostRegisterPortable | cudaHostRegisterMapped)

/*
 * HIP's own number for CUDA's. The runtime also keeps it as its last error, which the caller could
 * only read through HIP: it is taken away, so that no later call seems to have failed. Errors that
 * broke the context come again by themselves.
 */
static hipError_t error_of(cudaError_t code)
{
#define PAIR(cuda, hip) {cudaError##cuda, hipError##hip},
    static const struct {
        cudaError_t cuda;
        hipError_t hip;
    } errors[] = {STANDIN_ERRORS(PAIR)};
    if (code == cudaSuccess)
        return hipSuccess;
    (void)cudaGetLastError();
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].cuda == code)
            return errors[i].hip;
    return hipErrorUnknown;
}

/* A function of HIP that passes a call on; or refuses it for one reason. What both refuse alike,
 * such as no address, is left for CUDA. */
#define FORWARD(name, parameters, call) FORWARD_IF(true, name, parameters, call)
#define FORWARD_IF(condition, name, parameters, call)                                              \
    hipError_t name parameters                                                                     \
    {                                                                                              \
        REFUSE_UNLESS(condition, hipErrorInvalidValue);                                            \
        return error_of(call);                                                                     \
    }

/* Numbers that both have are handed on as they are. */
#define SAME(name) ((int)hip##name == (int)cuda##name)
_Static_assert(SAME(MemcpyHostToHost) && SAME(MemcpyHostToDevice) && SAME(MemcpyDeviceToHost) &&
                   SAME(MemcpyDeviceToDevice) && SAME(MemcpyDefault),
               "directions of copies");
_Static_assert(SAME(MemAdviseSetReadMostly) && SAME(MemAdviseUnsetReadMostly) &&
                   SAME(MemAdviseSetPreferredLocation) && SAME(MemAdviseUnsetPreferredLocation) &&
                   SAME(MemAdviseSetAccessedBy) && SAME(MemAdviseUnsetAccessedBy),
               "advice");
_Static_assert(SAME(MemAttachGlobal) && SAME(MemAttachHost) && SAME(StreamDefault) &&
                   SAME(StreamNonBlocking) && SAME(HostRegisterIoMemory) &&
                   hipHostMallocWriteCombined == cudaHostAllocWriteCombined,
               "flags");
_Static_assert(cudaMemcpySrcAccessOrderStream == XB_HIP_ORDER_STREAM &&
                   cudaMemcpySrcAccessOrderAny == XB_HIP_ORDER_ANY,
               "orders of access");

/* ---- devices and pairs of devices ---- */

FORWARD(hipRuntimeGetVersion, (int *version), (*version = VERSION, cudaSuccess))
FORWARD(hipSetDevice, (int device), cudaSetDevice(device))

hipError_t hipGetDeviceCount(int *count)
{
    REFUSE_UNLESS(count != NULL, hipErrorInvalidValue);
    int found = 0; /* a count that fails leaves it unwritten */
    hipError_t error = error_of(cudaGetDeviceCount(&found));
    *count = error == hipSuccess ? found : 0;
    return error == hipSuccess && found == 0 ? hipErrorNoDevice : error;
}

/* First in a call that asks what a device is: CUDA's answer is in `found`. */
#define DESCRIBE(device, condition)                                                                \
    struct cudaDeviceProp found;                                                                   \
    REFUSE_UNLESS(condition, hipErrorInvalidValue);                                                \
    hipError_t described = error_of(cudaGetDeviceProperties(&found, device));                      \
    REFUSE_UNLESS(described == hipSuccess, described)

/* Cut to its buffer, and CUDA's name so that what follows has room in 256 bytes. */
static void format_name(const struct cudaDeviceProp *found, char *text, size_t size)
{
    snprintf(text, size, "xferbench CUDA stand-in on %.200s (not an AMD GPU)", found->name);
}

hipError_t hipDeviceGetName(char *name, int size, hipDevice_t device)
{
    DESCRIBE(device, name != NULL && size > 0);
    format_name(&found, name, (size_t)size);
    return hipSuccess;
}

hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device)
{
    DESCRIBE(device, bytes != NULL);
    *bytes = found.totalGlobalMem;
    return hipSuccess;
}

/* AMD's are no bytes but text: the 16 digits of a 64-bit number, with no end. CUDA's 128 bits are
 * folded to 64, so that each counts. */
hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device)
{
    static const char digits[] = "0123456789abcdef";
    DESCRIBE(device, uuid != NULL);
    for (size_t i = 0; i < 8; i++) {
        unsigned byte = (unsigned char)(found.uuid.bytes[i] ^ found.uuid.bytes[i + 8]);
        uuid->bytes[2 * i] = digits[byte >> 4];
        uuid->bytes[2 * i + 1] = digits[byte & 0xF];
    }
    return hipSuccess;
}

hipError_t standin_describe(int layout, int device, char name[256], char architecture[256])
{
    DESCRIBE(device, layout == 5 || layout == 6);
    format_name(&found, name, 256);
    snprintf(architecture, 256, "gfx0-sm%d%d", found.major, found.minor);
    return hipSuccess;
}

hipError_t hipDeviceGetPCIBusId(char *text, int size, int device)
{
    REFUSE_UNLESS(text != NULL && size >= BUS_ID_SIZE, hipErrorInvalidValue);
    hipError_t error = error_of(cudaDeviceGetPCIBusId(text, size, device));
    for (char *letter = text; error == hipSuccess && *letter != '\0'; letter++)
        *letter = (char)tolower((unsigned char)*letter); /* as AMD's runtime writes it */
    return error;
}

/*
 * Pageable memory is the odd one: to HIP, "the device reads any memory" means that its pages fault,
 * which on AMD takes XNACK, and xferbench concludes from it whether managed memory moves on demand.
 * What tells that of an NVIDIA GPU is concurrent managed access; CUDA's attribute of the same name
 * asks for more, the sharing of malloc's memory.
 */
hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device)
{
#define NAMED(hip, cuda)                                                                           \
    {                                                                                              \
        hipDeviceAttribute##hip, cudaDevAttr##cuda                                                 \
    }
    static const struct {
        hipDeviceAttribute_t hip;
        enum cudaDeviceAttr cuda;
    } attributes[] = {
        NAMED(ClockRate, ClockRate),
        NAMED(MemoryClockRate, MemoryClockRate),
        NAMED(Integrated, Integrated),
        NAMED(ManagedMemory, ManagedMemory),
        NAMED(ConcurrentManagedAccess, ConcurrentManagedAccess),
        NAMED(PageableMemoryAccess, ConcurrentManagedAccess),
        NAMED(PageableMemoryAccessUsesHostPageTables, PageableMemoryAccessUsesHostPageTables),
        NAMED(DirectManagedMemAccessFromHost, DirectManagedMemAccessFromHost),
        NAMED(CanMapHostMemory, CanMapHostMemory),
        NAMED(HostRegisterSupported, HostRegisterSupported),
        NAMED(MaxPitch, MaxPitch),
        NAMED(MultiprocessorCount, MultiProcessorCount),
    };
    if (attribute == hipDeviceAttributeIsLargeBar) {
        DESCRIBE(device, value != NULL);
        *value = 0; /* CUDA does not tell */
        return hipSuccess;
    }
    REFUSE_UNLESS(value != NULL, hipErrorInvalidValue);
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
        if (attributes[i].hip == attribute)
            return error_of(cudaDeviceGetAttribute(value, attributes[i].cuda, device));
    return hipErrorInvalidValue;
}

FORWARD(hipDeviceCanAccessPeer, (int *accessible, int device, int peer),
        cudaDeviceCanAccessPeer(accessible, device, peer))
FORWARD_IF(flags == 0, hipDeviceEnablePeerAccess, (int peer, unsigned flags),
           cudaDeviceEnablePeerAccess(peer, 0))
FORWARD(hipDeviceDisablePeerAccess, (int peer), cudaDeviceDisablePeerAccess(peer))

/*
 * The types are ROCm's (hsa_amd_link_info_type_t): 2 is PCIe, 4 is xGMI, for which NVLink stands
 * here. CUDA does not tell which it is; that native atomics need NVLink is a guess, good enough to
 * see that the numbers arrive, and for nothing else.
 */
hipError_t hipExtGetLinkTypeAndHopCount(int device, int other, uint32_t *type, uint32_t *hops)
{
    int native = 0;
    REFUSE_UNLESS(type != NULL && hops != NULL, hipErrorInvalidValue);
    *hops = 1;
    hipError_t error = error_of(
        cudaDeviceGetP2PAttribute(&native, cudaDevP2PAttrNativeAtomicSupported, device, other));
    *type = native ? 4 : 2;
    return error;
}

/* ---- memory ---- */

FORWARD(hipMemGetInfo, (size_t * free_bytes, size_t *total_bytes),
        cudaMemGetInfo(free_bytes, total_bytes))

/* Of no bytes both give NULL. */
FORWARD(hipMalloc, (void **address, size_t bytes),
        (*address = NULL, bytes == 0 ? cudaSuccess : cudaMalloc(address, bytes)))
FORWARD(hipFree, (void *address), cudaFree(address))

/*
 * Two flags have no counterpart: what cudaHostAlloc gives is coherent always, and placed by the
 * calling thread's memory policy always, which is what NumaUser asks of HIP. So NonCoherent memory
 * is coherent here, which the caller cannot see but by its speed.
 */
hipError_t hipHostMalloc(void **address, size_t bytes, unsigned flags)
{
    REFUSE_UNLESS(address != NULL && (flags & ~HOST_MALLOC_FLAGS) == 0, hipErrorInvalidValue);
    REFUSE_UNLESS((flags & COHERENCE) != COHERENCE, hipErrorInvalidValue);
    *address = NULL;
    if (bytes == 0)
        return hipSuccess;
    return error_of(cudaHostAlloc(address, bytes, PINNED | (flags & hipHostMallocWriteCombined)));
}

FORWARD(hipHostFree, (void *address), cudaFreeHost(address))
/* Coarse grain has no counterpart, as above. */
FORWARD_IF(bytes > 0 && (flags & ~HOST_REGISTER_FLAGS) == 0, hipHostRegister,
           (void *address, size_t bytes, unsigned flags),
           cudaHostRegister(address, bytes, REGISTERED | (flags & hipHostRegisterIoMemory)))
FORWARD(hipHostUnregister, (void *address), cudaHostUnregister(address))
FORWARD_IF(flags == 0, hipHostGetDevicePointer, (void **address, void *host, unsigned flags),
           cudaHostGetDevicePointer(address, host, 0))
FORWARD_IF(bytes > 0 && (flags == hipMemAttachGlobal || flags == hipMemAttachHost),
           hipMallocManaged, (void **address, size_t bytes, unsigned flags),
           cudaMallocManaged(address, bytes, flags))

/* CUDA 13 describes a place by a struct; HIP and CUDA 12 have an ordinal, or -1 for the host. */
#if CUDART_VERSION >= 13000
static struct cudaMemLocation place_of(int device)
{
    if (device == hipCpuDeviceId)
        return (struct cudaMemLocation){.type = cudaMemLocationTypeHost, .id = 0};
    return (struct cudaMemLocation){.type = cudaMemLocationTypeDevice, .id = device};
}
#define PREFETCH_FLAGS 0u,
#else
static int place_of(int device)
{
    return device == hipCpuDeviceId ? cudaCpuDeviceId : device;
}
#define PREFETCH_FLAGS
#endif

static hipError_t check_managed(const void *address, size_t bytes, int device)
{
    REFUSE_UNLESS(address != NULL && bytes > 0, hipErrorInvalidValue);
    REFUSE_UNLESS(device == hipCpuDeviceId || device >= 0, hipErrorInvalidDevice);
    return hipSuccess;
}

hipError_t hipMemAdvise(const void *address, size_t bytes, hipMemoryAdvise advice, int device)
{
    hipError_t error = check_managed(address, bytes, device);
    REFUSE_UNLESS(error == hipSuccess, error);
    /* Coarse grain, which CUDA has not, is behind these. */
    REFUSE_UNLESS(advice >= hipMemAdviseSetReadMostly && advice <= hipMemAdviseUnsetAccessedBy,
                  hipErrorInvalidValue);
    return error_of(
        cudaMemAdvise(address, bytes, (enum cudaMemoryAdvise)(int)advice, place_of(device)));
}

hipError_t hipMemPrefetchAsync(const void *address, size_t bytes, int device, hipStream_t stream)
{
    hipError_t error = check_managed(address, bytes, device);
    REFUSE_UNLESS(error == hipSuccess, error);
    return error_of(cudaMemPrefetchAsync(address, bytes, place_of(device),
                                         PREFETCH_FLAGS(cudaStream_t) stream));
}

/* ---- copies ---- */

#define IS_KIND(kind) ((int)(kind) >= 0 && (kind) <= hipMemcpyDefault)

hipError_t hipMemcpyAsync(void *target, const void *source, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream)
{
    REFUSE_UNLESS(bytes == 0 || (target != NULL && source != NULL), hipErrorInvalidValue);
    REFUSE_UNLESS(IS_KIND(kind), hipErrorInvalidMemcpyDirection);
    return error_of(cudaMemcpyAsync(target, source, bytes, (enum cudaMemcpyKind)(int)kind,
                                    (cudaStream_t)stream));
}

hipError_t hipMemcpy(void *target, const void *source, size_t bytes, hipMemcpyKind kind)
{
    hipError_t result = hipMemcpyAsync(target, source, bytes, kind, NULL);
    return result != hipSuccess ? result : error_of(cudaStreamSynchronize(NULL));
}

hipError_t hipMemcpy2DAsync(void *target, size_t target_pitch, const void *source,
                            size_t source_pitch, size_t bytes, size_t rows, hipMemcpyKind kind,
                            hipStream_t stream)
{
    REFUSE_UNLESS(IS_KIND(kind), hipErrorInvalidMemcpyDirection);
    REFUSE_UNLESS(bytes <= target_pitch && bytes <= source_pitch, hipErrorInvalidPitchValue);
    return error_of(cudaMemcpy2DAsync(target, target_pitch, source, source_pitch, bytes, rows,
                                      (enum cudaMemcpyKind)(int)kind, (cudaStream_t)stream));
}

FORWARD(hipMemcpyPeerAsync,
        (void *target, int target_device, const void *source, int source_device, size_t bytes,
         hipStream_t stream),
        cudaMemcpyPeerAsync(target, target_device, source, source_device, bytes,
                            (cudaStream_t)stream))

__attribute__((visibility("default"))) xb_hip_copy_batch hipMemcpyBatchAsync;

/* Only one set of attributes, which is all that xferbench gives. CUDA has no batch without any:
 * HIP's then means the order of the stream. */
hipError_t hipMemcpyBatchAsync(void **targets, void **sources, size_t *sizes, size_t count,
                               struct xb_hip_copy_attributes *attributes, size_t *firsts,
                               size_t attribute_count, size_t *failed, hipStream_t stream)
{
    hipError_t error = standin_check_batch(targets, sources, sizes, count, attributes, firsts,
                                           attribute_count, failed);
    REFUSE_UNLESS(error == hipSuccess, error);
    REFUSE_UNLESS(attribute_count <= 1, hipErrorInvalidValue);
    int order = attribute_count > 0 ? (int)attributes->source_order : XB_HIP_ORDER_STREAM;
    struct cudaMemcpyAttributes given = {.srcAccessOrder = (enum cudaMemcpySrcAccessOrder)order};
    size_t first = 0;
    for (size_t i = 0; i < count; i++) {
        *failed = i;
        REFUSE_UNLESS(sizes[i] > 0, hipErrorInvalidValue);
    }
    *failed = (size_t)-1;
    /* CUDA 13 does not tell which copy failed, and changed the qualifiers of the arrays. */
#if CUDART_VERSION >= 13000
    return error_of(cudaMemcpyBatchAsync((void *)targets, (void *)sources, sizes, count, &given,
                                         &first, 1, (cudaStream_t)stream));
#else
    return error_of(cudaMemcpyBatchAsync((void *)targets, (void *)sources, sizes, count, &given,
                                         &first, 1, failed, (cudaStream_t)stream));
#endif
}

/* ---- graphs ---- */

FORWARD_IF(mode == hipStreamCaptureModeThreadLocal, hipStreamBeginCapture,
           (hipStream_t stream, hipStreamCaptureMode mode),
           cudaStreamBeginCapture((cudaStream_t)stream, cudaStreamCaptureModeThreadLocal))
FORWARD(hipStreamEndCapture, (hipStream_t stream, hipGraph_t *graph),
        cudaStreamEndCapture((cudaStream_t)stream, (cudaGraph_t *)graph))

/* What is wrong with a graph, CUDA tells in another way; xferbench does not ask for it. */
FORWARD_IF(wrong == NULL && log == NULL && log_bytes == 0, hipGraphInstantiate,
           (hipGraphExec_t * executable, hipGraph_t graph, hipGraphNode_t *wrong, char *log,
            size_t log_bytes),
           cudaGraphInstantiateWithFlags((cudaGraphExec_t *)executable, (cudaGraph_t)graph, 0))
FORWARD(hipGraphLaunch, (hipGraphExec_t executable, hipStream_t stream),
        cudaGraphLaunch((cudaGraphExec_t)executable, (cudaStream_t)stream))
FORWARD(hipGraphDestroy, (hipGraph_t graph), cudaGraphDestroy((cudaGraph_t)graph))
FORWARD(hipGraphExecDestroy, (hipGraphExec_t executable),
        cudaGraphExecDestroy((cudaGraphExec_t)executable))

/* ---- streams and events ---- */

FORWARD_IF(flags == hipStreamDefault || flags == hipStreamNonBlocking, hipStreamCreateWithFlags,
           (hipStream_t * stream, unsigned flags),
           cudaStreamCreateWithFlags((cudaStream_t *)stream, flags))
/* The default stream stays. */
FORWARD(hipStreamDestroy, (hipStream_t stream), cudaStreamDestroy((cudaStream_t)stream))
FORWARD(hipStreamSynchronize, (hipStream_t stream), cudaStreamSynchronize((cudaStream_t)stream))

FORWARD_IF(flags == 0, hipStreamWaitEvent, (hipStream_t stream, hipEvent_t event, unsigned flags),
           cudaStreamWaitEvent((cudaStream_t)stream, (cudaEvent_t)event, 0))
FORWARD(hipEventCreate, (hipEvent_t * event), cudaEventCreate((cudaEvent_t *)event))
FORWARD(hipEventDestroy, (hipEvent_t event), cudaEventDestroy((cudaEvent_t)event))
FORWARD(hipEventRecord, (hipEvent_t event, hipStream_t stream),
        cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream))
FORWARD(hipEventSynchronize, (hipEvent_t event), cudaEventSynchronize((cudaEvent_t)event))
FORWARD(hipEventElapsedTime, (float *milliseconds, hipEvent_t start, hipEvent_t stop),
        cudaEventElapsedTime(milliseconds, (cudaEvent_t)start, (cudaEvent_t)stop))

/* ---- modules: the runtime's libraries in place of the driver's modules, so that libcuda need not
 * be linked. A library belongs to no context: it is loaded into every one, or into each when it
 * first needs it (cudaLibraryLoadData's documentation), and a kernel of it runs on the device that
 * is current. ---- */

/* A function is HIP's handle of a kernel; it lives as long as its module. */
struct ihipModuleSymbol_t {
    struct ihipModuleSymbol_t *next;
    cudaKernel_t kernel;
    int device; /* its module's */
};

struct ihipModule_t {
    cudaLibrary_t library;
    int device; /* which was current when it was loaded */
    struct ihipModuleSymbol_t *functions;
};

static pthread_mutex_t functions_lock = PTHREAD_MUTEX_INITIALIZER;

hipError_t hipModuleLoadData(hipModule_t *module, const void *image)
{
    REFUSE_UNLESS(module != NULL && image != NULL, hipErrorInvalidValue);
    struct ihipModule_t *loaded = calloc(1, sizeof *loaded);
    REFUSE_UNLESS(loaded != NULL, hipErrorOutOfMemory);
    cudaError_t result = cudaGetDevice(&loaded->device);
    if (result == cudaSuccess)
        result = cudaLibraryLoadData(&loaded->library, image, NULL, NULL, 0, NULL, NULL, 0);
    if (result == cudaSuccess)
        *module = loaded;
    else
        free(loaded);
    return error_of(result);
}

hipError_t hipModuleUnload(hipModule_t module)
{
    REFUSE_UNLESS(module != NULL, hipErrorInvalidHandle);
    hipError_t error = error_of(cudaLibraryUnload(module->library));
    while (module->functions != NULL) {
        struct ihipModuleSymbol_t *first = module->functions;
        module->functions = first->next;
        free(first);
    }
    free(module);
    return error;
}

/*
 * A module of AMD's belongs to the device that was current when it was loaded; asked for a function
 * with another current, the runtime ends the process. CUDA's kernels would run on any device: here
 * the use on another is refused, so that it comes to light without AMD's device.
 */
static hipError_t check_device(int device)
{
    int current = 0;
    hipError_t error = error_of(cudaGetDevice(&current));
    REFUSE_UNLESS(error == hipSuccess, error);
    return current == device ? hipSuccess : hipErrorInvalidDeviceFunction;
}

/*
 * Asking for its attributes loads the kernel onto the current device, if nothing has before. HIP
 * loads a module whole; loading at the first launch may wait for the device to be idle, which it is
 * never while a kernel spins on what the host writes later: a held queue.
 */
static cudaError_t find_kernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
    struct cudaFuncAttributes ignored;
    cudaError_t result = cudaLibraryGetKernel(kernel, library, name);
    return result == cudaSuccess ? cudaFuncGetAttributes(&ignored, (const void *)*kernel) : result;
}

hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name)
{
    REFUSE_UNLESS(function != NULL && name != NULL, hipErrorInvalidValue);
    REFUSE_UNLESS(module != NULL, hipErrorInvalidHandle);
    hipError_t error = check_device(module->device);
    REFUSE_UNLESS(error == hipSuccess, error);
    struct ihipModuleSymbol_t *found = calloc(1, sizeof *found);
    REFUSE_UNLESS(found != NULL, hipErrorOutOfMemory);
    error = error_of(find_kernel(&found->kernel, module->library, name));
    if (error != hipSuccess) {
        free(found);
        return error;
    }
    found->device = module->device;
    pthread_mutex_lock(&functions_lock);
    found->next = module->functions;
    module->functions = found;
    pthread_mutex_unlock(&functions_lock);
    *function = found;
    return hipSuccess;
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared_bytes, hipStream_t stream,
                                 void **parameters, void **extra)
{
    const dim3 grid = {grid_x, grid_y, grid_z};
    const dim3 block = {block_x, block_y, block_z};
    REFUSE_UNLESS(function != NULL, hipErrorInvalidHandle);
    REFUSE_UNLESS(parameters == NULL || extra == NULL, hipErrorInvalidValue);
    REFUSE_UNLESS(extra == NULL, hipErrorNotSupported); /* xferbench has no use for it */
    hipError_t error = check_device(function->device);
    REFUSE_UNLESS(error == hipSuccess, error);
    return error_of(cudaLaunchKernel((const void *)function->kernel, grid, block, parameters,
                                     shared_bytes, (cudaStream_t)stream));
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
