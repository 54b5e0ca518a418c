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

/*
 * Whether an environment variable ("NAME=value" or the name alone) belongs in the record of a run
 * because it changes how CUDA or HIP behaves. docs/measurement.md lists them. No other variable is
 * recorded, whatever its name, because records are published.
 */
bool xb_environment_is_recorded(const char *variable);
