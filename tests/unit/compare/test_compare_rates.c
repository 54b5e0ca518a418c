/* SPDX-License-Identifier: Apache-2.0 */
/* How often a comparison is wrong where nothing changed. */

#include "testing.h"

#include "compare_rates_fixture.h"

TEST(no_change_is_no_regression)
{
    for (size_t n = 0; n < COUNT_OF(numbers); n++)
        for (size_t i = 0; i < COUNT_OF(spreads); i++) {
            const struct scenario scenario = {.what = "no change",
                                              .processes = SIDE,
                                              .cases = numbers[n],
                                              .spread = spreads[i],
                                              .first_ratio = 1.0,
                                              .other_ratio = 1.0,
                                              .seed = 100 + 10 * n + i};
            const struct shares shares = measured(&scenario);
            assert_at_most(&shares, shares.codes[1], attained(SIDE, numbers[n]));
            assert_at_most_alpha(&shares, shares.codes[1]);
            assert_at_most_alpha(&shares, shares.outcomes[XB_OUTCOME_IMPROVED]);
            if (spreads[i] <= 0.003) { /* six deviations within the boundary */
                assert_int_equal(shares.codes[1], 0);
                assert_int_equal(shares.codes[0], shares.draws);
            }
        }
}

/*
 * Where one side spreads more than the other, no rank test keeps its size exactly, least of all
 * with more processes on the side that spreads less; nothing is promised then but that what it does
 * is told. Far from the boundary it does not matter: without a change there is no regression.
 */
TEST(unequal_spreads_are_told)
{
    static const size_t sides[][2] = {{SIDE, SIDE}, {5, 20}, {20, 5}};
    static const double pairs[][2] = {{0.003, 0.01}, {0.01, 0.003}};
    print_message("K      spreads           at the boundary           no change\n");
    for (size_t k = 0; k < COUNT_OF(sides); k++)
        for (size_t i = 0; i < COUNT_OF(pairs); i++) {
            struct scenario scenario = {.processes = sides[k][0],
                                        .cases = 1,
                                        .spread = pairs[i][0],
                                        .first_ratio = BOUNDARY,
                                        .seed = 350 + 10 * k + i,
                                        .candidate_processes = sides[k][1],
                                        .candidate_spread = pairs[i][1]};
            const struct shares boundary = shares_of(&scenario, DRAWS);
            scenario.first_ratio = 1.0;
            const struct shares same = shares_of(&scenario, DRAWS);
            print_message(
                "%2zu, %2zu  %.1f %%, %.1f %%  REGRESSION %.2f %%, PASS %.2f %%  REGRESSION "
                "%.2f %%\n",
                sides[k][0], sides[k][1], 100.0 * pairs[i][0], 100.0 * pairs[i][1],
                percent(&boundary, boundary.codes[1]), percent(&boundary, boundary.codes[0]),
                percent(&same, same.codes[1]));
            assert_at_most_alpha(&same, same.codes[1]);
        }
}
