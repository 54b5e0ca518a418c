/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* cmocka, behind the headers that it needs, with what nearly every test uses; and tests that need
 * no list: TEST(what_holds) { ... } is one. A program has the tests of several files, and `program
 * TOPIC` runs those of test_TOPIC.c, in their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* The parameter of a function that has no use for cmocka's state. */
#define NO_STATE __attribute__((unused)) void **state

/* A test that `begin` prepares and `end` cleans up after. Each may be NULL. */
#define TEST_WITH(name, begin, end)                                                                \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        add_test(__FILE__, (struct CMUnitTest)cmocka_unit_test_setup_teardown(name, begin, end));  \
    }                                                                                              \
    static void name(NO_STATE)
#define TEST(name) TEST_WITH(name, NULL, NULL)

/* What is to be done before the first and after the last test of this file. Each may be NULL. */
#define GROUP(begin, end)                                                                          \
    __attribute__((constructor)) static void set_own_group(void)                                   \
    {                                                                                              \
        set_group(__FILE__, begin, end);                                                           \
    }

/* Runs the tests of test_<topic>.c. Returns 0 if all pass. */
int run_topic(const char *topic);

void add_test(const char *file, struct CMUnitTest test);
void set_group(const char *file, CMFixtureFunction begin, CMFixtureFunction end);
/* Takes away what srun and mpirun say of node and rank; done before the first test. */
void forget_launcher(void);
