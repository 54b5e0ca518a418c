/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_TESTS_MODES_FIXTURE_H
#define XFERBENCH_TESTS_MODES_FIXTURE_H

/* Every mode over the fake backend, from options to results. Include after cmocka.h, from a file
 * that defines _GNU_SOURCE. */

#include "run_fixture.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Whoever adds a mode looks here: what holds for all modes is tested for those of this list. */
static const char *const names[] = {"pageable",  "pinned",  "async", "double-buffer",
                                    "zero-copy", "managed", "peer",  NULL};

/* Every variant and direction of every mode that the fake can have. */
#define EVERYTHING                                                                                 \
    "--direction", "both,bidir,d2d", "--host-memory", "registered,alloc,write-combined",           \
        "--access", "sequential,strided,random", "--managed", "fault,prefetch,advise"

static inline void mark(unsigned seen[], const struct xb_result *result)
{
    for (size_t m = 0; names[m] != NULL; m++)
        if (strcmp(names[m], result->test.mode->name) == 0)
            seen[m] |= result->test.direction;
}

/* That every mode was seen in each of its directions. */
static inline void expect_every_way(const struct fixture *f)
{
    unsigned seen[COUNT_OF(names)] = {0};
    for (size_t i = 0; i < f->run.case_count; i++)
        mark(seen, &f->run.results[i]);
    for (size_t m = 0; names[m] != NULL; m++)
        assert_int_equal(seen[m], xb_modes[m]->directions);
}

/* Four operations make a sample of 1 ms: copies of a byte are batched, too, but not by thousands.
 */
static inline void reset_fake(void)
{
    xb_fake_reset();
    xb_fake.operation_s = 250e-6;
}

static inline int modes_setup(void **state)
{
    reset(state);
    reset_fake();
    return 0;
}

#define MODES_TEST(name) cmocka_unit_test_setup(name, modes_setup)

#endif
