/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem, on_exit, secure_getenv */
/* Finds and opens libcufile, reads files by it, and tells which way the reads went. */
#include "cufile.h"

#include "backends/symbols.h"

#include <errno.h>
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

/* The first version that can read past the host's memory without nvidia-fs: by P2PDMA of the
 * kernel, with CUDA 12.8. */
#define FIRST_WITH_P2PDMA 1130

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

/* Returns XB_OK, or fills *error with `what` failed, the call, the code, and its name.
 * XB_ERR_UNSUPPORTED for a code that means: not here, or not this file. */
static enum xb_status judge(struct xb_cufile_outcome what_came, const char *call, const char *what,
                            struct xb_error *error)
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
    if (judge(opened, "cuFileDriverOpen", "libcufile cannot be used here", error) != XB_OK)
        return error->status = XB_ERR_UNSUPPORTED;
    /* Without counts the way of the reads is told from how the library is set up. */
    if (functions.set_stats_level == NULL || functions.stats_start == NULL ||
        functions.set_stats_level(XB_CUFILE_ALL_COUNTS).code != XB_CUFILE_SUCCESS ||
        functions.stats_start().code != XB_CUFILE_SUCCESS)
        functions.counts = NULL;
    return XB_OK;
}

enum xb_status xb_cufile_open(struct xb_error *error)
{
    static struct xb_opening opening = {.lock = PTHREAD_MUTEX_INITIALIZER};
    return xb_open_once(&opening, open_library, error);
}

/* ---- memory that the library knows of ---- */

#define MOST_KNOWN 256

/* Where it lies; NULL for a free place. What it refuses is here too, so that it is asked once:
 * then it reads by memory of its own on the GPU. */
static struct {
    const void *base;
    bool taken;
} known[MOST_KNOWN];
static _Atomic size_t known_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects `known` */

static size_t place_of(const void *base)
{
    size_t i = 0;
    while (i < MOST_KNOWN && known[i].base != base)
        i++;
    return i;
}

static void make_known(const void *base, uint64_t length)
{
    pthread_mutex_lock(&lock);
    size_t free_place = place_of(NULL);
    if (place_of(base) == MOST_KNOWN && free_place < MOST_KNOWN) {
        known[free_place].base = base;
        known[free_place].taken =
            functions.buffer_register(base, (size_t)length, 0).code == XB_CUFILE_SUCCESS;
        known_count++;
    }
    pthread_mutex_unlock(&lock);
}

void xb_cufile_forget(const void *base)
{
    if (base == NULL || known_count == 0)
        return;
    pthread_mutex_lock(&lock);
    size_t place = place_of(base);
    if (place < MOST_KNOWN) {
        if (known[place].taken)
            (void)functions.buffer_deregister(base);
        known[place].base = NULL;
        known_count--;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- counts ---- */

static struct xb_cufile_ways count_ways(void)
{
    struct xb_cufile_ways ways = {.known = false};
    struct xb_cufile_counts *counts = functions.counts != NULL ? calloc(1, sizeof *counts) : NULL;
    if (counts == NULL)
        return ways;
    ways.known =
        functions.counts(counts).code == XB_CUFILE_SUCCESS && counts->gpu_count <= XB_CUFILE_GPUS;
    for (uint32_t i = 0; ways.known && i < counts->gpu_count; i++) {
        ways.p2p += counts->gpus[i].p2p_reads;
        ways.nvfs += counts->gpus[i].nvfs_reads;
        ways.posix += counts->gpus[i].posix_reads;
    }
    free(counts);
    return ways;
}

/* Writes "cuFile 1.15" and returns 1150: 1000 * major + 10 * minor. "cuFile", and 0: not known. */
static int print_version(char *text, size_t size)
{
    int version = 0;
    if (functions.version == NULL || functions.version(&version).code != XB_CUFILE_SUCCESS)
        version = 0;
    snprintf(text, size, "cuFile");
    if (version > 0)
        snprintf(text, size, "cuFile %d.%d", version / 1000, version % 1000 / 10);
    return version;
}

/* What the set-up allows, where nothing is counted: only what it rules out is said for certain. */
static enum xb_status tell_setup(struct xb_file_way *way, struct xb_error *error)
{
    struct xb_cufile_properties found = {.features = 0};
    char version[32];
    XB_TRY(judge(functions.properties(&found), "cuFileDriverGetProperties",
                 "libcufile does not say how it is set up", error));
    int number = print_version(version, sizeof version);
    bool compatible = (found.nvfs.control & XB_CUFILE_ALLOW_COMPATIBILITY) != 0;
    way->is_direct = found.nvfs.major > 0 && !compatible;
    if (way->is_direct)
        snprintf(way->how, sizeof way->how,
                 "%s, by its set-up, not counted: nvidia-fs %u.%u, compatibility mode not allowed",
                 version, found.nvfs.major, found.nvfs.minor);
    else if (found.nvfs.major == 0 && number > 0 && number < FIRST_WITH_P2PDMA)
        snprintf(way->how, sizeof way->how,
                 "%s, by its set-up, not counted: compatibility mode, through the host's memory "
                 "(no nvidia-fs)",
                 version);
    else
        snprintf(way->how, sizeof way->how,
                 "%s, not counted: not known whether past the host's memory (%s nvidia-fs, "
                 "compatibility mode %sallowed)",
                 version, found.nvfs.major > 0 ? "with" : "no", compatible ? "" : "not ");
    return XB_OK;
}

enum xb_status xb_cufile_reads_way(struct xb_cufile_reads *reads, struct xb_file_way *way,
                                   struct xb_error *error)
{
    const struct xb_cufile_ways *before = &reads->before;
    struct xb_cufile_ways now = count_ways();
    unsigned long long p2p = now.p2p - before->p2p, nvfs = now.nvfs - before->nvfs;
    unsigned long long posix = now.posix - before->posix;
    char version[32];
    if (!now.known || !before->known || p2p + nvfs + posix == 0)
        return tell_setup(way, error);
    (void)print_version(version, sizeof version);
    way->is_direct = posix == 0;
    snprintf(way->how, sizeof way->how,
             "%s, as it counts reads: %llu by nvidia-fs, %llu by P2PDMA, %llu in compatibility "
             "mode (through the host's memory)",
             version, nvfs, p2p, posix);
    return XB_OK;
}

/* ---- reads ---- */

enum xb_status xb_cufile_reads_open(struct xb_cufile_reads *reads, int descriptor,
                                    struct xb_error *error)
{
    XB_TRY(xb_cufile_open(error));
    struct xb_cufile_descriptor file = {.type = XB_CUFILE_DESCRIPTOR,
                                        .file = {.descriptor = descriptor}};
    reads->before = count_ways();
    reads->handle = NULL;
    return judge(functions.handle_register(&reads->handle, &file), "cuFileHandleRegister",
                 "libcufile does not take the file", error);
}

void xb_cufile_reads_close(struct xb_cufile_reads *reads)
{
    functions.handle_deregister(reads->handle);
}

/* -1 stands for errno; any other number below 0 for an error of the library's own. */
static enum xb_status tell_failure(ssize_t result, int code, uint64_t file_offset,
                                   struct xb_error *error)
{
    char what[80];
    snprintf(what, sizeof what, "libcufile cannot read a file at %llu",
             (unsigned long long)file_offset);
    if (result == -1)
        return XB_FAIL_NATIVE(error, XB_ERR_RUNTIME, "cuFileRead", code, xb_errno_name(code),
                              "%s: %s", what, strerror(code));
    const struct xb_cufile_outcome outcome = {.code = (int)-result};
    (void)judge(outcome, "cuFileRead", what, error);
    return error->status = XB_ERR_RUNTIME;
}

enum xb_status xb_cufile_reads_read(struct xb_cufile_reads *reads, uint64_t file_offset, void *base,
                                    uint64_t length, uint64_t offset, uint64_t bytes,
                                    struct xb_error *error)
{
    if (bytes > 0)
        make_known(base, length);
    while (bytes > 0) {
        ssize_t count =
            functions.read(reads->handle, base, (size_t)bytes, (off_t)file_offset, (off_t)offset);
        int code = errno;
        if (count == -1 && code == EINTR)
            continue;
        if (count < 0)
            return tell_failure(count, code, file_offset, error);
        if (count == 0)
            return XB_FAIL(error, XB_ERR_RUNTIME, "a file ends at %llu, %llu bytes too early",
                           (unsigned long long)file_offset, (unsigned long long)bytes);
        file_offset += (uint64_t)count;
        offset += (uint64_t)count;
        bytes -= (uint64_t)count;
    }
    return XB_OK;
}
