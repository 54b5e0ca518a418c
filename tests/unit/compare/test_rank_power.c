/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/rank_test.h"
#include "random.h"
#include "testing.h"

/* What docs/compare.md warns of: the same test over the samples of one process a side. */
TEST(samples_are_no_processes)
{
    enum { SAMPLES = 100 };
    const size_t pairs = 2000;
    uint64_t random = 11;
    size_t called = 0;
    for (size_t i = 0; i < pairs; i++) {
        double samples[2][SAMPLES];
        for (size_t side = 0; side < 2; side++) {
            double process = 0.003 * normal(&random);
            for (size_t j = 0; j < SAMPLES; j++)
                samples[side][j] = process + 0.003 * normal(&random);
        }
        double less = xb_shift_probability(samples[0], SAMPLES, samples[1], SAMPLES, 0.0);
        double more = xb_shift_probability(samples[1], SAMPLES, samples[0], SAMPLES, 0.0);
        called += less <= 0.025 || more <= 0.025;
    }
    print_message("samples of single processes, nothing changed, tested at 5 %%: %.1f %% called\n",
                  100.0 * (double)called / (double)pairs);
    /* By the normal approximation P(|Z| > 1.96 / sqrt(1 + 100 * 3 / pi)) = 0.84. */
    assert_true(called > pairs * 8 / 10 && called < pairs * 9 / 10);
}
