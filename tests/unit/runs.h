/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Runs the commands of tests/unit/runs/NAME.txt over the fake backend, and compares what comes of
 * each with the lines that stand below it. XB_UPDATE=1 in the environment writes these: read their
 * diff. In virtual time, the host's too, every number is exact.
 *
 * A file has paragraphs, each for one thing that holds, between empty lines:
 *     ## what holds
 *     # why these numbers are right
 *     fake device_count=2 lacks=kernels slow_device=2   until the paragraph's end: the fields of
 *                                                       struct xb_fake and of struct altered
 *     show held kernels_together      besides status, time and figures: details, what the fake has
 *                                     seen, alone, warnings, timeline; or `show only NAME...`
 *     run --mode pinned ...           measures; `plan` does not
 *       what comes of it
 */
void expect_runs(const char *name);

/* A test of one file. */
#define RUNS(name)                                                                                 \
    TEST(name)                                                                                     \
    {                                                                                              \
        expect_runs(#name);                                                                        \
    }
