/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that meet in a folder. */
#define _GNU_SOURCE
#include <fcntl.h>
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

static void all_get_the_same_time(void **state)
{
    struct process processes[5];
    struct told first = {.start = 0};
    (void)state;
    for (int i = 0; i < 5; i++)
        processes[i] = start_process("node.with.points", i, 5, GUARD_S);
    for (int i = 0; i < 5; i++) {
        struct told told = end_process(&processes[i]);
        if (told.status != XB_OK)
            fail_msg("%s", told.message);
        if (i == 0)
            first = told;
        assert_true(told.start > 0 && told.start == first.start);
    }
}

static void nodes_without_ranks_meet(void **state)
{
    (void)state;
    assert_int_equal(mkdir(barrier_folder, 0777), 0); /* a folder that is there is as good */
    const struct process a = start_process("gpu001", -1, 2, GUARD_S);
    const struct process b = start_process("gpu002", -1, 2, GUARD_S);
    struct told told_a = end_process(&a);
    struct told told_b = end_process(&b);
    assert_int_equal(told_a.status, XB_OK);
    assert_int_equal(told_b.status, XB_OK);
    assert_true(told_a.start == told_b.start);
}

static void one_alone_need_not_wait(void **state)
{
    const struct xb_barrier barrier = barrier_of("gpu001", 0, 1, GUARD_S);
    struct xb_error error;
    double start = 0;
    (void)state;
    assert_int_equal(xb_barrier_meet(&barrier, &start, &error), XB_OK);
    assert_true(start > 0);
}

/* Else some would begin and some would not. */
static void who_has_all_answers_is_not_refused(void **state)
{
    char set[17];
    (void)state;
    const struct process second = start_and_answer("gpu002", "gpu001", set);
    touch("used.gpu000");
    touch("here.gpu000.0123456789abcdef");
    answer_of("gpu001", set);
    double start = tell_start(set, 0);
    go_on(&second);
    struct told told = end_process(&second);
    if (told.status != XB_OK)
        fail_msg("%s", told.message);
    assert_true(told.start == start);
}

/* Also where a stranger's name comes before its own by now. */
static void the_first_of_the_set_tells_the_time(void **state)
{
    char set[17];
    (void)state;
    const struct process first = start_and_answer("gpu001", "gpu002", set);
    touch("here.gpu000.0123456789abcdef");
    answer_of("gpu002", set);
    go_on(&first);
    struct told told = end_process(&first);
    if (told.status != XB_OK)
        fail_msg("%s", told.message);
    assert_true(told.start > 0);
}

static void a_name_that_is_shown_twice_is_one(void **state)
{
    (void)state;
    folder_shows_twice = true; /* to these processes */
    const struct process a = start_process("gpu001", 0, 2, GUARD_S);
    const struct process b = start_process("gpu002", 1, 2, GUARD_S);
    folder_shows_twice = false;
    struct told told = end_process(&a);
    if (told.status != XB_OK)
        fail_msg("%s", told.message);
    assert_int_equal(end_process(&b).status, XB_OK);
}

/* What a client of NFS does where the server's answer is lost: it renames twice. */
static void a_file_may_have_been_renamed_already(void **state)
{
    char from[NAME_MAX + 1], to[NAME_MAX + 1];
    (void)state;
    const struct process a = start_process("gpu001", 0, 2, GUARD_S);
    (void)wait_for("here.gpu001.0.", from);
    hold(&a);
    (void)wait_for("look.gpu001.0.", from);
    snprintf(to, sizeof to, "look.gpu001.0.%d", from[strlen(from) - 1] == '0');
    int at = open(barrier_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(renameat(at, from, at, to), 0);
    (void)close(at);
    go_on(&a);
    const struct process b = start_process("gpu002", 1, 2, GUARD_S);
    struct told told = end_process(&a);
    if (told.status != XB_OK)
        fail_msg("%s", told.message);
    assert_int_equal(end_process(&b).status, XB_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_get_the_same_time, xb_barrier_folder_begin,
                                        xb_barrier_folder_end),
        cmocka_unit_test_setup_teardown(nodes_without_ranks_meet, xb_barrier_folder_begin,
                                        xb_barrier_folder_end),
        cmocka_unit_test_setup_teardown(one_alone_need_not_wait, xb_barrier_folder_begin,
                                        xb_barrier_folder_end),
        cmocka_unit_test_setup_teardown(who_has_all_answers_is_not_refused, xb_barrier_folder_begin,
                                        xb_barrier_folder_end),
        cmocka_unit_test_setup_teardown(the_first_of_the_set_tells_the_time,
                                        xb_barrier_folder_begin, xb_barrier_folder_end),
        cmocka_unit_test_setup_teardown(a_name_that_is_shown_twice_is_one, xb_barrier_folder_begin,
                                        xb_barrier_folder_end),
        cmocka_unit_test_setup_teardown(a_file_may_have_been_renamed_already,
                                        xb_barrier_folder_begin, xb_barrier_folder_end),
    };
    return cmocka_run_group_tests(tests, xb_barrier_root_open, xb_barrier_root_close);
}
