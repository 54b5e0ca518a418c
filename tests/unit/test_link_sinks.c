/* SPDX-License-Identifier: Apache-2.0 */
#include "checks.h"
#include "link_fixture.h"

#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Counts past the arrays' ends are not believed. */
static void counts_are_not_believed(void **state)
{
    struct node *n = *state;
    make_critical(n);
    for (size_t i = 0; i < GPUS; i++) {
        n->devices[i].attempts[0].at_rest.count = n->devices[i].attempts[0].after.count = 1000;
        n->devices[i].attempts[0].load.count = 1000;
        n->devices[i].attempt_count = 1000;
        n->verdicts[i].reason_count = XB_VERDICT_REASONS;
        n->verdicts[i].bottleneck = 1000;
        for (size_t j = 0; j < XB_VERDICT_REASONS; j++)
            n->verdicts[i].reasons[j].code = "XB-X";
        n->verdicts[i].reason_count = 1000;
    }
    n->best[1] = 1000;
    for (size_t i = 0; i < SINKS; i++)
        free(written(sinks[i].write, n));
}

static void sinks_report_a_full_disk(void **state)
{
    struct node *n = *state;
    make_critical(n);
    for (size_t i = 0; i < SINKS; i++) {
        for (int buffered = 0; buffered < 2; buffered++) {
            struct xb_error error = {0};
            FILE *full = fopen("/dev/full", "w");
            assert_non_null(full);
            if (!buffered)
                setvbuf(full, NULL, _IONBF, 0);
            assert_int_equal(sinks[i].write(full, &n->report, &error), XB_ERR_SYSTEM);
            assert_int_equal(error.native_code, ENOSPC);
            fclose(full);
        }
    }
}

static void sinks_do_not_follow_the_locale(void **state)
{
    struct node *n = *state;
    make_critical(n);
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
        skip();
    for (size_t i = 0; i < SINKS; i++) {
        char *text = written(sinks[i].write, n);
        setlocale(LC_ALL, "C");
        if (sinks[i].write != xb_link_json_write && sinks[i].write != xb_link_prometheus_write)
            assert_written(sinks[i].write, n, text);
        assert_lacks(text, ",42");
        free(text);
        setlocale(LC_ALL, "de_DE.UTF-8");
    }
    setlocale(LC_ALL, "C");
}

/* `test_link_sinks DIRECTORY` writes every report in every format, as KIND.FORMAT: to be held
 * against the schema, to be checked by others' tools, and to be looked at. */
static int write_examples(const char *directory)
{
    int failed = 0;
    for (size_t i = 0; i < KINDS * SINKS; i++) {
        char path[512];
        struct xb_error error;
        void *made = NULL;
        if (setup(&made) != 0)
            return 1;
        kinds[i / SINKS].make(made);
        snprintf(path, sizeof path, "%s/%s.%s", directory, kinds[i / SINKS].name,
                 sinks[i % SINKS].name);
        FILE *file = fopen(path, "w");
        if (file == NULL)
            return 1;
        failed |= sinks[i % SINKS].write(file, &((struct node *)made)->report, &error) != XB_OK;
        failed |= fclose(file) != 0;
        teardown(&made);
    }
    return failed;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        RUN_TEST(counts_are_not_believed),
        RUN_TEST(sinks_report_a_full_disk),
        RUN_TEST(sinks_do_not_follow_the_locale),
    };
    if (argc == 2)
        return write_examples(argv[1]);
    return cmocka_run_group_tests_name("link_sinks", tests, NULL, NULL);
}
