/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Every mode over the fake backend, from options to results. Include after cmocka.h, from a file
 * that defines _GNU_SOURCE. */

#include "measure/plan/case.h"
#include "record/mode_list.h"
#include "run_fixture.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Every variant and direction of every mode that the fake can have. */
#define EVERYTHING                                                                                 \
    "--direction", "both,bidir,d2d", "--host-memory", "registered,alloc,write-combined",           \
        "--access", "sequential,strided,random", "--managed", "fault,prefetch,advise", "--by",     \
        "engine,kernel"

/* Modes that are about a latency of their own are measured with --latency only, and some not at
 * all, unless they are named. */
static inline bool takes_part(const struct fixture *f, const struct xb_mode *mode)
{
    return !mode->only_named && (mode->latency == NULL || f->run.asked.latency);
}

/* That every mode was seen in each of its directions. */
static inline void expect_every_way(const struct fixture *f)
{
    for (size_t m = 0; xb_modes[m] != NULL; m++) {
        unsigned seen = 0;
        if (!takes_part(f, xb_modes[m]))
            continue;
        for (size_t i = 0; i < f->run.case_count; i++)
            if (f->run.results[i].test.mode == xb_modes[m])
                seen |= f->run.results[i].test.direction;
        assert_int_equal(seen, xb_modes[m]->directions);
    }
}

/* How many combinations of variant and parameters. */
static inline size_t combinations_of(const struct fixture *f, const struct xb_mode *mode)
{
    const struct xb_option *option = mode->variant_option;
    const struct xb_word_list *words =
        option != NULL ? &xb_config_get(&f->config, option)->words : NULL;
    size_t all = 0;
    for (size_t i = 0; i < (words != NULL ? words->count : 1); i++) {
        struct xb_case test = {.mode = mode,
                               .variant = words != NULL ? words->items[i] : mode->variant};
        for (size_t k = 0; xb_case_set(&test, k, &f->config); k++)
            all++;
    }
    return all;
}

/* One size of every combination and direction of a mode, on all `devices` or their pairs: of n
 * devices n (n - 1) ordered pairs, and half as many both ways. */
static inline size_t cases_of_mode(const struct fixture *f, const struct xb_mode *mode,
                                   size_t devices)
{
    size_t count = 0;
    for (unsigned i = 0; i < XB_DIRECTIONS; i++) {
        unsigned direction = mode->directions & 1u << i;
        if (direction == 0)
            continue;
        if (!mode->pairs)
            count++;
        else
            count += devices * (devices - 1) / (direction == XB_BIDIR ? 2 : 1);
    }
    return count * combinations_of(f, mode);
}

static inline size_t cases_of_all(const struct fixture *f, size_t devices)
{
    size_t count = 0;
    for (size_t m = 0; xb_modes[m] != NULL; m++)
        count += takes_part(f, xb_modes[m]) ? cases_of_mode(f, xb_modes[m], devices) : 0;
    return count;
}

/* Four operations make a sample of 1 ms: copies of a byte are batched, too, but not by thousands.
 */
static inline void reset_fake(void)
{
    xb_fake_reset();
    describe_machine(); /* again: the mode pin has the host's memory checked from then on */
    xb_fake.operation_s = 250e-6;
}

static inline int modes_setup(void **state)
{
    reset(state);
    reset_fake();
    return 0;
}

#define MODES_TEST(name) TEST_WITH(name, modes_setup, NULL)
