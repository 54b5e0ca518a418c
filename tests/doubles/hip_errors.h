/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

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
