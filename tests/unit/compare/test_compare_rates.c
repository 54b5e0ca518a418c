/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often the whole comparison is wrong, and how often it finds what is there: two records of
 * made-up processes, from their medians to the overall verdict. The same numbers in every run;
 * docs/compare.md has what is printed.
 */
#include "cases.h"
#include "compare/comparison.h"
#include "compare/rank_test.h"
#include "random.h"
#include "record_fixture.h"
#include "sanitized.h"

#include <math.h>

#define MANY_DRAWS 5000
#define DRAWS (IS_SANITIZED ? 400 : MANY_DRAWS)
#define TABLE_DRAWS (IS_SANITIZED ? 40 : 1000)
#define SIDE 8
#define ALPHA 0.01
#define BOUNDARY 0.98
#define RATE 55e9 /* bytes per second */

/* ---- made-up processes ---- */

/* One process in ten is ten times further off. */
static double outlying(uint64_t *state)
{
    double z = normal(state);
    return uniform(state) <= 0.1 ? 10.0 * z : z;
}

struct scenario {
    size_t processes, candidate; /* of the baseline and the candidate */
    size_t cases;
    double spread, candidate_spread; /* of the logarithms of the medians */
    double first, other;             /* the true ratios: of the first case, of all others */
    bool together; /* a process is as fast or slow in all cases; else in each by itself */
    double (*noise)(uint64_t *state);
};

struct shares {
    size_t draws, regression, pass, improved;
};

static void draw_side(const struct scenario *scenario, const struct xb_record *record,
                      bool candidate, uint64_t *random)
{
    double spread = candidate ? scenario->candidate_spread : scenario->spread;
    for (size_t p = 0; p < record->process_count; p++) {
        double off = scenario->noise(random);
        for (size_t c = 0; c < scenario->cases; c++) {
            double ratio = c == 0 ? scenario->first : scenario->other;
            if (c > 0 && !scenario->together)
                off = scenario->noise(random);
            measure_one(&record->cases[c], p, &xb_figure_bandwidth,
                        RATE * (candidate ? ratio : 1.0) * exp(spread * off));
        }
    }
}

static struct shares shares_of(const struct scenario *scenario, size_t draws, uint64_t random)
{
    const struct xb_comparison_request request = {.threshold = 1.0 - BOUNDARY, .alpha = ALPHA};
    struct shares shares = {.draws = draws};
    struct xb_record records[2];
    for (size_t r = 0; r < 2; r++) {
        records[r] = make_record(r == 0 ? scenario->processes : scenario->candidate);
        for (size_t c = 0; c < scenario->cases; c++)
            add_named(&records[r], "pinned", "h2d", (c + 1) << 20, false);
    }
    for (size_t draw = 0; draw < draws; draw++) {
        struct xb_comparison comparison;
        struct xb_error error;
        for (size_t r = 0; r < 2; r++)
            draw_side(scenario, &records[r], r == 1, &random);
        assert_int_equal(xb_compare(&records[0], &records[1], &request, &comparison, &error),
                         XB_OK);
        shares.regression += comparison.overall == XB_OUTCOME_REGRESSION;
        shares.improved += comparison.overall == XB_OUTCOME_IMPROVED;
        shares.pass += xb_comparison_exit_code(&comparison) == 0;
        xb_comparison_free(&comparison);
    }
    xb_record_free(&records[0]);
    xb_record_free(&records[1]);
    return shares;
}

static double percent(const struct shares *shares, size_t count)
{
    return 100.0 * (double)count / (double)shares->draws;
}

/* ---- what theory promises ---- */

/* With how great a probability any of so many independent cases on the boundary passes the first
 * step of Holm's test. */
static double promised(size_t processes, size_t cases)
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

static void check(const struct scenario *scenario, const struct shares *shares, size_t count,
                  const char *claim)
{
    bool exact = strncmp(claim, "promised", 8) == 0,
         is_alpha = exact || strcmp(claim, "alpha") == 0;
    double draws = (double)shares->draws, share = ALPHA, least = 0, most = draws;
    if (exact)
        share = promised(scenario->processes, strcmp(claim, "promised") == 0 ? scenario->cases : 1);
    double room = allowance(shares->draws, share);
    if (exact)
        least = share * draws - room;
    if (is_alpha) /* as it is, where there are enough draws for it */
        most = shares->draws < MANY_DRAWS ? share * draws + room
                                          : fmin(share * draws + room, ALPHA * draws);
    else if (strcmp(claim, "never") == 0)
        most = 0;
    else if (strcmp(claim, "any") != 0)
        least = number_of(claim) * draws;
    if ((double)count < least || (double)count > most)
        fail_case("%zu of %zu, not %.1f to %.1f", count, shares->draws, least, most);
}

static void tell_rate(UNTOLD, char **words)
{
    static uint64_t seed = 100;
    const char *regression = value_of(words, "regression"), *pass = value_of(words, "pass");
    struct scenario scenario = {.processes = (size_t)number_or(words, "processes", SIDE),
                                .cases = (size_t)number_or(words, "cases", 1),
                                .spread = number_or(words, "spread", 0.003),
                                .first = number_or(words, "first", 1),
                                .other = number_or(words, "other", 1),
                                .together = value_of(words, "together") != NULL,
                                .noise = value_of(words, "noise") != NULL ? outlying : normal};
    scenario.candidate = (size_t)number_or(words, "candidate", (double)scenario.processes);
    scenario.candidate_spread = number_or(words, "candidate-spread", scenario.spread);
    const struct shares shares = shares_of(&scenario, DRAWS, seed++);
    print_message("%-44s spread %.1f %%: REGRESSION %6.2f %%, PASS %6.2f %% (IMPROVED %.2f %%)\n",
                  words[1], 100.0 * scenario.spread, percent(&shares, shares.regression),
                  percent(&shares, shares.pass), percent(&shares, shares.improved));
    check(&scenario, &shares, shares.regression, regression != NULL ? regression : "any");
    check(&scenario, &shares, shares.pass, pass != NULL ? pass : "any");
    check(&scenario, &shares, shares.improved, "alpha");
}

static const struct verb rates[] = {{"rate", tell_rate}, {NULL, NULL}};
TEST_CASES(verdicts_are_as_often_wrong_as_promised, "compare/rates", rates, NULL)

/* What to expect of how many processes. What is wrong is at most as frequent as on the boundary. */
TEST(tells_what_to_expect)
{
    static const double spreads[] = {0.003, 0.01, 0.03};
    static const size_t processes[] = {5, 8, 12, 20};
    static const double losses[] = {0.0, 0.03, 0.05, 0.10};
    print_message("spread   K   loss  REGRESSION    PASS\n");
    for (size_t i = 0; i < 48; i++) {
        double loss = losses[i % 4], spread = spreads[i / 16];
        size_t side = processes[i / 4 % 4];
        const struct scenario scenario = {.processes = side,
                                          .candidate = side,
                                          .cases = 1,
                                          .spread = spread,
                                          .candidate_spread = spread,
                                          .first = 1.0 - loss,
                                          .noise = normal};
        const struct shares shares = shares_of(&scenario, TABLE_DRAWS, 500 + i);
        print_message("%4.1f %%  %2zu  %3.0f %%    %6.2f %%  %6.2f %%\n", 100.0 * spread, side,
                      100.0 * loss, percent(&shares, shares.regression),
                      percent(&shares, shares.pass));
        check(&scenario, &shares, loss > 0.02 ? shares.pass : shares.regression, "alpha");
    }
}

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
