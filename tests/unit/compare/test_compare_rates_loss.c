/* SPDX-License-Identifier: Apache-2.0 */
/* How often a comparison finds a loss, by how many processes there are. */

#include "testing.h"

#include "compare_rates_fixture.h"

/* ---- how often it is wrong ---- */

/*
 * The promise is for processes that spread by 0.3 %. Many cases that share alpha ask more of each:
 * what eight processes find in one case, 20 cases take ten for.
 */
TEST(loss_is_found)
{
    static const struct {
        size_t processes, cases, spread;
        double least;
    } rows[] = {{SIDE, 1, 0, 0.999}, {SIDE, 1, 1, 0.95},    {SIDE, 1, 2, 0.0},
                {SIDE, 1, 3, 0.0},   {SIDE, MANY, 1, 0.90}, {10, MANY, 1, 0.95}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct scenario scenario = {.what = rows[i].processes == SIDE
                                                      ? "loss of 3 % in one"
                                                      : "loss of 3 % in one, 10 processes",
                                          .processes = rows[i].processes,
                                          .cases = rows[i].cases,
                                          .spread = spreads[rows[i].spread],
                                          .first_ratio = 0.97,
                                          .other_ratio = 1.0,
                                          .seed = 400 + i};
        const struct shares shares = measured(&scenario);
        assert_true((double)shares.codes[1] >= rows[i].least * (double)shares.draws);
        assert_at_most_alpha(&shares, shares.codes[0]);
    }
}

/* ---- what to expect of how many processes ---- */

TEST(tells_what_to_expect)
{
    static const double rows[] = {0.003, 0.01, 0.03};
    static const size_t processes[] = {5, 8, 12, 20};
    static const double losses[] = {0.0, 0.03, 0.05, 0.10};
    print_message("spread   K   loss  REGRESSION  INCONCLUSIVE    PASS\n");
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (size_t k = 0; k < COUNT_OF(processes); k++)
            for (size_t l = 0; l < COUNT_OF(losses); l++) {
                const struct scenario scenario = {.what = "table",
                                                  .processes = processes[k],
                                                  .cases = 1,
                                                  .spread = rows[i],
                                                  .first_ratio = 1.0 - losses[l],
                                                  .other_ratio = 1.0,
                                                  .seed = 500 + 100 * i + 10 * k + l};
                const struct shares shares = shares_of(&scenario, TABLE_DRAWS);
                print_message("%4.1f %%  %2zu  %3.0f %%    %6.2f %%      %6.2f %%  %6.2f %%\n",
                              100.0 * rows[i], processes[k], 100.0 * losses[l],
                              percent(&shares, shares.codes[1]), percent(&shares, shares.codes[3]),
                              percent(&shares, shares.codes[0]));
                /* What is wrong is at most as frequent as on the boundary. */
                assert_at_most(&shares, shares.codes[losses[l] > 0.02 ? 0 : 1],
                               attained(processes[k], 1));
            }
}
