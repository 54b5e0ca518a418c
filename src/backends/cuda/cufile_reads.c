/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Reads of one file by libcufile, and which way they went. */
#include "cufile.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first version that can read past the host's memory without nvidia-fs: by P2PDMA of the
 * kernel, with CUDA 12.8. */
#define FIRST_WITH_P2PDMA 1130

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

static void make_known(const struct xb_cufile *library, const void *base, uint64_t length)
{
    pthread_mutex_lock(&lock);
    size_t free_place = place_of(NULL);
    if (place_of(base) == MOST_KNOWN && free_place < MOST_KNOWN) {
        known[free_place].base = base;
        known[free_place].taken =
            library->buffer_register(base, (size_t)length, 0).code == XB_CUFILE_SUCCESS;
        known_count++;
    }
    pthread_mutex_unlock(&lock);
}

void xb_cufile_forget(const void *base)
{
    const struct xb_cufile *library = NULL;
    struct xb_error ignored;
    if (base == NULL || known_count == 0)
        return;
    pthread_mutex_lock(&lock);
    size_t place = place_of(base);
    if (place < MOST_KNOWN) {
        if (known[place].taken && xb_cufile_open(&library, &ignored) == XB_OK)
            (void)library->buffer_deregister(base);
        known[place].base = NULL;
        known_count--;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- counts ---- */

static struct xb_cufile_ways count_ways(const struct xb_cufile *library)
{
    struct xb_cufile_ways ways = {.known = false};
    struct xb_cufile_counts *counts = library->counts != NULL ? calloc(1, sizeof *counts) : NULL;
    if (counts == NULL)
        return ways;
    ways.known =
        library->counts(counts).code == XB_CUFILE_SUCCESS && counts->gpu_count <= XB_CUFILE_GPUS;
    for (uint32_t i = 0; ways.known && i < counts->gpu_count; i++) {
        ways.p2p += counts->gpus[i].p2p_reads;
        ways.nvfs += counts->gpus[i].nvfs_reads;
        ways.posix += counts->gpus[i].posix_reads;
    }
    free(counts);
    return ways;
}

/* Writes "cuFile 1.15" and returns 1150: 1000 * major + 10 * minor. "cuFile", and 0: not known. */
static int print_version(const struct xb_cufile *library, char *text, size_t size)
{
    int version = 0;
    if (library->version == NULL || library->version(&version).code != XB_CUFILE_SUCCESS)
        version = 0;
    snprintf(text, size, "cuFile");
    if (version > 0)
        snprintf(text, size, "cuFile %d.%d", version / 1000, version % 1000 / 10);
    return version;
}

/* What the set-up allows, where nothing is counted: only what it rules out is said for certain. */
static enum xb_status tell_setup(const struct xb_cufile_reads *reads, struct xb_file_way *way,
                                 struct xb_error *error)
{
    struct xb_cufile_properties found = {.features = 0};
    char version[32];
    XB_TRY(xb_cufile_status(reads->library->properties(&found), "cuFileDriverGetProperties",
                            "libcufile does not say how it is set up", error));
    int number = print_version(reads->library, version, sizeof version);
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
    struct xb_cufile_ways now = count_ways(reads->library);
    unsigned long long p2p = now.p2p - before->p2p, nvfs = now.nvfs - before->nvfs;
    unsigned long long posix = now.posix - before->posix;
    char version[32];
    if (!now.known || !before->known || p2p + nvfs + posix == 0)
        return tell_setup(reads, way, error);
    (void)print_version(reads->library, version, sizeof version);
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
    XB_TRY(xb_cufile_open(&reads->library, error));
    struct xb_cufile_descriptor file = {.type = XB_CUFILE_DESCRIPTOR,
                                        .file = {.descriptor = descriptor}};
    reads->before = count_ways(reads->library);
    reads->handle = NULL;
    return xb_cufile_status(reads->library->handle_register(&reads->handle, &file),
                            "cuFileHandleRegister", "libcufile does not take the file", error);
}

void xb_cufile_reads_close(struct xb_cufile_reads *reads)
{
    reads->library->handle_deregister(reads->handle);
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
    (void)xb_cufile_status(outcome, "cuFileRead", what, error);
    return error->status = XB_ERR_RUNTIME;
}

enum xb_status xb_cufile_reads_read(struct xb_cufile_reads *reads, uint64_t file_offset, void *base,
                                    uint64_t length, uint64_t offset, uint64_t bytes,
                                    struct xb_error *error)
{
    if (bytes > 0)
        make_known(reads->library, base, length);
    while (bytes > 0) {
        ssize_t count = reads->library->read(reads->handle, base, (size_t)bytes, (off_t)file_offset,
                                             (off_t)offset);
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
