/* SPDX-License-Identifier: Apache-2.0 */
/* Tests may be started by srun or mpirun, on a node that has a name: what those say of node and
 * rank must make no difference. Before main, in every program that has this object. */
#define _POSIX_C_SOURCE 200809L
#include <stddef.h>
#include <stdlib.h>

__attribute__((constructor)) static void forget_launcher(void)
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
