/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "testing.h"

#define MOST_TESTS 400 /* of a program */
#define MOST_FILES 100

static struct {
    const char *file;
    struct CMUnitTest test;
} tests[MOST_TESTS];
static size_t test_count;
static struct {
    const char *file;
    CMFixtureFunction begin, end;
} groups[MOST_FILES];
static size_t group_count;

void add_test(const char *file, struct CMUnitTest test)
{
    if (test_count == MOST_TESTS)
        abort();
    tests[test_count].file = file;
    tests[test_count++].test = test;
}

void set_group(const char *file, CMFixtureFunction begin, CMFixtureFunction end)
{
    if (group_count == MOST_FILES)
        abort();
    groups[group_count].file = file;
    groups[group_count].begin = begin;
    groups[group_count++].end = end;
}

int run_topic(const char *topic)
{
    static struct CMUnitTest chosen[MOST_TESTS];
    char name[128];
    size_t count = 0, group = 0;
    snprintf(name, sizeof name, "/test_%s.c", topic);
    for (size_t i = 0; i < test_count; i++)
        if (strstr(tests[i].file, name) != NULL)
            chosen[count++] = tests[i].test;
    while (group < group_count && strstr(groups[group].file, name) == NULL)
        group++;
    if (count == 0) {
        fprintf(stderr, "no tests of '%s'\n", topic);
        return EXIT_FAILURE;
    }
    return _cmocka_run_group_tests(topic, chosen, count, groups[group].begin, groups[group].end);
}

/* Tests may be started by srun or mpirun, on a node that has a name: what those say of node and
 * rank must make no difference. */
__attribute__((constructor)) void forget_launcher(void)
{
    static const char *const variables[] = {"XFERBENCH_NODE",
                                            "SLURMD_NODENAME",
                                            "OMPI_COMM_WORLD_RANK",
                                            "OMPI_COMM_WORLD_SIZE",
                                            "PMI_RANK",
                                            "PMI_SIZE",
                                            "PMIX_RANK",
                                            "SLURM_PROCID",
                                            "SLURM_NTASKS",
                                            "SLURM_NPROCS",
                                            "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        (void)unsetenv(variables[i]);
}
