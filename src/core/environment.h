/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CORE_ENVIRONMENT_H
#define XFERBENCH_CORE_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

/* What is worth knowing about the machine of a run. A text is "" and a number 0 where unknown. */
struct xb_host_facts {
    char hostname[256];
    char os[128];     /* "Debian GNU/Linux 12 (bookworm)" */
    char kernel[256]; /* "Linux 6.1.0-18-amd64 x86_64" */
    char cpu_model[128];
    unsigned logical_cpus;
    uint64_t memory_bytes;
};

void xb_host_facts_read(struct xb_host_facts *facts);

/*
 * Whether an environment variable ("NAME=value" or the name alone) is one of those that steer CUDA
 * or HIP and so belong into the record of a run: docs/measurement.md lists them. No other is
 * recorded, whatever its name, because records are published.
 */
bool xb_environment_steers(const char *variable);

#endif
