/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "internal.h"
#include "reader.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Where a mapped file lost the page, or the disk cannot read it, the kernel raises SIGBUS in the
 * thread that touched it. A handler leaves the copy then. process_vm_readv(2) would return an error
 * instead, but it is the kernel's copy and not the one by page faults that is measured here.
 *
 * The handler is there while a reader maps files. A SIGBUS that is not of a copy goes where it went
 * before.
 */

/* The copy that this thread is in. The thread's own signals only: no lock is needed. */
static _Thread_local struct {
    sigjmp_buf leave;
    volatile sig_atomic_t is_copying;
    const char *begin;
    const char *end;
} copying;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned users;
static struct sigaction previous;

static void handle(int number, siginfo_t *info, void *context)
{
    const char *at = info->si_addr;
    if (copying.is_copying && at >= copying.begin && at < copying.end)
        siglongjmp(copying.leave, 1);
    if ((previous.sa_flags & SA_SIGINFO) != 0)
        previous.sa_sigaction(number, info, context);
    else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
        previous.sa_handler(number);
    else {
        /* It ends the process as soon as the signal is no longer blocked. */
        signal(number, SIG_DFL);
        (void)raise(number);
    }
}

enum xb_status xb_mapping_begin(struct xb_error *error)
{
    int code = 0;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    pthread_mutex_lock(&lock);
    if (users == 0 && sigaction(SIGBUS, &action, &previous) != 0)
        code = errno;
    users += code == 0;
    pthread_mutex_unlock(&lock);
    return code == 0 ? XB_OK : XB_FAIL_ERRNO(error, "sigaction", code, "SIGBUS cannot be handled");
}

void xb_mapping_end(void)
{
    struct sigaction now;
    pthread_mutex_lock(&lock);
    /* Somebody who has set another handler meanwhile keeps it. */
    if (--users == 0 && sigaction(SIGBUS, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
        now.sa_sigaction == handle)
        (void)sigaction(SIGBUS, &previous, NULL);
    pthread_mutex_unlock(&lock);
}

/* Whether all was there. */
static bool copy(char *target, const char *source, uint64_t bytes)
{
    copying.begin = source - (uintptr_t)source % (uintptr_t)sysconf(_SC_PAGESIZE);
    copying.end = source + bytes;
    /* Also the mask: the signal is blocked in its handler. */
    if (sigsetjmp(copying.leave, 1) != 0) {
        copying.is_copying = 0;
        return false;
    }
    copying.is_copying = 1;
    atomic_signal_fence(memory_order_seq_cst);
    memcpy(target, source, bytes);
    atomic_signal_fence(memory_order_seq_cst);
    copying.is_copying = 0;
    return true;
}

/* Copies out of `mapping`, whose byte 0 is byte `begin` of the file. */
static enum xb_status read_by_copy(const struct xb_read *read, const char *mapping, uint64_t begin,
                                   struct xb_error *error)
{
    struct stat status;
    bool is_whole = copy(read->target, mapping + (read->offset - begin), read->bytes);
    /* Behind the end of a file the rest of its last page is zeros, and no signal tells. */
    if (fstat(read->descriptor, &status) != 0)
        return xb_read_failed(read, "fstat", errno, read->offset, read->bytes, error);
    if ((uint64_t)status.st_size < read->offset + read->bytes)
        return xb_read_ended(read, (uint64_t)status.st_size, error);
    return is_whole ? XB_OK : xb_read_failed(read, "SIGBUS", EIO, read->offset, read->bytes, error);
}

enum xb_status xb_read_by_mapping(const struct xb_read *read, struct xb_error *error)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t begin = read->offset / page * page;
    uint64_t bytes = read->offset - begin + read->bytes;
    if (read->bytes == 0)
        return XB_OK;
    char *mapping = mmap(NULL, bytes, PROT_READ, MAP_SHARED, read->descriptor, (off_t)begin);
    if (mapping == MAP_FAILED)
        return xb_read_failed(read, "mmap", errno, read->offset, read->bytes, error);
    enum xb_status status = read_by_copy(read, mapping, begin, error);
    munmap(mapping, bytes);
    return status;
}
