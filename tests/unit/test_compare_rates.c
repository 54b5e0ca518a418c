/* SPDX-License-Identifier: Apache-2.0 */
#include "xferbench/comparison.h"
#include "xferbench/rank_test.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random.h"
#include "record_fixture.h"

/*
 * How often the whole comparison is wrong, and how often it finds what is there: two records of
 * made-up processes, from their medians to the overall verdict. The logarithms of the medians
 * spread normally around those of the case. The same numbers in every run; the table at the end is
 * the one in docs/compare.md.
 */

/* Sanitizers make it several times slower; what is asserted allows for the number of draws. */
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define IS_SANITIZED
#endif
#ifdef IS_SANITIZED
#define DRAWS 1000
#define TABLE_DRAWS 100
#else
#define DRAWS 10000
#define TABLE_DRAWS 2000
#endif

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define MIB (UINT64_C(1) << 20)
#define SIDE 8
#define MANY 20
#define ALPHA 0.01
#define BOUNDARY 0.98
#define RATE 55e9

static const double spreads[] = {0.001, 0.003, 0.01, 0.03};

/* ---- made-up processes ---- */

struct scenario {
    const char *what;
    size_t processes, cases;
    double spread;
    double first_ratio, other_ratio; /* the true ones: of the first case, of all others */
    bool together; /* a process is as fast or slow in all cases; else in each by itself */
    uint64_t seed;
    size_t candidate_processes; /* 0: as many as the baseline's */
    double candidate_spread;    /* 0: as the baseline's */
};

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
            measure_one(&record->cases[c], p, XB_METRIC_BANDWIDTH,
                        RATE * (candidate ? ratio : 1.0) * exp(spread * off));
        }
    }
}

struct shares {
    size_t draws;
    size_t outcomes[XB_OUTCOME_REGRESSION + 1]; /* overall */
    size_t codes[5];
};

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

static struct shares shares_of(const struct scenario *scenario, size_t draws)
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

static double percent(const struct shares *shares, size_t count)
{
    return 100.0 * (double)count / (double)shares->draws;
}

static struct shares measured(const struct scenario *scenario)
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

/*
 * With how great a probability a comparison of cases that all lie on the boundary finds a
 * regression, where they are independent: Holm's first step takes alpha by the number of cases, and
 * any one that passes it is enough.
 */
static double attained(size_t processes, size_t cases)
{
    size_t critical = 0;
    double size = NAN;
    struct xb_error error;
    assert_int_equal(
        xb_rank_critical(processes, processes, ALPHA / (double)cases, &critical, &error), XB_OK);
    assert_true(critical > 0);
    assert_int_equal(xb_rank_probability(processes, processes, critical - 1, &size, &error), XB_OK);
    double any = 1.0 - pow(1.0 - size, (double)cases);
    assert_true(any <= ALPHA);
    return any;
}

/* No count of so many draws is further off than this, but for one in ten thousand. */
static double allowance(size_t draws, double probability)
{
    return 4.0 * sqrt((double)draws * probability * (1.0 - probability)) + 1.0;
}

static void assert_at(const struct shares *shares, size_t count, double probability)
{
    double expected = (double)shares->draws * probability;
    if (!(fabs((double)count - expected) <= allowance(shares->draws, probability)))
        fail_msg("%zu of %zu, not %.1f", count, shares->draws, expected);
}

static void assert_at_most(const struct shares *shares, size_t count, double probability)
{
    double most = (double)shares->draws * probability;
    if (!((double)count <= most + allowance(shares->draws, probability)))
        fail_msg("%zu of %zu, not at most %.1f", count, shares->draws, most);
}

/* Where the count of all draws is large enough for it, also as it is. */
static void assert_at_most_alpha(const struct shares *shares, size_t count)
{
    assert_at_most(shares, count, ALPHA);
    if (shares->draws >= 10000)
        assert_true((double)count <= ALPHA * (double)shares->draws);
}

/* ---- how often it is wrong ---- */

static const size_t numbers[] = {1, MANY};

static void no_change_is_no_regression(void **state)
{
    (void)state;
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

/* The worst case of what is no regression, in all cases at once: however far processes spread. */
static void boundary_is_as_often_wrong_as_promised(void **state)
{
    (void)state;
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
static void loss_of_just_the_threshold_hardly_passes(void **state)
{
    (void)state;
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

/*
 * Where one side spreads more than the other, no rank test keeps its size exactly, least of all
 * with more processes on the side that spreads less; nothing is promised then but that what it does
 * is told. Far from the boundary it does not matter: without a change there is no regression.
 */
static void unequal_spreads_are_told(void **state)
{
    static const size_t sides[][2] = {{SIDE, SIDE}, {5, 20}, {20, 5}};
    static const double pairs[][2] = {{0.003, 0.01}, {0.01, 0.003}};
    (void)state;
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

/*
 * The promise is for processes that spread by 0.3 %. Many cases that share alpha ask more of each:
 * what eight processes find in one case, 20 cases take ten for.
 */
static void loss_is_found(void **state)
{
    static const struct {
        size_t processes, cases, spread;
        double least;
    } rows[] = {{SIDE, 1, 0, 0.999}, {SIDE, 1, 1, 0.95},    {SIDE, 1, 2, 0.0},
                {SIDE, 1, 3, 0.0},   {SIDE, MANY, 1, 0.90}, {10, MANY, 1, 0.95}};
    (void)state;
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

static void tells_what_to_expect(void **state)
{
    static const double rows[] = {0.003, 0.01, 0.03};
    static const size_t processes[] = {5, 8, 12, 20};
    static const double losses[] = {0.0, 0.03, 0.05, 0.10};
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_change_is_no_regression),
        cmocka_unit_test(boundary_is_as_often_wrong_as_promised),
        cmocka_unit_test(loss_of_just_the_threshold_hardly_passes),
        cmocka_unit_test(unequal_spreads_are_told),
        cmocka_unit_test(loss_is_found),
        cmocka_unit_test(tells_what_to_expect),
    };
    return cmocka_run_group_tests_name("compare_rates", tests, NULL, NULL);
}
