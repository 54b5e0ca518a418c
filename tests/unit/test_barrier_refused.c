/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that must not pass the folder in which others meet. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "barrier_fixture.h"
#include "checks.h"

static void assert_fails(const struct xb_barrier *barrier, enum xb_status status, const char *words)
{
    struct xb_error error = {.message = ""};
    double start = 0;
    assert_int_equal(xb_barrier_meet(barrier, &start, &error), status);
    assert_has(error.message, words);
    assert_true(start == 0);
}

static void who_is_missing_is_told_by_who_came(void **state)
{
    (void)state;
    const struct process other = start_process("gpu001", 0, 3, 0.5);
    const struct xb_barrier barrier = barrier_of("gpu002", 1, 3, 0.5);
    struct xb_error error = {.message = ""};
    double start = 0;
    assert_int_equal(xb_barrier_meet(&barrier, &start, &error), XB_ERR_STOPPED);
    struct told told = end_process(&other);
    assert_int_equal(told.status, XB_ERR_STOPPED);
    /* Whichever ended last has seen both. */
    assert_has(strstr(told.message, "2 of 3") != NULL ? told.message : error.message,
               "gpu001.0, gpu002.1");
}

static void a_folder_is_for_one_run(void **state)
{
    (void)state;
    const struct process a = start_process("gpu001", 0, 2, GUARD_S);
    const struct process b = start_process("gpu002", 1, 2, GUARD_S);
    assert_int_equal(end_process(&a).status, XB_OK);
    assert_int_equal(end_process(&b).status, XB_OK);
    const struct xb_barrier again = barrier_of("gpu002", 1, 2, GUARD_S);
    assert_fails(&again, XB_ERR_USAGE, "was used before by gpu002.1");
    /* Nor may others come, whose names nobody had. */
    const struct xb_barrier other = barrier_of("gpu009", 9, 2, GUARD_S);
    assert_fails(&other, XB_ERR_USAGE, "was used before");
}

static void too_many_are_told(void **state)
{
    (void)state;
    assert_int_equal(mkdir(barrier_folder, 0777), 0);
    touch("here.gpu001.0.0123456789abcdef");
    touch("here.gpu002.1.0123456789abcdef");
    const struct xb_barrier barrier = barrier_of("gpu003", 2, 2, GUARD_S);
    assert_fails(&barrier, XB_ERR_USAGE, "3 processes came");
}

/* What a run left that was ended half-way: one had come, answered and told a time. The new run has
 * other nodes, as many as are missing, and its node comes first. */
static void files_of_an_earlier_run_let_nobody_pass(void **state)
{
    (void)state;
    assert_int_equal(mkdir(barrier_folder, 0777), 0);
    touch("claim.gpu009.9");
    touch("here.gpu009.9.0123456789abcdef");
    touch("seen.gpu009.9.0123456789abcdef");
    touch("start.0123456789abcdef.1795416000000000");
    touch("start.x");
    const struct xb_barrier barrier = barrier_of("gpu002", 1, 2, 0.5);
    assert_fails(&barrier, XB_ERR_STOPPED, "all 2 processes came");
}

/* The others of its run learn at once that one found its name taken. */
static void one_that_is_refused_ends_the_others(void **state)
{
    (void)state;
    assert_int_equal(mkdir(barrier_folder, 0777), 0);
    touch("claim.gpu001.0");
    const struct process other = start_process("gpu002", 1, 2, GUARD_S);
    const struct xb_barrier barrier = barrier_of("gpu001", 0, 2, GUARD_S);
    assert_fails(&barrier, XB_ERR_USAGE, "was used before by gpu001.0");
    struct told told = end_process(&other);
    assert_int_equal(told.status, XB_ERR_USAGE);
    assert_has(told.message, "was used before by gpu001.0");
}

/* The others would begin without it. */
static void whose_time_is_up_does_not_answer(void **state)
{
    (void)state;
    assert_int_equal(mkdir(barrier_folder, 0777), 0);
    touch("here.gpu001.0123456789abcdef");
    const struct xb_barrier barrier = barrier_of("gpu002", -1, 2, -1);
    assert_fails(&barrier, XB_ERR_STOPPED, "all 2 processes came");
    assert_true(has_file("here.gpu002."));
    assert_false(has_file("seen."));
}

/* Who are many look seldom, but each gives up in time. */
static void waits_no_longer_than_it_may(void **state)
{
    (void)state;
    barrier_now = 1000;
    const struct xb_barrier barrier = barrier_of("gpu001", 0, XB_BARRIER_TASKS, 0.1);
    assert_fails(&barrier, XB_ERR_STOPPED, "1 of 5000 processes came");
    double ended = barrier_now;
    barrier_now = 0;
    assert_true(ended >= 1000.1 && ended < 1000.11);
}

/* Each look reads four names of every process. */
static void all_together_spare_the_file_server(void **state)
{
    static const uint64_t tasks[] = {2, 100, 1000, 2000, XB_BARRIER_TASKS};
    (void)state;
    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
        barrier_now = 1000;
        folder_looks = 0;
        const struct xb_barrier barrier = barrier_of("gpu001", (int64_t)i, tasks[i], 600);
        struct xb_error error;
        double start = 0;
        assert_int_equal(xb_barrier_meet(&barrier, &start, &error), XB_ERR_STOPPED);
        barrier_now = 0;
        double names = 4.0 * (double)(tasks[i] * tasks[i] * folder_looks) / 600;
        assert_true(folder_looks >= 10 && names < 2.3e6);
        assert_int_equal(xb_barrier_folder_end(NULL), 0);
    }
}

static void assert_clocks(double ahead_s, const char *words)
{
    char set[17];
    const struct process second = start_and_answer("gpu002", "gpu001", set);
    answer_of("gpu001", set);
    (void)tell_start(set, ahead_s);
    go_on(&second);
    struct told told = end_process(&second);
    assert_int_equal(told.status, XB_ERR_SYSTEM);
    assert_has(told.message, words);
    assert_true(told.start == 0);
}

static void a_clock_that_is_ahead_is_told(void **state)
{
    (void)state;
    assert_clocks(-3600, "that of gpu002 is at least 3600.");
}

static void a_clock_that_is_behind_is_told(void **state)
{
    (void)state;
    assert_clocks(3600, "s behind that of the node which told the time");
}

static void a_folder_that_cannot_be_read_to_its_end(void **state)
{
    (void)state;
    const struct xb_barrier barrier = barrier_of("gpu001", 0, 2, 0.5);
    folder_breaks_off = true;
    assert_fails(&barrier, XB_ERR_SYSTEM, "Input/output error");
    folder_breaks_off = false;
}

static void what_is_no_folder_is_refused(void **state)
{
    char file[64];
    struct xb_barrier barrier = barrier_of("gpu001", 0, 2, GUARD_S);
    (void)state;
    assert_int_equal(mkdir(barrier_folder, 0777), 0);
    touch("file");
    snprintf(file, sizeof file, "%s/file", barrier_folder);
    barrier.folder = file;
    assert_fails(&barrier, XB_ERR_SYSTEM, "cannot use the folder");
    snprintf(file, sizeof file, "%s/no/no", barrier_folder);
    assert_fails(&barrier, XB_ERR_SYSTEM, "create its directory first");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_together_spare_the_file_server, xb_barrier_folder_begin,
                                        xb_barrier_folder_end),
        cmocka_unit_test_setup_teardown(who_is_missing_is_told_by_who_came, xb_barrier_folder_begin,
                                        xb_barrier_folder_end),
        cmocka_unit_test_setup_teardown(a_folder_is_for_one_run, xb_barrier_folder_begin,
                                        xb_barrier_folder_end),
        cmocka_unit_test_setup_teardown(too_many_are_told, xb_barrier_folder_begin,
                                        xb_barrier_folder_end),
        cmocka_unit_test_setup_teardown(files_of_an_earlier_run_let_nobody_pass,
                                        xb_barrier_folder_begin, xb_barrier_folder_end),
        cmocka_unit_test_setup_teardown(one_that_is_refused_ends_the_others,
                                        xb_barrier_folder_begin, xb_barrier_folder_end),
        cmocka_unit_test_setup_teardown(whose_time_is_up_does_not_answer, xb_barrier_folder_begin,
                                        xb_barrier_folder_end),
        cmocka_unit_test_setup_teardown(waits_no_longer_than_it_may, xb_barrier_folder_begin,
                                        xb_barrier_folder_end),
        cmocka_unit_test_setup_teardown(a_clock_that_is_ahead_is_told, xb_barrier_folder_begin,
                                        xb_barrier_folder_end),
        cmocka_unit_test_setup_teardown(a_clock_that_is_behind_is_told, xb_barrier_folder_begin,
                                        xb_barrier_folder_end),
        cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_read_to_its_end,
                                        xb_barrier_folder_begin, xb_barrier_folder_end),
        cmocka_unit_test_setup_teardown(what_is_no_folder_is_refused, xb_barrier_folder_begin,
                                        xb_barrier_folder_end),
    };
    return cmocka_run_group_tests(tests, xb_barrier_root_open, xb_barrier_root_close);
}
