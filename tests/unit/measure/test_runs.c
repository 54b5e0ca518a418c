/* SPDX-License-Identifier: Apache-2.0 */
/* What is planned and measured of one device and of several: tests/unit/runs/. */
#include "runs.h"

RUNS(one_way)
RUNS(both_ways)
RUNS(pairs)
RUNS(several_devices)
RUNS(sets)
RUNS(warm_up)
RUNS(planned)
RUNS(refused)
RUNS(timelines)
RUNS(needs)
RUNS(placements)
RUNS(estimates)
