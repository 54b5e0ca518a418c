/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Calls of the system that fail when a test wants it. Programs that use this are linked with --wrap
 * for each of them (`faults` in unit.cmake). A kind is armed by what it is to do, and counts its
 * calls from then on:
 *
 *     faults[FAULT_FALLOCATE].code = ENOSPC;               every fallocate() fails
 *     faults[FAULT_READ] = (struct fault){.code = EIO, .after = 2, .times = 1};     the third
 * read() for (unsigned n = 0; next_fault(FAULT_PWRITE, EIO, &n);) body(); the first fails, then the
 * second, ... until none is met
 *
 * clear_faults() disarms all: call it before each test.
 */
#include "testing.h"

enum fault_kind {
    FAULT_OPEN,
    FAULT_OPENAT,
    FAULT_READ,
    FAULT_PREAD,
    FAULT_PREADV,
    FAULT_PWRITE,
    FAULT_FSTAT,
    FAULT_CLOSE,
    FAULT_FCLOSE,
    FAULT_UNLINKAT,
    FAULT_LINKAT,
    FAULT_RENAMEAT2,
    FAULT_FCHOWN,
    FAULT_FALLOCATE,
    FAULT_FDATASYNC,
    FAULT_FSYNC,
    FAULT_SYNCFS,
    FAULT_STATVFS,
    FAULT_MINCORE,
    FAULT_MEMORY, /* malloc and realloc */
    FAULT_FORK,
    FAULT_WAITPID,
    FAULT_GETPPID,
    FAULT_POLL,
    FAULT_SIGNAL, /* xb_interrupt_signal */
    FAULT_KINDS
};

struct fault {
    int code;              /* the errno that it fails with; 0: it does not */
    bool gives;            /* instead it returns `value`, and does nothing */
    long value;            /* -1 or NULL where it fails */
    unsigned after, times; /* calls that succeed first, calls that fail then; 0: all further */
    bool does_it;          /* and fails afterwards */
    int flags;             /* only calls with all of these fail: open, openat, renameat2 */
    const char *path;      /* only of paths that begin so: open */
    int without;           /* flags that openat leaves out */
    size_t most;           /* bytes that a call takes; 0: all */
    size_t blocks;         /* in whole ones of so many bytes, else the test fails: preadv */
    bool counts;           /* it does nothing but count its calls */
    void (*before)(unsigned call); /* before each, from 1 on */
    void (*behind)(long result);
    void (*edit)(void *result, unsigned call); /* changes what fstat, statvfs, mincore found */
    unsigned calls;
};

extern struct fault faults[FAULT_KINDS];

/* Disarms all, and lets the clock and xb_say() be. */
void clear_faults(void);
/* The n-th call of that kind fails, from 1 on. */
void arm_fault(enum fault_kind kind, int code, unsigned n);
/* Returns whether there was that call. */
bool disarm_fault(enum fault_kind kind);

/* The clock shows so much more; it stands still, where `stands`, but for `step_s` at each look. */
extern struct fault_clock {
    double ahead_s, step_s;
    bool stands;
} fault_clock;

/* What xb_say() said last, where it is heard and not shown. */
extern struct fault_said {
    bool is_heard;
    char text[512];
} fault_said;
