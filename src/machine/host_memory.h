/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <stdbool.h>

/* Bytes that this process can allocate without driving the machine into swap or the OOM killer, by
 * the tightest of MemAvailable (proc(5)), the memory cgroups above it (v1 and v2), and ulimit -v. A
 * reserve of 1/16 of that, and at least 64 MiB, stays for everything else that runs. */
enum xb_status xb_host_memory_available(uint64_t *bytes, struct xb_error *error);

/* Names the limit that applies, and what to do about it, for the end of a message: "can be had
 * under the limit on address space (ulimit -v), ...". Returns `text`. `root` is "" except in
 * tests. */
const char *xb_host_memory_limit_text(const char *root, char *text, size_t size);

/* The limit on locked memory (ulimit -l); UINT64_MAX for none. It binds mlock() of a user without
 * CAP_IPC_LOCK, and those drivers that count what they pin. */
uint64_t xb_memory_lock_limit(void);

/* For the end of a message about a page lock that failed: ": the limit on locked memory (ulimit -l)
 * is 8 MiB ..." if that is below `bytes`, else "". Returns `text`. */
const char *xb_host_memory_lock_limit(uint64_t bytes, char *text, size_t size);

/* Maps anonymous memory. Several threads touch every page, under the calling thread's memory
 * policy. XB_ERR_MEMORY as xb_host_memory_check. Release with xb_pages_unmap. */
enum xb_status xb_pages_map(uint64_t bytes, void **address, struct xb_error *error);
/* The same in huge pages, which are several times faster to touch first and to lock later. Aligned
 * to 2 MiB; pages behind the last whole 2 MiB stay small. */
enum xb_status xb_pages_map_huge(uint64_t bytes, void **address, struct xb_error *error);
/* The same, but asks the kernel for small pages, whatever it gives by itself. */
enum xb_status xb_pages_map_small(uint64_t bytes, void **address, struct xb_error *error);
/* Releases memory from any of these; `bytes` is the number given there. `address` may be NULL. */
void xb_pages_unmap(void *address, uint64_t bytes);

/* How long a small page is. */
uint64_t xb_page_bytes(void);

/* Gives back the whole pages of a part of such memory: whoever touches one next gets a new page of
 * zeros. */
void xb_pages_drop(void *address, uint64_t bytes);

/* Returns XB_ERR_MEMORY, with the limit in the message, if xb_host_memory_available is less than
 * `bytes`. */
enum xb_status xb_host_memory_check(uint64_t bytes, struct xb_error *error);

/* Has every such check of the calling thread pass at once, also those of xb_pages_map and of a
 * backend's buffer_allocate, until it is called with false. For a caller who has checked for the
 * same memory and times an allocation: a check reads files for some 100 us. */
void xb_host_memory_trust(bool trust);

/* ---- for tests ---- */

/* These put `root` before every path that they read: tests describe a machine in a directory. */

/* The tightest of all limits. */
struct xb_memory_limit {
    uint64_t bytes;   /* bytes left under this limit; the reserve is not subtracted yet */
    bool is_set;      /* somebody set it (ulimit, cgroup) below what the machine has */
    char source[320]; /* the limit's name: "MemAvailable in /proc/meminfo" */
};

enum xb_status xb_memory_limit_find(const char *root, struct xb_memory_limit *limit,
                                    struct xb_error *error);

/* Subtracts the reserve for other programs from `bytes` that are left. */
uint64_t xb_memory_without_reserve(uint64_t bytes);

enum xb_status xb_host_memory_check_at(const char *root, uint64_t bytes, struct xb_error *error);

/* What the kernel counts of this process's memory, in bytes (/proc/self/status, proc(5)); 0 for
 * what it, or a sandbox, does not show. */
struct xb_process_memory {
    uint64_t resident;                /* VmRSS */
    uint64_t highest;                 /* VmHWM: the most that VmRSS was */
    uint64_t anonymous, file, shared; /* RssAnon, RssFile, RssShmem: what VmRSS is made of */
    /* VmLck, VmPin: locked by mlock, and pinned by those drivers that count it. */
    uint64_t locked, pinned;
};

/* False where the text does not have the first of these. */
bool xb_process_memory_parse(const char *text, struct xb_process_memory *memory);

/* Reads it now. False where the kernel does not show it. */
bool xb_process_memory_read(struct xb_process_memory *memory);

/* Has the kernel count `highest` from now on. False where it does not let us. */
bool xb_process_memory_restart(void);

/* How much of it lies in huge pages now (AnonHugePages in /proc/self/smaps_rollup). Walks all of
 * the process's page tables: milliseconds a GiB. */
bool xb_process_memory_huge(uint64_t *bytes);

/* ---- CPU time ---- */

/* How many CPUs the calling thread may use at a time, 1 or more: those that it may run on, but no
 * more than the CPU time that the process's cgroups allow, which are read once in a process. */
unsigned xb_cpus_usable(void);

/* How many CPUs' time the cgroups allow, rounded up; UINT_MAX: any. `root` as above. */
unsigned xb_cpu_quota_read(const char *root);
