/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dladdr, secure_getenv */
#include "library.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct xb_hip_library xb_hip;

const struct xb_symbol xb_hip_symbols[] = {
#define TYPED(type, symbol, field, lost) {symbol, offsetof(struct xb_hip_functions, field), lost},
#define X(function, lost) TYPED(, #function, function, lost)
#define SAME(slot, parameters, lost, function, ...) X(function, lost)
    XB_HIP_FUNCTIONS(X, TYPED) XB_GPU_CALLS(XB_GPU_NO_CALL, SAME, hip)};
const size_t xb_hip_symbol_count = sizeof xb_hip_symbols / sizeof xb_hip_symbols[0];

/* The major versions whose interface we know, newest first. */
static const int majors[] = {7, 6, 5};

/* The loader's message about a file that exists but does not load. It ends the search. */
static char refusal[256];

static bool try_file(const char *name)
{
    if (refusal[0] != '\0')
        return false;
    xb_hip.handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (xb_hip.handle != NULL)
        return true;
    /* The loader names the file that it cannot find. If that is the file we asked for, the search
     * goes on. If it is a library that this file needs, there is a broken runtime, and the user
     * must learn of it. */
    const char *said = dlerror();
    bool absent = said != NULL && strncmp(said, name, strlen(name)) == 0 &&
                  strstr(said, "cannot open shared object file: No such file") != NULL;
    if (said != NULL && !absent)
        snprintf(refusal, sizeof refusal, "%s", said);
    return false;
}

static bool try_in(const char *folder, int major)
{
    char name[PATH_MAX + sizeof "/libamdhip64.so.2147483647"];
    snprintf(name, sizeof name, "%s/libamdhip64.so.%d", folder, major);
    return try_file(name);
}

static int by_version(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Tries the folders that match, beginning with the newest release. */
static bool try_matching(const char *pattern, int major)
{
    glob_t found;
    bool opened = false;
    if (glob(pattern, 0, NULL, &found) != 0)
        return false;
    qsort(found.gl_pathv, found.gl_pathc, sizeof(char *), by_version);
    for (size_t i = found.gl_pathc; !opened && i-- > 0;)
        opened = try_in(found.gl_pathv[i], major);
    globfree(&found);
    return opened;
}

static bool try_major(int major)
{
    char name[PATH_MAX];
    const char *rocm = secure_getenv("ROCM_PATH");
    snprintf(name, sizeof name, "libamdhip64.so.%d", major);
    if (try_file(name))
        return true;
    if (rocm != NULL && rocm[0] != '\0') {
        snprintf(name, sizeof name, "%s/lib", rocm);
        if (try_in(name, major))
            return true;
    }
    return try_in("/opt/rocm/lib", major) || try_matching("/opt/rocm/core-*/lib", major) ||
           try_matching("/opt/rocm-*/lib", major);
}

const char *xb_hip_override(void)
{
    const char *path = secure_getenv(XB_HIP_OVERRIDE);
    return path != NULL && path[0] != '\0' ? path : NULL;
}

static enum xb_status find_library(struct xb_error *error)
{
    const char *override = xb_hip_override();
    if (override != NULL) {
        xb_hip.overridden = true;
        xb_hip.handle = dlopen(override, RTLD_NOW | RTLD_LOCAL);
        if (xb_hip.handle != NULL)
            return XB_OK;
        const char *said = dlerror();
        return XB_FAIL(error, XB_ERR_UNAVAILABLE, "%s names a library that cannot be opened: %s",
                       XB_HIP_OVERRIDE, said != NULL ? said : "no reason given");
    }
    for (size_t i = 0; i < sizeof majors / sizeof majors[0]; i++)
        if (try_major(majors[i]))
            return XB_OK;
    if (refusal[0] != '\0')
        return XB_FAIL(error, XB_ERR_UNAVAILABLE,
                       "is there and does not load: %s; " XB_HIP_OVERRIDE " can name another",
                       refusal);
    return XB_FAIL(error, XB_ERR_UNAVAILABLE,
                   "not found, nor in $ROCM_PATH and /opt/rocm*: install ROCm's HIP runtime");
}

/* Also notes the library's path, because the loader may have found it in any folder. */
static enum xb_status open_library(struct xb_error *error)
{
    XB_TRY(find_library(error));
    const char *missing =
        xb_symbols_find(xb_hip.handle, xb_hip_symbols, xb_hip_symbol_count, &xb_hip.functions);
    if (missing != NULL)
        return XB_FAIL(error, XB_ERR_UNAVAILABLE, "it has no %s: not a HIP runtime of use",
                       missing);
    Dl_info file;
    if (dladdr(dlsym(xb_hip.handle, "hipRuntimeGetVersion"), &file) != 0 &&
        file.dli_fname != NULL) {
        char *path = realpath(file.dli_fname, NULL);
        snprintf(xb_hip.path, sizeof xb_hip.path, "%s", path != NULL ? path : file.dli_fname);
        free(path);
    }
    return XB_OK;
}

enum xb_status xb_hip_library_open(struct xb_error *error)
{
    static struct xb_opening opening = {.lock = PTHREAD_MUTEX_INITIALIZER};
    return xb_open_once(&opening, open_library, error);
}

const char *xb_hip_missing(const char *lost)
{
    for (size_t i = 0; i < xb_hip_symbol_count; i++) {
        void *found = NULL;
        if (strcmp(xb_hip_symbols[i].lost, lost) != 0)
            continue;
        memcpy(&found, (char *)&xb_hip.functions + xb_hip_symbols[i].offset, sizeof found);
        if (found == NULL)
            return xb_hip_symbols[i].name;
    }
    return NULL;
}
