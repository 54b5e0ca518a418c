/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What the kernel counts of this process's memory, in bytes (/proc/self/status, proc(5)). What it
 * does not show is 0, and a sandbox may show little. */
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

/* Has the kernel forget how much the process ever had, so that `highest` counts from now on. False
 * where it does not let us. */
bool xb_process_memory_restart(void);

/* How much of the process's memory lies in huge pages now (AnonHugePages in
 * /proc/self/smaps_rollup). Walks all of its page tables: milliseconds a GiB. */
bool xb_process_memory_huge(uint64_t *bytes);
