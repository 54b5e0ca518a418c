/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What both libraries that stand in for HIP's runtime answer alike: the names of its errors, a
 * device's properties in their two layouts, and which batches it refuses. */

/* HIP's headers, and the types that the backend has in place of what these may lack. */
#include "backends/hip/library.h"

/* The refusal of a call that HIP would refuse. */
#define REFUSE_IF(condition, error)                                                                \
    do {                                                                                           \
        if (condition)                                                                             \
            return (error);                                                                        \
    } while (0)
#define REFUSE_UNLESS(condition, error) REFUSE_IF(!(condition), error)

/* Of HIP 5 and of HIP 6, under the names that the runtime exports. The header of HIP 5 does not
 * know the second; that of HIP 6 hides the first behind a macro with the second's name and type. */
#define EXPORTED_AS(name) __asm__(name) __attribute__((visibility("default")))
xb_hip_get_properties_5 standin_properties_plain EXPORTED_AS("hipGetDeviceProperties");
xb_hip_get_properties_6 standin_properties_r0600 EXPORTED_AS("hipGetDevicePropertiesR0600");

/* What those tell, which each library knows by itself: nothing but the name and the architecture's.
 * The major release of the layout, 5 or 6, says which was called. */
hipError_t standin_describe(int layout, int device, char name[256], char architecture[256]);

/* HIP 6 named it; its place in the enum was free before. Asking an older HIP is refused. */
#define hipDeviceAttributeHostRegisterSupported                                                    \
    ((hipDeviceAttribute_t)(hipDeviceAttributeMemoryPoolsSupported + 2))

/* What is wrong with a batch of copies, but for the copies. XB_STANDIN_BATCH asks for more: with
 * "no-attributes" they are refused as ROCm 7.2 does, with "refused" every batch is. */
hipError_t standin_check_batch(void **targets, void **sources, const size_t *sizes, size_t count,
                               const struct xb_hip_copy_attributes *attributes,
                               const size_t *firsts, size_t attribute_count, const size_t *failed);

/*
 * X(CUDA's name, HIP's name). Many of CUDA's have none in HIP; what is not here is unknown. Without
 * a driver that CUDA can use there is no device: that is all AMD's runtime would tell. Some of
 * HIP's are there more than once.
 */
/* clang-format off */
#define STANDIN_ERRORS(X)                                                                          \
    X(InvalidValue, InvalidValue)                     X(MemoryAllocation, OutOfMemory)             \
    X(InitializationError, NotInitialized)            X(CudartUnloading, Deinitialized)            \
    X(InvalidConfiguration, InvalidConfiguration)     X(InvalidSymbol, InvalidSymbol)              \
    X(InvalidPitchValue, InvalidPitchValue)                                                        \
    X(InvalidMemcpyDirection, InvalidMemcpyDirection)                                              \
    X(InvalidDeviceFunction, InvalidDeviceFunction)   X(NoDevice, NoDevice)                        \
    X(InsufficientDriver, NoDevice)                   X(StubLibrary, NoDevice)                     \
    X(SystemDriverMismatch, NoDevice)                 X(CompatNotSupportedOnDevice, NoDevice)      \
    X(InvalidDevice, InvalidDevice)                   X(InvalidKernelImage, InvalidImage)          \
    X(DeviceUninitialized, InvalidContext)            X(MapBufferObjectFailed, MapFailed)          \
    X(UnmapBufferObjectFailed, UnmapFailed)           X(NoKernelImageForDevice, NoBinaryForGpu)    \
    X(UnsupportedPtxVersion, NoBinaryForGpu)          X(ECCUncorrectable, ECCNotCorrectable)       \
    X(PeerAccessUnsupported, PeerAccessUnsupported)   X(InvalidPtx, InvalidKernelFile)             \
    X(InvalidSource, InvalidSource)                   X(FileNotFound, FileNotFound)                \
    X(SharedObjectSymbolNotFound, SharedObjectSymbolNotFound)                                      \
    X(SharedObjectInitFailed, SharedObjectInitFailed) X(OperatingSystem, OperatingSystem)          \
    X(InvalidResourceHandle, InvalidHandle)           X(IllegalState, IllegalState)                \
    X(StreamCaptureUnsupported, StreamCaptureUnsupported)                                          \
    X(StreamCaptureInvalidated, StreamCaptureInvalidated)                                          \
    X(StreamCaptureWrongThread, StreamCaptureWrongThread)                                          \
    X(SymbolNotFound, NotFound)                       X(NotReady, NotReady)                        \
    X(IllegalAddress, IllegalAddress)                 X(LaunchOutOfResources, LaunchOutOfResources)\
    X(LaunchTimeout, LaunchTimeOut)                                                                \
    X(PeerAccessAlreadyEnabled, PeerAccessAlreadyEnabled)                                          \
    X(PeerAccessNotEnabled, PeerAccessNotEnabled)     X(ContextIsDestroyed, ContextIsDestroyed)    \
    X(Assert, Assert)                                                                              \
    X(HostMemoryAlreadyRegistered, HostMemoryAlreadyRegistered)                                    \
    X(HostMemoryNotRegistered, HostMemoryNotRegistered)                                            \
    X(LaunchFailure, LaunchFailure)                   X(NotSupported, NotSupported)
/* clang-format on */
