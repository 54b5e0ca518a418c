/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* unsetenv */
/* What comes before any subcommand and after it. */
#include "backends/registry.h"
#include "base/text.h"
#include "base/units.h"
#include "commands.h"
#include "measure/run.h"
#include "record/mode_list.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An answer that did not get out is a failure, also of --help. */
static int finish_stdout(int code)
{
    bool lost = ferror(stdout) != 0; /* by now errno may be of something else */
    bool failed = fflush(stdout) != 0;
    if (!failed && !lost)
        return code;
    xb_say("cannot write to standard output: %s",
           failed ? strerror(errno) : "an earlier write failed");
    return code == XB_EXIT_OK ? XB_EXIT_FAILED : code;
}

/* A stream that the caller closed would leave its number to the next file that is opened, and what
 * is said on stderr would land in that. Open for reading, so that writing still fails with EBADF.
 */
static void fill_closed_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

/* `explain` looks into programs, and not into what is measured here: that would change the figures.
 */
static void stay_unseen(void)
{
    if (getenv("XFERBENCH_EXPLAIN") == NULL)
        return;
    (void)unsetenv("CUDA_INJECTION64_PATH");
    (void)unsetenv("XFERBENCH_EXPLAIN");
    xb_say("explain does not look into xferbench itself: --trace shows what a mode does");
}

int main(int argc, char **argv)
{
    struct xb_error error;
    (void)setlocale(LC_ALL, "C"); /* every format has numbers with a point */
    (void)xb_began();             /* notes it */
    fill_closed_streams();
    stay_unseen();
    if (xb_registry_check(xb_backends, &error) != XB_OK ||
        xb_modes_check(xb_modes, &error) != XB_OK)
        return xb_cli_fail(&error);
    return finish_stdout(xb_commands_dispatch(argc, argv));
}
