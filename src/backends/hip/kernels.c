/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* secure_getenv */
/* Loads the kernels onto a device: from the cache, or compiled by hipRTC. The cache,
 * $XDG_CACHE_HOME/xferbench or ~/.cache/xferbench, has a file for each architecture, version of the
 * runtime and text of the kernels. The code runs on the device, so a file must be complete and
 * unchanged, and nobody else may be able to write it. */
#include "compiler.h"
#include "hip.h"

#include "base/clock.h"
#include "base/output.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the cache ---- */

#define MAGIC "xferbench HIP 1" /* 16 bytes with the closing zero */
#define MOST_BYTES (UINT64_C(64) << 20)

/* A file begins with this header; the code follows. Where the byte order differs, so does the
 * header, and the file is not used. */
struct header {
    char magic[16];
    uint64_t made_from; /* hash of the kernels' text, the options, and the library */
    int64_t version;
    char architecture[64];
    uint64_t size;
    uint64_t sum; /* hash of the code */
};

/* FNV-1a (Fowler, Noll and Vo; parameters from RFC 9923). It detects damage, but not an attack. */
static uint64_t hash(uint64_t state, const void *bytes, size_t count)
{
    const unsigned char *from = bytes;
    for (size_t i = 0; i < count; i++)
        state = (state ^ from[i]) * UINT64_C(0x100000001B3);
    return state;
}
#define HASH_START UINT64_C(0xCBF29CE484222325)

static struct header header_for(const char *architecture)
{
    struct header header = {.magic = MAGIC, .version = xb_hip.version};
    header.made_from = hash(HASH_START, xb_hip_kernel_text, strlen(xb_hip_kernel_text));
    header.made_from =
        hash(header.made_from, xb_hip_compile_options, strlen(xb_hip_compile_options));
    /* The library's file too: two builds may have the same version number, and a library that the
     * override names may have any. */
    struct stat file;
    header.made_from = hash(header.made_from, xb_hip.path, strlen(xb_hip.path));
    if (stat(xb_hip.path, &file) == 0) {
        header.made_from = hash(header.made_from, &file.st_size, sizeof file.st_size);
        header.made_from = hash(header.made_from, &file.st_mtim, sizeof file.st_mtim);
    }
    snprintf(header.architecture, sizeof header.architecture, "%s", architecture);
    return header;
}

/* Finds the file of the cache. Ignores a relative path, as XDG Base Directory Specification 0.8
 * asks. A program with more rights than its caller gets none: the caller's environment would choose
 * what it loads and where it writes. */
static bool find_path(const struct header *header, char *path, size_t size)
{
    const char *cache = secure_getenv("XDG_CACHE_HOME");
    const char *home = secure_getenv("HOME");
    bool has_cache = cache != NULL && cache[0] == '/';
    if (!has_cache && (home == NULL || home[0] != '/'))
        return false;
    int length = snprintf(path, size, "%s%s/xferbench/hip-%s-%" PRId64 "-%016" PRIx64,
                          has_cache ? cache : home, has_cache ? "" : "/.cache",
                          header->architecture, header->version, header->made_from);
    return length > 0 && (size_t)length < size;
}

/* Reads the code behind the header, if that is `header` but for the code's size and sum, which the
 * code has. */
static bool read_code(FILE *file, struct header header, struct xb_hip_code *code)
{
    struct header found;
    if (fread(&found, sizeof found, 1, file) != 1 || found.size == 0 || found.size > MOST_BYTES)
        return false;
    header.size = found.size;
    header.sum = found.sum;
    if (memcmp(&found, &header, sizeof found) != 0)
        return false;
    *code = (struct xb_hip_code){malloc(found.size), found.size};
    if (code->bytes != NULL && fread(code->bytes, found.size, 1, file) == 1 && fgetc(file) == EOF &&
        hash(HASH_START, code->bytes, found.size) == found.sum)
        return true;
    free(code->bytes);
    return false;
}

static bool load_code(const char *path, const struct header *header, struct xb_hip_code *code)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    struct stat about; /* a regular file of this user that nobody else can write */
    bool ours = fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
                (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    FILE *file = ours ? fdopen(fd, "r") : NULL;
    if (file == NULL) {
        (void)close(fd);
        return false;
    }
    bool complete = read_code(file, *header, code);
    (void)fclose(file);
    return complete;
}

/* Creates the cache's folder and the folder above it, but the latter only in an existing home of
 * this user, so that root's first run leaves no folders in another user's home. Ignores errors:
 * opening the file fails then. */
static void make_folders(char *path)
{
    struct stat home;
    char *file = strrchr(path, '/');
    *file = '\0';
    char *own = strrchr(path, '/');
    *own = '\0';
    char *cache = strrchr(path, '/');
    if (cache != NULL && cache != path) {
        *cache = '\0';
        bool ours = stat(path, &home) == 0 && home.st_uid == geteuid();
        *cache = '/';
        if (ours)
            (void)mkdir(path, S_IRWXU);
    }
    *own = '/';
    (void)mkdir(path, S_IRWXU);
    *file = '/';
}

static bool store_code(char *path, struct header header, const struct xb_hip_code *code)
{
    struct xb_output output = {0};
    struct xb_error ignored;
    header.size = code->size;
    header.sum = hash(HASH_START, code->bytes, code->size);
    make_folders(path);
    /* Remove a file of another kind, which we would write through or take permissions from, and
     * another user's file, which would stay his. */
    struct stat there;
    if (lstat(path, &there) == 0 && (!S_ISREG(there.st_mode) || there.st_uid != geteuid()))
        (void)unlink(path);
    if (xb_output_find(&output, path, &ignored) != XB_OK ||
        xb_output_open(&output, 0, &ignored) != XB_OK)
        return false;
    bool written = fchmod(fileno(output.stream), S_IRUSR | S_IWUSR) == 0 &&
                   fwrite(&header, sizeof header, 1, output.stream) == 1 &&
                   fwrite(code->bytes, code->size, 1, output.stream) == 1 &&
                   xb_output_commit(&output, &ignored) == XB_OK;
    xb_output_discard(&output);
    return written;
}

/* ---- loading ---- */

static const char *const names[XB_GPU_KERNELS] = {XB_GPU_KERNEL_NAMES};

void xb_hip_unload_kernels(struct xb_gpu_device *device)
{
    if (device->module != NULL)
        (void)xb_hip.functions.hipModuleUnload(device->module);
    device->module = NULL;
    free(device->code);
    device->code = NULL;
}

/* Loads the code onto the current device, which then owns it: HIP does not say whether it copies
 * the code. */
static enum xb_status load(struct xb_gpu_device *device, const struct xb_hip_code *code,
                           struct xb_error *error)
{
    hipModule_t module = NULL;
    device->code = code->bytes;
    enum xb_status status =
        XB_GPU(error, device->runtime, XB_HIP_CALL(hipModuleLoadData, &module, device->code),
               "cannot load the kernels for %s onto HIP device %u", device->base.info.architecture,
               device->base.info.index);
    device->module = module;
    for (int i = 0; status == XB_OK && i < XB_GPU_KERNELS; i++) {
        hipFunction_t kernel = NULL;
        status = XB_GPU(error, device->runtime,
                        XB_HIP_CALL(hipModuleGetFunction, &kernel, module, names[i]),
                        "the compiled kernels lack %s", names[i]);
        device->kernels[i] = kernel;
    }
    if (status != XB_OK)
        xb_hip_unload_kernels(device);
    return status;
}

static enum xb_status load_or_compile(struct xb_gpu_device *device, struct xb_error *error)
{
    struct xb_device_info *info = &device->base.info;
    struct xb_hip_code code;
    double begin = xb_clock_now();
    char path[PATH_MAX];
    struct header header = header_for(info->architecture);
    bool has_path = find_path(&header, path, sizeof path);
    /* If code from the cache does not load, it is compiled again. */
    if (has_path && load_code(path, &header, &code) && load(device, &code, error) == XB_OK) {
        xb_device_fact(info, "kernels", "compiled by hipRTC before, taken from the cache");
        return XB_OK;
    }
    XB_TRY(xb_hip_compile(info->architecture, XB_HIP_MAJOR(xb_hip.version), &code, error));
    bool kept = has_path && store_code(path, header, &code);
    enum xb_status status = load(device, &code, error);
    /* These mean that the code does not suit the device, and not that something broke. */
    if (status == XB_ERR_RUNTIME && (error->native_code == hipErrorNoBinaryForGpu ||
                                     error->native_code == hipErrorInvalidImage ||
                                     error->native_code == hipErrorInvalidKernelFile ||
                                     error->native_code == hipErrorSharedObjectInitFailed ||
                                     error->native_code == hipErrorNotFound))
        error->status = status = XB_ERR_UNSUPPORTED;
    if (status != XB_OK)
        return status;
    xb_device_fact(info, "kernels", "compiled by hipRTC in %.2f s, %s the cache",
                   xb_clock_now() - begin, kept ? "now in" : "and they could not be kept in");
    return XB_OK;
}

/* One device after the other: what is compiled for the first is in the cache for its like. */
enum xb_status xb_hip_load_kernels(struct xb_gpu_device *device, struct xb_error *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    enum xb_status status = load_or_compile(device, error);
    pthread_mutex_unlock(&lock);
    return status;
}
