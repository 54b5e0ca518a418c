/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * X(CUDA's name, HIP's name, text). Many of CUDA's have none in HIP; what is not here is unknown.
 * Without a driver that CUDA can use there is no device: that is all AMD's runtime would tell.
 */
#define STANDIN_ERRORS(X)                                                                          \
    X(InvalidValue, InvalidValue, "invalid argument")                                              \
    X(MemoryAllocation, OutOfMemory, "out of memory")                                              \
    X(InitializationError, NotInitialized, "initialization error")                                 \
    X(CudartUnloading, Deinitialized, "the runtime is shutting down")                              \
    X(InvalidConfiguration, InvalidConfiguration, "invalid configuration argument")                \
    X(InvalidSymbol, InvalidSymbol, "invalid device symbol")                                       \
    X(InvalidPitchValue, InvalidPitchValue, "invalid pitch argument")                              \
    X(InvalidMemcpyDirection, InvalidMemcpyDirection, "invalid direction of a copy")               \
    X(InvalidDeviceFunction, InvalidDeviceFunction, "invalid device function")                     \
    X(NoDevice, NoDevice, "no ROCm-capable device is detected")                                    \
    X(InsufficientDriver, NoDevice, "")                                                            \
    X(StubLibrary, NoDevice, "")                                                                   \
    X(SystemDriverMismatch, NoDevice, "")                                                          \
    X(CompatNotSupportedOnDevice, NoDevice, "")                                                    \
    X(InvalidDevice, InvalidDevice, "invalid device ordinal")                                      \
    X(InvalidKernelImage, InvalidImage, "device kernel image is invalid")                          \
    X(DeviceUninitialized, InvalidContext, "invalid device context")                               \
    X(MapBufferObjectFailed, MapFailed, "mapping of a buffer failed")                              \
    X(UnmapBufferObjectFailed, UnmapFailed, "unmapping of a buffer failed")                        \
    X(NoKernelImageForDevice, NoBinaryForGpu, "no kernel image for the device")                    \
    X(UnsupportedPtxVersion, NoBinaryForGpu, "")                                                   \
    X(ECCUncorrectable, ECCNotCorrectable, "uncorrectable memory error")                           \
    X(PeerAccessUnsupported, PeerAccessUnsupported, "peer access is not supported")                \
    X(InvalidPtx, InvalidKernelFile, "invalid kernel file")                                        \
    X(InvalidSource, InvalidSource, "invalid source")                                              \
    X(FileNotFound, FileNotFound, "file not found")                                                \
    X(SharedObjectSymbolNotFound, SharedObjectSymbolNotFound, "shared object symbol not found")    \
    X(SharedObjectInitFailed, SharedObjectInitFailed, "shared object initialization failed")       \
    X(OperatingSystem, OperatingSystem, "operating system call failed")                            \
    X(InvalidResourceHandle, InvalidHandle, "invalid resource handle")                             \
    X(IllegalState, IllegalState, "the operation cannot be performed in the present state")        \
    X(StreamCaptureUnsupported, StreamCaptureUnsupported, "not permitted while a stream captures") \
    X(StreamCaptureInvalidated, StreamCaptureInvalidated, "the capture became invalid")            \
    X(StreamCaptureWrongThread, StreamCaptureWrongThread, "another thread began the capture")      \
    X(SymbolNotFound, NotFound, "named symbol not found")                                          \
    X(NotReady, NotReady, "device not ready")                                                      \
    X(IllegalAddress, IllegalAddress, "an illegal memory access was encountered")                  \
    X(LaunchOutOfResources, LaunchOutOfResources, "too many resources requested for launch")       \
    X(LaunchTimeout, LaunchTimeOut, "the launch timed out and was terminated")                     \
    X(PeerAccessAlreadyEnabled, PeerAccessAlreadyEnabled, "peer access is already enabled")        \
    X(PeerAccessNotEnabled, PeerAccessNotEnabled, "peer access has not been enabled")              \
    X(ContextIsDestroyed, ContextIsDestroyed, "context is destroyed")                              \
    X(Assert, Assert, "device-side assert triggered")                                              \
    X(HostMemoryAlreadyRegistered, HostMemoryAlreadyRegistered,                                    \
      "part or all of the requested memory range is already mapped")                               \
    X(HostMemoryNotRegistered, HostMemoryNotRegistered,                                            \
      "pointer does not correspond to a registered memory region")                                 \
    X(LaunchFailure, LaunchFailure, "unspecified launch failure")                                  \
    X(NotSupported, NotSupported, "operation not supported")
