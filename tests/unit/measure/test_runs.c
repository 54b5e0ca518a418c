/* SPDX-License-Identifier: Apache-2.0 */
/* What is planned and measured of each kind of case, number by number: tests/unit/runs/. */
#include "testing.h"

#include "runs.h"

#define RUNS(name)                                                                                 \
    TEST(name)                                                                                     \
    {                                                                                              \
        expect_runs(#name);                                                                        \
    }

RUNS(one_way)
RUNS(latency)
RUNS(both_ways)
RUNS(pairs)
RUNS(double_buffer)
RUNS(several_devices)
RUNS(memory)
RUNS(warm_up)
RUNS(planned)
RUNS(refused)
RUNS(batch)
RUNS(resident)
RUNS(job)
RUNS(encoded)
RUNS(pin)
RUNS(timelines)
RUNS(needs)
RUNS(ring)
RUNS(placements)
RUNS(estimates)
RUNS(steps)
