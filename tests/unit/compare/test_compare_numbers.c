/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the table: as many decimals as the verdict needs. */
#include "checks.h"
#include "compare_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* What the table writes for a ratio, an interval and a P. */
static void assert_numbers(struct node *n, double ratio, double p, const char *expected)
{
    n->cases[0].ratio = ratio;
    n->cases[0].low = n->cases[0].high = ratio;
    n->cases[0].p_regression = p;
    n->cases[0].confidence = 0; /* of how sure one is, other tests tell */
    char *text = written(plain_table, n);
    assert_row(text, "REGRESSION", expected);
    free(text);
}

RUN_TEST(numbers_do_not_cross_what_they_are_judged_by)
{
    struct node *n = *state;
    n->comparison.gating_count = 0;
    add_judged(n, "registered", XB_OUTCOME_REGRESSION, 0.9);
    assert_numbers(n, 0.97996, 0.0099996, "0.97996 0.97996-0.97996 0.0099996 REGRESSION");
    assert_numbers(n, 0.9799951, 0.01000004, "0.979995 0.979995-0.979995 0.01000004 REGR");
    assert_numbers(n, 0.98004, 0.01, "0.98004 0.98004-0.98004 0.010 REGR");
    assert_numbers(n, 0.98, 0.04996, "0.9800 0.9800-0.9800 0.050 REGR");
    assert_numbers(n, 1.019996, 1, "1.019996 1.019996-1.019996 1.000 REGR");
    assert_numbers(n, 0.99999, 0.5, "1.0000 1.0000-1.0000 0.500 REGR");
    assert_numbers(n, 0.95124, 0, "0.9512 0.9512-0.9512 <0.001 REGR");
    n->cases[0].threshold = 0.02348; /* a bound between two numbers of four decimals */
    assert_numbers(n, 0.97654, 0.5, "0.97654 0.97654-0.97654 0.500 REGR");
    n->comparison.request.alpha = 0.0001;
    assert_numbers(n, 0.95124, 0.00017, "0.9512 0.9512-0.9512 0.000170 REGR");
}

/* Both bounds have the decimals that either needs. */
RUN_TEST(intervals_have_decimals_alike)
{
    struct node *n = *state;
    add_judged(n, "registered", XB_OUTCOME_INCONCLUSIVE, 0.98123);
    n->cases[0].low = 0.979961;
    n->cases[0].high = 0.99;
    n->cases[0].confidence = 0.999999;
    char *text = written(plain_table, n);
    assert_row(text, "0.9812", " 0.9812 0.97996-0.99000 ");
    free(text);
    n->cases[0].low = 0.95;
    n->cases[0].high = 0.979961;
    text = written(plain_table, n);
    assert_row(text, "0.9812", "0.9812 0.95000-0.97996 ");
    assert_has(text, ">99.99% INTERVAL");
    n->cases[0].confidence = 0.9786;
    free(text);
    text = written(plain_table, n);
    assert_has(text, "97.86% INTERVAL");
    free(text);
}

RUN_TEST(p_is_that_of_the_verdict)
{
    struct node *n = *state;
    add_judged(n, "registered", XB_OUTCOME_INCONCLUSIVE, 0.99);
    char *text = written(plain_table, n);
    assert_row(text, "0.9900", " 0.300 INCONCLUSIVE"); /* nearest to PASS */
    free(text);
    n->cases[0].ratio = 0.97;
    text = written(plain_table, n);
    assert_row(text, "0.9700", " 0.750 INCONCLUSIVE");
    free(text);
    n->cases[0].figure = xb_figure_latency_host;
    text = written(plain_table, n);
    assert_row(text, "0.9700", " 0.300 INCONCLUSIVE"); /* less is better */
    free(text);
}
