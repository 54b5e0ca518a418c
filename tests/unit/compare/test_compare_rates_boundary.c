/* SPDX-License-Identifier: Apache-2.0 */
/* How often a comparison is wrong about losses of just the threshold. */
#include <math.h>

#include "testing.h"

#include "compare_rates_fixture.h"

/* The worst case of what is no regression, in all cases at once: however far processes spread. */
TEST(boundary_is_as_often_wrong_as_promised)
{
    for (size_t n = 0; n < COUNT_OF(numbers); n++) {
        double promised = attained(SIDE, numbers[n]);
        print_message("promised of %zu: %.4f %%\n", numbers[n], 100.0 * promised);
        for (size_t i = 0; i < COUNT_OF(spreads); i++) {
            const struct scenario scenario = {.what = "all just at the boundary",
                                              .processes = SIDE,
                                              .cases = numbers[n],
                                              .spread = spreads[i],
                                              .first_ratio = BOUNDARY,
                                              .other_ratio = BOUNDARY,
                                              .seed = 200 + 10 * n + i};
            const struct shares shares = measured(&scenario);
            assert_at(&shares, shares.codes[1], promised);
            assert_at_most_alpha(&shares, shares.codes[1]);
            /* A loss of just the threshold passes as rarely: of one, as often as it is a loss. */
            if (numbers[n] == 1)
                assert_at(&shares, shares.codes[0], promised);
            assert_at_most_alpha(&shares, shares.codes[0]);
        }
    }
    const struct scenario together = {.what = "all at the boundary, correlated",
                                      .processes = SIDE,
                                      .cases = MANY,
                                      .spread = 0.003,
                                      .first_ratio = BOUNDARY,
                                      .other_ratio = BOUNDARY,
                                      .together = true,
                                      .seed = 290};
    const struct shares shares = measured(&together);
    assert_at_most_alpha(&shares, shares.codes[1]);
    assert_at_most_alpha(&shares, shares.codes[0]);
}

/* Others that pass for certain make it no likelier that the one does. */
TEST(loss_of_just_the_threshold_hardly_passes)
{
    const struct scenario scenario = {.what = "one just at the boundary",
                                      .processes = SIDE,
                                      .cases = MANY,
                                      .spread = 0.003,
                                      .first_ratio = BOUNDARY,
                                      .other_ratio = 1.0,
                                      .seed = 300};
    const struct shares shares = measured(&scenario);
    assert_at(&shares, shares.codes[0], attained(SIDE, 1));
    assert_at_most_alpha(&shares, shares.codes[0]);
    assert_at_most_alpha(&shares, shares.codes[1]);
}
