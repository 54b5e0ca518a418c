/* SPDX-License-Identifier: Apache-2.0 */
/* What each mode does and measures, number by number: tests/unit/runs/. */
#include "runs.h"

RUNS(latency)
RUNS(double_buffer)
RUNS(memory)
RUNS(batch)
RUNS(bulk)
RUNS(resident)
RUNS(job)
RUNS(encoded)
RUNS(pin)
RUNS(ring)
RUNS(steps)
