/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Every mode over the fake backend, in all of its ways. */

#include "record/mode_list.h"
#include "run_fixture.h"

/* Every variant and direction of every mode that the fake can have by default. */
#define EVERYTHING                                                                                 \
    "--direction both,bidir,d2d --host-memory registered,alloc,write-combined "                    \
    "--access sequential,strided,random --managed fault,prefetch,advise --by engine,kernel"

#define LAYOUTS "scattered,host-scattered,device-scattered,contiguous,rows"

/* Four operations make a sample of 1 ms: copies of a byte are batched, too, but not by thousands.
 */
static inline void begin_modes(unsigned devices)
{
    reset_fake();
    xb_fake.operation_s = 250e-6;
    xb_fake.device_count = devices;
}

/* That every mode was seen in each of its directions, but those of a latency of their own, and
 * those that have to be named. */
static inline void expect_every_way(const struct fixture *f)
{
    for (size_t m = 0; xb_modes[m] != NULL; m++) {
        unsigned seen = 0;
        if (xb_modes[m]->only_named || (xb_modes[m]->latency != NULL && !f->run.asked.latency))
            continue;
        for (size_t i = 0; i < f->run.case_count; i++)
            if (f->run.results[i].test.mode == xb_modes[m])
                seen |= f->run.results[i].test.direction;
        assert_int_equal(seen, xb_modes[m]->directions);
    }
}
