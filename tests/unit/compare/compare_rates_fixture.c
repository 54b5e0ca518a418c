/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "testing.h"

#include "compare/rank_test.h"
#include "compare_rates_fixture.h"
#include "random.h"

#define RATE 55e9 /* bytes per second */

const size_t numbers[NUMBERS] = {1, MANY};
const double spreads[SPREADS] = {0.001, 0.003, 0.01, 0.03};

/* ---- made-up processes ---- */

static void draw_side(const struct scenario *scenario, const struct xb_record *record,
                      bool candidate, uint64_t *random)
{
    double spread = candidate && scenario->candidate_spread > 0.0 ? scenario->candidate_spread
                                                                  : scenario->spread;
    for (size_t p = 0; p < record->process_count; p++) {
        double off = normal(random);
        for (size_t c = 0; c < scenario->cases; c++) {
            double ratio = c == 0 ? scenario->first_ratio : scenario->other_ratio;
            if (c > 0 && !scenario->together)
                off = normal(random);
            measure_one(&record->cases[c], p, &xb_figure_bandwidth,
                        RATE * (candidate ? ratio : 1.0) * exp(spread * off));
        }
    }
}

static void make_records(const struct scenario *scenario, struct xb_record *records)
{
    for (size_t r = 0; r < 2; r++) {
        records[r] =
            make_record(r == 1 && scenario->candidate_processes > 0 ? scenario->candidate_processes
                                                                    : scenario->processes);
        for (size_t c = 0; c < scenario->cases; c++)
            add_named(&records[r], "pinned", "h2d", (c + 1) * MIB, false);
    }
}

struct shares shares_of(const struct scenario *scenario, size_t draws)
{
    const struct xb_comparison_request request = {.threshold = 1.0 - BOUNDARY, .alpha = ALPHA};
    struct shares shares = {.draws = draws};
    struct xb_record records[2];
    uint64_t random = scenario->seed;
    make_records(scenario, records);
    for (size_t draw = 0; draw < draws; draw++) {
        struct xb_comparison comparison;
        struct xb_error error;
        draw_side(scenario, &records[0], false, &random);
        draw_side(scenario, &records[1], true, &random);
        assert_int_equal(xb_compare(&records[0], &records[1], &request, &comparison, &error),
                         XB_OK);
        shares.outcomes[comparison.overall]++;
        shares.codes[xb_comparison_exit_code(&comparison)]++;
        xb_comparison_free(&comparison);
    }
    xb_record_free(&records[0]);
    xb_record_free(&records[1]);
    assert_int_equal(shares.codes[0],
                     shares.outcomes[XB_OUTCOME_PASS] + shares.outcomes[XB_OUTCOME_IMPROVED]);
    assert_int_equal(shares.codes[1], shares.outcomes[XB_OUTCOME_REGRESSION]);
    assert_int_equal(shares.codes[3], shares.outcomes[XB_OUTCOME_INCONCLUSIVE]);
    return shares;
}

double percent(const struct shares *shares, size_t count)
{
    return 100.0 * (double)count / (double)shares->draws;
}

struct shares measured(const struct scenario *scenario)
{
    struct shares shares = shares_of(scenario, DRAWS);
    print_message("%-34s %2zu cases, spread %.1f %%: REGRESSION %6.2f %%, INCONCLUSIVE %6.2f %%, "
                  "PASS %6.2f %% (IMPROVED %.2f %%)\n",
                  scenario->what, scenario->cases, 100.0 * scenario->spread,
                  percent(&shares, shares.codes[1]), percent(&shares, shares.codes[3]),
                  percent(&shares, shares.codes[0]),
                  percent(&shares, shares.outcomes[XB_OUTCOME_IMPROVED]));
    return shares;
}

/* ---- what theory promises ---- */

double attained(size_t processes, size_t cases)
{
    size_t critical = xb_rank_critical(processes, processes, ALPHA / (double)cases);
    assert_true(critical > 0);
    double size = xb_rank_probability(processes, processes, critical - 1);
    double any = 1.0 - pow(1.0 - size, (double)cases);
    assert_true(any <= ALPHA);
    return any;
}

/* No count of so many draws is further off than this, but for one in ten thousand. */
static double allowance(size_t draws, double probability)
{
    return 4.0 * sqrt((double)draws * probability * (1.0 - probability)) + 1.0;
}

void assert_at(const struct shares *shares, size_t count, double probability)
{
    double expected = (double)shares->draws * probability;
    if (!(fabs((double)count - expected) <= allowance(shares->draws, probability)))
        fail_msg("%zu of %zu, not %.1f", count, shares->draws, expected);
}

void assert_at_most(const struct shares *shares, size_t count, double probability)
{
    double most = (double)shares->draws * probability;
    if (!((double)count <= most + allowance(shares->draws, probability)))
        fail_msg("%zu of %zu, not at most %.1f", count, shares->draws, most);
}

void assert_at_most_alpha(const struct shares *shares, size_t count)
{
    assert_at_most(shares, count, ALPHA);
    if (shares->draws >= MANY_DRAWS)
        assert_true((double)count <= ALPHA * (double)shares->draws);
}
