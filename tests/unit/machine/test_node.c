/* SPDX-License-Identifier: Apache-2.0 */
/* What the environment says of the node and of the rank. */
#define _POSIX_C_SOURCE 200809L
#include "machine/node.h"
#include "testing.h"

#include <sys/utsname.h>

static const char *const variables[] = {"XFERBENCH_NODE",
                                        "SLURMD_NODENAME",
                                        "OMPI_COMM_WORLD_RANK",
                                        "OMPI_COMM_WORLD_SIZE",
                                        "PMI_RANK",
                                        "PMI_SIZE",
                                        "PMIX_RANK",
                                        "SLURM_PROCID",
                                        "SLURM_STEP_NUM_TASKS",
                                        "SLURM_NTASKS",
                                        "SLURM_NPROCS"};

/* Every test begins without any of them. */
static int forget(NO_STATE)
{
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        (void)unsetenv(variables[i]);
    return 0;
}

static void set(const char *variable, const char *value)
{
    assert_int_equal(setenv(variable, value, 1), 0);
}

/* ---- the node ---- */

static void assert_node(const char *name, const char *named_by)
{
    struct xb_node_name node;
    struct xb_error error;
    assert_int_equal(xb_node_find(&node, &error), XB_OK);
    assert_string_equal(node.name, name);
    if (named_by == NULL)
        assert_null(node.named_by);
    else
        assert_string_equal(node.named_by, named_by);
    assert_int_equal(xb_node_check(&error), XB_OK);
}

TEST_WITH(the_users_name_counts_first, forget, NULL)
{
    struct utsname system;
    assert_int_equal(uname(&system), 0);
    assert_node(system.nodename, NULL);
    set("SLURMD_NODENAME", "gpu007");
    assert_node("gpu007", "SLURMD_NODENAME");
    set("XFERBENCH_NODE", "rack 3 \xC3\xA4");
    assert_node("rack 3 \xC3\xA4", "XFERBENCH_NODE");
    set("XFERBENCH_NODE", ""); /* as if it were not set */
    assert_node("gpu007", "SLURMD_NODENAME");
}

/* mpiexec of MPICH and of Intel hands a batch script's environment on to all nodes. */
TEST_WITH(a_name_that_was_handed_on_is_not_this_nodes, forget, NULL)
{
    struct utsname system;
    assert_int_equal(uname(&system), 0);
    set("SLURMD_NODENAME", "gpu001");
    set("SLURM_PROCID", "0");
    set("PMI_RANK", "5");
    assert_node(system.nodename, NULL);
    set("XFERBENCH_NODE", "gpu005");
    assert_node("gpu005", "XFERBENCH_NODE");
    (void)unsetenv("XFERBENCH_NODE");
    set("SLURM_PROCID", "5"); /* srun tells both */
    assert_node("gpu001", "SLURMD_NODENAME");
    set("SLURM_PROCID", "0");
    set("OMPI_COMM_WORLD_RANK", "5"); /* its daemons are srun's, one a node */
    assert_node("gpu001", "SLURMD_NODENAME");
}

static void assert_no_name(const char *name)
{
    struct xb_node_name node;
    struct xb_error error;
    set("XFERBENCH_NODE", name);
    assert_int_equal(xb_node_find(&node, &error), XB_ERR_USAGE);
    assert_non_null(strstr(error.message, "XFERBENCH_NODE"));
    assert_int_equal(xb_node_check(&error), XB_ERR_USAGE);
}

TEST_WITH(what_is_no_name_is_refused, forget, NULL)
{
    char name[XB_NODE_NAME + 1];
    assert_no_name(".");
    assert_no_name("..");
    assert_no_name("../gpu007");
    assert_no_name("gpu\n007");
    assert_no_name("gpu\x1b[2J");
    assert_no_name("gpu\x7f");
    assert_no_name("gpu\xff");
    assert_no_name("gpu\xE2\x80\xAE"); /* turns the direction of writing */
    memset(name, 'a', sizeof name);
    name[XB_NODE_NAME] = '\0';
    assert_no_name(name);
    name[XB_NODE_NAME - 1] = '\0'; /* the longest */
    set("XFERBENCH_NODE", name);
    assert_node(name, "XFERBENCH_NODE");
    set("XFERBENCH_NODE", "...");
    assert_node("...", "XFERBENCH_NODE");
}

/* ---- the rank ---- */

static void assert_rank(int64_t rank, uint64_t ranks, const char *named_by)
{
    struct xb_launcher launcher;
    struct xb_error error;
    assert_int_equal(xb_launcher_find(&launcher, &error), XB_OK);
    assert_int_equal(launcher.known ? (int64_t)launcher.rank : -1, rank);
    assert_int_equal(launcher.ranks, ranks);
    if (named_by == NULL)
        assert_null(launcher.named_by);
    else
        assert_string_equal(launcher.named_by, named_by);
}

TEST_WITH(slurm_tells_the_rank, forget, NULL)
{
    assert_rank(-1, 0, NULL);
    set("SLURM_NTASKS", "8"); /* a size alone is no launcher */
    assert_rank(-1, 0, NULL);
    set("SLURM_PROCID", "0");
    assert_rank(0, 8, "SLURM_PROCID");
    set("SLURM_STEP_NUM_TASKS", "4"); /* the step has fewer than the job */
    set("SLURM_PROCID", "3");
    assert_rank(3, 4, "SLURM_PROCID");
    (void)unsetenv("SLURM_STEP_NUM_TASKS");
    (void)unsetenv("SLURM_NTASKS");
    assert_rank(3, 0, "SLURM_PROCID");
    set("SLURM_NPROCS", "5");
    assert_rank(3, 5, "SLURM_PROCID");
}

/* A batch script has Slurm's rank 0, which all that mpirun starts on its node inherit. */
TEST_WITH(mpi_comes_before_slurm, forget, NULL)
{
    set("SLURM_PROCID", "0");
    set("SLURM_NTASKS", "16");
    set("PMI_RANK", "2");
    assert_rank(2, 0, "PMI_RANK");
    set("PMI_SIZE", "3");
    assert_rank(2, 3, "PMI_RANK");
    set("PMIX_RANK", "1");
    set("OMPI_COMM_WORLD_RANK", "1");
    set("OMPI_COMM_WORLD_SIZE", "2");
    assert_rank(1, 2, "OMPI_COMM_WORLD_RANK");
}

/* srun tells PMIx and itself the same rank; then Slurm's number is that of the ranks. */
TEST_WITH(pmix_has_slurms_number_where_they_agree, forget, NULL)
{
    set("PMIX_RANK", "7");
    assert_rank(7, 0, "PMIX_RANK");
    set("SLURM_NTASKS", "16");
    set("SLURM_PROCID", "0");
    assert_rank(7, 0, "PMIX_RANK");
    set("SLURM_PROCID", "7");
    assert_rank(7, 16, "PMIX_RANK");
}

static void assert_refused(const char *rank, const char *ranks, const char *word)
{
    struct xb_launcher launcher;
    struct xb_error error;
    set("SLURM_PROCID", rank);
    set("SLURM_NTASKS", ranks);
    assert_int_equal(xb_launcher_find(&launcher, &error), XB_ERR_USAGE);
    assert_non_null(strstr(error.message, word));
    assert_int_equal(xb_node_check(&error), XB_ERR_USAGE);
}

TEST_WITH(what_is_no_rank_is_refused, forget, NULL)
{
    assert_refused("-1", "2", "SLURM_PROCID");
    assert_refused("+1", "2", "SLURM_PROCID");
    assert_refused("1x", "2", "SLURM_PROCID");
    assert_refused(" 1", "2", "SLURM_PROCID");
    assert_refused("4294967295", "", "SLURM_PROCID");
    assert_refused("10000000", "", "SLURM_PROCID");
    assert_refused("0", "0", "SLURM_NTASKS");
    assert_refused("0", "10000001", "SLURM_NTASKS");
    assert_refused("0", "two", "SLURM_NTASKS");
    assert_refused("2", "2", "SLURM_PROCID is 2, but there are only 2 ranks");
}
