/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* The shared object that lets `explain` see what a CUDA program does: the bytes of a file
 * (backends/cuda/injected/collector.c). Without any, xb_collector_absent says why. */
extern const unsigned char xb_collector_bytes[];
extern const size_t xb_collector_length;
extern const char *const xb_collector_absent; /* NULL: it is there */
