/* SPDX-License-Identifier: Apache-2.0 */
#include "checks.h"
#include "compare_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* ---- the exit code ---- */

RUN_TEST(exit_code_follows_the_verdict)
{
    struct node *n = *state;
    static const int codes[] = {[XB_OUTCOME_PASS] = 0,
                                [XB_OUTCOME_IMPROVED] = 0,
                                [XB_OUTCOME_INCONCLUSIVE] = 3,
                                [XB_OUTCOME_REGRESSION] = 1};
    for (int i = XB_OUTCOME_PASS; i <= XB_OUTCOME_REGRESSION; i++) {
        n->comparison.overall = (enum xb_outcome)i;
        for (int forced = 0; forced < 2; forced++) {
            n->comparison.request.force = forced;
            n->comparison.comparable = true;
            assert_int_equal(xb_comparison_exit_code(&n->comparison), codes[i]);
            n->comparison.comparable = false;
            assert_int_equal(xb_comparison_exit_code(&n->comparison), forced ? codes[i] : 4);
        }
    }
}

/* ---- all formats ---- */

RUN_TEST(sinks_report_a_full_disk)
{
    struct node *n = *state;
    make_regression(n);
    for (size_t i = 0; i < SINKS; i++) {
        for (int buffered = 0; buffered < 2; buffered++) {
            struct xb_error error = {0};
            FILE *full = fopen("/dev/full", "w");
            assert_non_null(full);
            if (!buffered)
                setvbuf(full, NULL, _IONBF, 0);
            assert_int_equal(sinks[i].write(full, &n->comparison, &error), XB_ERR_SYSTEM);
            assert_int_equal(error.native_code, ENOSPC);
            fclose(full);
        }
    }
}

/* What makes a reader take it for more than it is has to stand in every format. */
RUN_TEST(every_format_tells_what_limits_it)
{
    static const struct {
        void (*make)(struct node *n);
        const char *words;
    } told[] = {{make_refused, "NOT COMPARABLE"},
                {make_refused, "option --chunk"},
                {make_refused, "NVIDIA A100"},
                {make_forced, "FORCED: not comparable"},
                {make_indicative, "indicative"},
                {make_indicative, "too few processes"},
                {make_regression, "only in the baseline"},
                {make_regression, "only in the candidate"},
                {make_regression, "node2"},
                {make_regression, "not counted"},
                {make_regression, "worse by 2 %"},
                {make_regression, "of 9 figures count"},
                {make_regression, "3 of 6 gating cases"},
                {make_regression, "results"},
                {make_regression, "NVIDIA H200"},
                {make_parameters, "bandwidth"},
                {make_parameters, "speed"}};
    for (size_t i = 0; i < sizeof told / sizeof told[0] * SINKS; i++) {
        const struct format *format = &sinks[i % SINKS];
        void *made = NULL;
        /* JSON has keys for it, and a chart only what concerns its figure. */
        if (strcmp(format->name, "json") == 0 || strcmp(format->name, "bench") == 0)
            continue;
        assert_int_equal(setup(&made), 0);
        told[i / SINKS].make(made);
        char *text = written(format->write, made);
        assert_has(text, told[i / SINKS].words);
        assert_lacks(text, "significant");
        free(text);
        teardown(&made);
    }
}

/* `test_compare_sinks DIRECTORY` writes every comparison in every format, as KIND.FORMAT, for
 * tests/compare/check_formats.py and to be looked at. */
static int write_examples(const char *directory)
{
    int failed = 0;
    for (size_t i = 0; i < KINDS * SINKS; i++) {
        char path[512];
        struct xb_error error;
        void *made = NULL;
        if (setup(&made) != 0)
            return 1;
        struct node *n = made;
        kinds[i / SINKS].make(n);
        snprintf(path, sizeof path, "%s/%s.%s", directory, kinds[i / SINKS].name,
                 sinks[i % SINKS].name);
        FILE *file = fopen(path, "w");
        if (file == NULL)
            return 1;
        failed |= sinks[i % SINKS].write(file, &n->comparison, &error) != XB_OK;
        failed |= fclose(file) != 0;
        teardown(&made);
    }
    return failed;
}

int main(int argc, char **argv)
{
    return argc == 2 ? write_examples(argv[1]) : run_topic("compare_sinks");
}
