/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem, on_exit, secure_getenv */
/* Finds and opens libcufile, and tells what its errors are. */
#include "cufile.h"

#include "backends/symbols.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The library writes to these structures, so they must have its layout on every machine. */
_Static_assert(sizeof(struct xb_cufile_outcome) == 8, "CUfileError_t has 8 bytes");
_Static_assert(sizeof(struct xb_cufile_descriptor) == 24, "CUfileDescr_t has 24 bytes");
_Static_assert(offsetof(struct xb_cufile_properties, reserved) == 56,
               "CUfileDrvProps_t has 56 bytes");
_Static_assert(sizeof(struct xb_cufile_gpu_counts) == 248, "CUfilePerGpuStats_t has 248 bytes");
_Static_assert(offsetof(struct xb_cufile_counts, reserved) == 5000,
               "CUfileStatsLevel3_t has 5000 bytes");

static char path[XB_PATH_SIZE]; /* "" where there is no library */
static pthread_once_t search_once = PTHREAD_ONCE_INIT;

static struct xb_cufile functions;

/* ---- finding it ---- */

static bool try_folder(const char *folder, size_t length)
{
    static const char *const names[] = {"libcufile.so.0", "libcufile.so"};
    for (size_t i = 0; length > 0 && i < sizeof names / sizeof names[0]; i++) {
        int written = snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, names[i]);
        if (written > 0 && (size_t)written < sizeof path && access(path, R_OK) == 0)
            return true;
    }
    path[0] = '\0';
    return false;
}

/* Each folder of a list that the variable holds, with `behind` added. */
static bool try_variable(const char *name, const char *behind)
{
    const char *list = secure_getenv(name);
    for (const char *folder = list; folder != NULL && *folder != '\0';) {
        size_t length = strcspn(folder, ":");
        char whole[XB_PATH_SIZE];
        int written = snprintf(whole, sizeof whole, "%.*s%s", (int)length, folder, behind);
        if (length > 0 && written > 0 && (size_t)written < sizeof whole &&
            try_folder(whole, (size_t)written))
            return true;
        folder += length + (folder[length] == ':');
    }
    return false;
}

/* The loader's cache (ldconfig) names all libraries of the folders that it looks in. */
static bool try_loader(void)
{
    struct stat about;
    int file = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool found = false;
    if (fstat(file, &about) == 0 && about.st_size > 0) {
        size_t bytes = (size_t)about.st_size;
        void *cache = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
        if (cache != MAP_FAILED) {
            /* Its texts, paths among them, have a zero at their ends. */
            static const char name[] = "/libcufile.so.0";
            const char *end = memmem(cache, bytes, name, sizeof name);
            const char *begin = end;
            while (end != NULL && begin > (const char *)cache && begin[-1] != '\0')
                begin--;
            found = end != NULL && try_folder(begin, (size_t)(end - begin));
            munmap(cache, bytes);
        }
    }
    close(file);
    return found;
}

static void search(void)
{
    static const char toolkit[] = "/usr/local/cuda/lib64";
    (void)(try_variable("LD_LIBRARY_PATH", "") || try_loader() ||
           try_variable("CUDA_HOME", "/lib64") || try_variable("CUDA_PATH", "/lib64") ||
           try_folder(toolkit, sizeof toolkit - 1));
}

const char *xb_cufile_path(void)
{
    pthread_once(&search_once, search);
    return path[0] != '\0' ? path : NULL;
}

/* ---- opening it ---- */

static const struct xb_symbol symbols[] = {
#define X(result, field, symbol, parameters, lost)                                                 \
    {#symbol, offsetof(struct xb_cufile, field), lost},
    XB_CUFILE_FUNCTIONS(X)
#undef X
};

/* Ends the process before the library does what it does at the end: its threads go on meanwhile,
 * and crash now and then. Closing it first crashed in 2 of 80 processes (cuFile 1.15), in the
 * thread that writes cufile.log. The kernel frees what it holds. */
static void end_process(int code, void *unused)
{
    (void)unused;
    (void)fflush(NULL);
    _exit(code);
}

static enum xb_status open_library(struct xb_error *error)
{
    if (xb_cufile_path() == NULL)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED, "libcufile.so.0 is not found");
    void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL) {
        const char *said = dlerror();
        return XB_FAIL(error, XB_ERR_UNSUPPORTED, "libcufile is there and does not load: %s",
                       said != NULL ? said : "no reason given");
    }
    const char *missing =
        xb_symbols_find(handle, symbols, sizeof symbols / sizeof symbols[0], &functions);
    if (missing != NULL)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                       "%s has no %s: install a newer libcufile (GPUDirect Storage)", path,
                       missing);
    struct xb_cufile_outcome opened = functions.open_driver();
    /* After that call: exit() begins with what it was given last, and the call may give it some. */
    if (on_exit(end_process, NULL) != 0)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED, "libcufile: not enough memory");
    if (xb_cufile_status(opened, "cuFileDriverOpen", "libcufile cannot be used here", error) !=
        XB_OK)
        return error->status = XB_ERR_UNSUPPORTED;
    /* Without counts the way of the reads is told from how the library is set up. */
    if (functions.set_stats_level == NULL || functions.stats_start == NULL ||
        functions.set_stats_level(XB_CUFILE_ALL_COUNTS).code != XB_CUFILE_SUCCESS ||
        functions.stats_start().code != XB_CUFILE_SUCCESS)
        functions.counts = NULL;
    return XB_OK;
}

enum xb_status xb_cufile_open(const struct xb_cufile **library, struct xb_error *error)
{
    static struct xb_opening opening = {.lock = PTHREAD_MUTEX_INITIALIZER};
    XB_TRY(xb_open_once(&opening, open_library, error));
    *library = &functions;
    return XB_OK;
}

/* ---- its errors ---- */

/* CUfileOpError. `refuses`: the library does not work here, or not with this file. */
static const struct {
    int code;
    bool refuses;
    const char *name;
} errors[] = {
    {5001, true, "CU_FILE_DRIVER_NOT_INITIALIZED"},
    {5002, false, "CU_FILE_DRIVER_INVALID_PROPS"},
    {5003, false, "CU_FILE_DRIVER_UNSUPPORTED_LIMIT"},
    {5004, true, "CU_FILE_DRIVER_VERSION_MISMATCH"},
    {5005, true, "CU_FILE_DRIVER_VERSION_READ_ERROR"},
    {5006, false, "CU_FILE_DRIVER_CLOSING"},
    {5007, true, "CU_FILE_PLATFORM_NOT_SUPPORTED"},
    {5008, true, "CU_FILE_IO_NOT_SUPPORTED"},
    {5009, true, "CU_FILE_DEVICE_NOT_SUPPORTED"},
    {5010, false, "CU_FILE_NVFS_DRIVER_ERROR"},
    {XB_CUFILE_CUDA_ERROR, false, "CU_FILE_CUDA_DRIVER_ERROR"},
    {5012, false, "CU_FILE_CUDA_POINTER_INVALID"},
    {5013, false, "CU_FILE_CUDA_MEMORY_TYPE_INVALID"},
    {5014, false, "CU_FILE_CUDA_POINTER_RANGE_ERROR"},
    {5015, false, "CU_FILE_CUDA_CONTEXT_MISMATCH"},
    {5016, false, "CU_FILE_INVALID_MAPPING_SIZE"},
    {5017, false, "CU_FILE_INVALID_MAPPING_RANGE"},
    {5018, true, "CU_FILE_INVALID_FILE_TYPE"},
    {5019, true, "CU_FILE_INVALID_FILE_OPEN_FLAG"},
    {5020, true, "CU_FILE_DIO_NOT_SET"},
    {5022, false, "CU_FILE_INVALID_VALUE"},
    {5023, false, "CU_FILE_MEMORY_ALREADY_REGISTERED"},
    {5024, false, "CU_FILE_MEMORY_NOT_REGISTERED"},
    {5025, true, "CU_FILE_PERMISSION_DENIED"},
    {5026, false, "CU_FILE_DRIVER_ALREADY_OPEN"},
    {5027, true, "CU_FILE_HANDLE_NOT_REGISTERED"},
    {5028, false, "CU_FILE_HANDLE_ALREADY_REGISTERED"},
    {5029, true, "CU_FILE_DEVICE_NOT_FOUND"},
    {5030, false, "CU_FILE_INTERNAL_ERROR"},
    {5031, true, "CU_FILE_GETNEWFD_FAILED"},
    {5033, true, "CU_FILE_NVFS_SETUP_ERROR"},
    {5034, true, "CU_FILE_IO_DISABLED"},
    {5036, false, "CU_FILE_GPU_MEMORY_PINNING_FAILED"},
};
#define ERRORS (sizeof errors / sizeof errors[0])

enum xb_status xb_cufile_status(struct xb_cufile_outcome what_came, const char *call,
                                const char *what, struct xb_error *error)
{
    if (what_came.code == XB_CUFILE_SUCCESS)
        return XB_OK;
    size_t i = 0;
    while (i < ERRORS && errors[i].code != what_came.code)
        i++;
    enum xb_status status = i < ERRORS && errors[i].refuses ? XB_ERR_UNSUPPORTED : XB_ERR_RUNTIME;
    const char *name = i < ERRORS ? errors[i].name : "CUfileOpError"; /* a number not known here */
    if (what_came.code == XB_CUFILE_CUDA_ERROR)
        return XB_FAIL_NATIVE(error, status, call, what_came.code, name,
                              "%s: error %d of the CUDA driver (see cufile.log)", what,
                              what_came.cuda_code);
    return XB_FAIL_NATIVE(error, status, call, what_came.code, name, "%s (see cufile.log)", what);
}
