/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Modules: code objects that are loaded, and launches of what is in them. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

struct ihipModuleSymbol_t {
    const struct standin_kernel *kernel;
};

struct ihipModule_t {
    struct standin_head head;
    struct ihipModuleSymbol_t functions[XB_GPU_KERNELS];
};

unsigned standin_last_copy_blocks; /* under the lock */

uint64_t standin_hash(const void *data, size_t bytes)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const unsigned char *)data)[i]) * 0x100000001B3u;
    return hash;
}

uint64_t standin_code_hash(const struct standin_code *code)
{
    struct standin_code copy = *code;
    copy.whole = 0;
    return standin_hash(&copy, sizeof copy);
}

static hipError_t check_code(const void *image)
{
    char architecture[32];
    struct standin_code code;
    /* The magic first: what is no code object may be shorter than one. */
    REFUSE_IF(memcmp(image, STANDIN_MAGIC, sizeof STANDIN_MAGIC) != 0, hipErrorInvalidImage);
    memcpy(&code, image, sizeof code);
    REFUSE_IF(standin_code_hash(&code) != code.whole, hipErrorInvalidImage);
    standin_architecture(architecture);
    return memcmp(code.architecture, architecture, sizeof architecture) == 0
               ? hipSuccess
               : hipErrorNoBinaryForGpu;
}

hipError_t hipModuleLoadData(hipModule_t *module, const void *image)
{
    STANDIN_ENTER(hipModuleLoadData);
    REFUSE_IF(module == NULL || image == NULL, hipErrorInvalidValue);
    hipError_t result = check_code(image);
    if (result != hipSuccess)
        return result;
    struct ihipModule_t *loaded = calloc(1, sizeof *loaded);
    REFUSE_IF(loaded == NULL, hipErrorOutOfMemory);
    for (size_t i = 0; i < XB_GPU_KERNELS; i++)
        loaded->functions[i].kernel = &standin_kernels[i];
    pthread_mutex_lock(&standin_lock);
    standin_keep(loaded, STANDIN_MODULE);
    pthread_mutex_unlock(&standin_lock);
    *module = loaded;
    return hipSuccess;
}

hipError_t hipModuleUnload(hipModule_t module)
{
    STANDIN_FREE(hipModuleUnload, standin_close(module, STANDIN_MODULE, hipErrorInvalidHandle));
}

hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name)
{
    STANDIN_ENTER(hipModuleGetFunction);
    REFUSE_IF(function == NULL || name == NULL, hipErrorInvalidValue);
    pthread_mutex_lock(&standin_lock);
    hipError_t result =
        standin_is(module, STANDIN_MODULE) ? hipErrorNotFound : hipErrorInvalidHandle;
    for (size_t i = 0; result == hipErrorNotFound && i < XB_GPU_KERNELS; i++) {
        if (strcmp(standin_kernels[i].name, name) == 0) {
            *function = &module->functions[i];
            result = hipSuccess;
        }
    }
    pthread_mutex_unlock(&standin_lock);
    return result;
}

/* Whether the function belongs to a module of the device. With the lock held. */
static bool is_loaded(hipFunction_t function, int device)
{
    for (const struct standin_head *at = standin_open[STANDIN_MODULE]; at != NULL; at = at->next)
        for (size_t i = 0; i < XB_GPU_KERNELS; i++)
            if (&((const struct ihipModule_t *)at)->functions[i] == function)
                return at->device == device;
    return false;
}

/* What the kernels' text gives. */
static unsigned launch_bound(const struct standin_kernel *kernel)
{
    return strcmp(kernel->name, "xb_kernel_pieces") == 0 ? XB_GPU_PIECE_THREADS
           : strcmp(kernel->name, "xb_kernel_lz4") == 0  ? XB_GPU_LZ4_THREADS
                                                         : XB_GPU_THREADS;
}

/* With the lock held. */
static hipError_t launch(const struct standin_kernel *kernel, struct standin_operation *operation,
                         void *const *parameters, hipStream_t stream)
{
    int device = standin_stream_device(stream);
    REFUSE_IF(device < 0 || device != standin_current, hipErrorInvalidHandle);
    operation->kernel = kernel;
    for (unsigned i = 0; i < kernel->count; i++) {
        memcpy(operation->parameters[i], parameters[i], kernel->bytes[i]);
        const void *address; /* no other parameter need be as long as one */
        memcpy(&address, operation->parameters[i], sizeof address);
        if (kernel->is_pointer[i] && !standin_is_reachable(address, device))
            return hipErrorIllegalAddress; /* a GPU ends the process, later */
    }
    return standin_enqueue(stream, operation);
}

int standin_launch(const struct standin_kernel *kernel, unsigned blocks, unsigned threads,
                   void *const *parameters, void *stream)
{
    struct standin_operation operation = {
        .kind = STANDIN_LAUNCH, .blocks = blocks, .threads = threads};
    REFUSE_IF(blocks == 0 || threads == 0 || threads > 1024, hipErrorInvalidConfiguration);
    return (int)STANDIN_LOCKED(launch(kernel, &operation, parameters, stream));
}

/* With the lock held. */
static hipError_t launch_of_module(hipFunction_t function, struct standin_operation *operation,
                                   void *const *parameters, hipStream_t stream)
{
    const struct standin_kernel *kernel = function->kernel;
    REFUSE_IF(!is_loaded(function, standin_stream_device(stream)), hipErrorInvalidHandle);
    REFUSE_IF(operation->threads > launch_bound(kernel), hipErrorLaunchFailure);
    if (strncmp(kernel->name, "xb_kernel_copy_", strlen("xb_kernel_copy_")) == 0)
        standin_last_copy_blocks = operation->blocks;
    return launch(kernel, operation, parameters, stream);
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared_bytes, hipStream_t stream,
                                 void **parameters, void **extra)
{
    STANDIN_ENTER(hipModuleLaunchKernel);
    REFUSE_IF(parameters == NULL || extra != NULL || shared_bytes > 65536, hipErrorInvalidValue);
    /* No kernel here knows of more than one dimension. */
    REFUSE_IF(grid_x == 0 || block_x == 0 || block_x > 1024 || grid_y != 1 || grid_z != 1 ||
                  block_y != 1 || block_z != 1,
              hipErrorInvalidConfiguration);
    struct standin_operation operation = {
        .kind = STANDIN_LAUNCH, .blocks = grid_x, .threads = block_x};
    return STANDIN_LOCKED(launch_of_module(function, &operation, parameters, stream));
}
