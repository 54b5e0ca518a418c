/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Facts about the machine of a run. Unknown texts are "" and unknown numbers are 0. */
struct xb_host_facts {
    char hostname[256];
    char os[128];     /* "Debian GNU/Linux 12 (bookworm)" */
    char kernel[256]; /* "Linux 6.1.0-18-amd64 x86_64" */
    char cpu_model[128];
    unsigned logical_cpus;
    uint64_t memory_bytes;
};

void xb_host_facts_read(struct xb_host_facts *facts);

/* What the machine's firmware and kernel do to its links. Texts are "" where unknown. */
struct xb_platform {
    char hypervisor[96];  /* "none", or the virtual machine's name: "QEMU Standard PC" */
    char aspm_policy[16]; /* of the kernel: "default", "performance", "powersave" ... */
};

/* Reads it from /proc and /sys in the folder `root`, which is "" except in tests. */
void xb_platform_read(const char *root, struct xb_platform *platform);

/* Whether a variable ("NAME=value" or "NAME") changes how CUDA or HIP behaves: docs/measurement.md
 * lists them. No other is recorded, whatever its name, because records are published. */
bool xb_environment_is_recorded(const char *variable);

/* How busy the host is: its CPUs, and its memory. */

/* Time of all CPUs together since boot, in clock ticks. */
struct xb_cpu_times {
    uint64_t total, busy;
    unsigned cpus;
};
/* Reads a file such as /proc/stat (proc_stat(5)). False, and zeros, if it is not of this form. */
bool xb_cpu_times_read(const char *path, struct xb_cpu_times *times);

/* Times loads from memory that no cache has: others who use the memory make them slower. Takes 64
 * MiB, near the CPUs of the calling thread unless it is bound elsewhere; NULL: there is none. */
struct xb_memory_probe;
struct xb_memory_probe *xb_memory_probe_open(void);
void xb_memory_probe_close(struct xb_memory_probe *probe);
/* Mean seconds of a load, of 400 one after the other: some 50 us. */
double xb_memory_probe_time(struct xb_memory_probe *probe);
