/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Runs over the fake backend: tests/unit/runs/NAME.txt. In virtual time, the host's too, every
 * number is exact.
 *
 *     fake device_count=2 lacks=kernels slow_device=2   until the next title: the fields of struct
 *                                                       xb_fake and of struct altered
 *     show held kernels_together      besides status, time and figures: details, what the fake has
 *                                     seen, alone, warnings, timeline; or `show only NAME...`
 *     run --mode pinned ...           measures; `plan` does not
 */
#include "cases.h"

extern const struct verb run_verbs[];
void begin_runs(void);

/* A test of one file. */
#define RUNS(name) TEST_CASES(name, "runs/" #name, run_verbs, begin_runs)
