/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hipRTC on NVRTC. Nothing here calls the CUDA runtime: xferbench compiles in a forked child, in
 * which that would no longer work.
 */
#define _GNU_SOURCE
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hiprtc.h>

#include <nvrtc.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): HIP's versions differ in it */

#define ARCHITECTURE "--offload-arch="
#define OURS "gfx0-sm"

#define FUNCTIONS(X)                                                                               \
    X(create, nvrtcCreateProgram)                                                                  \
    X(compile, nvrtcCompileProgram)                                                                \
    X(log_size, nvrtcGetProgramLogSize)                                                            \
    X(log, nvrtcGetProgramLog)                                                                     \
    X(code_size, nvrtcGetCUBINSize)                                                                \
    X(code, nvrtcGetCUBIN)                                                                         \
    X(destroy, nvrtcDestroyProgram)
#define FIELD(field, function) __typeof__(&(function)) field;
static struct {
    FUNCTIONS(FIELD)
} library; /* filled in once */
static bool library_complete;

static bool find_functions(void *handle)
{
#define FIND(field, function) (*(void **)&library.field = dlsym(handle, #function)) != NULL &&
    return FUNCTIONS(FIND) true;
}

/* Where CUDA is said to be, then where the loader finds it, then where it usually is. */
static void open_library(void)
{
    char home[4096] = "";
    if (getenv("CUDA_HOME") != NULL)
        snprintf(home, sizeof home, "%s/lib64/", getenv("CUDA_HOME"));
    const char *directories[] = {home, "", "/usr/local/cuda/lib64/"};
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
    for (size_t i = 0; i < 6; i++) {
        char path[sizeof home + 32];
        snprintf(path, sizeof path, "%s%s", directories[i / 2], names[i % 2]);
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        library_complete = handle != NULL && find_functions(handle);
        if (library_complete)
            return;
    }
    fprintf(stderr, "xferbench CUDA stand-in: no libnvrtc.so.13 or .12 in $CUDA_HOME/lib64, for "
                    "the loader or in /usr/local/cuda/lib64\n");
}

static bool library_opened(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_library);
    return library_complete;
}

/* Both interfaces have the same errors up to this one; NVRTC goes on. */
_Static_assert((int)NVRTC_ERROR_INTERNAL_ERROR == (int)HIPRTC_ERROR_INTERNAL_ERROR &&
                   (int)NVRTC_ERROR_COMPILATION == (int)HIPRTC_ERROR_COMPILATION,
               "the numbers of errors");

static hiprtcResult result_of(nvrtcResult result)
{
    return result < NVRTC_ERROR_INTERNAL_ERROR ? (hiprtcResult)(int)result
                                               : HIPRTC_ERROR_INTERNAL_ERROR;
}

/* A program is NVRTC's own, under HIP's type. */
hiprtcResult hiprtcCreateProgram(hiprtcProgram *program, const char *source, const char *name,
                                 int header_count, const char **headers, const char **names)
{
    if (program == NULL || source == NULL)
        return HIPRTC_ERROR_INVALID_INPUT;
    if (!library_opened())
        return HIPRTC_ERROR_INTERNAL_ERROR;
    nvrtcProgram created = NULL;
    hiprtcResult result =
        result_of(library.create(&created, source, name, header_count, headers, names));
    *program = (hiprtcProgram)(void *)created;
    return result;
}

static nvrtcProgram nvrtc_program(hiprtcProgram program)
{
    return (nvrtcProgram)(void *)program;
}

/* "sm_90" of "gfx0-sm90". hipRTC 5.2 ends the process when it does not know an architecture, which
 * xferbench must survive: so it ends here. */
static void translate_architecture(const char *ours, char *text, size_t size)
{
    const char *digits = ours + strlen(OURS);
    bool known = strncmp(ours, OURS, strlen(OURS)) == 0 && digits[0] != '\0' &&
                 strspn(digits, "0123456789") == strlen(digits);
    if (!known) {
        fprintf(stderr, "xferbench CUDA stand-in: unknown architecture %s\n", ours);
        abort();
    }
    snprintf(text, size, "--gpu-architecture=sm_%s", digits);
}

/* NVRTC knows no -O3, and does that anyway. What else it does not know, it refuses itself. */
hiprtcResult hiprtcCompileProgram(hiprtcProgram program, int count, const char **options)
{
    if (program == NULL || !library_opened())
        return HIPRTC_ERROR_INVALID_PROGRAM;
    if (count < 0 || (count > 0 && options == NULL))
        return HIPRTC_ERROR_INVALID_INPUT;
    const char **translated = calloc((size_t)count + 1, sizeof *translated);
    if (translated == NULL)
        return HIPRTC_ERROR_OUT_OF_MEMORY;
    char architecture[64] = "";
    int architectures = 0;
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (strncmp(options[i], ARCHITECTURE, strlen(ARCHITECTURE)) == 0) {
            translate_architecture(options[i] + strlen(ARCHITECTURE), architecture,
                                   sizeof architecture);
            translated[kept++] = architecture;
            architectures++;
        } else if (strcmp(options[i], "-O3") != 0) {
            translated[kept++] = options[i];
        }
    }
    hiprtcResult result = HIPRTC_ERROR_INVALID_OPTION;
    if (architectures == 1)
        result = result_of(library.compile(nvrtc_program(program), kept, translated));
    free(translated);
    return result;
}

#define FORWARD(name, type, slot)                                                                  \
    hiprtcResult name(hiprtcProgram program, type *out)                                            \
    {                                                                                              \
        if (program == NULL || !library_opened())                                                  \
            return HIPRTC_ERROR_INVALID_PROGRAM;                                                   \
        return result_of(library.slot(nvrtc_program(program), out));                               \
    }
FORWARD(hiprtcGetProgramLogSize, size_t, log_size)
FORWARD(hiprtcGetProgramLog, char, log)
FORWARD(hiprtcGetCodeSize, size_t, code_size)
FORWARD(hiprtcGetCode, char, code)

hiprtcResult hiprtcDestroyProgram(hiprtcProgram *program)
{
    if (program == NULL || *program == NULL || !library_opened())
        return HIPRTC_ERROR_INVALID_PROGRAM;
    nvrtcProgram destroyed = nvrtc_program(*program);
    *program = NULL;
    return result_of(library.destroy(&destroyed));
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
